"""Files that a command writes together."""

from __future__ import annotations

from pathlib import Path


def write_with(output: Path, text: str, second: Path | None, second_text: str) -> None:
    """Write a file and, if its path is given, a second one; if the second can't be written, neither is.

    Raises:
        OSError: one of them can't be written.
    """
    from closeread.files import write_texts

    write_texts({output: text} if second is None else {output: text, second: second_text})
