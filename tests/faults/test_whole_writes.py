"""Whatever is killed or fails while a command writes, its files are as before or complete.

Every run of the tests tries an event of each kind of a few commands, by a seed that the header shows;
`CLOSEREAD_FAULTS=all`, as `make fuzz` sets it, tries every event of every command.
"""

import gc
import os
import random
from io import BytesIO
from zipfile import ZipFile

import click
import pytest
from shared.commands import list_commands
from shared.every_command import (
    FAMILIES,
    LINES,
    LOCKS,
    REASONS,
    SLOW,
    find_files,
    find_leftovers,
    has_reason,
    list_lines,
    list_writing,
    prepare,
    watch,
)
from shared.file_faults import FAILURES, Killed, drop_hidden, file_faults, read_tree
from shared.file_sizes import small_files

from closeread.cli import groups

ALL = os.environ.get("CLOSEREAD_FAULTS") == "all"
pytestmark = pytest.mark.timeout(7200 if ALL else 1500)
SEED = os.environ["CLOSEREAD_FUZZ_SEED"]
LINES_TRIED, FEW = 6, 1
"""The lines that are tried, and the events of each kind of a line."""

PLACED = ("rename", "replace")
"""The events that put something in place."""

CACHE = "note: out/cache can't be written: "
"""How a note begins that the judge has no cache."""

WRITING = list_writing()


def choose_lines():
    """The lines to try: all, or some of the quick ones, of which families of lines that write alike have one each."""
    rng = random.Random(SEED)
    quick = [name for name in WRITING if not name.startswith(SLOW)]
    families = {name: [one for one in quick if one.split()[0] == name] for name in FAMILIES}
    chosen = [rng.choice(names) for names in families.values() if names]
    chosen += [name for name in quick if name.split()[0] not in FAMILIES]
    return list(WRITING) if ALL else rng.sample(chosen, LINES_TRIED)


def choose(name, kind, events):
    """The events to try."""
    return (
        events
        if ALL or len(events) <= FEW
        else random.Random(f"{SEED} {name} {kind}").sample(events, FEW)
    )


def check_states(events, trees):
    """Files appear, and change, in a rename only; none is removed.  An empty file that marks a package may be made."""
    for event, before, after in zip(events, trees[:-1], trees[1:], strict=True):
        before, after = find_files(before), find_files(after)
        assert before.keys() <= after.keys()
        changed = [name for name, data in after.items() if before.get(name) != data]
        assert event in PLACED or all(after[name] == b"" for name in changed), (event, changed)


@pytest.mark.gate
# the killed close nothing
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", choose_lines())
def test_killed_and_failing(call, name):
    old, events, trees = watch(call, name)
    assert "write" in events
    check_states(events, trees)
    for number in choose(name, "kill", range(len(events))):
        prepare(name, old)
        with pytest.raises(Killed), file_faults("out", number):
            call(name)
        # what the killed left open; its warnings must not come while Python parses a file
        gc.collect()
        assert find_files(drop_hidden(read_tree("out"))) == find_files(trees[number]), events[
            number
        ]
    done = call(name)  # after the last of them
    if done.exit_code:  # a new folder is wanted
        assert "choose a" in done.stderr
    else:
        assert drop_hidden(read_tree("out")) == trees[-1]
    failures = [(i, code) for i, event in enumerate(events) for code in FAILURES.get(event, ())]
    for number, code in choose(name, "failure", failures):
        prepare(name, old)
        with file_faults("out", number, code):
            done = call(name)
        check_refusal(done, trees, (events[number], code))


def check_refusal(done, trees, what):
    """One line says which file or folder can't be written, one that the user knows, and nothing is left by halves."""
    if done.stderr.startswith(CACHE):
        # Only the next run takes longer.
        assert done.exit_code == 0, (what, done.stderr)
        assert drop_cache(drop_hidden(read_tree("out"))) == drop_cache(trees[-1]), what
        return
    (told,) = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
    assert done.exit_code == 1, (what, told)
    assert told.startswith("Error: out") or "; set TMPDIR to " in told, (what, told)
    assert ": can't be written: " in told or any(lock in told for lock in LOCKS), (what, told)
    assert ".closeread" not in told
    assert not find_leftovers(), what
    found, expected = find_files(drop_hidden(read_tree("out"))), list(map(find_files, trees))
    assert found in expected, (
        what,
        [list_differing(found, one) for one in expected if one.keys() == found.keys()],
    )


def drop_cache(tree):
    """The files and folders without those of the judge's cache."""
    return {name: data for name, data in tree.items() if not name.startswith("cache")}


def list_differing(one, other):
    """The names of the files that differ, and of those in archives."""
    names = [name for name, data in one.items() if data != other.get(name)]
    for name in names[:]:
        if all(files.get(name, b"").startswith(b"PK") for files in (one, other)):
            inside = [ZipFile(BytesIO(files[name])) for files in (one, other)]
            names += list_differing(
                *(
                    {f"{name}: {part}": zipped.read(part) for part in zipped.namelist()}
                    for zipped in inside
                )
            )
    return names


@pytest.mark.extended
@pytest.mark.parametrize("name", choose_lines() if ALL else choose_lines()[:1])
def test_files_that_get_too_large(call, name):
    old, _, trees = watch(call, name)
    new = [len(data) for path, data in find_files(trees[-1]).items() if data != trees[0].get(path)]
    prepare(name, old)
    with small_files(max(new) // 2):
        done = call(name)
    check_refusal(done, trees, "size")


def test_every_command_is_tried_or_named():
    """A new command that writes has a line that writes all that it can, or a reason."""
    lines = list_lines().values()
    for path, command in list_commands():
        if hasattr(command, "commands") or has_reason(path):
            continue
        own = [line for line in lines if line[: len(path)] == path]
        assert own, path
        for param in command.params:
            if isinstance(param, click.Option) and param.type is groups.WRITTEN:
                given = [line for line in own if set(param.opts) & set(line)]
                assert given, (path, param.opts)
    names = {" ".join(path) for path, _ in list_commands()}
    assert names >= {*LINES, *map(" ".join, REASONS)}
