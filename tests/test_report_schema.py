"""Results in JSON: true ones are read back, others are refused with all problems at once."""

import copy
import json
from dataclasses import replace

import pytest
from shared.random_systems import DRAWN, FROM_FILES, draw_table

import closeread
from closeread.counts.counts import Counts, Provenance, make_report
from closeread.counts.estimates import Resampling
from closeread.counts.report import Report
from closeread.exceptions import FormatError

QUICK = Resampling(20)
KEYS = [
    {"document": name, "clusters": [[[0, 0], [2, 3]], [[5, 5], [7, 7], [9, 9]]]}
    for name in ("air", "ode")
]
HALF = [KEYS[0], {"document": "ode", "clusters": [[[0, 0], [2, 3], [5, 5]]]}]


@pytest.fixture(scope="module")
def report():
    """The JSON of a system that finds everything in one document and half of another."""
    made = closeread.score("coref", HALF, gold=KEYS, metrics=["muc", "b3"], resampling=QUICK)
    return {**made.to_dict(), "units": list(made.units)}


@pytest.mark.parametrize("kind", [*DRAWN, *FROM_FILES])
def test_true_reports_are_read_back(kind, here):
    """Of random systems by random options, with slices by everything that these have."""
    for seed in range(6):
        drawn = draw_table(kind, seed, here)
        if drawn is None:
            continue
        procedure, options, table = drawn
        signature = procedure.signature(options, "0" * 64)
        about = Provenance(
            procedure.name, procedure.version, options, signature, "own", None, None, None, 0
        )
        metrics = tuple(one for one in procedure.metrics if one.is_defined(table.names))
        counted = Counts(table, replace(procedure, metrics=metrics), about)
        made = make_report(counted, by=list(table.fields), resampling=QUICK)
        found = {**made.to_dict(), "units": list(made.units)}
        assert Report.from_json(json.loads(json.dumps(found))).total == made.total, seed
        rounded = copy.deepcopy(found) | {"counts": {}}  # as a leaderboard on private gold keeps it
        for score in rounded["scores"].values():
            score |= {
                key: round(value, 4) for key, value in score.items() if isinstance(value, float)
            }
        assert Report.from_json(rounded).scores.keys() == made.scores.keys(), seed


WRONG = [
    (
        lambda found: found["scores"]["muc/f1"].update(value="1"),
        "scores.muc/f1.value: expected a number or null, found '1'",
    ),
    (lambda found: found.update(seed=-1), "seed: -1 is less than the minimum of 0"),
    (lambda found: found.update(unit=1), "unit: expected text, found 1"),
    (lambda found: found.update(released="yes"), "released: expected"),
    (
        lambda found: found.update(format=2, seed=-1),
        "r.json: has format 2 (expected 1): it was written by a newer",
    ),
    (lambda found: found.update(format="1"), "r.json: has format '1' (expected 1)"),
    (lambda found: found.update(n_units=2.5), "n_units: expected a whole number, found 2.5"),
]


def test_all_problems_at_once(report):
    together = copy.deepcopy(report)
    for change, problem in WRONG:
        found = copy.deepcopy(report)
        change(found)
        with pytest.raises(FormatError) as caught:
            Report.from_json(found, "r.json")
        assert problem in str(caught.value)
    for change, _ in (WRONG[0], WRONG[-1]):
        change(together)
    with pytest.raises(FormatError) as caught:
        Report.from_json(together, "r.json")
    assert all(problem in str(caught.value) for _, problem in (WRONG[0], WRONG[-1]))
