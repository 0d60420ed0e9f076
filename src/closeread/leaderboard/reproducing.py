"""The exact command that reproduces a row of a leaderboard."""

from __future__ import annotations

import shlex

from closeread.leaderboard.declaration import Board
from closeread.leaderboard.store import HUB
from closeread.leaderboard.submission import PACKED, About, find_suffix

BASELINE = "baseline:"


def describe_reproduction(place: str, board: Board, subject: str, about: About) -> str:
    """Return the command that computes the scores of a row from its predictions.

    Args:
        place: the store; the command is for a shell in its folder if it is a folder, which others have elsewhere.
        board: the board.
        subject: the id of the submission, or "baseline:" and the name of a baseline.
        about: what the submitter says, with the path of the predictions.
    """
    is_on_hub = place.startswith(HUB)
    store = place if is_on_hub else "."
    if board.private:
        return shlex.join(["closeread", "leaderboard", "verify", store, "--gold", "GOLD"])
    part = [] if board.own_gold else _name_part(board)
    options = [f"--{name.replace('_', '-')}={value}" for name, value in _changed_options(board).items()]
    metrics = [] if board.metrics is None else [f"--metrics={','.join(board.metrics)}"]
    flags = [*part, *options, *metrics]
    if subject.startswith(BASELINE):
        name = subject.removeprefix(BASELINE)
        output = f"{name}.jsonl"
        made = shlex.join(["closeread", "baseline", str(board.corpus), name, *part, "-o", output])
        return f"{made} && {shlex.join(['closeread', 'score', board.scored, output, *flags])}"
    if is_on_hub or about.predictions.endswith(PACKED):
        output = "predictions" if about.predictions.endswith(PACKED) else f"predictions{find_suffix(about.predictions)}"
        fetched = shlex.join(["closeread", "leaderboard", "download", store, subject[:12], "-o", output])
        return f"{fetched} && {_score(board, output, flags)}"
    return _score(board, about.predictions, flags)


def _score(board: Board, predictions: str, flags: list[str]) -> str:
    gold = ["GOLD"] if board.own_gold and board.corpus is None else []
    own = ["--gold=GOLD"] if board.own_gold and board.corpus is not None else []
    return shlex.join(["closeread", "score", board.scored, *gold, predictions, *own, *flags])


def _name_part(board: Board) -> list[str]:
    return [f"--config={board.config}", f"--split={board.split}"]


def _changed_options(board: Board) -> dict[str, str]:
    """Return the options that differ from the procedure's defaults for this corpus."""
    from closeread.scoring import resolve_options

    defaults = resolve_options(board.procedure, board.corpus, {})
    return {name: value for name, value in board.options.items() if defaults.get(name) != value}
