"""`make score` and `make test` install the package when its sources or extras have changed, and only then."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = (
    "pyproject.toml",
    "setup.py",
    "README.md",
    "LICENSE",
    "src/closeread/cli/__init__.py",
    "schemas/mctaco.json",
)

pytestmark = [
    pytest.mark.gate,
    pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed"),
]


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A folder with our Makefile and some files, and an environment whose commands only write down that they ran."""
    # Of a make that runs the tests.
    for name in ("MAKEFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "MFLAGS", "VENV", "EXTRAS"):
        monkeypatch.delenv(name, raising=False)
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in (*SOURCES, "loaders/a", "metrics/a", "cards/a"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"first {name}\n")
    binaries = tmp_path / ".venv" / "bin"
    binaries.mkdir(parents=True)
    for name in ("python", "pip", "closeread", "ruff", "mypy", "pytest"):
        (binaries / name).write_text(f'#!/bin/sh\necho {name} "$@" >>log\n')
        (binaries / name).chmod(0o755)
    return tmp_path


def make(checkout, *arguments):
    """Run make; the installations that it made, by what was installed."""
    (checkout / "log").write_text("")
    subprocess.run(["make", *arguments], cwd=checkout, capture_output=True, check=True)
    lines = (checkout / "log").read_text().splitlines()
    assert any(line.startswith(("closeread score", "pytest")) for line in lines)
    return [line.split()[-1] for line in lines if line.startswith("pip install")]


def test_nothing_is_installed_twice(checkout):
    assert make(checkout, "score") == ["."]
    assert make(checkout, "score") == []
    assert make(checkout, "test", "EXTRAS=test") == [".[test]"]
    assert make(checkout, "test", "EXTRAS=test") == []
    assert make(checkout, "score") == []
    assert make(checkout, "test", "EXTRAS=test,hub") == [".[test,hub]"]


def test_a_changed_source_is_installed(checkout):
    make(checkout, "score")
    for name in SOURCES:
        path = checkout / name
        times = path.stat()
        path.write_text(f"again {name}\n")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # as another checkout may have it
        assert make(checkout, "score") == ["."]
    assert make(checkout, "score") == []


def test_score_says_what_it_does_and_what_to_do_next(checkout):
    """Also without the corpus, for which the sample is scored: that is not an error."""
    fails = "#!/bin/sh\n[ $1 = info ] || exit 0\necho 'Error: not found; try --config sample' >&2\nexit 1\n"
    (checkout / ".venv" / "bin" / "closeread").write_text(fails)
    (checkout / ".venv" / "bin" / "python").unlink()
    arguments = ["make", "score", "PYTHON=:"]
    first, second = (
        subprocess.run(arguments, cwd=checkout, capture_output=True, text=True) for _ in range(2)
    )
    assert first.stdout.splitlines() == [
        "Installing closeread into .venv (about a minute) ...",
        *second.stdout.splitlines(),
    ]
    assert (first.returncode, first.stderr + second.stderr) == (0, "")
    note, *_, activate, score, help_ = second.stdout.splitlines()
    assert note.startswith("Note: McTaco's files are not here")
    assert [activate.strip(), help_.strip()] == [". .venv/bin/activate", "closeread --help"]
    command, *files = score.split()[2:]
    assert command == "coref"
    assert all((ROOT / file).is_file() for file in files)
