"""The schema of the JSON of results: reports, comparisons, tables of systems, and a paper's tables."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, cast

from closeread import limits
from closeread.counts.report_contradictions import find_contradictions, find_other_settings, find_wrong_differences
from closeread.exceptions import FieldPath, FormatError, Problem, quote, shorten
from closeread.packages import package_folder
from closeread.records import check_format

FORMAT = 1
"""The number of the format of reports, comparisons and tables."""


def check_report(found: object, source: object = "report") -> Mapping[str, Any]:
    """Check a report by its schema and for contradictions, and return it.

    Args:
        found: the JSON value.
        source: what it is from, for messages.

    Raises:
        FormatError: it breaks the schema, or contradicts itself; all problems at once.
    """
    checked = _check("report", found, source)
    if problems := list(find_contradictions(checked)):
        raise FormatError(source, problems)
    return checked


def check_comparison(found: object, source: object = "comparison") -> Mapping[str, Any]:
    """Check a comparison by its schema, and return it.

    Args:
        found: the JSON value.
        source: what it is from, for messages.

    Raises:
        FormatError: it breaks the schema or contradicts itself, or its two reports do not have the scores that it
            compares; all problems at once.
    """
    if isinstance(found, list) and found and all(isinstance(one, dict) for one in found):
        if len(found) != 1:
            raise FormatError(source, [Problem(f"has {len(found)} comparisons (expected one, of two systems)")])
        found = found[0]
    checked = _check("comparison", found, source)
    sides = ("first", "second")
    problems = [problem for side in sides for problem in find_contradictions(checked[side], (side,))]
    compared, differences = [checked[side] for side in sides], {}
    for name, difference in checked["differences"].items():
        if all(name in report["scores"] for report in compared):
            differences[name] = difference
        else:
            problems.append(Problem(f"differences: {quote(name)} is not a score of both systems"))
    problems += find_other_settings(compared[0], compared[1])
    n_resamples = int(compared[0]["n_resamples"])
    problems += find_wrong_differences(differences, compared[0], compared[1], n_resamples, ("differences",))
    if problems:
        raise FormatError(source, problems)
    return checked


def check_systems_table(found: object, source: object = "table") -> Mapping[str, Any]:
    """Check a table of systems by its schema, and return it.

    Args:
        found: the JSON value.
        source: what it is from, for messages.

    Raises:
        FormatError: it breaks the schema or contradicts itself, names a system twice, or has scores or tests of systems
            that it lacks; all problems at once.
    """
    checked = _check("table", found, source)
    reports = [one["report"] for one in checked["systems"]]
    problems = [
        problem for i, one in enumerate(reports) for problem in find_contradictions(one, ("systems", i, "report"))
    ]
    if problems := [*_find_wrong_names(checked), *problems, *_find_wrong_tests(checked)]:
        raise FormatError(source, problems)
    return checked


def _find_wrong_tests(found: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a problem for every test whose difference is not that of its systems, and for systems scored otherwise."""
    reports = {one["name"]: one["report"] for one in found["systems"]}
    signature = found["systems"][0]["report"]["signature"]
    if found["signature"] != signature:
        yield Problem(f"is another (expected {quote(signature)}, that of the systems)", path=("signature",))
    for i, one in enumerate(found["systems"]):
        if one["report"]["signature"] != signature:
            expected = f"expected {quote(signature)}, that of the first system"
            yield Problem(f"is another ({expected})", path=("systems", i, "report", "signature"))
    for score, tests in found["pairs"].items():
        for i, test in enumerate(tests):
            pair = [reports.get(test[side]) for side in ("first", "second")]
            one, other = pair
            if one and other and one is not other and all(score in report["scores"] for report in (one, other)):
                for problem in find_wrong_differences({score: test}, one, other, int(found["n_resamples"]), ()):
                    yield problem._replace(path=("pairs", score, i, *problem.path[1:]))


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
