"""Figures of a task: the module `figures` offers `FIGURES`, by the names that `closeread plot` has for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

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
        notices: what a user should know about the data, one sentence each.
    """

    figure: Figure
    summary: str
    notices: Sequence[str] = ()


@dataclass(frozen=True)
class FigureKind:
    """A kind of figure.

    Attributes:
        draw: draws it.  Takes the place of the gold (an `Annotator` if `corpus` is None), then the subject, then
            options by keyword; `predictions` is an `Annotator`.
        corpus: the corpus whose gold is drawn; None for files of annotators beside gold.
        subject: what is drawn of the gold: all of it, what has a "name", or "systems" beside it; or folders of training
            "runs", which `draw` takes instead of gold.
    """

    draw: Callable[..., Drawing]
    corpus: str | None
    subject: Literal["all", "name", "systems", "runs"] = "all"


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
