"""Pebbles, declared: an invented corpus of coreference."""

from closeread.corpus.declaration import OwnFiles
from closeread.loaders.coref import declare_corpus

INSTRUCTIONS = (
    "Pebbles is invented; nobody has it but this test.",
    "Put train.conll and test.conll into a folder, and pass it with --data-dir.",
)

CORPUS = declare_corpus(
    name="pebbles",
    title="Pebbles",
    description="Invented reports on pebbles, with coreference.",
    language="en",
    homepage="https://example.org/pebbles",
    licence="CC0 1.0",
    redistribution="",
    citation="@misc{pebbles,\n  title = {Pebbles},\n  author = {Shore, Ada},\n  year = {2026}\n}",
    form="conll",
    configs={
        "default": (
            "All reports.",
            {
                "train": OwnFiles(("train.conll",), INSTRUCTIONS),
                "test": OwnFiles(("test.conll",), INSTRUCTIONS),
            },
        )
    },
    preset="conll2012",
    instructions=INSTRUCTIONS,
)
