"""Results as files: what is saved prints the same when it is loaded, and what is no result is refused."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from shared.entry_points import system_rows

import closeread
from closeread.counts.comparison import Comparison
from closeread.counts.estimates import Resampling
from closeread.counts.report import Report
from closeread.counts.resampling import Difference
from closeread.counts.systems import PairTest, SystemsTable
from closeread.exceptions import FormatError, RequestError
from closeread.operations.score import load_report

QUICK = Resampling(20)
KEY = {"document": "ode", "clusters": [[[0, 0], [2, 3]], [[5, 5], [7, 7], [9, 9]]]}
BARE = {"document": "ode", "clusters": []}
KEYS = [KEY | {"document": "air"}, KEY]

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture
def report():
    """A system of McTaco's sample, by category."""
    return closeread.score(
        "mctaco", system_rows("mctaco"), config="sample", by="category", resampling=QUICK
    )


def test_a_saved_report_is_the_same(report):
    report.save("report.json")
    text = Path("report.json").read_text("utf-8")
    assert text.endswith("\n}\n")
    assert json.loads(text).items() >= report.to_dict().items()
    loaded = Report.load("report.json")
    assert loaded == report
    assert (str(loaded), loaded.to_csv(), repr(loaded)) == (
        str(report),
        report.to_csv(),
        repr(report),
    )
    with pytest.raises(
        RequestError, match="was read from JSON that has no questions; score the predictions again"
    ):
        _ = loaded.units
    with pytest.raises(RequestError, match="has no questions"):
        loaded.save("again.json", units=True)
    assert not Path("again.json").exists()
    report.save(Path("units.json"), units=True)
    assert list(Report.load("units.json").units) == list(report.units)
    # nothing half-written
    assert [path.name for path in sorted(Path().iterdir())] == ["report.json", "units.json"]


def test_what_the_command_prints_is_loaded(run):
    for name, record in (("key", KEY), ("bare", BARE)):
        Path(f"{name}.jsonl").write_text(json.dumps(record) + "\n", "utf-8")
    printed = run(
        "score", "coref", "key.jsonl", "bare.jsonl", "--no-ci", "--json", "--preset", "conll2012"
    ).stdout
    Path("printed.json").write_text(printed, "utf-8")
    expected = closeread.score(
        "coref", "bare.jsonl", gold="key.jsonl", resampling=Resampling(0), preset="conll2012"
    )
    assert str(load_report("printed.json")) == str(expected)
    # By itself, a report knows the names of its scores, but no titles.
    lines = str(Report.load("printed.json")).splitlines()
    assert [line.split()[0] for line in lines if line.startswith(("muc", "b3", "conll"))] == [
        "muc",
        "b3",
        "conll",
    ]
    Path("unknown.json").write_text(
        printed.replace('"coref"', '"chess"').replace('"coref|', '"chess|'), "utf-8"
    )
    assert str(load_report("unknown.json")) == str(Report.load("unknown.json"))


def test_a_saved_comparison_is_the_same():
    comparison = closeread.compare("coref", [KEY], [BARE], gold=[KEY], resampling=QUICK)
    comparison.save("comparison.json")
    loaded = Comparison.load("comparison.json")
    assert (str(loaded), loaded.to_csv()) == (str(comparison), comparison.to_csv())
    assert loaded.first == comparison.first
    assert loaded.differences["muc/f1"].value == -1
    # NaN again: one document can't be resampled
    assert all(d.low != d.low for d in loaded.differences.values())
    assert (
        json.loads(Path("comparison.json").read_text("utf-8"))["differences"]["muc/f1"]["low"]
        is None
    )


@pytest.fixture(scope="module")
def table():
    """A table of two systems with counts and a report without."""
    told = Report.from_json(closeread.score("coref", KEYS, gold=KEYS, resampling=QUICK).to_json())
    systems = {"mine": KEYS, "theirs": [KEYS[0], BARE], "told": told}
    shown = {"intervals": "range", "digits": 1, "pairs": True}
    return closeread.table(
        "coref", systems, gold=KEYS, scores=["muc/f1", "lea"], resampling=QUICK, **shown
    )


def test_a_saved_table_is_the_same(table):
    table.save("table.json")
    loaded = SystemsTable.load("table.json")
    assert loaded == table
    for one in ("__str__", "__repr__", "to_csv", "to_latex", "to_html", "to_dict"):
        assert getattr(loaded, one)() == getattr(table, one)()
    assert SystemsTable.from_json(loaded.to_stored()) == table
    # What the command line prints says nothing of how the table is shown.
    printed = SystemsTable.from_json(table.to_dict())
    assert printed == replace(table, digits=2, intervals="none", pairs=False, lacking=None)


