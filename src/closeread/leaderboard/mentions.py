"""Pages with the mentions of submissions to boards of coreference, beside those of the key if the gold is public.

The judge has scored these submissions before, within the limits of the board.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from closeread.leaderboard.declaration import RESAMPLING, Board, Leaderboard
from closeread.leaderboard.results import round_scores
from closeread.leaderboard.store import FolderStore
from closeread.leaderboard.submission import unpacked
from closeread.scoring import Scorer
from closeread.views.data import judge_system, make_data
from closeread.views.page import draw_page

FOLDER = "systems"
"""Of the pages, beside the page of the leaderboard."""


def name_page(submission: str) -> str:
    """Return the place of the page of a submission, beside the page of the leaderboard."""
    return f"{FOLDER}/{submission}.html"


def has_mentions(board: Board) -> bool:
    """Return whether a board is one of coreference."""
    return board.procedure.name == "coref"


def draw_mentions(board: Board, scorer: Scorer, name: str, path: str, content: bytes) -> str | None:
    """Return the page of a submission; of private gold, it has no more than how many errors there are of each kind.

    There is no page if the submission has taken words from private gold.
    """
    if board.private and scorer.options["words"] == "align":
        return None
    # Words are read from the file when they are shown.
    with unpacked(content, path, board.limits) as predictions:
        viewed = judge_system(name, scorer, scorer.read(predictions))
        data = make_data(board.title, scorer, [viewed], RESAMPLING, has_key=not board.private)
    if board.private:
        data["systems"] = round_scores(data["systems"])
    return draw_page(data)


def draw_systems(
    store: FolderStore, index: Mapping[str, Any], golds: Mapping[str, Path]
) -> dict[str, str]:
    """Return the pages of the systems of all boards with public gold, by the ids of their submissions.

    Beside the page of the leaderboard, each has the place that `name_page` returns.

    A system has a page if its predictions are in the folder, and its gold is that of a corpus or among the `golds` by
    board.
    """
    leaderboard = store.read_leaderboard()
    pages = {}
    for indexed in index["boards"]:
        board = leaderboard.boards.get(indexed["name"])
        if board is None:
            continue
        gold = golds.get(board.name)
        is_hidden = board.private or (board.own_gold and gold is None)
        if is_hidden or not has_mentions(board):
            continue
        files = dict(_list_predictions(store, leaderboard, indexed))
        if not files:
            continue
        scorer = board.open_scorer(gold)
        names = {row["id"]: row["system"] for row in (*indexed["rows"], *indexed["superseded"])}
        for submission, path in files.items():
            content = store.read_predictions(path, board.limits.bytes)
            page = draw_mentions(board, scorer, names[submission], path, content)
            if page is not None:
                pages[submission] = page
    return pages


def _list_predictions(
    store: FolderStore, leaderboard: Leaderboard, indexed: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield the submissions of a board whose predictions are in the folder, with their paths."""
    entries = store.read_results(leaderboard).entries
    for row in (*indexed["rows"], *indexed["superseded"]):
        if row["kind"] == "system":
            path = entries[row["id"]].describe().predictions
            if store.has_file(path):
                yield row["id"], path
