"""Commands that are killed at each change of a file: what they write is as before, or whole."""

import os
import random
import shutil
from pathlib import Path

import pytest
from shared import json_lines
from shared.encoded_output import run_encoded
from shared.entry_points import system_rows
from shared.every_command import SLOW, find_files, list_writing, prepare, watch
from shared.file_events import finish, kill_everywhere, start
from shared.file_faults import drop_hidden
from shared.file_faults import read_tree as read_whole_tree

ALL = os.environ.get("CLOSEREAD_FAULTS") == "all"
pytestmark = [pytest.mark.gate, pytest.mark.timeout(7200 if ALL else 1500)]
CONFIG = ("--config", "sample")
SCORE = ("score", "mctaco", "mctaco.jsonl", *CONFIG, "--resamples", "2")
WRITING = {
    "baseline": ("baseline", "mctaco", "always-positive", *CONFIG, "-o", "new/out"),
    "counts": (*SCORE, "--counts", "new/out"),
    "report": (*SCORE, "--json", "--output", "new/out"),
    "table": ("table", *SCORE[1:], "--format", "csv", "-o", "new/out"),
}
OLD = ({}, {"out": b"old"})
EXPORT = ("export", "mctaco", "new/folder", *CONFIG)


def read_tree(folder):
    """The files that are no leftovers, with their content."""
    paths = [path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file()]
    seen = [path for path in paths if not any(part.startswith(".") for part in path.parts)]
    return {str(path): (folder / path).read_bytes() for path in seen}


def run_whole(arguments):
    code, _, told = run_encoded(arguments, "utf-8")
    assert code == 0, told


@pytest.mark.parametrize(
    ("name", "old"),
    [
        (name, old)
        for i, name in enumerate(WRITING)
        for old in (OLD if ALL else OLD[i % 2 : i % 2 + 1])
    ],
)
def test_a_file_is_as_before_or_whole(here, name, old):
    arguments = [
        f"{part}.jsonl" if name == "baseline" and part == "new/out" else part
        for part in WRITING[name]
    ]
    old = {path if name != "baseline" else f"{path}.jsonl": data for path, data in old.items()}
    json_lines.write("mctaco.jsonl", system_rows("mctaco"))
    Path("new").mkdir()
    run_whole(arguments)
    whole, seen = read_tree(Path("new")), []

    def prepare():
        shutil.rmtree("new")
        Path("new").mkdir()
        for path, data in old.items():
            Path("new", path).write_bytes(data)

    def check():
        seen.append(read_tree(Path("new")))
        assert seen[-1] in (old, whole)

    assert kill_everywhere(lambda: run_whole(arguments), prepare, check) >= 2
    assert seen[0] == old
    assert seen[-1] == whole


def test_an_exported_folder_is_whole_or_not_there(here):
    Path("new").mkdir()
    run_whole(EXPORT)
    whole = read_tree(Path("new"))
    assert len(whole) == 2  # the card and the table

    def prepare():
        shutil.rmtree("new")
        Path("new").mkdir()

    def check():
        assert read_tree(Path("new")) in ({}, whole)

    assert kill_everywhere(lambda: run_whole(EXPORT), prepare, check, step=1 if ALL else 3) > 5
    assert read_tree(Path("new")) == whole


def test_any_command_is_killed(call):
    """A few, at one change each, by the seed that the header shows; all of them with `CLOSEREAD_FAULTS=all`."""
    rng = random.Random(os.environ["CLOSEREAD_FUZZ_SEED"])
    names = list(list_writing())
    quick = [name for name in names if not name.startswith(SLOW)]
    for name in names if ALL else rng.sample(quick, 2):
        old, events, trees = watch(call, name)
        prepare(name, old)
        finish(start(lambda name=name: call(name), kill_at=rng.randrange(len(events))))
        assert find_files(drop_hidden(read_whole_tree("out"))) in map(find_files, trees), name


def test_a_process_that_can_not_tell_its_error_ends_as_well(monkeypatch):
    """Otherwise, it would go on with the next test, beside this process."""

    def fail():
        raise OSError

    monkeypatch.setattr("traceback.print_exc", fail)
    with pytest.raises(AssertionError, match="1"):
        finish(start(fail))
