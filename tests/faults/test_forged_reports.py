"""Reports that contradict themselves are refused, with all contradictions at once; honest ones are all read."""

import copy
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from shared.random_systems import DRAWN, FROM_FILES, draw_table

import closeread
from closeread.counts.comparison import Comparison
from closeread.counts.counted import Counted, Provenance
from closeread.counts.estimates import Resampling
from closeread.counts.report import Report, make_report
from closeread.counts.report_contradictions import check_against_procedure
from closeread.counts.systems_table import SystemsTable
from closeread.exceptions import FormatError
from closeread.scoring import load_report

QUICK = Resampling(20)
KEYS = [{"document": name, "clusters": [[[0, 0], [2, 3]], [[5, 5], [7, 7], [9, 9]]]} for name in ("air", "ode")]
HALF = [KEYS[0], {"document": "ode", "clusters": [[[0, 0], [2, 3], [5, 5]]]}]


@pytest.fixture(scope="module")
def report():
    """The JSON of a system that finds everything in one document and half of another."""
    made = closeread.score("coref", HALF, gold=KEYS, metrics=["muc", "b3"], resampling=QUICK)
    return {**made.to_json(), "units": list(made.units)}


@pytest.mark.parametrize("kind", [*DRAWN, *FROM_FILES])
def test_true_reports_are_read_back(kind, here):
    """Of random systems by random options, with slices by everything that these have."""
    for seed in range(6):
        drawn = draw_table(kind, seed, here)
        if drawn is None:
            continue
        procedure, options, table = drawn
        signature = procedure.signature(options, "0" * 64)
        about = Provenance(procedure.name, procedure.version, options, signature, "own", None, None, None, 0)
        metrics = tuple(one for one in procedure.metrics if one.is_defined(table.names))
        counted = Counted(table, replace(procedure, metrics=metrics), about)
        made = make_report(counted, by=list(table.fields), resampling=QUICK)
        found = {**made.to_json(), "units": list(made.units)}
        assert Report.from_json(json.loads(json.dumps(found))).total == made.total, seed
        check_against_procedure(found, procedure, "report")
        rounded = copy.deepcopy(found) | {"counts": {}}  # as a leaderboard on private gold keeps it
        for score in rounded["scores"].values():
            score |= {key: round(value, 4) for key, value in score.items() if isinstance(value, float)}
        assert Report.from_json(rounded).scores.keys() == made.scores.keys(), seed


def change_score(**numbers):
    return lambda found: found["scores"]["muc/f1"].update(numbers)


def change_signature(old, new):
    return lambda found: found.update(signature=found["signature"].replace(old, new))


