"""`run.json`, which describes a training run; read without torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from closeread.exceptions import FormatError, Problem, RequestError
from closeread.formats.json_lines import read_json
from closeread.json_schema import check_json
from closeread.records import check_format

RUN = "run.json"
ENCODER = "encoder"
"""The folder of a pretrained encoder in that of a run: its configuration, and its tokenizer."""

COMPLETE = "complete"
FORMAT = 1
"""The number of this form of `run.json`."""


def read_run(folder: Path) -> dict[str, Any]:
    """Return what the `run.json` of a folder holds.

    Raises:
        FormatError: it is missing or invalid, or of a newer version; all problems at once.
    """
    path = folder / RUN
    if not path.exists():
        raise FormatError(path, [Problem("does not exist (expected the folder of a training run)")])
    found = read_json(path)
    check_format(found, FORMAT, path)
    check_json(found, "closeread.neural/run.schema.json", path)
    run: dict[str, Any] = found  # type: ignore[assignment] # as the schema says
    return run


def list_scores(run: Mapping[str, Any], name: str) -> Sequence[float | None]:
    """Return a score of every epoch; None where it is undefined."""
    return [epoch["scores"].get(name) for epoch in run["epochs"]]


def find_runs(folder: Path) -> Iterator[Path]:
    """Yield the folders of runs in a folder, in order of their names; the folder itself if it is one."""
    for path in sorted(folder.rglob(RUN)):
        yield path.parent


def find_complete_runs(folder: Path, task: str) -> dict[Path, dict[str, Any]]:
    """Return what the `run.json` of each complete run of a task in a folder holds, by the folder of the run.

    Args:
        folder: of the runs, which may lie in folders of their own.
        task: such as "tne"; runs of others, and descriptions of several runs, are left out.

    Raises:
        RequestError: there is none.
        FormatError: one is damaged.
    """
    found = {}
    for run in find_runs(folder):
        described = read_json(run / RUN)
        if isinstance(described, dict) and described.get("task") == task and "runs" not in described:
            found[run] = read_run(run)
    complete = {run: described for run, described in found.items() if described["state"] == COMPLETE}
    if not complete:
        raise RequestError(f"{folder}: holds no complete run of {task} (expected folders of `closeread train {task}`)")
    return complete
