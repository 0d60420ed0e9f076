"""`closeread plot timeline`: the files it reads and writes, and its errors."""

import json
import sys
from pathlib import Path

import pytest
from shared.for_each import for_each
from shared.timeline_pictures import (
    read_texts,
)
from shared.timelines import entry

from closeread.exceptions import MissingExtraError
from closeread.tasks.timeline.plots import draw_timeline

PLOT = ["plot", "timeline", "Mara Lindqvist", "--config", "sample"]
LINDQVIST = [
    "103-4-joined", "101-3-signed", "101-3-said", "102-3-visited", "102-3-thanked", "103-3-named", "103-3-announced",
]  # fmt: skip


@for_each("suffix", ["png", "svg"])
def test_the_same_bytes_whatever_the_users_settings(ran, suffix):
    import matplotlib

    assert ran(*PLOT, "-o", f"one.{suffix}") == f"one.{suffix}: 7 mentions\n"
    with matplotlib.rc_context({"font.size": 30, "savefig.dpi": 20, "scatter.marker": "s", "lines.linewidth": 9}):
        ran("plot", "timeline", "mara_lindqvist", *PLOT[3:], "-o", f"two.{suffix}")
    data = Path(f"one.{suffix}").read_bytes()
    assert Path(f"two.{suffix}").read_bytes() == data
    if suffix == "svg":
        found = read_texts("one.svg")
        for text in ("Mara Lindqvist", *LINDQVIST, "1998-XX-XX", "2015-04-XX", "7 mentions"):
            assert found.count(text) == 1


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


def test_what_is_read_is_not_written_over(run, tmp_path):
    (tmp_path / "sent.png").write_text("{}", "utf-8")
    result = run(*PLOT, "--predictions", tmp_path / "sent.png", "-o", tmp_path / "sent.png")
    assert result.exit_code == 2
    assert "choose another output file" in result.stderr


def test_without_matplotlib_the_extra_is_named(run, tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"drawing needs matplotlib"):
        draw_timeline("T", [])
    result = run(*PLOT, "-o", tmp_path / "x.png")
    assert result.exit_code == 1
    assert "pip install 'closeread[plot]'" in result.stderr
    assert not (tmp_path / "x.png").exists()
