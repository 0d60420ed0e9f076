"""What Universal Anaphora annotates beside identity: split antecedents, non-referring markables, bridging, deixis.

Conventions: entities are named by their ids in the file, and mentions by their tokens, as in `columns`, so that these
relations stay valid when documents are put in another order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from closeread.tasks.coref.columns import MentionTable, Parts


class Bridging(NamedTuple):
    """A bridging anaphor.

    Attributes:
        anaphor: its tokens.
        anchor: the tokens of the mention that it is anchored to; None if only an entity is given.
    """

    anaphor: Parts
    anchor: Parts | None


@dataclass(frozen=True)
class DocumentRelations:
    """The relations of a document.

    Attributes:
        antecedents: the ids of the single antecedents of each entity with split antecedents, by its id.
        non_referring: the mentions of each non-referring entity, by its id.
        bridging: the bridging anaphors; the last one if a mention is annotated as several.
        unknown_markables: the number of bridging anaphors left out, because they or their anchors are no markables.
    """

    antecedents: Mapping[str, Sequence[str]] = field(default_factory=dict)
    non_referring: Mapping[str, Sequence[Parts]] = field(default_factory=dict)
    bridging: Sequence[Bridging] = ()
    unknown_markables: int = 0


@dataclass(frozen=True)
class Relations:
    """The relations of documents.

    Attributes:
        documents: those of each document, by its name.
        discourse_deixis: the mentions and entities of discourse deixis, which are a layer of their own; None if the
            file has no such layer, or if this is it.
    """

    documents: Mapping[str, DocumentRelations]
    discourse_deixis: MentionTable | None = None
