"""`closeread train`."""

from __future__ import annotations

from closeread.cli.task_group import TaskGroup

command = TaskGroup(
    "train",
    help="""Train a model of a corpus's paper.

    Needs torch and transformers: pip install 'closeread[neural]'.

    \b
    Example:
      closeread train tne --encoder SpanBERT/spanbert-base-cased -o run
    """,
    short_help="Train a model.",
)
