"""`closeread adjudicate`."""

from __future__ import annotations

from closeread.cli.task_group import TaskGroup

command = TaskGroup(
    "adjudicate",
    help="""Merge the labels of several annotators into gold.

    \b
    Examples:
      closeread adjudicate mctaco anna.jsonl ben.jsonl cleo.jsonl -o kept.jsonl
      closeread adjudicate tne anna.jsonl ben.jsonl -o agreed.jsonl
      closeread adjudicate coref anna.conll ben.conll cleo.conll -o gold.conll
    """,
)
