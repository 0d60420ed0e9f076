"""Examples in the help of a command."""

from __future__ import annotations

import re
from collections.abc import Sequence

WIDTH = 75
"""The longest line; help indents it by 4."""


def format_examples(commands: Sequence[str]) -> str:
    """Return the paragraph of a help text that shows these commands, each without leading spaces."""
    title = "Examples:" if len(commands) > 1 else "Example:"
    return "\n".join(["\b", title, *(f"  {line}" for command in commands for line in break_lines(command))])


def break_lines(command: str) -> list[str]:
    r"""Break a long command before an option, as a shell accepts it.

    >>> print("\n".join(break_lines("closeread validate tne " + "long" * 9 + ".jsonl --config sample --missing skip")))
    closeread validate tne longlonglonglonglonglonglonglonglong.jsonl \
      --config sample --missing skip
    """
    places = [match.start() for match in re.finditer(r" (?=-)", command) if match.start() + 2 <= WIDTH]
    if len(command) <= WIDTH or not places:
        return [command]
    return [f"{command[: places[-1]]} \\", f"  {command[places[-1] + 1 :]}"]
