"""`closeread plot`."""

from __future__ import annotations

from closeread.cli.task_group import TaskGroup

command = TaskGroup(
    "plot",
    help="""Draw a figure.

    \b
    Examples:
      closeread plot possession "The Blue Kettle (painting)" --config sample \\
        -o kettle.png
      closeread plot prepositions --config sample -o prepositions.png
      closeread plot timeline "Mara Lindqvist" --config sample -o lindqvist.png
    """,
)
