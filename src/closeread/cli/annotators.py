"""Files of several annotators for commands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from closeread.counts.annotators import Annotator


def name_files(paths: Sequence[Path]) -> list[Annotator]:
    """Return annotators who are named by their files."""
    from closeread.counts.annotators import Annotator

    return [Annotator(str(path), path) for path in paths]
