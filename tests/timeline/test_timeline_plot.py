"""Pictures of timelines: what is drawn, where, and as what."""

import json
import struct
from pathlib import Path

import pytest
from shared.timeline_pictures import (
    assert_readable,
    find_collection,
    find_dates,
    find_marks,
    find_row,
    find_rows,
    read_texts,
)
from shared.timelines import entry

from closeread.drawing.pictures import write_picture
from closeread.exceptions import RequestError
from closeread.tasks.timeline.plots import draw_timeline, parse_period

# b moves to another anchor, d is missed, the second copy of a is spurious, and so is x.
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


def test_what_becomes_of_each_mention():
    figure = draw_timeline("T", GOLD, SYSTEM)
    assert find_marks(find_row(figure, "row 1")) == [
        ("gold: matched", "1-2-a"),
        ("gold: matched, different anchor", "1-3-a (system: no anchor)"),
        ("gold: matched, different anchor", "1-4-b (system: 2001-05-XX)"),
        ("gold: missed", "1-5-d"),
        ("system: matched", "1-2-a"),
        ("system: matched, different anchor", "1-4-b (gold: 2001-04-30)"),
        ("system: spurious", "1-2-a"),
    ]
    assert find_marks(find_row(figure, "no date")) == [
        ("gold: matched", "1-1-z"),
        ("system: matched", "1-1-z"),
        ("system: matched, different anchor", "1-3-a (gold: 2001-03-01)"),
        ("system: spurious", "9-9-x"),
    ]
    legend = [text.get_text() for text in find_row(figure, "legend").texts]
    assert legend == [
        "2 matched", "2 matched, different anchor", "1 missed", "2 spurious",
        "1", "position", "mentions of one event", "possible days of a partial date",
    ]  # fmt: skip
    assert_readable(figure)


def test_partial_dates_stand_in_the_middle_of_what_they_may_mean():
    # 2001 has 365 days, the first numbered 0: May is 120 to 150, the middle of the year 182.
    axes = find_row(
        draw_timeline("T", [entry(1, "2001-XX-XX", "1-1-a"), entry(2, "2001-05", "1-2-b")]), "row 1"
    )
    assert list(find_dates(axes)) == ["2001-05", "2001-XX-XX"]
    spans = {tuple(segment[:, 0]) for segment in find_collection(axes, "spans").get_segments()}
    (start, end) = max(spans, key=lambda span: span[1] - span[0])
    day = (end - start) / 364
    assert find_dates(axes)["2001-XX-XX"] == pytest.approx(start + 182 * day)
    assert find_dates(axes)["2001-05"] == pytest.approx(start + 135 * day)
    (other,) = spans - {(start, end)}
    assert other == pytest.approx((start + 120 * day, start + 150 * day))


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


def test_what_is_no_date_has_a_lane_of_its_own():
    assert [parse_period(anchor) for anchor in UNDATED] == [None] * len(UNDATED)
    figure = draw_timeline(
        "T", [entry(i, anchor, f"1-{i}-a") for i, anchor in enumerate([*UNDATED, "2009"])]
    )
    assert list(dict.fromkeys(axes.get_label() for axes in find_rows(figure))) == [
        "row 1",
        "no date",
    ]
    assert [
        text
        for axes in find_rows(figure)
        if axes.get_label() == "row 1"
        for _, text in find_marks(axes)
    ] == ["1-12-a"]
    below = [axes for axes in find_rows(figure) if axes.get_label() == "no date"]
    heads = [
        text.get_text() for axes in below for text in axes.texts if text.get_fontweight() == "bold"
    ]
    assert heads == sorted(text.replace("\n", "\ufffd") or "no anchor" for text in UNDATED)
    assert not [line for axes in below for line in axes.lines if line.get_label() == "dates"]


def test_mentions_of_one_event_are_joined_and_positions_stand_once():
    gold = [
        entry(7, "2001", "1-1-a", "1-2-b", "1-3-c"),
        entry(7, "2001", "1-4-d"),
        entry(8, "2001", "1-5-e", "1-6-f"),
    ]
    axes = find_row(draw_timeline("T", gold), "row 1")
    heights = {text.get_text(): text.get_position()[1] for text in axes.texts}
    joined = [
        sorted(segment[:, 1], reverse=True)
        for segment in find_collection(axes, "gold: joined").get_segments()
    ]
    assert joined == [[heights["1-1-a"], heights["1-3-c"]], [heights["1-5-e"], heights["1-6-f"]]]
    written = [text.get_text() for text in axes.texts]
    assert [written.count(position) for position in "78"] == [1, 1]
    assert (heights["7"], heights["8"]) == (heights["1-1-a"], heights["1-5-e"])


@pytest.mark.extended
def test_hundreds_of_mentions_stay_readable(tmp_path):
    gold = [
        entry(i // 3, f"{1950 + i % 60}-{1 + i % 12:02}-{'XX' if i % 7 else '15'}" if i % 5 else UNDATED[i % 3],
              *(f"{i}-{j}-{'W' * (i % 61)}" for j in range(1 + i % 3)))
        for i in range(120)
    ]  # fmt: skip
    figure = draw_timeline(
        "M" * 300,
        gold,
        [{**one, "position": 2**53 - 1} for one in gold[::2]] + [entry(1, "2020", "x")],
    )
    assert_readable(figure)
    width, height = figure.get_size_inches()
    assert 0.4 < width / height < 2.5
    write_picture(figure, tmp_path / "many.png")
    columns, lines = struct.unpack(">II", (tmp_path / "many.png").read_bytes()[16:24])
    assert columns * lines < 5e7


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


def test_a_timeline_without_events():
    figure = draw_timeline("T", [])
    assert [text.get_text() for axes in figure.axes for text in axes.texts] == ["T", "no events"]
    assert_readable(figure)


def test_hostile_texts_are_drawn_as_they_stand(tmp_path):
    mentions = ["$x^2$ and $\\frac{1}{2}$", "{}%_^~#", "</text><script>&amp;--", "\\$"]
    figure = draw_timeline("$T_1$", [entry(1, f"${name[:9]}$", name) for name in mentions])
    assert_readable(figure)
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
    assert {"1 matched", "6 missed", "1 spurious", "gold", "system"} <= set(found)
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
