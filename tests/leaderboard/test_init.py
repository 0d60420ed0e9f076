"""Creating a leaderboard again: nothing changes, and what would change is told."""

import pytest
from shared.boards import read_tree

import closeread

BOARD = ["leaderboard", "init", "board", "--corpus", "mctaco", "--config", "sample"]


@pytest.fixture
def before(ran, tmp_path):
    ran(*BOARD, "--title", "Plausible times", "--closes", "2026-12-01")
    return read_tree(tmp_path / "board")


@pytest.mark.parametrize("title", [[], ["--title", "Plausible times"]])
def test_the_same_board_again_changes_nothing_and_says_so(ran, before, tmp_path, title):
    printed = ran(*BOARD, "--closes", "2026-12-01", *title)
    first = "board/leaderboard.json: nothing changed, it has this board mctaco-sample/test already"
    assert printed.splitlines()[0] == first
    assert read_tree(tmp_path / "board") == before


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--closes", "2026-12-01", "--title", "Again"], "title is 'Plausible times', not 'Again'"),
        (
            ["--closes", "2026-12-24"],
            "closes of mctaco-sample/test is '2026-12-01T23:59:59Z', not ",
        ),
        (
            ["--closes", "2026-12-01", "--per-day", "3"],
            "change it: per_day of mctaco-sample/test is 5, not 3\n",
        ),
    ],
)
def test_what_would_change_is_told_and_not_changed(run, before, tmp_path, options, found):
    done = run(*BOARD, *options)
    assert done.exit_code == 1
    assert found in done.stderr
    assert read_tree(tmp_path / "board") == before


def test_another_board_keeps_the_title_unless_it_is_to_be_replaced(run, ran, before):
    other = ["leaderboard", "init", "board", "--corpus", "tne", "--config", "sample"]
    assert "title is 'Plausible times', not 'Again'" in run(*other, "--title", "Again").stderr
    assert "board tne-sample/test, ranked by" in ran(*other)
    assert "nothing changed" in ran(*other)
    assert "board tne-sample/test, ranked by" in ran(*other, "--title", "Again", "--replace")
    assert "nothing changed" in ran(*other, "--title", "Again")


def test_nobody_is_kept_from_submitting(tmp_path):
    with pytest.raises(
        closeread.RequestError, match=r"per_day is 0 \(expected a whole number from 1\)"
    ):
        closeread.init_leaderboard(tmp_path / "board", corpus="mctaco", config="sample", per_day=0)
