"""`closeread predict`."""

from __future__ import annotations

from closeread.cli.task_group import TaskGroup

command = TaskGroup(
    "predict",
    help="""Predict with a trained model.

    \b
    Example:
      closeread predict tne run --split test -o predictions.jsonl
    """,
    short_help="Predict with a trained model.",
)
