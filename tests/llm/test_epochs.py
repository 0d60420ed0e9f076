"""Means of the counts of epochs, which may have answered different questions."""

import pytest

import closeread
from closeread.llm.questions import Exam
from closeread.llm.scores import average_epochs


@pytest.fixture(scope="module")
def exam():
    return Exam("mctaco", "sample")


def answer(exam, units, label):
    return {
        unit: [{"id": record["id"], "label": label} for record in exam.units[unit]]
        for unit in units
    }


def score(exam, units, label):
    records = [record for unit in units for record in exam.units[unit]]
    rows = [{"id": record["id"], "label": label} for record in records]
    return closeread.score("mctaco", rows, gold=records, ci=False)["f1"].value


def test_only_questions_of_all_epochs_count(exam):
    first, second, third, *_ = exam.units
    epochs = [answer(exam, (first, second), "yes"), answer(exam, (second, third), "no")]
    report = average_epochs(exam, epochs, ci=False)
    # The second question is the only one that both have.
    assert report.total.counts["questions"] == 1
    expected = (score(exam, [second], "yes") + score(exam, [second], "no")) / 2
    assert report.scores["f1"].value == pytest.approx(expected, abs=1e-12)
    assert average_epochs(exam, epochs[::-1], ci=False).scores == report.scores


def test_the_first_epoch_counts_if_no_question_is_in_all(exam):
    first, second, third, *_ = exam.units
    epochs = [
        answer(exam, (first, second), "yes"),
        answer(exam, (second, third), "yes"),
        answer(exam, (first, third), "no"),
    ]
    report = average_epochs(exam, epochs, ci=False)
    assert report.total.counts["questions"] == 2
    assert report.scores["f1"].value == pytest.approx(score(exam, (first, second), "yes"))
