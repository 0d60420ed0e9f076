"""Find what no report has: numbers that contradict each other, whatever was scored.

Conventions: an interval need not contain its score, since its ends are percentiles of resamples.  No F1 exceeds the
harmonic mean of its precision and recall: of summed counts it is that mean, and a mean of such F1 over units is at most
the harmonic mean of the means, as the harmonic mean is concave.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from closeread.counts.identities import find_broken_sums
from closeread.counts.procedure import Procedure
from closeread.exceptions import FieldPath, FormatError, Problem, RequestError, pluralize, quote, quote_json

ROUNDING = 1e-9
"""How far a score may be from the one that follows from other numbers of full precision."""

ROUNDED = 2e-4
"""How far it may be in a report without counts: leaderboards on private gold keep four decimals."""

GOLD = re.compile(r"gold:[0-9a-f]{12}")
"""The last part of a signature."""

Numbers = Mapping[str, Any]


def find_contradictions(report: Numbers, path: FieldPath = ()) -> Iterator[Problem]:
    """Find contradictions in the JSON of a report.

    Args:
        report: the JSON value, checked by the schema of reports.
        path: where it is in its file.
    """
    yield from _check_signature(report, path)
    if report["missing"] and report["options"].get("missing") == "error":
        found = f"is {int(report['missing']):,} (expected 0: the option missing is error)"
        yield Problem(found, path=(*path, "missing"))
    yield from _check_scores(report, int(report["n_resamples"]), path)
    for field, values in report["slices"].items():
        for value, part in values.items():
            place = (*path, "slices", field, value)
            for size in ("n_units", "n_blocks"):
                if part[size] > report[size]:
                    expected = f"expected at most {int(report[size]):,}, that of the whole"
                    yield Problem(f"is {int(part[size]):,} ({expected})", path=(*place, size))
            yield from _check_scores(part, int(report["n_resamples"]), place)
    yield from _check_units(report, path)


def _check_signature(report: Numbers, path: FieldPath) -> Iterator[Problem]:
    """Check that the signature has the procedure, its version and options as the report says, and a digest of gold."""
    place = (*path, "signature")
    name, _, rest = report["signature"].partition("|")
    *parts, gold = rest.split("|")
    if name != report["procedure"]:
        yield Problem(f"is of {quote(name)} (expected {quote(report['procedure'])}, the procedure)", path=place)
    if not GOLD.fullmatch(gold):
        yield Problem(f"ends with {quote(gold)} (expected gold: and 12 hexadecimal digits)", path=place)
    expected = {"version": str(int(report["procedure_version"])), **report["options"]}
    known = {f"{option}:{value}" for option, value in expected.items()}
    said = [option for option, _, _ in (part.partition(":") for part in parts)]
    if said[:1] != ["version"] or len(set(said)) < len(said):
        yield Problem("does not have the version and each option once", path=place)
    for part, option in zip(parts, said, strict=True):
        if part not in known and not any("|" in value for value in expected.values()):
            is_known = option in expected
            what = quote(f"{option}:{expected[option]}") if is_known else "an option that the report has"
            yield Problem(f"has {quote(part)} (expected {what})", path=place)


def _check_scores(scored: Numbers, n_resamples: int, path: FieldPath) -> Iterator[Problem]:
    """Check the scores and sizes of all units, or of a slice."""
    n_units, n_blocks = int(scored["n_units"]), int(scored["n_blocks"])
    if n_blocks > n_units or (n_units and not n_blocks):
        found = f"is {n_blocks:,} of {n_units:,} units (expected at least one for all, and at most one for each)"
        yield Problem(found, path=(*path, "n_blocks"))
    for name, score in scored["scores"].items():
        place = (*path, "scores", name)
        yield from _check_interval(score, place)
        if score["low"] is not None and (not n_resamples or n_blocks < 2):
            why = f"{pluralize(n_blocks, 'block')}, {pluralize(n_resamples, 'resample')}"
            yield Problem(f"has an interval (expected none: {why})", path=place)
        if score["undefined"] and score["value"] is None:
            yield Problem("is null and undefined (expected the value that stands for 0/0)", path=place)
        if score["value"] is None and score["low"] is not None:
            yield Problem("has an interval and no value", path=place)
    yield from _check_f1(scored, path)


def _check_interval(found: Numbers, path: FieldPath) -> Iterator[Problem]:
    """Check that an interval has both ends or none, in order."""
    low, high = found["low"], found["high"]
    if (low is None) != (high is None):
        yield Problem("has one end of an interval (expected both, or none)", path=path)
    elif low is not None and low > high:
        yield Problem(f"has an interval from {low:.15g} to {high:.15g} (expected low at most high)", path=path)


def _check_f1(scored: Numbers, path: FieldPath) -> Iterator[Problem]:
    """Check that no F1 exceeds the harmonic mean of its precision and recall."""
    scores = scored["scores"]
    for name in scores:
        family, _, kind = name.rpartition("/")
        three = [scores.get(f"{family}/{part}") for part in ("precision", "recall", "f1")]
        if kind != "f1" or any(one is None or one["value"] is None or one["undefined"] for one in three):
            continue
        precision, recall, f1 = (one["value"] for one in three if one is not None)
        mean = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        if f1 > mean + (ROUNDING if scored["counts"] else ROUNDED) * max(1.0, mean):
            found = f"is {f1:.15g} (expected at most {mean:.15g}, the harmonic mean of precision and recall)"
            yield Problem(found, path=(*path, "scores", name))


def _check_units(report: Numbers, path: FieldPath) -> Iterator[Problem]:
    """Check the rows of the units, if the report has any: there are as many as it says, each with its own name."""
    rows = report.get("units")
    if rows is None:
        return
    place, unit = (*path, "units"), report["unit"]
    if len(rows) != report["n_units"]:
        yield Problem(f"has {pluralize(len(rows), 'row')} (expected n_units, {int(report['n_units']):,})", path=place)
    names: set[str] = set()
    for i, row in enumerate(rows):
        name = row.get(unit)
        if not isinstance(name, str):
            yield Problem(f"{unit} is missing, or is no text", path=(*place, i))
        elif name in names:
            yield Problem(f"another {unit} is called {quote(name)}, too", path=(*place, i))
        else:
            names.add(name)


def find_other_settings(first: Numbers, second: Numbers) -> Iterator[Problem]:
    """Find in what two reports of one comparison differ that it gives to both.

    Args:
        first, second: their JSON.
    """
    for name in ("signature", "n_units", "n_blocks", "n_resamples", "confidence", "seed"):
        if first[name] != second[name]:
            found, expected = (quote_json(one[name]) for one in (second, first))
            yield Problem(f"is {found} (expected {expected}, that of the first)", path=("second", name))


def find_wrong_differences(
    differences: Numbers, first: Numbers, second: Numbers, n_resamples: int, path: FieldPath
) -> Iterator[Problem]:
    """Find differences of two systems that are not those of their scores, and p-values that no test gives.

    Args:
        differences: their JSON by score; both systems have these.
        first, second: the JSON of the two reports; a difference is the second's score minus the first's.
        n_resamples: the number of resamples of the tests.
        path: where they are.
    """
    for name, found in differences.items():
        place = (*path, name)
        yield from _check_interval(found, place)
        yield from _check_p_values(found, n_resamples, place)
        one, other, value = first["scores"][name]["value"], second["scores"][name]["value"], found["value"]
        if None not in (one, other, value) and abs(other - one - value) > ROUNDING:
            yield Problem(f"is {value:.15g} (expected {other - one:.15g}, as the scores differ)", path=place)


def _check_p_values(found: Numbers, n_resamples: int, path: FieldPath) -> Iterator[Problem]:
    """Check that p-values are no smaller than the resamples can show, and not made smaller by their correction."""
    for name in ("p_bootstrap", "p_randomization"):
        p, corrected = found[name], found.get(f"{name}_corrected")
        least = 1 / (n_resamples + 1)
        if p is not None and p < least - ROUNDING:
            after = f"after {pluralize(n_resamples, 'resample')}"
            yield Problem(f"is {p:.15g} (expected at least {least:.15g}, {after})", path=(*path, name))
        if None not in (p, corrected) and corrected < p - ROUNDING:
            expected = f"expected at least {name}, {p:.15g}"
            yield Problem(f"is {corrected:.15g} ({expected})", path=(*path, f"{name}_corrected"))


def check_against_procedure(report: Numbers, procedure: Procedure, source: object) -> None:
    """Check that the scores of a report are those of its counts, and its counts some that a system can have.

    Reports of other versions of the procedure, and those with options that this version does not know, are not checked.

    Args:
        report: the JSON value, checked by the schema of reports.
        procedure: the procedure.
        source: what it is from, for messages.

    Raises:
        FormatError: they are not; all problems at once.
    """
    if (report["procedure"], report["procedure_version"]) != (procedure.name, procedure.version):
        return
    try:
        options = procedure.resolve_options(report["options"])
    except RequestError:
        return
    problems = list(_check_counts(report, procedure, ()))
    counts = {name: np.array([value]) for name, value in report["counts"].items()}
    problems += [Problem(found, path=("counts",)) for found in find_broken_sums(procedure.identities, options, counts)]
    for field, values in report["slices"].items():
        for value, part in values.items():
            problems += _check_counts(part, procedure, ("slices", field, value))
    if problems:
        raise FormatError(source, problems)


def _check_counts(scored: Numbers, procedure: Procedure, path: FieldPath) -> Iterator[Problem]:
    """Check that scores are those of the counts, as far as these are known."""
    names = list(scored["counts"])
    totals = np.array(list(scored["counts"].values()), np.float64)
    for metric in _list_metrics(procedure):
        score = scored["scores"].get(metric.name)
        if score is None or not names or not metric.is_defined(names):
            continue
        with np.errstate(all="ignore"):  # counts that no system has may give any number
            expected = float(metric.score(totals, names))
        found = score["value"]
        if (found is None) != np.isnan(expected) or (
            found is not None and abs(found - expected) > ROUNDING * max(1.0, expected)
        ):
            said = "null" if found is None else f"{found:.15g}"
            follows = "null" if np.isnan(expected) else f"{expected:.15g}"
            yield Problem(f"is {said} (expected {follows}, from the counts)", path=(*path, "scores", metric.name))


def _list_metrics(procedure: Procedure) -> Sequence[Any]:
    return procedure.with_metrics(procedure.families).metrics
