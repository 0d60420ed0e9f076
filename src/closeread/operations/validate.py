"""Validate predictions without scoring them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from closeread.corpus.notices import warn_all
from closeread.exceptions import InputError, escape
from closeread.operations.places import Config, DataDir, OwnGold, Preset, ProcedureOptions, Split
from closeread.parameters import FileSize, Operations, Param
from closeread.records import FileOrRows
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
        gold: what the gold is called.
    """

    name: str
    rows: int | None
    total: int
    error: InputError | None = None
    notices: tuple[str, ...] = ()
    gold: str = field(default="", repr=False)

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
        """Say for how many gold records they are valid, or what is wrong with them."""
        if self.error is not None:
            return escape(str(self.error))
        where = f"{self.total:,} gold records{self.gold and ' of '}{self.gold}"
        return escape(f"{self.name}: valid; {self.rows:,} of {where} have predictions")


def validate(
    name: str,
    predictions: FileOrRows,
    *,
    gold: OwnGold = None,
    config: Config = None,
    split: Split = None,
    data_dir: DataDir = None,
    max_bytes: FileSize = None,
    **options: ProcedureOptions,
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
    """
    where = {"gold": gold, "config": config, "split": split, "data_dir": data_dir, "max_bytes": max_bytes}
    (verdict,) = validate_all(name, [predictions], **where, **options)  # type: ignore[arg-type]
    return verdict


def validate_all(
    name: str,
    predictions: Annotated[Sequence[FileOrRows], Param(kind="sources")],
    *,
    gold: OwnGold = None,
    config: Config = None,
    split: Split = None,
    data_dir: DataDir = None,
    max_bytes: FileSize = None,
    preset: Preset = None,
    **options: ProcedureOptions,
) -> list[Verdict]:
    """Validate several predictions as `validate`, for the same gold."""
    place, rest = make_place(name, gold, config, split, data_dir, options)
    with limit_files(max_bytes):
        scorer = open_scorer(name, place, {"preset": preset, **rest})
        warn_all(scorer.gold.notices)
        verdicts = [_judge(scorer, one) for one in predictions]
    warn_all(notice for one in verdicts for notice in one.notices)
    return verdicts


def _judge(scorer: Scorer, predictions: FileOrRows) -> Verdict:
    source = str(predictions) if isinstance(predictions, str | Path) else "predictions"
    total = len(scorer.gold.records)
    try:
        system = scorer.read_source(predictions)
    except InputError as error:
        return Verdict(source, None, total, error, gold=scorer.gold_name)
    return Verdict(source, total - len(system.missing), total, None, scorer.remarks(system), scorer.gold_name)


OPERATIONS: Operations = {"": {"validate": validate_all}}
