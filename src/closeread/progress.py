"""Progress of long computations, shown by a handler such as the command line's; by default by none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
Progress = Callable[[str, int, int], None]
"""Is called with the name of the activity, the amount done, and the total."""

_show: ContextVar[Progress | None] = ContextVar("show", default=None)


@contextmanager
def showing_progress(show: Progress | None) -> Iterator[None]:
    """Show progress by this function inside the block."""
    token = _show.set(show)
    try:
        yield
    finally:
        _show.reset(token)


@contextmanager
def prefixing_progress(prefix: str) -> Iterator[None]:
    """Show progress inside the block as that of something, such as one of several runs."""
    show = _show.get()
    with showing_progress(
        None if show is None else lambda what, done, n: show(f"{prefix}: {what}", done, n)
    ):
        yield


def report_progress(what: str, done: int, total: int) -> None:
    """Show the progress of an activity, such as "predicting"."""
    if show := _show.get():
        show(what, done, total)


def track(items: Iterable[T], what: str, total: int) -> Iterator[T]:
    """Yield items, and show how many of the total are done; `what` is the activity, such as "predicting"."""
    report_progress(what, 0, total)
    for done, item in enumerate(items, 1):
        yield item
        report_progress(what, done, total)