# MUC precision is 4 of 5 links and recall 4 of 6, so that F1 is 8/11.
FORGED = {
    "F1": (change_score(value=0.73), "scores.muc/f1: is 0.73 (expected at most 0.727272727272727, the harmonic"),
    "an interval": (change_score(low=0.7, high=0.6), "scores.muc/f1: has an interval from 0.7 to 0.6 (expected low"),
    "an end": (change_score(low=None, high=1.0), "scores.muc/f1: has one end of an interval (expected both, or none)"),
    "no value": (change_score(value=None), "scores.muc/f1: has an interval and no value"),
    "no score": (change_score(value=None, undefined=True), "is null and undefined (expected the value"),
    "NaN": (change_score(value=math.nan), "scores.muc/f1.value: is not a finite number"),
    "infinite": (lambda found: found["counts"].update({"muc/key": math.inf}), "counts.muc/key: is not a finite"),
    "huge": (lambda found: found["counts"].update({"muc/key": 1e300}), "1e+300 is greater than or equal to the max"),
    "a fraction": (lambda found: found.update(n_units=2.5), "n_units: 2.5 is not of type 'integer'"),
    "blocks": (lambda found: found.update(n_blocks=3), "n_blocks: is 3 of 2 units (expected at least one for all"),
    "no resamples": (
        lambda found: found.update(n_resamples=0),
        "has an interval (expected none: 2 blocks, 0 resamples",
    ),
    "procedure": (lambda found: found.update(procedure="tlinks"), "is of 'coref' (expected 'tlinks', the procedure)"),
    "version": (change_signature("version:1", "version:2"), "has 'version:2' (expected 'version:1')"),
    "option": (change_signature("average:micro", "average:macro"), "has 'average:macro' (expected 'average:micro')"),
    "strange": (change_signature("|average", "|x:y|average"), "has 'x:y' (expected an option that the report has)"),
    "twice": (change_signature("|average", "|version:1|average"), "does not have the version and each option once"),
    "no gold": (change_signature("|gold:", "|silver:"), "(expected gold: and 12 hexadecimal digits)"),
    "a unit": (lambda found: found["units"].pop(), "units: has 1 row (expected n_units, 2)"),
    "two of a name": (lambda found: found["units"][1].update(document="air"), "units[1]: another document is called"),
    "no name": (lambda found: found["units"][1].pop("document"), "units[1]: document is missing, or is no text"),
    "not predicted": (
        lambda found: found.update(
            missing=1,
            options=found["options"] | {"missing": "error"},
            signature=found["signature"].replace("missing:empty", "missing:error"),
        ),
        "missing: is 1 (expected 0: the option missing is error)",
    ),
    "a slice": (
        lambda found: found.update(
            slices={"genre": {"x": {"n_units": 3, "n_blocks": 1, "scores": found["scores"], "counts": {}}}}
        ),
        "slices.genre.x.n_units: is 3 (expected at most 2, that of the whole)",
    ),
}


@pytest.mark.parametrize(("change", "problem"), FORGED.values(), ids=FORGED)
def test_a_contradiction_is_named(change, problem, report):
    found = copy.deepcopy(report)
    assert Report.from_json(found).scores["muc/f1"].value == pytest.approx(8 / 11)
    change(found)
    with pytest.raises(FormatError) as caught:
        Report.from_json(found, "r.json")
    assert problem in str(caught.value)


def test_all_contradictions_are_told_at_once(report, here, run):
    found = copy.deepcopy(report)
    for name in ("F1", "blocks", "two of a name", "version"):
        FORGED[name][0](found)
    Path("r.json").write_text(json.dumps(found), "utf-8")
    done = run("table", "coref", "r.json", "r.json")
    assert done.exit_code == 1
    for name in ("F1", "blocks", "two of a name", "version"):
        assert FORGED[name][1] in done.stderr
    assert "Traceback" not in done.stderr


def test_scores_follow_from_counts(report, here, run):
    """What only the procedure knows: 0.5 is no contradiction by itself, and neither are 7 links found of 6."""
    changes = {
        "value": (
            change_score(value=0.5, low=0.5),
            "scores.muc/f1: is 0.5 (expected 0.727272727272727, from the counts)",
        ),
        "counts": (
            lambda found: found["counts"].update({"muc/common": 7.0}),
            "counts: muc/common is 7 (expected at most muc/key, 6)",
        ),
        "half": (lambda found: found["counts"].update({"muc/key": 6.5}), "counts: muc/key is 6.5 (expected a whole"),
    }
    for change, problem in changes.values():
        found = copy.deepcopy(report)
        change(found)
        Path("r.json").write_text(json.dumps(found), "utf-8")
        Report.load("r.json")
        with pytest.raises(FormatError) as caught:
            load_report("r.json")
        assert problem in str(caught.value)
        done = run("table", "coref", "r.json", "r.json")
        assert done.exit_code == 1
        assert f"r.json: {problem}" in done.stderr


