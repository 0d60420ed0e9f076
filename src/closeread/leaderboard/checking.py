"""Check predictions before they are sent: as the judge will or, without gold, as far as possible."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from closeread.corpora.gold import load_corpus
from closeread.corpora.submissions import read_submission
from closeread.counts.sides import Place
from closeread.errors import FormatError, Problem, SubmissionError, join_names, pluralize
from closeread.leaderboard.declaration import Board
from closeread.scoring import open_scorer

FORM_ONLY = "The gold of this board is private: only the form and the ids were checked; the judge checks the rest."


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
    if board.own_gold and gold is None:
        _check_form(board, predictions)
        return Checked((FORM_ONLY,), None)
    scorer = board.open_scorer(gold)
    system = scorer.read(predictions)
    headline = [metric for metric in scorer.procedure.metrics if metric.name == board.headline]
    value = scorer.tabulate(system.rows).scores(headline)[board.headline]
    return Checked((*scorer.gold.notices, *scorer.remarks(system)), value)


def _check_form(board: Board, predictions: Path) -> None:
    """Check what can be checked without gold: the form of the file, and the ids.

    Raises:
        SubmissionError: it is invalid; all problems at once.
    """
    if board.corpus is not None:
        corpus = load_corpus(board.corpus)
        named = [{corpus.key: name} for name in board.ids]
        read_submission(predictions, corpus, named, board.options.get("missing", "error"))
        return
    try:  # a response has the form of a key
        found = open_scorer(board.scored, Place(gold=predictions), board.options, board.metrics)
    except FormatError as error:
        raise SubmissionError(error.source, error.problems) from None
    names = set(found.procedure.sides.names(found.gold))
    unknown, absent = sorted(names - set(board.ids)), sorted(set(board.ids) - names)
    unit = board.procedure.unit
    problems = []
    if unknown:
        problems.append(Problem(f"{pluralize(len(unknown), unit)} not in the gold: {join_names(unknown)}"))
    if absent and board.options.get("missing") == "error":
        problems.append(Problem(f"{pluralize(len(absent), unit)} without a prediction: {join_names(absent)}"))
    if problems:
        raise SubmissionError(predictions, problems)
