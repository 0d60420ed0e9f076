"""Notes on standard error: what a user should know about a result, or about the files that it comes from."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import click

from closeread.errors import escape


def tell(notices: Iterable[str]) -> None:
    """Print notices to standard error, each once."""
    for notice in dict.fromkeys(notices):
        click.echo(f"note: {escape(notice)}", err=True)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print the warnings raised in the block to standard error, as notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    tell(str(warning.message) for warning in caught if issubclass(warning.category, UserWarning))
