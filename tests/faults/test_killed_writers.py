"""Commands that are killed at each change of a file: what they write is as before, or whole."""

import shutil
from pathlib import Path

import pytest
from shared import json_lines
from shared.doors import system_rows
from shared.encoded_output import run_encoded
from shared.file_events import kill_everywhere

CONFIG = ("--config", "sample")
SCORE = ("score", "mctaco", "mctaco.jsonl", *CONFIG, "--resamples", "2")
WRITING = {
    "baseline": ("baseline", "mctaco", "always-positive", *CONFIG, "-o", "new/out"),
    "counts": (*SCORE, "--counts", "new/out"),
    "report": (*SCORE, "--json", "--output", "new/out"),
    "table": ("table", *SCORE[1:], "--format", "csv", "-o", "new/out"),
}
EXPORT = ("export", "mctaco", "new/folder", *CONFIG)


def read_tree(folder):
    """The files that are no leftovers, with their content."""
    paths = [path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file()]
    seen = [path for path in paths if not any(part.startswith(".") for part in path.parts)]
    return {str(path): (folder / path).read_bytes() for path in seen}


def run_whole(arguments):
    code, _, told = run_encoded(arguments, "utf-8")
    assert code == 0, told


@pytest.mark.parametrize("name", WRITING)
@pytest.mark.parametrize("old", [{}, {"out": b"old"}], ids=["new", "replaced"])
def test_a_file_is_as_before_or_whole(here, name, old):
    arguments = [f"{part}.jsonl" if name == "baseline" and part == "new/out" else part for part in WRITING[name]]
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

    assert kill_everywhere(lambda: run_whole(EXPORT), prepare, check) > 5
    assert read_tree(Path("new")) == whole
