"""`closeread extract`."""

from __future__ import annotations

from closeread.cli.task_group import TaskGroup

command = TaskGroup(
    "extract",
    help="""Extract a corpus's documents from files as they are distributed.

    \b
    Examples:
      closeread extract marmara_coref fragments/ -o treebank
      closeread extract marmara_coref fragments/ -o treebank \\
        --split 77000112003.5
    """,
    short_help="Extract the documents of a corpus.",
)
