"""Harbour, declared."""

from pathlib import Path

from closeread.corpus.declaration import Config, Corpus, SourceFile, read_facts

CORPUS = Corpus(
    name="harbour",
    title="Harbour",
    description="Invented questions about the time of events in a harbour, in the form of McTaco's.",
    language="en",
    homepage="https://example.org/harbour",
    licence="CC0",
    citation="""@misc{harbour,
  title = {Questions about Time in the Harbour},
  author = {Sailor, Ada},
  year = {2026}
}""",
    configs={
        "sample": Config(
            "Invented questions that ship with the package.",
            {
                "test": SourceFile(
                    "sample.tsv", "b607418bcdb919e127eb13d656ed7e44a37bf4b757dc4d82920bc9ed1be02d0c"
                )
            },
        )
    },
    default_split="test",
    format="mctaco_tsv",
    submission_formats=("mctaco_labels",),
    procedure="mctaco",
    facts=read_facts(Path(__file__).with_name("facts.json")),
)
