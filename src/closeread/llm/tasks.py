"""Tasks of inspect-ai, such as `inspect eval closeread/mctaco`, and models without weights to try them with.

A sample is a question about one unit (one candidate, if McTaco's are asked about one by one).  Its log holds the rows
that were read of the answer and, unless gold is the user's own, the unit's counts and headline score, from which parts
of the gold can be inferred.  Scores are computed from summed counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from anyio.to_thread import run_sync
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    ResponseSchema,
    get_model,
    modelapi,
)
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolChoice, ToolInfo
from inspect_ai.util import JSONSchema

from closeread._version import __version__
from closeread.corpus.baselines import load_baseline
from closeread.corpus.names import corpus_names, find_corpus, load_corpus
from closeread.exceptions import InputError, Problem, ProblemList, RequestError, describe_unknown
from closeread.formats.json_lines import parse_json_lines
from closeread.formats.text import read_lines
from closeread.json_schema import LONE_SURROGATE
from closeread.llm.answers import Answer, answer_schema, merge_answers, read_answer, write_answer
from closeread.llm.questions import Exam, make_exam
from closeread.llm.scores import average_epochs, count_unit
from closeread.records import Record
from closeread.signatures import Range, check_ranges

NAN = float("nan")

ARGUMENTS = """
Args:
    config, split: the part of the corpus.
    corpus: a corpus of coreference, such as litbank; of the task coref only.
    gold: a file of gold of your own.
    ask: "question" for all candidate answers of a question of McTaco at once, or "candidate" for one at a time.
    shots: the number of examples in the prompt.
    examples: a file of gold that they are from; without it, the training or development split.
    seed: of the choice of examples.
    prompt: the number of the prompt.
    structured: whether the answer must follow a JSON Schema.
    articles: a folder with the texts of the articles of WikiPossessions.
"""


def _make_task_function(title: str, task_corpus: str, docstring: str) -> Callable[..., Task]:
    """Return the task of a corpus or a procedure."""

    def ask_questions(
        config: str | None = None,
        split: str | None = None,
        gold: str | None = None,
        ask: str = "question",
        shots: int = 0,
        examples: str | None = None,
        seed: int = 0,
        prompt: int = 1,
        structured: bool = False,
        articles: str | None = None,
        corpus: str | None = None,
    ) -> Task:
        name = task_corpus if corpus is None else corpus
        if corpus is not None and load_corpus(corpus).procedure != task_corpus:
            raise RequestError(f"{corpus} is no corpus of the task {title}; leave corpus out")
        # Without a key, the documents of Marmara, such as those of its sample, are tried.
        if name == "coref" and gold is None and config:
            name = "marmara_coref"
        exam = Exam(
            name, config, split, gold, ask, shots, examples, seed, prompt, structured, articles
        )
        return make_task(exam)

    ask_questions.__name__ = title
    ask_questions.__doc__ = f"{docstring}\n{ARGUMENTS}"
    return task(name=title)(ask_questions)


mctaco = _make_task_function(
    "mctaco", "mctaco", "Ask which answers to questions about time are plausible."
)
tne = _make_task_function(
    "tne", "tne", "Ask which noun phrases of a text are related, and by which preposition."
)
wikipossessions = _make_task_function(
    "wikipossessions", "wikipossessions", "Ask who possessed an artifact, when, and in which order."
)
timeline = _make_task_function(
    "timeline",
    "semeval2015_timeline",
    "Ask which events involve an entity, in which order and when.",
)
coref = _make_task_function(
    "coref", "coref", "Ask which mentions in the documents of a key refer to the same entity."
)


def make_task(exam: Exam) -> Task:
    """Return the task that asks an exam's questions."""
    check_exam(exam)
    description = exam.describe()
    samples = []
    for question in exam.list_questions():
        metadata = {
            "exam": description,
            "unit": question.unit,
            "prompts": question.prompts,
            "about": [window.subject for window in question.windows],
        }
        samples.append(Sample(input=question.prompts[0], id=question.id, metadata=metadata))
    config = GenerateConfig()
    if exam.structured:
        schema = JSONSchema.model_validate(answer_schema(exam.procedure, exam.ask))
        config = GenerateConfig(
            response_schema=ResponseSchema(name="answer", json_schema=schema, strict=True)
        )
    signature = exam.scorer.expected_signature()
    return Task(
        dataset=MemoryDataset(samples, name=f"closeread/{exam.procedure}"),
        solver=ask_windows(),
        scorer=count_answers(),
        config=config,
        version=1,
        metadata={
            "closeread": __version__,
            "procedure": exam.procedure,
            "exam": description,
            "signature": signature,
            "gold": signature.rpartition("gold:")[2],
            "samples": len(samples),
        },
    )


