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
from functools import partial

import numpy as np

from closeread.arrays import Ints, Mask, mark_run_starts
from closeread.corpus.submissions import CorpusReader, NothingInCommon
from closeread.counts.metrics import Metric, Ratio, precision_recall_f1
from closeread.counts.procedure import (
    EXTRA,
    Inconsistency,
    Option,
    Options,
    Procedure,
    check_present,
    missing_option,
)
from closeread.counts.table import Breakdown, CountTable
from closeread.exceptions import quote
from closeread.records import Record
from closeread.tasks.tne.columns import (
    COUNTS,
    PREPOSITIONS,
    SCORED,
    UPREP,
    Documents,
    Links,
    count_by_group,
    document_of,
    documents_of,
    is_phrase_id,
    phrases_of,
    rows_of,
    split_triplets,
    tallies,
    triplets,
)
from closeread.tasks.tne.rules import find_wrong_ends

MAX_DISTANCES = (5, 10, 20, 50, 100)
"""The largest distance, in tokens, of each bin but the last."""

DISTANCES = ("0 to 5", "6 to 10", "11 to 20", "21 to 50", "51 to 100", "over 100")
MENTIONS = ("only", "first", "further")
WRITTEN = (*PREPOSITIONS[1:], "member of", "members of")
JOINED = re.compile(rf" (?:{'|'.join(map(re.escape, WRITTEN))}) ")

UNKNOWN = "unknown"
NO_FORUM = "none"
WITH_FORUMS = "reddit"
"""The domain whose documents come from forums."""

MANY = 2**62
"""More noun phrases than any document has."""


@dataclass(frozen=True)
class PairField:
    """A property of pairs of noun phrases.

    Attributes:
        parts: its values.
        needs: the fields of documents by which it is found.
        find: a function from pairs and labels to numbers of values, (n,).
    """

    parts: Sequence[str]
    needs: Sequence[str]
    find: Callable[[Documents, Ints, Ints], Ints]


def find_ends(documents: Documents, pair: Ints) -> tuple[Ints, Ints]:
    """Return the positions of anchors and complements among the noun phrases of all documents."""
    starts = documents.noun_phrases.starts[document_of(pair)]
    anchor, complement = phrases_of(pair)
    return starts + anchor, starts + complement


def measure_distances(documents: Documents, pair: Ints) -> Ints:
    """Return how many tokens the complement of each pair begins after its anchor, (n,); negative if before it."""
    anchor, complement = find_ends(documents, pair)
    first = documents.noun_phrases.first_token
    return first[complement] - first[anchor]


def _find_preposition(_: Documents, pair: Ints, label: Ints) -> Ints:
    return label - 1


def _find_distance(documents: Documents, pair: Ints, _: Ints) -> Ints:
    distance = np.abs(measure_distances(documents, pair))
    return np.digitize(distance, MAX_DISTANCES, right=True)


def _find_direction(documents: Documents, pair: Ints, _: Ints) -> Ints:
    return np.sign(measure_distances(documents, pair)) + 1


def _find_sentence(documents: Documents, pair: Ints, _: Ints) -> Ints:
    anchor, complement = find_ends(documents, pair)
    is_other: Mask = documents.sentence[anchor] != documents.sentence[complement]
    return is_other.astype(np.int64)


def _find_mention(documents: Documents, pair: Ints, _: Ints) -> Ints:
    """Return which mention each complement is; the first begins first in the text, the longest of several that do."""
    phrases = documents.noun_phrases
    cluster = documents.cluster_of
    # The last key comes first: by cluster, by first token, the longest first, by number.
    keys = (np.arange(len(cluster)), -phrases.last_token, phrases.first_token, cluster)
    order = np.lexsort(keys)
    first = order[mark_run_starts(cluster[order])]
    mention = np.full(len(cluster), MENTIONS.index("further"))
    mention[first] = MENTIONS.index("first")
    mention[np.bincount(cluster)[cluster] == 1] = MENTIONS.index("only")
    _, complement = find_ends(documents, pair)
    return mention[complement]


def _find_expression(documents: Documents, pair: Ints, _: Ints) -> Ints:
    distinct, place = np.unique(pair, return_inverse=True)
    return np.array(are_joined(documents, distinct), np.int64)[place]


