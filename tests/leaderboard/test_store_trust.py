"""A folder store under hostile files, concurrent writers, and processes that die."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, suppress
from functools import partial
from operator import methodcaller
from pathlib import Path

import pytest
from shared.boards import (
    NOON,
    make_store,
    read_tree,
    run_judge,
    sample_answers,
    sample_board,
    score_here,
    send,
    send_answers,
    small_limits,
    write_rows,
)

from closeread.exceptions import RequestError, SubmissionError
from closeread.leaderboard import sandbox
from closeread.leaderboard import store as stores
from closeread.leaderboard.names import write_time
from closeread.leaderboard.sandbox import Bounds, EndedError, Sandbox, TooSlowError
from closeread.leaderboard.store_files import digest, write_json
from closeread.leaderboard.submission import is_predictions_path, make_submission


@pytest.fixture
def store(tmp_path):
    return make_store(tmp_path / "board", sample_board())


def plant(store, name, data):
    """Write a file into the store by hand."""
    path = Path(store.place) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def about_of(store, tmp_path, **changes):
    """The description of a valid submission, changed."""
    path = write_rows(tmp_path / "p.jsonl", sample_answers(right=40))
    submission = make_submission(
        store.read_leaderboard().find(None),
        path,
        system="Mine",
        author="Ann",
        submitted=write_time(NOON),
    )
    store.send({submission.about.predictions: submission.predictions}, "", "")
    return {**json.loads(submission.about.to_bytes()), **changes}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"predictions": "../../etc/passwd"}, "is not a file of predictions"),
        (
            {"predictions": "submissions/mctaco-sample/test/aa/../../x.jsonl"},
            "is not a file of predictions",
        ),
        ({"system": ""}, "is empty"),
        ({"system": "a\u202eb"}, "an invisible character, U+202E (right-to-left override)"),
        ({"paper": "javascript:alert(1)"}, "https"),
        ({"code": "http://example.org"}, "https"),
        ({"model": "../x"}, "model"),
        ({"system": 3}, "system: expected text, found 3"),
        ({"sytem": "x"}, "unknown field 'sytem' (fields: 'board', "),
        ({"board": "other/test"}, "is not the board"),
        (
            {"format": 2},
            "has format 2 (expected 1): it was written by a newer closeread; update closeread",
        ),
    ],
)
def test_hostile_descriptions_are_refused(store, tmp_path, changes, problem):
    data = write_json(about_of(store, tmp_path, **changes))
    name = digest(data)
    plant(store, f"submissions/mctaco-sample/test/{name[:2]}/{name}.json", data)
    judged = run_judge(store, tmp_path)
    assert not judged.accepted
    assert problem in judged.refused[0]


def test_names_of_files_that_are_not_their_digest_are_refused(store, tmp_path):
    data = write_json(about_of(store, tmp_path))
    plant(store, f"submissions/mctaco-sample/test/ab/{'ab' * 32}.json", data)
    judged = run_judge(store, tmp_path)
    assert "does not have the digest" in judged.refused[0]


def test_other_files_in_the_store_are_none_of_ours(store, tmp_path):
    plant(store, "submissions/mctaco-sample/test/aa/notes.txt", b"hello")
    plant(store, "submissions/elsewhere/test/aa/" + "aa" * 32 + ".json", b"{}")
    assert not run_judge(store, tmp_path).refused


@pytest.mark.parametrize(
    "path",
    [
        "submissions/mctaco/test/aa/" + "a" * 64 + ".json",
        "submissions/mctaco/test/aa/" + "a" * 64 + ".pkl",
        "submissions/mctaco/test/bb/" + "a" * 64 + ".jsonl",
        "submissions/mctaco/test/aa/" + "a" * 63 + ".jsonl",
        "submissions/mctaco/dev/aa/" + "a" * 64 + ".jsonl",
        "/submissions/mctaco/test/aa/" + "a" * 64 + ".jsonl",
        "submissions/mctaco/test/aa/" + "a" * 64 + ".jsonl\n",
    ],
)
def test_paths_of_predictions_are_ours_alone(path):
    assert is_predictions_path("submissions/mctaco/test/aa/" + "a" * 64 + ".jsonl", "mctaco/test")
    assert not is_predictions_path(path, "mctaco/test")


def test_large_files_are_refused_before_they_are_parsed(tmp_path):
    board = sample_board(limits=small_limits(bytes=1000))
    with pytest.raises(SubmissionError, match="larger than 1,000 bytes"):
        make_submission(
            board, write_rows(tmp_path / "p.jsonl", sample_answers(right=1)), system="Large"
        )
    store = make_store(tmp_path / "board", sample_board())
    send_answers(store, tmp_path, "Large", right=5)
    store.write_leaderboard(store.read_leaderboard().with_board(board))
    assert "larger than 1,000 bytes" in run_judge(store, tmp_path).refused[0]


@pytest.mark.usefixtures("workers")
@pytest.mark.gate
def test_many_lines_and_deep_nesting_are_refused(tmp_path):
    store = make_store(tmp_path / "board", sample_board(limits=small_limits(rows=50)))
    send_answers(store, tmp_path, "Long", right=5)
    deep = tmp_path / "deep.jsonl"
    deep.write_text('{"id": ' + "[" * 5000 + "]" * 5000 + "}\n", "utf-8")
    send(store, deep, "Deep")
    refused = run_judge(store, tmp_path).refused
    assert sorted("lines" in one or "nested" in one for one in refused) == [True, True]


@pytest.mark.usefixtures("workers")
@pytest.mark.gate
def test_scoring_that_takes_too_long_is_ended_and_leaves_no_files(tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr("tempfile.tempdir", None)
    store = make_store(tmp_path / "board", sample_board(limits=small_limits(seconds=0)))
    send_answers(store, tmp_path, "Slow", right=5)
    assert "longer than 0 seconds" in run_judge(store, tmp_path).refused[0]
    assert list(scratch.iterdir()) == []


def test_scoring_that_needs_too_much_memory_is_refused(store, tmp_path, monkeypatch):
    def need_memory(*arguments):
        raise MemoryError

    monkeypatch.setattr("closeread.leaderboard.scoring.score_predictions", need_memory)
    send_answers(store, tmp_path, "Large", right=5)
    (told,) = run_judge(store, tmp_path).refused
    assert told.endswith("scoring needs more than 4,000,000,000 bytes, the limit of this board")


@pytest.mark.usefixtures("workers")
def test_where_memory_cannot_be_limited_the_judge_says_that_it_needs_linux(
    tmp_path, monkeypatch, ran, run
):
    # macOS has no /proc.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sandbox, "MEMORY_FILE", tmp_path / "proc")
    created = run("leaderboard", "init", "board", "--corpus", "mctaco", "--config", "sample")
    assert created.exit_code == 0
    reason = "judging needs Linux, where the memory of scoring can be limited"
    assert f"this leaderboard can't be judged on this machine: {reason}" in created.stderr
    before = read_tree(tmp_path / "board")
    judged = run("leaderboard", "judge", "board")
    assert (judged.exit_code, judged.stderr) == (2, f"Error: {reason}\n")
    assert read_tree(tmp_path / "board") == before
    ran("baseline", "mctaco", "random", "--config", "sample", "-o", "mine.jsonl")
    mine = ("mine.jsonl", "--config", "sample", "--system", "Mine", "--to", "board")
    assert "submitted to" in ran("submit", "mctaco", *mine)


@pytest.mark.gate
def test_a_job_has_limits_of_its_own_in_a_sandbox(tmp_path):
    with closing(Sandbox(methodcaller, "__mul__", 2 * 10**8)) as sandbox:
        assert len(sandbox.run(b"x", Bounds(60, 10**9, 100))) == 2 * 10**8
        with pytest.raises(EndedError, match="scoring ended with status 1"):
            sandbox.run(b"x", Bounds(60, 10**6, 100))
        # as if nothing had happened
        assert len(sandbox.run(b"x", Bounds(60, 10**9, 100))) == 2 * 10**8
        with pytest.raises(TooSlowError):  # its answer is too large
            sandbox.run(b"xx", Bounds(60, 10**9, 100))
    with closing(Sandbox(partial, time.sleep)) as sandbox, pytest.raises(TooSlowError):
        sandbox.run(60, Bounds(0, 10**9, 100))
    with closing(Sandbox(partial, os.kill, os.getpid())) as sandbox, pytest.raises(EndedError):
        sandbox.run(-1, Bounds(60, 10**9, 100))  # no such signal
    with (
        closing(Sandbox(partial, Path.write_bytes, tmp_path / "large")) as sandbox,
        pytest.raises(EndedError),
    ):
        sandbox.run(b"x" * 1000, Bounds(60, 10**9, 100))
    assert len((tmp_path / "large").read_bytes()) <= 100
    with pytest.raises(RequestError, match="No such file"):
        Sandbox(Path.stat, tmp_path / "missing")


def send_one(arguments):
    """Submit in a process of its own."""
    place, path, number = arguments
    return send(stores.FolderStore(Path(place)), Path(path), f"System {number % 90}")


@pytest.mark.gate
def test_100_concurrent_submissions_are_all_there_and_none_twice(store, tmp_path):
    path = write_rows(tmp_path / "p.jsonl", sample_answers(right=40))
    jobs = [(store.place, str(path), number) for number in range(100)]
    with ProcessPoolExecutor(8) as pool:
        list(pool.map(send_one, jobs, chunksize=1))
    found = store.list_arrivals(
        store.read_leaderboard(), store.read_results(store.read_leaderboard())
    )
    assert len({one.submission for one in found}) == len(found) == 90  # ten of them are the same
    assert len(list(Path(store.place).glob("submissions/*/*/*/*.jsonl"))) == 1


class Killed(BaseException):
    """Stands for a process that is killed at a write."""


def count_writes(monkeypatch, limit):
    """Let only so many writes of files happen; the next one kills before or after it is complete."""
    real, done = stores.replacing, []

    def dying(path):
        done.append(path)
        if len(done) > limit:
            raise Killed
        return real(path)

    monkeypatch.setattr(stores, "replacing", dying)
    return done


@pytest.mark.usefixtures("workers")
@pytest.mark.extended
def test_a_judge_that_is_killed_at_any_write_leaves_what_the_next_completes(tmp_path, monkeypatch):
    def make(folder):
        folder.mkdir()
        store = make_store(folder / "board", sample_board())
        for right in (30, 70):
            send_answers(store, folder, f"System {right}", right=right)
        send_answers(store, folder, "Wrong", right=5)
        return store

    whole = make(tmp_path / "whole")
    run_judge(whole, tmp_path / "whole")
    expected = read_tree(whole.place)
    monkeypatch.setattr("closeread.leaderboard.judge.score_all", score_here)
    for limit in range(40):
        folder = tmp_path / str(limit)
        store = make(folder)
        with monkeypatch.context() as patch:
            done = count_writes(patch, limit)
            with suppress(Killed):
                run_judge(store, folder)
        store.read_results(store.read_leaderboard())  # readable
        run_judge(store, folder)
        assert read_tree(store.place) == expected, f"killed at write {limit}"
        if len(done) <= limit:
            return
    pytest.fail("the judge writes more files than this test kills it at")


@pytest.mark.extended
def test_two_judges_at_once_and_one_killed_for_good(store, tmp_path):
    for right in range(20, 40):
        send_answers(store, tmp_path, f"System {right}", right=right)
    store.write_leaderboard(
        store.read_leaderboard().with_board(sample_board(limits=small_limits(per_day=100)))
    )
    code = "import sys; from closeread.cli import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "leaderboard", "judge", store.place, "--workers", "1"]
    runs = [
        subprocess.Popen(
            [*command, "--cache", str(tmp_path / name)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name in ("a", "b", "c")
    ]
    for _ in range(3000):
        if list(Path(store.place).glob("entries/*/*/*/*.json")) or any(
            run.poll() is not None for run in runs
        ):
            break
        time.sleep(0.02)
    runs[0].kill()
    outputs = [run.communicate(timeout=600) for run in runs]
    assert [run.returncode for run in runs[1:]] == [0, 0], outputs
    run_judge(store, tmp_path)
    (board,) = store.read_index()["boards"]
    assert len([row for row in board["rows"] if row["kind"] == "system"]) == 20
    assert len(list(Path(store.place).glob("entries/*/*/*/*.json"))) == 20
    assert os.listdir(Path(store.place) / "submissions/mctaco-sample/test")
