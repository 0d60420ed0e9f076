"""What hostile submitters put into a store, or into a file of predictions, stops nobody else and shows as it is."""

import gzip
import os
import re
from pathlib import Path

import pytest
from shared.boards import make_store, run_judge, sample_board, score_here, send_answers, write_rows

from closeread.leaderboard import scoring
from closeread.leaderboard.declaration import make_board
from closeread.leaderboard.store_files import digest, store_path
from closeread.leaderboard.submission import PACKED, SUFFIXES

BOARD = "mctaco-sample/test"
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture(autouse=True)
def scoring_here(monkeypatch):
    monkeypatch.setattr("closeread.leaderboard.judge.score_all", score_here)


@pytest.fixture
def store(tmp_path):
    """A store with a submission that nobody has judged yet."""
    made = make_store(tmp_path / "board", sample_board())
    send_answers(made, tmp_path, "Honest", right=70)
    return made


FILES = {
    "an empty file": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(b"\0" * 10),
}


@pytest.mark.parametrize("make", FILES.values(), ids=FILES)
def test_junk_where_a_description_belongs(store, tmp_path, make):
    folder = Path(store.place) / "submissions" / BOARD / "0a"
    folder.mkdir(exist_ok=True)
    for number in range(3):
        make(folder / f"0a{number:062x}.json")
    before = len(os.listdir("/proc/self/fd"))
    judged = run_judge(store, tmp_path)
    # or many would use up all that a process may open
    assert len(os.listdir("/proc/self/fd")) == before
    assert len(judged.accepted) == 1
    assert len(judged.refused) == 3
    assert not any("Errno" in sentence for sentence in judged.refused)


def test_predictions_that_are_a_folder(store, tmp_path):
    (path,) = (Path(store.place) / "submissions" / BOARD).rglob("*.jsonl")
    path.unlink()
    path.mkdir()
    (told,) = run_judge(store, tmp_path).refused
    assert told.endswith(f"{path.name} can't be read: Is a directory")


def test_systems_of_one_name_are_told_apart(store, tmp_path, ran):
    names = {70: "Honest", 69: "honest", 68: "Honest", 67: "Another"}
    ids = {
        70: store.list_arrivals(
            store.read_leaderboard(), store.read_results(store.read_leaderboard())
        )[0].submission
    }
    ids |= {
        right: send_answers(store, tmp_path, names[right], right=right) for right in (69, 68, 67)
    }
    run_judge(store, tmp_path)
    for style in ("table", "markdown"):
        shown = ran("leaderboard", "show", store.place, "--format", style)
        for right in (70, 69, 68):
            assert f"{names[right]} ({ids[right][:8]})" in shown
        assert "Another (" not in shown


@pytest.mark.parametrize(
    "name", ["\u202eenots", "a\u200bb", "\x1b[31mred", "ok\n1 Best", "", "x" * 81, "\ufeff", "ＡＢ"]
)
def test_names_of_systems_that_are_no_plain_text(store, tmp_path, run, name):
    path = write_rows(tmp_path / "rows.jsonl", [{"id": "x", "label": "yes"}])
    done = run("submit", "mctaco", path, store.place, "--system", name)
    assert done.exit_code in (1, 2)
    assert not UNSAFE.search(done.stderr)
    assert len(list((Path(store.place) / "submissions" / BOARD).rglob("*.json"))) == 1


CONTENTS = [
    b"",
    b"\n",
    b"\0",
    b"\xff\xfe\0",
    b"\xef\xbb\xbf",
    b"{}",
    b"[]",
    b"9" * 6000,
    b"{" * 3000,
    b'{"id": 1e400}',
    b"\x1f\x8b",
    gzip.compress(b""),
    b"PK\x05\x06" + b"\0" * 18,
    "\u202e\u2066\x1b[31m".encode(),
    b'{"name": "../x", "text": ""}\n',
    b'{"name": "a.conll", "text": ""}\n',
    b"#begin document (a); part 99999999999999999999\na 0 0 x (9999999999999999999999)\n#end document\n",
]


@pytest.mark.extended
@pytest.mark.parametrize("scored", ["mctaco", "coref"])
def test_files_of_all_suffixes_that_are_no_predictions(scored, tmp_path, capfd):
    """Each is refused in words that can be shown; none is a defect that keeps the organisers busy."""
    key = write_rows(tmp_path / "key.jsonl", [{"document": "a", "clusters": [[[0, 0], [1, 1]]]}])
    board = (
        make_board("coref", gold=key, options={"missing": "error"})
        if scored == "coref"
        else sample_board()
    )
    scorer = board.open_scorer(key if scored == "coref" else None)
    for suffix in (*SUFFIXES, PACKED, ".jsonl.gz", ".gz.gz"):
        for data in CONTENTS:
            job = scoring.Job(
                "0" * 64, store_path("submissions", board.name, digest(data), suffix), data
            )
            outcome = scoring.score(board, scorer, job)
            assert outcome.problems, (suffix, data)
            assert outcome == scoring.Outcome(job.subject, problems=outcome.problems)
            assert not any(
                UNSAFE.search(problem) or len(problem) > 2000 for problem in outcome.problems
            )
    assert "Traceback" not in capfd.readouterr().err
