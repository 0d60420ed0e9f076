"""A judge that is killed: its processes end with it, and it leaves no temporary files behind."""

import json
import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from shared.boards import make_store, sample_answers, sample_board, send

pytestmark = pytest.mark.extended

COMMAND = [sys.executable, "-c", "from closeread.cli import main; main()", "leaderboard", "judge"]


def is_alive(process):
    """Whether a process is there, and not only waits for its parent to see that it has ended."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text("ascii", "replace")
    except OSError:
        return False
    return not stat.rpartition(")")[2].lstrip().startswith("Z")


def find_left(folder):
    """The numbers of the processes whose temporary files are in a folder, and these."""
    known = f"TMPDIR={folder}".encode()
    processes = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if known in (place / "environ").read_bytes() and is_alive(place.name):
                processes.append(int(place.name))
    return processes, sorted(folder.iterdir())


@pytest.mark.parametrize("is_scoring", [False, True])
def test_a_killed_judge_leaves_nothing_behind(tmp_path, monkeypatch, is_scoring):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    store = make_store(tmp_path / "board", sample_board())
    predictions = tmp_path / "p.jsonl"
    if is_scoring:
        predictions.write_text('{"id": "nowhere", "label": "yes"}\n' * 400_000)
    else:
        predictions.write_text("".join(f"{json.dumps(row)}\n" for row in sample_answers(right=3)))
    send(store, predictions, "Mine", at=datetime.now(UTC))
    errors = tmp_path / "errors.txt"
    command = [*COMMAND, store.place, "--cache", tmp_path / "counts"]
    with (
        errors.open("w") as stderr,
        subprocess.Popen(command, stderr=stderr, stdout=subprocess.DEVNULL) as process,
    ):
        # The judge, its worker, which has files, and, if it scores, the child of this one.
        deadline = time.monotonic() + 150
        while time.monotonic() < deadline:
            processes, files = find_left(scratch)
            if files and len(processes) >= 2 + is_scoring:
                break
            time.sleep(0.005)
        process.kill()
    assert files
    deadline = time.monotonic() + 25
    while any(find_left(scratch)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert find_left(scratch) == ([], [])
    assert "Traceback" not in errors.read_text("utf-8")
