"""The problems of a file that may have millions of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from closeread import limits
from closeread.exceptions import FormatError, Problem


@dataclass
class Problems:
    """The first `limits.MAX_PROBLEMS` problems of a file, and the total number found."""

    listed: list[Problem] = field(default_factory=list)
    total: int = 0

    def add(self, what: str, line: int | None = None, *, file: str | None = None, times: int = 1) -> None:
        """Add a problem; with `times`, count it several times."""
        if len(self.listed) < limits.MAX_PROBLEMS:
            self.listed.append(Problem(what, line, file))
        self.total += times

    def add_lines(self, what: str, lines: Sequence[int]) -> None:
        """Add the same problem for several lines."""
        for line in lines[: limits.MAX_PROBLEMS]:
            self.add(what, line)
        self.total += len(lines[limits.MAX_PROBLEMS :])

    def raise_any(self, path: Path) -> None:
        """Raise a FormatError with the problems, in the order of the file, if there are any."""
        if not self.total:
            return
        problems = sorted(self.listed, key=lambda problem: problem.order)
        if self.total > len(problems):
            problems.insert(0, Problem(f"has at least {self.total:,} problems; only {len(problems)} are reported"))
        raise FormatError(path, problems)
