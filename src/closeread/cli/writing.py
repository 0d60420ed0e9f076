"""Files that a command writes together."""

from __future__ import annotations

from pathlib import Path


def write_with(output: Path, text: str, second: Path | None, second_text: str) -> None:
    """Write a file and, if its path is given, a second one; if the second can't be written, neither is.

    Raises:
        OSError: one of them can't be written.
    """
    from closeread.files import replacing, write_text

    with replacing(output) as partial:
        partial.write_text(text, "utf-8", newline="")
        if second is not None:
            write_text(second, second_text)
