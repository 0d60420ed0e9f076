"""Two judges write the same bytes, however they call the store and wherever they run."""

import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from shared.boards import make_store, read_tree, sample_board, send, send_answers, write_rows
from shared.doors import system_rows

from closeread.leaderboard.store import FolderStore

pytestmark = pytest.mark.extended

CODE = "import sys; from closeread.cli import main; sys.exit(main())"
PLACES = [
    ({"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "Pacific/Kiritimati", "COLUMNS": "20"}, "1"),
    ({"PYTHONHASHSEED": "2", "LC_ALL": "tr_TR.UTF-8", "TZ": "America/Adak", "PYTHONUTF8": "0"}, "2"),
]


@pytest.fixture(scope="module")
def boards(tmp_path_factory):
    """Two copies of a store with two boards, judged in different surroundings, and the name of each there."""
    folder = tmp_path_factory.mktemp("same")
    store = make_store(folder / "a/board", sample_board("mctaco"), sample_board("tne"))
    send_answers(store, folder, "Ünïcode", right=60, board="mctaco-sample/test")  # one each: order is a matter of time
    send(store, write_rows(folder / "tne.jsonl", system_rows("tne")), "Mine", board="tne-sample/test")
    shutil.copytree(folder / "a/board", folder / "b/board")
    names = [str(folder / "a/board"), "../b/./board"]
    for (environment, workers), place in zip(PLACES, names, strict=True):
        judge(place, folder / "a", "--workers", workers, "--cache", str(folder / f"cache{workers}"), **environment)
    return folder / "a", names


def judge(place, cwd, *arguments, command="judge", **environment):
    """Run a command on a store in a process of its own."""
    arguments = [sys.executable, "-c", CODE, "leaderboard", command, place, *arguments]
    done = subprocess.run(arguments, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def without_times(folder):
    """The files of a store; those that hold the time of arrival, which is another in the copy, without it."""
    stamps = {entry.submitted for entry in entries_of(folder)}
    days = {stamp[:10] for stamp in stamps}
    found = {}
    for path, data in read_tree(folder).items():
        if not path.endswith(".parquet"):
            for stamp in (*stamps, *days):
                data = data.replace(stamp.encode(), b"TIME")
            found[path] = data
    return found


def entries_of(folder):
    store = FolderStore(folder)
    return store.read_results(store.read_leaderboard()).entries.values()


def test_records_and_index_are_the_same(boards):
    cwd, names = boards
    one, other = (without_times(Path(cwd, name)) for name in names)
    assert one == other
    assert len([path for path in one if path.startswith("results/")]) > 4


def test_a_store_can_be_verified_by_another_name(boards):
    cwd, names = boards
    assert "no difference" in judge(Path(cwd, names[1]).resolve(), cwd, command="verify")
    assert "no difference" in judge("board/.", cwd, command="verify")


def test_nothing_says_where_the_store_is(boards):
    cwd, names = boards
    for path, data in read_tree(Path(cwd, names[0])).items():
        assert str(cwd).encode() not in data, path


def test_times_are_in_utc(boards):
    cwd, names = boards
    for entry in entries_of(Path(cwd, names[1])):
        assert abs((datetime.fromisoformat(entry.submitted) - datetime.now(UTC)).total_seconds()) < 3600
