"""Runs of inspect-ai: scores are those of `closeread score` on the rows of the log, and what a log tells of gold."""

import json
import math
from pathlib import Path

import pytest

import closeread
from closeread.exceptions import FormatError, RequestError

pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")

from inspect_ai import eval as run_inspect

from closeread.llm import questions, tasks

pytestmark = [
    pytest.mark.gate,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]

KEY = Path(__file__).parents[2] / "loaders/marmara_coref/sample/annotations/77000112/anna.conll"


@pytest.fixture
def run(tmp_path):
    def run(task, model, **options):
        model = f"closeread/{model}"
        (log,) = run_inspect(
            task, model=model, log_dir=str(tmp_path / "logs"), display="none", **options
        )
        assert log.status == "success", log.error
        return log

    return run


def list_scores(log):
    (scores,) = log.results.scores
    return {name: one.value for name, one in scores.metrics.items()}


def list_rows(log, epoch=1):
    scores = [sample.scores["count_answers"] for sample in log.samples if sample.epoch == epoch]
    return [row for score in scores for row in score.metadata["rows"]]


@pytest.mark.parametrize(
    ("make", "name", "model", "options"),
    [
        (tasks.mctaco, "mctaco", "always-positive", {}),
        (tasks.mctaco, "mctaco", "random", {"ask": "candidate"}),
        (tasks.tne, "tne", "title-last", {}),
        (tasks.timeline, "timeline", "creation-time", {"structured": True}),
        (tasks.coref, "coref", "one-entity", {"gold": str(KEY)}),
        (tasks.coref, "marmara_coref", "one-entity", {}),
        (tasks.coref, "litbank", "one-entity", {"corpus": "litbank"}),
    ],
)
@pytest.mark.filterwarnings("ignore::closeread.CloseReadWarning")
def test_scores_are_those_of_the_rows(make, name, model, options, run):
    place = {"gold": options["gold"]} if "gold" in options else {"config": "sample"}
    log = run(make(**(place | options)), model)
    rows, found = list_rows(log), list_scores(log)
    report = closeread.score(name, rows, **place, missing="empty")
    if name in ("mctaco", "timeline"):
        assert rows == closeread.baseline(name, model, **place)
    assert found.pop("answered") == 1
    assert log.eval.metadata["signature"] == report.provenance.signature
    for score, estimate in report.scores.items():
        for key, value in (
            (score, estimate.value),
            (f"{score} low", estimate.low),
            (f"{score} high", estimate.high),
        ):
            assert found[key] == value or (value is None and math.isnan(found[key])), key


def test_slices_are_scores(run):
    log = run(tasks.mctaco(config="sample"), "always-positive")
    report = closeread.score(
        "mctaco", list_rows(log), config="sample", missing="empty", by="category"
    )
    scores = list_scores(log)
    assert all(
        scores[f"f1 {value}"] == part.scores["f1"].value
        for value, part in report.slices["category"].items()
    )


def test_a_log_has_rows_and_counts_but_no_label(run):
    log = run(tasks.mctaco(config="sample"), "always-negative")
    sample, gold = log.samples[0], closeread.load_dataset("mctaco", "sample")["test"][0]
    assert sample.scores["count_answers"].metadata["counts"]["candidates"] == 5
    assert '"label": "yes"' not in json.dumps(sample.model_dump(mode="json"))
    assert gold["question"] in sample.input
    assert sample.target == ""


@pytest.mark.parametrize("ask", ["question", "candidate"])
def test_a_log_of_own_gold_tells_nothing_of_single_questions(ask, run, tmp_path):
    rows = list(closeread.load_dataset("mctaco", "sample")["test"])
    same, other = {"yes": "yes", "no": "no"}, {"yes": "no", "no": "yes"}
    seen = []
    for name, labels in (("same", same), ("other", other)):
        gold = tmp_path / f"{name}.jsonl"
        lines = [json.dumps({**row, "label": labels[row["label"]]}) for row in rows]
        gold.write_text("\n".join(lines) + "\n", "utf-8")
        log = run(tasks.mctaco(gold=str(gold), ask=ask), "always-positive")
        scores = [sample.scores["count_answers"] for sample in log.samples]
        seen.append([score.model_dump(exclude={"history"}) for score in scores])
        expected = closeread.score("mctaco", list_rows(log), gold=gold, ci=False)
        assert list_scores(log)["f1"] == expected.scores["f1"].value
    assert seen[0] == seen[1]
    assert {score["value"] for score in seen[0]} == {1.0}
    assert not any("counts" in score["metadata"] for score in seen[0])


