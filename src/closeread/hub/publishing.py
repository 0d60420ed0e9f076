"""Publish files as a repository of the Hub: all of them in one commit, or none.

A plan says what a repository is to hold.  Files that it has already are not sent again, so that publishing twice
changes nothing.  Other files of the repository are kept, except those that only we write (`Plan.owned`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from closeread.hub.client import Commit, Content, Hub, Repository


@dataclass(frozen=True)
class Plan:
    """What a repository is to hold, by path; files of the patterns in `owned` that the plan lacks are deleted."""

    repository: Repository
    files: Mapping[str, Content]
    owned: tuple[str, ...] = ()

    def sizes(self) -> dict[str, int]:
        """Return the sizes of the files in bytes, by path, sorted."""
        return {
            path: len(content) if isinstance(content, bytes) else content.stat().st_size
            for path, content in sorted(self.files.items())
        }


class Change(NamedTuple):
    """What publishing does to a file: its path, its size in bytes (of a deleted file, before) and what happens."""

    path: str
    size: int
    kind: Literal["new", "changed", "unchanged", "deleted", "unknown"]


def compare(hub: Hub, plan: Plan) -> list[Change]:
    """Compare a plan with what the repository holds: all files of the plan, and those that would be deleted, sorted."""
    if hub.head(plan.repository) is None:
        return [Change(path, size, "new") for path, size in plan.sizes().items()]
    there = hub.list_files(plan.repository)
    _, differing, _ = hub.compare(plan.repository, plan.files)
    changes = [
        Change(path, size, "unchanged" if path not in differing else "changed" if path in there else "new")
        for path, size in plan.sizes().items()
    ]
    changes += [
        Change(path, size, "deleted")
        for path, size in there.items()
        if path not in plan.files and any(matches(path, pattern) for pattern in plan.owned)
    ]
    return sorted(changes)


def matches(path: str, pattern: str) -> bool:
    """Tell whether a path matches a pattern; `*` does not match `/`."""
    parts, patterns = path.split("/"), pattern.split("/")
    return len(parts) == len(patterns) and all(map(fnmatchcase, parts, patterns))


def publish(hub: Hub, plan: Plan, *, message: str, private: bool = False) -> tuple[list[Change], Commit | None]:
    """Make a repository hold what a plan says, in one commit, which is None if there is nothing to change."""
    head = hub.head(plan.repository)
    if head is None or private:  # of a repository that exists, this checks that it is private
        hub.create(plan.repository, private=private or None)
        head = hub.head(plan.repository)
    changes = compare(hub, plan)
    gone = [change.path for change in changes if change.kind == "deleted"]
    if not gone and all(change.kind == "unchanged" for change in changes):
        return changes, None
    return changes, hub.commit(plan.repository, plan.files, message=message, delete=gone, parent=head)
