"""The rows of Tables 3 and 5 with a model, of runs of one's own, on the test split.

A coupled run stands in the row of its kind of encoder.  So does a decoupled one, decoded as the printed rows were: with
every pair linked.  Its scores with the links that its head for links finds are in a row of their own.

Conventions: scores are times 100; those of several runs of a row are means.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from closeread.corpus.reproduction import Inputs, Recomputed
from closeread.counts.printed_tables import OwnModel, Value
from closeread.exceptions import quote
from closeread.formats.json_lines import read_json
from closeread.neural.run_files import ENCODER, find_complete_runs
from closeread.tasks.tne.release import read_test

LINKS = {"Precision": "links/precision", "Recall": "links/recall", "F1": "links/f1"}
"""The columns of Table 3, and our names of the scores."""

PREPOSITIONS = {
    "Links-P": "unlabeled/precision",
    "Links-R": "unlabeled/recall",
    "Links-F1": "unlabeled/f1",
    "IPrep-Acc": "iprep",
    "UPrep-Acc": "uprep",
}
"""The columns of Table 5."""

AS_TRAINED = "{row}, links first"
"""The row of a decoupled model with the links that its head for links finds."""

LARGE = 24
"""The layers of a large encoder."""

Scores = Mapping[str, Mapping[str, Value]]
"""The scores of a row by way to decode and by name; without those that are undefined for one of its runs."""


def describe_links(inputs: Inputs, runs: Path) -> Recomputed:
    """Return the cells of Table 3 that runs fill."""
    cells: dict[tuple[str, str], Value] = {}
    for row, scores in _score_rows(inputs, runs, "Table 3").items():
        if row.startswith("Decoupled"):
            cells |= _make_cells(row, LINKS, scores["printed"])
            cells |= _make_cells(AS_TRAINED.format(row=row), LINKS, scores["links"])
        else:
            cells |= _make_cells(row, LINKS, scores["links"])
    return cells


def describe_prepositions(inputs: Inputs, runs: Path) -> Recomputed:
    """Return the cells of Table 5 that runs fill, all of them of the links that a model finds, as in print."""
    cells: dict[tuple[str, str], Value] = {}
    for row, scores in _score_rows(inputs, runs, "Table 5").items():
        cells |= _make_cells(row, PREPOSITIONS, scores["links"])
    return cells


def _make_cells(row: str, columns: Mapping[str, str], scores: Mapping[str, Value]) -> dict[tuple[str, str], Value]:
    return {(row, column): scores[name] for column, name in columns.items() if name in scores}


def _score_rows(inputs: Inputs, runs: Path, table: str) -> Mapping[str, Scores]:
    """Return the scores of each row that has a run, and remark on the table which run that is."""
    rows, remark = inputs.once("runs", lambda: _predict_rows(inputs, runs))
    inputs.remarks[table] = remark
    return rows


def _predict_rows(inputs: Inputs, folder: Path) -> tuple[Mapping[str, Scores], str]:
    from closeread.tasks.tne.training import TASK, score_decodings

    documents = read_test(inputs)
    if documents is None:
        return {}, ""
    scores, names = defaultdict(list), defaultdict(list)
    for run, described in find_complete_runs(folder, TASK).items():
        row = name_row(run, described["model"])
        scores[row].append(score_decodings(documents, run))
        encoder = quote(str(described["model"]["name"]), 80)
        names[row].append(f"{run.relative_to(folder) if run != folder else run.name} with {encoder}")
    parts = "; ".join(f"{row} of {', '.join(found)}" for row, found in names.items())
    return {row: _average(found) for row, found in scores.items()}, f"Runs here: {parts}"


def _average(runs: Sequence[Mapping[str, Mapping[str, float | None]]]) -> Scores:
    means: dict[str, dict[str, Value]] = {}
    for decoding, names in runs[0].items():
        for name in names:
            values = [value for run in runs if (value := run[decoding][name]) is not None]
            if len(values) == len(runs):
                means.setdefault(decoding, {})[name] = OwnModel(100 * float(np.mean(values)))
    return means


def name_row(run: Path, model: Mapping[str, Any]) -> str:
    """Return the row of a run in Tables 3 and 5.

    Args:
        run: its folder.
        model: what its `run.json` says of the model.
    """
    variant = str(model["variant"]).capitalize()
    if model["kind"] == "static":
        return f"{variant}-static"
    config = read_json(run / ENCODER / "config.json")
    layers = config.get("num_hidden_layers") if isinstance(config, dict) else None
    size = "large" if isinstance(layers, int) and layers >= LARGE else "base"
    return f"{variant}-frozen-{size}" if model["kind"] == "frozen" else f"{variant}-{size}"
