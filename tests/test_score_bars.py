"""Pictures of scores by a field: the numbers that are drawn, of links and of labels."""

import sys
from pathlib import Path

import pytest

import closeread
from closeread.counts.estimates import Resampling
from closeread.drawing.charts import ScoreBar, draw_score_bars
from closeread.exceptions import MissingExtraError, RequestError

pytestmark = pytest.mark.filterwarnings("ignore:.*:closeread.CloseReadWarning")

SAMPLE = ("--config", "sample")
GROUPS = {"near": 12, "far": 1234}
MINE = [ScoreBar(0.5, 0.25, 0.75), ScoreBar(None)]
THEIRS = [ScoreBar(0.1), ScoreBar(0.0, 0.0, 0.0)]


def heights(axes):
    return [[bar.get_height() for bar in bars] for bars in axes.containers]


def test_bars_intervals_and_numbers():
    figure = draw_score_bars(
        GROUPS, {"mine": MINE, "theirs": THEIRS}, score="recall (%)", field="distance"
    )
    (axes,) = figure.axes
    assert heights(axes) == [[50, 0], [10, 0]]
    assert [line.get_ydata().tolist() for line in axes.lines] == [[25, 75], [0, 0]]
    assert [text.get_text() for text in axes.texts] == ["50.0", "–", "10.0", "0.0"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["near\n12", "far\n1,234"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("distance", "recall (%)")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["mine", "theirs"]


@pytest.mark.parametrize(("n_groups", "n_systems"), [(1, 1), (6, 4), (11, 2), (24, 1), (24, 3)])
def test_nothing_is_cut_off_and_no_numbers_overlap(n_groups, n_systems):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    groups = {f"member(s) of {i}": 12345 for i in range(n_groups)}
    systems = {f"system {i}": [ScoreBar(1.0, 0.9, 1.0)] * n_groups for i in range(n_systems)}
    figure = draw_score_bars(groups, systems, score="recall (%)", field="preposition")
    figure.draw_without_rendering()
    renderer = FigureCanvasAgg(figure).get_renderer()
    (axes,), (legend,) = figure.axes, figure.legends
    texts = [
        *axes.texts,
        *axes.get_xticklabels(),
        *legend.get_texts(),
        axes.xaxis.label,
        axes.yaxis.label,
    ]
    boxes = [text.get_window_extent(renderer) for text in texts]
    width, height = figure.get_size_inches() * figure.dpi
    assert all(
        box.x0 >= 0 and box.x1 <= width and box.y0 >= 0 and box.y1 <= height for box in boxes
    )
    level = [text for text in texts if not text.get_rotation()]
    shrunk = [text.get_window_extent(renderer).padded(-1) for text in level]
    assert not any(one.overlaps(other) for i, one in enumerate(shrunk) for other in shrunk[:i])


def test_what_is_drawn_is_what_errors_finds(ran):
    ran("baseline", "mctaco", "random", *SAMPLE, "-o", "mine.jsonl", "-q")
    assert (
        ran("plot", "label-scores", "mine.jsonl", *SAMPLE, "-o", "a.svg", "-q")
        == "a.svg: accuracy of labels by unit, 1 system\n"
    )
    figure = closeread.plot(
        "label-scores", "mine.jsonl", config="sample", by="unit", score="accuracy", output="b.svg"
    )
    assert Path("a.svg").read_bytes() == Path("b.svg").read_bytes()
    slices = closeread.errors(
        "mctaco", "mine.jsonl", config="sample", by="unit", resampling=Resampling()
    ).report.slices
    (axes,) = figure.axes
    places = {label.get_text().split("\n")[0]: i for i, label in enumerate(axes.get_xticklabels())}
    assert places.keys() == slices["unit"].keys()
    intervals = {round(float(line.get_xdata()[0])): [*line.get_ydata()] for line in axes.lines}
    for part, scores in slices["unit"].items():
        drawn, estimate = heights(axes)[-1][places[part]], scores.scores["accuracy"]
        assert drawn == (0 if estimate.undefined else pytest.approx(100 * estimate.value))
        if places[part] in intervals:
            assert intervals[places[part]] == pytest.approx(
                [100 * estimate.low, 100 * estimate.high]
            )
        else:
            assert estimate.undefined or estimate.low is None


def test_several_systems(ran):
    for baseline in ("random", "always-positive"):
        ran("baseline", "mctaco", baseline, *SAMPLE, "-o", f"{baseline}.jsonl", "-q")
    files = ("random.jsonl", "always-positive.jsonl")
    ran("plot", "label-scores", *files, *SAMPLE, "--score", "f1", "-o", "p.svg", "-q")
    drawn = Path("p.svg").read_text("utf-8")
    assert all(f">{name}</text>" in drawn for name in ("random", "always-positive"))


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("label-scores", {"by": "size"}, "no such by: 'size'"),
        ("label-scores", {"score": "recall"}, "no such score: 'recall'"),
    ],
)
def test_bad_requests(kind, options, message):
    with pytest.raises(RequestError, match=message):
        closeread.plot(kind, [], config="sample", **options)


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"closeread\[plot\]"):
        draw_score_bars(GROUPS, {"mine": MINE}, score="recall (%)", field="distance")
