"""The pages of a competition and the guides for organisers and participants, in Markdown.

Texts come from the procedure and the corpus; organisers are expected to edit them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from closeread.corpus.declaration import Corpus
from closeread.corpus.names import load_corpus
from closeread.corpus.schema import fields, load_schema
from closeread.leaderboard.codabench.program import accepts_folders
from closeread.leaderboard.declaration import Board
from closeread.tables import Grid, Markup, draw

SAMPLE_GOLD, SAMPLE_PREDICTIONS = "sample_gold.jsonl", "sample_predictions.jsonl"


@dataclass(frozen=True)
class Task:
    """What the pages are about."""

    board: Board  # the board
    title: str  # the title of the competition
    samples: Sequence[str]  # the names of the files with invented data in the starting kit
    docker_image: str  # the image that scores
    requirements: Sequence[str]  # the libraries that scoring needs

    @property
    def corpus(self) -> Corpus | None:
        """The corpus; None if the key is in a format of its own."""
        return None if self.board.corpus is None else load_corpus(self.board.corpus)


def overview(task: Task) -> str:
    """Return the page that introduces the task."""
    board, corpus = task.board, task.corpus
    headline = next(metric.title for metric in board.procedure.metrics if metric.name == board.headline)
    about = "" if corpus is None else f"{corpus.description}\n\nMore: <{corpus.homepage}>\n\n"
    check = "" if board.own_gold else f"2. Check them: `{_command('validate', board)}`.\n"
    citation = board.procedure.citation or (corpus.citation if corpus else "")
    return (
        f"# {task.title}\n\n{about}"
        f"Scores: {board.procedure.title}. Systems are ranked by {headline}.\n\n"
        "## How to take part\n\n"
        "1. Get the data (page *Data*) and write your system's predictions.\n"
        f"{check}"
        f"{3 if check else 2}. Put {_describe_files(board)} into a zip file and upload it under *My Submissions*.\n\n"
        "A submission that is not valid is not scored; its detailed results list all its problems.\n"
        + (f"\n## Citation\n\n```bibtex\n{citation}\n```\n" if citation else "")
    )


def evaluation(task: Task) -> str:
    """Return the page that explains the scores."""
    procedure, options = task.board.procedure, task.board.options
    scores = [[metric.title, metric.description] for metric in procedure.metrics]
    values = [
        [Markup(f"`{one.name}`"), Markup(f"`{options[one.name]}`"), Markup(one.help)]
        for one in procedure.options
        if options[one.name]
    ]
    chosen = draw(Grid("", ["option", "value", "description"], values), "markdown")
    resampling = task.board.resampling
    return (
        f"# Evaluation\n\nScores are those of closeread, times 100.\n\n"
        f"{draw(Grid('', ['score', 'description'], scores), 'markdown')}\n"
        "An undefined score (0/0) without a conventional value is 0 on the leaderboard.\n\n"
        f"{f'## Options{chr(10) * 2}{chosen}{chr(10)}' if values else ''}"
        "## Intervals\n\n"
        f"Detailed results show {resampling.confidence:.0%} bootstrap intervals: {resampling.n_resamples:,} resamples "
        f"of {procedure.resampling_unit}s, seed {resampling.seed}. "
        "Systems whose intervals overlap widely may not differ.\n\n"
        "## Signature\n\n"
        f"Scores with this signature are comparable, wherever they were computed:\n\n"
        f"```text\n{task.board.signature}\n```\n"
    )


def terms(task: Task) -> str:
    """Return the terms that participants accept."""
    corpus = task.corpus
    data = "" if corpus is None else f"- Licence of the data ({corpus.title}): {corpus.licence}.\n"
    return (
        "# Terms\n\n"
        f"{data}"
        "- Submit the output of a system. Do not annotate the test data by hand, and do not use its gold annotation.\n"
        "- Submit under one account only.\n"
        "- Organisers may publish scores and the names of systems and teams.\n"
    )


def data(task: Task) -> str:
    """Return the page that tells how to get the data, and what predictions look like."""
    board, corpus = task.board, task.corpus
    if corpus is None:
        return (
            "# Data\n\nThe organisers distribute the data.\n\n"
            f"## Predictions\n\n{_describe_files(board, start=True)} in one of the formats of `closeread score "
            f"{board.scored}`; see `closeread score {board.scored} --help`.\n"
        )
    if board.own_gold:
        access = "The organisers distribute the data.\n"
    else:
        part = f'"{corpus.name}"' + ("" if board.config == corpus.default_config else f', "{board.config}"')
        access = (
            f"Source: <{corpus.homepage}>. Licence: {corpus.licence}.\n\n```python\nimport closeread\n\n"
            f'gold = closeread.load_dataset({part}, split="{board.split}")\n```\n'
        )
    described = [
        [Markup(f"`{one.name}`"), one.type, Markup(one.description)]
        for one in fields(load_schema(corpus.schema), "submission")
    ]
    table = draw(Grid("", ["field", "type", "description"], described), "markdown")
    kit = "\nThe starting kit has invented examples.\n" if task.samples else ""
    return (
        f"# Data\n\n{access}\n## Predictions\n\n{_describe_files(board, start=True)}: JSON Lines (`.jsonl`), one "
        f"object per line, in UTF-8. At most {board.limits.bytes:,} bytes.\n\n{table}{kit}"
    )


def starting_kit(task: Task) -> str:
    """Return the guide for participants in the starting kit."""
    text = f"# {task.title}: starting kit\n\nThe page *Data* of the competition says what predictions look like.\n"
    if SAMPLE_GOLD in task.samples:
        text += f"\n- `{SAMPLE_GOLD}`: invented gold records.\n"
    if SAMPLE_PREDICTIONS in task.samples:
        scored = f"closeread score {task.board.scored} {SAMPLE_PREDICTIONS} --gold {SAMPLE_GOLD}"
        text += f"- `{SAMPLE_PREDICTIONS}`: predictions of a baseline for them, in the format of submissions.\n"
        text += f"\n```bash\n{scored}\n```\n"
    return text


def readme(task: Task) -> str:
    """Return the guide for organisers."""
    lines = "".join(f"- `{one}`\n" for one in task.requirements)
    return (
        f"# {task.title}: bundle for Codabench\n\n"
        "Zip the contents of this folder, without the folder itself, or write the zip file with `--zip`. Upload it "
        "under *Benchmarks > Management > Upload*.\n\n"
        "**`reference_data` is the gold. Do not publish this bundle.** Only the platform's scoring reads the gold; "
        "participants see scores, intervals and slices of at least 10 units.\n\n"
        "Edit `competition.yaml` and the pages in `pages/` as you like. Keep dates in quotation marks: Codabench drops "
        "the time of a date without them. Keep the keys of columns.\n\n"
        "## The image\n\n"
        f"Submissions are scored in `{task.docker_image}` (`docker_image` in `competition.yaml`). Scoring needs Python "
        f"3.11 or newer and these libraries, in the versions with which this bundle was made:\n\n{lines}\n"
        "closeread itself is in `scoring_program` and needs no network. Libraries that the image lacks, or has in "
        "other versions, are installed at every submission: from wheels in `scoring_program`, or else from the package "
        "index, which takes time and fails where containers have no network. Codabench's own images lack some of "
        "them. For more than a few submissions, build an image once and set its name:\n\n"
        "```bash\ndocker build -t NAME scoring_program && docker push NAME\n```\n"
    )


def dockerfile() -> str:
    """Return the recipe of an image that has everything that scoring needs."""
    return (
        "FROM python:3.12-slim\nCOPY requirements.txt /tmp/\nRUN pip install --no-cache-dir -r /tmp/requirements.txt\n"
    )


def _describe_files(board: Board, *, start: bool = False) -> str:
    what = "one file of predictions, or a folder of them" if accepts_folders(board) else "one file of predictions"
    return what[0].upper() + what[1:] if start else what


def _command(name: str, board: Board) -> str:
    """Return a command on a part of a corpus."""
    corpus = load_corpus(board.scored) if board.corpus == board.scored else None
    config = "" if corpus is None or board.config == corpus.default_config else f" --config {board.config}"
    return f"closeread {name} {board.scored} predictions.jsonl{config} --split {board.split}"
