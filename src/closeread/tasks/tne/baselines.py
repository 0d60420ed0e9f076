"""Links between noun phrases without learning.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2022), Table 3 and the text that describes it.

Conventions: what is found is a set of ordered pairs of noun phrases, kept as integers that sort by document, anchor and
complement (`closeread.tasks.tne.kernels.links.pairs`); every pair is then linked by `of`.  A noun phrase stands before
or after another by its tokens, and no distance reaches into another document.  Two baselines are not what the text says
of them: as printed, Surface takes any token between the two for a preposition, and Surface-Extended joins noun phrases
that are more than ten tokens apart where the text says within ten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from itertools import pairwise

import numpy as np

from closeread.corpora.baselines import SEED, Baseline
from closeread.counts.options import Option
from closeread.records import Record
from closeread.tasks.tne.columns import LABELS, NONE, Documents, Ints, documents_of
from closeread.tasks.tne.kernels.links import pairs, phrases_of

PREPOSITION = "of"
NEAR = 10
"""How many tokens after the anchor, at most, a complement is near."""

TOKEN_BITS = 32
FAR = 2**31
"""More tokens than a document can have; twice that still is no token of the next (`_keys`)."""

Find = Callable[[Documents], Ints]
"""From documents to the pairs that are linked, sorted, each once."""


def link_pairs(find: Find, records: Sequence[Record]) -> list[Record]:
    """A row for every document, with the pairs that are found."""
    documents = documents_of(records)
    pair = find(documents)
    anchors, complements = phrases_of(pair)
    ids = [f"np{number}" for number in range(max(documents.sizes.tolist(), default=0))]
    links = [
        {"anchor": ids[anchor], "complement": ids[complement], "preposition": PREPOSITION}
        for anchor, complement in zip(anchors.tolist(), complements.tolist(), strict=True)
    ]
    document = np.arange(len(documents) + 1)
    starts = np.searchsorted(pair, pairs(document, np.zeros_like(document), np.zeros_like(document)))
    return [
        {"id": name, "relations": links[start:end]}
        for name, (start, end) in zip(documents.column("id"), pairwise(starts.tolist()), strict=True)
    ]


def _sorted_pairs(documents: Documents, anchor: Ints, complement: Ints) -> Ints:
    """The pairs of noun phrases at places among those of all documents, without those of one with itself."""
    phrases = documents.noun_phrases
    document = phrases.document[anchor]
    begins = phrases.starts[document]
    apart = anchor != complement
    return np.unique(pairs(document, anchor - begins, complement - begins)[apart])


def _to_title(documents: Documents, choose: Callable[[Ints], Ints]) -> Ints:
    """All noun phrases with one of their document's title.

    Args:
        documents: the documents; those without a noun phrase in the title get no links.
        choose: from the numbers of noun phrases in titles, one or more, to which of these is meant, from 0.
    """
    document = documents.noun_phrases.document
    title = np.flatnonzero(documents.in_title)
    counts = np.bincount(document[title], minlength=len(documents))
    titled = counts > 0
    complement = np.full(len(documents), -1)
    complement[titled] = title[(np.cumsum(counts) - counts)[titled] + choose(counts[titled])]
    anchor = np.flatnonzero(titled[document])
    return _sorted_pairs(documents, anchor, complement[document[anchor]])


def title_first(documents: Documents) -> Ints:
    """All with the first noun phrase of the title."""
    return _to_title(documents, np.zeros_like)


def title_last(documents: Documents) -> Ints:
    """All with the last noun phrase of the title."""
    return _to_title(documents, lambda counts: counts - 1)


def title_random(documents: Documents, rng: np.random.Generator) -> Ints:
    """All with one noun phrase of the title, drawn once a document."""
    return _to_title(documents, rng.integers)


def adjacent_before(documents: Documents) -> Ints:
    """Each with the one whose first token lies before its own, nearest; of several the lowest."""
    return _adjacent(documents, documents.noun_phrases.first_token, -1)


def adjacent_after(documents: Documents) -> Ints:
    """Each with the one whose last token lies after its own, nearest; of several the lowest."""
    return _adjacent(documents, documents.noun_phrases.last_token, 1)


def _adjacent(documents: Documents, token: Ints, step: int) -> Ints:
    """Each noun phrase with one at the nearest other token where there is any, in one direction.

    Args:
        documents: the documents.
        token: (n,) where every noun phrase is taken to stand.
        step: -1 for the nearest before, 1 for the nearest after.
    """
    document = documents.noun_phrases.document
    key, lowest, own = np.unique(_keys(document, token), return_index=True, return_inverse=True)
    place = own + step
    anchor = np.flatnonzero((place >= 0) & (place < len(key)))
    complement = lowest[place[anchor]]
    same = document[complement] == document[anchor]
    return _sorted_pairs(documents, anchor[same], complement[same])


def _keys(document: Ints, token: Ints) -> Ints:
    """Integers that sort by document and token."""
    return (document << TOKEN_BITS) + token


def _between(documents: Documents, low: int, high: int) -> tuple[Ints, Ints]:
    """Anchors and complements, as places, where the complement begins `low` to `high` tokens after the anchor's last.

    Args:
        documents: the documents.
        low, high: from 1 to `FAR`; at 1, no token lies between the two.
    """
    phrases = documents.noun_phrases
    document = phrases.document
    keys = _keys(document, phrases.first_token)
    order = np.argsort(keys, kind="stable")
    last = _keys(document, phrases.last_token)
    begin = np.searchsorted(keys[order], last + low)
    counts = np.searchsorted(keys[order], last + high, "right") - begin
    anchor = np.repeat(np.arange(len(document)), counts)
    within = np.arange(len(anchor)) - np.repeat(np.cumsum(counts) - counts, counts)
    return anchor, order[np.repeat(begin, counts) + within]


def one_token_between(documents: Documents) -> Ints:
    """Those with one token between them, whatever it is: Surface as printed."""
    return _sorted_pairs(documents, *_between(documents, 2, 2))


def preposition_between(documents: Documents) -> Ints:
    """Those with nothing but a preposition between them: Surface as described."""
    phrases, tokens = documents.noun_phrases, documents.column("tokens")
    anchor, complement = _between(documents, 2, 2)
    between = zip(phrases.document[anchor].tolist(), (phrases.last_token[anchor] + 1).tolist(), strict=True)
    joined = np.array([LABELS.get(tokens[index][place], LABELS[NONE]) for index, place in between], np.int64) > 0
    return _sorted_pairs(documents, anchor[joined], complement[joined])


def far_after(documents: Documents) -> Ints:
    """Each with those that begin more than ten tokens after its end."""
    return _sorted_pairs(documents, *_between(documents, NEAR + 1, FAR))


def near_after(documents: Documents) -> Ints:
    """Each with those that begin one to ten tokens after its end: Surface-Extended as described."""
    return _sorted_pairs(documents, *_between(documents, 1, NEAR))


def every_pair(documents: Documents) -> Ints:
    """Each with all others of its document."""
    phrases = documents.noun_phrases
    begin, size = phrases.starts[phrases.document], documents.sizes[phrases.document]
    anchor = np.repeat(np.arange(len(size)), size)
    within = np.arange(len(anchor)) - np.repeat(np.cumsum(size) - size, size)
    return _sorted_pairs(documents, anchor, begin[anchor] + within)


def _any_of(finds: Sequence[Find], documents: Documents) -> Ints:
    return reduce(np.union1d, (find(documents) for find in finds))


SURFACE: Mapping[str, Find] = {"printed": one_token_between, "described": preposition_between}
EXTENDED: Mapping[str, Find] = {"printed": partial(_any_of, (one_token_between, far_after)), "described": near_after}
DEFINITION = Option(
    "definition",
    tuple(SURFACE),
    "printed",
    "How to define Surface and Surface-Extended, where the paper's Table 3 and its text differ.",
)


def _link_random_title(records: Sequence[Record], *, seed: str) -> list[Record]:
    return link_pairs(partial(title_random, rng=np.random.default_rng(int(seed))), records)


def _link_surface(records: Sequence[Record], *, definition: str) -> list[Record]:
    return link_pairs(SURFACE[definition], records)


def _link_extended(records: Sequence[Record], *, definition: str) -> list[Record]:
    return link_pairs(EXTENDED[definition], records)


def _link_combined(records: Sequence[Record], *, definition: str) -> list[Record]:
    return link_pairs(partial(_any_of, (title_last, adjacent_after, EXTENDED[definition])), records)


BASELINES = (
    Baseline("title-first", partial(link_pairs, title_first), "Link all noun phrases to the first of the title."),
    Baseline("title-last", partial(link_pairs, title_last), "Link all noun phrases to the last of the title."),
    Baseline("title-random", _link_random_title, "Link all noun phrases to a random one of the title.", (SEED,)),
    Baseline("adj-anaphora", partial(link_pairs, adjacent_before), "Link every noun phrase to the preceding one."),
    Baseline("adj-cataphora", partial(link_pairs, adjacent_after), "Link every noun phrase to the following one."),
    Baseline("surface", _link_surface, "Link noun phrases with one token or preposition between them.", (DEFINITION,)),
    Baseline("surface-extended", _link_extended, "Link noun phrases by their distance in tokens.", (DEFINITION,)),
    Baseline(
        "combined", _link_combined, "Unite the links of title-last, adj-cataphora and surface-extended.", (DEFINITION,)
    ),
    Baseline("all-pairs", partial(link_pairs, every_pair), "Link every noun phrase to all others."),
)
