"""GUM, the Georgetown University Multilayer corpus, declared.

`gum.sha256` lists its files, and `gum_splits.tsv` has the split of each document; "test2" is GENTLE.
"""

from closeread.corpus.declaration import (
    DocumentTraits,
    SourceFolder,
    read_columns,
    read_manifest,
)
from closeread.loaders.coref import HERE, declare_corpus

COMMIT = "72ce5ac14978a324c2fd18d49484e65292cbe316"
RELEASE = f"https://raw.githubusercontent.com/amir-zeldes/gum/{COMMIT}"
SPLITS = read_columns(HERE / "gum_splits.tsv")
LICENCE = (
    "annotation: CC BY 4.0; texts by genre, of which essays, letters, podcasts, fiction and WikiHow are CC BY-NC-SA, and "
    "Reddit's are not included"
)
REDISTRIBUTION = (
    "some of its texts may not be used commercially, and Reddit's are not in the repository"
)
WITHHELD = (
    "The words of the 18 documents from Reddit are withheld: each letter is a '_'. Any words of a response match them. "
    "Restore them with the repository's get_text.py, and pass the folder with --data-dir."
)


def declare_splits(folder: str, suffix: str, manifest: str) -> dict[str, SourceFolder]:
    """Declare the files of each split, which all lie in one folder of the repository."""
    digests = read_manifest(HERE / manifest)
    splits = {}
    for split in ("train", "validation", "test", "test2"):
        names = tuple(f"{name}{suffix}" for name in SPLITS[split])
        splits[split] = SourceFolder(folder, names, digests, RELEASE)
    return splits


CORPUS = declare_corpus(
    name="gum",
    title="GUM 11.1 and GENTLE",
    description=(
        "English texts of 24 genres, from academic writing to vlogs, with the coreference of all noun phrases, singletons "
        "included, in Universal Dependencies. The genres of the split test2, GENTLE, are in no other split."
    ),
    language="en",
    homepage="https://github.com/amir-zeldes/gum",
    licence=LICENCE,
    redistribution=REDISTRIBUTION,
    citation="""@article{zeldes-2017-gum,
  title = {The {GUM} Corpus: Creating Multilayer Resources in the Classroom},
  author = {Zeldes, Amir},
  journal = {Language Resources and Evaluation},
  year = {2017},
  volume = {51},
  number = {3},
  pages = {581--612},
  doi = {10.1007/s10579-016-9343-x}
}""",
    form="corefud",
    configs={
        "default": ("The released files.", declare_splits("dep", ".conllu", "gum.sha256")),
    },
    traits=DocumentTraits(group="genre"),
    preset="conll2012",
    figures={
        "default": {
            "train": (191, 190_161, 53_199, 27_559, 19_977),
            "validation": (32, 29_874, 8_412, 4_214, 3_010),
            "test": (32, 30_255, 8_406, 4_546, 3_371),
            "test2": (26, 17_799, 5_680, 3_081, 2_247),
            "all": (281, 268_089, 75_697, 39_400, 28_605),
        }
    },
    remarks=(
        "CRAC's score of GUM, by heads and without singletons, is that of --preset corefud.",
        WITHHELD,
    ),
)
