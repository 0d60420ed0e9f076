"""Pictures of timelines: what is drawn, where, and as what."""

import json
import xml.etree.ElementTree as ElementTree
from datetime import date
from pathlib import Path

import pytest
from matplotlib.dates import num2date
from shared.timelines import entry

from closeread.drawing.pictures import write_picture
from closeread.exceptions import RequestError
from closeread.tasks.timeline.plots import draw_timeline, find_middle

# b moves to another date, d is missed, the second copy of a is spurious, and so is x.
GOLD = [
    entry(0, "XXXX-XX-XX", "1-1-z"),
    entry(1, "2001-03-01", "1-2-a", "1-3-a"),
    entry(2, "2001-04-30", "1-4-b", "1-5-d"),
]
SYSTEM = [
    entry(1, "2001-03-01", "1-2-a", "1-2-a"),
    entry(1, "2001-05-XX", "1-4-b"),
    entry(2, "", "1-3-a", "9-9-x"),
    entry(3, "XXXX-XX-XX", "1-1-z"),
]


def read_points(figure):
    """The points of each side: the mention of the row and the date."""
    (axes,) = figure.axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    return {
        points.get_label(): [
            (names[round(row)], num2date(day).date().isoformat())
            for day, row in points.get_offsets()
        ]
        for points in axes.collections
    }


def test_mentions_of_both_sides_stand_in_one_row():
    figure = draw_timeline("T", GOLD, SYSTEM)
    assert read_points(figure) == {
        "gold": [
            ("1-2-a", "2001-03-01"),
            ("1-3-a", "2001-03-01"),
            ("1-4-b", "2001-04-30"),
            ("1-5-d", "2001-04-30"),
        ],
        "system": [("1-2-a", "2001-03-01"), ("1-2-a", "2001-03-01"), ("1-4-b", "2001-05-16")],
    }
    (axes,) = figure.axes
    rows = [label.get_text() for label in axes.get_yticklabels()]
    assert rows == ["1-2-a", "1-3-a", "1-4-b", "1-5-d", "1-2-a"]
    # z and x; 1-3-a has a date in gold
    assert (axes.get_title(), axes.get_xlabel()) == ("T", "2 mentions without a date")


def test_partial_dates_stand_in_the_middle_of_what_they_may_mean():
    # 2001 has 365 days, the 183rd of which is 2 July; May has 31.
    assert find_middle("2001-XX-XX") == date(2001, 7, 2)
    assert find_middle("2001-05") == date(2001, 5, 16)
    assert find_middle("2001-05-XX") == date(2001, 5, 16)
    assert find_middle("2001-05-03") == date(2001, 5, 3)


UNDATED = [
    "XXXX-XX-XX",
    "XXX-XX-XX",
    "",
    "2009-02-30",
    "2009-13-XX",
    "2009-XX-07",
    "2009-00-XX",
    "2009-01-00",
    "0000-XX-XX",
    "soon",
    " 2009",
    "2009\n",
]


def test_what_is_no_date():
    assert [find_middle(anchor) for anchor in UNDATED] == [None] * len(UNDATED)


def test_too_many_mentions_are_not_begun(monkeypatch):
    monkeypatch.setattr("closeread.tasks.timeline.plots.MAX_MENTIONS", 4)
    few, many = (
        [entry(1, "2001", "a", "b"), entry(2, "2002", "c", "d")],
        [entry(1, "2001", *"abcde")],
    )
    draw_timeline("T", few, few)
    for side, pair in (("gold", (many, few)), ("system", (few, many))):
        with pytest.raises(RequestError) as caught:
            draw_timeline("T", *pair)
        advice = "to plot a part of the timeline, use your own files"
        assert str(caught.value) == f"{side} has 5 mentions (expected at most 4); {advice}"


@pytest.mark.extended
def test_the_most_mentions_fit_in_a_picture(tmp_path):
    gold, system = ([entry(1, "2001", *(f"{side}{i}" for i in range(1000)))] for side in "gs")
    write_picture(draw_timeline("M" * 300, gold, system), tmp_path / "many.png")


def test_a_timeline_without_events(tmp_path):
    write_picture(draw_timeline("T", []), tmp_path / "none.svg")
    assert read_texts(tmp_path / "none.svg").count("T") == 1


def read_texts(path):
    found = ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")  # noqa: S314
    return ["".join(text.itertext()) for text in found]


def test_hostile_texts_are_drawn_as_they_stand(tmp_path):
    mentions = ["$x^2$ and $\\frac{1}{2}$", "{}%_^~#", "</text><script>&amp;--", "\\$"]
    figure = draw_timeline("$T_1$", [entry(1, "2001", name) for name in mentions])
    for suffix in ("svg", "png"):
        write_picture(figure, tmp_path / f"hostile.{suffix}")
    assert {"$T_1$", *mentions} <= set(read_texts(tmp_path / "hostile.svg"))
    assert b"<script" not in (tmp_path / "hostile.svg").read_bytes()
    write_picture(draw_timeline("T", [entry(1, "2001", "a\uffffb\x1bc")]), tmp_path / "x.svg")
    assert "a\ufffdb\ufffdc" in read_texts(tmp_path / "x.svg")


PLOT = ["plot", "timeline", "Mara Lindqvist", "--config", "sample"]


def test_predictions_are_a_folder_or_a_file(ran, run):
    Path("sent").mkdir()
    Path("sent/mara_lindqvist.txt").write_text(
        "Mara Lindqvist\n1\t1998-XX-XX\t103-4-joined\t103-4-left\n", "utf-8"
    )
    told = ran(*PLOT, "--predictions", "sent", "-o", "folder.svg")
    assert told == "folder.svg: 7 mentions, 2 predicted\n"
    found = read_texts("folder.svg")
    assert {"Mara Lindqvist", "103-4-joined", "103-4-left", "gold", "system"} <= set(found)
    line = {"id": "mara_lindqvist", "entity": "Mara Lindqvist"}
    line["entries"] = [entry(1, "1998-XX-XX", "103-4-joined", "103-4-left")]
    Path("sent.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    assert (
        ran(*PLOT, "--predictions", "sent.jsonl", "-o", "file.svg")
        == "file.svg: 7 mentions, 2 predicted\n"
    )
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
    assert (
        f"no such entity: 'Mara Lindquist'. Did you mean 'Mara Lindqvist'? ({there})"
        in " ".join(result.stderr.split())
    )
    assert (
        "Did you mean 'Mara Lindqvist'?"
        in run("plot", "timeline", "mara_lindquist", *PLOT[3:], "-o", "x.png").stderr
    )
    result = run(*PLOT, "-o", "x.eps")
    assert result.exit_code == 2
    assert "expected .png, .svg or .pdf" in result.stderr
    assert list(tmp_path.iterdir()) == []
