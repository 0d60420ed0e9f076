"""Temporal awareness over TimeML's links, with inference, as scored in TempEval-3.

Sources: UzZaman and Allen (2011); UzZaman et al. (2013), SemEval-2013 Task 1, section 4; details follow the task's
toolkit (its `evaluation-relations`).

    precision = reduced system links that the gold links verify / reduced system links
    recall    = reduced gold links that the system links verify / reduced gold links

Links are added one after the other.  A link that follows from earlier ones is not a reduced link.  A link that
contradicts earlier ones is a reduced link, but is ignored for inference.  A link is verified if the other side's links
entail it, or if it is one of them, even a contradictory one.  A link and its inverse are the same link.  SIMULTANEOUS
and IDENTITY are the same relation, and so are DURING and DURING_INV, unless an option changes this.

A link of an interval with itself is true of any interval if its relation is SIMULTANEOUS, and then not counted at all,
whatever the reduction; otherwise it is a contradiction.

Deliberate differences from the toolkit:
    It keeps points on chains with numbered places, some of which are wrong or assigned twice.  It therefore verifies
    links that do not follow (e.g. that two intervals after two simultaneous ones are simultaneous themselves), and
    finds contradictions in consistent links.
    It takes BEGINS between two known intervals as a contradiction, and OVERLAPS unless it follows.
    It counts a contradictory link again if its inverse is given, too; and SIMULTANEOUS does not verify a contradictory
    IDENTITY.
    Its `implicit_in_recall` can give a recall above 1 and depends on the direction of links; there is no such option
    here.
    Its `acl11` is `reduction="none"` here; the toolkit counts every link twice, and repeated links again.

Events and times are matched by id, or by extent like the toolkit's normalizer, which matches times that overlap, and
events that begin with the same word.

Conventions: the unit, and the unit of resampling, is the document.  Numerators and denominators are summed over
documents before dividing.  0/0 is 0.  Breakdowns by relation type use the type as written: the system's for precision,
gold's for recall, and the first one for repeated links.

Metrics:
    awareness: precision, recall and F1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count as count_up

import numpy as np

from closeread.arrays import LimitError
from closeread.counts.procedure import check_present, name_documents
from closeread.counts.table import Breakdown, CountTable
from closeread.records import Record
from closeread.tasks.tlinks.temporal_graph import (
    EXTENT_MATCHINGS,
    TYPES,
    Extent,
    PointGraph,
    Relation,
    make_relation,
    match_extents,
)

COUNTS = (
    "awareness/verified_of_system",
    "awareness/system",
    "awareness/verified_of_gold",
    "awareness/gold",
    "contradictory/system",
    "contradictory/gold",
)
SYSTEM_COLUMNS = [0, 1, 4]
GOLD_COLUMNS = [2, 3, 5]
"""The columns of `COUNTS` for the links of a side: verified ones, all, and contradictory ones."""

MATCHINGS = ("id", *EXTENT_MATCHINGS)
REDUCTIONS = ("sequential", "none")
NO_LINKS = {"tlinks": (), "intervals": ()}


class DocumentLinks:
    """The links of one side of a document.

    Attributes:
        types: the distinct relations that some intervals don't have, in order of first appearance, each with the type
            it is written with.
        graph: what follows from them.
        verdicts: for each, the verdict when it was added to the graph.
    """

    def __init__(
        self, tlinks: Sequence[Record], relations: Sequence[Relation], n_intervals: int
    ) -> None:
        self.types: dict[Relation, str] = {}
        for tlink, relation in zip(tlinks, relations, strict=True):
            if not _is_tautology(relation):
                self.types.setdefault(relation, tlink["relation"])
        self.graph = PointGraph(n_intervals)
        self.verdicts = dict(zip(self.types, self.graph.add(list(self.types)), strict=True))

    def reduce(self, reduction: str) -> list[Relation]:
        """Return the relations to count: those that did not follow from earlier ones, or all."""
        if reduction == "none":
            return list(self.types)
        return [relation for relation, verdict in self.verdicts.items() if verdict != "entailed"]

    def verifies(self, relations: Sequence[Relation]) -> list[bool]:
        """Test which relations follow from these links or are among them."""
        unstated = [relation for relation in relations if relation not in self.types]
        are_entailed = dict(zip(unstated, self.graph.entails(unstated), strict=True))
        return [are_entailed.get(relation, True) for relation in relations]


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
    """Count every document.

    Args:
        gold: documents, each with its name (`document`) and its `tlinks`, each with `source`, `relation` and `target`;
            unless `matching` is "id", also the `intervals` that they link, each with `id`, `kind`, and the `start` and
            `end` of its text, the end exclusive.
        system: the same documents in the same order; None for a missing document.
        breakdowns: `("type",)` to count every relation type in each document.
        missing, matching, reduction, during: the options of `PROCEDURE`.
    """
    present = np.array([response is not None for response in system], np.bool_)
    check_present(present, "documents", missing)
    names = [str(record["document"]) for record in gold]
    types = list(TYPES)
    values = np.zeros((len(types), len(names), len(COUNTS)))
    for row, (record, response) in enumerate(zip(gold, system, strict=True)):
        with name_documents([names[row]]):
            gold_side, system_side = _build_sides(record, response or NO_LINKS, matching, during)
            for name, counts in _count_links(system_side, gold_side, reduction):
                values[types.index(name), row, SYSTEM_COLUMNS] += counts
            for name, counts in _count_links(gold_side, system_side, reduction):
                values[types.index(name), row, GOLD_COLUMNS] += counts
    parts = {name: Breakdown.from_dense(types, values) for name in breakdowns}
    table = CountTable(names, np.arange(len(names)), COUNTS, values.sum(axis=0), breakdowns=parts)
    return table.select(present) if missing == "skip" else table


def _count_links(
    side: DocumentLinks, other: DocumentLinks, reduction: str
) -> Iterator[tuple[str, tuple[bool, int, bool]]]:
    """Yield the type and the counts of each reduced link of a side: is it verified, 1, and is it contradictory?"""
    relations = side.reduce(reduction)
    for relation, is_verified in zip(relations, other.verifies(relations), strict=True):
        is_contradictory = side.verdicts[relation] == "contradictory"
        yield side.types[relation], (is_verified, 1, is_contradictory)


def find_contradictions(tlinks: Sequence[Record], during: str) -> list[int]:
    """Find the links that contradict earlier ones or themselves; return their indices.

    There are none if the links need more inference than is allowed, which is an error of scoring.
    """
    numbers = _number_intervals()
    relations = _make_relations(tlinks, numbers, during)
    try:
        verdicts = DocumentLinks(tlinks, relations, len(numbers)).verdicts
    except LimitError:  # scoring reports it
        return []
    return [
        index
        for index, relation in enumerate(relations)
        if verdicts.get(relation) == "contradictory"
    ]


def find_tautologies(tlinks: Sequence[Record], during: str) -> list[int]:
    """Find the links that are true of any interval; return their indices."""
    relations = _make_relations(tlinks, _number_intervals(), during)
    return [index for index, relation in enumerate(relations) if _is_tautology(relation)]


def _build_sides(
    gold: Record, system: Record, matching: str, during: str
) -> tuple[DocumentLinks, DocumentLinks]:
    """Build both sides, with the same numbers for matching intervals."""
    numbers = _number_intervals()
    system_numbers = numbers
    if matching != "id":
        system_numbers = defaultdict(numbers.default_factory)
        gold_extents = _list_extents(gold)
        system_extents = _list_extents(system)
        for i, j in match_extents(gold_extents, system_extents, matching):
            gold_id = gold["intervals"][i]["id"]
            system_id = system["intervals"][j]["id"]
            system_numbers[system_id] = numbers[gold_id]
    relations = _make_relations(gold["tlinks"], numbers, during)
    system_relations = _make_relations(system["tlinks"], system_numbers, during)
    n_intervals = len({*numbers.values(), *system_numbers.values()})
    return (
        DocumentLinks(gold["tlinks"], relations, n_intervals),
        DocumentLinks(system["tlinks"], system_relations, n_intervals),
    )


def _list_extents(side: Record) -> list[Extent]:
    return [
        Extent(interval["kind"], interval["start"], interval["end"])
        for interval in side["intervals"]
    ]


def _number_intervals() -> defaultdict[str, int]:
    """Return numbers of intervals by id, which are given out when an interval is first looked up."""
    return defaultdict(count_up().__next__)


def _make_relations(
    tlinks: Sequence[Record], numbers: defaultdict[str, int], during: str
) -> list[Relation]:
    return [
        make_relation(numbers[tlink["source"]], numbers[tlink["target"]], tlink["relation"], during)
        for tlink in tlinks
    ]


def _is_tautology(relation: Relation) -> bool:
    return relation.first == relation.second and relation.kind == "equals"
