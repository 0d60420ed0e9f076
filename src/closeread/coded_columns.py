"""Columns of texts that are stored without an object for each row: by number, as numbers with a prefix, or packed.

A corpus of a million rows repeats its sentences, questions and labels, so a number of four bytes stands for each.
NumPy is imported only when a column is used, since help imports this module.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain, islice
from operator import ne
from typing import TYPE_CHECKING, Generic, TypeVar, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from closeread.arrays import Ints, Mask

T = TypeVar("T", str, bytes)

CODES = 2**14
"""How many texts of a column are made at once."""


class LazyColumn(Sequence[str]):
    """A column of texts that are made when they are asked for; equal to any sequence of the same texts."""

    def take(self, rows: Ints | slice) -> list[str]:
        """Return the texts of some rows, given their numbers (m,)."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(self.take(slice(begin, begin + CODES)) for begin in range(0, len(self), CODES))

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return self.take(index)
        return self.pick(range(len(self))[index])

    def pick(self, row: int) -> str:
        """Return the text of a row, given its number."""
        return self.take(slice(row, row + 1))[0]

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Sequence) and not isinstance(other, str) and list(self) == list(other)
        )

    __hash__ = None  # type: ignore[assignment]


class CodedColumn(LazyColumn):
    """Texts by number.

    Args:
        codes: (n,) int32, the number of each row's text; numbered from 0 without gaps in order of first appearance.
        values: the text of each number; all are distinct.
    """

    def __init__(self, codes: NDArray[np.int32], values: Sequence[str]) -> None:
        self.codes = codes
        self.values = values

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: Ints | slice) -> list[str]:
        """Return the texts of some rows, given their numbers (m,)."""
        return list(map(self.values.__getitem__, self.codes[rows].tolist()))

    def first_rows(self) -> Ints:
        """Return the first row of each value, (n_values,)."""
        import numpy as np

        before = np.maximum.accumulate(np.concatenate([[-1], self.codes]))[:-1]
        return np.flatnonzero(self.codes > before)

    def split(self, separator: str) -> tuple[CodedColumn, CodedColumn]:
        """Return the texts before and after a separator, which occurs once in each text."""
        texts = separator.join(self.values).split(separator)  # one flat list: many small ones take five times as long
        return self.recode(texts[: 2 * len(self.values) : 2]), self.recode(texts[1::2])

    def recode(self, values: Sequence[str]) -> CodedColumn:
        """Return a column with other values, several of which may be the same."""
        import numpy as np

        if len(set(values)) == len(values):
            return CodedColumn(self.codes, values)
        distinct = {value: number for number, value in enumerate(dict.fromkeys(values))}
        return CodedColumn(np.array([distinct[value] for value in values], np.int32)[self.codes], list(distinct))

    def is_constant_in(self, groups: CodedColumn) -> bool:
        """Return whether rows with the same text in another column have the same text in this one."""
        return bool((self.codes[groups.first_rows()][groups.codes] == self.codes).all())

    def equals(self, text: str) -> Mask:
        """Return which rows have a text, (n,)."""
        import numpy as np

        mask: Mask = np.array([value == text for value in self.values], np.bool_)[self.codes]
        return mask


class NumberedNames(LazyColumn):
    """Names that are a prefix and a number of at least five digits, each larger than the one before, so all distinct.

    Args:
        prefix: what the names begin with.
        numbers: (n,) the numbers, from 0, ascending.
    """

    def __init__(self, prefix: str, numbers: Ints) -> None:
        self.prefix = prefix
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, rows: Ints | slice) -> list[str]:
        """Return the names of some rows, given their numbers (m,)."""
        prefix, numbers = self.prefix, self.numbers[rows].tolist()
        if numbers and min(numbers) >= 10_000:  # without a format, which takes twice as long
            return [f"{prefix}{number}" for number in numbers]
        return [f"{prefix}{number:05d}" for number in numbers]


class PackedTexts(LazyColumn):
    """Texts in one piece, so that none is an object.

    Args:
        data: the texts in UTF-8, one after the other.
        bounds: (n + 1,) where each begins, and where the last ends.
    """

    def __init__(self, data: bytes, bounds: Ints) -> None:
        self.data = data
        self.bounds = bounds

    @classmethod
    def pack(cls, texts: Iterable[str]) -> PackedTexts:
        """Pack texts.

        Raises:
            UnicodeEncodeError: one contains a lone surrogate.
        """
        import numpy as np

        encoded = [text.encode() for text in texts]
        return cls(b"".join(encoded), np.cumsum([0, *map(len, encoded)]))

    @classmethod
    def join(cls, parts: Sequence[PackedTexts]) -> PackedTexts:
        """Return the texts of several parts."""
        import numpy as np

        starts = accumulate((len(part.data) for part in parts), initial=0)
        bounds = [part.bounds[1:] + start for part, start in zip(parts, starts, strict=False)]
        return cls(b"".join([part.data for part in parts]), np.concatenate([[0], *bounds]))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def take(self, rows: Ints | slice) -> list[str]:
        """Return the texts of some rows, given their numbers (m,)."""
        data, ends = self.data, self.bounds[1:][rows].tolist()
        return [data[begin:end].decode() for begin, end in zip(self.bounds[:-1][rows].tolist(), ends, strict=True)]

    def pick(self, row: int) -> str:
        """Return the text of a row, given its number."""
        return self.data[self.bounds[row] : self.bounds[row + 1]].decode()


class Coder(Generic[T]):
    """Numbers the texts of a column, some at a time, in order of first appearance.

    Args:
        in_runs: whether texts are mostly the same as the one before, which is then faster.
    """

    def __init__(self, *, in_runs: bool = False) -> None:
        self._numbers: defaultdict[T, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__  # a new text gets the next number
        self._codes: list[NDArray[np.int32]] = []
        self._in_runs = in_runs

    def add(self, texts: Sequence[T]) -> None:
        """Add some texts."""
        import numpy as np

        number = self._numbers.__getitem__
        if not self._in_runs:
            self._codes.append(np.fromiter(map(number, texts), np.int32, len(texts)))
        elif texts:
            changes = np.fromiter(map(ne, islice(texts, 1, None), texts), np.bool_, len(texts) - 1)
            starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
            codes = np.array([number(texts[start]) for start in starts.tolist()], np.int32)
            self._codes.append(np.repeat(codes, np.diff(starts, append=len(texts))))

    def finish(self, convert: Callable[[T], str], limit: int | None = None) -> CodedColumn:
        """Return the column.

        Args:
            convert: what makes a text of each distinct one; several may become the same.
            limit: how many rows to keep at most; None for all.
        """
        import numpy as np

        self._numbers.default_factory = None  # a cycle, which would keep the texts in memory
        codes = np.concatenate([*self._codes, np.empty(0, np.int32)])[:limit]
        n_used = int(codes.max(initial=-1)) + 1
        return CodedColumn(codes, ()).recode(list(map(convert, islice(self._numbers, n_used))))
