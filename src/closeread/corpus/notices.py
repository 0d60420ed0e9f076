"""Warnings about loaded or scored data, each shown once, at the line of the user's code that loaded or scored it."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from closeread.exceptions import CloseReadWarning, escape_line

LIBRARIES = {"closeread", "datasets", "evaluate"}

_shown: set[str] = set()
"""The messages so far.  Python shows a warning again at every new line, so in every cell of a notebook, and whenever a
library has changed the filters of warnings since."""

_tell: ContextVar[Callable[[Iterable[str]], None] | None] = ContextVar("tell", default=None)


@contextmanager
def telling(tell: Callable[[Iterable[str]], None]) -> Iterator[None]:
    """Inside the block, pass new messages to a function, line by line, instead of warning."""
    lines_so_far: set[str] = set()

    def tell_new(messages: Iterable[str]) -> None:
        new_lines: list[str] = []
        for message in messages:
            new_lines += [line for line in message.splitlines() if line not in lines_so_far]
        lines_so_far.update(new_lines)
        tell(new_lines)

    token = _tell.set(tell_new)
    try:
        yield
    finally:
        _tell.reset(token)


def warn(message: str, times: int = 1) -> None:
    """Warn at the nearest calling line outside closeread and Hugging Face's libraries, unless this was shown before."""
    tell = _tell.get()
    if tell is not None:
        tell([message] * times)
        return
    if message in _shown:
        return
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_in_library(frame.f_globals):
        level += 1
        frame = frame.f_back
    repeated = f" ({times:,} times)" if times > 1 else ""
    warnings.warn(f"{message}{repeated}", CloseReadWarning, stacklevel=level)
    # Not reached if the user has made warnings errors.
    _shown.add(message)


def _is_in_library(variables: Mapping[str, object]) -> bool:
    return str(variables.get("__name__")).split(".")[0] in LIBRARIES


def warn_all(messages: Iterable[str]) -> None:
    """Warn once of each distinct message, without the control characters that names in files may have."""
    tell = _tell.get()
    if tell is not None:
        tell(messages)
        return
    for message, times in Counter(messages).items():
        warn(escape_line(message), times)


def name_systems(notices: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the notices of each system, by its name, each once; those that not all have begin with the names."""
    systems_by_notice: dict[str, list[str]] = {}
    for system, messages in notices.items():
        for message in dict.fromkeys(messages):
            systems_by_notice.setdefault(message, []).append(system)
    named = []
    for message, systems in systems_by_notice.items():
        is_named = len(systems) == len(notices) or message.startswith(systems[0])
        named.append(message if is_named else f"{', '.join(systems)}: {message}")
    return named
