"""Results as files: what is saved prints the same when it is loaded, and what is no result is refused."""

import json
from pathlib import Path

import pytest
from shared.entry_points import system_rows

import closeread
from closeread.counts.estimates import Resampling
from closeread.counts.report import Report
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
    for load in (Report.load, load_report):
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
