"""Ids of timelines as names of files."""

from __future__ import annotations

from collections.abc import Sequence

from closeread import limits
from closeread.exceptions import Problem, quote
from closeread.formats.folders import find_unwritable
from closeread.tasks.timeline.timeline_mentions import stem_of_id


def find_unwritable_ids(ids: Sequence[str], suffix: str) -> list[Problem]:
    """Find why a folder of timelines with these ids can't be written and read again."""
    below: dict[str | None, list[str]] = {}
    for name in ids:
        split, slash, own = name.rpartition("/")
        below.setdefault(split if slash else None, []).append(own)
    problems = [] if ids else [Problem("there are no timelines (expected at least one)")]
    if None in below and len(below) > 1:
        named = " and ".join(
            quote(next(name for name in ids if ("/" in name) is is_below)) for is_below in (True, False)
        )
        problems.append(Problem(f"ids {named}: all or none must begin with a split"))
    problems += find_unwritable([split for split in below if split is not None])
    for names in below.values():
        if len(names) > limits.MAX_FILES:
            problems.append(Problem(f"there are {len(names):,} timelines (limit of a folder: {limits.MAX_FILES:,})"))
        problems += find_unwritable(names, suffix)
        read = ((name, stem_of_id(name)) for name in names)
        problems += [
            Problem(f"{quote(name)} would be read again as {quote(other)}") for name, other in read if other != name
        ]
    return problems
