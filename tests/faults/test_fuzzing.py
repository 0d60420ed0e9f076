"""Changed files of every format through everything that reads, for a short time; `make fuzz` takes longer.

The seed is new in every run.  It is shown, and can be given again as `CLOSEREAD_FUZZ_SEED`.
"""

import itertools
import os
import random
import warnings
from pathlib import Path

import pytest
from shared.fuzzing.mutations import PIECES, mutate
from shared.fuzzing.running import Found, find_faults, keep, list_kept
from shared.fuzzing.target import Target
from shared.fuzzing.targets import make_targets
from shared.fuzzing.watching import Workspace

from closeread.exceptions import CloseReadWarning, RequestError

pytestmark = pytest.mark.extended

SECONDS = float(os.environ.get("CLOSEREAD_FUZZ_SECONDS", 8))
KEPT = Path(__file__).parent / "kept"


@pytest.fixture(scope="module")
def targets():
    return make_targets()


@pytest.mark.timeout(SECONDS + 120)
def test_changed_files_are_read_or_refused(targets, tmp_path):
    """`CLOSEREAD_FUZZ_SEED=... make fuzz` repeats it, and keeps the input."""
    seed = int(os.environ["CLOSEREAD_FUZZ_SEED"])
    done = find_faults(tmp_path, targets, seed, SECONDS)
    for one in done.faults:
        pytest.fail(f"CLOSEREAD_FUZZ_SEED={seed}: {one.target}: {one.path}: {one.data[:2000]!r}\n{one.what}")
    assert done.inputs >= len(targets)


def test_kept_inputs(targets, tmp_path):
    """What once failed."""
    for name, path, data in list_kept(KEPT):
        assert Workspace(targets[name], tmp_path / name).find_fault(path, data) is None, (name, path, data[:500])


def test_valid_files_are_read(targets, tmp_path):
    """Or all of their changes would be refused by the same check."""
    for name, target in targets.items():
        for path, data in target.files.items():
            (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / path).write_bytes(data)
        (output := tmp_path / f"{name}-out").mkdir()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CloseReadWarning)
            target.call(tmp_path / name, output)


FAULTS = {
    "an error of Python": (lambda *_: {}["id"], "KeyError"),
    "a warning of a library": (lambda *_: warnings.warn("overflow", RuntimeWarning, stacklevel=1), "overflow"),
    "an endless loop": (lambda *_: [None for _ in iter(int, 1)], "more than"),
    "something is written": (lambda folder, _: (folder / "new").write_text(""), "something was written"),
    "the input is changed": (lambda folder, _: (folder / "a").write_text("x"), "something was written"),
    "another result": (lambda *_: next(NUMBERS), "not alike twice"),
    "a refusal that leaves a file": (lambda _, output: refuse("x", output), "refused, but something was written"),
    "a message for terminals": (lambda *_: refuse_unescaped(), "not fit for a terminal"),
    "a note for terminals": (lambda *_: warnings.warn(Unescaped(), stacklevel=1), "may act on"),
}
NUMBERS = itertools.count()


class Unescaped(CloseReadWarning):
    def __init__(self):
        UserWarning.__init__(self, "\x9b")


def refuse_unescaped():
    error = RequestError("")
    error.args = ("\x1b[31m",)
    raise error


def refuse(what, output=None):
    if output is not None:
        (output / "half").write_text("")
    raise RequestError(what)


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(tmp_path, monkeypatch, name):
    monkeypatch.setattr("shared.fuzzing.watching.SECONDS", 0.2)
    call, what = FAULTS[name]
    space = Workspace(Target({"a": b"1"}, ("a",), call), tmp_path / "a")
    assert what in space.find_fault("a", b"2")
    assert (tmp_path / "a" / "a").read_bytes() == b"1"


def test_faults_are_kept(tmp_path):
    path = keep(Found("one", "a", b"x", "KeyError"), tmp_path / "kept")
    assert path.read_bytes() == b"x"
    assert list(list_kept(tmp_path / "kept")) == [("one", "a", b"x")]


def test_changes_are_repeated_by_their_seed(targets):
    files = [data for one in targets.values() for data in one.files.values()]
    first, second = ([mutate(random.Random(seed), data, files) for seed, data in enumerate(files)] for _ in range(2))
    assert first == second
    assert sum(new != old for new, old in zip(first, files, strict=True)) > len(files) * 0.8
    assert all(isinstance(piece, bytes) for piece in PIECES)
