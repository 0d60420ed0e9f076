"""`closeread plot timeline`: the files it reads and writes, and its errors."""

import json
from pathlib import Path

from shared.timeline_pictures import (
    read_texts,
)
from shared.timelines import entry

PLOT = ["plot", "timeline", "Mara Lindqvist", "--config", "sample"]


def test_predictions_are_a_folder_or_a_file(ran, run):
    Path("sent").mkdir()
    Path("sent/mara_lindqvist.txt").write_text("Mara Lindqvist\n1\t1998-XX-XX\t103-4-joined\t103-4-left\n", "utf-8")
    told = ran(*PLOT, "--predictions", "sent", "-o", "folder.svg")
    assert told == "folder.svg: 7 mentions, 2 predicted\n"
    found = read_texts("folder.svg")
    assert {"1 matched", "6 missed", "1 spurious", "gold", "system"} <= set(found)
    line = {"id": "mara_lindqvist", "entity": "Mara Lindqvist"}
    line["entries"] = [entry(1, "1998-XX-XX", "103-4-joined", "103-4-left")]
    Path("sent.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    assert ran(*PLOT, "--predictions", "sent.jsonl", "-o", "file.svg") == "file.svg: 7 mentions, 2 predicted\n"
    assert Path("file.svg").read_bytes() == Path("folder.svg").read_bytes()
    other = run("plot", "timeline", "aurelia", *PLOT[3:], "--predictions", "sent", "-o", "no.svg")
    assert other.exit_code == 2
    assert "sent has no prediction for id 'aurelia'" in other.stderr
    assert not Path("no.svg").exists()


def test_an_unknown_entity_is_told_with_the_nearest(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("plot", "timeline", "Mara Lindquist", *PLOT[3:], "-o", "x.png")
    assert result.exit_code == 2
    there = "choose from: Aurelia, Mara Lindqvist, Northbay Ferries"
    assert f"no such entity: 'Mara Lindquist'. Did you mean 'Mara Lindqvist'? ({there})" in " ".join(
        result.stderr.split()
    )
    assert (
        "Did you mean 'Mara Lindqvist'?" in run("plot", "timeline", "mara_lindquist", *PLOT[3:], "-o", "x.png").stderr
    )
    result = run(*PLOT, "-o", "x.eps")
    assert result.exit_code == 2
    assert "expected .png, .svg or .pdf" in result.stderr
    assert list(tmp_path.iterdir()) == []