def are_joined(documents: Documents, pair: Ints) -> list[bool]:
    """Return which pairs are in surface form: anchor, preposition and complement follow each other in the text.

    Unlike in the statistics of the paper, any preposition will do, and the complement must end at a word boundary.
    """
    texts = documents.column("text")
    phrases = documents.noun_phrases
    # By anchor: where the words after a preposition begin, -1 if there is none.
    begin_by_anchor: dict[int, int] = {}
    verdicts = []
    columns = (document_of(pair), *find_ends(documents, pair))
    lists = [column.tolist() for column in columns]
    for document, anchor, complement in zip(*lists, strict=True):
        text = texts[document]
        if anchor not in begin_by_anchor:
            match = JOINED.match(text, phrases.last_char[anchor])
            begin_by_anchor[anchor] = match.end() if match else -1
        begin = begin_by_anchor[anchor]
        words = phrases.text[complement]
        end = begin + len(words)
        is_joined = begin >= 0 and text.startswith(words, begin)
        verdicts.append(is_joined and not text[end : end + 1].isalnum())
    return verdicts


BREAKDOWNS: Mapping[str, PairField] = {
    "preposition": PairField(PREPOSITIONS[1:], (), _find_preposition),
    "expressed": PairField(("implicit", "explicit"), ("text", "nps"), _find_expression),
    "distance": PairField(DISTANCES, ("nps",), _find_distance),
    "direction": PairField(("before", "same token", "after"), ("nps",), _find_direction),
    "sentence": PairField(("same", "other"), ("nps", "tokens"), _find_sentence),
    "mention": PairField(MENTIONS, ("nps", "coref"), _find_mention),
}


def count(
    *,
    gold: Sequence[Record],
    system: Sequence[Record | None],
    breakdowns: Sequence[str] = (),
    uprep: str = "any",
    missing: str = "error",
) -> CountTable:
    """Count the links of every document.

    Documents need `np_relations`; a breakdown for which they lack a field is omitted.  Rows have `relations` and
    optionally `fallback`; None stands for a document without a row.
    """
    rows = rows_of(system)
    documents = documents_of(gold)
    is_present = np.array([row is not None for row in rows], np.bool_)
    check_present(is_present, "documents", missing)
    documents.require("np_relations", *SCORED)
    fallback = rows.fallback.labeled if len(rows.fallback.pair) else None
    tally = tallies(rows.links.labeled, documents.links.labeled, fallback, uprep)
    parts = {}
    for name in breakdowns:
        field = BREAKDOWNS[name]
        if any(map(documents.list_lacking, field.needs)):
            continue
        find = partial(field.find, documents)
        counts = count_by_group(tally, len(documents), len(field.parts), find)
        parts[name] = Breakdown.from_dense(field.parts, counts)
    table = CountTable(
        documents.column("id"),
        np.arange(len(documents)),
        COUNTS,
        count_by_group(tally, len(documents))[0],
        list_fields(documents),
        parts,
    )
    return table.select(is_present) if missing == "skip" else table


def list_fields(documents: Documents) -> dict[str, list[str]]:
    """Return the domain and the forum of every document; documents of a domain without forums have none."""
    domains = documents.column("domain")
    forums = []
    for domain, forum in zip(domains, documents.column("forum"), strict=True):
        has_forum = domain in (None, WITH_FORUMS)
        forums.append(forum or (UNKNOWN if has_forum else NO_FORUM))
    return {"domain": [domain or UNKNOWN for domain in domains], "forum": forums}


def validate(
    *, gold: Sequence[Record], system: Sequence[Record | None], **options: str
) -> Iterator[Inconsistency]:
    """Find wrong ids, links between noun phrases that don't exist or are the same, and duplicates."""
    del options
    documents = documents_of(gold)
    rows = rows_of(system)
    for index, (name, row) in enumerate(zip(documents.column("id"), rows, strict=True)):
        if row is not None and row["id"] != name:
            expected = f"expected {quote(name)}, as in the gold"
            yield Inconsistency("system", index, f"id is {quote(row['id'])} ({expected})")
    sizes = [None if nps is None else len(nps) for nps in documents.column("nps")]
    for field, links in (("relations", rows.links), ("fallback", rows.fallback)):
        for index in _find_suspects(links, sizes, is_fallback=field == "fallback"):
            wrong_links = _find_wrong_links(field, (rows[index] or {})[field], sizes[index])
            for place, problem in wrong_links:
                yield Inconsistency("system", index, problem, (field, place))