def check_exam(exam: Exam) -> None:
    """Check the arguments of a task, which inspect takes from the command line as they are.

    Raises:
        RequestError: an argument is wrong, or is one of another task.
    """
    for argument in ("shots", "seed", "prompt"):
        check_ranges({argument: getattr(exam, argument)}, {argument: (Range(0),)})
    if exam.ask not in ("question", "candidate"):
        raise RequestError(describe_unknown("ask", exam.ask, ["question", "candidate"]))
    if exam.ask != "question" and exam.procedure != "mctaco":
        raise RequestError("ask is an argument of mctaco only")
    if exam.articles is not None and exam.procedure != "wikipossessions":
        raise RequestError("articles is an argument of wikipossessions only")
    if exam.name == "coref" and exam.gold is None:
        raise RequestError(
            "coref has no corpus of its own; name one by corpus=NAME or a key by gold=FILE, or try config=sample"
        )


@solver
def ask_windows() -> Solver:
    """Ask a question, once for each window of a text."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        answers = []
        state.messages = []
        for number, prompt in enumerate(state.metadata["prompts"]):
            metadata = {
                "exam": state.metadata["exam"],
                "id": state.sample_id,
                "epoch": state.epoch,
                "window": number,
                "about": state.metadata["about"][number],
            }
            message = ChatMessageUser(content=prompt, metadata=metadata)
            state.output = await get_model().generate([message])
            state.messages += [message, state.output.message]
            answers.append(state.output.completion)
        state.store.set("answers", answers)
        return state

    return solve


@metric(scores="unreduced")
def scores_from_counts() -> Metric:
    """Return all scores, with intervals and slices as soon as all questions are answered, and the share of answers."""

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        if not scores:
            return {"answered": NAN}
        exam = open_exam((scores[0].sample_metadata or {})["exam"])
        epochs: list[dict[str, list[Record]]] = []
        n_read = 0
        for sample in scores:
            n_read += sample.score.reason is None
            answer = sample.score.metadata or {}
            while len(epochs) < answer["epoch"]:
                epochs.append({})
            epochs[answer["epoch"] - 1].setdefault(answer["unit"], []).extend(answer["rows"])
        is_complete = all(len(rows_by_unit) == len(exam.units) for rows_by_unit in epochs)
        report = average_epochs(exam, epochs, ci=is_complete)
        values: dict[str, float | None] = {"answered": n_read / len(scores)}
        for name, estimate in report.scores.items():
            values[name] = estimate.value
            values[f"{name} low"] = estimate.low
            values[f"{name} high"] = estimate.high
        for slices in report.slices.values():
            for label, part in slices.items():
                for name, estimate in part.scores.items():
                    values[f"{name} {label}"] = estimate.value
        return {name: NAN if value is None else value for name, value in values.items()}

    return compute


@scorer(metrics=[scores_from_counts()])
def count_answers() -> Scorer:
    """Read the answers to a question, and count them; an answer that can't be read is an empty prediction."""

    async def score(state: TaskState, target: Target) -> Score:
        exam = open_exam(state.metadata["exam"])
        unit = state.metadata["unit"]
        texts = state.store.get("answers") or [state.output.completion]
        answers = []
        for text, subject in zip(texts, state.metadata["about"], strict=True):
            answers.append(read_answer(exam.procedure, text, subject))
        answer = merge_answers(exam.procedure, answers)
        refused = state.output.stop_reason == "content_filter"
        metadata: dict[str, Any] = {
            "unit": unit,
            "epoch": state.epoch,
            "dropped": answer.dropped,
            "corrected": answer.is_corrected,
        }
        try:
            counts = await run_sync(count_unit, exam, unit, answer.rows)
        except InputError as error:
            answer = Answer(reason=str(error))
            counts = await run_sync(count_unit, exam, unit, [])
        metadata["rows"] = answer.rows
        # Counts and scores of single units would give own gold away: the value only tells that the answer was read.
        value = float(answer.reason is None)
        if exam.gold is None:
            value = counts.report(ci=False).scores[exam.scorer.procedure.headline].value or 0.0
        if exam.gold is None and exam.ask == "question":
            values = counts.table.values[0].tolist()
            metadata["counts"] = dict(zip(counts.table.names, values, strict=True))
        reason = "refused" if refused and answer.reason else answer.reason
        return Score(value=value, answer="\n".join(texts), reason=reason, metadata=metadata)

    return score


