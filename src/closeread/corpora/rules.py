"""What no schema can say of a corpus's records: the module `rules` of a task offers `RULES`, by definition name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from closeread.records import Record
from closeread.tasks import find

Finding = tuple[int, str]
"""The index of a record, and what is wrong with it or odd about it."""


def _find_nothing(records: Sequence[Record]) -> Iterable[Finding]:
    del records
    return ()


def _say_nothing(records: Sequence[Record]) -> Iterable[str]:
    del records
    return ()


def _find_no_rows(rows: Sequence[Record], gold: Sequence[Record]) -> Iterable[Finding]:
    del rows, gold
    return ()


def _score_all(record: Record) -> bool:
    del record
    return True


@dataclass(frozen=True)
class Rules:
    """What no schema can say of the records of one definition, and of what systems send for them.

    Attributes:
        find_inconsistencies: what is wrong with gold records that fit the schema; other records are not passed.
        find_oddities: what a user should know about gold records, one sentence each.
        find_odd_rows: what is odd about valid rows of a system, given the gold records.
        is_scored: whether a gold record is scored.
    """

    find_inconsistencies: Callable[[Sequence[Record]], Iterable[Finding]] = _find_nothing
    find_oddities: Callable[[Sequence[Record]], Iterable[str]] = _say_nothing
    find_odd_rows: Callable[[Sequence[Record], Sequence[Record]], Iterable[Finding]] = _find_no_rows
    is_scored: Callable[[Record], bool] = _score_all


def load_rules(task: str, definition: str = "document") -> Rules:
    """The rules of a task for records of a definition of the schema; none where the task has none."""
    module = find(task, "rules")
    rules = {} if module is None else cast(Mapping[str, Rules], module.RULES)
    return rules.get(definition, Rules())
