"""A coreference key passes through no more rooms of the house than a TNE submission, from the command to the table."""

import sys
from pathlib import Path

import pytest
from shared import json_lines
from shared.doors import KEY, RESPONSE, system_rows


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("key.jsonl").write_text(json_lines.dump(KEY), "utf-8")
    Path("response.jsonl").write_text(json_lines.dump(RESPONSE), "utf-8")
    Path("links.jsonl").write_text(json_lines.dump(system_rows("tne")), "utf-8")


def rooms_of(run, *arguments):
    """The packages whose functions a command calls; all tasks are one room."""
    names = set()

    def note(frame, event, argument):
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("closeread."):
            names.add(name.split(".")[1])

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        result = run(*arguments)
    finally:
        sys.setprofile(before)
    assert result.exit_code == 0, result.stderr
    return names


def test_a_key_takes_the_way_of_a_submission(here, run):
    of_submission = rooms_of(run, "score", "tne", "links.jsonl", "--config", "sample")
    of_key = rooms_of(run, "score", "coref", "key.jsonl", "response.jsonl")
    assert {"cli", "scoring", "corpus", "counts", "formats", "tasks"} <= of_submission
    assert of_key - {"assignment"} <= of_submission  # CEAF assigns entities
