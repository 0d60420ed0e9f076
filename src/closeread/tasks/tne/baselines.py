"""Links between noun phrases without learning.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), Table 3, and section 7, which describes the baselines.

Conventions: a baseline finds ordered pairs of noun phrases of a document, by number, and links every pair by `of`.  The
order of noun phrases is that of their tokens.  Two baselines have printed scores that do not fit their description: as
printed, Surface accepts any token between the two as a preposition, and Surface-Extended joins noun phrases more than
ten tokens apart instead of within ten.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import inf
from operator import itemgetter

import numpy as np

from closeread.arrays import LimitError
from closeread.corpus.baselines import SEED, Baseline
from closeread.counts.procedure import Option, name_documents
from closeread.records import Record
from closeread.tasks.tne.columns import LABELS, NONE, PREPOSITIONS, documents_of, find_titled, list_phrases

NO_FALLBACK = "none"
NEAR = 10  # the most tokens after the anchor at which a complement is near

MAX_LINKS = 1_000_000  # the most links of a document; a thousand noun phrases have them if all are linked

Pairs = set[tuple[int, int]]


@dataclass(frozen=True)
class Text:
    """A document in which noun phrases are linked."""

    number: int
    record: Record
    phrases: Sequence[Record]

    def check_size(self, found: int, noun: str) -> None:
        """Check that there are not too many links."""
        if found > MAX_LINKS:
            raise LimitError(self.number, found, noun, MAX_LINKS)


Find = Callable[[Text], Pairs]


def link_pairs(find: Find, records: Sequence[Record], *, fallback: str = NO_FALLBACK) -> list[Record]:
    """Return a row for each document: links for the pairs found and, if wanted, a fallback for every other pair."""
    rows = []
    with name_documents(documents_of(records).column("id")):
        for number, record in enumerate(documents_of(records).records):
            text = Text(number, record, list_phrases(record))
            linked = find(text)
            row = {"id": record["id"], "relations": _write_links(linked, "of")}
            if fallback != NO_FALLBACK:
                row["fallback"] = _write_links(every_pair(text) - linked, fallback)
            rows.append(row)
    return rows


def _write_links(pairs: Pairs, preposition: str) -> list[Record]:
    return [
        {"anchor": f"np{anchor}", "complement": f"np{complement}", "preposition": preposition}
        for anchor, complement in sorted(pairs)
    ]


def _link_to_title(text: Text, choose: Callable[[Sequence[int]], int]) -> Pairs:
    """Link all noun phrases to a chosen one of the title, if it has any."""
    if not (titled := find_titled(text.record, text.phrases)):
        return set()
    complement = choose(titled)
    return {(anchor, complement) for anchor in range(len(text.phrases)) if anchor != complement}


title_first = partial(_link_to_title, choose=itemgetter(0))
title_last = partial(_link_to_title, choose=itemgetter(-1))


def _link_random_title(records: Sequence[Record], *, seed: str, fallback: str) -> list[Record]:
    """Link all noun phrases to a random one of the title, drawn once per document."""
    sizes = [len(find_titled(record, record.get("nps") or ())) for record in documents_of(records).records]
    drawn = iter(np.random.default_rng(int(seed)).integers(np.array(list(filter(None, sizes)), np.int64)).tolist())
    return link_pairs(partial(_link_to_title, choose=lambda titled: titled[next(drawn)]), records, fallback=fallback)


def _link_adjacent(text: Text, end: str, *, backwards: bool) -> Pairs:
    """Link each noun phrase to one at the nearest other token before or after it; ties go to the lowest id."""
    places = [phrase[end] for phrase in text.phrases]
    lowest = {place: number for number, place in reversed(list(enumerate(places)))}
    adjacent = dict(pairwise(sorted(lowest, reverse=backwards)))
    return {(number, lowest[adjacent[place]]) for number, place in enumerate(places) if place in adjacent}


adjacent_before = partial(_link_adjacent, end="first_token", backwards=True)
adjacent_after = partial(_link_adjacent, end="last_token", backwards=False)


def _find_between(text: Text, low: float, high: float) -> Pairs:
    """Find the pairs whose complement begins `low` to `high` tokens after the anchor's last; 1 is the next."""
    firsts = [phrase["first_token"] for phrase in text.phrases]
    order = sorted(range(len(firsts)), key=firsts.__getitem__)
    firsts.sort()
    ranges = [
        range(bisect_left(firsts, phrase["last_token"] + low), bisect_right(firsts, phrase["last_token"] + high))
        for phrase in text.phrases
    ]
    text.check_size(sum(map(len, ranges)), "links by this baseline")
    return {(anchor, order[place]) for anchor, places in enumerate(ranges) for place in places}


