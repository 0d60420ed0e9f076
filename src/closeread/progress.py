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

    def show_with_prefix(activity: str, n_done: int, total: int) -> None:
        if show is not None:
            show(f"{prefix}: {activity}", n_done, total)

    with showing_progress(show_with_prefix):
        yield


def report_progress(activity: str, n_done: int, total: int) -> None:
    """Show the progress of an activity, such as "predicting"."""
    show = _show.get()
    if show is not None:
        show(activity, n_done, total)


def track(tasks: Iterable[T], activity: str, total: int) -> Iterator[T]:
    """Yield tasks, and show how many of the total are done; the activity is such as "predicting"."""
    report_progress(activity, 0, total)
    for n_done, task in enumerate(tasks, 1):
        yield task
        report_progress(activity, n_done, total)
