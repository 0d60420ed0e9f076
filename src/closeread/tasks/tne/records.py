"""Records of TNE: statistics as in Table 2 and Figure 4 of the paper, a view for readers, and flat rows (links).

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 6 with Table 2 and Figure 4; the definitions are
those that give the printed values.  The paper does not say how it finds sentences.

Conventions: a link is a row of the file, so a duplicate counts twice, and a link to several coreferring noun phrases
counts once for each.  A link is in surface form only with exactly its own words.  Without any links, only sizes are
counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from closeread.arrays import Ints, Mask, ratio
from closeread.corpus.showing import Part, View, mark_spans
from closeread.counts.table import factorize
from closeread.exceptions import shorten
from closeread.records import ColumnRecords, Record
from closeread.tables import Grid
from closeread.tasks.tne.columns import LABELS, PREPOSITIONS, Documents, documents_of

LOOK_AHEAD = 10
"""The number of tokens after an anchor, white space excluded, in which the extended form looks for its preposition."""

PREPOSITION = re.compile(f" ({'|'.join(map(re.escape, PREPOSITIONS[1:]))}) ")

OTHER, SMALLEST = "Other", 4.0
"""Figure 4 unites prepositions under this percentage of the links."""

MEANS = ("mean distance in tokens", "% of links in surface form", "% of links in extended surface form")
"""The statistics that are means: the first over links, the others over documents with links."""


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
        "tokens": sum(len(tokens) for tokens in documents.column("tokens")),
        "noun phrases": int(documents.sizes.sum()),
        "clusters of more than one": int((np.bincount(documents.clusters.member_of) > 1).sum()),
    }
    return {**sizes, **_count_links(documents)} if len(documents.links) else sizes


def _count_links(documents: Documents) -> dict[str, float]:
    """Return all statistics that need links."""
    links, phrases = documents.links, documents.noun_phrases
    anchor, complement = find_ends(documents)
    begin, end = phrases.first_token[anchor], phrases.first_token[complement]
    pair = anchor * len(phrases.text) + complement
    sentence = documents.sentence
    surface = _find_surface(documents)
    counts = np.bincount(links.label, minlength=len(PREPOSITIONS))
    return {
        "links": len(links),
        "pairs": len(np.unique(pair)),
        "triplets": len(np.unique(pair * len(PREPOSITIONS) + links.label)),
        "links, once a cluster": len(
            np.unique(anchor * len(documents.clusters.ids) + documents.cluster_of[complement])
        ),
        "links to the title": int(documents.in_title[complement].sum()),
        "symmetric links": float(ratio(np.isin(complement * len(phrases.text) + anchor, pair).sum(), 2)),
        "transitive links": count_transitive(anchor, complement, len(phrases.text)),
        "links between sentences": int((sentence[anchor] != sentence[complement]).sum()),
        "links to what stands before": int((end < begin).sum()),
        "mean distance in tokens": float(np.abs(end - begin).mean()),
        "% of links in surface form": _average_percent(surface, documents),
        "% of links in extended surface form": _average_percent(surface | _find_extended_surface(documents), documents),
        **{f"links: {name}": int(n) for name, n in zip(PREPOSITIONS[1:], counts[1:], strict=True)},
    }


def find_ends(documents: Documents) -> tuple[Ints, Ints]:
    """Return the positions of every link's anchor and complement among the noun phrases of all documents."""
    starts = documents.noun_phrases.starts[:-1][documents.links.document]
    return starts + documents.links.anchor, starts + documents.links.complement


def count_transitive(anchor: Ints, complement: Ints, n_phrases: int) -> int:
    """Count the links, given as positions, whose two noun phrases are both anchors of a common complement.

    The complements of whichever end has fewer are looked up among those of the other end: the first complement for all
    links at once, then the second for the links that are still open, and so on.
    """
    pair = np.unique(anchor * n_phrases + complement)
    target = pair % n_phrases
    sizes = np.bincount(pair // n_phrases, minlength=n_phrases)
    starts = np.cumsum(sizes) - sizes
    is_fewer = sizes[anchor] < sizes[complement]
    fewer, other = np.where(is_fewer, anchor, complement), np.where(is_fewer, complement, anchor)
    open_links, turn = np.flatnonzero(sizes[fewer] > 0), 0
    n_found = 0
    while len(open_links):
        looked_up = other[open_links] * n_phrases + target[starts[fewer[open_links]] + turn]
        place = np.minimum(np.searchsorted(pair, looked_up), len(pair) - 1)
        is_common = pair[place] == looked_up
        n_found += int(is_common.sum())
        turn += 1
        open_links = open_links[~is_common & (sizes[fewer[open_links]] > turn)]
    return n_found


def _average_percent(mask: Mask, documents: Documents) -> float:
    """Return the percentage of links in a mask, averaged over the documents with links."""
    document = documents.links.document
    links = np.bincount(document)
    shares = ratio(np.bincount(document, mask)[links > 0], links[links > 0])
    return 100 * float(shares.mean())


def _find_surface(documents: Documents) -> Mask:
    """Return the links in surface form: preposition and complement follow the anchor, with single spaces."""
    links, phrases, texts = documents.links, documents.noun_phrases, documents.column("text")
    anchor, complement = find_ends(documents)
    stops = zip(phrases.document.tolist(), phrases.last_char.tolist(), strict=True)
    following = [PREPOSITION.match(texts[index], stop) for index, stop in stops]
    label = np.array([LABELS[found[1]] if found else 0 for found in following], np.int64)
    surface: Mask = label[anchor] == links.label
    for place in np.flatnonzero(surface).tolist():
        found = following[anchor[place]]
        words = phrases.text[complement[place]]
        surface[place] = found is not None and found.string.startswith(words, found.end())
    return surface


def _find_extended_surface(documents: Documents) -> Mask:
    """Return the links in surface form, with other tokens allowed between anchor and preposition."""
    phrases = documents.noun_phrases
    _, complement = find_ends(documents)
    tokens = list(chain.from_iterable(documents.column("tokens")))
    begin = (documents.token_starts[phrases.document] + phrases.first_token)[complement]
    length = (phrases.last_token - phrases.first_token + 1)[complement]
    surface = np.zeros(len(complement), np.bool_)
    for places, follows in _find_after_prepositions(documents, tokens):
        found = zip(places.tolist(), follows.tolist(), begin[places].tolist(), length[places].tolist(), strict=True)
        surface[[i for i, there, here, n in found if tokens[there : there + n] == tokens[here : here + n]]] = True
    return surface


def _find_after_prepositions(documents: Documents, tokens: Sequence[str]) -> Iterator[tuple[Ints, Ints]]:
    """Find links whose preposition follows the anchor soon, and is followed by the complement's first token."""
    links, phrases, starts = documents.links, documents.noun_phrases, documents.token_starts
    anchor, complement = find_ends(documents)
    solid = np.flatnonzero([not token.isspace() for token in tokens])
    label = np.array([LABELS.get(token, 0) for token in tokens], np.int64)[solid]
    word, _ = factorize(tokens)
    first = word[(starts[phrases.document] + phrases.first_token)[complement]]
    behind = np.searchsorted(solid, (starts[phrases.document] + phrases.last_token)[anchor], side="right")
    last = np.searchsorted(solid, starts[1:])[links.document] - 1
    for place in (behind + step for step in range(LOOK_AHEAD)):
        inside = np.flatnonzero(place < last)
        fitting = inside[label[place[inside]] == links.label[inside]]
        follows = solid[place[fitting] + 1]
        likely = word[follows] == first[fitting]
        yield fitting[likely], follows[likely]


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
