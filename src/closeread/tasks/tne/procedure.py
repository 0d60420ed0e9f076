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
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from closeread.arrays import Ints
from closeread.corpus.submissions import CorpusReader, NothingInCommon
from closeread.counts.metrics import Metric, Ratio, precision_recall_f1
from closeread.counts.procedure import (
    EXTRA,
    Inconsistency,
    Option,
    Options,
    Procedure,
    check_present,
    group_options,
    missing_option,
)
from closeread.counts.table import Breakdown, CountTable
from closeread.exceptions import quote
from closeread.records import Record, as_columns
from closeread.tasks.tne.links import (
    COUNTS,
    PREPOSITIONS,
    SCORED,
    UPREP,
    Pair,
    Tally,
    list_links,
    tally_links,
)
from closeread.tasks.tne.phrases import (
    PlacedPhrases,
    is_phrase_id,
    list_lacking,
    require_layer,
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


@dataclass(frozen=True)
class PairField:
    """A property of pairs of noun phrases.

    Attributes:
        parts: its values.
        layers: the fields of documents by which it is found.
        find: a function from the noun phrases of a document, a pair of them, and the label it counts for, to a value.
    """

    parts: Sequence[str]
    layers: Sequence[str]
    find: Callable[[PlacedPhrases, Pair, str], str]


def find_preposition(_: PlacedPhrases, pair: Pair, label: str) -> str:
    """Return the preposition that a pair counts for."""
    return label


def find_distance(phrases: PlacedPhrases, pair: Pair, _: str) -> str:
    """Return the bin of the distance between anchor and complement."""
    return DISTANCES[bisect_left(MAX_DISTANCES, abs(phrases.measure_distance(*pair)))]


def find_direction(phrases: PlacedPhrases, pair: Pair, _: str) -> str:
    """Return whether the complement begins before the anchor, after it, or at the same token."""
    distance = phrases.measure_distance(*pair)
    if distance == 0:
        return "same token"
    return "before" if distance < 0 else "after"


def find_sentence(phrases: PlacedPhrases, pair: Pair, _: str) -> str:
    """Return whether anchor and complement begin in the same sentence."""
    anchor, complement = pair
    return "same" if phrases.sentences[anchor] == phrases.sentences[complement] else "other"


def find_mention(phrases: PlacedPhrases, pair: Pair, _: str) -> str:
    """Return which mention of its cluster the complement is."""
    _, complement = pair
    if complement in phrases.singletons:
        return "only"
    return "first" if complement in phrases.first_mentions else "further"


def find_expression(phrases: PlacedPhrases, pair: Pair, _: str) -> str:
    """Return whether anchor, preposition and complement follow each other in the text.

    Unlike in the statistics of the paper, any preposition will do, and the complement must end at a word boundary.
    """
    anchor, complement = pair
    text = phrases.record["text"]
    match = JOINED.match(text, phrases[anchor]["last_char"])
    if match is None:
        return "implicit"
    words = phrases[complement]["text"]
    end = match.end() + len(words)
    is_joined = text.startswith(words, match.end()) and not text[end : end + 1].isalnum()
    return "explicit" if is_joined else "implicit"


BREAKDOWNS: Mapping[str, PairField] = {
    "preposition": PairField(PREPOSITIONS[1:], (), find_preposition),
    "expressed": PairField(("implicit", "explicit"), ("text", "nps"), find_expression),
    "distance": PairField(DISTANCES, ("nps",), find_distance),
    "direction": PairField(("before", "same token", "after"), ("nps",), find_direction),
    "sentence": PairField(("same", "other"), ("nps", "tokens"), find_sentence),
    "mention": PairField(MENTIONS, ("nps", "coref"), find_mention),
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
    is_present = np.array([row is not None for row in system], np.bool_)
    check_present(is_present, "documents", missing)
    require_layer(gold, "np_relations", *SCORED)
    rows = [row or {} for row in system]
    has_fallbacks = any(row.get("fallback") for row in rows)
    values = np.zeros((len(gold), len(COUNTS)))
    parts = {}
    for name in breakdowns:
        field = BREAKDOWNS[name]
        if not any(list_lacking(gold, layer) for layer in field.layers):
            parts[name] = np.zeros((len(field.parts), len(gold), len(COUNTS)))
    for number, (document, row) in enumerate(zip(gold, rows, strict=True)):
        # UPrep is undefined if no row has any fallback.
        fallback = row.get("fallback") or () if has_fallbacks else None
        relations = row.get("relations") or ()
        tally = tally_links(document["np_relations"], relations, fallback, uprep)
        values[number] = [len(tally[name]) for name in COUNTS]
        if parts:
            phrases = PlacedPhrases(document)
            for name, counts in parts.items():
                counts[:, number] = count_parts(BREAKDOWNS[name], phrases, tally)
    table = CountTable(
        as_columns(gold, ["id"])["id"],
        np.arange(len(gold)),
        COUNTS,
        values,
        list_fields(gold),
        {
            name: Breakdown.from_dense(BREAKDOWNS[name].parts, counts)
            for name, counts in parts.items()
        },
    )
    return table.select(is_present) if missing == "skip" else table


def count_parts(field: PairField, phrases: PlacedPhrases, tally: Tally) -> Ints:
    """Return the counts of every part of a field in a document, (n_parts, n_counts)."""
    links = set(chain.from_iterable(tally.values()))
    part_of = {link: field.find(phrases, *link) for link in links}
    columns = []
    for name in COUNTS:
        n_links = Counter(map(part_of.__getitem__, tally[name]))
        columns.append([n_links[part] for part in field.parts])
    return np.transpose(columns)


def list_fields(documents: Sequence[Record]) -> dict[str, list[str]]:
    """Return the domain and the forum of every document; documents of a domain without forums have none."""
    columns = as_columns(documents, ["domain", "forum"])
    forums = []
    for domain, forum in zip(columns["domain"], columns["forum"], strict=True):
        has_forum = domain in (None, WITH_FORUMS)
        forums.append(forum or (UNKNOWN if has_forum else NO_FORUM))
    return {"domain": [domain or UNKNOWN for domain in columns["domain"]], "forum": forums}


def validate(
    *, gold: Sequence[Record], system: Sequence[Record | None], **options: str
) -> Iterator[Inconsistency]:
    """Find wrong ids, links between noun phrases that don't exist or are the same, and duplicates."""
    del options
    for index, (document, row) in enumerate(zip(gold, system, strict=True)):
        if row is not None and row["id"] != document["id"]:
            expected = f"expected {quote(document['id'])}, as in the gold"
            yield Inconsistency("system", index, f"id is {quote(row['id'])} ({expected})")
    for field in ("relations", "fallback"):
        for index, (document, row) in enumerate(zip(gold, system, strict=True)):
            phrases = document.get("nps")
            n_phrases = None if phrases is None else len(phrases)
            links = (row or {}).get(field) or ()
            for place, problem in _find_wrong_links(field, links, n_phrases):
                yield Inconsistency("system", index, problem, (field, place))


def _find_wrong_links(
    field: str, links: Sequence[Record], n_phrases: int | None
) -> Iterator[tuple[int, str]]:
    """Yield the problems of a document's links, with the position of each."""
    yield from find_wrong_ends(links, n_phrases)
    seen: set[object] = set()
    for place, link in enumerate(list_links(links)):
        pair, preposition = link
        # Only one fallback of a pair is allowed, but several links if their prepositions differ.
        key = link if field == "relations" else pair
        if key in seen and all(map(is_phrase_id, pair)):
            problem = "already have a fallback (expected at most one)"
            if field == "relations":
                problem = f"are already linked by {quote(preposition)}"
            yield place, f"{' and '.join(pair)} {problem}"
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
        *group_options("document"),
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
    reader=CorpusReader(check=validate, find_remarks=NOTHING_IN_COMMON),
)
