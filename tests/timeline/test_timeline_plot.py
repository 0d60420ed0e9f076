"""Timelines of entities: what is drawn, where, as what, and how often the same bytes come out."""

import json
import struct
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from datetime import date
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg

from closeread.drawing.pictures import write_picture
from closeread.errors import MissingExtraError, RequestError
from closeread.tasks.timeline.kernels.timelines import COUNTS, placed, timeline_counts
from closeread.tasks.timeline.plots import MARKS, draw_timeline
from closeread.tasks.timeline.plotted_events import marked_events, period, ticks

PLOT = ["plot", "timeline", "Mara Lindqvist", "--config", "sample"]
LINDQVIST = [
    "103-4-joined", "101-3-signed", "101-3-said", "102-3-visited", "102-3-thanked", "103-3-named", "103-3-announced",
]  # fmt: skip


def entry(position, anchor, *mentions):
    return {"position": position, "anchor": anchor, "mentions": list(mentions)}


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


def row(figure, label):
    (found,) = [axes for axes in figure.axes if axes.get_label() == label]
    return found


def rows(figure):
    return [axes for axes in figure.axes if axes.get_label() not in ("title", "legend")]


def named(axes, label):
    """The collection of a label."""
    (found,) = [one for one in axes.collections if one.get_label() == label]
    return found


def marked(axes):
    """What stands beside each mark of a row, with the label of the mark: the nearest text to the right."""
    found = []
    for points in axes.collections:
        if points.get_label().partition(": ")[2] in MARKS:
            for x, y in points.get_offsets():
                beside = [text for text in axes.texts if text.get_position()[1] == y and text.get_position()[0] > x]
                text = min(beside, key=lambda text: text.get_position()[0])
                found.append((points.get_label(), text.get_text()))
    return sorted(found)


def texts_of(path):
    found = ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")  # noqa: S314
    return ["".join(text.itertext()) for text in found]


def dates(axes):
    """Where the dates of a row are on its axis, by their anchors."""
    (line,) = [line for line in axes.lines if line.get_label() == "dates"]
    heads = [text.get_text() for text in axes.texts if text.get_fontweight() == "bold"]
    return dict(zip(heads, line.get_xdata(), strict=True))


