"""Errors of a response: split, merged, missing and spurious entities, missing and spurious mentions.

Conventions: an entity of the key is *split* if its mentions are in several entities of the response, and *missing* if
the response has none of them; an entity of the response is *merged* if it contains mentions of several entities of the
key, and *spurious* if it contains none.  Mentions that only the key has are missing, those that only the response has
are spurious, regardless of their entities.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from closeread.arrays import Ints, Mask
from closeread.exceptions import RequestError, join_names, quote
from closeread.suggestions import suggest
from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.coref.document_fields import list_fields
from closeread.tasks.coref.kernels.overlap import match_rows
from closeread.tasks.coref.kernels.sides import Side, mention_codes
from closeread.tasks.coref.mention_fields import FIELDS
from closeread.tasks.coref.slices import with_annotation

RIGHT = "right entity"
OF_ENTITIES = ("split entity", "merged entities", "missing entity", "spurious entity")
OF_MENTIONS = ("missing mention", "spurious mention")
KINDS = (*OF_ENTITIES, *OF_MENTIONS)
"""The kinds of errors."""

NOWHERE = -1


@dataclass(frozen=True)
class Findings:
    """The entities or mentions of a side that are of one kind.

    Attributes:
        kind: one of `KINDS`, or `RIGHT`.
        table: their side.
        rows: (n_findings,) the mention, or the first row of the entity.
        fields: the fields of mentions that they have: by name, the value of every row of the side.
        there: (n_rows,) the entity of every row of the side on the other side, or `NOWHERE`.
    """

    kind: str
    table: MentionTable
    rows: Ints
    fields: Mapping[str, Sequence[str]]
    there: Ints

    @property
    def documents(self) -> Ints:
        """The document of each, (n_findings,)."""
        return self.table.document[self.rows]

    def select(self, mask: Mask) -> Findings:
        """Return the findings where the mask is true."""
        return Findings(self.kind, self.table, self.rows[mask], self.fields, self.there)


@dataclass(frozen=True)
class ErrorAnalysis:
    """All errors of a response, and the entities that are identical on both sides.

    Attributes:
        findings: the findings of `RIGHT` and then of every kind in `KINDS`, each in the order of the file.
        names: the documents' names.
        document_fields: the fields of the documents by name, each (n_documents,).
        mention_fields: the names of the fields of mentions that both sides have.
    """

    findings: Mapping[str, Findings]
    names: Sequence[str]
    document_fields: Mapping[str, Sequence[str]]
    mention_fields: Sequence[str]

    @property
    def fields(self) -> list[str]:
        """The names of all fields."""
        return [*self.document_fields, *self.mention_fields]

    def select_document(self, name: str) -> ErrorAnalysis:
        """Return the findings of one document.

        Raises:
            RequestError: there is no such document.
        """
        if name not in self.names:
            guess = suggest(name, self.names)
            names = join_names(self.names)
            raise RequestError(f"no document {quote(name)} in the key{guess and '.'}{guess} (the key has {names})")
        number = list(self.names).index(name)
        found = {kind: some.select(some.documents == number) for kind, some in self.findings.items()}
        return ErrorAnalysis(found, self.names, self.document_fields, self.mention_fields)

    def list_kinds(self, field: str) -> list[str]:
        """List the kinds of findings that have a field: all kinds, or only those of mentions."""
        of_mentions = field in FIELDS and not FIELDS[field].is_of_entities
        return [kind for kind in self.findings if kind in OF_MENTIONS or not of_mentions]

    def values(self, kind: str, field: str) -> list[str]:
        """Return the value of a field for every finding of a kind; "" if the field is not one of such findings."""
        some = self.findings[kind]
        if field in self.document_fields:
            column = self.document_fields[field]
            return [column[number] for number in some.documents.tolist()]
        labels = some.fields.get(field)
        return [""] * len(some.rows) if labels is None else [labels[row] for row in some.rows.tolist()]

    def count(self) -> dict[str, int]:
        """Count the findings of each kind."""
        return {kind: len(some.rows) for kind, some in self.findings.items()}

    def count_documents(self, kinds: Iterable[str]) -> Ints:
        """Count the errors of some kinds in every document, (n_documents,)."""
        counts = np.zeros(len(self.names), np.int64)
        for kind in kinds:
            counts += np.bincount(self.findings[kind].documents, minlength=len(self.names))
        return counts


def find_errors(key: MentionTable, response: MentionTable, sides: tuple[Side, Side]) -> ErrorAnalysis:
    """Find the errors of a response.

    Args:
        key, response: the same documents in the same order.
        sides: the two as the metrics take them, with nothing dropped (`closeread.tasks.coref.matching.match_sides`).
    """
    own, other = sides
    key_row, response_row = match_rows(*mention_codes(*sides))
    there = (
        _find_there(own, key_row, other.entity[response_row]),
        _find_there(other, response_row, own.entity[key_row]),
    )
    labels = _label_mentions(key), _label_mentions(with_annotation(response, key))
    entities = [_sort_entities(side, its) for side, its in zip(sides, there, strict=True)]
    pairs = np.column_stack([own.entity[key_row], other.entity[response_row]])
    found = {
        RIGHT: (0, _find_right(sides, pairs)),
        "split entity": (0, entities[0][0]),
        "merged entities": (1, entities[1][0]),
        "missing entity": (0, entities[0][1]),
        "spurious entity": (1, entities[1][1]),
        "missing mention": (0, np.flatnonzero(there[0] == NOWHERE)),
        "spurious mention": (1, np.flatnonzero(there[1] == NOWHERE)),
    }
    findings = {}
    for kind, (side, rows) in found.items():
        fields = {name: of for name, of in labels[side].items() if kind in OF_MENTIONS or FIELDS[name].is_of_entities}
        findings[kind] = Findings(kind, (key, response)[side], rows, fields, there[side])
    return ErrorAnalysis(
        findings, key.names, list_fields(key), [name for name in FIELDS if all(name in of for of in labels)]
    )


def _find_there(side: Side, row: Ints, entity: Ints) -> Ints:
    """Return the entity of every row on the other side, or `NOWHERE`."""
    there = np.full(len(side.entity), NOWHERE)
    there[row] = entity
    return there


def _sort_entities(side: Side, there: Ints) -> tuple[Ints, Ints]:
    """Find the entities that are in several entities of the other side, and those in none; their first rows."""
    found = there != NOWHERE
    cells = np.unique(np.column_stack([side.entity[found], there[found]]), axis=0)[:, 0]
    parts = np.bincount(cells, minlength=side.n_entities)
    entities, first = np.unique(side.entity, return_index=True)
    return first[parts[entities] > 1], first[parts[entities] == 0]


def _find_right(sides: tuple[Side, Side], pairs: Ints) -> Ints:
    """Find the entities that are identical on both sides; their first rows in the key.

    Args:
        sides: both sides.
        pairs: (n_matches, 2) the entities of every mention that both sides have.
    """
    cells, shared = np.unique(pairs, axis=0, return_counts=True)
    whole = [np.bincount(side.entity, minlength=1)[cells[:, i]] == shared for i, side in enumerate(sides)]
    right = cells[whole[0] & whole[1], 0]
    entities, first = np.unique(sides[0].entity, return_index=True)
    return np.sort(first[np.isin(entities, right)])


def _label_mentions(table: MentionTable) -> dict[str, list[str]]:
    """Return the value of every field of mentions for every row, by field; without fields that the side lacks."""
    if not len(table.entity):
        return {name: [] for name in FIELDS}
    return {
        name: [field.parts[number] for number in field.number(table).tolist()]
        for name, field in FIELDS.items()
        if not field.lacks(table)
    }
