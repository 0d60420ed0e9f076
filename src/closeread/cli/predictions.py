"""The prediction for a single unit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from closeread.corpora.gold import Gold
    from closeread.records import Record


def read_prediction(gold: Gold, predictions: Path, unit: str) -> Record:
    """Return the prediction for a unit from a file of predictions, which need not cover the other units.

    Raises:
        RequestError: the file has no prediction for the unit.
        SubmissionError: the file is invalid; all problems at once.
    """
    from closeread.errors import RequestError, quote
    from closeread.scoring import Scorer, resolve_options
    from closeread.tasks import load_procedure

    key = gold.corpus.key
    procedure = load_procedure(gold.corpus.procedure)
    resolved = resolve_options(procedure, gold.corpus.name, {"missing": "empty"})
    rows = Scorer(procedure, resolved, gold).read(predictions).rows
    row: Record | None = next(row for record, row in zip(gold.records, rows, strict=True) if record[key] == unit)
    if row is None:
        raise RequestError(f"{predictions} has no prediction for {key} {quote(unit)}")
    return row
