"""A lack of memory ends in one line, whatever the command was doing."""

import pytest

from closeread.formats import text

WRONG = {MemoryError: "there is not enough memory for this", RecursionError: "something is nested too deeply"}
FILES = {"score": 1, "validate": 1, "compare": 2, "table": 2}


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("command", FILES)
def test_reading(here, run, monkeypatch, command, kind):
    def fail(*arguments):
        raise kind

    (here / "a.jsonl").write_text("{}\n")
    monkeypatch.setattr(text, "read_bytes", fail)
    done = run(command, "mctaco", *["a.jsonl"] * FILES[command], "--config", "sample")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == f"Error: {WRONG[kind]}\n"
