"""The schema of the JSON of results: reports, comparisons, tables of systems, and a paper's tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, cast

from closeread.errors import FormatError, Problem, quote, shorten
from closeread.files import package_folder
from closeread.records import check_format

__all__ = ["FORMAT", "check_comparison", "check_report", "check_reproduction", "check_systems_table"]

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
        FormatError: it breaks the schema, or its two reports do not have the scores that it compares; all problems at
            once.
    """
    checked = _check("comparison", found, source)
    problems = [
        Problem(f"differences: {quote(name)} is not a score of both systems")
        for name in checked["differences"]
        if not all(name in checked[side]["scores"] for side in ("first", "second"))
    ]
    if problems:
        raise FormatError(source, problems)
    return checked


def check_systems_table(found: object, source: object = "table") -> Mapping[str, Any]:
    """Check a table of systems by its schema, and return it.

    Args:
        found: the JSON value.
        source: what it is from, for messages.

    Raises:
        FormatError: it breaks the schema, names a system twice, or has scores or tests of systems that it lacks; all
            problems at once.
    """
    checked = _check("table", found, source)
    if problems := list(_find_wrong_names(checked)):
        raise FormatError(source, problems)
    return checked


def _find_wrong_names(found: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a problem for every name in a table of systems that does not fit the others."""
    names = [one["name"] for one in found["systems"]]
    for i, one in enumerate(found["systems"]):
        place = f"systems[{i}]"
        if one["name"] in names[:i]:
            yield Problem(f"{place}.name: another system is called {quote(one['name'])}, too")
        for score in found["scores"]:
            if score not in one["report"]["scores"]:
                yield Problem(f"{place}.report.scores: has no {quote(score)} (expected every score of the table)")
    for score, tests in found["pairs"].items():
        if score not in found["scores"]:
            yield Problem(f"pairs: {quote(score)} is not a score of the table")
        for i, test in enumerate(tests):
            unknown = [test[side] for side in ("first", "second") if test[side] not in names]
            for name in unknown:
                yield Problem(f"pairs.{score}[{i}]: {quote(name)} is not a system of the table")
            if not unknown and names.index(test["first"]) >= names.index(test["second"]):
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
        errors = sorted(jsonschema.Draft202012Validator(schema).iter_errors(found), key=lambda error: error.json_path)
        problems = [Problem(f"{error.json_path.removeprefix('$.')}: {shorten(error.message)}") for error in errors]
        raise FormatError(source, problems)
    return cast("Mapping[str, Any]", found)


def _load_schema(definition: str) -> Any:
    schema = json.loads((package_folder("closeread.counts") / "report.schema.json").read_text("utf-8"))
    return {**schema, "$ref": f"#/$defs/{definition}"}


@cache
def _load_validator(definition: str) -> Any:
    """Return the validator of a definition, which takes longer to make than to use."""
    import jsonschema_rs

    return jsonschema_rs.validator_for(_load_schema(definition))
