"""`run.json`, which describes a training run; read without torch."""

from __future__ import annotations

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
FORMAT = 1  # of `run.json`


def read_run(folder: Path) -> dict[str, Any]:
    """Return what the `run.json` of a folder holds."""
    path = folder / RUN
    if not path.exists():
        raise FormatError(path, [Problem("does not exist (expected the folder of a training run)")])
    found = read_json(path)
    check_format(found, FORMAT, path)
    check_json(found, "closeread.neural/run.schema.json", path)
    run: dict[str, Any] = found  # type: ignore[assignment] # as the schema says
    return run


def find_complete_runs(folder: Path, task: str) -> dict[Path, dict[str, Any]]:
    """Return what the `run.json` of each complete run of a task in a folder holds, by the folder of the run.

    They may lie in folders of their own; runs of other tasks, and descriptions of several runs, are left out.
    """
    found = {}
    for path in sorted(folder.rglob(RUN)):
        described = read_json(path)
        if isinstance(described, dict) and described.get("task") == task and "runs" not in described:
            run = read_run(path.parent)
            if run["state"] == COMPLETE:
                found[path.parent] = run
    if not found:
        raise RequestError(f"{folder}: holds no complete run of {task} (expected folders of `closeread train {task}`)")
    return found