def test_counts_are_averaged_over_epochs(run):
    log = run(tasks.mctaco(config="sample"), "random", epochs=2)
    rows = [list_rows(log, epoch) for epoch in (1, 2)]
    assert rows[0] != rows[1]
    reports = [closeread.score("mctaco", one, config="sample", missing="empty") for one in rows]
    assert list_scores(log)["f1"] == pytest.approx(
        sum(one.scores["f1"].value for one in reports) / 2, abs=1e-12
    )
    assert log.eval.config.epochs == 2


def test_an_answer_that_cannot_be_read_is_an_empty_prediction(run, tmp_path):
    (tmp_path / "answers.jsonl").write_text(
        '{"id": "test-q0000", "answer": "I would rather not."}\n'
    )
    log = run(
        tasks.mctaco(config="sample"),
        "replay",
        model_args={"answers": str(tmp_path / "answers.jsonl")},
    )
    reasons = [sample.scores["count_answers"].reason for sample in log.samples]
    assert (reasons[0], set(reasons[1:])) == ("no JSON", {"nothing"})
    scores = list_scores(log)
    assert scores["answered"] == scores["exact_match"] == 0
    report = closeread.score("mctaco", [], config="sample", missing="empty")
    assert scores["f1"] == report.scores["f1"].value


def test_answers_to_replay_may_have_several_lines_and_are_checked(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"id": "a", "answer": "Sure:\\n```json\\n{}\\n```"}\n', "utf-8")
    assert tasks.read_answers(path) == {"a": "Sure:\n```json\n{}\n```"}
    path.write_text('{"id": "a", "label": "yes"}\n{"id": 1, "answer": ""}\nx\n', "utf-8")
    with pytest.raises(
        FormatError, match=r":1: expected an object such as .*\(2 times; also line 2\)"
    ) as caught:
        tasks.read_answers(path)
    assert [problem.line for problem in caught.value.problems] == [1, 2, 3]


def test_windows_are_merged(run, monkeypatch):
    monkeypatch.setattr(questions.list_windows, "__defaults__", (40,))
    log = run(tasks.coref(gold=str(KEY)), "one-entity")
    (row,) = list_rows(log)
    assert len(log.samples[0].metadata["prompts"]) == 3
    (chain,) = row["clusters"]
    assert [0, 0] in chain
    assert [72, 72] in chain


def test_structured_answers_have_a_schema():
    config = tasks.mctaco(config="sample", structured=True).config
    assert config.response_schema.json_schema.required == ["labels"]


def test_bad_arguments():
    with pytest.raises(RequestError, match="or a key by gold=FILE"):
        tasks.coref()
    with pytest.raises(RequestError, match="mctaco is no corpus of the task coref"):
        tasks.coref(corpus="mctaco", config="sample")
    with pytest.raises(RequestError, match="Did you mean 'candidate'"):
        tasks.mctaco(config="sample", ask="candidates")
    with pytest.raises(RequestError, match=r"shots is -1 \(expected a whole number from 0\)"):
        tasks.mctaco(config="sample", shots=-1)
    with pytest.raises(RequestError, match="articles is an argument of wikipossessions only"):
        tasks.tne(config="sample", articles="nowhere")
    with pytest.raises(RequestError, match="ask is an argument of mctaco only"):
        tasks.tne(config="sample", ask="candidate")


def test_every_task_describes_its_arguments():
    for task in (tasks.mctaco, tasks.tne, tasks.wikipossessions, tasks.timeline, tasks.coref):
        assert "shots: the number of examples in the prompt." in task.__doc__
