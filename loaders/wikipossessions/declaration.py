"""WikiPossessions, declared.

`facts.json` holds the figures of the released file; the figures that the paper prints are in
`tests/papers/wikipossessions.json`.
"""

from pathlib import Path

from closeread.corpus.declaration import Config, Corpus, SourceFile, read_facts

COMMIT = "388c8b5ae6a6ff959307f5c46ec5f2837c59b1bf"
RELEASE = f"https://raw.githubusercontent.com/dhivyainfant/wikitimeline19/{COMMIT}"

RELEASED = {
    "test": SourceFile(
        "annotations.csv",
        "4c81fab8e915035436dcdf0e6d446d7db54aa9d90216306fec0a1c35333d67fd",
        f"{RELEASE}/annotations.csv",
        size=57_636,
    )
}
SAMPLE = {
    "test": SourceFile(
        "sample.csv", "dc130ca15950fc29d39a3d0cf8ce3e9dc9321108a2f8c8f41143b08700a3b534"
    )
}


CORPUS = Corpus(
    name="wikipossessions",
    title="WikiPossessions",
    description=(
        "English Wikipedia articles about artifacts (paintings, sculptures, diamonds and others), annotated with "
        "everyone who possessed the artifact (persons, organisations and locations), in what order, how certainly, "
        "and when, in years or by an event.  The annotations are about whole articles and do not point to places in "
        "the text."
    ),
    language="en",
    homepage="https://github.com/dhivyainfant/wikitimeline19",
    licence="none stated by the authors",
    redistribution="the authors state no licence",
    citation="""@inproceedings{chinnappa-etal-2020-wikipossessions,
  title = {{WikiPossessions}: Possession Timeline Generation as an Evaluation Benchmark for Machine Reading
           Comprehension of Long Texts},
  author = {Chinnappa, Dhivya and Palmer, Alexis and Blanco, Eduardo},
  booktitle = {Proceedings of the Twelfth Language Resources and Evaluation Conference},
  year = {2020},
  pages = {1110--1117},
  url = {https://aclanthology.org/2020.lrec-1.140}
}""",
    configs={
        "default": Config("The released file.", RELEASED),
        "flat": Config(
            "The possessions of the released file, one a row.",
            RELEASED,
            definition="flat",
            flattens="document",
        ),
        "sample": Config(
            "Invented artifacts that ship with the package, for trying things out offline.", SAMPLE
        ),
        "sample_flat": Config(
            "The possessions of the sample, one a row.",
            SAMPLE,
            definition="flat",
            flattens="document",
        ),
    },
    default_split="test",
    format="possession_csv",
    procedure="wikipossessions",
    key="article",
    not_in_digest=("text",),
    extra_files=("articles/*.txt",),
    facts=read_facts(Path(__file__).with_name("facts.json")),
    n_oddities=1,
)
