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
MINE = [ScoreBar(0.5, 0.25, 0.75, 0.8), ScoreBar(None)]
THEIRS = [ScoreBar(0.1), ScoreBar(0.0, 0.0, 0.0)]


def heights(axes):
    return [[bar.get_height() for bar in bars] for bars in axes.containers]


def test_bars_intervals_and_numbers():
    figure = draw_score_bars(
        GROUPS, {"mine": MINE, "theirs": THEIRS}, score="recall (%)", field="distance"
    )
    (axes,) = figure.axes
    # Those behind the first system's come first.
    assert heights(axes) == [[80, 0], [50, 0], [10, 0]]
    assert [line.get_ydata().tolist() for line in axes.lines] == [[25, 75], [0, 0]]
    assert [text.get_text() for text in axes.texts] == ["50.0", "–", "10.0", "0.0"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["near\n12", "far\n1,234"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("distance", "recall (%)")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["mine", "theirs"]


@pytest.mark.parametrize(("n_groups", "n_systems"), [(1, 1), (6, 4), (11, 2), (24, 1), (24, 3)])
def test_nothing_is_cut_off_and_no_numbers_overlap(n_groups, n_systems):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    groups = {f"member(s) of {i}": 12345 for i in range(n_groups)}
    systems = {f"system {i}": [ScoreBar(1.0, 0.9, 1.0, 1.0)] * n_groups for i in range(n_systems)}
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


KINDS = {
    "link-scores": (
        "tne",
        "surface",
        "distance",
        "recall",
        "links/recall",
        "recall by distance, 1 system",
    ),
    "label-scores": (
        "mctaco",
        "random",
        "unit",
        "accuracy",
        "accuracy",
        "accuracy of labels by unit, 1 system",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_drawn_is_what_errors_finds(ran, kind):
    corpus, baseline, field, score, name, summary = KINDS[kind]
    ran("baseline", corpus, baseline, *SAMPLE, "-o", "mine.jsonl", "-q")
    assert ran("plot", kind, "mine.jsonl", *SAMPLE, "-o", "a.svg", "-q") == f"a.svg: {summary}\n"
    figure = closeread.plot(
        kind, "mine.jsonl", config="sample", by=field, score=score, output="b.svg"
    )
    assert Path("a.svg").read_bytes() == Path("b.svg").read_bytes()
    slices = closeread.errors(
        corpus, "mine.jsonl", config="sample", by=field, resampling=Resampling()
    ).report.slices
    (axes,) = figure.axes
    places = {label.get_text().split("\n")[0]: i for i, label in enumerate(axes.get_xticklabels())}
    assert places.keys() == slices[field].keys()
    intervals = {round(float(line.get_xdata()[0])): [*line.get_ydata()] for line in axes.lines}
    for part, scores in slices[field].items():
        drawn, estimate = heights(axes)[-1][places[part]], scores.scores[name]
        assert drawn == (0 if estimate.undefined else pytest.approx(100 * estimate.value))
        if places[part] in intervals:
            assert intervals[places[part]] == pytest.approx(
                [100 * estimate.low, 100 * estimate.high]
            )
        else:
            assert estimate.undefined or estimate.low is None
    if corpus == "tne":
        for part, scores in slices[field].items():
            labelled, unlabelled = (
                scores.scores[f"{family}/recall"] for family in ("links", "unlabeled")
            )
            behind = 0 if labelled.undefined else 100 * unlabelled.value
            assert heights(axes)[0][places[part]] == pytest.approx(behind)


def test_several_systems(ran):
    for baseline in ("surface", "title-first"):
        ran("baseline", "tne", baseline, *SAMPLE, "-o", f"{baseline}.jsonl", "-q")
    files = ("surface.jsonl", "title-first.jsonl")
    ran("plot", "link-scores", *files, *SAMPLE, "--by", "preposition", "-o", "p.svg", "-q")
    drawn = Path("p.svg").read_text("utf-8")
    assert all(f">{name}</text>" in drawn for name in ("surface", "title-first"))
    # Twelve prepositions with their numbers are too wide to be level.
    assert ">of (33)</text>" in drawn
    ran(
        "plot",
        "link-scores",
        "surface.jsonl",
        *SAMPLE,
        "--by",
        "domain",
        "--score",
        "f1",
        "-o",
        "d.png",
        "-q",
    )
    assert Path("d.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("link-scores", {"by": "distanse"}, "no such by: 'distanse'. Did you mean 'distance'?"),
        ("link-scores", {"score": "accuracy"}, "no such score: 'accuracy'"),
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
