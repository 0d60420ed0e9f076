"""Pictures of scores by a field: the numbers that are drawn, whole bars and intervals."""

import sys
from pathlib import Path

import pytest

import closeread
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


def check_bars(figure, slices, name):
    """Check that a figure has the last bars and the intervals of a score, by the value of a field."""
    (axes,) = figure.axes
    places = {label.get_text().split("\n")[0]: i for i, label in enumerate(axes.get_xticklabels())}
    assert list(places) == list(slices)
    intervals = {round(float(line.get_xdata()[0])): [*line.get_ydata()] for line in axes.lines}
    for value, scores in slices.items():
        place, estimate = places[value], scores.scores[name]
        drawn = heights(axes)[-1][place]
        assert drawn == (0 if estimate.undefined else pytest.approx(100 * estimate.value))
        if place in intervals:
            bounds = [100 * estimate.low, 100 * estimate.high]
            assert intervals[place] == pytest.approx(bounds)
        else:
            assert estimate.undefined or estimate.low is None


@pytest.mark.parametrize(("scores", "name"), [((), "f1"), (("exact_match",), "exact_match")])
def test_a_score_of_any_corpus_by_a_field(ran, scores, name):
    ran("baseline", "mctaco", "random", *SAMPLE, "-o", "mine.jsonl", "-q")
    figure = closeread.plot(
        "scores", "mctaco", "mine.jsonl", config="sample", by="category", scores=scores
    )
    report = closeread.score("mctaco", "mine.jsonl", config="sample", by="category")
    check_bars(figure, report.slices["category"], name)
    (axes,) = figure.axes
    assert axes.get_xlabel() == "category, number of questions"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["mine"]


def test_values_that_only_one_system_has(ran):
    """By the zero anaphors that a key has none of, only the system has mentions: the other has no bar there."""
    key = {"document": "a", "clusters": [[[0, 0], [2, 2]]]}
    large = {"document": "a", "clusters": [[[0, 0], [2, 2], [4, 4]]]}
    figure = closeread.plot(
        "scores", "coref", [key], [large], gold=[key], by="entity_size", scores=("lea/recall",)
    )
    (axes,) = figure.axes
    assert [label.get_text().split("\n")[0] for label in axes.get_xticklabels()] == ["2", "3-4"]
    assert heights(axes) == [[100, 0], [100, 0]]


@pytest.mark.parametrize(
    ("corpus", "systems", "options", "message"),
    [
        ("mctaco", [[]], {"by": "unit"}, r"no field 'unit' to slice by \(choose from: category\)"),
        (
            "mctaco",
            [[]],
            {"by": "category", "scores": ("f1", "exact_match")},
            "by= draws one score",
        ),
        ("mctaco", [[]], {"by": "category", "scores": ("f3",)}, "no such mctaco metric: 'f3'"),
        ("coref", [[[]]], {"by": "entity_size"}, "a plot needs at least one system"),
    ],
)
def test_scores_by_a_field_that_can_not_be_drawn(corpus, systems, options, message):
    where = {"config": "sample"} if corpus == "mctaco" else {}
    with pytest.raises(RequestError, match=message):
        closeread.plot("scores", corpus, *systems, option={"missing": "empty"}, **where, **options)


def test_several_systems(ran):
    for baseline in ("surface", "title-first"):
        ran("baseline", "tne", baseline, *SAMPLE, "-o", f"{baseline}.jsonl", "-q")
    files = ("surface.jsonl", "title-first.jsonl")
    chosen = ("--by", "preposition", "--scores", "links/f1")
    ran("plot", "scores", "tne", *files, *SAMPLE, *chosen, "-o", "p.svg", "-q")
    drawn = Path("p.svg").read_text("utf-8")
    assert all(f">{name}</text>" in drawn for name in ("surface", "title-first"))


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"closeread\[plot\]"):
        draw_score_bars(GROUPS, {"mine": MINE}, score="recall (%)", field="distance")