def test_what_is_undefined_in_a_table_is_saved():
    lone = closeread.table("coref", {"a": [KEY], "b": [BARE]}, gold=[KEY], resampling=QUICK)
    assert lone.tests == {}
    assert SystemsTable.from_json(lone.to_stored()) == lone
    test = PairTest(0, 1, Difference(math.nan, math.nan, math.nan, math.nan, math.nan), math.nan)
    stored = replace(lone, tests={"muc/f1": [test]}).to_stored()
    assert set(stored["pairs"]["muc/f1"][0].values()) == {"a", "b", None}
    (loaded,) = SystemsTable.from_json(stored).tests["muc/f1"]
    assert str(loaded) == str(test)


def test_what_is_no_table(table):
    found = table.to_dict()
    first, second, third = found["systems"]
    scores = {name: one for name, one in third["report"]["scores"].items() if name != "muc/f1"}
    test = found["pairs"]["muc/f1"][0]
    for bad in (
        {"systems": [first, second | {"name": "mine"}, third]},
        {"systems": [first, second, third | {"report": third["report"] | {"scores": scores}}]},
        {"pairs": {"muc/f1": [test | {"second": "ours"}]}},
    ):
        with pytest.raises(
            FormatError,
            match=r"^t.json: has a name twice, or a test or a score of a system that it",
        ):
            SystemsTable.from_json(found | bad, "t.json")
    for change, problem in (
        ({"alpha": 1}, "t.json: alpha: 1 is greater than or equal to the maximum of 1"),
        ({"digits": 11}, "t.json: digits: 11 is greater than the maximum of 10"),
        ({"systems": []}, "t.json: systems: is empty"),
        ({"lacking": {"muc/f1": "mine"}}, "expected a list, found 'mine'"),
    ):
        with pytest.raises(FormatError) as error:
            SystemsTable.from_json(found | change, "t.json")
        assert problem in str(error.value)


BROKEN = {
    "nothing": (None, "report.json: can't be read: No such file or directory"),
    "a list": ("[]", 'report.json: expected an object such as {"format": …, '),
    "half": ('{"format": 1,\n', "report.json:2: is not JSON: "),
    "NaN": ('{"format": NaN}', "report.json: NaN is not a valid JSON value"),
    "infinite": ('{"format": 1e999}', "report.json: the number '1e999' is too large for a float"),
    "a key twice": ('{"format": 1, "format": 1}', "report.json: duplicate key 'format'"),
    "deep": ("[" * 100_000, "report.json: is nested too deeply"),
    "bytes": (b"\xff", "report.json: is not UTF-8 (byte 0)"),
    "many digits": (
        '{"format": ' + "9" * 5000 + "}",
        "report.json: contains a number with too many digits",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_report(name):
    content, message = BROKEN[name]
    if content is not None:
        Path("report.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    for load in (Report.load, Comparison.load, SystemsTable.load, load_report):
        with pytest.raises(FormatError) as error:
            load("report.json")
        assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"titles": {"f1": 1}}, "titles.f1: expected text, found 1"),
        ({"preset": 1}, "preset: expected text or null, found 1"),
        (
            {"units": [{"question": ["q"]}]},
            "units[0].question: expected text or a number or null, found a list",
        ),
    ],
)
def test_what_only_saved_reports_have_is_checked(change, problem, report):
    report.save("report.json")
    found = json.loads(Path("report.json").read_text("utf-8"))
    Path("report.json").write_text(json.dumps(found | change), "utf-8")
    with pytest.raises(FormatError) as error:
        Report.load("report.json")
    assert str(error.value).startswith(f"report.json: {problem}")


def test_what_is_no_comparison():
    comparison = closeread.compare(
        "coref", [KEY], [BARE], gold=[KEY], resampling=QUICK, metrics="muc"
    ).to_dict()
    same = {"value": -1, "low": None, "high": None, "p_bootstrap": None, "p_randomization": None}
    bad = comparison | {"differences": {"muc/f1": same, "lea/f1": same}}
    with pytest.raises(
        FormatError, match=r"^comparison: differences: 'lea/f1' is not a score of both systems$"
    ):
        Comparison.from_json(bad)
    bad = comparison | {
        "differences": {"muc/f1": same | {"p_bootstrap": 2}},
        "second": comparison["second"] | {"name": 1},
    }
    with pytest.raises(FormatError) as error:
        Comparison.from_json(bad, "c.json")
    # Versions of jsonschema write such a place in two ways.
    assert re.search(
        r"differences\W+muc/f1\W+p_bootstrap: 2 is greater than the maximum of 1\n",
        str(error.value),
    )
    assert "c.json: second.name: expected text, found 1" in str(error.value)
