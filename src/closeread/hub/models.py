"""The repository of a trained model: the files that `from_pretrained` reads, and a model card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from closeread.counts.report import Report
from closeread.exceptions import FormatError, Problem, RequestError, escape
from closeread.hub.cards import check_card, join_card
from closeread.hub.client import NAME
from closeread.neural.run_files import COMPLETE, RUN, read_run
from closeread.tables import escape_markdown, percent

SUFFIXES = (".json", ".model", ".safetensors", ".txt")
"""Of the files of a run that are published: the model, its tokenizer and `run.json`."""

WEIGHTS = "model.safetensors"


class ModelKind(NamedTuple):
    """What a card says of the models of a task.

    Attributes:
        title: what such a model is.
        description: what it does, in a sentence.
        pipeline: the name of the Hub's task; empty if none fits.
        usage: how to load it, in Python.
    """

    title: str
    description: str
    pipeline: str
    usage: str


KINDS = {
    "mctaco": ModelKind(
        "classifier of McTaco's candidate answers",
        "It decides whether an answer to a question about time is plausible, from a sentence and the question.",
        "text-classification",
        """from transformers import pipeline

classify = pipeline("text-classification", "{repository}")
pair = {{"text": "The ferry was late. How late was it?", "text_pair": "an hour"}}
print(classify(pair))
""",
    ),
    "tne": ModelKind(
        "model of TNE's links between noun phrases",
        "It decides which noun phrases of a text are linked, and by which preposition.",
        "",
        """from closeread.neural.links import LinkModel

model = LinkModel.from_pretrained("{repository}")
""",
    ),
}


def model_files(
    folder: Path, reports: Sequence[Report], repository: str
) -> dict[str, bytes | Path]:
    """Return the files of a model's repository by path, from the folder of its run.

    Raises:
        FormatError: the folder has no complete run, or no model.
        RequestError: a report is not of the run's task.
    """
    run = read_run(folder)
    if run["state"] != COMPLETE:
        raise FormatError(
            folder / RUN, [Problem("the run is not complete (expected state complete)")]
        )
    if not (folder / WEIGHTS).is_file():
        raise FormatError(folder / WEIGHTS, [Problem("does not exist (expected a trained model)")])
    for report in reports:
        procedure = report.provenance.procedure
        if procedure != run["task"]:
            raise RequestError(f"a report is of {procedure}, and the run of {run['task']}")
    files: dict[str, bytes | Path] = {"README.md": make_card(run, reports, repository)}
    for path in folder.iterdir():
        if path.is_file() and path.suffix in SUFFIXES:
            files[path.name] = path
    return files


def make_card(run: Mapping[str, Any], reports: Sequence[Report], repository: str) -> bytes:
    """Return the model card of a run: how to load the model, its data, its settings and its scores."""
    kind = KINDS[run["task"]]
    front: dict[str, Any] = {"library_name": "transformers", "language": ["en"]}
    if kind.pipeline:
        front["pipeline_tag"] = kind.pipeline
    front["tags"] = ["closeread", run["task"]]
    encoder = run["model"].get("encoder") or run["model"]["name"]
    # The encoder may also be a folder of the author's, which the Hub does not know.
    if NAME.fullmatch(encoder) and not Path(encoder).exists():
        front["base_model"] = encoder
    data = dict(run["data"])
    if isinstance(data["validation"], float):
        data["validation"] = f"{data['validation']:g} of the training sentences"
    settings = {**run["model"], **run["setting"], "closeread": run["closeread"], **run["versions"]}
    settings.pop("labels")
    name = repository.partition("/")[2]
    sections = [
        f"# {name}",
        f"A {kind.title}, trained by closeread. {kind.description}",
        f"```python\n{kind.usage.format(repository=repository)}```",
        "## Data",
        "What it was trained on, and what the best epoch was chosen by; files are named by the digests of their gold.",
        _list_values(data),
        "## Settings",
        _list_values(settings),
        "## Scores",
        *_describe_scores(run, reports),
    ]
    card = join_card(front, "\n\n".join(sections) + "\n")
    check_card(card, "model_card")
    return card


def _describe_scores(run: Mapping[str, Any], reports: Sequence[Report]) -> list[str]:
    """Return the paragraphs on scores: those of reports with their intervals and signatures, and those in training."""
    paragraphs = [report.to_markdown() for report in reports]
    scores = dict(run["best"])
    epoch = scores.pop("epoch")
    percentages = {name: percent(score) for name, score in scores.items()}
    paragraphs.append(
        f"On the validation data, by which epoch {epoch} of {len(run['epochs'])} was chosen, in percent; "
        "scores on data that a model was chosen by are too high:"
    )
    paragraphs.append(_list_values(percentages))
    return paragraphs


def _list_values(values: Mapping[str, Any]) -> str:
    """Return values as a list in Markdown."""
    lines = []
    for name, value in values.items():
        text = escape_markdown(escape(str(value)))
        lines.append(f"- {escape_markdown(name)}: {text}")
    return "\n".join(lines)
