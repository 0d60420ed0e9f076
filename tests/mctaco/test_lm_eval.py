"""The task of McTaco for lm-evaluation-harness: its questions, its labels, and the scores of closeread."""

import math
from pathlib import Path

import numpy as np
import pytest
from shared.entry_points import sample_gold

import closeread
from closeread.llm.lm_eval import mctaco

SCORES = {"exact_match": mctaco.average_exact_match, "f1": mctaco.average_f1}


@pytest.fixture(scope="module")
def questions():
    return list(mctaco.load_questions(config="sample", version=1.0)["test"])


def test_a_document_is_a_question_with_the_text_of_its_candidates(questions):
    gold = list(sample_gold("mctaco"))
    names = dict.fromkeys(row["question_id"] for row in gold)
    of_questions = [[row for row in gold if row["question_id"] == name] for name in names]
    assert [one["candidates"] for one in questions] == of_questions
    for one in questions:
        first = one["candidates"][0]
        assert one["text"] == f"{first['sentence']} {first['question']}"
        assert one["answers"] == [row["answer"] for row in one["candidates"]]


def label(questions, find_likelihood):
    """Label all answers, given the log-likelihood of a byte of each."""
    found = [
        mctaco.label_answers(
            one,
            [
                (find_likelihood(row) * len(row["answer"].encode()), False)
                for row in one["candidates"]
            ],
        )
        for one in questions
    ]
    return {name: [one[name] for one in found] for name in SCORES}


def test_answers_above_the_mean_of_their_question_are_yes(questions):
    perfect = label(questions, lambda row: -1.0 if row["label"] == "yes" else -2.0)
    some = [rows for gold, rows in perfect["f1"] if len({row["label"] for row in gold}) == 2]
    assert some  # of the others, all are as likely
    assert all(
        [row["label"] for row in rows] == [row["label"] for row in gold]
        for gold, rows in perfect["f1"]
        if len({row["label"] for row in gold}) == 2
    )
    level = label(questions, lambda row: -1.5)
    negative = closeread.baseline("mctaco", "always-negative", config="sample")
    expected = closeread.score("mctaco", negative, config="sample", ci=False)
    for name, average in SCORES.items():
        assert average(level[name]) == expected[name].value


def test_the_first_questions_have_the_scores_of_their_rows(questions):
    rng = np.random.default_rng(0)
    found = label(questions[:7], lambda row: -rng.random())
    rows = [row for _, those in found["f1"] for row in those]
    expected = closeread.score("mctaco", rows, config="sample", missing="skip", ci=False)
    assert expected.total.n_units == 7
    assert 0 < expected["f1"].value < 1
    assert SCORES["f1"](found["f1"]) == expected["f1"].value


@pytest.mark.gate
@pytest.mark.parametrize("limit", [None, 5])
def test_the_harness_reports_the_scores_of_closeread(ran, limit):
    pytest.importorskip("lm_eval")
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    folder = ran("llm", "lm-eval-tasks").strip()
    assert Path(folder, "mctaco.yaml").is_file()
    manager = TaskManager(
        include_path=folder, include_defaults=False, metadata={"config": "sample"}
    )
    found = simple_evaluate("dummy", tasks=["closeread_mctaco"], task_manager=manager, limit=limit)
    samples = found["samples"]["closeread_mctaco"]
    assert len(samples) == (limit or 25)
    rows = []
    for sample in samples:
        candidates, likelihoods = (
            sample["doc"]["candidates"],
            [one[0][0] for one in sample["resps"]],
        )
        of_bytes = [
            one / len(row["answer"].encode())
            for one, row in zip(likelihoods, candidates, strict=True)
        ]
        mean = math.fsum(of_bytes) / len(of_bytes)
        rows += [
            {"id": row["id"], "label": "yes" if one > mean else "no"}
            for row, one in zip(candidates, of_bytes, strict=True)
        ]
    expected = closeread.score("mctaco", rows, config="sample", missing="skip", ci=False)
    for name in SCORES:
        assert found["results"]["closeread_mctaco"][f"{name},none"] == expected[name].value
