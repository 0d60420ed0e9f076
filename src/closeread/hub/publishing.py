"""Publish files as a repository of the Hub: all of them in one commit, or none.

A plan says what a repository is to hold.  Files that it has already are not sent again, so that publishing twice
changes nothing.  Other files of the repository are kept, except those that only we write (`Plan.owned`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from closeread.hub.repository import Commit, Hub, Repository

ChangeKind = Literal["new", "changed", "unchanged", "deleted", "unknown"]


@dataclass(frozen=True)
class Plan:
    """What a repository is to hold.

    Attributes:
        repository: the repository.
        files: contents, or files with the contents, by their path in the repository.
        owned: patterns of paths that only we write: such files are deleted if the plan lacks them.
    """

    repository: Repository
    files: Mapping[str, bytes | Path]
    owned: tuple[str, ...] = ()

    def sizes(self) -> dict[str, int]:
        """Return the sizes of the files in bytes, by path, sorted."""
        return {
            path: len(content) if isinstance(content, bytes) else content.stat().st_size
            for path, content in sorted(self.files.items())
        }

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        content = self.files[path]
        return content if isinstance(content, bytes) else content.read_bytes()


@dataclass(frozen=True)
class Change:
    """What publishing does to a file.

    Attributes:
        path: its path in the repository.
        size: its size in bytes, of a deleted file before.
        kind: what happens to it.
    """

    path: str
    size: int
    kind: ChangeKind


def compare(hub: Hub, plan: Plan) -> list[Change]:
    """Compare a plan with what the repository holds.

    Returns:
        A change for each file of the plan, and one for each file that would be deleted; sorted by path.

    Raises:
        RequestError: the Hub can't be reached, or doesn't let us read the repository.
    """
    exists = hub.head(plan.repository) is not None
    there = hub.list_files(plan.repository) if exists else {}
    changes = [Change(path, size, _compare_file(hub, plan, path, there)) for path, size in plan.sizes().items()]
    changes += [
        Change(path, size, "deleted")
        for path, size in there.items()
        if path not in plan.files and any(matches(path, pattern) for pattern in plan.owned)
    ]
    return sorted(changes, key=lambda change: change.path)


def _compare_file(hub: Hub, plan: Plan, path: str, there: Mapping[str, int]) -> ChangeKind:
    if path not in there:
        return "new"
    content = plan.read(path)
    # Sizes are listed, contents have to be fetched.
    same = there[path] == len(content) and hub.read(plan.repository, path) == content
    return "unchanged" if same else "changed"


def matches(path: str, pattern: str) -> bool:
    """Tell whether a path matches a pattern; `*` does not match `/`."""
    parts, patterns = path.split("/"), pattern.split("/")
    return len(parts) == len(patterns) and all(map(fnmatchcase, parts, patterns))


def publish(hub: Hub, plan: Plan, *, message: str, private: bool | None = None) -> tuple[list[Change], Commit | None]:
    """Make a repository hold what a plan says, in one commit.

    Args:
        hub: the Hub.
        plan: the plan.
        message: the first line of the commit's message.
        private: whether a new repository is private; None for the account's default.

    Returns:
        The changes, and the commit; None if there was nothing to change.

    Raises:
        RequestError: the repository can't be created or written, or somebody else changed it meanwhile.
    """
    head = hub.head(plan.repository)
    if head is None:
        hub.create(plan.repository, private=private)
        head = hub.head(plan.repository)
    changes = compare(hub, plan)
    sent = {change.path: plan.files[change.path] for change in changes if change.kind in ("new", "changed")}
    gone = [change.path for change in changes if change.kind == "deleted"]
    if not sent and not gone:
        return changes, None
    commit = hub.commit(plan.repository, sent, message=message, delete=gone, parent=head)
    return changes, commit
