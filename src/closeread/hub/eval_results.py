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

HubScore = Mapping[str, Any]
"""A score as the Hub's format has it: `dataset`, `value`, `source`, `notes`."""


def make_entry(*, dataset: str, task: str, value: float, signature: str, source: str) -> HubScore:
    """Make the entry of a score between 0 and 1, which is written in per cent with two decimals, as in tables.

    The dataset is `org/name`, the task the id of one of its tasks, and the source the address of the result record.
    """
    score = {
        "dataset": {"id": dataset, "task_id": task},
        "value": round(100 * value, 2),
        "source": {"url": source, "name": "closeread"},
        "notes": signature,
    }
    check_json([score], "closeread.hub/eval_results.schema.json", "the evaluation result")
    return score


def results_path(score: HubScore) -> str:
    """Return the path of an entry's file in the model's repository."""
    dataset = score["dataset"]
    key = json.dumps([dataset["id"], dataset["task_id"], score["notes"]])
    digest = hashlib.sha256(key.encode()).hexdigest()
    return f".eval_results/closeread-{digest[:16]}.yaml"


def propose_results(hub: Hub, model: str, score: HubScore) -> Commit:
    """Open a pull request with a score on the repository of a model, `org/name`.

    Nothing is sent if the repository has the score, or an open or merged pull request adds it; `changed` is false then,
    and `pull_request` the earlier one, if there is one.
    """
    repository = Repository(model, "model")
    task = score["dataset"]["task_id"]
    dataset = score["dataset"]["id"]
    title = f"Add the score of {dataset} ({task})"
    files = {results_path(score): dump_yaml([score])}
    difference = hub.compare(repository, files)
    if difference.is_empty:
        return Commit(difference.head, repository.url, changed=False)
    earlier = hub.find_request(repository, files, title, by_anybody=True)
    if earlier is not None:
        return earlier
    text = (
        f"{score['value']:.2f} on {task} of https://huggingface.co/datasets/{dataset}, scored by closeread.\n\n"
        f"Signature: `{score['notes']}`. Record: {score['source']['url']}"
    )
    return hub.commit(repository, files, message=title, description=text, pull_request=True)
