"""Links between noun phrases without learning.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), Table 3, and section 7, which describes the baselines.

Conventions: a baseline finds ordered pairs of noun phrases of a document, by number, and links every pair by `of`.  The
order of noun phrases is that of their tokens.  Two baselines have printed scores that do not fit their description: as
printed, Surface accepts any token between the two as a preposition, and Surface-Extended joins noun phrases more than
ten tokens apart instead of within ten.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise, permutations
from math import inf
from operator import itemgetter

import numpy as np

from closeread.corpus.baselines import SEED, Baseline
from closeread.counts.procedure import Option
from closeread.exceptions import RequestError, quote
from closeread.records import Record
from closeread.tasks.tne.links import PREPOSITIONS
from closeread.tasks.tne.phrases import find_titled, list_phrases

NO_FALLBACK = "none"
NEAR = 10
"""The most tokens after the anchor at which a complement is near."""

MAX_LINKS = 1_000_000
"""The most links of a document; a thousand noun phrases have them if all are linked."""

Pairs = set[tuple[int, int]]

Find = Callable[[Record, Sequence[Record]], Pairs]
"""A function from a document and its noun phrases to the linked pairs."""


def link_pairs(
    finds: Mapping[str, Find],
    records: Sequence[Record],
    *,
    definition: str = "printed",
    fallback: str = NO_FALLBACK,
) -> list[Record]:
    """Return a row for each document: links for the pairs found and, if wanted, a fallback for every other pair."""
    rows = []
    for record in records:
        phrases = list_phrases(record)
        linked = finds[definition](record, phrases)
        row = {"id": record["id"], "relations": _write_links(linked, "of")}
        if fallback != NO_FALLBACK:
            row["fallback"] = _write_links(every_pair(record, phrases) - linked, fallback)
        rows.append(row)
    return rows


def _write_links(pairs: Pairs, preposition: str) -> list[Record]:
    return [
        {"anchor": f"np{anchor}", "complement": f"np{complement}", "preposition": preposition}
        for anchor, complement in sorted(pairs)
    ]


def _check_size(record: Record, n_links: int, noun: str) -> None:
    if n_links > MAX_LINKS:
        expected = f"expected at most {MAX_LINKS:,}"
        raise RequestError(f"document {quote(record['id'])}: {n_links:,} {noun} ({expected})")


def _link_to_title(
    record: Record, phrases: Sequence[Record], choose: Callable[[Sequence[int]], int]
) -> Pairs:
    """Link all noun phrases to a chosen one of the title, if it has any."""
    titled = find_titled(record, phrases)
    if not titled:
        return set()
    complement = choose(titled)
    return {(anchor, complement) for anchor in range(len(phrases)) if anchor != complement}


title_first = partial(_link_to_title, choose=itemgetter(0))
title_last = partial(_link_to_title, choose=itemgetter(-1))


def _link_random_title(records: Sequence[Record], *, seed: str, fallback: str) -> list[Record]:
    """Link all noun phrases to a random one of the title, drawn once per document."""
    sizes = [len(find_titled(record, record.get("nps") or ())) for record in records]
    # Documents without a noun phrase in the title draw no number.
    highs = np.array([size for size in sizes if size > 0], np.int64)
    numbers = iter(np.random.default_rng(int(seed)).integers(highs).tolist())
    find = partial(_link_to_title, choose=lambda titled: titled[next(numbers)])
    return link_pairs({"printed": find}, records, fallback=fallback)


def _link_adjacent(_: Record, phrases: Sequence[Record], end: str, *, backwards: bool) -> Pairs:
    """Link each noun phrase to one at the nearest other token before or after it; ties go to the lowest id."""
    places = [phrase[end] for phrase in phrases]
    lowest: dict[int, int] = {}
    for number, place in enumerate(places):
        lowest.setdefault(place, number)
    adjacent = dict(pairwise(sorted(lowest, reverse=backwards)))
    pairs = set()
    for number, place in enumerate(places):
        if place in adjacent:
            pairs.add((number, lowest[adjacent[place]]))
    return pairs


adjacent_before = partial(_link_adjacent, end="first_token", backwards=True)
adjacent_after = partial(_link_adjacent, end="last_token", backwards=False)


def _find_between(record: Record, phrases: Sequence[Record], low: float, high: float) -> Pairs:
    """Find the pairs whose complement begins `low` to `high` tokens after the anchor's last; 1 is the next."""
    order = sorted(range(len(phrases)), key=lambda number: phrases[number]["first_token"])
    firsts = [phrases[number]["first_token"] for number in order]
    ranges = []
    n_links = 0
    for phrase in phrases:
        begin = bisect_left(firsts, phrase["last_token"] + low)
        stop = bisect_right(firsts, phrase["last_token"] + high)
        ranges.append(range(begin, stop))
        n_links += stop - begin
    _check_size(record, n_links, "links by this baseline")
    pairs: Pairs = set()
    for anchor, places in enumerate(ranges):
        pairs.update((anchor, order[place]) for place in places)
    return pairs


