"""Links between noun phrases without learning.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), Table 3, and section 7, which describes the baselines.

Conventions: a baseline finds a set of ordered pairs of noun phrases, as integers that sort by document, anchor and
complement (`closeread.tasks.tne.kernels.links.pairs`), and links every pair by `of`.  The order of noun phrases is that
of their tokens; pairs never cross documents.  Two baselines have printed scores that do not fit their description: as
printed, Surface accepts any token between the two as a preposition, and Surface-Extended joins noun phrases more than
ten tokens apart instead of within ten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import pairwise

import numpy as np

from closeread.arrays import Ints, check_sums, expand_ranges
from closeread.corpus.baselines import SEED, Baseline
from closeread.counts.procedure import Option, name_documents
from closeread.records import Record
from closeread.tasks.tne.columns import LABELS, NONE, PREPOSITIONS, Documents, documents_of
from closeread.tasks.tne.kernels.links import pairs, phrases_of

PREPOSITION = "of"
NO_FALLBACK = "none"
NEAR = 10
"""The most tokens after the anchor at which a complement is near."""

TOKEN_BITS = 32
FAR = 2**31
"""More tokens than a document can have; twice as many still don't reach the next document (`_keys`)."""

MAX_LINKS = 1_000_000
"""The most links of a document; a thousand noun phrases have them if all are linked."""

Find = Callable[[Documents], Ints]
"""Finds the linked pairs of documents, sorted, each once."""


def link_pairs(find: Find, records: Sequence[Record], *, fallback: str = NO_FALLBACK) -> list[Record]:
    """Return one row per document, with links for the pairs found."""
    documents = documents_of(records)
    with name_documents(documents.column("id")):
        linked = find(documents)
        others = None if fallback == NO_FALLBACK else every_pair(documents)
    rows = [
        {"id": name, "relations": links}
        for name, links in zip(documents.column("id"), _write_links(documents, linked, PREPOSITION), strict=True)
    ]
    if others is None:
        return rows
    others = np.setdiff1d(others, linked, assume_unique=True)
    others_by_document = _write_links(documents, others, fallback)
    return [{**row, "fallback": links} for row, links in zip(rows, others_by_document, strict=True)]


def _write_links(documents: Documents, pair: Ints, preposition: str) -> Iterator[list[Record]]:
    """Yield the links of every document by one preposition, given all pairs, sorted."""
    anchors, complements = phrases_of(pair)
    ids = [f"np{number}" for number in range(max(documents.sizes.tolist(), default=0))]
    links = [
        {"anchor": ids[anchor], "complement": ids[complement], "preposition": preposition}
        for anchor, complement in zip(anchors.tolist(), complements.tolist(), strict=True)
    ]
    document = np.arange(len(documents) + 1)
    starts = np.searchsorted(pair, pairs(document, np.zeros_like(document), np.zeros_like(document)))
    return (links[start:end] for start, end in pairwise(starts.tolist()))


def _sorted_pairs(documents: Documents, anchor: Ints, complement: Ints) -> Ints:
    """Pack pairs given as positions among the noun phrases of all documents; skip a noun phrase with itself."""
    phrases = documents.noun_phrases
    document = phrases.document[anchor]
    begins = phrases.starts[document]
    differs = anchor != complement
    return np.unique(pairs(document, anchor - begins, complement - begins)[differs])


def _link_to_title(documents: Documents, choose: Callable[[Ints], Ints]) -> Ints:
    """Link all noun phrases to one in the title of their document."""
    document = documents.noun_phrases.document
    title = np.flatnonzero(documents.in_title)
    counts = np.bincount(document[title], minlength=len(documents))
    titled = counts > 0
    complement = np.full(len(documents), -1)
    complement[titled] = title[(np.cumsum(counts) - counts)[titled] + choose(counts[titled])]
    anchor = np.flatnonzero(titled[document])
    return _sorted_pairs(documents, anchor, complement[document[anchor]])


def title_first(documents: Documents) -> Ints:
    """Link all noun phrases to the first of the title."""
    return _link_to_title(documents, np.zeros_like)


def title_last(documents: Documents) -> Ints:
    """Link all noun phrases to the last of the title."""
    return _link_to_title(documents, lambda counts: counts - 1)


def title_random(documents: Documents, rng: np.random.Generator) -> Ints:
    """Link all noun phrases to a random one of the title, drawn once per document."""
    return _link_to_title(documents, rng.integers)


def adjacent_before(documents: Documents) -> Ints:
    """Link each noun phrase to the one with the nearest earlier first token; ties go to the lowest id."""
    return _link_adjacent(documents, documents.noun_phrases.first_token, -1)


def adjacent_after(documents: Documents) -> Ints:
    """Link each noun phrase to the one with the nearest later last token; ties go to the lowest id."""
    return _link_adjacent(documents, documents.noun_phrases.last_token, 1)


