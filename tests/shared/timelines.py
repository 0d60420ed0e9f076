"""Timelines, written as short as tests like them, and the split of a corpus that a test needs."""

import pytest

from closeread.corpus.gold import splits_at_hand
from closeread.corpus.names import load_corpus
from closeread.corpus.sources import locate
from closeread.tasks.timeline.timeline_mentions import Timelines

CORPUS = load_corpus("semeval2015_timeline")


def entry(position, anchor, *mentions):
    """An entry as records have it."""
    return {"position": position, "anchor": anchor, "mentions": list(mentions)}


def entries(rows):
    """Entries from rows (position, anchor, mentions)."""
    return [entry(position, anchor, *mentions) for position, anchor, mentions in rows]


def lines(timeline):
    """The entries of a record as tuples (position, anchor, mention, …)."""
    return [(one["position"], one["anchor"], *one["mentions"]) for one in timeline["entries"]]


def write_texts(folder, **texts):
    """Write text files of timelines into a folder, by their names without suffix; return the folder."""
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def skip_unless_available(split, config="default"):
    """Skip the test if the files of a split are not on this machine."""
    if split not in splits_at_hand(CORPUS, config):
        pytest.skip(f"{split} is not available")


def loader_folder():
    """The folder of the corpus's loader."""
    return locate(CORPUS, CORPUS.configs["sample"].splits["test"]).path.parent


GOLD = [
    {"id": "ann", "entity": "Ann", "entries": [entry(1, "2007", "7-2-a")]},
    {"id": "bea", "entity": "Bea", "entries": []},
    {"id": "cy", "entity": "Cy", "entries": [entry(1, "2007", "7-2-c")]},
]
GOLD_WITH_DOCUMENTS = Timelines(
    GOLD,
    [
        {"id": "7", "sentences": [0, 0, 2]},
        {"id": "8", "sentences": [1]},
        {"id": "8", "sentences": [4]},
    ],
)
