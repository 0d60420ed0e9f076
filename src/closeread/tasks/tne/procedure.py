"""Links between noun phrases: TNE's scores.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), sections 2 and 8.2; details as their evaluator decides
them.

Conventions: documents are the units of counting and of resampling; counts are summed over documents before dividing.
Links are compared as ordered pairs of noun phrases.  If a system gives several labels to a pair, the first counts, and
it is correct if it is one of the gold labels.  0/0 is 0, except for the two accuracies, which are then undefined.

Metrics: precision, recall and F1 of
    links: labelled pairs.
    unlabeled: pairs, whatever their prepositions.
    triplets: (anchor, preposition, complement), each once.
and the accuracy of the preposition
    iprep: over gold pairs that the system links.
    uprep: over gold pairs that the system does not link, from its fallbacks.

Breakdowns: every pair, whether a side links it or not, belongs to one part of each.  A noun phrase stands where its
first token is, and sentences end at the tokens `.`, `!` and `?`, and at line ends.
    distance: how many tokens anchor and complement are apart.
    direction: where the complement begins: before or after the anchor, or at the same token, as `the roof` and
        `the roof of the house` do.
    sentence: whether anchor and complement begin in the same sentence.
    mention: which mention of its coreference cluster the complement is.
    expressed: whether a preposition joins the two in the text, as in `the roof of the house`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from closeread.arrays import Ints, Mask, mark_run_starts
from closeread.corpus.submissions import CorpusSides
from closeread.counts.metrics import Metric, Ratio, precision_recall_f1
from closeread.counts.procedure import Inconsistency, Option, Procedure, check_present, missing_option
from closeread.counts.table import Breakdown, CountTable
from closeread.exceptions import FieldPath, RequestError, quote
from closeread.records import Record
from closeread.tasks.tne.columns import PREPOSITIONS, Documents, Links, SystemRows, documents_of, rows_of
from closeread.tasks.tne.kernels.links import (
    COUNTS,
    N_LABELS,
    UPREP,
    Tallies,
    document_of,
    find_places,
    pairs,
    phrases_of,
    tallies,
    triplets,
)

UP_TO = (5, 10, 20, 50, 100)
"""The largest distance, in tokens, of each bin but the last."""

DISTANCES = (
    *(f"{low} to {high}" for low, high in zip((0, *(n + 1 for n in UP_TO)), UP_TO, strict=False)),
    f"over {UP_TO[-1]}",
)
DIRECTIONS = ("before", "same token", "after")
SENTENCES = ("same", "other")
MENTIONS = ("only", "first", "further")


@dataclass(frozen=True)
class PairField:
    """A property of pairs of noun phrases.

    Attributes:
        parts: its values.
        needs: the fields of documents that it is found by.
        find: from documents and pairs, (n,), to the numbers of their values, (n,).
    """

    parts: Sequence[str]
    needs: Sequence[str]
    find: Callable[[Documents, Ints], Ints]

    def count(self, tally: Tallies, documents: Documents) -> Breakdown | None:
        """Count the links with each value in each document; None if a document lacks a field that this needs."""
        if not self.is_known(documents):
            return None
        counts = tally.by_group(len(documents), len(self.parts), lambda pair, _: self.find(documents, pair))
        return Breakdown.from_dense(self.parts, counts)

    def is_known(self, documents: Documents) -> bool:
        """Return whether all documents have the fields that this needs."""
        return not documents.lacks(*self.needs)


def measure_distances(documents: Documents, pair: Ints) -> Ints:
    """Return how many tokens the complement of each pair begins after its anchor, (n,); negative if before it."""
    anchor, complement = _find_ends(documents, pair)
    first = documents.noun_phrases.first_token
    return first[complement] - first[anchor]


def _find_ends(documents: Documents, pair: Ints) -> tuple[Ints, Ints]:
    """Return the positions of anchors and complements among the noun phrases of all documents."""
    starts = documents.noun_phrases.starts[document_of(pair)]
    anchor, complement = phrases_of(pair)
    return starts + anchor, starts + complement


def _find_distance(documents: Documents, pair: Ints) -> Ints:
    bins: Ints = np.digitize(np.abs(measure_distances(documents, pair)), UP_TO, right=True)
    return bins


def _find_direction(documents: Documents, pair: Ints) -> Ints:
    sign: Ints = np.sign(measure_distances(documents, pair))
    return sign + 1


def _find_sentence(documents: Documents, pair: Ints) -> Ints:
    anchor, complement = _find_ends(documents, pair)
    is_other: Mask = documents.sentence[anchor] != documents.sentence[complement]
    return is_other.astype(np.int64)


def _find_mention(documents: Documents, pair: Ints) -> Ints:
    """Return which mention each complement is; the first begins first in the text, the longest of several that do."""
    phrases, cluster = documents.noun_phrases, documents.cluster_of
    order = np.lexsort((np.arange(len(cluster)), -phrases.last_token, phrases.first_token, cluster))
    mention = np.full(len(cluster), MENTIONS.index("further"))
    in_order = cluster[order]
    is_first = np.append(True, in_order[1:] != in_order[:-1])[: len(order)]
    mention[order[is_first]] = MENTIONS.index("first")
    mention[np.bincount(cluster)[cluster] == 1] = MENTIONS.index("only")
    of_complement: Ints = mention[_find_ends(documents, pair)[1]]
    return of_complement


PLACES: Mapping[str, PairField] = {
    "distance": PairField(DISTANCES, ("nps",), _find_distance),
    "direction": PairField(DIRECTIONS, ("nps",), _find_direction),
    "sentence": PairField(SENTENCES, ("nps", "tokens"), _find_sentence),
    "mention": PairField(MENTIONS, ("nps", "coref"), _find_mention),
}


UNKNOWN = "unknown"
NO_FORUM = "none"
WITH_FORUMS = "reddit"
"""The domain whose documents come from forums."""

EXPRESSED = ("implicit", "explicit")
"""Whether a preposition joins the two in the text, as in `the roof of the house`."""

WRITTEN = (*PREPOSITIONS[1:], "member of", "members of")
JOINED = re.compile(rf" (?:{'|'.join(map(re.escape, WRITTEN))}) ")


CountParts = Callable[[Tallies, Documents], Breakdown | None]
"""Counts a breakdown of every document; None if gold lacks a field for it."""


def count(
    *,
    gold: Sequence[Record],
    system: Sequence[Record | None],
    breakdowns: Sequence[str] = (),
    uprep: str = "any",
    missing: str = "error",
) -> CountTable:
    """Count the links of every document."""
    rows = rows_of(system)
    check_present(rows.present, "documents", missing)
    documents = documents_of(gold)
    check_linked(documents)
    fallback = rows.fallback.labelled if len(rows.fallback) else None
    tally = tallies(rows.links.labelled, documents.links.labelled, fallback, uprep)
    table = CountTable(
        documents.column("id"),
        np.arange(len(documents)),
        COUNTS,
        tally.by_document(len(documents)),
        list_fields(documents),
        {name: parts for name in breakdowns if (parts := BREAKDOWNS[name](tally, documents)) is not None},
    )
    return table.select(rows.present) if missing == "skip" else table


def check_linked(documents: Documents) -> None:
    """Check that all documents have gold links."""
    if not documents.lacks("np_relations"):
        return
    unlabelled = [
        name for name, links in zip(*map(documents.column, ("id", "np_relations")), strict=True) if links is None
    ]
    found = f"{len(unlabelled):,} of {len(documents):,} documents have no gold links (first: {quote(unlabelled[0])})"
    raise RequestError(f"{found}; their predictions can be validated but not scored")


def list_fields(documents: Documents) -> dict[str, list[str]]:
    """Return the domain and the forum of every document; documents of a domain without forums have none."""
    domains, forums = documents.column("domain"), documents.column("forum")
    return {
        "domain": [domain or UNKNOWN for domain in domains],
        "forum": [
            forum or (UNKNOWN if domain in (None, WITH_FORUMS) else NO_FORUM)
            for domain, forum in zip(domains, forums, strict=True)
        ],
    }


def _count_by_preposition(tally: Tallies, documents: Documents) -> Breakdown:
    counts = tally.by_group(len(documents), N_LABELS, lambda _, label: label)
    return Breakdown.from_dense(PREPOSITIONS[1:], counts[1:])


def _count_by_expression(tally: Tallies, documents: Documents) -> Breakdown | None:
    """Count links with and without surface form; None if a document lacks its text or its noun phrases."""
    if documents.lacks("text", "nps"):
        return None
    linked = np.sort(np.concatenate([tally.pair["links/system"], tally.pair["links/gold"]]), kind="stable")
    explicit = find_joined(linked[mark_run_starts(linked)], documents)
    counts = tally.by_group(len(documents), 2, lambda pair, _: (find_places(pair, explicit) >= 0).astype(np.int64))
    return Breakdown.from_dense(EXPRESSED, counts)


BREAKDOWNS: dict[str, CountParts] = {
    "preposition": _count_by_preposition,
    "expressed": _count_by_expression,
    **{name: field.count for name, field in PLACES.items()},
}


def find_joined(pair: Ints, documents: Documents) -> Ints:
    """Return the pairs in surface form: the anchor, a preposition and the complement follow each other in the text.

    Unlike in the statistics of the paper, any preposition will do, and the complement must end at a word boundary.
    """
    phrases, texts = documents.noun_phrases, documents.column("text")
    document = document_of(pair)
    anchor, complement = (phrases.starts[document] + phrase for phrase in phrases_of(pair))
    starts = mark_run_starts(anchor)
    anchors, place = anchor[starts], np.cumsum(starts) - 1
    spots = zip(phrases.document[anchors].tolist(), phrases.last_char[anchors].tolist(), strict=True)
    found = [JOINED.match(texts[index], end) for index, end in spots]
    after = np.array([match.end() if match else -1 for match in found], np.int64)[place]
    near = np.flatnonzero(after >= 0)
    candidates = zip(
        near.tolist(), document[near].tolist(), complement[near].tolist(), after[near].tolist(), strict=True
    )
    return pair[[i for i, index, words, start in candidates if _has_words_at(texts[index], phrases.text[words], start)]]


def _has_words_at(text: str, words: str, place: int) -> bool:
    """Return whether the text has these words at a position, as whole words."""
    end = place + len(words)
    return text.startswith(words, place) and not text[end : end + 1].isalnum()


def validate(*, gold: Sequence[Record], system: Sequence[Record | None], **options: str) -> Iterator[Inconsistency]:
    """Find wrong ids, links between noun phrases that don't exist or are the same, and duplicates."""
    del options
    documents, rows = documents_of(gold), rows_of(system)
    for index, (name, own) in enumerate(zip(documents.column("id"), rows.ids, strict=True)):
        if own is not None and own != name:
            yield Inconsistency("system", index, f"id is {quote(own)} (expected {quote(name)}, as in the gold)")
    known = documents.sizes
    if documents.lacks("nps"):
        known = np.where([nps is None for nps in documents.column("nps")], 2**62, known)
    for name, links in (("relations", rows.links), ("fallback", rows.fallback)):
        yield from _find_wrong_ends(name, links, known, rows)
        key = pairs(links.document, links.anchor, links.complement)
        yield from _find_duplicates(name, links, key if name == "fallback" else triplets(key, links.label))


