"""TDDMan, the manual part of TDDiscourse, declared."""

from closeread.corpus.declaration import SourceFolder
from closeread.loaders.tlinks import declare_corpus

COMMIT = "f593085388ccff29e752f45f48a5dd618a6d0fbd"
RELEASE = f"https://raw.githubusercontent.com/aakanksha19/TDDiscourse/{COMMIT}"
MANIFEST = {
    "TDDMan/TDDManTrain.tsv": "f6400083df1bcc81e560b11f64d7611397c07db28985cdfce7e8d3b91680aa11",
    "TDDMan/TDDManDev.tsv": "8d8415657bac2d408f186dc3dbfb57842f85bb2d575a302dd7c4df9858a98402",
    "TDDMan/TDDManTest.tsv": "efc2af04ce624f9a932694abfc1ce509cd3dfe056b21053e7b7373dcd7f95ab8",
}

CORPUS = declare_corpus(
    name="tddman",
    title="TDDMan, the manual part of TDDiscourse",
    description=(
        "English news of TimeBank-Dense, with relations between events that are more than a sentence apart, by annotators."
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
                "train": SourceFolder("TDDMan", ("TDDManTrain.tsv",), MANIFEST, RELEASE),
                "validation": SourceFolder("TDDMan", ("TDDManDev.tsv",), MANIFEST, RELEASE),
                "test": SourceFolder("TDDMan", ("TDDManTest.tsv",), MANIFEST, RELEASE),
            },
        ),
    },
    figures={"default": {"train": (21, 4_000), "validation": (4, 650), "test": (9, 1_500)}},
    remarks=(
        "In the training set, 11 pairs are there twice, and e257 of APW19980213.1310 is in no text.",
    ),
)
