"""Authors in a folder, whose organiser adds what several people send: limits, copies and withdrawals go by name."""

from pathlib import Path

import pytest
from shared.boards import make_store, run_judge, sample_answers, sample_board, send_answers, small_limits, write_rows

from closeread.leaderboard.declaration import store_path
from closeread.leaderboard.submission import withdrawal_bytes

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
            "submit", "mctaco", path, "--config", "sample", "--system", f"System {right}", "--to", place, *options
        )

    return submit


def authors_of(store):
    return {row["system"]: row["author"] for row in store.read_index()["boards"][0]["rows"] if row["kind"] == "system"}


def test_daily_limits_go_by_name(store, tmp_path, submit):
    for author, right in (("Ann", 50), ("Ann", 60), ("Bob & Eve", 70)):
        assert submit(right, "--author", author).exit_code == 0
    judged = run_judge(store, tmp_path)
    assert (len(judged.accepted), len(judged.waiting)) == (2, 1)
    assert sorted(authors_of(store).values()) == ["Ann", "Bob & Eve"]


def test_two_authors_may_send_the_same_and_the_later_is_a_copy(store, tmp_path, submit):
    for author in ("Ann", "Bob"):
        assert "submitted to" in submit(50, "--author", author).stdout
    assert "had been submitted before" in submit(50, "--author", "Ann").stdout
    run_judge(store, tmp_path)
    rows = [row for row in store.read_index()["boards"][0]["rows"] if row["kind"] == "system"]
    assert sorted(row["author"] for row in rows) == ["Ann", "Bob"]
    assert sorted("duplicate" in [one["flag"] for one in row["flags"]] for row in rows) == [False, True]


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
            f"Error: {name[:12]}: was submitted by 'Ann', not by '{user}'; only its author can withdraw it\n"
        )
    assert not Path(store.place, "withdrawals").exists()
    assert run("leaderboard", "withdraw", store.place, name, "--author", "Ann").exit_code == 0
    assert len(run_judge(store, tmp_path).withdrawn) == 1
    assert not authors_of(store)


@pytest.mark.parametrize("author", [None, "Bob"])
def test_nobody_blocks_the_withdrawal_of_another(store, tmp_path, submit, run, author):
    """A withdrawal that somebody writes by hand is refused once, and the author's takes its place, also before that."""
    submit(50, "--author", "Ann")
    run_judge(store, tmp_path)
    (name,) = store.read_results(store.read_leaderboard()).entries
    for is_judged in (True, False):
        store.send({store_path("withdrawals", BOARD, name): withdrawal_bytes(name, author)}, "", "")
        if is_judged:
            assert "can be withdrawn only by its author" in run_judge(store, tmp_path).refused[0]
            assert not run_judge(store, tmp_path).refused
            assert authors_of(store) == {"System 50": "Ann"}
    done = run("leaderboard", "withdraw", store.place, name, "--author", "Ann")
    assert "withdrawn with the next run of the judge" in done.stdout
    assert "has been withdrawn before" in run("leaderboard", "withdraw", store.place, name, "--author", "Ann").stdout
    judged = run_judge(store, tmp_path)
    assert (len(judged.withdrawn), judged.refused) == (1, ())


def test_without_a_name_the_author_is_the_user(store, tmp_path, submit, run):
    submit(50)
    run_judge(store, tmp_path)
    assert authors_of(store) == {"System 50": store.name_author(None)}
    (entry,) = store.read_results(store.read_leaderboard()).entries.values()
    assert "author" not in entry.about  # as versions without --author wrote it
    assert run("leaderboard", "withdraw", store.place, entry.submission).exit_code == 0
    assert len(run_judge(store, tmp_path).withdrawn) == 1


def test_a_withdrawal_without_a_name_is_that_of_the_owner_of_its_file(store, tmp_path):
    """So versions without --author wrote it."""
    name = send_answers(store, tmp_path, "Half", right=50)
    run_judge(store, tmp_path)
    store.send({store_path("withdrawals", BOARD, name): withdrawal_bytes(name)}, "", "")
    assert len(run_judge(store, tmp_path).withdrawn) == 1
