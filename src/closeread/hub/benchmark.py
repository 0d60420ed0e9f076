"""What makes a dataset on the Hub a benchmark: `eval.yaml`, and the entry of our framework on the Hub's list.

The Hub accepts an `eval.yaml` only if its `evaluation_framework` is on a closed list in the Hub's own code, so the
entry has to be proposed there first.  Until then, a repository is published without the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, metadata

from closeread.corpus.declaration import Corpus
from closeread.exceptions import RequestError
from closeread.hub.front_matter import dump_yaml
from closeread.hub.schemas import check
from closeread.tasks import load_procedure

FRAMEWORK = "closeread"
LIST = "https://github.com/huggingface/huggingface.js, packages/tasks/src/eval.ts"
NOT_TESTED = ("train", "validation", "trial")
"""Splits that systems are trained or tuned on: there is no board for them."""


def task_id(corpus: Corpus, config: str, split: str) -> str:
    """Return the id of a board on the Hub's benchmark page: `mctaco_test`, `tne_unlabeled_test`."""
    parts = [corpus.name, *([] if config == corpus.default_config else [config]), split]
    return "_".join(parts)


def name_task(board: str) -> str:
    """Return the id of the task of a board by the board's name, as `task_id` has it.

    >>> name_task("mctaco/test"), name_task("tne-unlabeled/test")
    ('mctaco_test', 'tne_unlabeled_test')
    """
    return board.replace("-", "_").replace("/", "_")


def make_eval_yaml(corpus: Corpus, splits: Iterable[tuple[str, str]]) -> bytes:
    """Write the `eval.yaml` of a corpus, with a task for each split of its default config that systems are tested on.

    Args:
        corpus: the declaration.
        splits: config and split of what the repository contains.

    Raises:
        RequestError: the repository has no such split.
    """
    tasks = [
        {"id": task_id(corpus, config, split), "config": config, "split": split}
        for config, split in splits
        if config == corpus.default_config != "sample" and split not in NOT_TESTED
    ]
    if not tasks:
        reason = f": {corpus.redistribution}" if corpus.redistribution else ""
        raise RequestError(
            f"eval.yaml lists splits to test systems on, but the repository of {corpus.title} would have none{reason}"
        )
    procedure = load_procedure(corpus.procedure)
    headline = next(metric for metric in procedure.metrics if metric.name == procedure.headline)
    found = {
        "name": corpus.title,
        "description": f"{' '.join(corpus.description.split())} The value is {headline.title} times 100.",
        "evaluation_framework": FRAMEWORK,
        "tasks": tasks,
    }
    check(found, "eval", "eval.yaml")
    return dump_yaml(found)


def framework_entry() -> Mapping[str, str | None]:
    """Return the entry for the Hub's list of evaluation frameworks: key, name, description and url.

    The url is the home page in the package's metadata; None if it names none.
    """
    try:
        about = metadata("closeread")
    except PackageNotFoundError:  # a source folder that was never installed
        return {"key": FRAMEWORK, "name": FRAMEWORK, "description": DESCRIPTION, "url": None}
    pages = dict(item.partition(", ")[::2] for item in about.get_all("Project-URL") or ())
    url = next((pages[name] for name in ("Homepage", "Repository", "Source") if name in pages), None)
    return {"key": FRAMEWORK, "name": FRAMEWORK, "description": DESCRIPTION, "url": url}


DESCRIPTION = (
    "closeread scores careful reading (temporal common sense, timelines, noun phrase relations, coreference), with "
    "confidence intervals, paired tests and signatures."
)


def explain_framework() -> str:
    """Write what to propose upstream before the Hub accepts `eval.yaml`."""
    entry = framework_entry()
    url = json.dumps(entry["url"]) if entry["url"] else '"…"'
    lines = [
        "The Hub accepts eval.yaml only once its evaluation framework is on the Hub's",
        "list, and shows a board only once its staff have listed the dataset as a",
        "benchmark. First propose this entry in",
        f"{LIST}:",
        "",
        f"\t{entry['key']}: {{",
        f"\t\tname: {json.dumps(entry['name'])},",
        f"\t\tdescription:\n\t\t\t{json.dumps(entry['description'])},",
        f"\t\turl: {url},",
        "\t},",
    ]
    if not entry["url"]:
        lines += ["", "The url is the address of closeread's home page or repository."]
    return "\n".join(lines)