def _link_adjacent(documents: Documents, token: Ints, step: int) -> Ints:
    """Link each noun phrase to one at the nearest other token in one direction, if there is one."""
    document = documents.noun_phrases.document
    key, lowest, own = np.unique(_keys(document, token), return_index=True, return_inverse=True)
    place = own + step
    anchor = np.flatnonzero((place >= 0) & (place < len(key)))
    complement = lowest[place[anchor]]
    same = document[complement] == document[anchor]
    return _sorted_pairs(documents, anchor[same], complement[same])


def _keys(document: Ints, token: Ints) -> Ints:
    """Return integers that sort by document and token."""
    return (document << TOKEN_BITS) + token


def _find_between(documents: Documents, low: int, high: int) -> tuple[Ints, Ints]:
    """Find anchors and complements, as positions, that begin `low` to `high` tokens after the anchor's last token."""
    phrases = documents.noun_phrases
    document = phrases.document
    keys = _keys(document, phrases.first_token)
    order = np.argsort(keys, kind="stable")
    last = _keys(document, phrases.last_token)
    begin = np.searchsorted(keys[order], last + low)
    counts = np.searchsorted(keys[order], last + high, "right") - begin
    check_sums(document, counts, "links by this baseline", MAX_LINKS)
    anchor, place = expand_ranges(begin, counts)
    return anchor, order[place]


def one_token_between(documents: Documents) -> Ints:
    """Link noun phrases with exactly one token between them: Surface as printed."""
    return _sorted_pairs(documents, *_find_between(documents, 2, 2))


def preposition_between(documents: Documents) -> Ints:
    """Link noun phrases with only a preposition between them: Surface as described."""
    phrases, tokens = documents.noun_phrases, documents.column("tokens")
    anchor, complement = _find_between(documents, 2, 2)
    between = zip(phrases.document[anchor].tolist(), (phrases.last_token[anchor] + 1).tolist(), strict=True)
    joined = np.array([LABELS.get(tokens[index][place], LABELS[NONE]) for index, place in between], np.int64) > 0
    return _sorted_pairs(documents, anchor[joined], complement[joined])


def far_after(documents: Documents) -> Ints:
    """Link each noun phrase to those that begin more than ten tokens after its end."""
    return _sorted_pairs(documents, *_find_between(documents, NEAR + 1, FAR))


def near_after(documents: Documents) -> Ints:
    """Link each noun phrase to those that begin one to ten tokens after its end: Surface-Extended as described."""
    return _sorted_pairs(documents, *_find_between(documents, 1, NEAR))


def every_pair(documents: Documents) -> Ints:
    """Link each noun phrase to every other in its document."""
    phrases = documents.noun_phrases
    begin, size = phrases.starts[phrases.document], documents.sizes[phrases.document]
    check_sums(phrases.document, size, "links between all noun phrases", MAX_LINKS)
    return _sorted_pairs(documents, *expand_ranges(begin, size))


def _unite(finds: Sequence[Find], documents: Documents) -> Ints:
    return reduce(np.union1d, (find(documents) for find in finds))


SURFACE: Mapping[str, Find] = {"printed": one_token_between, "described": preposition_between}
EXTENDED: Mapping[str, Find] = {"printed": partial(_unite, (one_token_between, far_after)), "described": near_after}
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


def _link_random_title(records: Sequence[Record], *, seed: str, fallback: str) -> list[Record]:
    return link_pairs(partial(title_random, rng=np.random.default_rng(int(seed))), records, fallback=fallback)


def _link_surface(records: Sequence[Record], *, definition: str, fallback: str) -> list[Record]:
    return link_pairs(SURFACE[definition], records, fallback=fallback)


def _link_extended(records: Sequence[Record], *, definition: str, fallback: str) -> list[Record]:
    return link_pairs(EXTENDED[definition], records, fallback=fallback)


def _link_combined(records: Sequence[Record], *, definition: str, fallback: str) -> list[Record]:
    return link_pairs(partial(_unite, (title_last, adjacent_after, EXTENDED[definition])), records, fallback=fallback)


def _declare(find: Find, name: str, description: str) -> Baseline:
    return Baseline(name, partial(link_pairs, find), description, (FALLBACK,))


BASELINES = (
    _declare(title_first, "title-first", "Link all noun phrases to the first of the title."),
    _declare(title_last, "title-last", "Link all noun phrases to the last of the title."),
    Baseline(
        "title-random", _link_random_title, "Link all noun phrases to a random one of the title.", (SEED, FALLBACK)
    ),
    _declare(adjacent_before, "adj-anaphora", "Link every noun phrase to the preceding one."),
    _declare(adjacent_after, "adj-cataphora", "Link every noun phrase to the following one."),
    Baseline(
        "surface",
        _link_surface,
        "Link noun phrases with one token or preposition between them.",
        (DEFINITION, FALLBACK),
    ),
    Baseline(
        "surface-extended", _link_extended, "Link noun phrases by their distance in tokens.", (DEFINITION, FALLBACK)
    ),
    Baseline(
        "combined",
        _link_combined,
        "Unite the links of title-last, adj-cataphora and surface-extended.",
        (DEFINITION, FALLBACK),
    ),
    _declare(every_pair, "all-pairs", "Link every noun phrase to all others."),
)
