"""What earlier versions wrote is read, and their scores and signatures are computed again (see `README.md`)."""

import json
from functools import cache
from pathlib import Path

import pytest

import closeread
from closeread.corpus.schema import load_schema
from closeread.counts.comparison import Comparison
from closeread.counts.counts import Counts, make_report
from closeread.counts.estimates import Resampling
from closeread.counts.report import Report
from closeread.operations.score import load_report
from closeread.scoring import find_procedure

HERE = Path(__file__).parent
VERSIONS = sorted(path.name for path in HERE.iterdir() if path.is_dir() and path.name[0].isdigit())
QUICK = Resampling(n_resamples=0)

# those of the samples are expected
pytestmark = pytest.mark.filterwarnings("ignore::closeread.CloseReadWarning")


def list_files(pattern):
    """The files of all versions that match a pattern."""
    return [
        pytest.param(path, id=str(path.relative_to(HERE)))
        for path in sorted(HERE.glob(f"*/{pattern}"))
    ]


def find_gold(name, folder):
    """The gold of a corpus or a procedure in the folder of a version."""
    return next(path for path in (folder / "gold").iterdir() if path.name.partition(".")[0] == name)


@cache
def read_bytes(path):
    """All bytes of a file or a folder, to compute what equal files give only once."""
    files = sorted(path.glob("*")) if path.is_dir() else [path]
    return b"\0".join(file.read_bytes() for file in files)


COMPUTED = {}


def compute(name, gold, system, options):
    """The signature and the scores of this version."""
    known = name, read_bytes(gold), read_bytes(system), tuple(options.items())
    if known not in COMPUTED:
        report = closeread.score(name, system, gold=gold, resampling=QUICK, **options)
        COMPUTED[known] = report.provenance.signature, values(report)
    return COMPUTED[known]


def values(report):
    return {name: estimate.value for name, estimate in report.total.scores.items()}


def differ(before, now):
    """The scores that are not the same; the last digits may be those of another machine."""
    return {
        name: (before.get(name), now.get(name))
        for name in before.keys() | now.keys()
        if before.get(name) != pytest.approx(now.get(name), abs=1e-12)
    }


def test_every_version_has_its_files():
    assert closeread.__version__ in VERSIONS, "run tests/releases/make_files.py for this version"


@pytest.mark.parametrize("version", VERSIONS)
def test_signatures_and_scores_are_the_same(version):
    stored = json.loads((HERE / version / "scores.json").read_text("utf-8"))
    assert stored["format"] == 1
    assert len(stored["scores"]) > 40
    wrong = []
    for row in stored["scores"]:
        procedure, _ = find_procedure(row["name"])
        if row["procedure_version"] < procedure.version:
            continue
        if row["options"].get("matching") == "craft":  # which this version does not have
            continue
        gold, system = (
            HERE / version / "gold" / row["gold"],
            HERE / version / "systems" / row["system"],
        )
        signature, scores = compute(row["name"], gold, system, row["options"])
        if signature != row["signature"]:
            wrong.append(
                f"{row['signature']} of {version} is {signature} now, though scores are the same as before"
            )
        elif found := differ(row["scores"], scores):
            name, (before, now) = next(iter(found.items()))
            advice = (
                f"raise the version of {procedure.name}, and add its scores to tests/cases/versions"
            )
            wrong.append(
                f"{name} was {before} in {version}, and is {now} under {signature}: if meant, {advice}"
            )
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", list_files("systems/*"))
def test_predictions_in_all_formats(path):
    name = path.name.partition(".")[0].removesuffix("-other")
    gold = find_gold(name, path.parent.parent)
    _, scores = compute(name, gold, path, {})
    usual = path.parent / f"{name}{gold.suffix}"
    assert not differ(compute(name, gold, usual, {})[1], scores)


@pytest.mark.parametrize("path", list_files("counts/*.parquet"))
def test_counts(path, run):
    """They are read by name, and give the report of their version."""
    counted = Counts.load(path)
    stored = Report.load(path.parent.parent / "reports" / f"{path.stem}.json")
    report = make_report(counted, resampling=QUICK)
    assert not differ(
        values(stored), {name: v for name, v in values(report).items() if name in values(stored)}
    )
    assert report.provenance.signature == stored.provenance.signature
    done = run("score", "--from-counts", path, "--no-ci", "--json")
    assert not differ(values(stored), values(Report.from_json(json.loads(done.stdout))))


@pytest.mark.parametrize("path", list_files("reports/*.json"))
def test_reports(path):
    report = load_report(path)
    before = json.loads(path.read_text("utf-8"))
    assert before["format"] == 1
    assert values(report) == {name: score["value"] for name, score in before["scores"].items()}
    assert report.provenance.signature == before["signature"]
    assert str(report)


@pytest.mark.parametrize("path", list_files("comparisons/*.json"))
def test_comparisons(path):
    (before,) = json.loads(path.read_text("utf-8"))
    comparison = Comparison.from_json(before)
    assert {name: one.value for name, one in comparison.differences.items()} == pytest.approx(
        {
            name: float("nan") if one["value"] is None else one["value"]
            for name, one in before["differences"].items()
        },
        nan_ok=True,
    )
    assert str(comparison)


@pytest.mark.parametrize("path", list_files("schemas.json"))
def test_tables_have_the_columns_that_they_had(path):
    """Columns may be added; a column that is there has the same type."""
    from closeread.hf.builder import features

    for one in json.loads(path.read_text("utf-8"))["schemas"]:
        for definition, columns in one["schemas"].items():
            schema = features(load_schema(one["corpus"]), definition).arrow_schema
            now = {field.name: str(field.type) for field in schema}
            assert now.items() >= columns.items(), (one["corpus"], definition)
