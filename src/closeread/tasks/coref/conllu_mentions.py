"""The mentions of CorefUD files, from all pieces of ``Entity=`` values at once.

Conventions: as in `closeread.tasks.coref.conllu_entities`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints
from closeread.tasks.coref.columns import Parts, nth_token
from closeread.tasks.coref.conllu_cells import NameNumbers, Pieces, SmallInts
from closeread.tasks.coref.conllu_entities import Discontinuous, Mention, Name, parse_name
from closeread.tasks.coref.kernels.brackets import match_brackets, number_by_first


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
    type_begin: SmallInts
    type_end: SmallInts


class PieceLinker:
    """Linker of the pieces of a file, those of many documents at a time.

    Args:
        batch: from how many pieces on those of complete documents are linked; None to link all at the end.

    Attributes:
        names: the numbers of the names in the pieces that are taken next.
    """

    def __init__(self, batch: int | None) -> None:
        self.names = NameNumbers()
        self._batch = self._enough = batch
        self._pieces: list[Pieces] = []
        self._n_pieces = 0
        self._found: list[Mentions] = []

    def take(self, pieces: Pieces) -> bool:
        """Take pieces, and link complete documents if there are enough; return whether these were valid."""
        self._pieces.append(pieces)
        self._n_pieces += len(pieces.name)
        if self._batch is None or self._enough is None or self._n_pieces < self._enough:
            return True
        joined = self._join()
        n_complete = int(np.searchsorted(joined.document, joined.document[-1])) if self._n_pieces else 0
        is_valid = self._link(joined, n_complete)
        self._enough = max(self._batch, 2 * self._n_pieces)  # a long document must not be joined again and again
        return is_valid

    def finish(self) -> Mentions | None:
        """Return the mentions of the file; None if the pieces that are left are invalid."""
        joined = self._join()
        if not self._link(joined, len(joined.name)):
            return None
        found, self._found = self._found, []
        columns = zip(*found, strict=True)
        document, start, end, entity, head, labels, parts, type_begin, type_end = columns
        return Mentions(
            document=np.concatenate(document),
            start=np.concatenate(start),
            end=np.concatenate(end),
            entity=_shift(entity, map(len, labels)),
            head=np.concatenate(head),
            labels=list(chain.from_iterable(labels)),
            parts=_chain_parts(parts, map(len, start)),
            type_begin=np.concatenate(type_begin),
            type_end=np.concatenate(type_end),
        )

    def _join(self) -> Pieces:
        return Pieces(*map(np.concatenate, zip(*self._pieces, strict=True)))

    def _link(self, pieces: Pieces, n_complete: int) -> bool:
        """Link the first pieces, and keep the others; return whether they were valid."""
        names = list(self.names)
        used, which = np.unique(pieces.name[n_complete:], return_inverse=True)
        self.names = NameNumbers({names[i]: number for number, i in enumerate(used.tolist())})
        rest = pieces.take(slice(n_complete, None))
        self._pieces, self._n_pieces = [rest._replace(name=which.astype(np.int32))], len(which)
        found = link_pieces(pieces.take(slice(n_complete)), names)
        self._found += [found] if found else []
        return found is not None


def _shift(entities: Sequence[Ints], sizes: Iterable[int]) -> Ints:
    """Number the entities of all batches, given the number of those of each."""
    return np.concatenate([one + start for one, start in zip(entities, accumulate(sizes, initial=0), strict=False)])


def _chain_parts(parts: Sequence[Mapping[int, Parts]], sizes: Iterable[int]) -> dict[int, Parts]:
    """Chain the parts of the mentions of all batches, given the number of mentions of each."""
    starts = accumulate(sizes, initial=0)
    return {start + i: spans for one, start in zip(parts, starts, strict=False) for i, spans in one.items()}


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
    spans = match_brackets(entity, pieces.opens, pieces.closes, np.argsort(entity, kind="stable"))
    if spans is None or (pieces.name[spans[0]] != pieces.name[spans[1]]).any():
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
    by_opening = np.argsort(opened)
    number, first = number_by_first(entity[opened[by_opening]])
    by_entity = np.argsort(number, kind="stable")
    order = by_opening[by_entity]
    place = np.argsort(order)[len(order) - len(joined) :].tolist()
    labels = list(numbers)
    return Mentions(
        document=pieces.document[opened][order].astype(np.int64),
        start=start[order],
        end=end[order],
        entity=number[by_entity],
        head=head[order],
        labels=[labels[i] for i in label[opened[by_opening[first]]].tolist()],
        parts={i: parts for i, mention in zip(place, joined, strict=True) if len(parts := _merge(mention.parts)) > 1},
        type_begin=pieces.type_begin[opened][order],
        type_end=pieces.type_end[opened][order],
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
