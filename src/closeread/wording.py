"""How messages name options: `--missing empty` on the command line, `missing='empty'` in Python.

What finds a problem does not know who called it, so a context variable does: notes and problems are worded far below
the entry point, and threads and tasks of other callers must not be affected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_is_command_line: ContextVar[bool] = ContextVar("is_command_line", default=False)

PLACEHOLDER = re.compile(r"\{([a-z_]+)(?:=([^{}]+))?\}")


@contextmanager
def word_for_command_line() -> Iterator[None]:
    """Name options as the command line does, inside the block."""
    token = _is_command_line.set(True)
    try:
        yield
    finally:
        _is_command_line.reset(token)


def choose_words(command_line: str, python: str) -> str:
    """Return the words for the command line, or those for Python."""
    return command_line if _is_command_line.get() else python


def name_option(name: str, *values: str) -> str:
    """Name an option, or its values to choose from.

    Args:
        name: the keyword, with underscores; the command line writes it with hyphens.
        values: values to give it; none to name only the option.

    >>> name_option("missing", "empty", "skip"), name_option("data_dir")
    ("missing='empty' or missing='skip'", 'data_dir=')
    >>> with word_for_command_line():
    ...     name_option("missing", "empty", "skip"), name_option("data_dir")
    ('--missing empty or --missing skip', '--data-dir')
    """
    flag = f"--{name.replace('_', '-')}"
    if not values:
        return choose_words(flag, f"{name}=")
    return " or ".join(choose_words(f"{flag} {value}", f"{name}='{value}'") for value in values)


def fill_options(text: str) -> str:
    """Name the options in a text that is stored as data.

    >>> fill_options("see {upstream}"), fill_options("applied with {units=any}")
    ('see upstream=', "applied with units='any'")
    """
    return PLACEHOLDER.sub(lambda found: name_option(found[1], *filter(None, [found[2]])), text)
