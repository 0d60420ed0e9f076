"""WikiPossessions, declared.

The facts are measured on the released file; what the paper prints otherwise stands in
`closeread/reproduction/wikipossessions.json`.
"""

from closeread.corpora.declaration import Config, Corpus, Fact, SourceFile

COMMIT = "388c8b5ae6a6ff959307f5c46ec5f2837c59b1bf"
RELEASE = f"https://raw.githubusercontent.com/dhivyainfant/wikitimeline19/{COMMIT}"


FACTS = {
    "articles": 90,
    "possessors": 799,
    "possessors, each once an article": 735,
    "possessors that repeat in an article": 42,
    "possessors an article": 8.88,
    "type: PER": 281,
    "type: ORG": 318,
    "type: LOC": 200,
    "possession: certain": 774,
    "possession: uncertain": 25,
    "time: known": 660,
    "time: unknown": 139,
    "relation: before": 8,
    "relation: during": 646,
    "relation: after": 6,
    "relation: certain": 608,
    "relation: uncertain": 52,
    "anchor: one year": 385,
    "anchor: first to last year": 70,
    "anchor: year to now": 73,
    "anchor: unknown to year": 41,
    "anchor: unknown to now": 63,
    "anchor: event": 26,
    "anchor: unknown": 141,
    "unknown anchors with a relation": 2,
    "orders inside another": 32,
}

CORPUS = Corpus(
    name="wikipossessions",
    title="WikiPossessions",
    description=(
        "English Wikipedia articles about works of art, each with everybody who possessed the work: persons, "
        "organisations and locations, in which order, how certain that is, and when, in years or by an event.  "
        "The annotations are about whole articles and point to no place in the text."
    ),
    language="en",
    homepage="https://github.com/dhivyainfant/wikitimeline19",
    licence="none stated by the authors",
    citation="""@inproceedings{chinnappa-etal-2020-wikipossessions,
  title = {{WikiPossessions}: Possession Timeline Generation as an Evaluation Benchmark for Machine Reading
           Comprehension of Long Texts},
  author = {Chinnappa, Dhivya and Palmer, Alexis and Blanco, Eduardo},
  booktitle = {Proceedings of the 12th Language Resources and Evaluation Conference},
  year = {2020}
}""",
    configs={
        "default": Config(
            "The released file.",
            {
                "test": SourceFile(
                    "annotations.csv",
                    "4c81fab8e915035436dcdf0e6d446d7db54aa9d90216306fec0a1c35333d67fd",
                    f"{RELEASE}/annotations.csv",
                ),
            },
        ),
        "sample": Config(
            "Invented works of art that ship in the package, to try everything without a network.",
            {"test": SourceFile("sample.csv", "dc130ca15950fc29d39a3d0cf8ce3e9dc9321108a2f8c8f41143b08700a3b534")},
        ),
    },
    default_split="test",
    format="possession_csv",
    procedure="wikipossessions",
    key="article",
    not_in_digest=("text",),
    extra_files=("articles/*.txt",),
    facts=tuple(Fact(name, value, "test") for name, value in FACTS.items()),
)
