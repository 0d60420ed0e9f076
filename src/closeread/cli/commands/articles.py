"""`closeread articles`."""

from __future__ import annotations

from closeread.cli.task_group import TaskGroup

command = TaskGroup(
    "articles",
    help="""Fetch the articles that a corpus annotates but does not contain.

    \b
    Example:
      closeread articles wikipossessions texts --as-of 2017-06-12
    """,
    short_help="Fetch the articles that a corpus annotates.",
)
