"""`closeread build`."""

from __future__ import annotations

from closeread.cli.task_group import TaskGroup

command = TaskGroup(
    "build",
    help="""Build gold from annotations, or documents to annotate from plain texts.

    \b
    Examples:
      closeread build timeline events.jsonl -o timelines
      closeread build tne texts --spacy-model en_core_web_sm -o documents.jsonl
    """,
    short_help="Build gold, or documents to annotate.",
)
