"""Rules for records that a schema can't express: `RULES` in the module `rules` of a task, by definition name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from closeread.records import Record
from closeread.tasks import find

Finding = tuple[int, str]
"""The index of a record, and what is wrong or unusual about it."""


def _find_nothing(records: Sequence[Record]) -> Iterable[Finding]:
    del records
    return ()


def _describe_nothing(records: Sequence[Record]) -> Iterable[str]:
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
    """Rules for the records of one definition, and for the predictions for them, that a schema can't express.

    Attributes:
        find_inconsistencies: finds what is wrong with gold records, all of which match the schema.
        find_oddities: finds what is unusual about gold records, for notices of one sentence each.
        find_odd_rows: finds what is unusual about a system's valid rows, given the gold records.
        is_scored: returns whether a gold record is scored.
    """

    find_inconsistencies: Callable[[Sequence[Record]], Iterable[Finding]] = _find_nothing
    find_oddities: Callable[[Sequence[Record]], Iterable[str]] = _describe_nothing
    find_odd_rows: Callable[[Sequence[Record], Sequence[Record]], Iterable[Finding]] = _find_no_rows
    is_scored: Callable[[Record], bool] = _score_all


def load_rules(task: str, definition: str = "document") -> Rules:
    """Load the rules of a task for records of a definition of the schema; no rules if the task has none."""
    module = find(task, "rules")
    rules = {} if module is None else cast(Mapping[str, Rules], module.RULES)
    return rules.get(definition, Rules())
