"""MATRES, declared."""

from closeread.corpus.declaration import SourceFolder
from closeread.loaders.tlinks import declare_corpus

COMMIT = "ccac302b546401a1e55f2bd6097913083b5cd8d6"
RELEASE = f"https://raw.githubusercontent.com/qiangning/MATRES/{COMMIT}"
MANIFEST = {
    "timebank.txt": "217c7a5b51c7fa5fe5feed36dd10c6feed5e3dfa4dd736d45ccb37bea21bcb09",
    "aquaint.txt": "eb42b25d873809dfa0494ee0564da30f153942a2af663f5a74660928210a340b",
    "platinum.txt": "346be061630c01e8ac2624e16ed46b24506bf152334b0dee275ada7943d70daa",
}

CORPUS = declare_corpus(
    name="matres",
    title="MATRES",
    description=(
        "English news of TempEval-3, with relations between the start points of pairs of events, which are verbs on the "
        "same axis of time in the same sentence or in neighbouring ones."
    ),
    homepage="https://github.com/qiangning/MATRES",
    licence="none stated by the authors",
    redistribution="the authors state no licence",
    citation="""@inproceedings{ning-etal-2018-multi,
  title = {A Multi-Axis Annotation Scheme for Event Temporal Relations},
  author = {Ning, Qiang and Wu, Hao and Roth, Dan},
  booktitle = {Proceedings of the 56th Annual Meeting of the Association for Computational Linguistics},
  year = {2018},
  pages = {1318--1328},
  doi = {10.18653/v1/P18-1122}
}""",
    form="matres",
    configs={
        "default": (
            "TimeBank and AQUAINT to train on, platinum to test.",
            {
                "train": SourceFolder(".", ("timebank.txt", "aquaint.txt"), MANIFEST, RELEASE),
                "test": SourceFolder(".", ("platinum.txt",), MANIFEST, RELEASE),
            },
        ),
    },
    figures={"default": {"train": (255, 12_740), "test": (20, 837)}},
    remarks=(
        "Relations are between start points, so BEFORE is read as STARTS_BEFORE: weaker than TimeML's.",
        "Four links in WSJ910225-0066 have the event 0, which no text has; it is read as the creation time, t0.",
        "There is no official development set.",
    ),
)
