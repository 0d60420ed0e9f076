"""Boards that rank by the mean over groups of units: their scores, ranks, tests of pairs, and the rows of groups."""

import json
from pathlib import Path

import numpy as np
import pytest
from shared.boards import judge_here, make_store, sample_answers, sample_board, send_answers

import closeread
from closeread.counts.table import CountTable
from closeread.leaderboard.declaration import make_board
from closeread.leaderboard.results import Blocks


@pytest.fixture
def board(tmp_path):
    """A judged board of two systems on the sample of McTaco, by categories, most of whose blocks are in one category."""
    store = make_store(tmp_path / "board", sample_board(options={"group_by": "category"}))
    for right in (100, 10):
        send_answers(store, tmp_path, f"{right} right", right=right)
    judge_here(store, tmp_path / "counts")
    return store.read_index()["boards"][0]


def test_scores_groups_and_pairs_are_those_of_score_and_compare(board):
    systems = {f"{right} right": sample_answers(right=right) for right in (10, 100)}
    options = {"config": "sample", "group_by": "category"}
    assert "|average:groups|groups:5|" in board["signature"]
    for row in board["rows"]:
        if row["kind"] != "system":
            continue
        report = closeread.score("mctaco", systems[row["system"]], **options)
        assert row["scores"]["f1"]["value"] == report["f1"].value
        assert row["scores"]["f1"]["low"] == report["f1"].low
        groups = {name: scores.scores["f1"].value for name, scores in report.groups.items()}
        shown = {
            name: part["scores"]["f1"]["value"] for name, part in row["slices"]["category"].items()
        }
        assert shown == groups
        # The score is the unweighted mean, and another one than that of all units together.
        assert np.isclose(row["scores"]["f1"]["value"], np.mean(list(groups.values())))
    assert board["slices"] == {"category": sorted(groups)}
    comparison = closeread.compare("mctaco", systems, **options)
    names = [row["id"] for row in board["rows"] if row["kind"] == "system"]
    first, second = (board["pairs"]["ids"].index(name) for name in names)
    n_systems = len(board["pairs"]["ids"])
    pairs = [(i, j) for i in range(n_systems) for j in range(i + 1, n_systems)]
    place = pairs.index((first, second))
    for field, name in (("low", "low"), ("high", "high"), ("p", "p_randomization")):
        expected = getattr(comparison[board["headline"]], name)
        assert board["pairs"][field][place] == round(expected, 6)


def test_the_page_shows_the_rows_of_groups(board, tmp_path, ran):
    ran("leaderboard", "build", tmp_path / "board", "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    for category in board["slices"]["category"]:
        assert json.dumps(category) in page


def test_small_groups_of_private_gold_are_not_published(tmp_path):
    """The sample has four to six questions of each category: fewer than may be shown."""
    gold = Path(__file__).parents[2] / "loaders/mctaco/sample.tsv"
    board = make_board("mctaco", gold=gold, options={"group_by": "category"})
    store = make_store(tmp_path / "board", board)
    send_answers(store, tmp_path, "100 right", right=100)
    judge_here(store, tmp_path / "counts", {board.name: gold})
    board = store.read_index()["boards"][0]
    (row,) = (row for row in board["rows"] if row["kind"] == "system")
    report = closeread.score(
        "mctaco", sample_answers(right=100), config="sample", group_by="category"
    )
    assert row["scores"]["f1"]["value"] == round(report["f1"].value, 4)
    assert row["slices"] == {"category": {}}


def test_blocks_of_several_groups_are_written_and_read():
    """A block may have units of several groups: each has a row, and the order is that of the digests of gold."""
    values = np.arange(8.0).reshape(4, 2)
    digests = [bytes([number]) * 32 for number in (9, 8, 1, 2)]
    table = CountTable(
        ["a", "b", "c", "d"],
        np.array([0, 0, 1, 1]),
        ("n", "sum"),
        values,
        digests=digests,
        groups=["x", "y", "x", "x"],
    )
    read = Blocks.from_table(table).to_table()
    first, second = table.order_blocks().tolist()
    sums = {0: [values[0], values[1]], 1: [values[2] + values[3]]}
    assert read.values.tolist() == [row.tolist() for row in (*sums[first], *sums[second])]
    assert sorted(read.groups) == ["x", "x", "y"]
    assert (read.split_blocks() == table.split_blocks()[[first, second]]).all()
