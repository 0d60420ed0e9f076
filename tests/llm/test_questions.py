"""Prompts are what they were: a changed prompt is a new number. Examples and windows."""

import hashlib
import json
import shutil
import sys
from pathlib import Path

import pytest

import closeread
from closeread import tasks
from closeread.exceptions import MissingExtraError, RequestError
from closeread.llm.answers import read_answer, write_answer
from closeread.llm.logs import read_log
from closeread.llm.questions import Exam, list_windows
from closeread.llm.scores import average_epochs

KEY = Path(__file__).parents[2] / "loaders/marmara_coref/sample/annotations/77000112/anna.conll"
SAMPLE = Path(__file__).parents[2] / "loaders/wikipossessions/sample.csv"
SAMPLES = {name: {"config": "sample"} for name in ("mctaco", "tne", "timeline")} | {
    "coref": {"gold": str(KEY)}
}

DIGESTS = {
    "coref 1": "e657918cb5bf7295",
    "mctaco 1": "b7490d08f6306ec9",
    "timeline 1": "f0e3fd066b90a634",
    "tne 1": "9dd589778ee9bb82",
    "wikipossessions 1": "39cd59cabd7575a7",
}


def test_prompts_are_what_they_were():
    files = sorted(Path(tasks.__path__[0]).glob("*/prompts/*.jinja"))
    found = {
        f"{one.parts[-3]} {one.stem}": hashlib.sha256(one.read_bytes()).hexdigest()[:16]
        for one in files
    }
    assert found == DIGESTS


@pytest.mark.parametrize("name", SAMPLES)
def test_gold_written_as_an_answer_is_read_as_gold(name):
    exam = Exam(name, **SAMPLES[name])
    for question in exam.list_questions():
        ((_, subject),) = question.windows
        text = write_answer(exam.procedure, exam.units[question.unit], subject)
        answer = read_answer(exam.procedure, text, subject)
        assert (answer.reason, answer.dropped) == (None, 0)


def test_prompts_show_the_question_and_no_gold():
    first, *_ = Exam("mctaco", config="sample").list_questions()
    candidates = Exam("mctaco", config="sample", ask="candidate").list_questions()
    assert (
        "How long did Marta wait in the café?\nAnswers:\n1. three hours\n2. two decades\n"
        in first.prompts[0]
    )
    assert candidates[0].prompts[0].endswith("Answer: three hours\nReply:")
    assert (
        "[4 The ferry [3 Gannet]] hit [5 a sandbank]"
        in Exam("tne", config="sample").list_questions()[0].prompts[0]
    )
    assert "Reply with one word" in candidates[0].prompts[0]
    structured = Exam("mctaco", config="sample", ask="candidate", structured=True).list_questions()
    assert '{"label": "yes"}' in structured[0].prompts[0]


def test_articles_come_from_a_folder(tmp_path):
    gold = shutil.copy(SAMPLE, tmp_path)
    with pytest.raises(RequestError, match=r"4 articles without a text.*articles=FOLDER"):
        Exam("wikipossessions", gold=gold).list_questions()
    questions = Exam("wikipossessions", config="sample").list_questions()
    assert "probably had it from 1690 to 1702" in questions[0].prompts[0]
    for title in Exam("wikipossessions", config="sample").units:
        (tmp_path / f"{title}.txt").write_text(f"{title} was bought in 1688.")
    questions = Exam("wikipossessions", config="sample", articles=str(tmp_path)).list_questions()
    assert "The Blue Kettle (painting) was bought in 1688." in questions[0].prompts[0]


def test_examples_are_seeded_and_never_scored(tmp_path):
    rows = [row for unit in Exam("mctaco", config="sample").units.values() for row in unit]
    renamed = [
        {**row, **{name: f"x{row[name]}" for name in ("id", "question_id", "sentence_id")}}
        for row in rows
    ]
    file = tmp_path / "examples.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in renamed))
    prompts = [
        Exam("mctaco", config="sample", shots=2, examples=str(file), seed=seed)
        .list_questions()[0]
        .prompts[0]
        for seed in (0, 0, 1)
    ]
    assert prompts[0] == prompts[1] != prompts[2]
    assert prompts[0].count("Question: ") == 3
    assert prompts[0].count('\nReply: {"labels": [') == 2
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(RequestError, match="there are 0 examples to choose 1 from"):
        Exam("mctaco", config="sample", shots=1, examples=str(file)).list_questions()
    with pytest.raises(RequestError, match="no other split to take examples from"):
        Exam("mctaco", config="sample", shots=1).list_questions()
    with pytest.raises(RequestError, match="prompt of mctaco"):
        Exam("mctaco", config="sample", prompt=7).list_questions()


def test_windows_overlap_by_half_and_cover_a_text():
    assert list_windows(10, 10) == [(0, 10)]
    assert list_windows(11, 10) == [(0, 10), (5, 11)]
    assert list_windows(21, 10) == [(0, 10), (5, 15), (10, 20), (15, 21)]


def test_reading_a_log_needs_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    needs = r"reading a log, also by closeread llm rows, needs inspect-ai: pip install"
    with pytest.raises(MissingExtraError, match=needs):
        read_log("a.eval")


ENTITIES = """# newdoc id = {}
# global.Entity = eid-etype-head-other
1\tAnn\tAnn\tPROPN\t_\t_\t2\tnsubj\t_\tEntity=(e1-person-1-)
2\tsaw\tsee\tVERB\t_\t_\t0\troot\t_\t_
3\tit\tit\tPRON\t_\t_\t2\tobj\t_\tEntity=(e2[1/2]-thing-1-)
4\tand\tand\tCCONJ\t_\t_\t5\tcc\t_\t_
4.1\tshe\tshe\tPRON\t_\t_\t_\t_\t5:nsubj\tEntity=(e1-person-1-)
5\tleft\tleave\tVERB\t_\t_\t2\tconj\t_\tEntity=(e2[2/2]-thing-1-)

"""


def test_a_key_keeps_empty_nodes_and_parts_of_mentions(tmp_path):
    key = tmp_path / "key.conllu"
    key.write_text(ENTITIES.format("a") + ENTITIES.format("b"))
    exam = Exam("coref", gold=str(key))
    rows = {
        name: [{"document": name, "clusters": [[[0, 0], [4, 4]], [[2, 5]]]}] for name in ("a", "b")
    }
    found, report = (
        average_epochs(exam, [rows]),
        closeread.score("coref", [*rows["a"], *rows["b"]], gold=key),
    )
    assert found.scores == report.scores
    assert (
        found.provenance.signature
        == report.provenance.signature
        == exam.scorer.expected_signature()
    )
    assert report.scores["mentions/recall"].value < 1
