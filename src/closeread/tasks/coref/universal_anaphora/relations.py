"""What Universal Anaphora annotates beside identity: split antecedents, non-referring markables, bridging, deixis.

Conventions: entities are named by their ids in the file.  A mention is named by its place: the first and last word of
each of its parts, where words are numbered from 0 in their document, without zeros; or ``((-1 - n, i),)`` for the zero
number i, from 0, after n words.  So places stay valid when documents are put in another order, and when tokens get
other numbers because the other side has other zeros.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from closeread.exceptions import RequestError
from closeread.tasks.coref.spans import merge_runs

if TYPE_CHECKING:
    from closeread.tasks.coref.documents import Document, Documents, Mention

Place = tuple[tuple[int, int], ...]


class Bridging(NamedTuple):
    """A bridging anaphor, and the mention to which it is anchored; None if only an entity is given."""

    anaphor: Place
    anchor: Place | None


@dataclass(frozen=True)
class DocumentRelations:
    """The relations of a document; entities are given by their ids.

    Attributes:
        antecedents: the split antecedents of each entity that has any, without circles.
        non_referring: the mentions of the entities that do not refer.
        bridging: the bridging anaphors; the last one if a mention is annotated as several.
        unknown_markables: how many are left out, because the anaphor or its anchor is no markable.
    """

    antecedents: Mapping[str, Sequence[str]] = field(default_factory=dict)
    non_referring: Mapping[str, Sequence[Place]] = field(default_factory=dict)
    bridging: Sequence[Bridging] = ()
    unknown_markables: int = 0


NO_RELATIONS = DocumentRelations()


def find_single_antecedents(antecedents: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Replace antecedents that have antecedents of their own by these.

    >>> find_single_antecedents({"we": ["they", "I"], "they": ["Ann", "Bob"]})
    {'they': ['Ann', 'Bob'], 'we': ['Ann', 'Bob', 'I']}
    """
    single: dict[str, list[str]] = {}
    for entity in _order_by_antecedents(antecedents):
        names: dict[str, None] = {}
        for antecedent in antecedents[entity]:
            names.update(dict.fromkeys(single.get(antecedent, [antecedent])))
        single[entity] = list(names)
    return single


def find_circles(antecedents: Mapping[str, Sequence[str]]) -> list[str]:
    """Find the entities that are antecedents of themselves, directly or through others, or are between such entities."""
    circular = antecedents.keys() - _order_by_antecedents(antecedents)
    anaphors: dict[str, list[str]] = {}
    for entity in circular:
        for antecedent in antecedents[entity]:
            if antecedent in circular:
                anaphors.setdefault(antecedent, []).append(entity)
    # What needs circular entities, but is needed by none of them, is no part of a circle.
    circular &= anaphors.keys() - _order_by_antecedents(anaphors)
    return [entity for entity in antecedents if entity in circular]


def _order_by_antecedents(antecedents: Mapping[str, Sequence[str]]) -> list[str]:
    """Order entities so that their antecedents come before them; leave out circular ones and those that need these."""
    anaphors: dict[str, list[str]] = {}
    n_missing = {}
    for entity, names in antecedents.items():
        split = [name for name in names if name in antecedents]
        n_missing[entity] = len(split)
        for name in split:
            anaphors.setdefault(name, []).append(entity)
    order = [entity for entity, n in n_missing.items() if not n]
    # The list grows by the entities whose last missing antecedent was found.
    for antecedent in order:
        for entity in anaphors.get(antecedent, ()):
            n_missing[entity] -= 1
            if not n_missing[entity]:
                order.append(entity)
    return order


def find_place(parts: Sequence[tuple[int, int]], zeros: Sequence[int]) -> Place:
    """Return the place of a mention, given the tokens of its document that are zeros, in ascending order.

    >>> find_place([(2, 2), (4, 5)], [3]), find_place([(3, 3)], [0, 3])
    (((2, 4),), ((-3, 0),))
    """
    if not zeros:
        return tuple(parts)
    if len(parts) == 1 and parts[0][0] == parts[0][1]:
        number = bisect_left(zeros, parts[0][0])
        if zeros[number : number + 1] == [parts[0][0]]:
            words = zeros[number] - number
            first = number
            while first and zeros[first - 1] - (first - 1) == words:
                first -= 1
            return ((-1 - words, number - first),)
    return tuple(
        merge_runs(
            (start - bisect_left(zeros, start), end - bisect_left(zeros, end))
            for start, end in parts
        )
    )


def list_places(document: Document, zeros: Sequence[int]) -> list[list[Place]]:
    """Return the places of the mentions of each entity, given the tokens of the document that are zeros."""

    def find(mention: Mention) -> Place:
        return find_place(mention.spans, zeros)

    return [list(map(find, entity.mentions)) for entity in document.entities]


def list_zeros(*documents: Document) -> list[int]:
    """List the tokens that are zeros on any of some sides of a document, which number tokens alike."""
    tokens: set[int] = set()
    for document in documents:
        tokens.update(node.token for node in document.nodes)
    return sorted(tokens)


def select_deixis(documents: Documents) -> Documents:
    """Return the layer of discourse deixis, which may be empty."""
    if not documents.has_relations:
        raise RequestError(
            "layer 'discourse_deixis' needs Universal Anaphora files as key and response"
        )
    return documents.replaced(map(_select_deixis, documents.documents))


def _select_deixis(document: Document) -> Document:
    """Return the layer of discourse deixis of a document; without entities if it has none."""
    if document.deixis is None:
        return replace(document, entities=(), relations=NO_RELATIONS)
    return replace(document.deixis, name=document.name, file=document.file)
