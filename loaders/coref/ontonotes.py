"""OntoNotes 5 as CoNLL-2012, declared: users make the files from what they get from the LDC.

`ontonotes_test.txt` lists the documents of the shared task's English test set.  The figures are those of the official
files.
"""

from closeread.corpus.declaration import DocumentTraits, OwnFiles, PrintedFigure
from closeread.loaders.coref import HERE, declare_corpus

INSTRUCTIONS = (
    "OntoNotes 5.0 is LDC2013T19, free for members and on request: catalog.ldc.upenn.edu/LDC2013T19.",
    "Get conll-2012-train.v4, -development.v4, -test-key and -scripts.v3 from conll.cemantix.org/2012/data.html.",
    "Run: skeleton2conll.sh -D ontonotes-release-5.0/data/files/data conll-2012",
    "Then run: closeread info ontonotes --stats --data-dir conll-2012",
    "It should say 2,802, 343 and 348 documents.",
)
FOLDERS = {
    "train": ("train",),
    "validation": ("development", "dev"),
    "test": ("conll-2012-test", "test"),
}


def declare_splits(language: str) -> dict[str, OwnFiles]:
    """Declare the files of a language: a tree of folders, or a file for each split."""
    splits = {}
    for split, names in FOLDERS.items():
        trees = [f"{name}/data/{language}/annotations/**/*gold_conll" for name in names]
        files = [f"{name}.{language}.v*_gold_conll" for name in names]
        lines = [f"{name}.{language}*.jsonlines" for name in names]
        skeletons = [f"{name}/data/{language}/annotations/**/*gold_skel" for name in names]
        splits[split] = OwnFiles((*trees, *files, *lines, *skeletons), INSTRUCTIONS)
    return splits


TEST_DOCUMENTS = tuple((HERE / "ontonotes_test.txt").read_text("utf-8").split())
PLAIN = DocumentTraits(group="genre", no_words="[WORD]")

CORPUS = declare_corpus(
    name="ontonotes",
    title="OntoNotes 5 (CoNLL-2012)",
    description=(
        "News, conversations, magazines, the Bible and telephone calls, with coreference of noun phrases and events, "
        "without singletons; the data of the CoNLL-2012 shared task. A document is a part of a file."
    ),
    language="en",
    homepage="https://catalog.ldc.upenn.edu/LDC2013T19",
    licence="LDC User Agreement",
    redistribution="the licence of the Linguistic Data Consortium forbids it",
    citation="""@inproceedings{pradhan-etal-2012-conll,
  title = {{CoNLL}-2012 Shared Task: Modeling Multilingual Unrestricted Coreference in {OntoNotes}},
  author = {Pradhan, Sameer and Moschitti, Alessandro and Xue, Nianwen and Uryupina, Olga and Zhang, Yuchen},
  booktitle = {Joint Conference on {EMNLP} and {CoNLL} - Shared Task},
  year = {2012},
  pages = {1--40},
  url = {https://aclanthology.org/W12-4501}
}

@misc{weischedel-etal-2013-ontonotes,
  title = {{OntoNotes} Release 5.0},
  author = {Weischedel, Ralph and Palmer, Martha and Marcus, Mitchell and others},
  year = {2013},
  publisher = {Linguistic Data Consortium},
  note = {LDC2013T19},
  doi = {10.35111/xmhb-2b84}
}""",
    form="conll",
    configs={
        "default": ("English.", declare_splits("english")),
        "chinese": ("Chinese; no figures could be checked.", declare_splits("chinese")),
        "arabic": ("Arabic; no figures could be checked.", declare_splits("arabic")),
    },
    traits=DocumentTraits(
        group="genre",
        only={"test": TEST_DOCUMENTS},
        numbers={"train": 2_802, "validation": 343, "test": 348},
        no_words="[WORD]",
    ),
    config_traits={"chinese": PLAIN, "arabic": PLAIN},
    preset="conll2012",
    figures={"default": {"test": (348, 169_579, 19_764, 4_532, 0)}},
    instructions=INSTRUCTIONS,
    printed=(
        PrintedFigure("documents", 2_802, "the shared task", split="train"),
        PrintedFigure("documents", 343, "the shared task", split="validation"),
        PrintedFigure("documents", 348, "the shared task", split="test"),
    ),
    size="1K<n<10K",
    remarks=(
        "Files of tag v12 lack the 26 parts of train and the one of development that have no mention; that changes no "
        "score, but the number of documents that intervals resample.",
    ),
)
