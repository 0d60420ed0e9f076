"""Bounds on the work of a document: kernels know documents by numbers, and messages by names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from closeread.arrays import LimitError
from closeread.exceptions import RequestError, quote


@contextmanager
def name_documents(names: Sequence[str], unit: str = "document") -> Iterator[None]:
    """Name the document that asks for more work than a kernel does.

    Args:
        names: the names of the documents, by the numbers that the kernel knows.
        unit: what a document is called.

    Raises:
        RequestError: instead of a LimitError.
    """
    try:
        yield
    except LimitError as error:
        raise RequestError(f"{unit} {quote(names[error.document])}: {error.what}") from None
