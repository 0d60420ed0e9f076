"""Check predictions before they are sent: as the judge will or, without gold, as far as possible."""

from __future__ import annotations

from pathlib import Path

from closeread.corpora.gold import load_corpus
from closeread.corpora.submissions import read_submission
from closeread.counts.sides import Place
from closeread.errors import FormatError, Problem, SubmissionError, join_names, pluralize
from closeread.leaderboard.declaration import Board
from closeread.scoring import Scorer, open_scorer

FORM_ONLY = "The gold of this board is private: only the form and the ids were checked; the judge checks the rest."


def check_predictions(board: Board, predictions: Path, gold: Path | None) -> tuple[str, ...]:
    """Check predictions for a board, and return notices about them.

    Args:
        board: the board.
        predictions: a file or a folder.
        gold: the organiser's own gold; None if it is not at hand.

    Raises:
        SubmissionError: they are invalid; all problems at once.
    """
    if board.own_gold and gold is None:
        _check_form(board, predictions)
        return (FORM_ONLY,)
    scorer: Scorer = board.open_scorer(gold)
    system = scorer.read(predictions)
    return (*scorer.gold.notices, *scorer.remarks(system))


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
