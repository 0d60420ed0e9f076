"""McTaco, declared.

`facts.json` holds the figures of the released files; the figures that the paper prints are in
`tests/papers/mctaco.json`.
"""

from pathlib import Path

from closeread.corpus.declaration import Config, Corpus, SourceFile, read_facts

COMMIT = "0ba9b790ad5a87ab3eef0f0cb7819408192f9729"
RELEASE = f"https://raw.githubusercontent.com/CogComp/MCTACO/{COMMIT}/dataset"

RELEASED = {
    "validation": SourceFile(
        "dev_3783.tsv",
        "8de54f6d3e0a6466e4ba2c5179c7f9ac3442eeba8683c46fd712f5f54751d6dd",
        f"{RELEASE}/dev_3783.tsv",
        size=679_912,
    ),
    "test": SourceFile(
        "test_9442.tsv",
        "47e12f88559eb0735eeca2af2d0a3ed48efb3bb2742ff31de9fcfc9a76094354",
        f"{RELEASE}/test_9442.tsv",
        size=1_705_225,
    ),
}
SAMPLE = {
    "test": SourceFile(
        "sample.tsv", "4cd8a1d80ddc53fb41ce01e89853a8a641c43850246467599d970f010ef5616a"
    )
}


CORPUS = Corpus(
    name="mctaco",
    title="McTaco",
    description=(
        "English sentences with questions about time: how long something takes, how often and when it happens, in "
        "what order, and whether it still holds.  Every question has several candidate answers, each labelled "
        "plausible or not by unanimous annotators."
    ),
    language="en",
    homepage="https://github.com/CogComp/MCTACO",
    licence="none stated by the authors",
    redistribution="the authors state no licence",
    citation="""@inproceedings{zhou-etal-2019-going,
  title = {``Going on a vacation'' takes longer than ``Going for a walk'': A Study of Temporal Commonsense
           Understanding},
  author = {Zhou, Ben and Khashabi, Daniel and Ning, Qiang and Roth, Dan},
  booktitle = {Proceedings of EMNLP-IJCNLP 2019},
  year = {2019},
  pages = {3363--3369},
  doi = {10.18653/v1/D19-1332}
}""",
    configs={
        "default": Config("The released files.", RELEASED),
        "flat": Config(
            "The released files, which have one candidate answer a row as they are.",
            RELEASED,
            flattens="document",
        ),
        "sample": Config(
            "Invented questions that ship with the package, for trying things out offline.", SAMPLE
        ),
        "sample_flat": Config(
            "The sample, which has one candidate answer a row as it is.",
            SAMPLE,
            flattens="document",
        ),
    },
    default_split="test",
    format="mctaco_tsv",
    submission_formats=("mctaco_labels",),
    procedure="mctaco",
    facts=read_facts(Path(__file__).with_name("facts.json")),
)
