"""McTaco scores: hand cases, an exact but slow implementation, and properties."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from closeread.formats import text
from closeread.limits import MAX_EXPLAINED
from closeread.tasks.mctaco import mctaco_tsv
from closeread.tasks.mctaco.mctaco_labels import parse_submission
from closeread.tasks.mctaco.procedure import PROCEDURE, count

CASES = json.loads((Path(__file__).parent.parent / "cases" / "mctaco.json").read_text("utf-8"))


def rows(gold, system):
    """Make records and rows from {question: "yes no …"}; "-" in the system means no row."""
    records, answers = [], []
    for question, labels in gold.items():
        for i, (label, predicted) in enumerate(
            zip(labels.split(), system[question].split(), strict=True)
        ):
            name = f"{question}-{i}"
            row = {
                "id": name,
                "question_id": question,
                "sentence_id": "s",
                "label": label,
                "category": "Frequency",
            }
            records.append(row)
            answers.append(None if predicted == "-" else {"id": name, "label": predicted})
    return records, answers


def scores(records, answers, **options):
    return count(gold=records, system=answers, **options).scores(PROCEDURE.metrics)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_hand_cases(case):
    options = {"missing": case["missing"]} if "missing" in case else {}
    got = scores(*rows(case["gold"], case["system"]), **options)
    names = case.keys() & {metric.name for metric in PROCEDURE.metrics}
    assert names
    for name in names:
        assert got[name] == pytest.approx(float(Fraction(case[name])), abs=1e-15), case["why"]


def test_a_missing_row_is_an_error_by_default():
    with pytest.raises(ValueError, match="1 of 2 candidates have no prediction"):
        count(gold=rows({"q": "yes no"}, {"q": "yes -"})[0], system=[{"label": "yes"}, None])


def twin(records, answers):
    """The scores in exact fractions, one question at a time, from the definitions of precision and recall."""
    questions = {}
    for record, answer in zip(records, answers, strict=True):
        questions.setdefault(record["question_id"], []).append((record["label"], answer["label"]))
    exact = f1 = Fraction(0)
    for pairs in questions.values():
        system_yes = sum(predicted == "yes" for _, predicted in pairs)
        gold_yes = sum(label == "yes" for label, _ in pairs)
        both = sum(label == predicted == "yes" for label, predicted in pairs)
        precision = Fraction(both, system_yes) if system_yes else Fraction(1)
        recall = Fraction(both, gold_yes) if gold_yes else Fraction(1)
        if precision + recall:
            f1 += 2 * precision * recall / (precision + recall)
        exact += all(label == predicted for label, predicted in pairs)
    return {"exact_match": exact / len(questions), "f1": f1 / len(questions)}


LABEL = st.sampled_from(["yes", "no"])


@st.composite
def corpora(draw):
    """Draw candidates of interleaved questions with gold and predicted labels."""
    n = draw(st.integers(1, 30))
    records, answers = [], []
    for i in range(n):
        question = draw(st.integers(0, 5))
        records.append(
            {
                "id": f"c{i}",
                "question_id": f"q{question}",
                "sentence_id": f"s{question // 2}",
                "label": draw(LABEL),
                "category": "Frequency" if question % 2 else "Typical Time",
            }
        )
        answers.append({"id": f"c{i}", "label": draw(LABEL)})
    return records, answers


@given(corpora())
def test_agrees_with_the_twin(corpus):
    got, expected = scores(*corpus), twin(*corpus)
    for name, value in expected.items():
        assert got[name] == pytest.approx(float(value), abs=1e-12)
        assert 0 <= got[name] <= 1


labels = st.sampled_from(
    [b"yes", b"no", b" yes\t", b"yes\r", b"\xc2\xa0no", b"maybe", b"", b"\xe2\x80\xa8yes"]
)


@given(texts=st.lists(labels, min_size=1, max_size=9).filter(any), n_gold=st.integers(1, 10))
def test_labels_are_those_of_single_lines(texts, n_gold):
    data = b"\n".join(texts)
    gold = [{"id": f"test-{number:05d}"} for number in range(n_gold)]
    lines = text.Lines(data)
    columns, singly = parse_submission(lines, gold), parse_submission(list(lines), gold)
    expected = [
        line.decode().removesuffix("\r").strip() for line in data.removesuffix(b"\n").split(b"\n")
    ][:n_gold]
    assert [row["label"] for row in columns.records] == expected
    assert columns.records == singly.records
    assert columns.problems == singly.problems


def test_only_so_many_lines_without_text_become_records(tmp_path):
    (tmp_path / "a.tsv").write_text("\t\t\t\t\n" * 5000, "utf-8")
    found = mctaco_tsv.read_records(tmp_path / "a.tsv", "test")
    assert len(found.records) == MAX_EXPLAINED
    assert sum(problem.times for problem in found.problems) == 5000 - MAX_EXPLAINED
