"""Operations on temporal links: commands, and functions in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from closeread.parameters import Operations, Param, Sources

if TYPE_CHECKING:
    from closeread.counts.results import Result


def agreement(annotators: Annotated[Sources, Param(metavar="FILES...")]) -> Result:
    """Measure the agreement of annotators of temporal links.

    Each file or folder, as for `closeread score tlinks`, is an annotator, and all have the same documents and ids.
    The second annotator is scored against the first.  Of more than two, every two are compared, and F1 is averaged
    over pairs.

    \b
    Examples:
      closeread agreement tlinks anna/ ben/
      closeread agreement tlinks anna.tml ben.tml cem.tml --json
    """
    from closeread.tasks.tlinks.agreement import compare_annotators

    return compare_annotators(annotators)


OPERATIONS: Operations = {"agreement": {"tlinks": agreement}}
