"""Agreement of coreference annotators as an evaluate module."""

import inspect
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from shared.annotations import spread
from shared.coreference import write_jsonl

import closeread
from closeread.exceptions import RequestError, SubmissionError
from closeread.tasks.annotation.agreement import MODULES, OPTIONS

pytestmark = pytest.mark.gate

ANNA, BEN = spread(["abc"]), spread(["ab", "c"])
SCORES = {"nominal": -4 / 11, "iaa1": 0, "iaa2": -16 / 69}
"""Of Anna and Ben, by hand."""


@pytest.fixture
def alpha(offline_caches, evaluate):
    return evaluate.load("coref_alpha")


def test_scores(alpha):
    found = alpha.compute(predictions=[[ANNA, BEN]])
    assert found == pytest.approx(SCORES, abs=1e-15)
    assert all(type(value) is float for value in found.values())
    assert closeread.load_metric("coref_alpha").compute(predictions=[[ANNA, BEN]]) == found
    assert MODULES == ("coref_alpha",)


def test_it_takes_arrays_tuples_and_heads(alpha):
    wanted = alpha.compute(predictions=[[ANNA, BEN]])
    with_heads = tuple(tuple((start, end, end) for start, end in cluster) for cluster in BEN)
    assert alpha.compute(predictions=[[np.array(ANNA), with_heads]]) == wanted


def test_adding_comes_to_the_same(alpha):
    wanted = alpha.compute(predictions=[[ANNA, BEN], [ANNA, BEN, []]], average="pooled")
    alpha.add(prediction=[ANNA, BEN])
    alpha.add_batch(predictions=[[ANNA, BEN, []]])
    assert alpha.compute(average="pooled") == pytest.approx(wanted, abs=1e-15)


def test_every_option_is_a_keyword(alpha):
    options = {option.name: option.default for option in OPTIONS}
    parameters = dict(inspect.signature(alpha.compute).parameters)
    assert parameters.pop("predictions").default is None
    assert {name: parameter.default for name, parameter in parameters.items()} == options
    assert list(inspect.signature(alpha._compute).parameters) == ["predictions", *options]


def test_what_is_left_out_is_said(alpha):
    with pytest.warns(
        UserWarning, match=r"1 document has fewer than two annotators, and no alpha: '1'\."
    ):
        assert alpha.compute(predictions=[[ANNA, BEN], [ANNA]]) == pytest.approx(SCORES)
    with pytest.warns(UserWarning, match=r"alpha is 0/0, and 1 by convention, in 1 document"):
        assert alpha.compute(predictions=[[ANNA, ANNA]]) == dict.fromkeys(SCORES, 1.0)
    assert alpha.compute(predictions=[]) == dict.fromkeys(SCORES)


def test_bad_input(alpha):
    with pytest.raises(
        SubmissionError, match=r"predictions: row 0: \[1\]: expected a list, found null"
    ):
        alpha.compute(predictions=[[ANNA, None]])
    with pytest.raises(SubmissionError, match=r"expected a list with one item per row, got an int"):
        alpha.compute(predictions=3)
    with pytest.raises(
        SubmissionError, match=r"row 0: annotation 1: \[3, 1\] ends before it starts"
    ):
        alpha.compute(predictions=[[ANNA, [[[3, 1]]]]])
    with pytest.raises(
        RequestError, match="option average: 'micro' is not one of 'macro', 'pooled'"
    ):
        alpha.compute(predictions=[[ANNA, BEN]], average="micro")
    alpha.add(prediction=[ANNA, [[[3, 1]]]])
    with pytest.raises(
        SubmissionError, match=r"row 0: annotation 1: \[3, 1\] ends before it starts"
    ):
        alpha.compute()


def test_it_pickles(alpha):
    wanted = alpha.compute(predictions=[[ANNA, BEN]])
    assert pickle.loads(pickle.dumps(alpha)).compute(predictions=[[ANNA, BEN]]) == wanted


def test_files_have_the_same_scores(alpha, ran, tmp_path):
    documents = [[ANNA, BEN, spread(["bc"])], [spread(["ab", "cd"]), spread(["ac", "bd"]), []]]
    for number in range(3):
        of_one = {f"d{i}": annotations[number] for i, annotations in enumerate(documents)}
        write_jsonl(tmp_path / f"{number}.jsonl", of_one)
    found = json.loads(ran("agreement", "coref", *sorted(Path(tmp_path).glob("*.jsonl")), "--json"))
    scores = alpha.compute(predictions=documents)
    assert {name: found[name] for name in scores} == pytest.approx(scores, abs=1e-15)
