"""PreCo, declared: users have its files, which its authors no longer give out, from others."""

from closeread.corpus.declaration import DocumentTraits, OwnFiles
from closeread.loaders.coref import declare_corpus

INSTRUCTIONS = (
    "The authors' page, preschool-lab.github.io/PreCo, does not answer; its licence is not stated.",
    "People pass a copy on in the issues of their repositories, such as fast-coref's on GitHub.",
    "Put train.jsonl and dev.jsonl into a folder, and pass it with --data-dir.",
    "There is no public test set; what papers call test is dev: use the config toshniwal2021.",
    "To check it, run: closeread info preco --stats --data-dir FOLDER",
)
TRAIN = OwnFiles(("train.jsonl",), INSTRUCTIONS)
DEV = OwnFiles(("dev.jsonl",), INSTRUCTIONS)

CORPUS = declare_corpus(
    name="preco",
    title="PreCo",
    description=(
        "English texts with the vocabulary of preschoolers, 38 thousand documents of reading comprehension, with the "
        "coreference of all noun phrases, singletons included."
    ),
    language="en",
    homepage="https://preschool-lab.github.io/PreCo",
    licence="none stated by the authors",
    redistribution="the authors state no licence",
    citation="""@inproceedings{chen-etal-2018-preco,
  title = {{PreCo}: A Large-scale Dataset in Preschool Vocabulary for Coreference Resolution},
  author = {Chen, Hong and Fan, Zhenhua and Lu, Hao and Yuille, Alan and Rong, Shu},
  booktitle = {Proceedings of the 2018 Conference on Empirical Methods in Natural Language Processing},
  year = {2018},
  pages = {172--181},
  doi = {10.18653/v1/D18-1016}
}""",
    form="jsonl",
    configs={
        "default": ("The files.", {"train": TRAIN, "validation": DEV}),
        "toshniwal2021": (
            "The splits of Toshniwal et al. (2021): dev is test, and the last 500 of train are dev.",
            {"train": TRAIN, "validation": TRAIN, "test": DEV},
        ),
    },
    config_traits={
        "toshniwal2021": DocumentTraits(slices={"train": (None, -500), "validation": (-500, None)})
    },
    default_split="validation",
    preset="conll2012",
    instructions=INSTRUCTIONS,
    size="10K<n<100K",
)
