"""Limits of authors and of time: what a submitter can set does not get around them."""

import json
import shutil
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest import mock

import pytest
from shared.boards import (
    NOON,
    make_store,
    read_tree,
    run_judge,
    sample_answers,
    sample_board,
    send,
    send_answers,
    small_limits,
    write_rows,
)

from closeread.exceptions import RequestError
from closeread.leaderboard.declaration import Leaderboard, make_board
from closeread.leaderboard.names import write_time
from closeread.leaderboard.page import render_page
from closeread.leaderboard.store import FolderStore
from closeread.leaderboard.store_files import store_path
from closeread.leaderboard.submission import request_bytes


def make_limited(folder, per_day=2, **more):
    return make_store(folder / "board", sample_board(limits=small_limits(per_day=per_day), **more))


def entries_of(store):
    return list(store.read_results(store.read_leaderboard()).entries.values())


def test_withdrawing_does_not_give_more(tmp_path):
    store = make_limited(tmp_path)
    for right in (1, 2):
        name = send_answers(store, tmp_path, f"System {right}", right=right)
        run_judge(store, tmp_path)
        signature = {"author": store.name_author(None), "submitted": write_time(NOON)}
        request = request_bytes(name, signature)
        store.send({store_path("withdrawals", "mctaco-sample/test", name): request}, "", "")
        assert len(run_judge(store, tmp_path).withdrawn) == 1
    send_answers(store, tmp_path, "Third", right=3)
    assert len(run_judge(store, tmp_path).refused) == 1


def test_the_limit_is_of_one_board_in_one_run_and_in_several(tmp_path):
    """Two submissions a day to each of two boards."""
    for runs in (1, 2):
        boards = [
            sample_board(limits=small_limits(per_day=2)),
            sample_board("tne", limits=small_limits(per_day=2)),
        ]
        store = make_store(tmp_path / f"board{runs}", *boards)
        accepted = 0
        for number in range(2):
            send_answers(
                store, tmp_path, f"System {number}", right=number, board="mctaco-sample/test"
            )
            empty = [{"id": name, "relations": []} for name in ("s1", "s2", "s3", "s4")]
            send(
                store,
                write_rows(tmp_path / "tne.jsonl", empty),
                f"Empty {number}",
                board="tne-sample/test",
            )
            accepted += len(run_judge(store, tmp_path).accepted) if runs == 2 else 0
        assert accepted + len(run_judge(store, tmp_path).accepted) == 4


def test_refusals_on_private_gold_count_as_scores_do(tmp_path):
    """Each says whether predictions fit the gold."""
    key = "#begin document (a); part 000\na 0 0 Ada (1)\na 0 1 sat -\na 0 2 she (1)\n\n#end document\n"
    (tmp_path / "key.conll").write_text(key, "utf-8")
    counts = Counter()
    for private in (True, False):
        board = make_board(
            "coref",
            gold=tmp_path / "key.conll",
            private=private,
            limits=small_limits(per_day=2),
        )
        store = make_store(tmp_path / str(private), board)
        for word in ("Eva", "Mia", "Ida"):
            (tmp_path / f"{word}.conll").write_text(key.replace("Ada", word), "utf-8")
            send(store, tmp_path / f"{word}.conll", word)
        refused = run_judge(store, tmp_path, {"coref/test": tmp_path / "key.conll"}).refused
        assert len(refused) == 3
        counts[private] = sum("the limit of 2 submissions" in sentence for sentence in refused)
    assert counts == {True: 1, False: 0}


def test_another_file_of_an_author_is_no_withdrawal(tmp_path):
    store = make_limited(tmp_path)
    name = send(store, write_rows(tmp_path / "p.jsonl", sample_answers(right=40)), "Mine")
    run_judge(store, tmp_path)
    path = Path(store.place) / store_path("withdrawals", "mctaco-sample/test", name)
    path.parent.mkdir(parents=True)
    path.hardlink_to(next(Path(store.place).glob(f"submissions/*/*/*/{name}.json")))
    judged = run_judge(store, tmp_path)
    assert not judged.withdrawn
    assert "field 'submission' is missing" in judged.refused[0]


def test_the_highest_limits_take_no_more(tmp_path):
    """Nothing of such a size is reserved, and the system is not asked to wait for as long."""
    highest = small_limits(
        **dict.fromkeys(("bytes", "rows", "per_day", "seconds", "memory"), 2**53 - 1)
    )
    store = make_store(tmp_path / "board", sample_board(limits=highest))
    send_answers(store, tmp_path, "System", right=3)
    assert len(run_judge(store, tmp_path).accepted) == 1


BOARD = "mctaco-sample/test"


@pytest.fixture
def store(tmp_path):
    return make_store(tmp_path / "board", sample_board(limits=small_limits(per_day=1)))


