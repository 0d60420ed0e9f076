"""TDDAuto, the automatic part of TDDiscourse, declared."""

from closeread.corpus.declaration import SourceFolder
from closeread.loaders.tlinks import declare_corpus

COMMIT = "f593085388ccff29e752f45f48a5dd618a6d0fbd"
RELEASE = f"https://raw.githubusercontent.com/aakanksha19/TDDiscourse/{COMMIT}"
MANIFEST = {
    "TDDAuto/TDDAutoTrain.tsv": "b1d8e1886d4690fca26913304b621583f00c2e967c033cf2c1c28a7259378c95",
    "TDDAuto/TDDAutoDev.tsv": "dc91ac9b5e8ec43af9cd096f46588c457d5c378246b99e8154b4e0eb4808e2f1",
    "TDDAuto/TDDAutoTest.tsv": "665e0e1a03903d1453f705799cba0bd61315641b6ef064f3a721b9209f9b1972",
}

CORPUS = declare_corpus(
    name="tddauto",
    title="TDDAuto, the automatic part of TDDiscourse",
    description=(
        "English news of TimeBank-Dense, with relations between events that are more than a sentence apart, "
        "inferred from time expressions and from relations of TimeBank-Dense."
    ),
    homepage="https://github.com/aakanksha19/TDDiscourse",
    licence="none stated by the authors",
    redistribution="the authors state no licence",
    citation="""@inproceedings{naik-etal-2019-tddiscourse,
  title = {{TDDiscourse}: A Dataset for Discourse-Level Temporal Ordering of Events},
  author = {Naik, Aakanksha and Breitfeller, Luke and Rose, Carolyn},
  booktitle = {Proceedings of the 20th Annual SIGdial Meeting on Discourse and Dialogue},
  year = {2019},
  pages = {239--249},
  doi = {10.18653/v1/W19-5929}
}""",
    form="tdd",
    configs={
        "default": (
            "The released files.",
            {
                "train": SourceFolder("TDDAuto", ("TDDAutoTrain.tsv",), MANIFEST, RELEASE),
                "validation": SourceFolder("TDDAuto", ("TDDAutoDev.tsv",), MANIFEST, RELEASE),
                "test": SourceFolder("TDDAuto", ("TDDAutoTest.tsv",), MANIFEST, RELEASE),
            },
        ),
    },
    figures={"default": {"train": (22, 32_607), "validation": (5, 1_435), "test": (9, 4_258)}},
    remarks=(
        "Its relations are inferred by a program: a score against them is one against a heuristic.",
    ),
)
