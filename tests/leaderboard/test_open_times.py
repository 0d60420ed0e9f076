"""Boards that open and close: what comes outside is refused, by the store's own time."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from shared.boards import NOON, make_store, run_judge, sample_answers, sample_board, send_answers, write_rows

from closeread.exceptions import RequestError
from closeread.leaderboard.declaration import Leaderboard
from closeread.leaderboard.page import render_page

SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("opens", "closes", "expected"),
    [
        ("2026-03-01", "2026-03-01", ("2026-03-01T00:00:00Z", "2026-03-01T23:59:59Z")),
        ("2026-03-01T09:00", None, ("2026-03-01T09:00:00Z", None)),
        ("2026-03-01T09:00+02:00", "2026-03-01 18:00:30-05:00", ("2026-03-01T07:00:00Z", "2026-03-01T23:00:30Z")),
        (None, "2026-12-31T23:30:00-01:00", (None, "2027-01-01T00:30:00Z")),
        (None, None, (None, None)),
    ],
)
def test_times_are_in_utc_and_dates_are_whole_days(opens, closes, expected):
    board = sample_board(opens=opens, closes=closes)
    assert (board.opens, board.closes) == expected


@pytest.mark.parametrize("text", ["", "soon", "2026-02-30", "2026-03-01T25:00", "0001-01-01T00:00+23:00"])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(RequestError, match="is not a time"):
        sample_board(closes=text)


def test_a_board_closes_after_it_opens():
    with pytest.raises(RequestError, match="would close on 2026-02-28 23:59:59 UTC, before it opens on 2026-03-01"):
        sample_board(opens="2026-03-01", closes="2026-02-28")


def test_the_judge_refuses_what_arrived_outside(tmp_path):
    """At the first and the last second, a submission is in time."""
    opens, closes = NOON, NOON + timedelta(hours=1)
    store = make_store(tmp_path / "board", sample_board(opens=opens.isoformat(), closes=closes.isoformat()))
    times = {20: opens - SECOND, 30: opens, 40: closes, 50: closes + SECOND}
    ids = {right: send_answers(store, tmp_path, f"System {right}", right=right, at=at) for right, at in times.items()}
    assert len(run_judge(store, tmp_path).refused) == 2
    entries = store.read_results(store.read_leaderboard()).entries
    assert {right: entries[name].problems for right, name in ids.items()} == {
        20: ("mctaco-sample/test opens on 2026-03-01 12:00 UTC; this was submitted on 2026-03-01 11:59:59 UTC",),
        30: (),
        40: (),
        50: ("mctaco-sample/test closed on 2026-03-01 13:00 UTC; this was submitted on 2026-03-01 13:00:01 UTC",),
    }


@pytest.mark.parametrize(("option", "days", "word"), [("--opens", 1, "opens"), ("--closes", -1, "closed")])
def test_submit_refuses_at_once(tmp_path, run, ran, option, days, word):
    at = (datetime.now(UTC) + timedelta(days=days)).isoformat()
    ran("leaderboard", "init", "board", "--corpus", "mctaco", "--config", "sample", option, at)
    path = write_rows(tmp_path / "p.jsonl", sample_answers(right=50))
    done = run("submit", "mctaco", path, "--config", "sample", "--system", "Mine", "--to", "board")
    assert done.exit_code == 1
    assert f": mctaco-sample/test {word} on 2" in done.stderr
    assert not (tmp_path / "board/submissions").exists()


def test_both_times_are_shown(tmp_path, ran):
    store = make_store(tmp_path / "board", sample_board(opens="2026-03-01", closes="2026-03-31T18:00+02:00"))
    run_judge(store, tmp_path)
    expected = "Opens on 2026-03-01 00:00 UTC. Closes on 2026-03-31 16:00 UTC."
    assert expected in ran("leaderboard", "show", store.place)
    assert render_page(store.read_index()).count(expected) == 2
    (board,) = json.loads(ran("leaderboard", "show", store.place, "--json"))["boards"]
    assert (board["opens"], board["closes"]) == ("2026-03-01T00:00:00Z", "2026-03-31T16:00:00Z")


def test_stores_without_times_are_read(tmp_path):
    store = make_store(tmp_path / "board", sample_board())
    declared = json.loads(store.read_leaderboard().to_bytes())
    for name in ("opens", "closes"):
        assert declared["boards"][0].pop(name) is None
    assert Leaderboard.from_bytes(json.dumps(declared).encode(), "old") == store.read_leaderboard()
