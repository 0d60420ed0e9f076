"""Results that one can hold: they print as the command line does, and become tables and data frames elsewhere."""

import math
import sys
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from types import SimpleNamespace

import pyarrow as pa
import pytest
from shared.entry_points import system_rows

import closeread
from closeread.counts.estimates import Estimate, Resampling
from closeread.counts.results import Shown
from closeread.exceptions import MissingExtraError, RequestError
from closeread.tables import csv_text

QUICK = Resampling(20)
DOCUMENT = {"document": "ode", "clusters": [[[0, 0], [2, 3]], [[5, 5], [7, 7], [9, 9]]]}
OTHER = {"document": "<b>&", "clusters": [[[0, 0], [1, 1]]]}


@pytest.fixture
def report():
    """A system of McTaco's sample, by category."""
    return closeread.score(
        "mctaco", system_rows("mctaco"), config="sample", by="category", resampling=QUICK
    )


@pytest.fixture
def comparison():
    """Two systems that find two entities of three, or one; their names would harm a page."""
    systems = (
        {"clusters": DOCUMENT["clusters"][:1], "document": "ode"},
        {"document": "ode", "clusters": []},
    )
    found = closeread.compare(
        "coref",
        *([one, OTHER] for one in systems),
        gold=[DOCUMENT, OTHER],
        resampling=QUICK,
        metrics=("muc", "conll"),
    )
    return replace(found, names=("<script>alert(1)</script>", "b.jsonl"))


@pytest.mark.parametrize("fields", [(), ("category",)])
@pytest.mark.parametrize("style", ["table", "markdown", "latex", "csv"])
def test_a_report_is_what_the_command_prints(style, fields, ran, report):
    ran("baseline", "mctaco", "random", "--config", "sample", "-o", "coin.jsonl")
    options = ["--resamples", 20, "--format", style, *(f"--by={field}" for field in fields)]
    printed = ran("score", "mctaco", "coin.jsonl", "--config", "sample", *options)
    found = closeread.score("mctaco", "coin.jsonl", config="sample", by=fields, resampling=QUICK)
    ways = {
        "table": lambda: f"{found}\n",
        "markdown": found.to_markdown,
        "latex": found.to_latex,
        "csv": found.to_csv,
    }
    assert ways[style]() == printed


def test_short_forms_are_short(report, comparison):
    assert repr(report).startswith("<Report of mctaco sample test: 25 questions, Exact match ")
    full = closeread.score("coref", [OTHER], gold=[OTHER], resampling=Resampling(0))
    assert (
        repr(full)
        == "<Report of coref: 1 document, Mentions F1 100.00, MUC F1 100.00, B³ F1 100.00, CEAFm F1 100.00, …>"
    )
    four = closeread.score(
        "coref",
        [OTHER],
        gold=[OTHER],
        metrics=("muc", "b3", "ceafe", "lea"),
        resampling=Resampling(0),
    )
    assert repr(four).endswith(" F1 100.00>")
    # Without wrong links, the first finds 2 of 4, the second 1 of 4: F1 is 2/3 and 2/5.
    assert repr(comparison).startswith(
        "<Comparison of '<script>alert(1)</script>' and 'b.jsonl': 2 documents, MUC F1 -26.67, CoNLL F1 -"
    )


def test_units_are_rows_of_scores_and_counts():
    # The first document: of its two entities the response has one, 1 of 3 links. The second: everything, 1 of 1.
    system = [{"document": "ode", "clusters": DOCUMENT["clusters"][:1]}, OTHER]
    report = closeread.score(
        "coref", system, gold=[DOCUMENT, OTHER], metrics="muc", resampling=Resampling(0)
    )
    first, second = report.units
    assert (first["document"], first["muc/recall"], first["muc/precision"]) == (
        "ode",
        float(Fraction(1, 3)),
        1,
    )
    assert (second["document"], second["muc/f1"], second["muc/common"], second["block"]) == (
        "<b>&",
        1,
        1,
        1,
    )
    assert report.scores["muc/recall"].value == 2 / 4  # the sums of 1 / 3 and 1 / 1
    assert (len(report.units), report.units[-1], report.units[1:]) == (2, second, [second])
    assert repr(report.units) == "<2 documents>"
    with pytest.raises(IndexError):
        report.units[2]


