"""A document for a reader: its text with mentions marked, and its chains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from closeread.corpus.showing import Part, View, mark_spans
from closeread.records import Record
from closeread.tables import Grid

EXAMPLES = 2
"""The number of chains of an example."""

SHOWN = 40
"""How many words of a mention are shown."""


def draw(records: Sequence[Record], system: Sequence[Record | None] | None) -> Iterator[Part]:
    """Draw the text of each document, a line for each sentence, with the numbers of chains after its mentions."""
    for number, record in enumerate(records):
        yield f"{record['document']} ({record['genre']})" if record.get("genre") else record["document"]
        words = [token["form"] for sentence in record["sentences"] for token in sentence["tokens"]]
        chains = {tuple(span): str(chain) for chain, spans in enumerate(record["clusters"]) for span in spans}
        spans = [(one["start"], one["end"]) for one in record["mentions"]]
        marked = iter(mark_spans(words, [(*span, chains.get(span, "")) for span in spans]))
        yield "\n".join(" ".join(next(marked) for _ in sentence["tokens"]) for sentence in record["sentences"])
        yield _draw_chains("" if system is None else "Gold", record["clusters"], words)
        if system is not None:
            row = system[number]
            yield _draw_chains("Predictions", [] if row is None else row["clusters"], words)


def _draw_chains(title: str, clusters: Sequence[Sequence[Sequence[int]]], words: Sequence[str]) -> Grid:
    rows = [
        [str(number), ", ".join(f"[{_join(words, start, end)}] {start}-{end}" for start, end in chain)]
        for number, chain in enumerate(clusters)
    ]
    return Grid(title, ["chain", "mentions, with their first and last tokens"], rows, prose=PROSE)


def _join(words: Sequence[str], start: int, end: int) -> str:
    """Return the words of a mention, of a long one the first and the last: mentions may contain each other."""
    if end - start < SHOWN:
        return " ".join(words[start : end + 1])
    return " ".join([*words[start : start + SHOWN // 2], "…", *words[end + 1 - SHOWN // 2 : end + 1]])


PROSE = frozenset({"mentions, with their first and last tokens"})


def predict(record: Record) -> Record:
    """Predict the first chains."""
    return {"document": record["document"], "clusters": record["clusters"][:EXAMPLES]}


VIEWS = {"document": View(draw, predict=predict)}
