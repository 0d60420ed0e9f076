"""The mentions of CorefUD files, from all pieces of ``Entity=`` values at once.

Conventions: as in `closeread.tasks.coref.conllu_entities`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints
from closeread.tasks.coref.columns import Parts, nth_token
from closeread.tasks.coref.conllu_cells import Pieces
from closeread.tasks.coref.conllu_entities import Discontinuous, Mention, Name, parse_name


class Mentions(NamedTuple):
    """Mentions, by entity and then in the order in which they open.

    Attributes:
        document, start, end, entity, head: (n_mentions,), as in `closeread.tasks.coref.columns.MentionTable`.
        labels: the ids of the entities.
        parts: the parts of discontinuous mentions.
        type_begin, type_end: (n_mentions,) where the type is in the bytes of the file.
    """

    document: Ints
    start: Ints
    end: Ints
    entity: Ints
    head: Ints
    labels: Sequence[str]
    parts: dict[int, Parts]
    type_begin: Ints
    type_end: Ints


def link_pieces(pieces: Pieces, names: Sequence[bytes]) -> Mentions | None:
    """Find the mentions; None if brackets don't match or anything else is invalid.

    Args:
        pieces: the pieces of all values.
        names: the distinct ids.
    """
    parsed = [parse_name(name.decode()) for name in names]
    valid = [name for name in parsed if name]
    if len(valid) < len(parsed):
        return None
    numbers: dict[str, int] = {}
    label = np.array([numbers.setdefault(name.label, len(numbers)) for name in valid], np.int64)[pieces.name]
    entity = pieces.document.astype(np.int64) * max(len(numbers), 1) + label
    spans = _match_brackets(entity, pieces)
    if spans is None:
        return None
    opened, closed = spans
    is_part = np.array([name.of > 1 for name in valid], bool)[pieces.name[opened]]
    joined = _join_parts(opened[is_part], closed[is_part], entity, pieces, valid)
    if joined is None:
        return None
    opened = np.concatenate([opened[~is_part], np.array([mention.opened for mention in joined], np.int64)])
    start = pieces.token[opened].astype(np.int64)
    end = np.concatenate([pieces.token[closed[~is_part]], np.array([m.parts[-1][1] for m in joined], np.int64)])
    head = start + np.maximum(pieces.head[opened], 1) - 1
    head[len(head) - len(joined) :] = [nth_token(mention.parts, mention.head or 1) for mention in joined]
    if (head > end).any():
        return None
    number, first = _number_entities(entity[opened], opened)
    order = np.lexsort((opened, number))
    place = np.argsort(order)[len(order) - len(joined) :].tolist()
    by_number = list(numbers)
    return Mentions(
        document=pieces.document[opened][order].astype(np.int64),
        start=start[order],
        end=end[order],
        entity=number[order],
        head=head[order],
        labels=[by_number[i] for i in label[first].tolist()],
        parts={i: parts for i, mention in zip(place, joined, strict=True) if len(parts := _merge(mention.parts)) > 1},
        type_begin=pieces.type_begin[opened][order].astype(np.int64),
        type_end=pieces.type_end[opened][order].astype(np.int64),
    )


def _merge(parts: Sequence[tuple[int, int]]) -> Parts:
    """Merge parts without a token between them."""
    merged = [parts[0]]
    for start, end in parts[1:]:
        if start == merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return tuple(merged)


def _match_brackets(entity: Ints, pieces: Pieces) -> tuple[Ints, Ints] | None:
    """Find the pieces that open and close each mention or part of one; None if brackets don't match.

    What opens last closes first, among the mentions of an entity and their parts.
    """
    step = pieces.opens.astype(np.int64) - pieces.closes
    order = np.argsort(entity, kind="stable")
    depth = np.cumsum(step[order])
    is_last = np.append(np.diff(entity[order]) != 0, True)[: len(order)]
    if (depth < 0).any() or depth[is_last].any():
        return None
    # The level of a mention is the number of open mentions of its entity: within a level, opens and closes alternate.
    level = np.where(step[order] < 0, depth + 1, depth)
    half = np.flatnonzero(step[order])
    half = half[np.lexsort((half, level[half], entity[order][half]))]
    single = np.flatnonzero(pieces.opens & pieces.closes)
    opened = np.concatenate([order[half[0::2]], single])
    closed = np.concatenate([order[half[1::2]], single])
    return (opened, closed) if (pieces.name[opened] == pieces.name[closed]).all() else None


def _number_entities(entity: Ints, opened: Ints) -> tuple[Ints, Ints]:
    """Number entities from 0 in the order in which they open; return that of each mention, and its first opening."""
    order = np.argsort(opened)
    _, first, inverse = np.unique(entity[order], return_index=True, return_inverse=True)
    rank = np.empty_like(first)
    rank[np.argsort(first)] = np.arange(len(first))
    number = np.empty_like(entity)
    number[order] = rank[inverse]
    return number, np.sort(opened[order][first])


def _join_parts(
    opened: Ints, closed: Ints, entity: Ints, pieces: Pieces, names: Sequence[Name]
) -> list[Mention] | None:
    """Join the parts of discontinuous mentions; None if any lacks parts, or has two heads."""
    mentions: list[Mention] = []
    by_entity: dict[int, Discontinuous] = defaultdict(Discontinuous)
    current: dict[int, Mention] = {}
    events = [(piece, False, i) for i, piece in enumerate(opened.tolist())]
    events += [(piece, True, i) for i, piece in enumerate(closed.tolist())]
    for piece, closes, i in sorted(events):
        name, token, head = names[pieces.name[piece]], int(pieces.token[piece]), int(pieces.head[piece])
        discontinuous = by_entity[int(entity[piece])]
        if closes:
            mention = current.pop(i)
            mention.parts[-1] = (mention.parts[-1][0], token)
            if discontinuous.close(name, mention):
                return None
            continue
        if name.part == 1:
            mentions.append(Mention(piece, 0, head))
            discontinuous.open(name, mentions[-1])
            found: Mention | None = mentions[-1]
        else:
            found = discontinuous.resume(name, token)
        if found is None or (head and found.head not in (0, head)):
            return None
        found.head = found.head or head
        found.parts.append((token, token))
        current[i] = found
    return None if any(one.incomplete for one in by_entity.values()) else mentions
