"""The problems of a file that may have millions of them: the first of each kind, with the number of the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import SupportsIndex

from closeread import limits
from closeread.exceptions import NAMED, Problem

UNLISTED = "another problem, not listed"


class ProblemList(list[Problem]):
    """A list of problems that stays short.

    It keeps the first `limits.MAX_PROBLEMS` problems, and after them a few of each kind; the first of a kind then
    counts the others (`Problem.times`).  Beyond `limits.MAX_KINDS` kinds, all others are one kind.

    Args:
        problems: what to begin with.

    >>> problems = ProblemList(Problem("is empty", line) for line in range(1, 1001))
    >>> len(problems), problems[0].times, problems[1].times
    (300, 701, 1)
    """

    def __init__(self, problems: Iterable[Problem] = ()) -> None:
        super().__init__()
        self._kinds: dict[tuple[str, ...], tuple[int, int]] = {}  # the place of the first, and how many are kept
        self.extend(problems)

    def append(self, problem: Problem) -> None:
        """Add a problem, or count it."""
        kind = problem.kind
        if kind not in self._kinds and len(self._kinds) >= limits.MAX_KINDS:
            kind, problem = (UNLISTED,), problem._replace(what=UNLISTED, path=(), about="", record="")
        first, kept = self._kinds.get(kind, (len(self), 0))
        if kept and len(self) >= limits.MAX_PROBLEMS and kept > NAMED:
            self[first] = self[first]._replace(times=self[first].times + problem.times)
        else:
            self._kinds[kind] = first, kept + 1
            super().append(problem)

    def extend(self, problems: Iterable[Problem]) -> None:
        """Add problems one by one."""
        for problem in problems:
            self.append(problem)

    def __iadd__(self, problems: Iterable[Problem]) -> ProblemList:  # type: ignore[override,misc]
        """Add problems one by one."""
        self.extend(problems)
        return self

    def insert(self, place: SupportsIndex, problem: Problem) -> None:
        """Refuse to insert, since the places of others would change.

        Raises:
            TypeError: always.
        """
        raise TypeError("problems can only be added at the end")


def count_problems(problems: Iterable[Problem]) -> int:
    """Return how many problems these are, with those that are only counted."""
    return sum(problem.times for problem in problems)
