"""The problems of a file that may have millions of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from closeread.errors import FormatError, Problem

LISTED = 300
"""How many problems of a file are put into words; soon after so many its reader gives up."""


@dataclass
class Problems:
    """The first `LISTED` problems of a file, and the number of all that were found."""

    listed: list[Problem] = field(default_factory=list)
    total: int = 0

    def add(self, what: str, line: int | None = None, *, times: int = 1) -> None:
        """Take in a problem, and others that are only counted."""
        if len(self.listed) < LISTED:
            self.listed.append(Problem(what, line))
        self.total += times

    def raise_any(self, path: Path) -> None:
        """Raise what was found, in the order of the file."""
        if not self.total:
            return
        problems = sorted(self.listed, key=lambda problem: problem.line or 0)
        if self.total > len(problems):
            problems.insert(0, Problem(f"has {self.total:,} problems or more; {len(problems)} of them are named"))
        raise FormatError(path, problems)
