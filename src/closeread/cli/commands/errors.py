"""`closeread errors`."""

from __future__ import annotations

from closeread.cli.task_group import TaskGroup

command = TaskGroup(
    "errors",
    help="""Count and list the errors of a system, or of annotators.

    \b
    Examples:
      closeread errors coref key.conll response.conll
      closeread errors chains gold.conll anna.conll ben.conll
      closeread errors tne predictions.jsonl --split test
      closeread errors mctaco predictions.jsonl --by category
    """,
)
