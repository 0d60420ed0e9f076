"""Agreement of two annotators of WikiPossessions.

Source: Chinnappa, Palmer and Blanco (2020), section 4.2.5: precision and recall of one annotator's possessors and
ordered pairs against the other's, and Cohen's kappa of the labels of the possessors that both have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from closeread.errors import RequestError, quoted
from closeread.kernels.agreement import cohen_kappa
from closeread.kernels.possession import FAMILIES, Rules, article_counts, possessions
from closeread.kernels.possession_match import matched
from closeread.records import Record

LABELS = ("certainty", "anchor", "relation", "relation_certainty")
COMPARED = ("possessor", "ordering")


@dataclass(frozen=True)
class Agreement:
    """How far two annotators agree.

    Attributes:
        shared: how many possessors both have.
        precision, recall: of the second's possessors and ordered pairs against the first's; NaN where 0/0.
        kappa: Cohen's kappa of each of `LABELS` over the shared possessors; NaN where it is not defined.
        same: how many shared possessors have the same label.
    """

    shared: int
    precision: Mapping[str, float]
    recall: Mapping[str, float]
    kappa: Mapping[str, float]
    same: Mapping[str, int]


def agreement(first: Sequence[Record], second: Sequence[Record], setting: str = "exact") -> Agreement:
    """The agreement of two annotators.

    Args:
        first, second: gold records of the same articles, in any order.
        setting: how names match, "exact" or "partial".

    Raises:
        RequestError: an article is in one file only.
    """
    others = {record["article"]: record for record in second}
    names = {record["article"] for record in first}
    for name in sorted(names ^ others.keys()):
        which = "first" if name in names else "second"
        raise RequestError(f"article {quoted(name)} is in the {which} file only; needed: the same articles in both")
    rules = Rules(setting=setting)
    totals = np.zeros((len(FAMILIES), 4))
    said: dict[str, tuple[list[str | None], list[str | None]]] = {label: ([], []) for label in LABELS}
    shared = 0
    for record in first:
        rows, other_rows = record["possessions"], others[record["article"]]["possessions"]
        one, two = (possessions(side, rules.reading) for side in (rows, other_rows))
        totals += article_counts(two, one, rules)
        pairs = matched(two.named, one.named, setting, rules.matching)
        shared += len(pairs)
        for label, (ours, theirs) in said.items():
            ours += (rows[j].get(label) for _, j in pairs)
            theirs += (other_rows[i].get(label) for i, _ in pairs)
    with np.errstate(invalid="ignore"):
        precision, recall = totals[:, 0] / totals[:, 1], totals[:, 2] / totals[:, 3]
    place = {family: FAMILIES.index(family) for family in COMPARED}
    return Agreement(
        shared,
        {family: float(precision[i]) for family, i in place.items()},
        {family: float(recall[i]) for family, i in place.items()},
        {label: cohen_kappa(*both) for label, both in said.items()},
        {label: sum(a == b for a, b in zip(*both, strict=True)) for label, both in said.items()},
    )
