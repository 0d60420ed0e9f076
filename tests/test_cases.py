"""Every value of a hand-computed case is one that a test compares or uses, so that none is ignored."""

import json
from pathlib import Path

import pytest

from closeread.tasks import load_procedure

FOLDER = Path(__file__).parent / "cases"
FIELDS = {"name", "gold", "system", "options", "expected", "counts", "why", "source"}
MORE_FIELDS = {
    "adjudication": {"annotators", "mentions"},
    "agreement": {"documents"},
    "mctaco": {"missing", *(metric.name for metric in load_procedure("mctaco").metrics)},
    "possession/names": {"names", "match"},
    "possession/times": {"anchor", "time"},
    "tlinks/matching": {"strict", "relaxed"},
    "tlinks/scores": {"extents", "types"},
    "tne/parts": {"by", "fallback", "phrases", "texts"},
    "tne/scores": {"decided", "fallback"},
}
"""The fields of the cases of a file, or of a list in it, besides those that all files may have."""


def list_cases():
    for path in sorted(FOLDER.glob("*.json")):
        content = json.loads(path.read_text("utf-8"))
        lists = {path.stem: content}
        if isinstance(content, dict):
            lists = {f"{path.stem}/{name}": cases for name, cases in content.items()}
        for place, cases in lists.items():
            for number, case in enumerate(cases):
                yield pytest.param(place, case, id=f"{place} {case.get('name', number)}")


@pytest.mark.parametrize(("place", "case"), list(list_cases()))
def test_a_case_has_no_field_that_no_test_reads(place, case):
    unknown = sorted(case.keys() - FIELDS - MORE_FIELDS.get(place, set()))
    assert not unknown, (
        f"tests/cases/{place.partition('/')[0]}.json, {case.get('name')!r}: no test reads {unknown}; "
        "name a metric of the procedure, or let the test read the field and add it to MORE_FIELDS"
    )