@pytest.fixture
def submit(store, tmp_path, run):
    """Submit predictions of which the first `right` are right, for an author."""

    def submit(right, *options, place=store.place):
        path = write_rows(tmp_path / f"{right}.jsonl", sample_answers(right=right))
        return run(
            "submit",
            "mctaco",
            path,
            "--config",
            "sample",
            "--system",
            f"System {right}",
            "--to",
            place,
            *options,
        )

    return submit


def authors_of(store):
    return {
        row["system"]: row["author"]
        for row in store.read_index()["boards"][0]["rows"]
        if row["kind"] == "system"
    }


def test_daily_limits_go_by_name(store, tmp_path, submit):
    for author, right in (("Ann", 50), ("Ann", 60), ("Bob & Eve", 70)):
        assert submit(right, "--author", author).exit_code == 0
    judged = run_judge(store, tmp_path)
    assert (len(judged.accepted), len(judged.refused)) == (2, 1)
    assert sorted(authors_of(store).values()) == ["Ann", "Bob & Eve"]


def test_two_authors_may_send_the_same_and_the_later_is_a_copy(store, tmp_path, submit):
    for author in ("Ann", "Bob"):
        assert "submitted to" in submit(50, "--author", author).stdout
    assert "had been submitted before" in submit(50, "--author", "Ann").stdout
    run_judge(store, tmp_path)
    rows = [row for row in store.read_index()["boards"][0]["rows"] if row["kind"] == "system"]
    assert sorted(row["author"] for row in rows) == ["Ann", "Bob"]
    assert sorted("duplicate" in [one["flag"] for one in row["flags"]] for row in rows) == [
        False,
        True,
    ]


@pytest.mark.parametrize("author", ["", "Ann\u202e", " Ann", "A" * 81])
def test_a_name_of_an_author_is_a_name(submit, author):
    done = submit(50, "--author", author)
    assert done.exit_code == 1
    assert "submission: author: " in done.stderr


def test_only_the_author_withdraws_by_name(store, tmp_path, submit, run):
    submit(50, "--author", "Ann")
    run_judge(store, tmp_path)
    (name,) = store.read_results(store.read_leaderboard()).entries
    for options, user in ((("--author", "Bob"), "Bob"), ((), store.name_author(None))):
        done = run("leaderboard", "withdraw", store.place, name, *options)
        assert done.exit_code == 1
        assert done.stderr == (
            f"Error: {name[:12]}: was submitted by 'Ann', not by '{user}'; its author alone decides about it\n"
        )
    assert not Path(store.place, "withdrawals").exists()
    assert run("leaderboard", "withdraw", store.place, name, "--author", "Ann").exit_code == 0
    assert len(run_judge(store, tmp_path).withdrawn) == 1
    assert not authors_of(store)


def test_nobody_blocks_the_withdrawal_of_another(store, tmp_path, submit, run):
    """A withdrawal that somebody writes by hand is refused once, and the author's takes its place, also before that."""
    submit(50, "--author", "Ann")
    run_judge(store, tmp_path)
    (name,) = store.read_results(store.read_leaderboard()).entries
    for is_judged in (True, False):
        request = request_bytes(name, {"author": "Bob", "submitted": write_time(NOON)})
        store.send({store_path("withdrawals", BOARD, name): request}, "", "")
        if is_judged:
            assert "can be withdrawn only by its author" in run_judge(store, tmp_path).refused[0]
            assert not run_judge(store, tmp_path).refused
            assert authors_of(store) == {"System 50": "Ann"}
    done = run("leaderboard", "withdraw", store.place, name, "--author", "Ann")
    assert "withdrawn with the next run of the judge" in done.stdout
    assert (
        "its withdrawal was asked for before"
        in run("leaderboard", "withdraw", store.place, name, "--author", "Ann").stdout
    )
    judged = run_judge(store, tmp_path)
    assert (len(judged.withdrawn), judged.refused) == (1, ())


def test_without_a_name_the_author_is_the_user(store, tmp_path, submit, run):
    submit(50)
    run_judge(store, tmp_path)
    assert authors_of(store) == {"System 50": store.name_author(None)}
    (entry,) = store.read_results(store.read_leaderboard()).entries.values()
    assert entry.about.author == store.name_author(None)
    assert run("leaderboard", "withdraw", store.place, entry.submission).exit_code == 0
    assert len(run_judge(store, tmp_path).withdrawn) == 1


SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("opens", "closes", "expected"),
    [
        ("2026-03-01", "2026-03-01", ("2026-03-01T00:00:00Z", "2026-03-01T23:59:59Z")),
        ("2026-03-01T09:00", None, ("2026-03-01T09:00:00Z", None)),
        (
            "2026-03-01T09:00+02:00",
            "2026-03-01 18:00:30-05:00",
            ("2026-03-01T07:00:00Z", "2026-03-01T23:00:30Z"),
        ),
        (None, "2026-12-31T23:30:00-01:00", (None, "2027-01-01T00:30:00Z")),
        (None, None, (None, None)),
    ],
)
def test_times_are_in_utc_and_dates_are_whole_days(opens, closes, expected):
    board = sample_board(opens=opens, closes=closes)
    assert (board.opens, board.closes) == expected


@pytest.mark.parametrize(
    "text", ["", "soon", "2026-02-30", "2026-03-01T25:00", "0001-01-01T00:00+23:00"]
)
def test_what_is_no_time_is_refused(text):
    with pytest.raises(RequestError, match="is not a time"):
        sample_board(closes=text)


def test_a_board_closes_after_it_opens():
    with pytest.raises(
        RequestError, match="would close on 2026-02-28 23:59:59 UTC, before it opens on 2026-03-01"
    ):
        sample_board(opens="2026-03-01", closes="2026-02-28")


def test_the_judge_refuses_what_arrived_outside(tmp_path):
    """At the first and the last second, a submission is in time."""
    opens, closes = NOON, NOON + timedelta(hours=1)
    store = make_store(
        tmp_path / "board", sample_board(opens=opens.isoformat(), closes=closes.isoformat())
    )
    times = {20: opens - SECOND, 30: opens, 40: closes, 50: closes + SECOND}
    ids = {
        right: send_answers(store, tmp_path, f"System {right}", right=right, at=at)
        for right, at in times.items()
    }
    assert len(run_judge(store, tmp_path).refused) == 2
    entries = store.read_results(store.read_leaderboard()).entries
    assert {right: entries[name].problems for right, name in ids.items()} == {
        20: (
            "mctaco-sample/test opens on 2026-03-01 12:00 UTC; this was submitted on 2026-03-01 11:59:59 UTC",
        ),
        30: (),
        40: (),
        50: (
            "mctaco-sample/test closed on 2026-03-01 13:00 UTC; this was submitted on 2026-03-01 13:00:01 UTC",
        ),
    }


@pytest.mark.parametrize(
    ("option", "days", "word"), [("--opens", 1, "opens"), ("--closes", -1, "closed")]
)
def test_submit_refuses_at_once(tmp_path, run, ran, option, days, word):
    at = (datetime.now(UTC) + timedelta(days=days)).isoformat()
    ran("leaderboard", "init", "board", "--corpus", "mctaco", "--config", "sample", option, at)
    path = write_rows(tmp_path / "p.jsonl", sample_answers(right=50))
    done = run("submit", "mctaco", path, "--config", "sample", "--system", "Mine", "--to", "board")
    assert done.exit_code == 1
    assert f": mctaco-sample/test {word} on 2" in done.stderr
    assert not (tmp_path / "board/submissions").exists()


def test_both_times_are_shown(tmp_path, ran):
    store = make_store(
        tmp_path / "board", sample_board(opens="2026-03-01", closes="2026-03-31T18:00+02:00")
    )
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


def test_a_store_can_be_copied_and_judged_anywhere(store, tmp_path, submit):
    """Whatever the clocks of the copied files say, and whoever owns them: also after the end of the task."""
    submit(50, "--author", "Ann")
    submit(60, "--author", "Ben")
    (first,) = [path.read_bytes() for path in Path(store.place).glob("submissions/**/*.json")][:1]
    assert json.loads(first)["submitted"].startswith(f"{datetime.now(UTC):%Y-%m-%d}")
    copy = FolderStore(Path(shutil.copytree(store.place, tmp_path / "copy")))
    run_judge(copy, tmp_path / "cache of the copy")
    run_judge(FolderStore(Path(store.place)), tmp_path)
    assert read_tree(store.place) == read_tree(copy.place)
    assert authors_of(copy) == {"System 50": "Ann", "System 60": "Ben"}


def test_what_was_sent_before_is_not_sent_again_unless_it_was_withdrawn(
    store, tmp_path, submit, run
):
    """A second later, it would be another submission."""
    assert "submitted to" in submit(50, "--author", "Ann").stdout
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    with mock.patch("closeread.leaderboard.store.read_now", return_value=write_time(tomorrow)):
        assert "had been submitted before" in submit(50, "--author", "Ann").stdout
        run_judge(store, tmp_path)
        (name,) = store.read_results(store.read_leaderboard()).entries
        run("leaderboard", "withdraw", store.place, name, "--author", "Ann")
        assert len(run_judge(store, tmp_path).withdrawn) == 1
        assert "had been submitted before" not in submit(50, "--author", "Ann").stdout
        assert len(run_judge(store, tmp_path, now=tomorrow).accepted) == 1
    assert authors_of(store) == {"System 50": "Ann"}
