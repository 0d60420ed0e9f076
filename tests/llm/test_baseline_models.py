"""Baselines as models: they answer only what they are asked about."""

import asyncio
import json

import pytest

pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")

from inspect_ai.model import ChatMessageUser, GenerateConfig

from closeread.llm import tasks
from closeread.llm.questions import Exam

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def ask(model, question):
    """What a model answers to a question that is described in a message."""
    message = ChatMessageUser(content="Which?", metadata={"epoch": 1, "window": 0, **question})
    made = tasks.BaselineModel(model)
    output = asyncio.run(made.generate([message], [], "none", GenerateConfig()))
    return json.loads(output.completion)


def test_candidates_are_answered_by_their_ids():
    exam = Exam("mctaco", "sample", structured=True)
    question = exam.list_questions()[1]
    (window,) = question.windows
    n_candidates = len(exam.units[question.unit])
    assert n_candidates < len(exam.scorer.gold.records)
    about = {"exam": exam.describe(), "id": question.id, "about": window.subject}
    assert ask("always-positive", about) == {"labels": ["yes"] * n_candidates}


def test_other_documents_are_answered_by_their_key():
    exam = Exam("timeline", "sample", structured=True)
    answers = []
    for question in exam.list_questions()[:2]:
        (window,) = question.windows
        about = {"exam": exam.describe(), "id": question.id, "about": window.subject}
        answers.append(ask("text-order", about))
    assert all(answers)
    assert answers[0] != answers[1]
