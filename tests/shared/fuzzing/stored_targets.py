"""Files of rows in other forms, stored counts, and what is in the store of a leaderboard."""

import io
import json
import random
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from click.testing import CliRunner
from shared import json_lines
from shared.boards import NOON, judge_here, make_store, sample_board, send_answers
from shared.doors import CORPORA, sample_gold, system_rows
from shared.file_faults import drop_hidden, read_tree
from shared.fuzzing.command_targets import run_command
from shared.fuzzing.target import Target

import closeread
from closeread.cli import main
from closeread.counts.estimates import Resampling
from closeread.formats import parquet
from closeread.leaderboard.declaration import digest, write_json
from closeread.leaderboard.store import FolderStore

FEW = Resampling(2)
TYPES = (
    *(pa.large_string(), pa.dictionary(pa.int8(), pa.string()), pa.binary(), pa.large_binary(), pa.string_view()),
    *(pa.int8(), pa.uint64(), pa.float16(), pa.float64(), pa.bool_(), pa.decimal128(20, 2), pa.null()),
    *(pa.timestamp("ns", "Asia/Tokyo"), pa.duration("s"), pa.date32(), pa.time64("us"), pa.month_day_nano_interval()),
    *(pa.list_(pa.string()), pa.map_(pa.string(), pa.string()), pa.struct([("id", pa.string())])),
)


def make_stored_targets():
    """All targets by name; to be called in an empty working folder."""
    return {**_make_parquet(), **_make_counts(), **_make_boards()}


def _make_parquet():
    """Gold as Parquet and predictions as Arrow tables: of changed rows, of changed types, and of changed bytes."""
    found = {}
    for corpus in CORPORA:
        for side, rows in (("gold", sample_gold(corpus)), ("system", system_rows(corpus))):
            lines = json_lines.dump(rows[:12]).encode()
            found[f"parquet-{corpus}-{side}"] = Target(
                {"rows.jsonl": lines}, ("rows.jsonl",), partial(_score_rows, corpus, side, lines)
            )
    table = pa.Table.from_pylist(system_rows("mctaco")[:12])
    pq.write_table(table, file := io.BytesIO())
    found["parquet-bytes"] = Target(
        {"a.parquet": file.getvalue()},
        ("a.parquet",),
        lambda folder, _: list(parquet.read_parquet(folder / "a.parquet", lambda schema: ())),
    )
    return found


def _score_rows(corpus, side, valid, folder, output):
    data = (folder / "rows.jsonl").read_bytes()
    try:
        rows = [json.loads(line) for line in data.decode("utf-8", "surrogatepass").splitlines()]
        table = pa.Table.from_pylist(rows)
        table = table if data == valid else _change_type(table, random.Random(data))
        pq.write_table(table, output / "rows.parquet")
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, pa.ArrowException):
        (output / "rows.parquet").unlink(missing_ok=True)
        return None  # no Parquet file has such rows
    path = (output / "rows.parquet").rename(folder / "rows.parquet")
    try:
        if side == "system":
            return closeread.score(corpus, table, config="sample", missing="empty", resampling=FEW).to_json()
        return closeread.score(corpus, [], gold=path, missing="empty", resampling=FEW).to_json()
    finally:
        path.unlink()


def _change_type(table, rng):
    """Give a column another type, in one of two cases."""
    if rng.random() < 0.5 or not table.num_columns:
        return table
    number, kind = rng.randrange(table.num_columns), rng.choice(TYPES)
    try:
        column = table.column(number).cast(kind, safe=False)
    except (TypeError, ValueError, pa.ArrowException):
        column = pa.nulls(table.num_rows, kind)
    return table.set_column(number, table.column_names[number], column)


def _make_counts():
    """The bytes of stored counts."""
    json_lines.write("system.jsonl", system_rows("tne"))
    line = ["score", "tne", "system.jsonl", "--config", "sample", "--no-ci", "--counts", "tne.parquet"]
    assert CliRunner().invoke(main, line).exit_code == 0
    files = {"a.parquet": Path("tne.parquet").read_bytes()}
    return {"counts-bytes": Target(files, tuple(files), lambda folder, output: _read(folder / "a.parquet", output))}


def _read(path, output):
    return run_command(["score", "--from-counts", str(path), "--json", "--resamples", "2"], output)


def _make_boards():
    """The files of a store, and submissions that are judged: by the digests that their content has."""
    store = make_store(Path("board"), sample_board())
    submission = send_answers(store, Path(), "First", right=30)
    judge_here(store, Path("cache"))
    files = {f"board/{name}": data for name, data in drop_hidden(read_tree("board")).items() if data is not None}
    kinds = {name: name.split("/")[1] for name in files if len(files[name]) < 200_000}
    found = {}
    for name, kind in kinds.items():
        found.setdefault(f"board-{kind.partition('.')[0]}", Target(files, (name,), _judge))
    about = next(name for name in files if name.endswith(f"{submission}.json") and "/submissions/" in name)
    predictions = json.loads(files[about])["predictions"]
    found["board-arrival"] = Target(
        {"leaderboard.json": files["board/leaderboard.json"], "about.json": files[about],
         "predictions.jsonl": files[f"board/{predictions}"]},
        ("about.json", "predictions.jsonl"),
        _judge_arrival,
    )  # fmt: skip
    return found


def _judge(folder, output):
    """Judge and verify a store, of which no file may be believed."""
    board = output / "board"
    for name, data in read_tree(folder / "board").items():
        if data is not None:
            (board / name).parent.mkdir(parents=True, exist_ok=True)
            (board / name).write_bytes(data)
    return _judge_folder(board, output)


def _judge_arrival(folder, output):
    """Judge a submission whose files have the names that their digests give them."""
    board, name = output / "board", "mctaco"
    declared = (folder / "leaderboard.json").read_bytes()
    name = json.loads(declared)["boards"][0]["name"]
    predictions, about = (folder / "predictions.jsonl").read_bytes(), (folder / "about.json").read_bytes()
    key = digest(predictions)
    try:
        said = json.loads(about)
        if isinstance(said, dict) and str(said.get("predictions", "")).endswith(".jsonl"):
            said["predictions"] = f"predictions/{name}/{key[:2]}/{key}.jsonl"
            about = write_json(said)
    except (ValueError, RecursionError):
        pass
    own = digest(about)
    files = {
        "leaderboard.json": declared,
        f"predictions/{name}/{key[:2]}/{key}.jsonl": predictions,
        f"submissions/{name}/{own[:2]}/{own}.json": about,
    }
    for path, data in files.items():
        (board / path).parent.mkdir(parents=True, exist_ok=True)
        (board / path).write_bytes(data)
    return _judge_folder(board, output)


def _judge_folder(board, output):
    store = FolderStore(board)
    store._read_time = lambda about: NOON.timestamp()
    try:
        done = judge_here(store, output / "cache")
        return done, drop_hidden(read_tree(board))
    finally:
        for path in sorted(output.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
