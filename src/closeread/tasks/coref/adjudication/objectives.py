"""What a link between two mentions costs, by the annotators who drew it.

Source: Schüller (2018), "Adjudication of Coreference Annotations via Answer Set Optimization", section 3, and Schüller
et al. (2018), section 3.3.  A pair of mentions that K of the k annotators of its document have in one chain costs

    objective   separate   together, K >= 1     together, K = 0
    v           2K         k - K                forbidden
    va          2K         min(k - K, 2K + 1)   1
    u           2K         0                    forbidden
    ua          2K         0                    1

Pairs that a person has put together are not forbidden: under v and u they cost what the formula for K >= 1 says.
"""

from __future__ import annotations

import numpy as np

from closeread.arrays import Ints

OBJECTIVES = ("v", "va", "u", "ua")


def implies_links(objective: str) -> bool:
    """Return whether mentions may be together that nobody has in one chain."""
    return objective.endswith("a")


def cost_apart(annotators: Ints) -> Ints:
    """Return what pairs cost that are in different chains, or not in one.

    Args:
        annotators: (n,) how many annotators have each pair in one chain.
    """
    cost: Ints = 2 * annotators
    return cost


def cost_together(annotators: Ints, n_annotators: int, objective: str) -> Ints:
    """Return what pairs cost that are in one chain.

    Args:
        annotators: (n,) how many annotators have each pair in one chain.
        n_annotators: k, the number of annotators of the document.
        objective: one of `OBJECTIVES`.
    """
    against = n_annotators - annotators if objective.startswith("v") else np.zeros_like(annotators)
    if not implies_links(objective):
        return against
    used = np.minimum(against, 2 * annotators + 1) if objective == "va" else against
    return np.where(annotators == 0, 1, used)


def gain_of_joining(annotators: Ints, n_annotators: int, objective: str) -> Ints:
    """Return how much less pairs cost together than apart; negative if they cost more."""
    return cost_apart(annotators) - cost_together(annotators, n_annotators, objective)
