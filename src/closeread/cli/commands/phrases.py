"""`closeread phrases`."""

from __future__ import annotations

from closeread.cli.task_group import TaskGroup

command = TaskGroup(
    "phrases",
    help="""Make a list of event phrases, from which `closeread perturb mctaco candidates` retrieves.

    \b
    Examples:
      closeread phrases text novel.txt --spacy-model en_core_web_sm -o events.txt
      closeread phrases propbank propbank-frames/frames -o events.txt
    """,
    short_help="Make a list of event phrases.",
)
