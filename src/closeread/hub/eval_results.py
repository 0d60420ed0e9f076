"""Scores in a model's repository, `.eval_results/closeread-<digest>.yaml`, proposed as a pull request.

The Hub shows them on the model's page and on the board of the benchmark.  A file holds one score; its name is the
digest of what is scored (dataset, task, signature), so that a new score of the same model replaces the old one.
closeread never writes `verifyToken`, which only the Hub's own jobs give out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from closeread.hub.cards import dump_yaml
from closeread.hub.client import Commit, Hub, Repository
from closeread.json_schema import check_json

# a score as the Hub's format has it: `dataset`, `value`, `source`, `notes`
Entry = Mapping[str, Any]


def make_entry(*, dataset: str, task: str, value: float, signature: str, source: str) -> Entry:
    """Make the entry of a score between 0 and 1, which is written in per cent with two decimals, as in tables.

    The dataset is `org/name`, the task the id of one of its tasks, and the source the address of the result record.
    """
    entry = {
        "dataset": {"id": dataset, "task_id": task},
        "value": round(100 * value, 2),
        "source": {"url": source, "name": "closeread"},
        "notes": signature,
    }
    check_json([entry], "closeread.hub/eval_results.schema.json", "the evaluation result")
    return entry


def results_path(entry: Entry) -> str:
    """Return the path of an entry's file in the model's repository."""
    scored = [entry["dataset"]["id"], entry["dataset"]["task_id"], entry["notes"]]
    digest = hashlib.sha256(json.dumps(scored).encode()).hexdigest()
    return f".eval_results/closeread-{digest[:16]}.yaml"


def propose_results(hub: Hub, model: str, entry: Entry) -> Commit:
    """Open a pull request with a score on the repository of a model, `org/name`.

    Nothing is sent if the repository has the score, or an open or merged pull request adds it; `changed` is false then,
    and `pull_request` the earlier one, if there is one.
    """
    repository = Repository(model, "model")
    task, dataset = entry["dataset"]["task_id"], entry["dataset"]["id"]
    title = f"Add the score of {dataset} ({task})"
    files = {results_path(entry): dump_yaml([entry])}
    head, lacking, _ = hub.compare(repository, files)
    if not lacking:
        return Commit(head, repository.url, changed=False)
    for one in hub.pull_requests(repository, all_states=True):
        if one.title == title and one.status in ("open", "merged"):
            head, lacking, _ = hub.compare(repository, files, revision=f"refs/pr/{one.num}")
            if not lacking:
                return Commit(head, one.url, one.num, one.url, changed=False)
    text = (
        f"{entry['value']:.2f} on {task} of https://huggingface.co/datasets/{dataset}, scored by closeread.\n\n"
        f"Signature: `{entry['notes']}`. Record: {entry['source']['url']}"
    )
    return hub.commit(repository, files, message=title, description=text, pull_request=True)
