"""A procedure's version is raised whenever a number can change.

`cases/versions/<procedure>.json` keeps, for every version that a procedure has had, the scores of the fixed inputs in
`shared/versions/<procedure>.py`; those of McTaco are the official evaluator's on the sample (see
`agreed/mctaco_official.json`), those of the others fractions.  When a change is meant, add the next version with its
numbers and raise `Procedure.version`; never edit a number.  A new metric changes no score: its numbers are added to the
newest entry.
"""

import inspect
import json
from importlib import import_module
from pathlib import Path

import pytest

from closeread.tasks import load_procedure, procedure_names

KEPT = Path(__file__).parent / "cases" / "versions"


@pytest.mark.parametrize("name", procedure_names())
def test_numbers_change_with_the_version_only(name):
    procedure = load_procedure(name)
    versions = json.loads((KEPT / f"{name}.json").read_text("utf-8"))
    assert list(versions) == [str(i + 1) for i in range(procedure.version)], (
        "one entry for every version so far"
    )
    newest = versions[str(procedure.version)]
    names = {metric.name for metric in procedure.metrics}
    place = f"tests/cases/versions/{name}.json, version {procedure.version}"
    for system, arguments in import_module(f"shared.versions.{name}").inputs().items():
        expected = newest[system]
        assert names <= expected.keys(), (
            f"{place}, {system!r}: add the numbers of {sorted(names - expected.keys())} to this entry; "
            "a new metric changes no score, so the version stays"
        )
        assert names >= expected.keys(), (
            f"{place}, {system!r}: the procedure has no {sorted(expected.keys() - names)}; without a score that "
            "there was, add the next version"
        )
        table = procedure.count(**arguments)
        totals = table.values.sum(axis=0)
        scores = {
            metric.name: float(metric.score(totals, table.names)) for metric in procedure.metrics
        }
        assert scores == pytest.approx(expected, abs=1e-12), (
            f"{place}, {system!r}: if the change is meant, add the next version with its numbers"
        )


@pytest.mark.parametrize("name", procedure_names())
def test_what_counts_has_the_defaults_of_the_options(name):
    procedure = load_procedure(name)
    given = inspect.signature(procedure.count).parameters
    if "options" in given:  # it takes all options, and their defaults from the procedure
        return
    assert {o.name: str(given[o.name].default) for o in procedure.options if not o.reading} == {
        o.name: o.default for o in procedure.options if not o.reading
    }
