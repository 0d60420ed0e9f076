"""Links between noun phrases: TNE's scores.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2022), sections 2 and 7; details as their evaluator decides them.

Conventions: the unit, and what is resampled, is the document; counts are summed over documents before anything is
divided.  Links are compared as ordered pairs of noun phrases; of several labels that a system gives to one pair the
first counts, and it is right if it is among the gold ones.  0/0 is 0, but for the two accuracies, which then are
undefined.

Metrics: precision, recall and F1 of
    links: labelled pairs.
    unlabeled: pairs, whatever their prepositions.
    triplets: (anchor, preposition, complement), each once.
and the accuracies of prepositions
    iprep: over gold pairs that the system links.
    uprep: over gold pairs that it does not link, by what it falls back on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from closeread.corpora.sides import CorpusSides
from closeread.counts.metrics import Metric, Ratio, precision_recall_f1
from closeread.counts.options import Option, check_present, missing_option
from closeread.counts.procedure import Procedure
from closeread.counts.sides import Inconsistency
from closeread.counts.table import Breakdown, CountTable
from closeread.errors import FieldPath, RequestError, quote
from closeread.records import Record
from closeread.tasks.tne.columns import PREPOSITIONS, Documents, Ints, Links, SystemRows, documents_of, rows_of
from closeread.tasks.tne.kernels.links import (
    COUNTS,
    N_LABELS,
    UPREP,
    Tallies,
    document_of,
    pairs,
    phrases_of,
    tallies,
    triplets,
)

UNKNOWN = "unknown"
NO_FORUM = "none"
WITH_FORUMS = "reddit"
"""The domain whose documents are of forums."""

EXPRESSED = ("implicit", "explicit")
"""Whether the text joins the two by a preposition: `the roof` and `the house` in `the roof of the house`."""

WRITTEN = (*PREPOSITIONS[1:], "member of", "members of")
JOINED = re.compile(rf" (?:{'|'.join(map(re.escape, WRITTEN))}) ")


CountParts = Callable[[Tallies, Documents], Breakdown | None]
"""Counts parts of documents; None where gold is not enough for it."""


def count(
    *,
    gold: Sequence[Record],
    system: Sequence[Record | None],
    breakdowns: Sequence[str] = (),
    uprep: str = "any",
    missing: str = "error",
) -> CountTable:
    """Counts of every document.

    Args:
        gold: documents, each with `np_relations`, and `text`, `nps` and `domain` where there are breakdowns by them.
        system: the same documents in the same order, each with `relations` and, where it is known, `fallback`; None
            where there is none.
        breakdowns: what to count inside documents, of `BREAKDOWNS`; what gold is not enough for is left out.
        uprep, missing: what `PROCEDURE` says of its options.

    Raises:
        ValueError: a document has no row and `missing` is "error".
        RequestError: a document has no gold links.
    """
    present = np.array([row is not None for row in system], np.bool_)
    check_present(present, "documents", missing)
    documents = documents_of(gold)
    unlabelled = [
        name for name, links in zip(*map(documents.column, ("id", "np_relations")), strict=True) if links is None
    ]
    if unlabelled:
        found = f"{len(unlabelled):,} of {len(gold):,} documents have no gold links (the first: {quote(unlabelled[0])})"
        raise RequestError(f"{found}; predictions for them can be validated, not scored")
    rows = rows_of(system)
    fallback = rows.fallback.labelled if len(rows.fallback) else None
    tally = tallies(rows.links.labelled, documents.links.labelled, fallback, uprep)
    table = CountTable(
        documents.column("id"),
        np.arange(len(documents)),
        COUNTS,
        tally.by_document(len(documents)),
        _fields(documents),
        {name: parts for name in breakdowns if (parts := BREAKDOWNS[name](tally, documents)) is not None},
    )
    return table.select(present) if missing == "skip" else table


def _fields(documents: Documents) -> dict[str, list[str]]:
    """The domain and the forum of every document; those of a known domain without forums have none."""
    domains, forums = documents.column("domain"), documents.column("forum")
    return {
        "domain": [domain or UNKNOWN for domain in domains],
        "forum": [
            forum or (UNKNOWN if domain in (None, WITH_FORUMS) else NO_FORUM)
            for domain, forum in zip(domains, forums, strict=True)
        ],
    }


def _by_preposition(tally: Tallies, documents: Documents) -> Breakdown:
    counts = tally.by_group(len(documents), N_LABELS, lambda _, label: label)
    return Breakdown.from_dense(PREPOSITIONS[1:], counts[1:])


def _by_expression(tally: Tallies, documents: Documents) -> Breakdown | None:
    """Links with and without surface form; None where a document has no text or no noun phrases."""
    if None in documents.column("text") or None in documents.column("nps"):
        return None
    explicit = joined(np.unique(np.concatenate(list(tally.pair.values()))), documents)
    counts = tally.by_group(len(documents), 2, lambda pair, _: np.isin(pair, explicit).astype(np.int64))
    return Breakdown.from_dense(EXPRESSED, counts)


BREAKDOWNS: dict[str, CountParts] = {
    "preposition": _by_preposition,
    "expressed": _by_expression,
}


def joined(pair: Ints, documents: Documents) -> Ints:
    """Those of some pairs that have surface form: a preposition follows the anchor, and the complement's words that.

    It is what the paper's statistics count, but for which preposition it is, and for words that go on.
    """
    phrases, texts = documents.noun_phrases, documents.column("text")
    document = document_of(pair)
    anchor, complement = (phrases.starts[document] + phrase for phrase in phrases_of(pair))
    anchors, place = np.unique(anchor, return_inverse=True)
    spots = zip(phrases.document[anchors].tolist(), phrases.last_char[anchors].tolist(), strict=True)
    found = [JOINED.match(texts[index], end) for index, end in spots]
    after = np.array([match.end() if match else -1 for match in found], np.int64)[place]
    near = np.flatnonzero(after >= 0)
    said = zip(near.tolist(), document[near].tolist(), complement[near].tolist(), after[near].tolist(), strict=True)
    return pair[[i for i, index, words, start in said if _starts(texts[index], phrases.text[words], start)]]


def _starts(text: str, words: str, place: int) -> bool:
    """Whether whole words stand at a place of a text."""
    end = place + len(words)
    return text.startswith(words, place) and not text[end : end + 1].isalnum()


def find_inconsistencies(
    *, gold: Sequence[Record], system: Sequence[Record | None], **options: str
) -> Iterator[Inconsistency]:
    """Rows of other documents, links of noun phrases that don't exist or to themselves, and what is given twice.

    Yields:
        The side ("system"), the document's number from 0, and what is wrong.
    """
    del options
    documents, rows = documents_of(gold), rows_of(system)
    for index, (name, row) in enumerate(zip(documents.column("id"), rows, strict=True)):
        if row is not None and row["id"] != name:
            yield Inconsistency("system", index, f"id is {quote(row['id'])}; needed: {quote(name)}, as in the gold")
    known = np.array([2**62 if nps is None else len(nps) for nps in documents.column("nps")], np.int64)
    for name, links in (("relations", rows.links), ("fallback", rows.fallback)):
        yield from _unsound(name, links, known, rows)
        key = pairs(links.document, links.anchor, links.complement)
        yield from _given_again(name, links, key if name == "fallback" else triplets(key, links.label))


def _unsound(name: str, links: Links, known: Ints, rows: SystemRows) -> Iterator[Inconsistency]:
    for end, phrase in (("anchor", links.anchor), ("complement", links.complement)):
        for place in np.flatnonzero((phrase < 0) | (phrase >= known[links.document])).tolist():
            index = int(links.document[place])
            position = place - int(np.searchsorted(links.document, index))
            row = rows[index]
            said = quote(row[name][position][end] if row else "")
            needed = f"needed: {_known(int(known[index]))}"
            yield Inconsistency("system", index, f"{end} {said} does not exist; {needed}", (name, position))
    for place in np.flatnonzero((links.anchor == links.complement) & (links.anchor >= 0)).tolist():
        found = f"np{links.anchor[place]} is linked to itself; needed: two noun phrases"
        yield Inconsistency("system", int(links.document[place]), found, _path(name, links, place))


def _known(size: int) -> str:
    if size == 2**62:
        return "np0, np1 or so on"
    if not size:
        return "none, since it has no noun phrases"
    return f"one of its {size:,} noun phrases, np0 to np{size - 1}" if size > 1 else "np0, its only noun phrase"


def _given_again(name: str, links: Links, key: Ints) -> Iterator[Inconsistency]:
    if len(np.unique(key)) == len(key):
        return
    order = np.argsort(key, kind="stable")
    again = order[1:][key[order[1:]] == key[order[:-1]]]
    again = again[(links.anchor[again] >= 0) & (links.complement[again] >= 0)]  # others don't exist, which is told
    for place in sorted(again.tolist()):
        pair = f"np{links.anchor[place]} and np{links.complement[place]}"
        found = f"the link of {pair} by {quote(PREPOSITIONS[links.label[place]])} is given twice"
        if name == "fallback":
            found = f"{pair} have a fallback already; needed: one"
        yield Inconsistency("system", int(links.document[place]), found, _path(name, links, place))


def _path(name: str, links: Links, place: int) -> FieldPath:
    return name, place - int(np.searchsorted(links.document, links.document[place]))


IPREP = Ratio("links/right", "linked/gold", "Gold pairs that are linked whose preposition is right.")
UPREP_ACCURACY = Ratio(
    "fallback/right",
    "fallback/gold",
    "Gold pairs that are not linked whose preposition is what the system falls back on.",
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
            "What a fallback has to be where gold has several prepositions: any of them, or the last in the file.",
        ),
        missing_option("error"),
    ),
    metrics=(
        *precision_recall_f1(
            "links",
            "Links",
            Ratio("links/right", "links/system", "Predicted pairs that gold links by the same preposition."),
            Ratio("links/right", "links/gold", "Gold pairs that are linked by a preposition of theirs."),
        ),
        *precision_recall_f1(
            "unlabeled",
            "Unlabelled links",
            Ratio("linked/system", "links/system", "Predicted pairs that gold links."),
            Ratio("linked/gold", "links/gold", "Gold pairs that are linked."),
        ),
        *precision_recall_f1(
            "triplets",
            "Triplets",
            Ratio(
                "triplets/right",
                "triplets/system",
                "Predicted triplets of anchor, preposition and complement that gold has.",
            ),
            Ratio("triplets/right", "triplets/gold", "Gold triplets that are predicted."),
        ),
        Metric("iprep", "IPrep accuracy", IPREP.description, IPREP),
        Metric("uprep", "UPrep accuracy", UPREP_ACCURACY.description, UPREP_ACCURACY),
    ),
    modules=("tne_links",),
    count=count,
    breakdowns=tuple(BREAKDOWNS),
    sides=CorpusSides(find=find_inconsistencies, prepare=rows_of),
)
