"""Pictures of TNE: the numbers that are drawn, and how often the same bytes come out."""

import json
import xml.etree.ElementTree as ElementTree
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from shared import json_lines
from shared.tne_links import ENDS, link

from closeread.tasks.tne.figures import (
    NO_LINK,
    commonest,
    count_confusions,
    plot_confusion,
)
from closeread.tasks.tne.links import PREPOSITIONS

OF, IN, ON, BY, AT, NEAR = (
    PREPOSITIONS.index(name) for name in ("of", "in", "on", "by", "at", "near")
)
SAMPLE = ["--config", "sample"]


def gold(*documents):
    """Documents given as their numbers of noun phrases and their links."""
    return [
        {
            "id": f"d{i}",
            "nps": [{"id": f"np{n}"} for n in range(size)],
            "np_relations": [link(*one) for one in links],
        }
        for i, (size, links) in enumerate(documents)
    ]


def system(*documents):
    return [
        links if links is None else {"id": f"d{i}", "relations": [link(*one) for one in links]}
        for i, links in enumerate(documents)
    ]


# 3 * 2 + 2 * 1 + 0 ordered pairs, of which gold links 4.
GOLD = gold(
    (3, [(0, "of", 1), (0, "in", 1), (1, "of", 2), (2, "on", 0)]), (2, [(1, "of", 0)]), (1, [])
)
SENT = system([(0, "of", 1), (1, "by", 2), (2, "of", 1)], [(1, "of", 0), (1, "at", 0)], None)


def cells(counts):
    return {(row, column): n for (row, column), n in np.ndenumerate(counts) if n}


def texts(path):
    found = ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")  # noqa: S314
    return ["".join(text.itertext()) for text in found]


def overlapping(figure):
    """How many pairs of texts overlap by more than a dot, and whether any text leaves the page."""

    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure.draw_without_rendering()
    renderer = FigureCanvasAgg(figure).get_renderer()
    axes = figure.axes[0]
    bottom, top = sorted(axes.get_ylim())
    ticks = [label for label in axes.get_yticklabels() if bottom <= label.get_position()[1] <= top]
    shown = [*axes.texts, *ticks, axes.xaxis.label, *{one.yaxis.label for one in figure.axes}]
    extents = np.array(
        [text.get_window_extent(renderer).extents for text in shown if text.get_text()]
    )
    left, bottom, right, top = extents.T
    across = np.minimum.outer(right, right) - np.maximum.outer(left, left) > 1
    along = np.minimum.outer(top, top) - np.maximum.outer(bottom, bottom) > 1
    width, height = figure.get_size_inches() * figure.dpi
    outside = left.min() < 0 or bottom.min() < 0 or right.max() > width or top.max() > height
    return int(np.triu(across & along, 1).sum()), outside


def test_confusion_counts():
    assert cells(count_confusions(GOLD, SENT)) == {
        # the predicted one where it is among the gold ones, and the first of the predicted ones
        (OF, OF): 2,
        (OF, BY): 1,
        (ON, NO_LINK): 1,
        (NO_LINK, OF): 1,
        (NO_LINK, NO_LINK): 3,
    }


def test_the_commonest_are_those_of_gold():
    counts = np.zeros((25, 25), np.int64)
    counts[[IN, NEAR, OF, AT, NO_LINK], [OF, NEAR, IN, BY, NO_LINK]] = [3, 5, 3, 1, 900]
    counts[NO_LINK, BY] = 70
    assert commonest(counts, 10) == [NEAR, OF, IN, AT]  # ties by number
    assert commonest(counts, 2) == [NEAR, OF]
    assert commonest(np.zeros((25, 25), np.int64), 3) == []


