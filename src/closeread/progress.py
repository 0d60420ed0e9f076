"""Progress of what takes long: shown by who knows how, such as the command line; nobody by default."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
Progress = Callable[[str, int, int], None]
"""Is called with what is being done, how much of it is done, and how much there is."""

_show: ContextVar[Progress | None] = ContextVar("show", default=None)


@contextmanager
def showing_progress(show: Progress | None) -> Iterator[None]:
    """Show progress by this function inside the block."""
    token = _show.set(show)
    try:
        yield
    finally:
        _show.reset(token)


def find_progress() -> Progress | None:
    """Return what shows progress; None if nothing does."""
    return _show.get()


def track(items: Iterable[T], what: str, total: int) -> Iterator[T]:
    """Yield items, and show how many of the total are done; `what` happens to them, such as "predicting"."""
    show = _show.get() or (lambda what, done, total: None)
    show(what, 0, total)
    for done, item in enumerate(items, 1):
        yield item
        show(what, done, total)
