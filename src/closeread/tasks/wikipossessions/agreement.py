"""Agreement of two annotators of WikiPossessions.

Source: Chinnappa, Palmer and Blanco (2020), section 4.2.5: precision and recall of one annotator's possessors and
ordered pairs against the other's, and Cohen's kappa of the labels of the shared possessors.

Conventions: anchors are compared by meaning, not by spelling.  They are equal if they have the same years and the same
open ends; events are equal if their normalized names are.
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
from closeread.tasks.wikipossessions.kernels.matching import match_possessions
from closeread.tasks.wikipossessions.kernels.names import normalize_name
from closeread.tasks.wikipossessions.kernels.subtasks import FAMILIES, Rules, article_counts, possessions

LABELS = ("certainty", "anchor", "relation", "relation_certainty")
COMPARED = ("possessor", "ordering")


@dataclass(frozen=True)
class Agreement:
    """The agreement of two annotators.

    Attributes:
        shared: the number of possessors that both annotated.
        precision, recall: of the second's possessors and ordered pairs against the first's; NaN for 0/0.
        kappa: Cohen's kappa of each of `LABELS` over the shared possessors; NaN if undefined.
        same: the number of shared possessors with the same label, for each of `LABELS`.
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
    """Measure the agreement of two annotators.

    Args:
        first, second: gold records of the same articles, in any order.
        setting: how names match: "exact" or "partial".
        names: the annotators' names in error messages.

    Raises:
        FormatError: an annotator lacks articles of the other; lists all problems.
    """
    others = {record["article"]: record for record in second}
    if problems := list(_compare_articles([record["article"] for record in first], list(others), names)):
        raise FormatError("annotations", problems)
    rules = Rules(setting=setting)
    totals = np.zeros((len(FAMILIES), 4))
    values: dict[str, tuple[list[Hashable], list[Hashable]]] = {label: ([], []) for label in LABELS}
    shared = 0
    for record in first:
        rows, other_rows = record["possessions"], others[record["article"]]["possessions"]
        one, two = (possessions(side, rules.reading) for side in (rows, other_rows))
        totals += article_counts(two, one, rules)
        pairs = match_possessions(two.names_and_orders, one.names_and_orders, setting, rules.matching)
        shared += len(pairs)
        for label, (ours, theirs) in values.items():
            ours += (_get_label(rows[j], label) for _, j in pairs)
            theirs += (_get_label(other_rows[i], label) for i, _ in pairs)
    with np.errstate(invalid="ignore"):
        precision, recall = totals[:, 0] / totals[:, 1], totals[:, 2] / totals[:, 3]
    place = {family: FAMILIES.index(family) for family in COMPARED}
    return Agreement(
        shared,
        {family: float(precision[i]) for family, i in place.items()},
        {family: float(recall[i]) for family, i in place.items()},
        {label: cohen_kappa(*both) for label, both in values.items()},
        {label: sum(a == b for a, b in zip(*both, strict=True)) for label, both in values.items()},
    )


def _compare_articles(first: Sequence[str], second: Sequence[str], names: tuple[str, str]) -> Iterator[Problem]:
    """Find the articles that only one annotator has."""
    for one, other, name, of_other in ((first, second, names[0], names[1]), (second, first, names[1], names[0])):
        known = set(one)
        if lacking := [article for article in other if article not in known]:
            found = f"{name} lacks {len(lacking):,} of the {len(other):,} articles of {of_other}: {join_names(lacking)}"
            yield Problem(f"{found} (expected the same articles)")


def _get_label(row: Mapping[str, str | None], label: str) -> Hashable:
    """Return the value of a label, equal if the meaning is the same."""
    text = row.get(label)
    if label != "anchor":
        return text
    anchor = parse_anchor(text)
    return normalize_name(text or "").tokens if anchor.kind == "event" else anchor._replace(reversed=False)