one_token_between = partial(_find_between, low=2, high=2)  # Surface as printed
near_after = partial(_find_between, low=1, high=NEAR)  # Surface-Extended as described
far_after = partial(_find_between, low=NEAR + 1, high=inf)


def preposition_between(text: Text) -> Pairs:
    """Link noun phrases with only a preposition between them: Surface as described."""
    tokens, phrases = text.record["tokens"], text.phrases
    return {
        (anchor, complement)
        for anchor, complement in one_token_between(text)
        if LABELS.get(tokens[phrases[anchor]["last_token"] + 1], LABELS[NONE]) != LABELS[NONE]
    }


def every_pair(text: Text) -> Pairs:
    """Link each noun phrase to every other in its document."""
    numbers = range(len(text.phrases))
    text.check_size(len(numbers) ** 2, "links between all noun phrases")
    return {(anchor, complement) for anchor in numbers for complement in numbers if anchor != complement}


def _unite(text: Text, finds: Iterable[Find]) -> Pairs:
    return set().union(*(find(text) for find in finds))


SURFACE: Mapping[str, Find] = {"printed": one_token_between, "described": preposition_between}
EXTENDED: Mapping[str, Find] = {
    "printed": partial(_unite, finds=(one_token_between, far_after)),
    "described": near_after,
}
COMBINED: Mapping[str, Find] = {
    name: partial(_unite, finds=(title_last, adjacent_after, extended)) for name, extended in EXTENDED.items()
}
DEFINITION = Option(
    "definition",
    tuple(SURFACE),
    "printed",
    "How to define Surface and Surface-Extended, where the paper's Table 3 and its text differ.",
)
FALLBACK = Option(
    "fallback",
    (NO_FALLBACK, *PREPOSITIONS[1:]),
    NO_FALLBACK,
    "Predict this preposition for all pairs that are not linked, for UPrep.",
)


def _link_as_defined(
    finds: Mapping[str, Find], records: Sequence[Record], *, definition: str, fallback: str
) -> list[Record]:
    return link_pairs(finds[definition], records, fallback=fallback)


def _declare(find: Find | Mapping[str, Find], name: str, description: str) -> Baseline:
    """Declare a baseline, with a way to find pairs or with one for each definition."""
    if not isinstance(find, Mapping):
        return Baseline(name, partial(link_pairs, find), description, (FALLBACK,))

    return Baseline(name, partial(_link_as_defined, find), description, (DEFINITION, FALLBACK))


BASELINES = (
    _declare(title_first, "title-first", "Link all noun phrases to the first of the title."),
    _declare(title_last, "title-last", "Link all noun phrases to the last of the title."),
    Baseline(
        "title-random", _link_random_title, "Link all noun phrases to a random one of the title.", (SEED, FALLBACK)
    ),
    _declare(adjacent_before, "adj-anaphora", "Link every noun phrase to the preceding one."),
    _declare(adjacent_after, "adj-cataphora", "Link every noun phrase to the following one."),
    _declare(SURFACE, "surface", "Link noun phrases with one token or preposition between them."),
    _declare(EXTENDED, "surface-extended", "Link noun phrases by their distance in tokens."),
    _declare(COMBINED, "combined", "Unite the links of title-last, adj-cataphora and surface-extended."),
    _declare(every_pair, "all-pairs", "Link every noun phrase to all others."),
)