# Models


class BaselineModel(ModelAPI):
    """A baseline whose predictions are written as answers, or answers that are in a file.

    `closeread/always-positive` is the baseline of that name; `-M` sets its options, and a seed is one higher in each
    epoch.  `closeread/replay -M answers=FILE` answers from JSON Lines such as {"id": "test-q0000", "answer": "…"}; the
    answer of a text in windows is a list.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 (as inspect's own)
        answers: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self.options = options
        self.answers: dict[str, Any] = {}
        if model_name == "replay":
            if answers is None:
                raise RequestError("closeread/replay needs -M answers=FILE")
            self.answers = read_answers(Path(answers))

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002 (as inspect's own)
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Return the answer to the question of which the message's metadata tells."""
        question = input[-1].metadata or {}
        if "exam" not in question:
            raise RequestError("the models of closeread answer questions of closeread's tasks only")
        if self.model_name == "replay":
            answer = self.answers.get(question["id"], "")
            if isinstance(answer, list):
                answer = answer[question["window"]]
        else:
            answer = self._predict(question)
        n_input = len(input[-1].text.split())
        n_output = len(answer.split())
        output = ModelOutput.from_content(f"closeread/{self.model_name}", answer)
        output.usage = ModelUsage(
            input_tokens=n_input, output_tokens=n_output, total_tokens=n_input + n_output
        )
        return output

    def _predict(self, question: dict[str, Any]) -> str:
        """Write a baseline's predictions as the answer to a question."""
        exam = open_exam(question["exam"])
        key = "document"
        if exam.procedure != "coref":
            key = find_corpus(exam.name).key
        subject = question["about"]
        names = subject.get("ids") or [subject.get(key)]
        predictions = predict(question["exam"], self.model_name, self.options, question["epoch"])
        rows = [row for row in predictions if row[key] in names]
        return write_answer(exam.procedure, rows, subject, structured=exam.structured)


def read_answers(path: Path) -> dict[str, Any]:
    """Read the answers to replay, by the id of the question; they may have line ends."""
    parsed = parse_json_lines(read_lines(path), LONE_SURROGATE)
    answers = {}
    for row, line in zip(parsed.records, parsed.lines, strict=True):
        question = row.get("id")
        answer = row.get("answer")
        if isinstance(question, str) and isinstance(answer, str | list):
            answers[question] = answer
        else:
            message = "expected an object such as {'id': 'test-q0000', 'answer': '...'}"
            parsed.problems.append(Problem(message, line))
    ProblemList(parsed.problems).raise_any(path)
    return answers


@modelapi(name="closeread")
def baseline_models() -> type[ModelAPI]:
    """Return the provider of `closeread/always-positive` and the other baselines, and of `closeread/replay`."""
    return BaselineModel


def open_exam(description: dict[str, Any]) -> Exam:
    """Return an exam from what a log says of it; its gold is read once."""
    return _open_exam(json.dumps(description, sort_keys=True))


@cache
def _open_exam(description: str) -> Exam:
    return make_exam(json.loads(description), "the metadata")


def predict(
    description: dict[str, Any], name: str, options: dict[str, Any], epoch: int
) -> Sequence[Record]:
    """Return the predictions of a baseline for all units of an exam."""
    return _predict(open_exam(description), name, json.dumps(options, sort_keys=True), epoch)


@cache
def _predict(exam: Exam, name: str, options: str, epoch: int) -> Sequence[Record]:
    arguments = json.loads(options)
    corpora = [
        corpus for corpus in corpus_names() if load_corpus(corpus).procedure == exam.procedure
    ]
    baseline = load_baseline(corpora[0], name)
    if "seed" in [option.name for option in baseline.options]:
        arguments["seed"] = int(arguments.get("seed", 0)) + epoch - 1
    return baseline.predict(exam.scorer.gold.records, **arguments)
