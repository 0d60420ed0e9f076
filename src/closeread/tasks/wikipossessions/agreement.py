"""Agreement of two annotators of WikiPossessions.

Source: Chinnappa, Palmer and Blanco (2020), section 4.2.5: precision and recall of one annotator's possessors and
ordered pairs against the other's, and Cohen's kappa of the labels of the possessors that both have.

Conventions: anchors are compared by what they say, not by how it is written.  They are the same where they have the
same years and are open at the same ends; events, where their normalised names are the same.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from closeread.errors import FormatError, Problem, join_names
from closeread.records import Record
from closeread.tasks.wikipossessions.kernels.agreement import cohen_kappa
from closeread.tasks.wikipossessions.kernels.anchors import parse_anchor
from closeread.tasks.wikipossessions.kernels.matching import matched
from closeread.tasks.wikipossessions.kernels.names import normalised
from closeread.tasks.wikipossessions.kernels.subtasks import FAMILIES, Rules, article_counts, possessions

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

    def to_json(self) -> dict[str, Any]:
        """Return the attributes as JSON can hold them, None for NaN."""
        return {
            name: {key: _none_for_nan(value) for key, value in values.items()} if isinstance(values, dict) else values
            for name, values in asdict(self).items()
        }

    def rows(self) -> list[list[str | float | None]]:
        """Return a row for everything that is compared: name, precision, recall, number of same labels, kappa.

        What does not apply to a row is empty; what is undefined is None.
        """
        scored: list[list[str | float | None]] = [
            [name, _none_for_nan(self.precision[name]), _none_for_nan(self.recall[name]), "", ""]
            for name in self.precision
        ]
        return scored + [[name, "", "", self.same[name], _none_for_nan(kappa)] for name, kappa in self.kappa.items()]


def _none_for_nan(value: float) -> float | None:
    return None if math.isnan(value) else value


def agreement(
    first: Sequence[Record],
    second: Sequence[Record],
    setting: str = "exact",
    names: tuple[str, str] = ("the first", "the second"),
) -> Agreement:
    """The agreement of two annotators.

    Args:
        first, second: gold records of the same articles, in any order.
        setting: how names match, "exact" or "partial".
        names: what to call the annotators in messages.

    Raises:
        FormatError: an annotator lacks articles of the other; all of it at once.
    """
    others = {record["article"]: record for record in second}
    if problems := list(_lacking([record["article"] for record in first], list(others), names)):
        raise FormatError("annotations", problems)
    rules = Rules(setting=setting)
    totals = np.zeros((len(FAMILIES), 4))
    said: dict[str, tuple[list[Hashable], list[Hashable]]] = {label: ([], []) for label in LABELS}
    shared = 0
    for record in first:
        rows, other_rows = record["possessions"], others[record["article"]]["possessions"]
        one, two = (possessions(side, rules.reading) for side in (rows, other_rows))
        totals += article_counts(two, one, rules)
        pairs = matched(two.named, one.named, setting, rules.matching)
        shared += len(pairs)
        for label, (ours, theirs) in said.items():
            ours += (_said(rows[j], label) for _, j in pairs)
            theirs += (_said(other_rows[i], label) for i, _ in pairs)
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


def _lacking(first: Sequence[str], second: Sequence[str], names: tuple[str, str]) -> Iterator[Problem]:
    """The articles that only one annotator has."""
    for one, other, name, of_other in ((first, second, names[0], names[1]), (second, first, names[1], names[0])):
        known = set(one)
        if lacking := [article for article in other if article not in known]:
            what = f"{name} lacks {len(lacking):,} of the {len(other):,} articles of {of_other}: {join_names(lacking)}"
            yield Problem(f"{what}; needed: the same articles")


def _said(row: Mapping[str, str | None], label: str) -> Hashable:
    """What an annotator says, the same where it means the same."""
    text = row.get(label)
    if label != "anchor":
        return text
    anchor = parse_anchor(text)
    return normalised(text or "").tokens if anchor.kind == "event" else anchor._replace(reversed=False)
