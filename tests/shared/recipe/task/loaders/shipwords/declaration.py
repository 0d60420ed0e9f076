"""Ship words, declared."""

from pathlib import Path

from closeread.corpus.declaration import Config, Corpus, SourceFile, read_facts

CORPUS = Corpus(
    name="shipwords",
    title="Ship words",
    description="Invented misspellings in a logbook, each with the word that was meant.",
    language="en",
    homepage="https://example.org/shipwords",
    licence="CC0",
    citation="""@misc{shipwords,
  title = {Misspelt Words in a Logbook},
  author = {Sailor, Ada},
  year = {2026}
}""",
    configs={
        "sample": Config(
            "Invented words that ship with the package.",
            {
                "test": SourceFile(
                    "sample.txt", "c7fd9eef636659c4acb2707aca10fe576ebc556f29d4f12d1183b70faa088a73"
                )
            },
        )
    },
    default_split="test",
    format="words_txt",
    submission_formats=("words_txt",),
    procedure="spelling",
    facts=read_facts(Path(__file__).with_name("facts.json")),
)
