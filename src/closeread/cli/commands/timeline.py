"""`closeread timeline`: the former name of `closeread build timeline`, kept for scripts."""

from __future__ import annotations

from closeread.cli.task_group import TaskGroup

command = TaskGroup(
    "timeline",
    hidden=True,
    help="""Build timelines (alias of `closeread build timeline`).

    \b
    Example:
      closeread build timeline events.jsonl -o timelines
    """,
)
