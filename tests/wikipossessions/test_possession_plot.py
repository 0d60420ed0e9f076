"""Possession timelines: what is drawn, where, and how often the same bytes come out."""

import json
import re
import struct
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import matplotlib
import matplotlib.patches
import numpy as np
import pytest

from closeread.drawing.pictures import write_picture
from closeread.errors import MissingExtraError, RequestError
from closeread.tasks.wikipossessions.plots import LACKING, draw_timeline

SHAPES = {
    "PER": matplotlib.patches.Rectangle,
    "LOC": matplotlib.patches.FancyBboxPatch,
    "ORG": matplotlib.patches.Ellipse,
    None: matplotlib.patches.Polygon,
}
KETTLE = "The Blue Kettle (painting)"
PLOT = ["plot", "possession", KETTLE, "--config", "sample"]
NOTHING_MORE = {"certainty": "certain", "anchor": None, "relation": None, "relation_certainty": None}
SENT = {
    "article": KETTLE,
    "possessions": [
        {"possessor": "aldo brinkmann", "order": "1", **NOTHING_MORE},
        {"possessor": "A Thief", "order": "2", **NOTHING_MORE},
    ],
}


def possession(possessor, order="1", kind="PER", certainty="certain", anchor=None, relation=None, sure=None):
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


def written(axes):
    return [text.get_text() for text in axes.texts]


def centre(axes, name):
    (found,) = [text for text in axes.texts if text.get_text() == name]
    return found.get_position()


def names_in(path):
    texts = ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")  # noqa: S314
    return ["".join(text.itertext()) for text in texts]


