"""Kinds of mistaken chains, slow and obvious: every one-to-one matching is tried.

Chains are lists of sets of mentions, in order.
"""

from itertools import product


def links(n):
    return n * (n - 1) // 2


def match(chains, gold):
    """The gold chain of each chain, None for none: of the best matchings the first, where no match comes last."""
    choices = [[*(g for g in range(len(gold)) if chain & gold[g]), None] for chain in chains]
    best, found = None, None
    for matching in product(*choices):
        taken = [g for g in matching if g is not None]
        if len(taken) == len(set(taken)):
            common = [
                len(chain & gold[g])
                for chain, g in zip(chains, matching, strict=True)
                if g is not None
            ]
            weight = (sum(map(links, common)), sum(common))
            if best is None or weight > best:
                best, found = weight, matching
    return found


def judge(chains, gold):
    """The kind of each chain, with the number of missing or foreign mentions."""
    kinds = []
    for chain, g in zip(chains, match(chains, gold), strict=True):
        if g is None:
            shared = [
                (links(len(chain & other)), len(chain & other), -i) for i, other in enumerate(gold)
            ]
            g = -max(shared)[2] if any(chain & other for other in gold) else None
        if g is None:
            kinds.append("spurious")
        elif chain == gold[g]:
            kinds.append("exact")
        elif foreign := sum(len(chain & other) for i, other in enumerate(gold) if i != g):
            kinds.append(f"mixed {foreign}")
        elif missing := len(gold[g] - chain):
            kinds.append(f"missing {missing}")
        else:
            kinds.append("extra")
    return kinds
