"""Files of a store that somebody damaged: one clear error that names them, and a judge that makes them again."""

import json
import random
import shutil
from pathlib import Path

import pytest
from shared.boards import (
    make_store,
    read_tree,
    run_judge,
    sample_board,
    send,
    send_answers,
)

from closeread.exceptions import FormatError, RequestError
from closeread.leaderboard.declaration import make_board
from closeread.leaderboard.index_file import parse_index
from closeread.leaderboard.judge import JudgingReport
from closeread.leaderboard.results import Entry, Record
from closeread.leaderboard.store import FolderStore
from closeread.leaderboard.store_files import read_file
from closeread.leaderboard.submission import About

pytestmark = pytest.mark.gate

OTHERS = [
    None,
    1,
    -1,
    1e300,
    "x",
    "",
    [],
    {},
    True,
    [1],
    {"x": 1},
    "2026-02-31T10:00:00Z",
    "../../x",
]


@pytest.fixture
def store(judged, tmp_path):
    """A judged store with two systems, and their counts."""
    shutil.copytree(judged, tmp_path, dirs_exist_ok=True)
    return FolderStore(tmp_path / "board")


def find(store, pattern):
    return sorted(Path(store.place).glob(pattern))[0]


@pytest.mark.extended
def test_a_file_that_is_cut_off_is_named(store, run):
    for pattern in ("entries/*/*/*/*.json", "results/*/*/*/*.json", "board.json"):
        path = find(store, pattern)
        path.write_bytes((whole := path.read_bytes())[:-20])
        for command in ("show", "status", "judge"):
            done = run("leaderboard", command, store.place)
            is_needed = (pattern == "board.json") == (command == "show")
            assert done.exit_code == (1 if is_needed else 0), (pattern, command)
            if is_needed:
                assert str(path) in done.stderr
                assert "closeread leaderboard judge" in done.stderr
        path.write_bytes(whole)


def test_judging_again_makes_what_is_missing_and_changes_nothing_else(store, tmp_path):
    before = read_tree(store.place)
    assert run_judge(store, tmp_path) == JudgingReport()
    assert read_tree(store.place) == before
    for pattern in ("no file", "entries/*/*/*/*.json", "results/*/*/*/*.json", "board.json"):
        for path in Path(store.place).glob(pattern):
            path.unlink()
        run_judge(store, tmp_path / f"without counts, {pattern[:3]}")
        assert read_tree(store.place) == before, pattern


def test_all_damaged_files_are_named_at_once(store):
    paths = [find(store, "entries/*/*/*/*.json"), find(store, "results/*/*/*/*.json")]
    for path in paths:
        path.write_bytes(b"{")
    with pytest.raises(FormatError) as caught:
        store.read_results(store.read_leaderboard())
    assert all(path.name in str(caught.value) for path in paths)


def list_places(value, place=()):
    """The places of all values of a JSON value; of lists, the first few."""
    yield place
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value[:2])
        if isinstance(value, list)
        else ()
    )
    for key, item in items:
        yield from list_places(item, (*place, key))


def put(value, place, other):
    """A copy of a JSON value with another value at a place."""
    if not place:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = put(value[place[0]], place[1:], other)
    return copy


READERS = {
    "board.json": lambda store, data: parse_index(data, "file"),
    "leaderboard.json": lambda store, data: type(store.read_leaderboard()).from_bytes(data, "file"),
    "entries/*/*/*/*.json": lambda store, data: read_file(Entry, data, "file"),
    "results/*/*/*/*.json": lambda store, data: Record.from_bytes(data, "file"),
    "submissions/*/*/*/*.json": lambda store, data: About.from_bytes(
        data, "mctaco-sample/test", "file"
    ),
}


@pytest.mark.parametrize("pattern", READERS)
@pytest.mark.extended
def test_whatever_has_another_structure_is_one_error(store, pattern):
    path = find(store, pattern)
    value = json.loads(path.read_bytes())
    rng = random.Random(0)
    places = list(list_places(value))
    refused = 0
    for _ in range(300):
        changed = put(value, rng.choice(places), rng.choice(OTHERS))
        try:
            READERS[pattern](store, json.dumps(changed).encode())
        except FormatError:
            refused += 1
    assert refused > 100


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null\n",
        b"[]\n",
        b"{}\n",
        b"{}\n{}\n",
        b"\xff\n",
        b"[" * 100_000,
        b"{" * 30_000,
        b'{"format": 2}\n',
        b'{"a":NaN}\n',
    ],
)
def test_other_content_is_one_error(store, data):
    for read in READERS.values():
        with pytest.raises(FormatError):
            read(store, data)


def test_predictions_that_their_author_deletes_keep_nobody_from_the_board(store, tmp_path):
    """Their counts may be kept here; elsewhere the rest of the board is judged, and the loss is an error."""
    gone = next(Path(store.place).glob("submissions/*/*/*/*.jsonl"))
    gone.unlink()
    send_answers(store, tmp_path, "System 90", right=90)
    assert not run_judge(store, tmp_path).errors
    elsewhere = run_judge(store, tmp_path / "elsewhere")
    assert len(elsewhere.errors) == 1
    assert gone.name in elsewhere.errors[0]
    rows = [
        row["system"] for row in store.read_index()["boards"][0]["rows"] if row["kind"] == "system"
    ]
    assert len(rows) == 2
    assert "System 90" in rows


def test_a_board_with_other_metrics_is_scored_again(tmp_path):
    """The signature says nothing about metrics; neither records nor counts of the old ones may be used."""
    key = tmp_path / "key.conll"
    words = "#begin document (a); part 000\na 0 0 Ada (1)\na 0 1 sat -\na 0 2 she (1)\n\n#end document\n"
    key.write_text(words, "utf-8")
    golds = {"coref/test": key}
    boards = [
        make_board("coref", gold=key, metrics=names, private=False)
        for names in (("muc",), ("lea",))
    ]
    assert boards[0].signature == boards[1].signature
    store = make_store(tmp_path / "board", boards[0])
    send(store, key, "Key")
    for folder in ("one", "two", "one"):
        for board in boards:
            store.write_leaderboard(store.read_leaderboard().with_board(board))
            assert not run_judge(store, tmp_path / folder, golds).errors
            (row,) = store.read_index()["boards"][0]["rows"]
            assert set(row["scores"]) == {metric.name for metric in board.procedure.metrics}
            assert row["scores"][board.headline]["value"] == 1


def test_a_board_that_becomes_private_has_no_counts_any_more(tmp_path):
    store = make_store(tmp_path / "board", sample_board())
    send_answers(store, tmp_path, "Half", right=50)
    run_judge(store, tmp_path)
    store.write_leaderboard(store.read_leaderboard().with_board(sample_board(private=True)))
    run_judge(store, tmp_path)
    records = store.read_results(store.read_leaderboard()).records.values()
    assert len(records) == 4
    assert not any(record.report["counts"] for record in records)


def test_a_headline_that_the_procedure_lacks_is_one_error(store, tmp_path):
    path = Path(store.place) / "leaderboard.json"
    path.write_bytes(path.read_bytes().replace(b'"headline":"f1"', b'"headline":"f2"'))
    with pytest.raises(RequestError, match="no such score: 'f2'"):
        run_judge(store, tmp_path)
