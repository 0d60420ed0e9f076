"""Temporal awareness over TimeML's links: whatever follows from them, as TempEval-3 scores it.

Sources: UzZaman and Allen (2011); UzZaman et al. (2013), SemEval-2013 Task 1, section 4; details as the task's toolkit
(its `evaluation-relations`) decides them.

    precision = links of the system, reduced, that the gold links verify / links of the system, reduced
    recall    = links of gold, reduced, that the system's links verify / links of gold, reduced

Links are taken in one after the other.  One that follows from those before it is left out of the reduced links.  One
that contradicts them stays among the reduced links, but nothing follows from it.  A link is verified if the other
side's links entail it, or if it stands among them itself, be it in contradiction to others.  A link and its inverse are
one link.  SIMULTANEOUS and IDENTITY are the same, and so are DURING and DURING_INV, unless an option says otherwise.

Not followed are these ways of the toolkit:
    It keeps points on chains, with numbers for places, and gives some places wrongly or twice.  So it verifies what
    does not follow, such as that two intervals which come after two simultaneous ones are simultaneous themselves, and
    finds contradictions in consistent links.
    Of two intervals that it knows, BEGINS always is a contradiction to it, and OVERLAPS is one unless it follows.
    A contradictory link that stands there again, as its inverse, counts again; and if it is IDENTITY, SIMULTANEOUS on
    the other side does not verify it.
    `implicit_in_recall` can give a recall above 1, and changes as links are turned round: there is no such option here.
    `acl11` is `reduction="none"` here; it counts every link twice, and again wherever it stands again.

Events and times are the same on both sides by their ids, or by their extents, as the toolkit's normalizer has it: it
takes for the same the times that overlap, and the events that begin with the same word.

Conventions: the unit, and what is resampled, is the document.  Numerators and denominators are summed over documents
before anything is divided.  0/0 is 0.  Links are parted by the relation type that they are written with, those of
precision by the system's, those of recall by that of gold; of links that are one link the first counts.

Metrics:
    awareness: precision, recall and F1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import count as count_up
from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats
from closeread.counts.options import check_present
from closeread.counts.table import Breakdown, CountTable
from closeread.records import Record
from closeread.tasks.tlinks.kernels import extent_matching
from closeread.tasks.tlinks.kernels.extent_matching import Extent
from closeread.tasks.tlinks.kernels.temporal_graph import TYPES, PointGraph, Relation, Verdict, relation

COUNTS = (
    "awareness/verified_of_system",
    "awareness/system",
    "awareness/verified_of_gold",
    "awareness/gold",
    "contradictory/system",
    "contradictory/gold",
)
MATCHINGS = ("id", *extent_matching.MATCHINGS)
REDUCTIONS = ("sequential", "none")


class Side(NamedTuple):
    """The links of one side of a document.

    Attributes:
        types: the distinct relations in order of first appearance, each with the type that it has there.
        verdicts: what each was when it came.
        graph: what follows from them.
    """

    types: dict[Relation, str]
    verdicts: list[Verdict]
    graph: PointGraph

    def verifies(self, relations: Sequence[Relation]) -> list[bool]:
        """Which relations follow from these, or stand among them."""
        entailed = self.graph.entails(relations)
        return [follows or one in self.types for one, follows in zip(relations, entailed, strict=True)]


def count(
    *,
    gold: Sequence[Record],
    system: Sequence[Record | None],
    breakdowns: Sequence[str] = (),
    missing: str = "empty",
    matching: str = "id",
    reduction: str = "sequential",
    during: str = "simultaneous",
) -> CountTable:
    """Counts of every document.

    Args:
        gold: documents, each with its name (`document`) and its `tlinks`, each with `source`, `relation` and `target`;
            unless `matching` is "id", also the `intervals` that these join, each with `id`, `kind`, and the `start` and
            `end` of its text, the end exclusive.
        system: the same documents in the same order; None where there is none.
        breakdowns: `("type",)` to count every relation type in each document.
        missing, matching, reduction, during: what `PROCEDURE` says of its options.

    Raises:
        ValueError: a document has no links of the system and `missing` is "error".
    """
    present = np.array([row is not None for row in system], np.bool_)
    check_present(present, "documents", missing)
    by_type = {name: np.zeros((len(gold), len(COUNTS))) for name in TYPES}
    for i, (record, row) in enumerate(zip(gold, system, strict=True)):
        own, other = _sides(record, row or {"tlinks": (), "intervals": ()}, matching, during)
        for first_column, side, judge in ((0, other, own), (2, own, other)):
            _tally(by_type, i, first_column, side, judge, reduction)
    names = [str(record["document"]) for record in gold]
    values = np.array(list(by_type.values()))
    parts = {name: Breakdown.from_dense(list(TYPES), values) for name in breakdowns}
    table = CountTable(names, np.arange(len(names)), COUNTS, values.sum(axis=0), breakdowns=parts)
    return table.select(present) if missing == "skip" else table


def _tally(by_type: Mapping[str, Floats], row: int, first_column: int, side: Side, judge: Side, reduction: str) -> None:
    """Count the links of a side, and how many of them the other verifies."""
    claims = list(zip(side.types.items(), side.verdicts, strict=True))
    if reduction == "sequential":
        claims = [claim for claim in claims if claim[1] != "entailed"]
    verified = judge.verifies([one for (one, _), _ in claims])
    for ((_, name), verdict), is_verified in zip(claims, verified, strict=True):
        by_type[name][row, first_column] += is_verified
        by_type[name][row, first_column + 1] += 1
        by_type[name][row, 4 + first_column // 2] += verdict == "contradictory"


def contradictions(tlinks: Sequence[Record], during: str) -> list[int]:
    """The places of links that contradict those before them."""
    fresh = count_up()
    relations = _relations(tlinks, defaultdict(fresh.__next__), during)
    side = _side(tlinks, relations, next(fresh))
    found = {one for one, verdict in zip(side.types, side.verdicts, strict=True) if verdict == "contradictory"}
    return [i for i, one in enumerate(relations) if one in found]


def _sides(gold: Record, system: Record, matching: str, during: str) -> tuple[Side, Side]:
    """Both sides, with the same numbers for intervals that are the same."""
    fresh = count_up()
    own = defaultdict[str, int](fresh.__next__)
    other = own
    if matching != "id":
        extents = [[Extent(i["kind"], i["start"], i["end"]) for i in side["intervals"]] for side in (gold, system)]
        same = extent_matching.matched(extents[0], extents[1], matching)
        ids = ((gold["intervals"][i]["id"], system["intervals"][j]["id"]) for i, j in same)
        other = defaultdict(fresh.__next__, {theirs: own[ours] for ours, theirs in ids})
    relations = _relations(gold["tlinks"], own, during), _relations(system["tlinks"], other, during)
    n = next(fresh)
    return _side(gold["tlinks"], relations[0], n), _side(system["tlinks"], relations[1], n)


def _relations(tlinks: Sequence[Record], numbers: defaultdict[str, int], during: str) -> list[Relation]:
    return [relation(numbers[link["source"]], numbers[link["target"]], link["relation"], during) for link in tlinks]


def _side(tlinks: Sequence[Record], relations: Sequence[Relation], n_intervals: int) -> Side:
    types: dict[Relation, str] = {}
    for one, link in zip(relations, tlinks, strict=True):
        types.setdefault(one, link["relation"])
    graph = PointGraph(n_intervals)
    return Side(types, graph.add(list(types)), graph)
