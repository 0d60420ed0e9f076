"""Changed files of every format through everything that reads, for a short time; `make fuzz` takes longer.

The seed is new in every run.  It is shown, and can be given again as `CLOSEREAD_FUZZ_SEED`.
"""

import itertools
import os
import random
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

import pytest
from shared import fuzzing
from shared.fuzzing import attempt, find_fault, find_faults, keep, list_kept, make_targets, mutate
from shared.patterns import list_modules

from closeread.exceptions import RequestError
from closeread.formats import Format, SubmissionFile, SubmissionFolder

pytestmark = pytest.mark.extended

SECONDS = float(os.environ.get("CLOSEREAD_FUZZ_SECONDS", 8))
KEPT = Path(__file__).parent / "kept"


@pytest.fixture(scope="module")
def targets(tmp_path_factory):
    os.chdir(tmp_path_factory.mktemp("fuzzed"))
    yield make_targets()
    os.chdir(Path(__file__).parents[2])


@pytest.mark.timeout(SECONDS + 1200)
def test_changed_files_are_read_or_refused(targets):
    """`CLOSEREAD_FUZZ_SEED=... make fuzz` repeats it, and keeps the input."""
    seed = int(os.environ["CLOSEREAD_FUZZ_SEED"])
    for name, path, data, what in find_faults(targets, seed, SECONDS):
        assert what is None, f"CLOSEREAD_FUZZ_SEED={seed}: {name}: {path}: {data[:2000]!r}\n{what}"


def test_kept_inputs(targets):
    """What once failed."""
    for name, path, data in list_kept(KEPT):
        assert find_fault(targets[name].call, path, data) is None, (name, path, data[:500])


@pytest.mark.filterwarnings("ignore::closeread.CloseReadWarning")
def test_valid_files_are_read_by_every_reader(targets):
    """Or all of their changes would be refused by the same check; a new reader needs a target."""
    readers = dict(list_readers())
    with watching_calls() as called:
        for name, target in targets.items():
            code, *found = target.call()
            # of these, a column may have another type
            assert code == 0 or name.startswith("parquet-"), (name, found)
    missing = {name for code, name in readers.items() if code not in called}
    assert missing == {"closeread.tasks.marmara.corpus_files.FORMAT.read"}  # refuses all


def list_readers():
    """The code that reads each format of the package, and its name."""
    for module in list_modules():
        for name, value in vars(module).items():
            if isinstance(value, (Format, SubmissionFile, SubmissionFolder)):
                for holder in (value, getattr(value, "folder", None)):
                    for method in ("read", "read_system", "read_files", "parse"):
                        if function := getattr(holder, method, None):
                            yield function.__code__, f"{module.__name__}.{name}.{method}"


@contextmanager
def watching_calls():
    """Collect the code of all functions that are called in the block."""
    called = set()

    def remember(frame, event, value):
        if event == "call":
            called.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(remember)
    try:
        yield called
    finally:
        sys.setprofile(before)


def refuse(path):
    raise RequestError("\n" * 50)


NUMBERS = itertools.count()
FAULTS = {
    "KeyError": lambda path: {}["id"],
    "overflow": lambda path: warnings.warn("overflow", RuntimeWarning, stacklevel=1),
    "more than": lambda path: [None for _ in iter(int, 1)],
    "something was written": lambda path: path.write_text("x"),
    "not alike twice": lambda path: next(NUMBERS),
    "not fit for a terminal": refuse,
}


@pytest.mark.parametrize("what", FAULTS)
def test_faults_are_found(here, monkeypatch, what):
    monkeypatch.setattr(fuzzing, "SECONDS", 0.2)
    path = Path("in/a")
    path.parent.mkdir()
    path.write_text("1")
    assert what in find_fault(lambda: attempt(FAULTS[what], path), path, b"2")
    assert path.read_text() == "1"
    keep(Path("kept"), "one", path, b"x")
    assert list(list_kept(Path("kept"))) == [("one", path, b"x")]


def test_changes_are_repeated_by_their_seed(targets):
    files = [path.read_bytes() for target in targets.values() for path in target.files]
    first, second = (
        [mutate(random.Random(seed), data, files) for seed, data in enumerate(files)]
        for _ in range(2)
    )
    assert first == second
    assert sum(new != old for new, old in zip(first, files, strict=True)) > len(files) * 0.8
