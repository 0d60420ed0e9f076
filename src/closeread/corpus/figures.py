"""Figures of a task: what they are drawn of, and what is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from closeread.corpus.gold import Gold
from closeread.corpus.submissions import drop_advice
from closeread.counts.annotators import Annotator
from closeread.counts.procedure import System
from closeread.counts.table import CountTable
from closeread.exceptions import RequestError, SubmissionError, quote
from closeread.records import Record
from closeread.tasks import load_procedure

if TYPE_CHECKING:
    from closeread.drawing.pictures import Figure


class Drawing(NamedTuple):
    """A figure that is drawn.

    Attributes:
        figure: the figure.
        summary: what is drawn, in a few words with numbers.
    """

    figure: Figure
    summary: str


def read_systems(gold: Gold, source: Path | Sequence[Any], missing: str | None = None) -> System:
    """Read predictions for gold, with the default options of the corpus, for a command without procedure options.

    Args:
        gold: the gold.
        source: the file or folder, or rows in memory.
        missing: how to treat units without a prediction; None for the default.

    Raises:
        SubmissionError: they are invalid; all problems at once.
    """
    procedure = load_procedure(gold.corpus.procedure)
    chosen = {} if missing is None else {"missing": missing}
    resolved = procedure.resolve_options({**gold.corpus.procedure_defaults, **chosen})
    try:
        return procedure.sides.read_system(gold, source, resolved)
    except SubmissionError as error:
        raise SubmissionError(error.source, drop_advice(error.problems)) from None


def count_rows(gold: Gold, rows: Sequence[Any], breakdowns: Sequence[str] = ()) -> CountTable:
    """Count aligned rows as `closeread score` does with default options, so that intervals are the same, too.

    Args:
        gold: the gold.
        rows: the system's rows.
        breakdowns: the procedure's breakdowns to count inside units.
    """
    procedure = load_procedure(gold.corpus.procedure)
    resolved = procedure.resolve_options(gold.corpus.procedure_defaults)
    options = procedure.keep_options(resolved, reading=False)
    more = {"breakdowns": tuple(breakdowns)} if breakdowns else {}
    table = procedure.count(gold=gold.records, system=rows, **options, **more)
    digests = procedure.sides.digests(gold, resolved)
    return replace(table, digests=[digests[unit] for unit in table.units])


def name_systems(systems: Sequence[Annotator]) -> dict[str, Annotator]:
    """Return different systems by the names of their files without suffix, or by their paths if two are the same."""
    different = {one.name: one for one in systems}
    names = [one.source.stem if isinstance(one.source, Path) else one.name for one in different.values()]
    return dict(zip(names if len(set(names)) == len(names) else different, different.values(), strict=True))


def read_prediction(gold: Gold, predictions: Annotator, unit: str) -> Record:
    """Return the prediction for a unit from predictions, which need not cover the other units.

    Raises:
        RequestError: there is no prediction for the unit.
        SubmissionError: they are invalid; all problems at once.
    """
    key, rows = gold.corpus.key, read_systems(gold, predictions.source, "empty").rows
    row: Record | None = next(row for record, row in zip(gold.records, rows, strict=True) if record[key] == unit)
    if row is None:
        raise RequestError(f"{predictions.name} has no prediction for {key} {quote(unit)}")
    return row
