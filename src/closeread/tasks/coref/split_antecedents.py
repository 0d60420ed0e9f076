"""Counts of entities with split antecedents: from the relations of key and response to the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from closeread.arrays import Floats, Ints
from closeread.counts.procedure import Options
from closeread.exceptions import RequestError
from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.coref.kernels.split_antecedents import EACH_SIDE, IN_SETS, Sets, count_sets, count_with_sets
from closeread.tasks.coref.matching import Matched
from closeread.tasks.coref.relation_metrics import require_relations
from closeread.tasks.coref.relations import Place, find_single_antecedents, list_zeros, places_by_entity, relations_of

NEEDED = {"keep_singletons": ("true",), "duplicates": ("error",), "zeros": ("linear", "exclude")}
"""The values of options that are scored together with split antecedents."""


def check_options(metrics: Sequence[str], options: Options, breakdowns: Sequence[str]) -> None:
    """Check that split antecedents can be scored with these metrics, options and breakdowns.

    Raises:
        RequestError: they can't.
    """
    if "blanc" in metrics:
        advice = "choose other metrics, such as muc,b3,ceafm,ceafe,lea,conll"
        raise RequestError(f"BLANC is not defined for entities with split antecedents; {advice}")
    for name, values in NEEDED.items():
        if options[name] not in values:
            raise RequestError(f"scoring split antecedents needs {name} {' or '.join(map(repr, values))}")
    if breakdowns:
        raise RequestError(f"{breakdowns[0]} divides mentions, which sets of antecedents are not; don't score these")


def split_columns(
    files: tuple[MentionTable, MentionTable], matched: Matched, metrics: Sequence[str], choice: str
) -> dict[str, Floats]:
    """Count every document, by the names of the counts, (n_documents,) each.

    Args:
        files: key and response as they were read.
        matched: the mentions that are scored.
        metrics: the names of metrics; those that know no sets of antecedents are left out.
        choice: "score" or "only".
    """
    require_relations(*files, "scoring split antecedents")
    (key, ours), (response, theirs) = _collect(files, matched)
    n_documents = len(matched.key.names)
    own, other = matched.sides
    sides = replace(own, entity=ours[own.entity]), replace(other, entity=theirs[other.entity])
    columns: dict[str, Floats] = {}
    for metric in (name for name in metrics if name in IN_SETS):
        if choice == "only":
            counts = count_sets(key, response, n_documents, metric)
        else:
            counts = count_with_sets(sides, key, response, n_documents, metric)
        columns |= {f"{metric}/{name}": column for name, column in zip(EACH_SIDE, counts.T, strict=True)}
    return columns


class _Collector:
    """Collector of the sets of a side.

    Args:
        table: the side as it was read.
        n_entities: one more than the highest number of an entity.

    Attributes:
        merged: (n_entities,) the entity that each entity becomes: one with the same antecedents is the same.
    """

    def __init__(self, table: MentionTable, n_entities: int) -> None:
        self.merged = np.arange(n_entities)
        self._table = table
        self._sets: list[tuple[int, int]] = []  # the document and the entity of each
        self._rows: list[tuple[int, int, int]] = []  # the set, its antecedent and the code of each mention

    def take(self, document: int, scored: set[int], codes: _Codes) -> None:
        """Take the sets of a document, whose scored entities are given."""
        relations = relations_of(self._table, document)
        mentions = places_by_entity(self._table, document, list_zeros(document, self._table))
        number = {self._table.label(found[0][0]): entity for entity, found in mentions.items()}
        single = find_single_antecedents(relations.antecedents)
        first: dict[frozenset[str], int] = {}
        for name, own in number.items():  # in the order of the entities
            antecedents = single.get(name, ())
            if not antecedents or own not in scored:
                continue
            entity = first.setdefault(frozenset(antecedents), own)
            if entity != own:
                self.merged[own] = entity
                continue
            for cluster, antecedent in enumerate(antecedents):
                places = relations.non_referring.get(antecedent)
                places = places or [place for _, place in mentions[number[antecedent]]]
                self._rows += [(len(self._sets), cluster, codes.find(place)) for place in places]
            self._sets.append((document, entity))

    def sets(self) -> Sets:
        """Return all sets."""
        sets, rows = (np.array(values, np.int64).reshape(-1, n).T for values, n in ((self._sets, 2), (self._rows, 3)))
        return Sets(sets[0], sets[1], rows[0], rows[1], rows[2])


class _Codes:
    """The codes of the mentions of a document on one side, by their places.

    Args:
        own: those of the mentions that are scored.
        other: those of the other side; a mention that is not scored has the code of one of these at the same place if
            no mention of this side matches that.
        fresh: those of all other mentions of both sides, with places not seen before added.
        begin: the first code for these.
    """

    def __init__(self, own: dict[Place, int], other: dict[Place, int], fresh: dict[Place, int], begin: int) -> None:
        matched = set(own.values())
        self._known = {place: code for place, code in other.items() if code not in matched} | own
        self._fresh = fresh
        self._begin = begin

    def find(self, place: Place) -> int:
        """Return the code of a mention, which need not be scored."""
        code = self._known.get(place)
        return self._fresh.setdefault(place, self._begin + len(self._fresh)) if code is None else code


def _collect(files: tuple[MentionTable, MentionTable], matched: Matched) -> tuple[tuple[Sets, Ints], tuple[Sets, Ints]]:
    """Collect the sets of both sides, each with the numbers that entities get where some are merged."""
    key, response = (_Collector(table, side.n_entities) for table, side in zip(files, matched.sides, strict=True))
    begin = 1 + max(int(side.mention.max(initial=0)) for side in matched.sides)
    for document in range(len(matched.key.names)):
        if not any(relations_of(table, document).antecedents for table in files):
            continue
        zeros = list_zeros(document, matched.key, matched.response)
        own, other = (places_by_entity(table, document, zeros) for table in (matched.key, matched.response))
        ours, theirs = (
            {place: int(side.mention[row]) for mentions in found.values() for row, place in mentions}
            for side, found in zip(matched.sides, (own, other), strict=True)
        )
        fresh: dict[Place, int] = {}
        key.take(document, set(own), _Codes(ours, theirs, fresh, begin))
        response.take(document, set(other), _Codes(theirs, ours, fresh, begin))
    return (key.sets(), key.merged), (response.sets(), response.merged)
