"""The systems to compare: their files and names, their scores, and whether they were scored alike."""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from closeread.counts.counts import Counts
from closeread.counts.metrics import PARTS
from closeread.counts.procedure import Option, Procedure
from closeread.counts.report import Provenance, Report
from closeread.counts.storage import may_be_counts
from closeread.exceptions import (
    RequestError,
    describe_unknown,
    escape,
    name_option,
    quote,
    suggest,
)
from closeread.formats import parquet
from closeread.formats.text import GZIP_MAGIC

HEAD_BYTES = 4096
"""How much of a file is read to tell its kind."""

REPORT_START = re.compile(rb'(\xef\xbb\xbf)?\s*\{.*?"closeread"\s*:', re.DOTALL)
"""Matches the beginning of a report: an object with the version of closeread, which no prediction has."""

LOG_START = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+,\s*"status"\s*:')
"""How a log of inspect-ai begins that is JSON; others are archives."""


def detect_kind(path: Path) -> Literal["counts", "report", "log", "predictions"]:
    """Return the kind of a file: stored counts, which are Parquet; a report as JSON; otherwise predictions."""
    if not path.is_file():
        return "predictions"
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
        if head.startswith(parquet.PARQUET_MAGIC):
            return "counts" if may_be_counts(path) else "predictions"
        if head.startswith(GZIP_MAGIC):
            head = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(head, HEAD_BYTES)
    except (OSError, zlib.error):
        return "predictions"
    is_archive = path.suffix == ".eval" and head.startswith(b"PK")
    if is_archive or LOG_START.match(head):
        return "log"
    return "report" if REPORT_START.match(head) else "predictions"


def make_names(paths: Sequence[Path]) -> list[str]:
    """Return a name for each file: its stem, or as much of its path as makes it unique.

    >>> make_names([Path("a/x.jsonl"), Path("b/x.jsonl"), Path("base.jsonl.gz"), Path("ours.txt"), Path("ours.json")])
    ['a/x', 'b/x', 'base', 'ours.txt', 'ours.json']
    >>> make_names([Path("x.jsonl"), Path("b/x.jsonl")])
    ['x', 'b/x']
    """
    names: dict[int, str] = {}
    # From the shortest form to the longest, a file has the first that no other file has.
    for form in (_stem, _file_name, _stem_in_folder, _name_in_folder, str):
        forms = [form(path) for path in paths]
        times = Counter(forms)
        for number, name in enumerate(forms):
            if times[name] == 1:
                names.setdefault(number, name)
    for number, path in enumerate(paths):
        repetition = 1 + paths[:number].count(path)
        names.setdefault(number, f"{path} ({repetition})")
    return [names[number] for number in range(len(paths))]


def name_sources(sources: Sequence[object], substitutes: Sequence[str]) -> list[str]:
    """Return a name for each source: of files as `make_names` does, of objects the substitute."""
    names = iter(make_names([Path(source) for source in sources if isinstance(source, str | Path)]))
    return [
        next(names) if isinstance(source, str | Path) else substitute
        for source, substitute in zip(sources, substitutes, strict=False)
    ]


def _file_name(path: Path) -> str:
    return path.name or str(path)


def _stem(path: Path) -> str:
    name = _file_name(path)
    return name if path.is_dir() else Path(name.removesuffix(".gz")).stem


def _stem_in_folder(path: Path) -> str:
    return "/".join(filter(None, (path.parent.name, _stem(path))))


def _name_in_folder(path: Path) -> str:
    return "/".join(filter(None, (path.parent.name, _file_name(path))))


def select_scores(
    procedure: Procedure,
    scores: Sequence[str] | None,
    metrics: str | Sequence[str] | None,
    options: Mapping[str, object],
) -> tuple[Procedure, tuple[str, ...]]:
    """Return the procedure with the metrics to compute, and the columns of a table.

    Without `scores`, names of scores or of families, these are all scores of the metrics but precision and recall;
    without `metrics`, those of the scores are computed, or those of the preset in `options`, or the default.
    """
    if scores is None:
        selected = procedure.select_metrics(metrics, options)
        names = [metric.name for metric in selected.metrics]
        return selected, tuple(name for name in names if not name.endswith(PARTS))
    selected = procedure.with_metrics(procedure.families if metrics is None else metrics)
    columns: list[str] = []
    for name in scores:
        matching = [
            metric.name for metric in selected.metrics if name in (metric.name, metric.family)
        ]
        if not matching:
            raise RequestError(_describe_unknown_score(name, procedure, selected))
        columns += matching
    if not columns:
        raise RequestError("a table needs at least one score")
    columns = list(dict.fromkeys(columns))
    families = dict.fromkeys(name.partition("/")[0] for name in columns)
    return procedure.with_metrics(list(families)), tuple(columns)


def _describe_unknown_score(name: str, procedure: Procedure, selected: Procedure) -> str:
    """Return the message for a score that the selected metrics don't have."""
    every_score = [metric.name for metric in procedure.with_metrics(procedure.families).metrics]
    if name in (*procedure.families, *every_score):
        option = name_option("metrics")
        family = name.partition("/")[0]
        return f"{option} excludes the score '{name}'; add '{family}' to {option}, or omit {option}"
    names = [metric.name for metric in selected.metrics]
    guess = suggest(name, [*selected.families, *names])
    if not guess:
        guess = suggest(name, selected.families, procedure.aliases)
    choices = ", ".join(selected.families)
    parts = [score for score in names if score not in selected.families]
    if parts:
        choices += f", or one of their scores, such as {parts[-1]}"
    end = "." if guess else ""
    return f"no such {procedure.name} score: '{name}'{end}{guess} (choose from: {choices})"


