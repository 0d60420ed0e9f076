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

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import count as count_up

import numpy as np

from closeread.arrays import LimitError
from closeread.counts.procedure import check_present, name_documents
from closeread.counts.table import Breakdown, CountTable
from closeread.records import Record
from closeread.tasks.tlinks.extents import EXTENT_MATCHINGS, Extent, match_extents
from closeread.tasks.tlinks.temporal_graph import TYPES, PointGraph, Relation, make_relation

COUNTS = (
    "awareness/verified_of_system",
    "awareness/system",
    "awareness/verified_of_gold",
    "awareness/gold",
    "contradictory/system",
    "contradictory/gold",
)
MATCHINGS = ("id", *EXTENT_MATCHINGS)
REDUCTIONS = ("sequential", "none")
NO_LINKS = {"tlinks": (), "intervals": ()}


class DocumentLinks:
    """The links of one side of a document.

    Attributes:
        types: the distinct relations, in order of first appearance, each with the type that it is written with; without
            those that are true of any intervals.
        graph: what follows from them.
        verdicts: the verdict on each when it was added to the graph, after those before it.
    """

    def __init__(
        self, tlinks: Sequence[Record], relations: Sequence[Relation], n_intervals: int
    ) -> None:
        self.types: dict[Relation, str] = {}
        for relation, tlink in zip(relations, tlinks, strict=True):
            if not relation.is_tautology:
                self.types.setdefault(relation, tlink["relation"])
        self.graph = PointGraph(n_intervals)
        self.verdicts = self.graph.add(self.types)

    def verifies(self, relation: Relation) -> bool:
        """Tell whether a relation is among these, even a contradictory one, or in their closure."""
        return relation in self.types or self.graph.judge(relation) == "entailed"


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
    values = np.zeros((len(types), len(gold), len(COUNTS)))
    for row, (record, response) in enumerate(zip(gold, system, strict=True)):
        with name_documents([names[row]]):
            gold_links, system_links = _build_sides(record, response or NO_LINKS, matching, during)
        n_links = Counter(_list_counted("system", system_links, gold_links, reduction))
        n_links.update(_list_counted("gold", gold_links, system_links, reduction))
        for (relation_type, name), n in n_links.items():
            values[types.index(relation_type), row, COUNTS.index(name)] = n
    parts = {name: Breakdown.from_dense(types, values) for name in breakdowns}
    folders = [name.rpartition("/")[0].partition("/")[0] for name in names]
    fields = {"folder": [folder or "." for folder in folders]} if any(folders) else {}
    table = CountTable(names, np.arange(len(names)), COUNTS, values.sum(axis=0), fields, parts)
    return table.select(present) if missing == "skip" else table


def _list_counted(
    name: str, side: DocumentLinks, other: DocumentLinks, reduction: str
) -> Iterator[tuple[str, str]]:
    """List the links of a side's reduction, those that the other side verifies, and contradictions.

    Each is its type and the count that it adds to.  A reduction is without the links that follow from earlier ones, or
    it has all links.
    """
    for relation, relation_type in side.types.items():
        verdict = side.verdicts[relation]
        if reduction == "sequential" and verdict == "entailed":
            continue
        yield relation_type, f"awareness/{name}"
        if other.verifies(relation):
            yield relation_type, f"awareness/verified_of_{name}"
        if verdict == "contradictory":
            yield relation_type, f"contradictory/{name}"


def find_contradictions(tlinks: Sequence[Record], during: str) -> list[int]:
    """Find the links that contradict earlier ones or themselves; return their indices.

    There are none if there are more links than are allowed, which is an error of scoring.
    """
    numbers = defaultdict[str, int](count_up().__next__)
    relations = _make_relations(tlinks, numbers, during)
    try:
        verdicts = DocumentLinks(tlinks, relations, len(numbers)).verdicts
    except LimitError:
        return []
    return [i for i, relation in enumerate(relations) if verdicts.get(relation) == "contradictory"]


def _build_sides(
    gold: Record, system: Record, matching: str, during: str
) -> tuple[DocumentLinks, DocumentLinks]:
    """Build both sides, with the same numbers for matching intervals."""
    next_number = count_up().__next__
    numbers = defaultdict[str, int](next_number)
    system_numbers = numbers
    if matching != "id":
        system_numbers = defaultdict(next_number)
        for i, j in match_extents(_list_extents(gold), _list_extents(system), matching):
            gold_id = gold["intervals"][i]["id"]
            system_id = system["intervals"][j]["id"]
            system_numbers[system_id] = numbers[gold_id]
    relations = _make_relations(gold["tlinks"], numbers, during)
    system_relations = _make_relations(system["tlinks"], system_numbers, during)
    # Numbers begin with 0, so the next one is how many there are.
    n_intervals = next_number()
    return (
        DocumentLinks(gold["tlinks"], relations, n_intervals),
        DocumentLinks(system["tlinks"], system_relations, n_intervals),
    )


def _list_extents(side: Record) -> list[Extent]:
    return [
        Extent(interval["kind"], interval["start"], interval["end"])
        for interval in side["intervals"]
    ]


def _make_relations(
    tlinks: Sequence[Record], numbers: defaultdict[str, int], during: str
) -> list[Relation]:
    """Return the relations of links; an interval without a number gets the next one."""
    return [
        make_relation(numbers[tlink["source"]], numbers[tlink["target"]], tlink["relation"], during)
        for tlink in tlinks
    ]
