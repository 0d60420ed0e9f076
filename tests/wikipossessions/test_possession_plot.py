"""Plots of possession timelines: content, layout, and reproducible files."""

import json
import warnings
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np

from closeread.tasks.wikipossessions.plots import LACKING, draw_timeline

SHAPES = {"PER": "Rectangle", "LOC": "FancyBboxPatch", "ORG": "Ellipse", None: "Polygon"}
KETTLE = "The Blue Kettle (painting)"
PLOT = ["plot", "possession", KETTLE, "--config", "sample"]
NOTHING_MORE = {
    "certainty": "certain",
    "anchor": None,
    "relation": None,
    "relation_certainty": None,
}
SUBMISSION = {
    "article": KETTLE,
    "possessions": [
        {"possessor": "aldo brinkmann", "order": "1", **NOTHING_MORE},
        {"possessor": "A Thief", "order": "2", **NOTHING_MORE},
    ],
}


def possession(
    possessor, order="1", kind="PER", certainty="certain", anchor=None, relation=None, sure=None
):
    return {
        "type": kind,
        "possessor": possessor,
        "certainty": certainty,
        "order": order,
        "anchor": anchor,
        "relation": relation,
        "relation_certainty": sure,
    }


def side(figure, label="gold"):
    (found,) = [axes for axes in figure.axes if axes.get_label() == label]
    return found


def texts_of(axes):
    return [text.get_text() for text in axes.texts]


def centre(axes, name):
    (found,) = [text for text in axes.texts if text.get_text() == name]
    return found.get_position()


def names_in(path):
    texts = ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")  # noqa: S314
    return ["".join(text.itertext()) for text in texts]


def find_boxes(figure):
    """Return the extents of all texts in dots: left, bottom, right, top."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(figure).get_renderer()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")
        extents = [
            text.get_window_extent(renderer).extents for axes in figure.axes for text in axes.texts
        ]
    return np.array(extents)


def assert_readable(figure):
    """Check that no two texts overlap and none leaves the page."""
    left, bottom, right, top = find_boxes(figure).T
    across = np.minimum.outer(right, right) > np.maximum.outer(left, left)
    along = np.minimum.outer(top, top) > np.maximum.outer(bottom, bottom)
    assert not np.triu(across & along, 1).any()
    width, height = figure.get_size_inches() * figure.dpi
    assert left.min() >= 0
    assert bottom.min() >= 0
    assert right.max() <= width
    assert top.max() <= height


def test_an_svg_contains_every_possessor_and_anchor(ran):
    ran(*PLOT, "-o", "kettle.SVG")
    found = names_in("kettle.SVG")
    expected = [
        "Aldo Brinkmann",
        "Marta Brinkmann",
        "Marta Brinkmann",
        "Joris Vael,",
        "Guild of Coopers",
    ]
    expected += ["Ostervik", "the Harbour Museum", "Museum of the Harbour", "Harbour Museum"]
    expected += ["1641", "World War II", "5.10", KETTLE]
    for text in expected:
        assert found.count(text) == expected.count(text)


def test_shapes_are_types_and_dashes_are_uncertainty():
    kinds = ["PER"] * 3 + ["LOC"] * 2 + ["ORG"] * 4 + [None]
    rows = [possession(f"N{i}", str(i + 1), kind) for i, kind in enumerate(kinds)]
    for i in (0, 4, 8):
        rows[i]["certainty"] = "uncertain"
    patches = side(draw_timeline("T", rows)).patches
    assert {kind: sum(type(patch).__name__ == shape for patch in patches) for kind, shape in SHAPES.items()} == {
        "PER": 3, "LOC": 2, "ORG": 4, None: 1,
    }  # fmt: skip
    assert [i for i, patch in enumerate(patches) if patch.get_linestyle() == "--"] == [0, 4, 8]


def test_the_line_above_an_anchor_is_dashed_if_the_relation_is_uncertain():
    rows = [
        possession("A", "1", anchor="1641", relation="during", sure="certain"),
        possession("B", "2", anchor="1650", relation="before", sure="uncertain"),
        possession("C", "3", anchor="1660", relation="after", sure="certain"),
        possession("D", "4", anchor="Unknown"),
    ]
    axes = side(draw_timeline("T", rows))
    styles = [
        line.get_linestyle()
        for line in axes.lines
        if not line.get_marker() or line.get_marker() == "None"
    ]
    assert styles == ["-", "--", "-"]
    assert {"1641", "before 1650", "after 1660", "Unknown"} <= set(texts_of(axes))


def test_columns_are_in_numerical_order_and_ties_share_one():
    rows = [
        possession(name, order)
        for name, order in (("d", "6.10"), ("b", "6"), ("c", "6.2"), ("a", "5"), ("B", "6"))
    ]
    axes = side(draw_timeline("T", rows))
    places = {name: centre(axes, name) for name in "abcdB"}
    assert places["a"][0] < places["b"][0] < places["c"][0] < places["d"][0]
    assert places["b"][0] == places["B"][0]
    assert places["b"][1] > places["B"][1]
    assert texts_of(axes).count("6") == 1


def test_predictions_are_below_and_possessors_not_in_gold_are_marked():
    import matplotlib
    import matplotlib.patches

    gold = [possession("The Museum of Art"), possession("Ida", "2")]
    predicted = [possession("museum art"), possession("Idas", "2"), possession("Ida", "3")]
    figure = draw_timeline("T", gold, predicted)
    above, below = side(figure), side(figure, "prediction")
    assert above.get_position().y0 >= below.get_position().y1
    assert texts_of(above)[0] == "Gold"
    assert [patch.get_edgecolor() for patch in below.patches] == [
        matplotlib.colors.to_rgba(color) for color in ("#222222", LACKING, "#222222")
    ]
    assert texts_of(below).count("✗") == 1
    assert "✗" not in texts_of(above)
    assert "not in gold" in texts_of(side(figure, "legend"))
    assert_readable(figure)


def test_predictions_may_contain_only_this_article(ran, run):
    Path("predictions.jsonl").write_text(json.dumps(SUBMISSION) + "\n", "utf-8")
    printed = ran(*PLOT, "--predictions", "predictions.jsonl", "-o", "both.svg")
    assert printed == "both.svg: 9 possessions, 2 predicted\n"
    found = names_in("both.svg")
    assert {"Gold", "Prediction", "aldo brinkmann", "A Thief", "no type"} <= set(found)
    assert found.count("✗") == 2  # next to the thief, and in the legend
    other = run(
        "plot",
        "possession",
        "The Lighthouse Clock",
        *PLOT[3:],
        "--predictions",
        "predictions.jsonl",
        "-o",
        "no.svg",
    )
    assert other.exit_code == 2
    assert "predictions.jsonl has no prediction for article 'The Lighthouse Clock'" in other.stderr
    assert not Path("no.svg").exists()


def test_an_article_without_possessions():
    figure = draw_timeline("T", [], [possession("A")])
    assert texts_of(side(figure)) == ["Gold", "no possessions"]
    assert_readable(figure)


def test_an_unknown_article_gets_a_suggestion(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("plot", "possession", "The Blue Kettle", "--config", "sample", "-o", "x.png")
    assert result.exit_code == 2
    assert f"no such article: 'The Blue Kettle'. Did you mean '{KETTLE}'?" in result.stderr
    assert list(tmp_path.iterdir()) == []