def test_reports_inside_comparisons_and_tables(report):
    compared = closeread.compare("coref", HALF, KEYS, gold=KEYS, scores="muc", resampling=QUICK).to_json()
    table = closeread.table("coref", {"half": HALF, "all": KEYS}, gold=KEYS, metrics="muc", resampling=QUICK).to_json()
    Comparison.from_json(copy.deepcopy(compared))
    SystemsTable.from_json(copy.deepcopy(table))
    change_score(value=0.9)(compared["first"])
    compared["differences"]["muc/precision"] |= {"value": 0.3, "low": 0.4, "high": 0.2}
    with pytest.raises(FormatError) as caught:
        Comparison.from_json(compared, "c")
    assert str(caught.value).splitlines()[1:] == [
        f"c: first.scores.muc/f1: is 0.9 (expected at most {8 / 11:.15g}, the harmonic mean of precision and recall)",
        "c: differences.muc/precision: has an interval from 0.4 to 0.2 (expected low at most high)",
        "c: differences.muc/precision: is 0.3 (expected 0.2, as the scores differ)",
        "c: differences.muc/f1: is 0.272727272727273 (expected 0.1, as the scores differ)",
    ]
    change_score(value=0.9)(table["systems"][0]["report"])
    change_signature("gold:", "gold:f")(table["systems"][1]["report"])
    with pytest.raises(FormatError) as caught:
        SystemsTable.from_json(table, "t")
    for said in ("t: systems[0].report.scores.muc/f1: is 0.9", "t: systems[1].report.signature: ends with 'gold:f"):
        assert said in str(caught.value)
    assert "t: pairs.muc/f1[0]: is " in str(caught.value)


def test_whole_numbers_written_with_a_point(report):
    found = copy.deepcopy(report) | {"n_units": 2.0, "n_blocks": 2.0, "seed": 0.0, "n_resamples": 20.0, "missing": 0.0}
    again = Report.from_json(found).to_json()
    for name in ("n_units", "n_blocks", "seed", "n_resamples", "missing"):
        assert type(again[name]) is int


def test_what_two_systems_share_and_p_values(report):
    """20 resamples show no p-value below 1/21, and a correction makes none smaller."""
    compared = closeread.compare("coref", HALF, KEYS, gold=KEYS, scores="muc", resampling=QUICK).to_json()
    compared["second"] |= {"signature": change_digest(compared["second"]["signature"]), "seed": 1}
    compared["differences"]["muc/f1"] |= {"p_randomization": 0.01, "p_randomization_corrected": 0.01}
    compared["differences"]["muc/recall"] |= {"p_bootstrap": 0.5, "p_bootstrap_corrected": 0.25}
    with pytest.raises(FormatError) as caught:
        Comparison.from_json(compared, "c")
    told = str(caught.value)
    for said in (
        "c: second.signature: is 'coref|",
        "c: second.seed: is 1 (expected 0, that of the first)",
        f"c: differences.muc/f1.p_randomization: is 0.01 (expected at least {1 / 21:.15g}, after 20 resamples)",
        "c: differences.muc/recall.p_bootstrap_corrected: is 0.25 (expected at least p_bootstrap, 0.5)",
    ):
        assert said in told
    table = closeread.table("coref", {"half": HALF, "all": KEYS}, gold=KEYS, metrics="muc", resampling=QUICK).to_json()
    table["signature"] = change_digest(table["signature"])
    table["pairs"]["muc/f1"][0]["p_randomization_corrected"] = 0.0
    with pytest.raises(FormatError) as caught:
        SystemsTable.from_json(table, "t")
    for said in ("t: signature: is another", "t: pairs.muc/f1[0].p_randomization_corrected: is 0 (expected at least"):
        assert said in str(caught.value)


def change_digest(signature):
    return signature.rpartition(":")[0] + ":" + "0" * 12


def test_short_forms_act_on_no_terminal(report):
    """What a notebook prints of an object is one line of plain characters, whatever a file says of itself."""
    hostile = copy.deepcopy(report) | {"titles": {"muc/f1": "\x1b[31m\nvalid"}}
    assert "\\x1b[31m\\nvalid" in repr(Report.from_json(hostile))
    assert repr(Report.from_json(hostile)).isprintable()
