"""Scores of language models, from the counts of units in one epoch or several."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, cast

import numpy as np

import closeread
from closeread.counts.counts import Counts
from closeread.counts.report import Report
from closeread.llm.questions import Exam
from closeread.records import Record

if TYPE_CHECKING:
    from closeread.tasks.coref.key_response import Key


def count_unit(exam: Exam, unit: str, rows: Sequence[Record]) -> Counts:
    """Count a system's rows for one unit; what has no row is an empty prediction."""
    return _count_unit(exam, unit, json.dumps(rows))


_QUIET = Lock()  # filters of warnings are those of all threads


@lru_cache(10_000)
def _count_unit(exam: Exam, unit: str, rows: str) -> Counts:
    """Count without notices, which every unit would repeat; a document of a key keeps all of its annotation."""
    document = exam.documents.get(unit)
    if document:
        scorer = replace(exam.scorer, gold=replace(cast("Key", exam.scorer.gold), records=document))
        return scorer.count(scorer.read(json.loads(rows)))
    with _QUIET, warnings.catch_warnings():
        warnings.simplefilter("ignore", closeread.CloseReadWarning)
        return closeread.count(exam.name, json.loads(rows), gold=exam.units[unit], missing="empty")


def average_epochs(
    exam: Exam, epochs: Sequence[Mapping[str, Sequence[Record]]], *, ci: bool = True
) -> Report:
    """Return the report of the rows of each epoch, by unit: a unit's counts are the mean of those of all epochs.

    Units are resampled by block, as those of one epoch are.  Units that not all epochs have are left out, unless that
    leaves none.
    """
    shared = set.intersection(*map(set, epochs))
    if not shared:
        epochs = epochs[:1]
        shared = set(epochs[0])
    units = [unit for unit in exam.units if unit in shared]
    counts = []
    for epoch in epochs:
        counts_of_units = [count_unit(exam, unit, epoch[unit]) for unit in units]
        counts.append(closeread.merge(counts_of_units))
    first = counts[0]
    values = np.mean([count.table.values for count in counts], axis=0)
    averaged = replace(first, table=replace(first.table, values=values))
    return averaged.report(list(first.table.fields) if ci else (), ci=ci)
