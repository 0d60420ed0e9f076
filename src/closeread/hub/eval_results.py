"""Scores in a model's repository, `.eval_results/closeread-<digest>.yaml`, proposed as a pull request.

The Hub shows them on the model's page and on the board of the benchmark.  A file holds one score; its name is the
digest of what is scored (dataset, task, signature), so that a new score of the same model replaces the old one.
closeread never writes `verifyToken`, which only the Hub's own jobs give out.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from closeread.hub.cards import dump_yaml
from closeread.hub.client import Commit, Hub, NoSuchFileError, Repository, TooLargeError
from closeread.hub.schemas import check

Entry = Mapping[str, Any]
"""A score as the Hub's format has it: `dataset`, `value`, `date`, `source`, `notes`."""

DATE = re.compile(rb"^  date: .*\n", re.MULTILINE)
LIMIT = 100_000
"""Files of other people are read up to this size, in bytes."""


def make_entry(
    *,
    dataset: str,
    task: str,
    value: float,
    signature: str,
    source: str,
    revision: str | None = None,
    date: str | None = None,
    user: str | None = None,
) -> Entry:
    """Make the entry of a score.

    Args:
        dataset: the benchmark's dataset, `org/name`.
        task: the id of one of its tasks (`closeread.hub.datasets.task_id`).
        value: the score, between 0 and 1; the entry has it in per cent with two decimals, as tables have.
        signature: the signature of the score.
        source: where the result record is, https.
        revision: the commit of the dataset, 40 hex digits.
        date: when it was scored, `2026-11-22` or `2026-11-22T10:00:00Z`.
        user: who submitted it, a user of the Hub.

    Raises:
        FormatError: the entry breaks the schema; all problems at once.
    """
    entry: dict[str, Any] = {
        "dataset": {"id": dataset, "task_id": task, **({"revision": revision} if revision is not None else {})},
        "value": round(100 * value, 2),
        **({"date": date} if date is not None else {}),
        "source": {"url": source, "name": "closeread", **({"user": user} if user is not None else {})},
        "notes": signature,
    }
    check([entry], "eval_results", "the evaluation result")
    return entry


def results_path(entry: Entry) -> str:
    """Return the path of an entry's file in the model's repository."""
    scored = [entry["dataset"]["id"], entry["dataset"]["task_id"], entry["notes"]]
    digest = hashlib.sha256(json.dumps(scored).encode()).hexdigest()
    return f".eval_results/closeread-{digest[:16]}.yaml"


def results_file(entry: Entry) -> bytes:
    """Write an entry's file.

    Raises:
        FormatError: the entry breaks the schema.
    """
    check([entry], "eval_results", results_path(entry))
    return dump_yaml([entry])


def propose_results(hub: Hub, model: str, entry: Entry) -> Commit:
    """Open a pull request with a score on the repository of a model.

    Nothing is sent if the repository has the score, or an open or merged pull request adds it; its date doesn't matter.

    Args:
        hub: the Hub.
        model: the model, `org/name`.
        entry: the score.

    Returns:
        The commit of the pull request; `changed` is false if nothing was sent, and `pull_request` is then the earlier
        one, if there is one.

    Raises:
        FormatError: the entry breaks the schema.
        RequestError: there is no such model, or the Hub refuses the pull request.
    """
    path, content, title = results_path(entry), results_file(entry), _make_title(entry)
    repository = Repository(model, "model")
    head = hub.head(repository)
    if head is not None and _is_there(hub, repository, path, content, "main"):
        return Commit(head, repository.url, changed=False)
    for request in hub.pull_requests(repository, all_states=True):
        if request.title != title or request.status not in ("open", "merged"):
            continue
        revision = f"refs/pr/{request.num}"
        if _is_there(hub, repository, path, content, revision):
            sha = hub.head(repository, revision) or ""
            return Commit(sha, request.url, request.num, request.url, changed=False)
    return hub.commit(repository, {path: content}, message=title, description=_describe(entry), pull_request=True)


def _is_there(hub: Hub, repository: Repository, path: str, content: bytes, revision: str) -> bool:
    """Tell whether a revision has a file with this content; the date of the score doesn't matter."""
    try:
        found = hub.read(repository, path, revision, limit=LIMIT)
    except (NoSuchFileError, TooLargeError):
        return False
    return DATE.sub(b"", found) == DATE.sub(b"", content)


def _make_title(entry: Entry) -> str:
    return f"Add the score of {entry['dataset']['id']} ({entry['dataset']['task_id']})"


def _describe(entry: Entry) -> str:
    return (
        f"{entry['value']:.2f} on {entry['dataset']['task_id']} of "
        f"https://huggingface.co/datasets/{entry['dataset']['id']}, scored by closeread.\n\n"
        f"Signature: `{entry['notes']}`. Record: {entry['source']['url']}"
    )
