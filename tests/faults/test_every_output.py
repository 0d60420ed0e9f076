"""What holds of every command that writes: inputs stay, pictures depend on nobody's settings; and of all annotators."""

import json
import re
import sys
from pathlib import Path

import pytest
from shared.every_command import fill_in, list_lines, list_writing
from shared.file_faults import read_tree

SETTINGS = {
    "font.size": 30,
    "savefig.dpi": 20,
    "savefig.bbox": "tight",
    "axes.facecolor": "red",
    "lines.linewidth": 9,
}


def find_clashes(line):
    """The line with one of its input files as one of its outputs, each with that file."""
    given = {word for word in line if re.fullmatch(r"in/[\w./-]+\.\w+", word)}
    outputs = [place for place, word in enumerate(line) if word.startswith("out/")]
    return [((*line[:place], one, *line[place + 1 :]), one) for place in outputs for one in given]


@pytest.mark.gate
@pytest.mark.timeout(3000)
def test_an_input_is_never_an_output(call, run, folder):
    for name, line in list_writing().items():
        for clash, given in find_clashes(fill_in(line, folder[1])):
            before = Path(given).read_bytes()
            done = run(*clash)
            assert done.exit_code == 2, (name, done.stderr)
            assert Path(given).read_bytes() == before


def list_group(group):
    return {name: line for name, line in list_lines().items() if line[0] == group}


def draw(run, line, name):
    done = run(*line[: line.index("-o") + 1], f"out/{name}")
    return done, Path("out", name).read_bytes() if done.exit_code == 0 else None


@pytest.mark.gate
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_same_picture_whatever_the_users_settings(call, run, suffix):
    import matplotlib

    Path("out").mkdir(exist_ok=True)
    for name, line in list_group("plot").items():
        _, first = draw(run, line, f"one.{suffix}")
        with matplotlib.rc_context(SETTINGS):
            _, second = draw(run, line, f"two.{suffix}")
        assert first == second, name
        assert not re.search(rb"matplotlib v|<dc:date>|Software", first, re.IGNORECASE)
        assert first.startswith(b"\x89PNG\r\n\x1a\n" if suffix == "png" else b"<?xml")


def test_pictures_that_can_not_be_drawn(call, run, monkeypatch):
    Path("out").mkdir(exist_ok=True)
    before = read_tree("out")
    for line in list_group("plot").values():
        for suffix in (".eps", "", ".png.txt"):
            done, _ = draw(run, line, f"x{suffix}")
            assert (done.exit_code, "expected .png, .svg or .pdf" in done.stderr) == (2, True), (
                done.stderr
            )
    for module in [one for one in sys.modules if one.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for line in list_group("plot").values():
        done, _ = draw(run, line, "x.png")
        assert done.exit_code == 1
        assert "drawing needs matplotlib: pip install 'closeread[plot]'" in done.stderr
    assert read_tree("out") == before


def test_agreement_of_three_is_that_of_their_pairs(call, run):
    for *command, first, second in list_group("agreement").values():
        found = json.loads(run(*command, first, second, first, "--json").stdout)
        for pair in found["pairs"]:
            names = (pair["first"], pair["second"])
            (alone,) = json.loads(run(*command, *names, "--json").stdout)["pairs"]
            assert pair == alone
        assert len(found["pairs"]) == 3
        table = run(*command, first, second, first, "--format", "csv").stdout.splitlines()
        assert table[0].split(",")[0] == (
            "document" if command[-1] == "coref" else "first annotator"
        )


def test_annotators_of_one_file(call, run):
    for *command, first, _ in list_group("agreement").values():
        alone = run(*command, first)
        assert (alone.exit_code, "annotator" in alone.stderr, "(expected two " in alone.stderr) == (
            2,
            True,
            True,
        )
        twice = run(*command, first, f"./{first}")
        assert twice.exit_code == 0
        assert f"{first} is given twice" in twice.stderr
        assert "; it counts as two files.\n" in twice.stderr
