"""Bridging relations and split antecedents in CorefUD files, which are validated and counted, but not scored.

Conventions: ``Bridge=e1<e5:subset`` relates entity e5 to e1, ``SplitAnte=e3<e11,e4<e11`` gives e11 the antecedents e3
and e4; ids may be those of entities that follow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from closeread.exceptions import pluralize, quote
from closeread.formats.problems import Problems

# Items of a list, each from a comma or the begin of the value to a comma or its end.
BRIDGE = re.compile(r"(?:\A|(?<=,))([^<>,]+)<([^<>,:]+)(?::[^<>,]*)?(?=,|\Z)")
SPLIT_ANTECEDENT = re.compile(r"(?:\A|(?<=,))([^<>,]+)<([^<>,]+)(?=,|\Z)")


class RelationReader:
    """Reader of the relations of a file.

    Args:
        problems: collects the problems.
    """

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._n_bridging = 0
        self._split: set[tuple[int, str]] = set()

    def take_bridging(self, document: int, line: int, value: str) -> None:
        """Read a value of Bridge."""
        self._n_bridging += len(self._find(BRIDGE, value, line, "Bridge", "ID<ID or ID<ID:RELATION"))

    def take_split_antecedents(self, document: int, line: int, value: str) -> None:
        """Read a value of SplitAnte."""
        for _, entity in self._find(SPLIT_ANTECEDENT, value, line, "SplitAnte", "ID<ID"):
            self._split.add((document, entity))

    def describe(self) -> Iterator[str]:
        """Say how many there are."""
        found = [pluralize(len(self._split), "split antecedent")] if self._split else []
        found += [pluralize(self._n_bridging, "bridging relation")] if self._n_bridging else []
        if found:
            is_one = len(self._split) + self._n_bridging == 1
            yield f"{' and '.join(found)} {'is' if is_one else 'are'} not scored"

    def _find(self, pattern: re.Pattern[str], value: str, line: int, name: str, expected: str) -> list[tuple[str, str]]:
        """Return the pairs of entities in a value; report what is invalid."""
        pairs: list[tuple[str, str]] = pattern.findall(value)
        if len(pairs) > value.count(",") and all(one != other for one, other in pairs):
            return pairs
        for text in value.split(","):
            match = pattern.fullmatch(text)
            if not match or match[1] == match[2]:
                found = f"column 10: {quote(text)} is not a valid {name}"
                self._problems.add(f"{found} (expected {expected} with two entities, several separated by ',')", line)
        return []
