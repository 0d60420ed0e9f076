"""Agreement of two annotators of WikiPossessions.

Source: Chinnappa, Palmer and Blanco (2020), section 4.2.5: precision and recall of one annotator's possessors and
ordered pairs against the other's, and Cohen's kappa of the labels of the shared possessors.  Ordered pairs are those of
the shared possessors, too: the paper prints a recall of 0.90 for them, which can't be if the second annotator has only
0.69 of the first's possessors, and so about 0.69 ** 2 of all pairs.

Conventions: anchors are compared by meaning, not by spelling.  They are equal if they have the same years and the same
open ends; events are equal if their normalized names are.  If an article has a possessor several times, its
possessions are paired so that as many anchors as possible are equal, then so that as many years as possible overlap,
then so that as many other labels as possible are equal; the order decides what is left.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from closeread.counts.options import Option
from closeread.errors import FormatError, Problem, join_names
from closeread.records import Record
from closeread.tasks.wikipossessions.kernels.agreement import cohen_kappa
from closeread.tasks.wikipossessions.kernels.anchors import Anchor, parse_anchor
from closeread.tasks.wikipossessions.kernels.matching import SETTINGS, Likeness, Pair, match_possessions
from closeread.tasks.wikipossessions.kernels.names import normalize_name
from closeread.tasks.wikipossessions.kernels.subtasks import (
    COUNTS,
    Possessions,
    Rules,
    count_ordered_pairs,
    possessions,
)

LABELS = ("certainty", "anchor", "relation", "relation_certainty")
COMPARED = ("possessor", "ordering")
PAIRS = ("shared", "all")
REPEATED = ("labels", "order")

OPTIONS = (
    Option(
        "setting",
        SETTINGS,
        "exact",
        "How to match names: in full, or by a shared word that is not an article or a preposition.",
    ),
    Option(
        "pairs",
        PAIRS,
        "shared",
        "Which ordered pairs to compare: those of the possessors that both annotators have, or those of all "
        "possessors.",
    ),
    Option(
        "repeated",
        REPEATED,
        "labels",
        "How to pair a possessor that an article has several times: by anchors and other labels, or the first with "
        "the first and so on.",
    ),
)
"""Choices that change what is computed."""

Labels = Mapping[str, Sequence[Hashable]]
"""The values of every label of `LABELS`, a value for every possession."""


@dataclass(frozen=True)
class Agreement:
    """The agreement of two annotators.

    Attributes:
        shared: the number of possessors that both annotated.
        precision, recall: of the second's possessors and ordered pairs against the first's, by `COMPARED`; NaN for 0/0.
        kappa: Cohen's kappa of each of `LABELS` over the shared possessors; NaN if undefined.
        same: the number of shared possessors with the same label, for each of `LABELS`.
        options: the value of each of `OPTIONS`.
    """

    shared: int
    precision: Mapping[str, float]
    recall: Mapping[str, float]
    kappa: Mapping[str, float]
    same: Mapping[str, int]
    options: Mapping[str, str]

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


def _none_for_nan(value: Any) -> Any:
    """Return None for NaN, and everything else as it is."""
    return None if isinstance(value, float) and math.isnan(value) else value


def agreement(
    first: Sequence[Record],
    second: Sequence[Record],
    setting: str = "exact",
    names: tuple[str, str] = ("the first", "the second"),
    *,
    pairs: str = "shared",
    repeated: str = "labels",
) -> Agreement:
    """Measure the agreement of two annotators.

    Args:
        first, second: gold records of the same articles, in any order.
        setting: how names match: "exact" or "partial".
        names: the annotators' names in error messages.
        pairs: whose ordered pairs are compared: those of the possessors that both have ("shared"), which are then
            compared as they are paired; or those of "all" possessors.
        repeated: how possessions of the same name are paired: by what their "labels" say, or by their "order".

    Raises:
        FormatError: an annotator lacks articles of the other; lists all problems.
    """
    others = {record["article"]: record for record in second}
    if problems := list(_compare_articles([record["article"] for record in first], list(others), names)):
        raise FormatError("annotations", problems)
    # Names that are paired match each other only, whatever words they share with others.
    rules = Rules(setting=setting, ordering_match="via_matching" if pairs == "shared" else "existential")
    totals = np.zeros((len(COMPARED), len(COUNTS)))
    values: dict[str, tuple[list[Hashable], list[Hashable]]] = {label: ([], []) for label in LABELS}
    for record in first:
        sides = record["possessions"], others[record["article"]]["possessions"]
        one, two = (possessions(side, rules.reading) for side in sides)
        said, also_said = map(_get_labels, sides)
        likeness = _compare_labels(also_said, said) if repeated == "labels" else None
        paired = match_possessions(two.names_and_orders, one.names_and_orders, setting, likeness=likeness)
        totals[0] += (len(paired), len(two.names), len(paired), len(one.names))
        compared = _keep_paired(two, one, paired) if pairs == "shared" else (two, one, paired)
        totals[1] += count_ordered_pairs(*compared, rules)
        for label, (ours, theirs) in values.items():
            ours += (said[label][j] for _, j in paired)
            theirs += (also_said[label][i] for i, _ in paired)
    with np.errstate(invalid="ignore"):
        precision, recall = totals[:, 0] / totals[:, 1], totals[:, 2] / totals[:, 3]
    return Agreement(
        int(totals[0, 0]),
        dict(zip(COMPARED, precision.tolist(), strict=True)),
        dict(zip(COMPARED, recall.tolist(), strict=True)),
        {label: cohen_kappa(*both) for label, both in values.items()},
        {label: sum(a == b for a, b in zip(*both, strict=True)) for label, both in values.items()},
        {"setting": setting, "pairs": pairs, "repeated": repeated},
    )


def _keep_paired(
    system: Possessions, gold: Possessions, paired: Sequence[Pair]
) -> tuple[Possessions, Possessions, list[Pair]]:
    """Return the paired possessions of both sides, and their pairs."""
    return (
        system.select([i for i, _ in paired]),
        gold.select([j for _, j in paired]),
        [(number, number) for number in range(len(paired))],
    )


def _compare_articles(first: Sequence[str], second: Sequence[str], names: tuple[str, str]) -> Iterator[Problem]:
    """Find the articles that only one annotator has."""
    for one, other, name, of_other in ((first, second, names[0], names[1]), (second, first, names[1], names[0])):
        known = set(one)
        if lacking := [article for article in other if article not in known]:
            found = f"{name} lacks {len(lacking):,} of the {len(other):,} articles of {of_other}: {join_names(lacking)}"
            yield Problem(f"{found} (expected the same articles)")


def _get_labels(rows: Sequence[Mapping[str, str | None]]) -> Labels:
    """Return the labels of possessions, equal if the meaning is the same."""
    values: dict[str, list[Hashable]] = {label: [row.get(label) for row in rows] for label in LABELS}
    anchors = [(row.get("anchor"), parse_anchor(row.get("anchor"))) for row in rows]
    values["anchor"] = [
        normalize_name(text or "").tokens if anchor.kind == "event" else anchor._replace(reversed=False)
        for text, anchor in anchors
    ]
    return values


def _compare_labels(system: Labels, gold: Labels) -> Likeness:
    """Return how much two possessions say the same: equal anchors first, then overlapping years, then other labels."""
    others = [label for label in LABELS if label != "anchor"]
    # No sum of what comes later may outweigh one of what comes earlier.
    step = len(others) * min(len(system["anchor"]), len(gold["anchor"])) + 1

    def likeness(i: int, j: int) -> int:
        one, two = system["anchor"][i], gold["anchor"][j]
        labels = sum(system[label][i] == gold[label][j] for label in others)
        return ((one == two) * step + _overlap(one, two)) * step + labels

    return likeness


def _overlap(one: Hashable, two: Hashable) -> bool:
    """Return whether two anchors are years with a year in common, where an open end is endless."""
    if not (isinstance(one, Anchor) and isinstance(two, Anchor) and one.kind == two.kind == "years"):
        return False
    return all(
        first is None or last is None or first <= last
        for first, last in ((one.lower, two.upper), (two.lower, one.upper))
    )
