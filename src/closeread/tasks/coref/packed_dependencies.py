"""The enhanced dependencies of empty nodes, of which large files have more than fit into memory as lists of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from closeread.arrays import Ints

_SmallInts = NDArray[np.int32]


class PackedDependencies(Sequence[Sequence[tuple[int, str]]]):
    """The enhanced dependencies of empty nodes, made into pairs when they are asked for.

    Args:
        begin: (n_nodes + 1,) the first dependency of each node, and the number of all dependencies.
        parent: (n_dependencies,) the parent's token of each, -1 for the root.
        relation: (n_dependencies,) its relation, as an index into `names`.
        names: the distinct relations.
    """

    def __init__(self, begin: Ints, parent: _SmallInts, relation: _SmallInts, names: Sequence[str]) -> None:
        self._begin, self._parent, self._relation, self._names = begin, parent, relation, names

    def __len__(self) -> int:
        return len(self._begin) - 1

    @overload
    def __getitem__(self, index: int) -> list[tuple[int, str]]: ...
    @overload
    def __getitem__(self, index: slice) -> list[list[tuple[int, str]]]: ...
    def __getitem__(self, index: int | slice) -> list[tuple[int, str]] | list[list[tuple[int, str]]]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        here = slice(self._begin[number], self._begin[number + 1])
        names = map(self._names.__getitem__, self._relation[here].tolist())
        return list(zip(self._parent[here].tolist(), names, strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]