def _find_suspects(links: Links, sizes: Sequence[int | None], *, is_fallback: bool) -> list[int]:
    """Return the documents whose links may have problems, without looking at each of millions of links."""
    size_by_document = np.array([MANY if size is None else size for size in sizes], np.int64)
    size = size_by_document[links.document]
    is_wrong = (links.anchor == links.complement) | (links.label < 0)
    for end in (links.anchor, links.complement):
        is_wrong |= (end < 0) | (end >= size)
    # Only one fallback of a pair is allowed, but several links if their prepositions differ.
    label = np.zeros_like(links.label) if is_fallback else links.label
    # A stable order is the fastest: links are nearly sorted.
    triplet = np.sort(triplets(links.pair, label)[~is_wrong], kind="stable")
    repeated, _ = split_triplets(triplet[~mark_run_starts(triplet)])
    suspects = np.union1d(links.document[is_wrong], document_of(repeated))
    indices: list[int] = suspects.tolist()
    return indices


def _find_wrong_links(
    field: str, links: Sequence[Record], size: int | None
) -> Iterator[tuple[int, str]]:
    """Yield the problems of a document's links, with the position of each."""
    yield from find_wrong_ends(links, size)
    seen = set()
    for place, link in enumerate(links):
        anchor = link["anchor"]
        complement = link["complement"]
        key: tuple[str, ...] = (anchor, complement)
        problem = "already have a fallback (expected at most one)"
        if field != "fallback":
            key += (link["preposition"],)
            problem = f"are already linked by {quote(link['preposition'])}"
        if key in seen and is_phrase_id(anchor) and is_phrase_id(complement):
            yield place, f"{anchor} and {complement} {problem}"
        seen.add(key)


def list_pairs(record: Record, options: Options) -> list[tuple[str, str]]:
    """Return the pairs of noun phrases that a document or a row links."""
    links = record.get("np_relations") or record.get("relations") or ()
    return [(link["anchor"], link["complement"]) for link in links]


NOTHING_IN_COMMON = NothingInCommon(
    "link", list_pairs, "are the noun phrases numbered as in the gold?"
)

IN_LINKED = "Accuracy of the preposition over gold pairs that the system links."
IN_UNLINKED = "Accuracy of the fallback preposition over gold pairs that the system does not link."

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
        EXTRA,
    ),
    metrics=(
        *precision_recall_f1(
            "links",
            "Links",
            Ratio(
                "links/right",
                "links/system",
                "Share of predicted pairs that gold links by the same preposition.",
            ),
            Ratio(
                "links/right",
                "links/gold",
                "Share of gold pairs that are predicted with one of their prepositions.",
            ),
        ),
        *precision_recall_f1(
            "unlabeled",
            "Unlabelled links",
            Ratio(
                "linked/system",
                "links/system",
                "Share of predicted pairs that gold links by any preposition.",
            ),
            Ratio(
                "linked/gold",
                "links/gold",
                "Share of gold pairs that are predicted with any preposition.",
            ),
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
        Metric(
            "iprep", "IPrep accuracy", IN_LINKED, Ratio("links/right", "linked/gold", IN_LINKED)
        ),
        Metric(
            "uprep",
            "UPrep accuracy",
            IN_UNLINKED,
            Ratio("fallback/right", "fallback/gold", IN_UNLINKED),
        ),
    ),
    headline="links/f1",
    legend={
        "iprep": "IPrep: accuracy of prepositions over gold pairs that the system links",
        "uprep": "UPrep: accuracy of fallback prepositions over the other gold pairs",
    },
    modules=("tne_links",),
    count=count,
    fields=("domain", "forum"),
    breakdowns=tuple(BREAKDOWNS),
    reader=CorpusReader(check=validate, to_columns=rows_of, find_remarks=NOTHING_IN_COMMON),
)
