"""What a table of systems is made of: stored counts and reports, names, columns, and whether all are comparable."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from closeread.counts.counted import Counted, Provenance
from closeread.counts.options import Option
from closeread.counts.procedure import Procedure
from closeread.counts.report import Report
from closeread.counts.storage import is_count_file
from closeread.exceptions import RequestError, escape, quote
from closeread.formats.gzipped import GZIP, MAGIC
from closeread.suggestions import suggest
from closeread.wording import name_option

PARTS = ("/precision", "/recall")
HEAD = 4096
REPORT = re.compile(rb'(\xef\xbb\xbf)?\s*\{.*?"closeread"\s*:', re.DOTALL)
"""How a report begins: an object that soon says by which version it was written, as no prediction does."""


def find_kind(path: Path) -> Literal["counts", "report", "predictions"]:
    """Return what is in a file: stored counts, a report as JSON, or otherwise predictions."""
    if not path.is_file():
        return "predictions"
    if is_count_file(path):
        return "counts"
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
        if head.startswith(MAGIC):
            head = zlib.decompressobj(GZIP).decompress(head, HEAD)
        return "report" if REPORT.match(head) else "predictions"
    except (OSError, zlib.error):
        return "predictions"


def make_names(paths: Sequence[Path]) -> list[str]:
    """Return a name for each file: its stem, or as much of its path as makes it unique.

    >>> make_names([Path("a/x.jsonl"), Path("b/x.jsonl"), Path("base.jsonl.gz"), Path("ours.txt"), Path("ours.json")])
    ['a/x', 'b/x', 'base', 'ours.txt', 'ours.json']
    >>> make_names([Path("x.jsonl"), Path("b/x.jsonl")])
    ['x', 'b/x']
    """
    found: dict[int, str] = {}
    for form in (_find_stem, _find_name, _find_stem_below, _find_name_below, str):
        counts = Counter(map(form, paths))
        for i, path in enumerate(paths):
            if counts[form(path)] == 1:
                found.setdefault(i, form(path))
    for i, path in enumerate(paths):  # the same file again
        found.setdefault(i, f"{path} ({1 + paths[:i].count(path)})")
    return [found[i] for i in range(len(paths))]


def _find_name(path: Path) -> str:
    return path.name or str(path)


def _find_stem(path: Path) -> str:
    return _find_name(path) if path.is_dir() else Path(_find_name(path).removesuffix(".gz")).stem


def _find_name_below(path: Path) -> str:
    return "/".join(filter(None, (path.parent.name, _find_name(path))))


def _find_stem_below(path: Path) -> str:
    return "/".join(filter(None, (path.parent.name, _find_stem(path))))


def select_scores(
    procedure: Procedure,
    scores: Sequence[str] | None,
    metrics: str | Sequence[str] | None,
    options: Mapping[str, object],
) -> tuple[Procedure, tuple[str, ...]]:
    """Return the procedure with the metrics to compute, and the columns of a table.

    Args:
        procedure: the procedure with all of its metrics.
        scores: the names of scores, such as "muc/f1", or of families, such as "muc" for its precision, recall and F1;
            None for all scores of the metrics but precision and recall.
        metrics: the families to compute; None for those of the scores, otherwise of the preset or the default.
        options: values of options, perhaps with the name of a preset.

    Raises:
        RequestError: there is no such metric, score or preset.
    """
    if scores is None:
        selected = procedure.select_metrics(metrics, options)
        return selected, tuple(metric.name for metric in selected.metrics if not metric.name.endswith(PARTS))
    selected = procedure.with_metrics(procedure.families if metrics is None else metrics)
    columns: list[str] = []
    for name in scores:
        found = [metric.name for metric in selected.metrics if name in (metric.name, metric.name.partition("/")[0])]
        if not found:
            guess = suggest(name, [*selected.families, *(metric.name for metric in selected.metrics)])
            guess = guess or suggest(name, selected.families, procedure.aliases)
            choices = ", ".join(selected.families)
            if several := [metric.name for metric in selected.metrics if metric.name not in selected.families]:
                choices += f", or one of their scores, such as {several[-1]}"
            known = [metric.name for metric in procedure.with_metrics(procedure.families).metrics]
            if name in (*procedure.families, *known):
                option, family = name_option("metrics"), name.partition("/")[0]
                raise RequestError(
                    f"{option} excludes the score '{name}'; add '{family}' to {option}, or omit {option}"
                )
            raise RequestError(
                f"no such {procedure.name} score: '{name}'{guess and '.'}{guess} (choose from: {choices})"
            )
        columns += found
    if not columns:
        raise RequestError("a table needs at least one score")
    columns = list(dict.fromkeys(columns))
    return procedure.with_metrics(list(dict.fromkeys(name.partition("/")[0] for name in columns))), tuple(columns)


def choose_columns(
    names: Sequence[str], results: Sequence[Counted | Report], columns: Sequence[str], *, required: bool
) -> tuple[tuple[str, ...], dict[str, list[str]]]:
    """Return the columns that all systems have, and for each other one the systems that lack it.

    Args:
        names: the names of the systems.
        results: their counts or reports.
        columns: the names of the scores.
        required: whether all columns must be there.

    Raises:
        RequestError: a system lacks a required score, or no score is in all systems.
    """
    known = [_list_scores(one) for one in results]
    lacking = {
        score: [name for name, scores in zip(names, known, strict=True) if score not in scores] for score in columns
    }
    lacking = {score: without for score, without in lacking.items() if without}
    found = tuple(score for score in columns if score not in lacking)
    if lacking and (required or not found):
        problems = [
            f"{quote(name)} has no {', '.join(score for score in lacking if name in lacking[score])} "
            f"(it has: {', '.join(scores) or 'none'})"
            for name, scores in zip(names, known, strict=True)
            if any(name in without for without in lacking.values())
        ]
        raise RequestError("\n".join(["some systems lack scores:", *map(escape, problems)]))
    return found, lacking


def _list_scores(result: Counted | Report) -> list[str]:
    return [metric.name for metric in result.procedure.metrics] if isinstance(result, Counted) else list(result.scores)


def restrict_metrics(counted: Counted, columns: Sequence[str]) -> Counted:
    """Return the counts with only the metrics of these columns, with precision and recall."""
    families = {column.partition("/")[0] for column in columns}
    metrics = tuple(metric for metric in counted.procedure.metrics if metric.name.partition("/")[0] in families)
    return replace(counted, procedure=replace(counted.procedure, metrics=metrics))


def check_comparable(
    names: Sequence[str],
    provenances: Sequence[Provenance],
    options: Sequence[Option],
    requested: Provenance | None = None,
) -> None:
    """Check that all systems have the same signature.

    Args:
        names: the names of the systems.
        provenances: what was scored, and how.
        options: the options of the procedure, whose defaults stand for values that are not stored.
        requested: what all should be scored on, and how; None for that of the first.

    Raises:
        RequestError: signatures differ; the message says in what, for all systems that differ.
    """
    expected = provenances[0] if requested is None else requested
    problems = [
        f"{quote(name)}: {difference}"
        for name, found in zip(names, provenances, strict=True)
        if found.signature != expected.signature
        for difference in _list_differences(found, expected, options)
    ]
    if not problems:
        return
    how = f"as {quote(names[0])} was" if requested is None else "on the gold and with the options given"
    text = "\n".join([f"the systems are not comparable: they were not scored {how}:", *problems])
    skips = {one.options.get("missing") for one in (expected, *provenances)} == {"skip"}
    if skips:
        text += f"\nWith {name_option('missing', 'skip')}, all systems must cover the same units."
    raise RequestError(text)


def _list_differences(found: Provenance, expected: Provenance, options: Sequence[Option]) -> list[str]:
    """Return what differs between two signatures, in words."""
    what = [("procedure", found.procedure, expected.procedure)]
    if found.procedure == expected.procedure:
        what.append(("version of the procedure", str(found.procedure_version), str(expected.procedure_version)))
        defaults = {option.name: option.default for option in options}
        one, two = ({**defaults, **side.options} for side in (found, expected))
        what += [(f"option {name}", one.get(name, "none"), two.get(name, "none")) for name in {**two, **one}]
    differences = [f"{name} is {quote(a)} (expected {quote(b)})" for name, a, b in what if a != b]
    (mine, digest), (theirs, other) = (side.signature.rpartition("|gold:")[::2] for side in (found, expected))
    if digest != other:
        differences.append(f"gold is {_name_gold(found, digest)} (expected {_name_gold(expected, other)})")
    if not differences:
        differences.append(f"signature is {quote(mine, 2000)} (expected {quote(theirs, 2000)})")
    return differences


def _name_gold(provenance: Provenance, digest: str) -> str:
    parts = (provenance.corpus, provenance.config, provenance.split, digest)
    return escape(" ".join(part for part in parts if part))