def boxes(figure):
    """The extents of all texts: left, bottom, right, top, in dots."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(figure).get_renderer()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")
        extents = [text.get_window_extent(renderer).extents for axes in figure.axes for text in axes.texts]
    return np.array(extents)


def assert_readable(figure):
    """No two texts overlap, and none leaves the page."""
    left, bottom, right, top = boxes(figure).T
    across = np.minimum.outer(right, right) > np.maximum.outer(left, left)
    along = np.minimum.outer(top, top) > np.maximum.outer(bottom, bottom)
    assert not np.triu(across & along, 1).any()
    width, height = figure.get_size_inches() * figure.dpi
    assert left.min() >= 0
    assert bottom.min() >= 0
    assert right.max() <= width
    assert top.max() <= height


def test_a_png_of_the_size_that_was_laid_out(ran):
    assert ran(*PLOT, "-o", "kettle.png") == "kettle.png: 9 possessions\n"
    data = Path("kettle.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    assert width == 9 * 150  # the least width, at 150 dots an inch
    assert height > 300


def test_an_svg_holds_every_possessor_and_anchor(ran):
    ran(*PLOT, "-o", "kettle.SVG")
    found = names_in("kettle.SVG")
    wanted = ["Aldo Brinkmann", "Marta Brinkmann", "Marta Brinkmann", "Joris Vael,", "Guild of Coopers", "Ostervik"]
    wanted += ["the Harbour Museum", "Museum of the Harbour", "Harbour Museum", "1641", "World War II", "5.10", KETTLE]
    for text in wanted:
        assert found.count(text) == wanted.count(text)


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_same_bytes_whatever_the_users_settings(ran, suffix):
    ran(*PLOT, "-o", f"one.{suffix}")
    with matplotlib.rc_context({"font.size": 30, "savefig.dpi": 20, "savefig.bbox": "tight", "axes.facecolor": "red"}):
        ran(*PLOT, "-o", f"two.{suffix}")
    data = Path(f"one.{suffix}").read_bytes()
    assert Path(f"two.{suffix}").read_bytes() == data
    assert not re.search(rb"matplotlib v|<dc:date>|Software", data, re.IGNORECASE)


def test_shapes_tell_types_and_dashes_doubt():
    kinds = ["PER"] * 3 + ["LOC"] * 2 + ["ORG"] * 4 + [None]
    rows = [possession(f"N{i}", str(i + 1), kind) for i, kind in enumerate(kinds)]
    for i in (0, 4, 8):
        rows[i]["certainty"] = "uncertain"
    patches = side(draw_timeline("T", rows)).patches
    assert {kind: sum(type(patch) is shape for patch in patches) for kind, shape in SHAPES.items()} == {
        "PER": 3, "LOC": 2, "ORG": 4, None: 1,
    }  # fmt: skip
    assert [i for i, patch in enumerate(patches) if patch.get_linestyle() == "--"] == [0, 4, 8]


def test_every_text_is_inside_of_its_shape():
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    for kind in SHAPES:
        for name in ("I", "W" * 38, "Museum of the Harbour", "ÅÇjgq"):
            figure = draw_timeline("T", [possession(name, kind=kind)])
            renderer = FigureCanvasAgg(figure).get_renderer()
            axes = side(figure)
            (patch,) = axes.patches
            (text,) = [text for text in axes.texts if text.get_text() == name]
            left, bottom, right, top = text.get_window_extent(renderer).extents
            outline = patch.get_path().transformed(patch.get_transform())
            assert outline.contains_points([(left, bottom), (left, top), (right, bottom), (right, top)]).all()


def test_the_line_over_an_anchor_tells_whether_its_relation_is_certain():
    rows = [
        possession("A", "1", anchor="1641", relation="during", sure="certain"),
        possession("B", "2", anchor="1650", relation="before", sure="uncertain"),
        possession("C", "3", anchor="1660", relation="after", sure="certain"),
        possession("D", "4", anchor="Unknown"),
    ]
    axes = side(draw_timeline("T", rows))
    styles = [line.get_linestyle() for line in axes.lines if not line.get_marker() or line.get_marker() == "None"]
    assert styles == ["-", "--", "-"]
    assert {"1641", "before 1650", "after 1660", "Unknown"} <= set(written(axes))


def test_order_is_by_number_and_ties_share_a_column():
    rows = [
        possession(name, order) for name, order in (("d", "6.10"), ("b", "6"), ("c", "6.2"), ("a", "5"), ("B", "6"))
    ]
    axes = side(draw_timeline("T", rows))
    places = {name: centre(axes, name) for name in "abcdB"}
    assert places["a"][0] < places["b"][0] < places["c"][0] < places["d"][0]
    assert places["b"][0] == places["B"][0]
    assert places["b"][1] > places["B"][1]
    assert written(axes).count("6") == 1


def test_a_prediction_stands_below_and_what_gold_lacks_is_marked(ran):
    gold = [possession("The Museum of Art"), possession("Ida", "2")]
    predicted = [possession("museum art"), possession("Idas", "2"), possession("Ida", "3")]
    figure = draw_timeline("T", gold, predicted)
    above, below = side(figure), side(figure, "prediction")
    assert above.get_position().y0 >= below.get_position().y1
    assert written(above)[0] == "Gold"
    assert [patch.get_edgecolor() for patch in below.patches] == [
        matplotlib.colors.to_rgba(color) for color in ("#222222", LACKING, "#222222")
    ]
    assert written(below).count("✗") == 1
    assert "✗" not in written(above)
    assert "not in gold" in written(side(figure, "legend"))
    assert_readable(figure)


def test_predictions_of_one_article_are_enough(ran, run):
    Path("sent.jsonl").write_text(json.dumps(SENT) + "\n", "utf-8")
    told = ran(*PLOT, "--predictions", "sent.jsonl", "-o", "both.svg")
    assert told == "both.svg: 9 possessions, 2 predicted\n"
    found = names_in("both.svg")
    assert {"Gold", "Prediction", "aldo brinkmann", "A Thief", "type not told"} <= set(found)
    assert found.count("✗") == 2  # beside the thief, and in the legend
    other = run("plot", "possession", "The Lighthouse Clock", *PLOT[3:], "--predictions", "sent.jsonl", "-o", "no.svg")
    assert other.exit_code == 2
    assert "sent.jsonl has no prediction for article 'The Lighthouse Clock'" in other.stderr
    assert not Path("no.svg").exists()


def test_hundreds_of_possessors_stay_readable(tmp_path):
    kinds = list(SHAPES)
    rows = [
        possession(
            f"{'W' * (i % 61)}{i}", f"{1 + i // 3}.{1 + i % 2}" if i < 300 else "200", kinds[i % 4],
            anchor=f"{1000 + i}-{'Y' * (i % 53)}", relation="before", sure="certain",
        )
        for i in range(400)
    ]  # fmt: skip
    figure = draw_timeline("M" * 300, rows, rows[::-1] + [possession("nobody", str(i)) for i in range(1, 50)])
    assert len(side(figure).patches) == 400
    assert_readable(figure)
    width, height = figure.get_size_inches()
    assert 0.4 < width / height < 2.5
    write_picture(figure, tmp_path / "many.png")
    columns, lines = struct.unpack(">II", (tmp_path / "many.png").read_bytes()[16:24])
    assert max(columns, lines) < 2**16
    assert columns * lines < 5e7


def test_an_article_without_possessions():
    figure = draw_timeline("T", [], [possession("A")])
    assert written(side(figure)) == ["Gold", "no possessions"]
    assert_readable(figure)


def test_hostile_names_are_drawn_as_they_stand(tmp_path):
    names = ["$x^2$ and $\\frac{1}{2}$", "cost: $5", "\\$", "{}%_^~#", "</text><script>&amp;--", "故宮博物院", "عين"]
    figure = draw_timeline("$T_1$", [possession(name, anchor=f"${name[:9]}$") for name in names])
    assert_readable(figure)
    for suffix in ("svg", "png"):
        write_picture(figure, tmp_path / f"hostile.{suffix}")
    found = names_in(tmp_path / "hostile.svg")
    assert {"$T_1$", *names} <= set(found)
    assert b"<script" not in (tmp_path / "hostile.svg").read_bytes()


def test_what_xml_forbids_is_replaced(tmp_path):
    write_picture(draw_timeline("T", [possession("a\uffffb\x1bc")]), tmp_path / "x.svg")
    assert "a\ufffdb\ufffdc" in names_in(tmp_path / "x.svg")


def test_long_names_are_shortened():
    found = written(side(draw_timeline("T", [possession("abc" * 100)])))
    assert "abcabcabcabcabcabc … abcabcabcabcabcabc" in found


def test_an_unknown_article_is_told_with_the_nearest(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("plot", "possession", "The Blue Kettle", "--config", "sample", "-o", "x.png")
    assert result.exit_code == 2
    assert f"no article 'The Blue Kettle'; did you mean '{KETTLE}'?" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["x.pdf", "x", "x.png.txt"])
def test_other_suffixes_are_refused(run, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    result = run(*PLOT, "-o", name)
    assert result.exit_code == 2
    assert "expected .png or .svg" in result.stderr
    with pytest.raises(RequestError, match=r"expected \.png or \.svg"):
        write_picture(draw_timeline("T", []), Path(name))
    assert list(tmp_path.iterdir()) == []


def test_a_picture_is_written_whole_or_not_at_all(run, tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    def fail(self, path, **options):
        Path(path).write_bytes(b"half")
        raise OSError(28, "No space left on device", str(path))

    (tmp_path / "kettle.png").write_bytes(b"before")
    monkeypatch.setattr(Figure, "savefig", fail)
    result = run(*PLOT, "-o", tmp_path / "kettle.png")
    assert result.exit_code == 1
    assert "kettle.png: can't be written: No space left on device" in result.stderr
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("kettle.png", b"before")]


def test_what_is_read_is_not_written_over(run, tmp_path):
    (tmp_path / "sent.png").write_text(json.dumps(SENT), "utf-8")
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


def test_no_global_state_and_no_display_is_touched(ran):
    look = "import sys; from closeread.cli import main; import atexit\n"
    look += "atexit.register(lambda: print('matplotlib.pyplot' in sys.modules))\n"
    command = [sys.executable, "-c", f"{look}main({[*PLOT, '-o', 'x.png']!r})"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")
