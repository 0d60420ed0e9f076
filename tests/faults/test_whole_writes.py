"""Whatever is killed or fails while something is written, the target is absent, as it was before, or complete."""

from pathlib import Path

import pytest
from shared.file_faults import FAILURES, Killed, drop_hidden, file_faults, is_hidden, read_tree
from shared.marmara_xml import SENTENCES, put, write_fragment

ANN = "#begin document (d); part 000\nd\t0\t0\ta\t(0)\nd\t0\t1\tb\t(0)\n\n#end document\n"
BEN = "#begin document (d); part 000\nd\t0\t0\ta\t(0)\nd\t0\t1\tb\t(1)\n\n#end document\n"
SAMPLE = ("--config", "sample")

COMMANDS = {
    "file": ("baseline", "mctaco", "always-positive", *SAMPLE, "-o", "out/a.jsonl"),
    "lines": ("convert", "coref", "ann.conll", "-o", "out/a.jsonl"),
    "folder": ("baseline", "timeline", "text-order", *SAMPLE, "-o", "out/new/a"),
    "folder of documents": ("extract", "marmara_coref", "fragments", "-o", "out/a"),
    "result": ("score", "coref", "ann.conll", "ben.conll", "--no-ci", "--json", "-o", "out/a.json"),
    "several files": (
        *("adjudicate", "coref", "ann.conll", "ben.conll", "-o", "out/a.conll"),
        *("--report", "out/r.json", "--worksheet", "out/w.conll"),
    ),
}
"""Commands that write below `out`."""


@pytest.fixture
def inputs(here):
    """What the commands read, and an empty folder to write to."""
    put(
        here,
        {"ann.conll": ANN, "ben.conll": BEN, "fragments/770001121.xml": write_fragment([SENTENCES[min(SENTENCES)]])},
    )
    (here / "out").mkdir()
    return here


def list_events(run, command):
    """The events of a command that replaces what it can, and what it writes."""
    assert run(*command).exit_code == 0
    complete = clear()
    put_old(complete)
    with file_faults("out") as faults:
        assert run(*command).exit_code == 0
    assert clear() == complete
    return faults.events, complete


def clear():
    """Empty the folder; return what was in it."""
    from shutil import rmtree

    tree = read_tree("out")
    for path in Path("out").iterdir():
        rmtree(path) if path.is_dir() else path.unlink()
    return tree


def put_old(tree):
    """Put an old version of each file in place, unless a folder is written; return the versions."""
    files = [] if None in tree.values() or len({name.count("/") for name in tree}) > 1 else tree
    for name in files:
        if "/" not in name:
            (Path("out") / name).write_text("old")
    return read_tree("out")


def check_whole(tree, old, complete):
    """Nothing but the old version or the complete new one of each file, and a folder with all its files or none."""
    for name, data in tree.items():
        assert data in (old.get(name, b""), complete[name]), name
    folders = {name for name in complete if any(inside.startswith(f"{name}/") for inside in complete)} & tree.keys()
    for folder in folders:
        if any(name.startswith(f"{folder}/") for name in tree):
            assert {name for name in complete if name.startswith(f"{folder}/")} <= tree.keys()


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_killed_at_every_event(run, inputs, command):
    events, complete = list_events(run, command)
    assert {"write", "fsync"} <= set(events)
    assert not any(map(is_hidden, complete))
    for number in range(len(events)):
        old = put_old(complete)
        with pytest.raises(Killed), file_faults("out", number):
            run(*command)
        check_whole(drop_hidden(read_tree("out")), old, complete)
        if not old and drop_hidden(read_tree("out")).keys() & complete.keys():
            assert drop_hidden(clear()).items() <= complete.items()
            continue
        assert run(*command).exit_code == 0
        assert clear() == complete


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_every_write_fails_once(run, inputs, command):
    events, complete = list_events(run, command)
    for number, event in enumerate(events):
        for code in FAILURES.get(event, ()):
            old = put_old(complete)
            with file_faults("out", number, code):
                done = run(*command)
            (told,) = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
            assert (done.exit_code, told.startswith("Error: out")) == (1, True), (event, told)
            assert ": can't be written: " in told
            assert ".closeread" not in told
            tree = clear()
            assert not any(map(is_hidden, tree))
            check_whole(tree, old, complete)