def test_a_frame_has_the_rows_of_the_csv_in_arrow_types(report):
    import pandas as pd

    table = report.to_frame("arrow")
    (*header, signature), rows = report._to_rows()
    told = [
        [*row, report.provenance.signature] for row in zip(*table.to_pydict().values(), strict=True)
    ]
    assert csv_text([*header, signature], told) == report.to_csv()
    assert table.column_names == [
        {"low": "ci_low", "high": "ci_high"}.get(name, name) for name in header
    ]
    assert table.schema.metadata == {b"signature": report.provenance.signature.encode()}
    assert {str(table.schema.field(name).type) for name in ("metric", "field", "value")} == {
        "string"
    }
    assert [str(table.schema.field(name).type) for name in ("score", "undefined", "n_units")] == [
        "double",
        "bool",
        "int64",
    ]
    frame = report.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.attrs == {"signature": report.provenance.signature}
    assert all(isinstance(kind, pd.ArrowDtype) for kind in frame.dtypes)
    assert (
        frame.set_index(["field", "value", "metric"])["score"][("", "all", "f1")]
        == report.scores["f1"].value
    )
    assert len(frame) == len(rows) == 2 * (1 + len(report.slices["category"]))
    # No interval at all is a column of numbers, too.
    bare = closeread.score(
        "mctaco", system_rows("mctaco"), config="sample", resampling=Resampling(0)
    )
    assert str(bare.to_frame("arrow").schema.field("ci_low").type) == "double"
    assert pd.DataFrame(report.units)["f1"].mean() == pytest.approx(report.scores["f1"].value)


def test_polars_comes_from_arrow(monkeypatch, report):
    monkeypatch.setitem(
        sys.modules, "polars", SimpleNamespace(from_arrow=lambda table: ("polars", table))
    )
    name, table = report.to_frame("polars")
    assert (name, table.equals(report.to_frame("arrow"))) == ("polars", True)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert report.to_frame()[0] == "polars"
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(
        MissingExtraError, match=r"pandas or polars \(library='arrow' needs neither\) needs pandas"
    ):
        report.to_frame()
    for library in ("pandas", "polars"):
        with pytest.raises(MissingExtraError, match=f"a data frame of {library} needs {library}"):
            report.to_frame(library)
    assert isinstance(report.to_frame("arrow"), pa.Table)
    with pytest.raises(
        RequestError,
        match=r"^no such library of data frames: 'excel' \(choose from: pandas, polars, arrow\)",
    ):
        report.to_frame("excel")


def test_a_score_is_found_by_its_name_and_is_a_number(report):
    assert float(report["f1"]) == report.total.scores["f1"].value
    with pytest.raises(RequestError, match=r"no such score: 'F1-score'\. Did you mean 'f1'"):
        report["F1-score"]
    comparison = closeread.compare(
        "coref", [DOCUMENT], [DOCUMENT], gold=[DOCUMENT], resampling=Resampling(1)
    )
    assert float(comparison["muc/f1"]) == 0
    assert math.isnan(float(Estimate(None, None, None, True)))


class Reader(HTMLParser):
    """Collects the elements, and the text of every cell."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.rows, self.open = set(), [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.add(tag)
        if tag != "br":
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        assert set(dict(attributes)) <= {"style", "colspan"}
        # No colour, so that the notebook's own is used.
        assert "color" not in dict(attributes).get("style", "")
        assert "background" not in dict(attributes).get("style", "")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data


ELEMENTS = {"table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "br", "strong"}


def test_html_has_every_cell_and_nothing_from_outside(report, comparison):
    for result in (report, comparison):
        assert isinstance(result, Shown)
        read, cells = Reader(result._repr_html_()), []
        for grid in result._to_grids("markdown"):
            header = [list(grid.header)] if grid.header else []
            cells += [
                *header,
                *map(list, grid.rows),
                *([["".join(grid.notes)]] if grid.notes else []),
            ]
        assert read.elements <= ELEMENTS
        assert read.rows == cells
    assert "<script>" not in comparison._repr_html_()
    assert "<strong>" in comparison._repr_html_()  # the better system


def test_what_is_set_by_convention_is_marked_and_explained():
    one = [[[[0, 0]]]]  # a chain of one mention has no links
    shown = str(closeread.score("coref", one, gold=one, metrics=["muc"]))
    assert "0.00*" in shown
    assert "* This score is 0/0; its value is set by convention.\n" in shown
