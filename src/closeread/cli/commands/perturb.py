"""`closeread perturb`."""

from __future__ import annotations

from closeread.cli.task_group import TaskGroup

command = TaskGroup(
    "perturb",
    help="""Rewrite the records of a corpus: normalize units, add candidate answers.

    \b
    Examples:
      closeread perturb mctaco units --config sample -o normal.jsonl
      closeread perturb mctaco candidates --config sample -o candidates.jsonl
    """,
    short_help="Rewrite the records of a corpus.",
)