def assert_readable(figure):
    """No two texts overlap, and none leaves the page."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    extents = [text.get_window_extent(renderer).extents for axes in figure.axes for text in axes.texts]
    left, bottom, right, top = np.array(extents).T
    across = np.minimum.outer(right, right) > np.maximum.outer(left, left)
    along = np.minimum.outer(top, top) > np.maximum.outer(bottom, bottom)
    assert not np.triu(across & along, 1).any()
    width, height = figure.get_size_inches() * figure.dpi
    assert min(left.min(), bottom.min()) >= 0
    assert right.max() <= width
    assert top.max() <= height


def test_what_becomes_of_each_mention():
    figure = draw_timeline("T", GOLD, SYSTEM)
    assert marked(row(figure, "row 1")) == [
        ("gold: matched", "1-2-a"),
        ("gold: matched, with another anchor", "1-3-a (system: no anchor)"),
        ("gold: matched, with another anchor", "1-4-b (system: 2001-05-XX)"),
        ("gold: missed", "1-5-d"),
        ("system: matched", "1-2-a"),
        ("system: matched, with another anchor", "1-4-b (gold: 2001-04-30)"),
        ("system: spurious", "1-2-a"),
    ]
    assert marked(row(figure, "no date")) == [
        ("gold: matched", "1-1-z"),
        ("system: matched", "1-1-z"),
        ("system: matched, with another anchor", "1-3-a (gold: 2001-03-01)"),
        ("system: spurious", "9-9-x"),
    ]
    legend = [text.get_text() for text in row(figure, "legend").texts]
    assert legend == [
        "2 matched", "2 matched, with another anchor", "1 missed", "2 spurious",
        "1", "position", "mentions of one event", "days that a date leaves open",
    ]  # fmt: skip
    assert_readable(figure)


def test_marks_differ_in_shape_and_in_colour():
    told = [MARKS[fate] for fate in MARKS if fate != "mentions"]
    assert len({shape for shape, _, _ in told}) == len({colour for _, colour, _ in told}) == 4
    axes = row(draw_timeline("T", GOLD, SYSTEM), "row 1")
    for fate, (_, colour, size) in MARKS.items():
        for points in axes.collections:
            if points.get_label().endswith(f": {fate}"):
                assert matplotlib.colors.to_hex(points.get_facecolor()[0]) == colour
                assert points.get_sizes().tolist() == [size]


def test_gold_stands_above_the_system():
    for axes in rows(draw_timeline("T", GOLD, SYSTEM)):
        heights = {
            side: [y for c in axes.collections if c.get_label().startswith(f"{side}: m") for _, y in c.get_offsets()]
            for side in ("gold", "system")
        }
        assert min(heights["gold"]) > max(heights["system"])


def test_without_a_system_nothing_is_marked():
    figure = draw_timeline("T", GOLD)
    assert {label for axes in rows(figure) for label, _ in marked(axes)} == {"gold: mentions"}
    assert sorted(text for axes in rows(figure) for _, text in marked(axes)) == [
        "1-1-z", "1-2-a", "1-3-a", "1-4-b", "1-5-d",
    ]  # fmt: skip
    assert "system" not in [text.get_text() for axes in figure.axes for text in axes.texts]
    everything = draw_timeline("T", GOLD, [])
    assert {label for axes in rows(everything) for label, _ in marked(axes)} == {"gold: missed"}


def test_the_axis_is_true_to_scale():
    # Days 0, 10 and 40 of 40; the middle of January to March 2000 is day 45 of 90.
    figure = draw_timeline(
        "T", [entry(i, day, f"1-{i}-a") for i, day in enumerate(("2000-01-01", "2000-01-11", "2000-02-10"))]
    )
    x = list(dates(row(figure, "row 1")).values())
    assert (x[1] - x[0]) / (x[2] - x[0]) == pytest.approx(1 / 4)


def test_partial_dates_stand_in_the_middle_of_what_they_may_mean():
    # 2001 has 365 days, the first numbered 0: May is 120 to 150, the middle of the year 182.
    axes = row(draw_timeline("T", [entry(1, "2001-XX-XX", "1-1-a"), entry(2, "2001-05", "1-2-b")]), "row 1")
    assert list(dates(axes)) == ["2001-05", "2001-XX-XX"]
    spans = {tuple(segment[:, 0]) for segment in named(axes, "spans").get_segments()}
    (start, end) = max(spans, key=lambda span: span[1] - span[0])
    day = (end - start) / 364
    assert dates(axes)["2001-XX-XX"] == pytest.approx(start + 182 * day)
    assert dates(axes)["2001-05"] == pytest.approx(start + 135 * day)
    (other,) = spans - {(start, end)}
    assert other == pytest.approx((start + 120 * day, start + 150 * day))


@pytest.mark.parametrize(
    ("anchor", "first", "last"),
    [
        ("2001-02-03", "2001-02-03", "2001-02-03"),
        ("2000-02-XX", "2000-02-01", "2000-02-29"),
        ("1900-02", "1900-02-01", "1900-02-28"),
        ("2001-XX-XX", "2001-01-01", "2001-12-31"),
        ("2001-XX", "2001-01-01", "2001-12-31"),
        ("0001", "0001-01-01", "0001-12-31"),
        ("9999-12-XX", "9999-12-01", "9999-12-31"),
    ],
)
def test_what_a_date_may_mean(anchor, first, last):
    assert [date.fromordinal(day).isoformat() for day in period(anchor)] == [first, last]


UNDATED = [
    "XXXX-XX-XX",
    "XXX-XX-XX",
    "",
    "2009-02-30",
    "2009-13-XX",
    "2009-XX-07",
    "0000-XX-XX",
    "soon",
    " 2009",
    "2009\n",
]


def test_what_is_no_date_has_a_lane_of_its_own():
    assert [period(anchor) for anchor in UNDATED] == [None] * len(UNDATED)
    figure = draw_timeline("T", [entry(i, anchor, f"1-{i}-a") for i, anchor in enumerate([*UNDATED, "2009"])])
    assert list(dict.fromkeys(axes.get_label() for axes in rows(figure))) == ["row 1", "no date"]
    assert [text for axes in rows(figure) if axes.get_label() == "row 1" for _, text in marked(axes)] == ["1-10-a"]
    below = [axes for axes in rows(figure) if axes.get_label() == "no date"]
    heads = [text.get_text() for axes in below for text in axes.texts if text.get_fontweight() == "bold"]
    assert heads == sorted(text.replace("\n", "\ufffd") or "no anchor" for text in UNDATED)
    assert not [line for axes in below for line in axes.lines if line.get_label() == "dates"]


def test_mentions_of_one_event_are_joined_and_positions_stand_once():
    gold = [entry(7, "2001", "1-1-a", "1-2-b", "1-3-c"), entry(7, "2001", "1-4-d"), entry(8, "2001", "1-5-e", "1-6-f")]
    axes = row(draw_timeline("T", gold), "row 1")
    heights = {text.get_text(): text.get_position()[1] for text in axes.texts}
    joined = [sorted(segment[:, 1], reverse=True) for segment in named(axes, "gold: joined").get_segments()]
    assert joined == [[heights["1-1-a"], heights["1-3-c"]], [heights["1-5-e"], heights["1-6-f"]]]
    written = [text.get_text() for text in axes.texts]
    assert [written.count(position) for position in "78"] == [1, 1]
    assert (heights["7"], heights["8"]) == (heights["1-1-a"], heights["1-5-e"])


def test_an_event_is_not_torn_apart():
    gold = [entry(i, "2001", *(f"{i}-{j}-a" for j in range(5))) for i in range(1, 6)]
    axes = row(draw_timeline("T", gold), "row 1")
    places = {text.get_text(): text.get_position() for text in axes.texts}
    assert len({x for name, (x, _) in places.items() if name.endswith("-a")}) > 1
    for i in range(1, 6):
        assert len({places[f"{i}-{j}-a"][0] for j in range(5)}) == 1
        assert f"{i}" in places


@pytest.mark.parametrize("lengths", [[20], [5, 30], [5, 5, 5, 40]])
def test_rows_go_on_in_time(lengths):
    gold = [entry(i, f"{1990 + i}-01-01", f"1-{i}-{'n' * lengths[i % len(lengths)]}") for i in range(1, 31)]
    figure = draw_timeline("T", gold)
    found = [list(dates(axes)) for axes in rows(figure)]
    assert len(found) > 1
    assert [anchor for of_row in found for anchor in of_row] == [one["anchor"] for one in gold]
    assert max(map(len, found)) - min(map(len, found)) <= 3  # about equally full
    assert_readable(figure)


def test_there_are_no_more_rows_than_are_needed():
    # Two of these stand beside each other, three do not: each takes more than a third of the page and less than half.
    gold = [entry(i, f"{1990 + i}-01-01", f"1-{i}-{'n' * 40}") for i in range(1, 4)]
    figure = draw_timeline("T", gold)
    inner = figure.get_size_inches()[0] - 0.6 - 0.7
    taken = row(figure, "row 1").get_lines()[-1].get_xdata()
    assert inner / 3 < taken[1] - taken[0] < inner / 2
    assert [len(dates(axes)) for axes in rows(figure)] == [2, 1]


MENTION = st.sampled_from([f"{i}-{i % 2}-go" for i in range(6)])
ANCHOR = st.sampled_from(["2001", "2001-02-XX", "2001-02-03", "1999-12-31", "XXXX-XX-XX", ""])
ENTRIES = st.lists(
    st.builds(entry, st.integers(0, 3), ANCHOR, MENTION, MENTION) | st.builds(entry, st.just(1), ANCHOR, MENTION)
)


@given(ENTRIES, ENTRIES)
def test_what_is_told_is_what_is_counted(gold, system):
    events = marked_events(gold, system)
    fates = Counter((event.side, fate) for event in events for fate in event.fates)
    counts = dict(zip(COUNTS, timeline_counts(gold, system).tolist(), strict=True))
    for side in ("gold", "system"):
        assert fates[side, "matched"] == counts["anchors/right"]
        assert fates[side, "matched"] + fates[side, "matched, with another anchor"] == counts["events/shared"]
    assert fates["gold", "missed"] == counts["events/gold"] - counts["events/shared"]
    assert fates["system", "spurious"] == counts["events/system"] - counts["events/shared"]
    told = [mention.partition(" ")[0] for event in events if event.side == "gold" for mention in event.mentions]
    assert told == placed(gold).mentions


@given(ENTRIES, ENTRIES)
@settings(max_examples=25)
def test_every_mention_is_drawn_once(gold, system):
    figure = draw_timeline("T", gold, system)
    drawn = Counter(label.partition(":")[0] for axes in rows(figure) for label, _ in marked(axes))
    sides = {"gold": gold, "system": system}
    assert drawn == {side: sum(len(e["mentions"]) for e in of_side) for side, of_side in sides.items() if of_side}
    assert_readable(figure)


@pytest.mark.parametrize(
    ("first", "last", "names"),
    [
        ("2001-01-20", "2001-03-05", ["2001-02", "2001-03"]),
        ("2001-01-20", "2001-02-12", ["2001-01-20", "2001-01-25", "2001-01-30", "2001-02-04", "2001-02-09"]),
        ("2001-01-20", "2001-01-23", ["2001-01-20", "2001-01-21", "2001-01-22", "2001-01-23"]),
        ("1999-06-01", "2004-07-01", ["2000", "2001", "2002", "2003", "2004"]),
        ("1901-01-01", "1999-01-01", ["1910", "1920", "1930", "1940", "1950", "1960", "1970", "1980", "1990"]),
    ],
)
def test_ticks_by_hand(first, last, names):
    assert [name for _, name in ticks(*(date.fromisoformat(day).toordinal() for day in (first, last)))] == names


DAYS = st.integers(1, date.max.toordinal())


@given(DAYS, DAYS | st.integers(1, 100))
def test_ticks(first, other):
    first, last = sorted((first, other if other > 100 else min(first + other, date.max.toordinal())))
    if first < last:
        found = ticks(first, last)
        days = [day for day, _ in found]
        assert 2 <= len(days) <= 10
        assert first <= days[0]
        assert days[-1] <= last
        assert days == sorted(set(days))
        assert len({len(name) for _, name in found}) == 1
        for day, name in found:
            assert date.fromordinal(day).isoformat() == name + "-01" * ((10 - len(name)) // 3)


def test_hundreds_of_mentions_stay_readable(tmp_path):
    gold = [
        entry(i // 3, f"{1950 + i % 60}-{1 + i % 12:02}-{'XX' if i % 7 else '15'}" if i % 5 else UNDATED[i % 3],
              *(f"{i}-{j}-{'W' * (i % 61)}" for j in range(1 + i % 3)))
        for i in range(300)
    ]  # fmt: skip
    figure = draw_timeline(
        "M" * 300, gold, [{**one, "position": 2**53 - 1} for one in gold[::2]] + [entry(1, "2020", "x")]
    )
    assert_readable(figure)
    width, height = figure.get_size_inches()
    assert 0.4 < width / height < 2.5
    write_picture(figure, tmp_path / "many.png")
    columns, lines = struct.unpack(">II", (tmp_path / "many.png").read_bytes()[16:24])
    assert columns * lines < 5e7


def test_too_many_mentions_are_not_begun(monkeypatch):
    monkeypatch.setattr("closeread.tasks.timeline.plots.MAX_MENTIONS", 4)
    few, many = [entry(1, "2001", "a", "b"), entry(2, "2002", "c", "d")], [entry(1, "2001", *"abcde")]
    draw_timeline("T", few, few)
    for side, pair in (("gold", (many, few)), ("system", (few, many))):
        with pytest.raises(RequestError) as caught:
            draw_timeline("T", *pair)
        needed = "draw a part of the timeline, from files of your own"
        assert str(caught.value) == f"{side} has 5 mentions; a picture can show 4 of a side: {needed}"


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
    assert {"$T_1$", *mentions} <= set(texts_of(tmp_path / "hostile.svg"))
    assert b"<script" not in (tmp_path / "hostile.svg").read_bytes()
    write_picture(draw_timeline("T", [entry(1, "2001", "a\uffffb\x1bc")]), tmp_path / "x.svg")
    assert "a\ufffdb\ufffdc" in texts_of(tmp_path / "x.svg")


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_same_bytes_whatever_the_users_settings(ran, suffix):
    assert ran(*PLOT, "-o", f"one.{suffix}") == f"one.{suffix}: 7 mentions\n"
    with matplotlib.rc_context({"font.size": 30, "savefig.dpi": 20, "scatter.marker": "s", "lines.linewidth": 9}):
        ran("plot", "timeline", "mara_lindqvist", *PLOT[3:], "-o", f"two.{suffix}")
    data = Path(f"one.{suffix}").read_bytes()
    assert Path(f"two.{suffix}").read_bytes() == data
    if suffix == "svg":
        found = texts_of("one.svg")
        for text in ("Mara Lindqvist", *LINDQVIST, "1998-XX-XX", "2015-04-XX", "7 mentions"):
            assert found.count(text) == 1


def test_predictions_are_a_folder_or_a_file(ran, run):
    Path("sent").mkdir()
    Path("sent/mara_lindqvist.txt").write_text("Mara Lindqvist\n1\t1998-XX-XX\t103-4-joined\t103-4-left\n", "utf-8")
    told = ran(*PLOT, "--predictions", "sent", "-o", "folder.svg")
    assert told == "folder.svg: 7 mentions, 2 predicted\n"
    found = texts_of("folder.svg")
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
    there = "there are: Aurelia, Mara Lindqvist, Northbay Ferries"
    assert f"no entity 'Mara Lindquist'; did you mean 'Mara Lindqvist'? ({there})" in " ".join(result.stderr.split())
    assert (
        "did you mean 'Mara Lindqvist'?" in run("plot", "timeline", "mara_lindquist", *PLOT[3:], "-o", "x.png").stderr
    )
    result = run(*PLOT, "-o", "x.pdf")
    assert result.exit_code == 2
    assert "expected .png or .svg" in result.stderr
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
    with pytest.raises(MissingExtraError, match=r"the extra closeread\[plot\]"):
        draw_timeline("T", [])
    result = run(*PLOT, "-o", tmp_path / "x.png")
    assert result.exit_code == 1
    assert "pip install matplotlib" in result.stderr
    assert not (tmp_path / "x.png").exists()


SPLITS = ("trial", "corpus_1", "corpus_2")


@pytest.mark.parametrize("split", SPLITS)
def test_released_timelines_are_readable(corpora, split):
    from closeread.corpora.gold import load_corpus, read_gold

    records = read_gold(load_corpus("semeval2015_timeline"), None, split).records
    longest = max(records, key=lambda record: len(record["entries"]))
    later = [
        {**one, "anchor": "2010-01-XX"} if i % 4 == 0 else one for i, one in enumerate(longest["entries"]) if i % 5
    ]
    figure = draw_timeline(longest["entity"], longest["entries"], later)
    assert_readable(figure)
    drawn = Counter(label.partition(":")[0] for axes in rows(figure) for label, _ in marked(axes))
    assert drawn["gold"] == sum(len(one["mentions"]) for one in longest["entries"]) > 50