def _find_wrong_ends(name: str, links: Links, known: Ints, rows: SystemRows) -> Iterator[Inconsistency]:
    for end, phrase in (("anchor", links.anchor), ("complement", links.complement)):
        for place in np.flatnonzero((phrase < 0) | (phrase >= known[links.document])).tolist():
            index = int(links.document[place])
            position = place - int(np.searchsorted(links.document, index))
            row = rows[index]
            value = quote(row[name][position][end] if row else "")
            expected = f"(expected {_id_range(int(known[index]))})"
            yield Inconsistency("system", index, f"{end} {value} does not exist {expected}", (name, position))
    for place in np.flatnonzero((links.anchor == links.complement) & (links.anchor >= 0)).tolist():
        found = f"np{links.anchor[place]} is linked to itself (expected two noun phrases)"
        yield Inconsistency("system", int(links.document[place]), found, _path(name, links, place))


def _id_range(size: int) -> str:
    if size == 2**62:
        return "np0, np1, …"
    if not size:
        return "none: the document has no noun phrases"
    return f"one of its {size:,} noun phrases, np0 to np{size - 1}" if size > 1 else "np0, its only noun phrase"


def _find_duplicates(name: str, links: Links, key: Ints) -> Iterator[Inconsistency]:
    if mark_run_starts(np.sort(key, kind="stable")).all():  # links are nearly sorted; `np.unique` would hash them
        return
    order = np.argsort(key, kind="stable")
    again = order[1:][key[order[1:]] == key[order[:-1]]]
    again = again[
        (links.anchor[again] >= 0) & (links.complement[again] >= 0)
    ]  # the rest don't exist, which is reported above
    for place in sorted(again.tolist()):
        pair = f"np{links.anchor[place]} and np{links.complement[place]}"
        found = f"{pair} are already linked by {quote(PREPOSITIONS[links.label[place]])}"
        if name == "fallback":
            found = f"{pair} already have a fallback (expected at most one)"
        yield Inconsistency("system", int(links.document[place]), found, _path(name, links, place))


