"""Scores of links the slow way: sets and dicts, one pair at a time, ratios as fractions.

A side is the list of a document's links, each as (anchor, complement, label), of any hashable types.
"""

from fractions import Fraction

NAMES = (
    *("links/right", "links/system", "links/gold", "linked/system", "linked/gold"),
    *("triplets/right", "triplets/system", "triplets/gold", "fallback/right", "fallback/gold"),
)


def labels_of(links):
    """Return the labels of every pair, in the order given."""
    labels = {}
    for anchor, complement, label in links:
        labels.setdefault((anchor, complement), []).append(label)
    return labels


def choose_gold_labels(ours, theirs):
    """Return the label that counts for every gold pair: the system's if it is among the gold labels, else the last."""
    return {
        pair: ours[pair][0] if pair in ours and ours[pair][0] in labels else labels[-1]
        for pair, labels in theirs.items()
    }


def list_pairs(system, gold, fallback, uprep="any"):
    """Return the (pair, label) counted under every name in a document; `fallback` is None if there is none at all."""
    ours, theirs = labels_of(system), labels_of(gold)
    found = {name: [] for name in NAMES}
    for pair, (label, *_) in ours.items():
        found["links/system"].append((pair, label))
        if pair in theirs:
            found["linked/system"].append((pair, label))
            if label in theirs[pair]:
                found["links/right"].append((pair, label))
    for pair, label in choose_gold_labels(ours, theirs).items():
        if pair in ours:
            found["linked/gold"].append((pair, label))
        elif fallback is not None:
            (predicted, *_) = labels_of(fallback).get(pair, [None])
            is_right = predicted == label or (uprep == "any" and predicted in theirs[pair])
            if is_right:
                found["fallback/right"].append((pair, predicted))
            found["fallback/gold"].append((pair, predicted if is_right else label))
        found["links/gold"].append((pair, label))
    triplets = [
        {((anchor, complement), label) for anchor, complement, label in side}
        for side in (system, gold)
    ]
    found["triplets/right"] += triplets[0] & triplets[1]
    found["triplets/system"] += triplets[0]
    found["triplets/gold"] += triplets[1]
    return found


def counts(system, gold, fallback=None, uprep="any", kept=lambda pair, label: True):
    """Count the pairs and labels that are kept, by name, in a document."""
    found = list_pairs(system, gold, fallback, uprep)
    return {name: sum(kept(pair, label) for pair, label in found[name]) for name in NAMES}


def confusion(system, gold, phrases):
    """Count the ordered pairs of a document by gold label and predicted label; None is no link."""
    ours, theirs = labels_of(system), labels_of(gold)
    of_gold = choose_gold_labels(ours, theirs)
    cells = {}
    for anchor in phrases:
        for complement in phrases:
            if anchor != complement:
                pair = anchor, complement
                cell = of_gold.get(pair), ours[pair][0] if pair in ours else None
                cells[cell] = cells.get(cell, 0) + 1
    return cells


def share(part, whole, otherwise=Fraction(0)):
    """Divide; 0/0 is `otherwise`."""
    return Fraction(part, whole) if whole else otherwise


def scores(totals):
    """Compute every score from summed counts; None where it is undefined."""
    made = {}
    for family, (hit, ours, hit_gold, theirs) in {
        "links": ("links/right", "links/system", "links/right", "links/gold"),
        "unlabeled": ("linked/system", "links/system", "linked/gold", "links/gold"),
        "triplets": ("triplets/right", "triplets/system", "triplets/right", "triplets/gold"),
    }.items():
        precision, recall = (
            share(totals[hit], totals[ours]),
            share(totals[hit_gold], totals[theirs]),
        )
        made[f"{family}/precision"], made[f"{family}/recall"] = precision, recall
        made[f"{family}/f1"] = share(2 * precision * recall, precision + recall)
    made["iprep"] = share(totals["links/right"], totals["linked/gold"], None)
    made["uprep"] = share(totals["fallback/right"], totals["fallback/gold"], None)
    return made
