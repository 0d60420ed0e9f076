"""A document for a reader: its text with noun phrases marked, its coreference clusters and its links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from closeread.corpus.showing import Part, View, mark_spans
from closeread.exceptions import shorten
from closeread.records import Record
from closeread.tables import Grid

LINK = ("anchor", "preposition", "complement")
SIDES = {(True, True): "both", (True, False): "gold only", (False, True): "system only"}
EXAMPLES = 2
"""The number of links of an example."""

SHOWN = 200
"""How many characters of a noun phrase are shown; it may be in many links."""


def draw(records: Sequence[Record], system: Sequence[Record | None] | None) -> Iterator[Part]:
    """Draw the text, the clusters and the links of each document."""
    for number, record in enumerate(records):
        about = ", ".join(record[name] for name in ("domain", "forum") if record.get(name))
        yield f"{record['id']} ({about})" if about else record["id"]
        spans = ((np["first_char"], np["last_char"] - 1, np["id"]) for np in record["nps"])
        yield "".join(mark_spans(record["text"], spans))
        texts = {np["id"]: np["text"] for np in record["nps"]}
        clusters = [
            [one["id"], ", ".join(_format_phrase(name, texts) for name in one["members"])]
            for one in record["coref"]
            if len(one["members"]) > 1
        ]
        if clusters:
            yield Grid("", ["cluster", "noun phrases"], clusters, prose=frozenset({"noun phrases"}))
        yield from _draw_links(
            record, texts, None if system is None else system[number], with_system=system is not None
        )


def _draw_links(record: Record, texts: Mapping[str, str], row: Record | None, *, with_system: bool) -> Iterator[Part]:
    if record.get("np_relations") is None and not with_system:
        yield "Links: withheld"
        return
    gold = dict.fromkeys(tuple(link[name] for name in LINK) for link in record.get("np_relations") or ())
    predicted = dict.fromkeys(tuple(link[name] for name in LINK) for link in (row["relations"] if row else ()))
    links = sorted({**gold, **predicted}, key=lambda link: (_number(link[0]), _number(link[2])))
    lines = [
        f"{_format_phrase(anchor, texts)} {preposition} {_format_phrase(complement, texts)}"
        for anchor, preposition, complement in links
    ]
    if not with_system:
        yield Grid("", ["link"], [[line] for line in lines], prose=frozenset({"link"}))
        return
    sides = [SIDES[link in gold, link in predicted] for link in links]
    rows = [list(cells) for cells in zip(sides, lines, strict=True)]
    yield Grid("", ["in", "link"], rows, prose=frozenset({"link"}))


def _format_phrase(name: str, texts: Mapping[str, str]) -> str:
    return f"{name} [{shorten(texts.get(name, '?'), SHOWN)}]"


def _number(name: str) -> int:
    return int(name.removeprefix("np"))


def predict(record: Record) -> Record:
    """Predict the first links."""
    few = (record["np_relations"] or ())[:EXAMPLES]
    return {"id": record["id"], "relations": [{name: link[name] for name in LINK} for link in few]}


VIEWS = {"document": View(draw, predict=predict)}