def _path(name: str, links: Links, place: int) -> FieldPath:
    return name, place - int(np.searchsorted(links.document, links.document[place]))


IPREP = Ratio("links/right", "linked/gold", "Accuracy of the preposition over gold pairs that the system links.")
UPREP_ACCURACY = Ratio(
    "fallback/right",
    "fallback/gold",
    "Accuracy of the fallback preposition over gold pairs that the system does not link.",
)

PROCEDURE = Procedure(
    name="tne",
    version=1,
    title="TNE: links between noun phrases and their prepositions",
    unit="document",
    resampling_unit="document",
    options=(
        Option(
            "uprep",
            UPREP,
            "any",
            "How to score a fallback if gold has several prepositions: accept any of them, or only the last one.",
        ),
        missing_option("error"),
    ),
    metrics=(
        *precision_recall_f1(
            "links",
            "Links",
            Ratio("links/right", "links/system", "Share of predicted pairs that gold links by the same preposition."),
            Ratio(
                "links/right", "links/gold", "Share of gold pairs that are predicted with one of their prepositions."
            ),
        ),
        *precision_recall_f1(
            "unlabeled",
            "Unlabelled links",
            Ratio("linked/system", "links/system", "Share of predicted pairs that gold links by any preposition."),
            Ratio("linked/gold", "links/gold", "Share of gold pairs that are predicted with any preposition."),
        ),
        *precision_recall_f1(
            "triplets",
            "Triplets",
            Ratio(
                "triplets/right",
                "triplets/system",
                "Share of predicted triplets (anchor, preposition, complement) that are in gold.",
            ),
            Ratio("triplets/right", "triplets/gold", "Share of gold triplets that are predicted."),
        ),
        Metric("iprep", "IPrep accuracy", IPREP.description, IPREP),
        Metric("uprep", "UPrep accuracy", UPREP_ACCURACY.description, UPREP_ACCURACY),
    ),
    headline="links/f1",
    modules=("tne_links",),
    count=count,
    fields=("domain", "forum"),
    breakdowns=tuple(BREAKDOWNS),
    sides=CorpusSides(check=validate, to_columns=rows_of),
)
