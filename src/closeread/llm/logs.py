"""Logs of inspect-ai's runs of our tasks: the rows of each epoch, and what is known about the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile, is_zipfile

from closeread.exceptions import (
    FormatError,
    MissingExtraError,
    Problem,
    RequestError,
    describe_excess,
    pluralize,
    quote,
)
from closeread.json_schema import check_json
from closeread.llm.questions import Exam, make_exam
from closeread.records import Record


@dataclass(frozen=True)
class Log:
    """What a model answered, and how it was asked.

    Attributes:
        path: the file.
        procedure: the name of the procedure that scores the answers.
        corpus: its name, or that of the procedure if it is scored by a key of the user's: the first argument of
            `closeread.score`.
        config, split: the part of the corpus; None for gold of the user's.
        options: options of the procedure that differ from its defaults, for `closeread.score`.
        gold: the path of the gold file as the log has it, for people; None for the corpus.
        exam: how the questions were asked: the prompt's number, the examples, and the rest of `questions.Exam`.
        model: its name, as inspect has it.
        epochs: how many times each question was asked.
        rows: for each epoch, the rows of a submission.
        answered: the share of answers that could be read, from 0 to 1.
        corrected: how many answers had other values before, of which the last counted.
        input_tokens, output_tokens: of all questions.
        cost: in dollars; None if the log does not tell.
        version: of closeread when the log was written.
        signature, gold_digest: of the score of all units.
    """

    path: Path
    procedure: str
    corpus: str
    config: str | None
    split: str | None
    options: Mapping[str, str]
    gold: str | None
    exam: Exam
    model: str
    epochs: int
    rows: Sequence[Sequence[Record]]
    answered: float
    corrected: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    version: str
    signature: str
    gold_digest: str

    @property
    def description(self) -> str:
        """The model and how it was asked, in a line: settings that make different systems of one model."""
        exam = self.exam
        parts = [self.model, f"prompt {exam.prompt}"]
        if self.procedure == "mctaco":
            parts.append(f"ask={exam.ask}")
        parts.append(f"structured={str(exam.structured).lower()}")
        parts.append(f"shots={exam.shots}")
        if exam.shots:
            parts.append(f"seed={exam.seed}")
            if exam.examples is not None:
                parts.append(f"examples={Path(exam.examples).name}")
        return ", ".join([*parts, f"closeread {self.version}"])


def read_log(path: str | Path) -> Log:
    """Read a log that `inspect eval closeread/…` wrote.

    No path that the log names is opened; whether gold of the user's is the same as then is not checked.

    Raises:
        FormatError: the file is no log, is that of another task, is cut short, or has another version of a corpus.
        MissingExtraError: inspect-ai is not installed.
    """
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        raise MissingExtraError(
            "reading a log, also by closeread llm rows,", "inspect-ai", extra="llm"
        ) from error
    path = Path(path)

    def refuse(message: str) -> FormatError:
        return FormatError(path, [Problem(message)])

    if not path.is_file():
        raise refuse("does not exist")
    try:
        excess = describe_excess(_find_size(path), "bytes, unpacked")
        log = None if excess else read_eval_log(str(path))
    except Exception as error:  # of any kind, from readers of ZIP and JSON
        raise refuse("is not a log of inspect-ai") from error
    if log is None:
        raise refuse(str(excess))
    metadata: dict[str, Any] = log.eval.metadata or {}
    if "closeread" not in metadata:
        raise refuse(
            f"is a log of the task {quote(log.eval.task)} (expected a task of closeread's)"
        )
    answers = []
    n_read = 0
    for sample in log.samples or ():
        score = (sample.scores or {}).get("count_answers")
        if score is not None:
            answers.append({**(score.metadata or {}), "epoch": sample.epoch})
            n_read += score.reason is None
    epochs = 1 if log.eval.config.epochs is None else log.eval.config.epochs
    usage = _sum_usage(log.stats.model_usage.values())
    content = {"metadata": metadata, "model": log.eval.model, "epochs": epochs, "answers": answers}
    check_json(content | usage, "closeread.llm/log.schema.json#log", path)
    expected = metadata["samples"] * epochs
    if log.status != "success" or len(answers) < expected:
        raise refuse(
            f"is cut short: it has {len(answers):,} of {pluralize(expected, 'answer')} (status: {log.status})"
        )
    for epoch, n_answers in Counter(answer["epoch"] for answer in answers).items():
        if epoch > epochs or n_answers != metadata["samples"]:
            raise refuse(
                f"has {pluralize(n_answers, 'answer')} of epoch {epoch}"
                f" (expected {metadata['samples']:,} of each of {pluralize(epochs, 'epoch')})"
            )
    exam = make_exam(metadata["exam"], path)
    signature = metadata["signature"]
    try:
        procedure = exam.procedure
        if exam.gold is None:  # a log may name any path, so none is opened
            signature = exam.scorer.expected_signature()
    except RequestError as error:  # such as a config that the corpus does not have
        raise refuse(str(error)) from None
    if procedure != metadata["procedure"]:
        raise refuse(f"is of {procedure}, but says {quote(metadata['procedure'])}")
    if signature != metadata["signature"]:
        raise refuse(
            f"was written with other gold or options: its signature is {metadata['signature']} (expected {signature})"
        )
    rows: list[list[Record]] = [[] for _ in range(epochs)]
    for answer in answers:
        rows[answer["epoch"] - 1] += answer["rows"]
    n_corrected = sum(bool(answer.get("corrected")) for answer in answers)
    return Log(
        path,
        procedure,
        exam.name,
        exam.config,
        exam.split,
        options={"missing": "empty"},
        gold=exam.gold,
        exam=exam,
        model=log.eval.model,
        epochs=epochs,
        rows=rows,
        answered=n_read / len(answers),
        corrected=n_corrected,
        **usage,
        version=metadata["closeread"],
        signature=signature,
        gold_digest=metadata["gold"],
    )


def _find_size(path: Path) -> int:
    """Return the bytes of a log, those of all members if it is an archive."""
    if not is_zipfile(path):
        return path.stat().st_size
    with ZipFile(path) as archive:
        return sum(member.file_size for member in archive.infolist())


def _sum_usage(usage: Collection[Any]) -> dict[str, Any]:
    """Return the tokens of all models, and the cost if it is known of each."""
    costs = [model.total_cost for model in usage]
    input_tokens = 0
    for model in usage:
        input_tokens += model.input_tokens
        input_tokens += (model.input_tokens_cache_read or 0) + (model.input_tokens_cache_write or 0)
    return {
        "input_tokens": input_tokens,
        "output_tokens": sum(model.output_tokens for model in usage),
        "cost": sum(costs) if costs and None not in costs else None,
    }
