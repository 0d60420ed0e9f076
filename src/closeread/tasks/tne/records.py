"""Records of TNE: statistics as in Table 2 and Figure 4 of the paper, a view for readers, and flat rows (links).

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 6 with Table 2 and Figure 4; the definitions are
those that give the printed values.  The paper does not say how it finds sentences.

Conventions: a link is a row of the file, so a duplicate counts twice, and a link to several coreferring noun phrases
counts once for each.  A link is in surface form only with exactly its own words.  Without any links, only sizes are
counted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from closeread.arrays import ratio
from closeread.corpus.showing import Part, View, mark_spans
from closeread.exceptions import shorten
from closeread.records import ColumnRecords, Record
from closeread.tables import Grid
from closeread.tasks.tne.columns import PREPOSITIONS, TITLE_END, documents_of, list_phrases, number_sentences

LOOK_AHEAD = 10
"""The number of tokens after an anchor, white space excluded, in which the extended form looks for its preposition."""

OTHER, SMALLEST = "Other", 4.0  # Figure 4 unites prepositions under this percentage of the links

DISTANCE, SURFACE, EXTENDED = MEANS = (
    *("mean distance in tokens", "% of links in surface form", "% of links in extended surface form"),
)
"""The statistics that are means: the first over links, the others over documents with links."""

STATISTICS = (
    *("links", "pairs", "triplets", "links, once a cluster", "links to the title", "symmetric links"),
    *("transitive links", "links between sentences", "links to what stands before", *MEANS),
    *(f"links: {preposition}" for preposition in PREPOSITIONS[1:]),
)
"""The statistics of links."""


def facts(records: Sequence[Record]) -> dict[str, float]:
    """Count documents, noun phrases and links: links of each kind and preposition, their length and surface form.

    Means are rounded to two digits.
    """
    return {name: round(value, 2) if name in MEANS else value for name, value in measure(records).items()}


def measure(records: Sequence[Record]) -> dict[str, float]:
    """Return the statistics of `facts`, without rounding."""
    documents = documents_of(records)
    sizes: dict[str, float] = {
        "documents": len(documents),
        "tokens": sum(map(len, documents.column("tokens"))),
        "noun phrases": int(documents.sizes.sum()),
        "clusters of more than one": sum(
            len(cluster["members"]) > 1 for clusters in documents.column("coref") for cluster in clusters or ()
        ),
    }
    counted = [_count_links(record) for record in documents.records if record.get("np_relations")]
    if not counted:
        return sizes
    total: dict[str, float] = {name: sum(of_document[name] for of_document in counted) for name in STATISTICS}
    total["symmetric links"] /= 2
    total[DISTANCE] = float(ratio(total[DISTANCE], total["links"]))
    for name in (SURFACE, EXTENDED):
        total[name] = 100 * float(np.mean([ratio(of_document[name], of_document["links"]) for of_document in counted]))
    return sizes | total


def _count_links(record: Record) -> Counter[str]:
    """Count the links of a document, of each kind, and sum their distances."""
    tokens, text, sentence = record["tokens"], record["text"], number_sentences(record["tokens"])
    phrases = {phrase["id"]: phrase for phrase in list_phrases(record)}
    cluster = {name: number for number, one in enumerate(record["coref"]) for name in one["members"]}
    links = [(link["anchor"], link["preposition"], link["complement"]) for link in record["np_relations"]]
    complements: dict[str, set[str]] = defaultdict(set)
    for anchor, _, complement in links:
        complements[anchor].add(complement)
    solid = [place for place, token in enumerate(tokens) if not token.isspace()]
    ahead = {}  # by anchor: the tokens after it that may be its preposition, each with the place of the token behind it
    for anchor in complements:
        places = solid[bisect_right(solid, phrases[anchor]["last_token"]) :][: LOOK_AHEAD + 1]
        ahead[anchor] = [(tokens[place], following) for place, following in pairwise(places)]
    found = Counter(f"links: {preposition}" for _, preposition, _ in links)
    found |= Counter({"links": len(links), "pairs": sum(map(len, complements.values())), "triplets": len(set(links))})
    found["links, once a cluster"] = len({(anchor, cluster[complement]) for anchor, _, complement in links})
    title = text.find(TITLE_END)
    for anchor, preposition, complement in links:
        one, other = phrases[anchor], phrases[complement]
        begin, end = one["first_token"], other["first_token"]
        words = tokens[end : other["last_token"] + 1]
        is_surface = text.startswith(f" {preposition} {other['text']}", one["last_char"])
        found["links to the title"] += other["last_char"] <= title
        found["symmetric links"] += anchor in complements.get(complement, ())
        found["transitive links"] += not complements[anchor].isdisjoint(complements.get(complement, ()))
        found["links between sentences"] += sentence[begin] != sentence[end]
        found["links to what stands before"] += end < begin
        found[DISTANCE] += abs(end - begin)
        found[SURFACE] += is_surface
        found[EXTENDED] += is_surface or any(
            said == preposition and tokens[place : place + len(words)] == words for said, place in ahead[anchor]
        )
    return found


LINK = ("anchor", "preposition", "complement")
SIDES = {(True, True): "both", (True, False): "gold only", (False, True): "system only"}
EXAMPLES = 2  # the number of links of an example

SHOWN = 200  # how many characters of a noun phrase are shown; it may be in many links


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


FLAT = (
    *("id", "domain", "forum", "anchor", "anchor_text", "preposition", "complement", "complement_text"),
    "complement_coref_cluster_id",
)


def flatten(records: Sequence[Record]) -> ColumnRecords:
    """Return a row for each link, in the order of the documents and of their links."""
    return ColumnRecords.from_rows(FLAT, _list_rows(records))


def _list_rows(records: Sequence[Record]) -> Iterator[tuple[Any, ...]]:
    for record in records:
        texts = {np["id"]: np["text"] for np in record["nps"]}
        about = (record["id"], record.get("domain"), record.get("forum"))
        for link in record.get("np_relations") or ():
            anchor, complement = link["anchor"], link["complement"]
            ends = (anchor, texts[anchor], link["preposition"], complement, texts[complement])
            yield (*about, *ends, link["complement_coref_cluster_id"])
