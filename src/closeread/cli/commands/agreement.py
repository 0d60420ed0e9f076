"""`closeread agreement`."""

from __future__ import annotations

from closeread.cli.task_group import TaskGroup

command = TaskGroup(
    "agreement",
    help="""Measure the agreement of annotators.

    \b
    Examples:
      closeread agreement wikipossessions anna.csv ben.csv
      closeread agreement tne anna.jsonl ben.jsonl
      closeread agreement timeline anna/ ben/ cem/
      closeread agreement coref anna.conll ben.conll cem.conll
    """,
)
