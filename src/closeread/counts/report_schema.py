"""The schema of the JSON of results: reports, comparisons, tables of systems, and a paper's tables."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, cast

from closeread import limits
from closeread.exceptions import FieldPath, FormatError, Problem, quote, shorten
from closeread.packages import package_folder
from closeread.records import check_format

FORMAT = 1
"""The number of the format of reports, comparisons and tables."""


def check_report(found: object, source: object = "report") -> Mapping[str, Any]:
    """Check a report by its schema, and return it.

    Args:
        found: the JSON value.
        source: what it is from, for messages.

    Raises:
        FormatError: it breaks the schema; all problems at once.
    """
    return _check("report", found, source)


def check_comparison(found: object, source: object = "comparison") -> Mapping[str, Any]:
    """Check a comparison by its schema, and return it.

    Args:
        found: the JSON value.
        source: what it is from, for messages.

    Raises:
        FormatError: it breaks the schema, or its two reports have other signatures, or not the scores that it compares;
            all problems at once.
    """
    if isinstance(found, list) and found and all(isinstance(one, dict) for one in found):
        if len(found) != 1:
            raise FormatError(source, [Problem(f"has {len(found)} comparisons (expected one, of two systems)")])
        found = found[0]
    checked = _check("comparison", found, source)
    reports = checked["first"], checked["second"]
    problems = [
        Problem(f"differences: {quote(name)} is not a score of both systems")
        for name in checked["differences"]
        if not all(name in report["scores"] for report in reports)
    ]
    problems += _find_wrong_signatures(reports[0]["signature"], {("second",): reports[1]})
    if problems:
        raise FormatError(source, problems)
    return checked


def check_systems_table(found: object, source: object = "table") -> Mapping[str, Any]:
    """Check a table of systems by its schema, and return it.

    Args:
        found: the JSON value.
        source: what it is from, for messages.

    Raises:
        FormatError: it breaks the schema, names a system twice, or has scores or tests of systems that it lacks, or
            systems with other signatures; all problems at once.
    """
    checked = _check("table", found, source)
    reports: dict[FieldPath, Any] = {
        ("systems", i, "report"): one["report"] for i, one in enumerate(checked["systems"])
    }
    if problems := [*_find_wrong_names(checked), *_find_wrong_signatures(checked["signature"], reports)]:
        raise FormatError(source, problems)
    return checked


def _find_wrong_signatures(expected: str, reports: Mapping[FieldPath, Mapping[str, Any]]) -> Iterator[Problem]:
    """Yield a problem for every report, by its place, that has another signature."""
    for path, report in reports.items():
        if report["signature"] != expected:
            what = f"is {quote(report['signature'], 2000)} (expected {quote(expected, 2000)}, as the others)"
            yield Problem(what, path=(*path, "signature"))


def _find_wrong_names(found: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a problem for every name in a table of systems that does not fit the others."""
    number: dict[str, int] = {}
    for i, one in enumerate(found["systems"]):
        place = f"systems[{i}]"
        if number.setdefault(one["name"], i) < i:
            yield Problem(f"{place}.name: another system is called {quote(one['name'])}, too")
        for score in found["scores"]:
            if score not in one["report"]["scores"]:
                yield Problem(f"{place}.report.scores: has no {quote(score)} (expected every score of the table)")
    for score, tests in found["pairs"].items():
        if score not in found["scores"]:
            yield Problem(f"pairs: {quote(score)} is not a score of the table")
        for i, test in enumerate(tests):
            unknown = [test[side] for side in ("first", "second") if test[side] not in number]
            for name in unknown:
                yield Problem(f"pairs.{score}[{i}]: {quote(name)} is not a system of the table")
            if not unknown and number[test["first"]] >= number[test["second"]]:
                pair = f"{quote(test['first'])} does not come before {quote(test['second'])}"
                yield Problem(f"pairs.{score}[{i}]: {pair} in the table")


def check_reproduction(found: object, source: object = "reproduction") -> Sequence[Mapping[str, Any]]:
    """Check the recomputed tables of a paper by their schema, and return them.

    Args:
        found: the JSON value.
        source: what it is from, for messages.

    Raises:
        FormatError: they break the schema, or are of several papers; all problems at once.
    """
    checked = cast("Sequence[Mapping[str, Any]]", _check("reproduction", found, source))
    corpora = list(dict.fromkeys(table["corpus"] for table in checked))
    if len(corpora) > 1:
        raise FormatError(source, [Problem(f"has tables of {', '.join(corpora)} (expected those of one corpus)")])
    return checked


def _check(definition: str, found: object, source: object) -> Mapping[str, Any]:
    check_format(found, FORMAT, source)
    if not _load_validator(definition).is_valid(found):
        import jsonschema

        schema = _load_schema(definition)
        not_finite = [
            Problem("is not a finite number", path=path)
            for path, value in _walk(found)
            if isinstance(value, float) and not math.isfinite(value)
        ]
        first = islice(jsonschema.Draft202012Validator(schema).iter_errors(found), limits.MAX_PROBLEMS)
        errors = sorted(first, key=lambda error: error.json_path)
        problems = [Problem(f"{error.json_path.removeprefix('$.')}: {shorten(error.message)}") for error in errors]
        raise FormatError(source, [*not_finite, *problems])
    return cast("Mapping[str, Any]", found)


def _walk(value: object, path: FieldPath = ()) -> Iterator[tuple[FieldPath, object]]:
    """Yield every value inside a JSON value, with its place."""
    yield path, value
    if isinstance(value, Mapping):
        for key, child in value.items():
            yield from _walk(child, (*path, key))
    elif isinstance(value, list):
        for i, child in enumerate(value):
            yield from _walk(child, (*path, i))


def _load_schema(definition: str) -> Any:
    schema = json.loads((package_folder("closeread.counts") / "report.schema.json").read_text("utf-8"))
    return {**schema, "$ref": f"#/$defs/{definition}"}


@cache
def _load_validator(definition: str) -> Any:
    """Return the validator of a definition, which takes longer to make than to use."""
    import jsonschema_rs

    return jsonschema_rs.validator_for(_load_schema(definition))
