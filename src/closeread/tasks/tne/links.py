"""Links between noun phrases, and the pairs that are counted when a system's links are compared with gold.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), sections 2 and 8.2; the pair-level scores as in their
evaluator.

Conventions: a *pair* is an ordered pair of noun phrases of one document, the ids of anchor and complement.  A label is
a preposition.  A pair may have several labels: the first of a system's labels counts, and the gold label that equals
it, or else the last gold label; only for triplets do all labels count.  A fallback is the label that a system would
give to a pair that it does not link; only the counts of fallbacks use it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from closeread.records import Record

PREPOSITIONS = (
    "_",
    "of",
    "against",
    "in",
    "by",
    "on",
    "about",
    "with",
    "after",
    "member(s) of",
    "to",
    "from",
    "for",
    "among",
    "under",
    "at",
    "between",
    "during",
    "near",
    "over",
    "before",
    "inside",
    "outside",
    "into",
    "around",
)
"""The labels of the corpus, numbered as in the official evaluator; the first stands for no link."""

LABELS: Mapping[str, int] = {preposition: label for label, preposition in enumerate(PREPOSITIONS)}
N_LABELS = len(PREPOSITIONS)
NO_LINK = 0
"""The number of the label of pairs that are not linked."""

COUNTS = (
    "links/right",
    "links/system",
    "links/gold",
    "linked/system",
    "linked/gold",
    "triplets/right",
    "triplets/system",
    "triplets/gold",
    "fallback/right",
    "fallback/gold",
)

UPREP = ("any", "last")
"""Which of several gold labels a fallback must match."""

SCORED = ("gold links", "their predictions can be validated but not scored")
"""What scoring requires, and the reason."""

Pair = tuple[str, str]

Link = tuple[Pair, str]
"""A pair with a label."""

Tally = Mapping[str, Collection[Link]]
"""The links behind every count."""


def sort_key(pair: Pair) -> tuple[int, int]:
    """Return the numbers of anchor and complement, by which pairs are sorted."""
    anchor, complement = pair
    return int(anchor[2:]), int(complement[2:])


def list_links(records: Sequence[Record]) -> list[Link]:
    """Return the links of records, in the order given."""
    return [((link["anchor"], link["complement"]), link["preposition"]) for link in records]


def align_labels(
    gold: Sequence[Record], system: Sequence[Record]
) -> list[tuple[Pair, str | None, str | None]]:
    """Return the pairs that gold or a system links, sorted, each with the labels of the two that count.

    A label is None on the side that does not link the pair; the two are the same where the system's label is right.
    """
    tally = tally_links(gold, system)
    labels = dict(tally["links/gold"])
    predicted = dict(tally["links/system"])
    pairs = sorted(labels.keys() | predicted.keys(), key=sort_key)
    return [(pair, labels.get(pair), predicted.get(pair)) for pair in pairs]


def tally_links(
    gold: Sequence[Record],
    system: Sequence[Record],
    fallback: Sequence[Record] | None = None,
    uprep: str = "any",
) -> Tally:
    """Find the pairs of a document that are counted for a system's links.

    `fallback` has the labels of pairs that the system does not link, of which the first counts; None if the system has
    no fallbacks at all: then UPrep is undefined, and no pair is counted.  With `uprep` "any", a fallback may be any of
    the gold labels, otherwise it must be the last.
    """
    gold_links = list_links(gold)
    system_links = list_links(system)
    gold_triplets = set(gold_links)
    system_triplets = set(system_links)
    # The last gold label of each pair, and the first of the system's.
    labels = dict(gold_links)
    predicted = dict(reversed(system_links))
    linked = [(pair, label) for pair, label in predicted.items() if pair in labels]
    right = [link for link in linked if link in gold_triplets]
    labels.update(right)
    unlinked: dict[Pair, str] = {}
    right_fallbacks: list[Link] = []
    if fallback is not None:
        unlinked = {pair: label for pair, label in labels.items() if pair not in predicted}
        accepted = gold_triplets if uprep == "any" else unlinked.items()
        guesses = dict(reversed(list_links(fallback)))
        right_fallbacks = [
            (pair, label)
            for pair, label in guesses.items()
            if pair in unlinked and (pair, label) in accepted
        ]
        unlinked.update(right_fallbacks)
    return {
        "links/right": right,
        "links/system": predicted.items(),
        "links/gold": labels.items(),
        "linked/system": linked,
        "linked/gold": [(pair, labels[pair]) for pair, _ in linked],
        "triplets/right": gold_triplets & system_triplets,
        "triplets/system": system_triplets,
        "triplets/gold": gold_triplets,
        "fallback/right": right_fallbacks,
        "fallback/gold": unlinked.items(),
    }
