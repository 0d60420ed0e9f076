"""What a pull request on the Hub asks of a leaderboard, judged by the paths that it touches.

Anybody can open a pull request and put anything into it.  Only names of our own making count: a submission is one
description that is named after its digest, and the predictions beside it; a withdrawal is one file that is named after
a submission.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from closeread.exceptions import join_names, pluralize
from closeread.leaderboard.submission import is_predictions_path

OURS = re.compile(r"(submissions|withdrawals)/")
NAMED = re.compile(r"(submissions|withdrawals)/(.+)/([0-9a-f]{2})/(\3[0-9a-f]{62})\.json")


class Request(NamedTuple):
    """What a pull request asks.

    Attributes:
        board: the name of the board; a board of the leaderboard in any case, so that somebody answers.
        submission: the id of the submission; empty if the pull request can't be taken.
        withdrawal: whether the submission is to be withdrawn.
        problems: why the pull request can't be taken.
    """

    board: str
    submission: str
    withdrawal: bool
    problems: tuple[str, ...] = ()


def read_request(paths: Sequence[str], boards: Collection[str]) -> Request | None:
    """Read what a pull request asks from the paths that it adds, changes or deletes.

    Args:
        paths: the paths.
        boards: the names of the boards; at least one.

    Returns:
        The request; None if the pull request is not about submissions, so that it is left to the organisers.
    """
    if not any(OURS.match(path) for path in paths):
        return None
    found = [(path, match) for path in paths if (match := NAMED.fullmatch(path)) and match[2] in boards]
    named = [path for path, _ in found]
    board = found[0][1][2] if found else next((b for b in boards if any(f"/{b}/" in path for path in paths)), None)
    board = board or next(iter(boards))
    predictions = [path for path in paths if is_predictions_path(path, board)]
    others = [path for path in paths if path not in named and path not in predictions]
    problems = []
    if len(found) != 1:
        problems.append(
            f"the pull request has {pluralize(len(found), 'description')} of submissions and withdrawals named after "
            f"their digests, for boards of this leaderboard (expected 1; boards: {', '.join(boards)})"
        )
    is_withdrawal = bool(found) and found[0][1][1] == "withdrawals"
    if len(predictions) > (0 if is_withdrawal else 1):
        problems.append(f"the pull request has {pluralize(len(predictions), 'file')} of predictions")
    if others:
        problems.append(f"the pull request touches {pluralize(len(others), 'other file')}: {join_names(others)}")
    if problems:
        return Request(board, "", False, (*problems, "send submissions with closeread submit"))
    return Request(board, found[0][1][4], is_withdrawal)
