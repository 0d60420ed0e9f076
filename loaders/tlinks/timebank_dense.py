"""TimeBank-Dense, declared.

`timebank_dense_splits.tsv` has the split of each document, which is that of TDDiscourse's automatic part.
"""

from closeread.corpus.declaration import DocumentTraits, SourceFolder, read_columns
from closeread.loaders.tlinks import HERE, declare_corpus

COMMIT = "d6518a5a79d940d749c95ee5b72830714b132238"
RELEASE = f"https://raw.githubusercontent.com/qiangning/StructTempRel-EMNLP17/{COMMIT}"
MANIFEST = {
    "data/TempEval3/TimebankDense.full.txt": (
        "f37a124b45ff7f43a4694caf3176a75f9ba1bd7714b777de4909dfd0142bf999"
    )
}
FILE = SourceFolder("data/TempEval3", ("TimebankDense.full.txt",), MANIFEST, RELEASE)

CORPUS = declare_corpus(
    name="timebank_dense",
    title="TimeBank-Dense",
    description=(
        "36 English news of TimeBank, with a relation, perhaps vague, for every pair of events and times in the same "
        "sentence or in neighbouring ones."
    ),
    homepage="https://www.usna.edu/Users/cs/nchamber/caevo/",
    licence="none stated by the authors",
    redistribution="the authors state no licence",
    citation="""@inproceedings{cassidy-etal-2014-annotation,
  title = {An Annotation Framework for Dense Event Ordering},
  author = {Cassidy, Taylor and McDowell, Bill and Chambers, Nathanael and Bethard, Steven},
  booktitle = {Proceedings of the 52nd Annual Meeting of the Association for Computational Linguistics},
  year = {2014},
  pages = {501--506},
  doi = {10.3115/v1/P14-2082}
}""",
    form="tdd",
    configs={
        "default": (
            "The file, split by documents.",
            {"train": FILE, "validation": FILE, "test": FILE},
        ),
    },
    traits=DocumentTraits(only=read_columns(HERE / "timebank_dense_splits.tsv")),
    figures={"default": {"train": (22, 8949), "validation": (5, 1067), "test": (9, 2699)}},
    remarks=(
        "The splits are those of TDDiscourse's automatic part, and are not compared with a list by the authors.",
        "Some 228 of its events are not in TempEval-3's copies of the texts.",
    ),
)
