"""`closeread convert`."""

from __future__ import annotations

from closeread.cli.task_group import TaskGroup

command = TaskGroup(
    "convert",
    help="""Convert a file to another format.

    \b
    Examples:
      closeread convert coref key.conllu -o key.conll
      closeread convert tne mine.jsonl --to arrays -o for_the_leaderboard.jsonl
      closeread convert timeline TimeLines_Gold_Standard -o timelines.jsonl
    """,
)
