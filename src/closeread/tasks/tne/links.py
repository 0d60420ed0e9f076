"""Links between noun phrases, and the pairs that are counted when a system's links are compared with gold.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), sections 2 and 8.2; the pair-level scores as in their
evaluator.

Conventions: a *pair* is an ordered pair of noun phrases of one document, the ids of anchor and complement.  A label is
a preposition.  A pair may have several labels: the first of a system's labels counts, and the gold label that equals
it, or else the last gold label; only for triplets do all labels count.  A fallback is the label that a system would
give to a pair that it does not link; only the counts of fallbacks use it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter

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

LABELED_PAIR = itemgetter("anchor", "complement", "preposition")

Tally = Mapping[str, Sequence[tuple[Pair, str]]]
"""The pairs behind every count, with the label that each counts for."""


def sort_key(pair: Pair) -> tuple[int, int]:
    """Return the numbers of anchor and complement, by which pairs are sorted."""
    anchor, complement = pair
    return int(anchor[2:]), int(complement[2:])


def group_labels(links: Iterable[Record]) -> dict[Pair, list[str]]:
    """Return the labels of every pair, in the order given."""
    labels: dict[Pair, list[str]] = {}
    for anchor, complement, label in map(LABELED_PAIR, links):
        labels.setdefault((anchor, complement), []).append(label)
    return labels


def align_labels(
    gold: Mapping[Pair, Sequence[str]], system: Mapping[Pair, Sequence[str]]
) -> dict[Pair, tuple[str | None, str | None]]:
    """Return the labels of gold and system that count for each pair that either side links.

    A label is None on the side that does not link the pair; the two are the same where the system's label is right.
    """
    aligned: dict[Pair, tuple[str | None, str | None]] = {}
    for pair, labels in gold.items():
        predicted = system[pair][0] if pair in system else None
        label = predicted if predicted in labels else labels[-1]
        aligned[pair] = (label, predicted)
    for pair, labels in system.items():
        if pair not in gold:
            aligned[pair] = (None, labels[0])
    return aligned


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
    gold_labels = group_labels(gold)
    fallback_labels = group_labels(fallback or ())
    tally: dict[str, list[tuple[Pair, str]]] = {name: [] for name in COUNTS}
    for pair, (label, predicted) in align_labels(gold_labels, group_labels(system)).items():
        if predicted is not None:
            tally["links/system"].append((pair, predicted))
        if label is not None:
            tally["links/gold"].append((pair, label))
        if label is not None and predicted is not None:
            tally["linked/system"].append((pair, predicted))
            tally["linked/gold"].append((pair, label))
            if label == predicted:
                tally["links/right"].append((pair, label))
        elif label is not None and fallback is not None:
            guess = fallback_labels[pair][0] if pair in fallback_labels else None
            accepted = gold_labels[pair] if uprep == "any" else [label]
            if guess is not None and guess in accepted:
                label = guess
                tally["fallback/right"].append((pair, label))
            tally["fallback/gold"].append((pair, label))
    gold_triplets = list_triplets(gold)
    system_triplets = list_triplets(system)
    tally["triplets/gold"] += gold_triplets
    tally["triplets/system"] += system_triplets
    tally["triplets/right"] += gold_triplets & system_triplets
    return tally


def list_triplets(links: Iterable[Record]) -> set[tuple[Pair, str]]:
    """Return pairs with all of their labels, each once."""
    return {((anchor, complement), label) for anchor, complement, label in map(LABELED_PAIR, links)}
