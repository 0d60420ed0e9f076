"""Two judges write the same bytes, however they call the store and wherever they run."""

import os
import shutil
import subprocess
import sys

import pytest
from shared.boards import make_store, read_tree, sample_board, send, send_answers, write_rows
from shared.entry_points import system_rows

CODE = "import sys; from closeread.cli import main; sys.exit(main())"
PLACES = {
    "a/board": (
        {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "Pacific/Kiritimati", "COLUMNS": "20"},
        "1",
    ),
    "b/./board": (
        {"PYTHONHASHSEED": "2", "LC_ALL": "tr_TR.UTF-8", "TZ": "America/Adak", "PYTHONUTF8": "0"},
        "2",
    ),
}


def run(*arguments, **environment):
    """Run a command in a process of its own."""
    run = [sys.executable, "-c", CODE, "leaderboard", *map(str, arguments)]
    done = subprocess.run(run, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.extended
def test_judges_in_other_surroundings_write_the_same(tmp_path, monkeypatch):
    store = make_store(tmp_path / "a/board", sample_board("mctaco"), sample_board("tne"))
    # one each: order is of time
    send_answers(store, tmp_path, "Ünïcode", right=60, board="mctaco-sample/test")
    send(
        store,
        write_rows(tmp_path / "tne.jsonl", system_rows("tne")),
        "Mine",
        board="tne-sample/test",
    )
    shutil.copytree(tmp_path / "a/board", tmp_path / "b/board")
    monkeypatch.chdir(tmp_path)
    trees = []
    for place, (environment, workers) in PLACES.items():
        run("judge", place, "--workers", workers, "--cache", f"cache{workers}", **environment)
        files = read_tree(place)
        trees.append(files)
        assert not any(str(tmp_path).encode() in data for data in files.values())
    assert trees[0] == trees[1]
    assert len([path for path in trees[0] if path.startswith("results/")]) > 4
