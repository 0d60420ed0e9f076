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
from collections.abc import Mapping, Sequence
from itertools import count as count_up

import numpy as np

from closeread.arrays import Floats, LimitError
from closeread.counts.procedure import check_present, name_documents
from closeread.counts.table import Breakdown, CountTable
from closeread.records import Record
from closeread.tasks.tlinks.temporal_graph import (
    EXTENT_MATCHINGS,
    TYPES,
    Extent,
    PointGraph,
    Relation,
    match_extents,
    relation,
)

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


class DocumentLinks:
    """The links of one side of a document.

    `types` are the distinct relations that some intervals don't have, in order of first appearance, each with the type
    it is written with; `verdicts` those on each when it was added to the graph.
    """

    def __init__(
        self, tlinks: Sequence[Record], relations: Sequence[Relation], n_intervals: int
    ) -> None:
        self.types: dict[Relation, str] = {}
        for one, link in zip(relations, tlinks, strict=True):
            if not _is_tautology(one):
                self.types.setdefault(one, link["relation"])
        self.graph = PointGraph(n_intervals)
        self.verdicts = dict(zip(self.types, self.graph.add(list(self.types)), strict=True))

    def verifies(self, relations: Sequence[Relation]) -> list[bool]:
        """Test which relations follow from these links or are among them."""
        others = [one for one in relations if one not in self.types]
        entailed = dict(zip(others, self.graph.entails(others), strict=True))
        return [entailed.get(one, True) for one in relations]


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
    present = np.array([row is not None for row in system], np.bool_)
    check_present(present, "documents", missing)
    by_type = {name: np.zeros((len(gold), len(COUNTS))) for name in TYPES}
    for i, (record, row) in enumerate(zip(gold, system, strict=True)):
        with name_documents([str(record["document"])]):
            sides = _build_sides(record, row or {"tlinks": (), "intervals": ()}, matching, during)
            for first_column, side, other in ((0, *sides[::-1]), (2, *sides)):
                _tally(by_type, i, first_column, side, other, reduction)
    names = [str(record["document"]) for record in gold]
    values = np.array(list(by_type.values()))
    parts = {name: Breakdown.from_dense(list(TYPES), values) for name in breakdowns}
    table = CountTable(names, np.arange(len(names)), COUNTS, values.sum(axis=0), breakdowns=parts)
    return table.select(present) if missing == "skip" else table


def _tally(
    by_type: Mapping[str, Floats],
    row: int,
    first_column: int,
    side: DocumentLinks,
    other: DocumentLinks,
    reduction: str,
) -> None:
    """Count the links of a side, and those that the other side verifies."""
    verdicts = side.verdicts.items()
    claims = [one for one, verdict in verdicts if reduction == "none" or verdict != "entailed"]
    for one, is_verified in zip(claims, other.verifies(claims), strict=True):
        counts = by_type[side.types[one]][row]
        counts[first_column] += is_verified
        counts[first_column + 1] += 1
        counts[4 + first_column // 2] += side.verdicts[one] == "contradictory"


def find_contradictions(tlinks: Sequence[Record], during: str) -> list[int]:
    """Find the links that contradict earlier ones or themselves; return their indices.

    There are none if the links need more inference than is allowed, which is an error of scoring.
    """
    fresh = count_up()
    relations = _make_relations(tlinks, defaultdict(fresh.__next__), during)
    try:
        verdicts = DocumentLinks(tlinks, relations, next(fresh)).verdicts
    except LimitError:  # scoring reports it
        return []
    return [i for i, one in enumerate(relations) if verdicts.get(one) == "contradictory"]


def find_tautologies(tlinks: Sequence[Record], during: str) -> list[int]:
    """Find the links that are true of any interval; return their indices."""
    alone = ((i, link) for i, link in enumerate(tlinks) if link["source"] == link["target"])
    return [i for i, link in alone if _is_tautology(relation(0, 0, link["relation"], during))]


def _build_sides(
    gold: Record, system: Record, matching: str, during: str
) -> tuple[DocumentLinks, DocumentLinks]:
    """Build both sides, with the same numbers for matching intervals."""
    fresh = count_up()
    in_gold = in_system = defaultdict[str, int](fresh.__next__)
    if matching != "id":
        extents = [
            [Extent(i["kind"], i["start"], i["end"]) for i in side["intervals"]]
            for side in (gold, system)
        ]
        same = match_extents(extents[0], extents[1], matching)
        ids = ((gold["intervals"][i]["id"], system["intervals"][j]["id"]) for i, j in same)
        in_system = defaultdict(fresh.__next__, {there: in_gold[here] for here, there in ids})
    sides = ((gold["tlinks"], in_gold), (system["tlinks"], in_system))
    relations = [_make_relations(tlinks, numbers, during) for tlinks, numbers in sides]
    n = next(fresh)
    return DocumentLinks(gold["tlinks"], relations[0], n), DocumentLinks(
        system["tlinks"], relations[1], n
    )


def _make_relations(
    tlinks: Sequence[Record], numbers: defaultdict[str, int], during: str
) -> list[Relation]:
    return [
        relation(numbers[link["source"]], numbers[link["target"]], link["relation"], during)
        for link in tlinks
    ]


def _is_tautology(one: Relation) -> bool:
    return one.first == one.second and one.kind == "equals"
