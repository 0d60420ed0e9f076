"""Check predictions before they are sent: as the judge will or, without gold, as far as possible."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from closeread.corpus.submissions import drop_advice
from closeread.exceptions import Problem, SubmissionError
from closeread.leaderboard.declaration import Board

FORM_ONLY = "The gold of this board is private: only the form and the ids were checked; the judge checks the rest."
UNFIT = (
    "has the right form and ids, but does not fit the gold, which is private: check that texts, words and the ids "
    "inside documents are those that the organisers gave out"
)


class Checked(NamedTuple):
    """Predictions that passed the check.

    Attributes:
        notices: notices about them, one sentence each.
        value: the headline score, between 0 and 1; None if gold is not at hand, or the score is undefined.
    """

    notices: tuple[str, ...]
    value: float | None


def check_predictions(board: Board, predictions: Path, gold: Path | None) -> Checked:
    """Check predictions for a board.

    Args:
        board: the board.
        predictions: a file or a folder.
        gold: the organiser's own gold; None if it is not at hand.

    Raises:
        SubmissionError: they are invalid; all problems at once.
    """
    try:
        if board.own_gold and gold is None:
            check_form(board, predictions)
            return Checked((FORM_ONLY,), None)
        scorer = board.open_scorer(gold)
        system = scorer.read(predictions)
    except SubmissionError as error:
        raise SubmissionError(error.source, drop_advice(error.problems)) from None
    headline = [metric for metric in scorer.procedure.metrics if metric.name == board.headline]
    value = scorer.tabulate(system.rows).scores(headline)[board.headline]
    return Checked((*scorer.gold.notices, *scorer.remarks(system)), value)


def check_form(board: Board, predictions: Path) -> None:
    """Check what can be checked without gold: the form of the file, and the ids.

    Raises:
        SubmissionError: it is invalid; all problems at once.
        RequestError: it lacks something that the options need.
    """
    board.procedure.sides.check_form(board.corpus, board.ids, predictions, board.options)


def keep_public(board: Board, predictions: Path, problems: Sequence[Problem]) -> Sequence[Problem]:
    """Return the problems of predictions that may be published: of private gold, those that are found without it.

    Other problems may quote gold, and even which of them there are says something about it.
    """
    if not board.private:
        return problems
    try:
        check_form(board, predictions)
    except SubmissionError as error:
        return error.problems
    return [Problem(UNFIT)]
