"""CorefUD 1.4, declared: the public edition, which has train and dev of 27 treebanks.

Where LINDAT keeps this version was not known when this was written, nor any digest, so that users pass their copy.
"""

from closeread.corpus.declaration import DocumentTraits, OwnFiles
from closeread.loaders.coref import HERE, declare_corpus

TREEBANKS = (HERE / "corefud_treebanks.txt").read_text("utf-8").split()

INSTRUCTIONS = (
    "CorefUD is at LINDAT: look for 'Coreference in Universal Dependencies 1.4' on lindat.mff.cuni.cz.",
    "Download CorefUD-1.4-public.zip, or all files in one archive; there is no need to unpack it.",
    "Pass the archive, or a folder with its files, with --data-dir.",
    "Older versions are read, too, and named in reports as your own files.",
    "To check it, run: closeread info corefud --stats --data-dir CorefUD-1.4-public.zip",
)
CITATION = """@inproceedings{nedoluzhko-etal-2022-corefud,
  title = {{CorefUD} 1.0: Coreference Meets {Universal} {Dependencies}},
  author = {Nedoluzhko, Anna and Nov{\\'a}k, Michal and Popel, Martin and {\\v{Z}}abokrtsk{\\'y}, Zden{\\v{e}}k and
            Zeldes, Amir and Zeman, Daniel},
  booktitle = {Proceedings of the Thirteenth Language Resources and Evaluation Conference},
  year = {2022},
  pages = {4859--4872},
  url = {https://aclanthology.org/2022.lrec-1.520}
}"""
LICENCE = "by treebank, from CC BY to CC BY-NC-SA: see the README of each"
REDISTRIBUTION = "each of its treebanks has a licence of its own"
REMARKS = (
    "CRAC's score is the mean of the treebanks' scores; pooled scores are no scores of CRAC.",
    "Its English-LitBank has other words and another split than the corpus litbank.",
)


def declare_treebank(stem: str) -> dict[str, OwnFiles]:
    """Declare the splits of the treebanks whose names match a pattern."""
    splits = {"train": "train", "validation": "dev"}
    return {
        split: OwnFiles((f"{stem}-corefud-{name}.conllu",), INSTRUCTIONS)
        for split, name in splits.items()
    }


CONFIGS = {"default": ("All treebanks.", declare_treebank("*"))}
for treebank in TREEBANKS:
    CONFIGS[treebank] = (f"The treebank {treebank}.", declare_treebank(treebank))

CORPUS = declare_corpus(
    name="corefud",
    title="CorefUD 1.4",
    description=(
        "27 treebanks of 19 languages with coreference in one scheme, of which the test data of the CRAC shared tasks "
        "are a part. Each treebank is a config; the default has all."
    ),
    language="mul",
    homepage="https://ufal.mff.cuni.cz/corefud",
    licence=LICENCE,
    redistribution=REDISTRIBUTION,
    citation=CITATION,
    form="corefud",
    configs=CONFIGS,
    traits=DocumentTraits(group="treebank"),
    default_split="validation",
    preset="corefud",
    instructions=INSTRUCTIONS,
    remarks=REMARKS,
)
