"""`closeread plot scores`: the scores of systems by any procedure, with intervals and what differs from the best."""

import pytest

import closeread
from closeread.files import write_text
from closeread.formats.json_lines import dump_json_lines

KEY = [{"document": name, "clusters": [[[0, 0], [1, 1]], [[3, 3], [5, 5]]]} for name in "abc"]


def dots(axes):
    return [line for line in axes.lines if line.get_marker() == "o"]


def test_the_best_is_on_top_and_hollow_dots_are_worse(tmp_path):
    pytest.importorskip("matplotlib")
    paths = []
    for name in ("always-negative", "always-positive"):
        paths.append(tmp_path / f"{name}.jsonl")
        closeread.baseline("mctaco", name, config="sample", output=paths[-1])
    table = closeread.table("mctaco", paths, config="sample")
    assert table.standings["f1"] == ["worse", "best"]
    figure = closeread.plot(
        "scores", "mctaco", *paths, config="sample", output=tmp_path / "scores.png"
    )
    assert (tmp_path / "scores.png").stat().st_size > 0
    (axes,) = [one for one in figure.axes if one.get_title() == "F1"]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "always-positive  61.31",
        "always-negative  4.00",
    ]
    best = table.reports[1].scores["f1"]
    assert axes.lines[0].get_xdata() == pytest.approx([100 * best.low, 100 * best.high])
    assert [dot.get_markerfacecolor() == "white" for dot in dots(axes)] == [False, True]


def test_the_key_comes_first_where_no_corpus_has_it(ran, tmp_path):
    pytest.importorskip("matplotlib")
    halves = [{**record, "clusters": record["clusters"][:1]} for record in KEY]
    for name, rows in {"key": KEY, "half": halves, "whole": KEY}.items():
        write_text(tmp_path / f"{name}.jsonl", dump_json_lines(rows))
    files = [tmp_path / f"{name}.jsonl" for name in ("key", "half", "whole")]
    told = ran(
        "plot", "scores", "coref", *files, "--scores", "muc/f1", "-o", tmp_path / "scores.svg"
    )
    assert told == f"{tmp_path / 'scores.svg'}: 1 score of 2 systems\n"
    text = (tmp_path / "scores.svg").read_text("utf-8")
    assert text.index("whole  100.00") < text.index("half  66.67")  # of two links a document, one
    assert "key  " not in text


def test_a_figure_shows_itself_in_a_notebook():
    pytest.importorskip("matplotlib")
    figure = closeread.plot("timeline", "Mara Lindqvist", config="sample")
    assert figure._repr_png_().startswith(b"\x89PNG")
