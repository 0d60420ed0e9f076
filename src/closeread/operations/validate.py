"""Validate predictions without scoring them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from closeread.corpus.notices import warn_all
from closeread.corpus.objects import FileOrRows
from closeread.counts.procedure import OptionValue
from closeread.exceptions import InputError, escape
from closeread.scoring import Scorer, limit_files, make_place, open_scorer


@dataclass(frozen=True)
class Verdict:
    """What is found of predictions.

    Attributes:
        name: the file, or "predictions" for objects in memory.
        rows: how many gold records have predictions; None if they are not valid.
        total: how many gold records there are.
        error: what is wrong with them; None if they are valid.
        notices: what else a user should know, one sentence each.
    """

    name: str
    rows: int | None
    total: int
    error: InputError | None = None
    notices: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether they can be scored."""
        return self.error is None

    @property
    def problems(self) -> list[str]:
        """Every problem, with its place."""
        return [] if self.error is None else [one.at(escape(self.error.source)) for one in self.error.problems]

    def to_json(self) -> dict[str, str | bool | int | list[str] | None]:
        """Return the verdict as a JSON object, with every problem in words."""
        return {"file": self.name, "valid": self.valid, "rows": self.rows, "problems": self.problems}

    def __bool__(self) -> bool:
        """Return whether they can be scored."""
        return self.valid

    def __str__(self) -> str:
        """Say in how many rows they are valid, or what is wrong with them."""
        if self.error is not None:
            return escape(str(self.error))
        return escape(f"{self.name}: valid; {self.rows:,} of {self.total:,} gold records have predictions")


def validate(
    name: str,
    predictions: FileOrRows,
    *,
    gold: FileOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    max_bytes: int | None = None,
    **options: OptionValue,
) -> Verdict:
    """Validate predictions without scoring them.

    >>> import closeread
    >>> rows = [{"id": "test-00000", "label": "maybe"}]
    >>> verdict = closeread.validate("mctaco", rows, config="sample", missing="skip")
    >>> verdict.valid, verdict.problems
    (False, ["predictions: row 0: id 'test-00000': label: 'maybe' is not one of 'no', 'yes'"])

    Args:
        name: the name of a corpus or a procedure.
        predictions: a file, a folder or objects, as for `closeread.score`.
        gold, config, split, data_dir, max_bytes, **options: as for `closeread.score`.

    Returns:
        Whether they are valid, and all problems if they are not.

    Raises:
        RequestError: a name does not exist; an InputError if gold is missing or invalid.
    """
    place, rest = make_place(name, gold, config, split, data_dir, options)
    with limit_files(max_bytes):
        scorer = open_scorer(name, place, rest)
        verdict = validate_with(scorer, predictions)
    warn_all([*scorer.gold.notices, *verdict.notices])
    return verdict


def validate_with(scorer: Scorer, predictions: FileOrRows) -> Verdict:
    """Validate predictions for the gold of a scorer."""
    source = str(predictions) if isinstance(predictions, str | Path) else "predictions"
    total = len(scorer.gold.records)
    try:
        system = scorer.read_source(predictions)
    except InputError as error:
        return Verdict(source, None, total, error)
    return Verdict(source, total - len(system.missing), total, notices=scorer.remarks(system))