one_token_between = partial(_find_between, low=2, high=2)  # Surface as printed
near_after = partial(_find_between, low=1, high=NEAR)  # Surface-Extended as described
far_after = partial(_find_between, low=NEAR + 1, high=inf)


def preposition_between(record: Record, phrases: Sequence[Record]) -> Pairs:
    """Link noun phrases with only a preposition between them: Surface as described."""
    tokens = record["tokens"]
    pairs = set()
    for anchor, complement in one_token_between(record, phrases):
        if tokens[phrases[anchor]["last_token"] + 1] in PREPOSITIONS[1:]:
            pairs.add((anchor, complement))
    return pairs


def every_pair(record: Record, phrases: Sequence[Record]) -> Pairs:
    """Link each noun phrase to every other in its document."""
    numbers = range(len(phrases))
    _check_size(record, len(numbers) ** 2, "links between all noun phrases")
    return set(permutations(numbers, 2))


def _unite(record: Record, phrases: Sequence[Record], finds: Sequence[Find]) -> Pairs:
    return set().union(*(find(record, phrases) for find in finds))


far_or_one = partial(_unite, finds=(one_token_between, far_after))  # Surface-Extended as printed

DEFINITION = Option(
    "definition",
    ("printed", "described"),
    "printed",
    "How to define Surface and Surface-Extended, where the paper's Table 3 and its text differ.",
)
FALLBACK = Option(
    "fallback",
    (NO_FALLBACK, *PREPOSITIONS[1:]),
    NO_FALLBACK,
    "Predict this preposition for all pairs that are not linked, for UPrep.",
)


def _declare(name: str, description: str, printed: Find, described: Find | None = None) -> Baseline:
    """Declare a baseline from its functions that find pairs, as printed and, if it differs, as described."""
    if described is None:
        return Baseline(name, partial(link_pairs, {"printed": printed}), description, (FALLBACK,))
    finds = {"printed": printed, "described": described}
    return Baseline(name, partial(link_pairs, finds), description, (DEFINITION, FALLBACK))


BASELINES = (
    _declare("title-first", "Link all noun phrases to the first one in the title.", title_first),
    _declare("title-last", "Link all noun phrases to the last one in the title.", title_last),
    Baseline(
        "title-random",
        _link_random_title,
        "Link all noun phrases to a random one in the title.",
        (SEED, FALLBACK),
    ),
    _declare("adj-anaphora", "Link every noun phrase to the preceding one.", adjacent_before),
    _declare("adj-cataphora", "Link every noun phrase to the following one.", adjacent_after),
    _declare(
        "surface",
        "Link noun phrases with one token or preposition between them.",
        one_token_between,
        preposition_between,
    ),
    _declare(
        "surface-extended", "Link noun phrases by their distance in tokens.", far_or_one, near_after
    ),
    _declare(
        "combined",
        "Combine the links of title-last, adj-cataphora and surface-extended.",
        partial(_unite, finds=(title_last, adjacent_after, far_or_one)),
        partial(_unite, finds=(title_last, adjacent_after, near_after)),
    ),
    _declare("all-pairs", "Link every noun phrase to all others.", every_pair),
)