def choose_columns(
    names: Sequence[str],
    results: Sequence[Counts | Report],
    columns: Sequence[str],
    *,
    required: bool,
) -> tuple[tuple[str, ...], dict[str, list[str]]]:
    """Return the columns that all systems have, and for each other column the systems that lack it."""
    scores_by_system = {
        name: _list_score_names(result) for name, result in zip(names, results, strict=True)
    }
    lacking: dict[str, list[str]] = {}
    for column in columns:
        systems = [name for name, scores in scores_by_system.items() if column not in scores]
        if systems:
            lacking[column] = systems
    shared = tuple(column for column in columns if column not in lacking)
    if lacking and (required or not shared):
        problems = ["some systems lack scores:"]
        for name, scores in scores_by_system.items():
            lacked = ", ".join(column for column in lacking if name in lacking[column])
            if lacked:
                has = ", ".join(scores) or "none"
                problems.append(escape(f"{quote(name)} has no {lacked} (it has: {has})"))
        raise RequestError("\n".join(problems))
    return shared, lacking


def _list_score_names(result: Counts | Report) -> list[str]:
    """Return the names of the scores that a system has."""
    if isinstance(result, Counts):
        return [metric.name for metric in result.procedure.metrics]
    return list(result.scores)


def restrict_metrics(counted: Counts, columns: Sequence[str]) -> Counts:
    """Return the counts with only the metrics of these columns, with precision and recall."""
    families = {column.partition("/")[0] for column in columns}
    metrics = tuple(metric for metric in counted.procedure.metrics if metric.family in families)
    return replace(counted, procedure=replace(counted.procedure, metrics=metrics))


def check_comparable(
    names: Sequence[str],
    provenances: Sequence[Provenance],
    options: Sequence[Option],
    requested: Provenance | None,
) -> None:
    """Check that all systems have the same signature, that of the first or the requested one.

    Defaults of the procedure's options stand for values that are not stored.
    """
    expected = provenances[0] if requested is None else requested
    problems = []
    for name, provenance in zip(names, provenances, strict=True):
        if provenance.signature != expected.signature:
            differences = _list_differences(provenance, expected, options)
            problems += [f"{quote(name)}: {difference}" for difference in differences]
    if not problems:
        return
    how = "on the gold and with the options given"
    if requested is None:
        how = f"as {quote(names[0])} was"
    text = "\n".join([f"the systems are not comparable: they were not scored {how}:", *problems])
    treatments = {provenance.options.get("missing") for provenance in (expected, *provenances)}
    if treatments == {"skip"}:
        text += f"\nWith {name_option('missing', 'skip')}, all systems must cover the same units."
    raise RequestError(text)


def _list_differences(
    provenance: Provenance, expected: Provenance, options: Sequence[Option]
) -> list[str]:
    """Describe the differences between two signatures."""
    parts = [("procedure", provenance.procedure, expected.procedure)]
    if provenance.procedure == expected.procedure:
        version = str(provenance.procedure_version)
        parts.append(("version of the procedure", version, str(expected.procedure_version)))
        defaults = {option.name: option.default for option in options}
        actual_options = {**defaults, **provenance.options}
        expected_options = {**defaults, **expected.options}
        for name in {**expected_options, **actual_options}:
            actual = actual_options.get(name, "none")
            parts.append((f"option {name}", actual, expected_options.get(name, "none")))
    differences = [
        f"{part} is {quote(actual)} (expected {quote(wanted)})"
        for part, actual, wanted in parts
        if actual != wanted
    ]
    signature, _, digest = provenance.signature.rpartition("|gold:")
    expected_signature, _, expected_digest = expected.signature.rpartition("|gold:")
    if digest != expected_digest:
        gold = _describe_gold(provenance, digest)
        differences.append(f"gold is {gold} (expected {_describe_gold(expected, expected_digest)})")
    if differences:
        return differences
    return [f"signature is {quote(signature, 2000)} (expected {quote(expected_signature, 2000)})"]


def _describe_gold(provenance: Provenance, digest: str) -> str:
    parts = (provenance.corpus, provenance.config, provenance.split, digest)
    return escape(" ".join(part for part in parts if part))


def sort_systems(
    names: Sequence[str], results: Sequence[Counts | Report], scores: Sequence[str], score: str
) -> tuple[list[str], list[Counts | Report]]:
    """Return systems by a score, the best first, and undefined scores last."""
    if score not in scores:
        raise RequestError(describe_unknown("column to sort by", score, scores))
    values = []
    for result in results:
        if isinstance(result, Counts):
            values.append(result.table.scores(result.metrics)[score])
        else:
            values.append(result.scores[score].value)

    def rank_key(system: int) -> float:
        value = values[system]
        return math.inf if value is None else -value

    order = sorted(range(len(names)), key=rank_key)
    return [names[system] for system in order], [results[system] for system in order]