def test_the_matrix_that_is_drawn():
    counts = np.zeros((25, 25), np.int64)
    counts[OF, [OF, IN]], counts[IN, [IN, NO_LINK]], counts[NO_LINK, [OF, NO_LINK]] = (
        [8, 1],
        [4, 2],
        [16, 1 << 20],
    )
    figure = plot_confusion(counts, [OF, IN, NO_LINK])
    axes = figure.axes[0]
    (mesh,) = axes.collections
    drawn = np.ma.getdata(mesh.get_array()).reshape(3, 3)
    hidden = np.ma.getmaskarray(mesh.get_array()).reshape(3, 3)
    # gold by row, predicted by column: log2 of 8 and 1, of 4 and 2, of 16 and 2**20
    assert [[None if h else v for v, h in zip(*rows, strict=True)] for rows in zip(drawn, hidden, strict=True)] == [
        [3, 0, None], [None, 2, 1], [4, None, 20],
    ]  # fmt: skip
    assert (mesh.norm.vmin, mesh.norm.vmax) == (0, 20)
    assert [text.get_text() for text in axes.texts] == [
        "8",
        "1",
        "0",
        "0",
        "4",
        "2",
        "16",
        "0",
        "1,048,576",
    ]
    assert [text.get_position() for text in axes.texts][:4] == [
        (0.5, 0.5),
        (1.5, 0.5),
        (2.5, 0.5),
        (0.5, 1.5),
    ]
    assert axes.get_ylim() == (3, 0)  # from the top down
    assert [label.get_text() for label in axes.get_xticklabels()] == ["of", "in", "no link"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["of", "in", "no link"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("predicted", "gold")
    assert overlapping(figure) == (0, False)


def sent(path="sent.jsonl"):
    """Predictions for the sample: the gold ones but that `of` is `by`, and one more link."""
    rows = []
    for line in (
        resources.files("closeread.loaders.tne").joinpath("sample.jsonl").read_bytes().splitlines()
    ):
        record = json.loads(line)
        links = [{name: one[name] for name in ENDS} for one in record["np_relations"]]
        for one in links:
            one["preposition"] = {"of": "by"}.get(one["preposition"], one["preposition"])
        rows.append({"id": record["id"], "relations": links})
    rows[0]["relations"].append(link(1, "near", 0))
    json_lines.write(path, rows)


def test_confusion_of_the_sample(ran):
    sent()
    # 65 links of as many pairs: 33 of, 6 for, 5 on and 5 about, of which on has the lower number
    told = ran("plot", "confusion", "sent.jsonl", *SAMPLE, "--labels", 3, "-o", "matrix.svg")
    assert told == "matrix.svg: 3 prepositions, 44 of 65 gold pairs\n"
    found = texts("matrix.svg")
    assert found.count("no link") == 2
    ran(
        "plot",
        "confusion",
        "sent.jsonl",
        *SAMPLE,
        "--labels",
        24,
        "--unlinked",
        "hidden",
        "-o",
        "matrix.svg",
    )
    assert "no link" not in texts("matrix.svg")
    ran("plot", "confusion", "sent.jsonl", *SAMPLE, "-o", "matrix.PNG")
    assert Path("matrix.PNG").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_gold_without_links_is_refused(ran, run):
    sent()
    record = {"id": "d", "text": "a", "tokens": ["a"], "nps": [], "coref": [], "np_relations": []}
    for links, message in (
        ([], "the gold file has no links to draw"),
        (None, "the gold file has documents without links (expected links for every document)"),
    ):
        Path("gold.jsonl").write_text(json.dumps(record | {"np_relations": links}) + "\n", "utf-8")
        Path("empty.jsonl").write_text(json.dumps({"id": "d", "relations": []}) + "\n", "utf-8")
        result = run("plot", "confusion", "empty.jsonl", "--gold", "gold.jsonl", "-o", "x.png")
        assert result.exit_code == 2
        assert message in result.stderr
    assert not Path("x.png").exists()


@pytest.mark.gate
@pytest.mark.parametrize("labels", [[OF], [OF, NO_LINK], [*range(1, 25), 0]])
def test_matrices_of_any_size_are_readable(labels):
    counts = np.full((25, 25), 9_999_999)
    assert overlapping(plot_confusion(counts, labels)) == (0, False)
    plot_confusion(np.zeros((25, 25), np.int64), labels)
