"""Columns of Arrow as arrays and lists.

pyarrow's own conversions to NumPy import pandas if it is installed, and its functions of columns are a module of their
own: together they take longer to import than twenty files of counts take to read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, Mask

if TYPE_CHECKING:
    import pyarrow as pa


class Texts(NamedTuple):
    """A column of texts by number.

    Attributes:
        codes: (n,) int64, the number of each row's text, from 0; -1 for null.
        values: the text of each number; all are distinct.
    """

    codes: Ints
    values: Sequence[str]

    def take(self, stop: int) -> list[str]:
        """Return the texts of the first rows, none of which is null."""
        return list(map(self.values.__getitem__, self.codes[:stop].tolist()))

    def find(self, text: str) -> int:
        """Return the number of a text; the number of values, which no row has, if it does not occur."""
        return self.values.index(text) if text in self.values else len(self.values)


def list_floats(chunks: Sequence[pa.Array]) -> Floats:
    """Return a column of float64, (n,); null becomes NaN."""
    floats: Floats = np.concatenate([np.empty(0), *(_read_values(chunk, "f8") for chunk in chunks)])
    if any(chunk.null_count for chunk in chunks):
        floats[np.concatenate([_mark_null(chunk) for chunk in chunks])] = np.nan
    return floats


def list_ints(chunks: Sequence[pa.Array]) -> Ints:
    """Return a column of int64 without null, (n,)."""
    return np.concatenate([np.empty(0, np.int64), *(_read_values(chunk, "i8") for chunk in chunks)])


def list_bytes(chunks: Sequence[pa.Array], size: int) -> list[bytes | None]:
    """Return a column of bytes, of `size` each; None for null."""
    found: list[bytes | None] = []
    for chunk in chunks:
        data = chunk.buffers()[1].to_pybytes() if len(chunk) else b""
        places = range(size * chunk.offset, size * (chunk.offset + len(chunk)), size)
        is_null = _mark_null(chunk).tolist()
        found += [None if null else data[i : i + size] for i, null in zip(places, is_null, strict=True)]
    return found


def list_texts(chunks: Sequence[pa.Array]) -> Texts:
    """Return a column of texts, with or without dictionaries.

    Raises:
        ValueError: a text is not UTF-8, or not in its dictionary.
    """
    numbers: dict[str, int] = {}
    codes = [_number_texts(chunk, numbers) for chunk in chunks]
    return Texts(np.concatenate([np.empty(0, np.int64), *codes]), list(numbers))


def _number_texts(chunk: pa.Array, numbers: dict[str, int]) -> Ints:
    """Return the numbers of texts, (n,), -1 for null; new texts get the next numbers."""
    if not hasattr(chunk, "dictionary"):
        texts = chunk.to_pylist()
        return np.array([-1 if text is None else numbers.setdefault(text, len(numbers)) for text in texts], np.int64)
    is_null = _mark_null(chunk.indices)
    used, places = np.unique(_list_indices(chunk), return_inverse=True)
    texts = (chunk.dictionary[index].as_py() for index in used.tolist())
    codes = np.full(len(chunk), -1)
    codes[~is_null] = np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.int64)[places]
    return codes


def measure_texts(column: pa.DictionaryArray) -> int:
    """Return the bytes of all texts of a column, each as often as it occurs.

    Raises:
        ValueError: the column is not one of texts, or a text is not in the dictionary.
    """
    import pyarrow as pa

    if column.type.value_type != pa.string():
        raise ValueError(f"texts are {column.type.value_type}")
    used, texts = _list_indices(column), column.dictionary
    if not len(used):
        return 0
    ends = np.frombuffer(texts.buffers()[1], "i4")[texts.offset : texts.offset + len(texts) + 1]
    return int(np.diff(ends).astype(np.int64)[used].sum())


def _list_indices(column: pa.DictionaryArray) -> Any:
    """Return the places of texts in their dictionary, without those of null.

    Raises:
        ValueError: a text is not in the dictionary.
    """
    indices = column.indices
    used = _read_values(indices, f"i{indices.type.bit_width // 8}")[~_mark_null(indices)]
    texts = column.dictionary
    if texts.null_count or (len(used) and not 0 <= used.min() <= used.max() < len(texts)):
        raise ValueError("a text is not in its dictionary")
    return used


def _read_values(array: pa.Array, dtype: str) -> Any:
    """Return the values of an array of numbers, (n,); what stands in place of null is arbitrary."""
    if not len(array):
        return np.empty(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype)[array.offset : array.offset + len(array)]


def _mark_null(array: pa.Array) -> Mask:
    """Mark what is null, (n,)."""
    if not array.null_count:
        return np.zeros(len(array), np.bool_)
    bits = np.frombuffer(array.buffers()[0], np.uint8)
    valid = np.unpackbits(bits, count=array.offset + len(array), bitorder="little")
    is_null: Mask = valid[array.offset :] == 0
    return is_null
