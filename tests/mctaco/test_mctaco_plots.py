"""Pictures of exact match by category: the numbers that are drawn, and the same bytes every time."""

import itertools

import pytest

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.tasks.mctaco.figures import RANDOM, draw_categories

SAMPLE = ["--config", "sample"]
COIN_SCORES = {"Frequency": 0.125, "Stationarity": 0.25}
SYSTEMS = {
    "mine": {"Frequency": 0.5, "Stationarity": 1.0},
    "theirs": {"Frequency": 0.0, "Stationarity": 0.75},
}


def heights(axes):
    return {bars.get_label(): [bar.get_height() for bar in bars] for bars in axes.containers}


def legend_texts(figure):
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def test_bars():
    from matplotlib.colors import to_hex

    from closeread.drawing.charts import COLOURS

    figure = draw_categories(COIN_SCORES, SYSTEMS)
    (axes,) = figure.axes
    assert heights(axes) == {RANDOM: [12.5, 25], "mine": [50, 100], "theirs": [0, 75]}
    assert [text.get_text() for text in axes.texts] == [
        "12.5",
        "25.0",
        "50.0",
        "100.0",
        "0.0",
        "75.0",
    ]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["Frequency", "Stationarity"]
    assert legend_texts(figure) == [RANDOM, "mine", "theirs"]
    # Bars of a group stand beside each other, in the order of the legend.
    edges = sorted(
        (bar.get_x(), bar.get_x() + bar.get_width()) for bars in axes.containers for bar in bars
    )
    assert all(right <= left + 1e-9 for (_, right), (left, _) in itertools.pairwise(edges))
    assert [bars[0].get_x() for bars in axes.containers] == [left for left, _ in edges[:3]]
    # Random labels are white, and systems have the colours of all figures in order.
    assert [to_hex(bars[0].get_facecolor()) for bars in axes.containers] == [
        "#ffffff",
        *map(to_hex, COLOURS[:2]),
    ]


@pytest.mark.parametrize("n_systems", [1, 4, 9])
def test_nothing_is_cut_off_and_no_numbers_overlap(n_systems):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    categories = ["Frequency", "Event Duration", "Stationarity", "Event Ordering", "Typical Time"]
    perfect = dict.fromkeys(categories, 1.0)
    systems = {f"a system called {number}": perfect for number in range(n_systems)}
    figure = draw_categories(dict.fromkeys(categories, 0.25), systems)
    figure.draw_without_rendering()
    renderer = FigureCanvasAgg(figure).get_renderer()
    (axes,), (legend,) = figure.axes, figure.legends
    ticks = [
        tick.label1 for tick in axes.yaxis.get_major_ticks() if tick.get_loc() <= axes.get_ylim()[1]
    ]
    texts = [*axes.texts, *axes.get_xticklabels(), *ticks, *legend.get_texts(), axes.yaxis.label]
    boxes = [text.get_window_extent(renderer) for text in texts]
    width, height = figure.get_size_inches() * figure.dpi
    assert all(
        box.x0 >= 0 and box.x1 <= width and box.y0 >= 0 and box.y1 <= height for box in boxes
    )
    shrunk = [box.padded(-1) for box in boxes]
    assert not any(one.overlaps(other) for i, one in enumerate(shrunk) for other in shrunk[:i])


def test_the_command(ran, run):
    ran("baseline", "mctaco", "always-negative", *SAMPLE, "-o", "no.jsonl")
    ran("baseline", "mctaco", "always-positive", *SAMPLE, "-o", "yes.jsonl")
    out = ran("plot", "categories", "yes.jsonl", "no.jsonl", "no.jsonl", *SAMPLE, "-o", "c.svg")
    assert out == "c.svg: 5 categories of questions, 2 systems and random labels\n"
    with open("c.svg", encoding="utf-8") as file:
        drawn = file.read()
    assert all(f">{name}</text>" in drawn for name in ("yes", "no", RANDOM, "Event Ordering"))
    # By hand: the share of questions of a category without a plausible answer is what always-negative gets right.
    records = read_gold(load_corpus("mctaco"), "sample").records
    for category in {record["category"] for record in records}:
        questions = {}
        for record in records:
            if record["category"] == category:
                questions.setdefault(record["question_id"], []).append(record["label"])
        share = sum("yes" not in labels for labels in questions.values()) / len(questions)
        chance = sum(0.5 ** len(labels) for labels in questions.values()) / len(questions)
        assert f">{100 * share:.1f}</text>" in drawn
        assert f">{100 * chance:.1f}</text>" in drawn
    ran("plot", "categories", "yes.jsonl", "no.jsonl", *SAMPLE, "-o", "again.svg")
    with open("again.svg", encoding="utf-8") as file:
        assert file.read() == drawn


def test_files_of_the_same_name_are_called_by_their_paths(ran, tmp_path):
    for folder, baseline in (("a", "always-negative"), ("b", "always-positive")):
        (tmp_path / folder).mkdir()
        ran("baseline", "mctaco", baseline, *SAMPLE, "-o", f"{folder}/x.jsonl")
    ran("plot", "categories", "a/x.jsonl", "b/x.jsonl", *SAMPLE, "-o", "c.svg")
    drawn = (tmp_path / "c.svg").read_text("utf-8")
    assert ">a/x.jsonl</text>" in drawn
    assert ">b/x.jsonl</text>" in drawn
