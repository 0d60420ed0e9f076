"""The coreference metrics as evaluate modules."""

import numpy as np
import pytest
from shared.coreference import KEY, RESPONSE, as_values, score_files, write_jsonl

import closeread
from closeread.exceptions import RequestError, SubmissionError
from closeread.tasks.coref.procedure import PROCEDURE


@pytest.fixture
def files(tmp_path):
    """Key and response as JSON Lines, the response's documents in another order."""
    return write_jsonl(tmp_path / "key.jsonl", KEY), write_jsonl(
        tmp_path / "response.jsonl", dict(reversed(RESPONSE.items()))
    )


def test_modules_give_the_same(files, offline_caches, evaluate):
    every = score_files(*files)
    for name in PROCEDURE.modules:
        module = evaluate.load(name)
        found = module.compute(
            predictions=[RESPONSE["a"], RESPONSE["b"]], references=[KEY["a"], KEY["b"]]
        )
        assert found == pytest.approx({n: every[n] for n in found}, abs=1e-15)
        module.add(prediction=RESPONSE["a"], reference=KEY["a"])
        module.add_batch(predictions=[RESPONSE["b"]], references=[KEY["b"]])
        assert module.compute() == pytest.approx(found, abs=1e-15)
        assert module.compute(predictions=[], references=[]) == dict.fromkeys(found, 0.0)


def test_a_module_takes_arrays_and_tuples(offline_caches):
    lea = closeread.load_metric("coref_lea")
    wanted = lea.compute(predictions=[RESPONSE["a"]], references=[KEY["a"]])
    assert (
        lea.compute(
            predictions=[[np.array(cluster) for cluster in RESPONSE["a"]]],
            references=[[tuple(tuple(mention) for mention in cluster) for cluster in KEY["a"]]],
        )
        == wanted
    )
    both = {"references": [KEY["a"], KEY["b"]], "keep_singletons": False}
    report = lea.report(predictions=[RESPONSE["a"], None], **both)
    assert as_values(report) == lea.compute(predictions=[RESPONSE["a"], []], **both)
    assert report.provenance.missing == 1
    assert "keep_singletons:false" in report.provenance.signature


def test_heads(offline_caches):
    # "the old ferry" and "ferry" share their head, token 2, and are the same mention by heads only.
    key, response = [[[0, 2, 2], [5, 5, 5]]], [[[2, 2, 2], [5, 5, 5]]]
    lea = closeread.load_metric("coref_lea")
    given = {"predictions": [response, []], "references": [key, []]}
    assert lea.compute(**given)["lea/f1"] == 0
    assert lea.compute(**given, matching="head")["lea/f1"] == 1
    assert lea.compute(**given, matching="partial")["lea/f1"] == 1
    turned = {"predictions": given["references"], "references": given["predictions"]}
    assert lea.compute(**turned, matching="partial")["lea/f1"] == 0
    with pytest.raises(
        RequestError, match="matching 'head' needs heads on both sides, but the response has none"
    ):
        lea.compute(predictions=[[[[2, 2], [5, 5]]]], references=[key], matching="head")
    # A document without mentions lacks no heads.
    assert lea.compute(predictions=[[]], references=[key], matching="head")["lea/f1"] == 0


BAD_MODULE_INPUT = {
    "a mention of four": ([[[0, 1, 1, 1]]], "row 0: [0][0]: has 4 items (expected at most 3)"),
    "a head outside": (
        [[[0, 1, 2]]],
        "row 0: [0][0]: head 2 of [0, 1, 2] is outside the mention (expected a token from 0 to 1)",
    ),
    "a head too few": (
        [[[0, 1, 0], [2, 3]]],
        "row 0: [0][1]: [2, 3] has no head, but the first mention of all, [0, 1, 0], has a head "
        "(expected heads for all mentions or for none)",
    ),
    "a share of a token": ([[[0, 1.5]]], "row 0: [0][0][1]: expected a whole number, found 1.5"),
    "an end before its start": ([[[3, 2]]], "row 0: [0][0]: [3, 2] ends before it starts (expected [start, end])"),
    "a mention twice": (
        [[[0, 0]], [[0, 0], [1, 1]]],
        "row 0: mention [0, 0] is in entities 0 and 1 (numbered from 0); "
        "keep one of them, or use duplicates='last' or duplicates='reference'",
    ),
    "an entity without mentions": ([[]], "row 0: [0]: is empty"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_MODULE_INPUT)
def test_bad_input_of_a_module(name, offline_caches):
    clusters, message = BAD_MODULE_INPUT[name]
    with pytest.raises(SubmissionError) as caught:
        closeread.load_metric("coref_muc").compute(predictions=[clusters], references=[KEY["a"]])
    assert str(caught.value) == f"predictions: {message}"


def test_a_module_refuses_what_is_nested_too_deeply(offline_caches):
    deep = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(SubmissionError, match="nested too deeply"):
        closeread.load_metric("coref_lea").compute(predictions=[deep], references=[KEY["a"]])


def test_a_missing_prediction_is_not_added(offline_caches):
    with pytest.raises(
        SubmissionError, match=r"predictions: row 0: is None \(expected a prediction"
    ):
        closeread.load_metric("coref_lea").add(prediction=None, reference=KEY["a"])


def test_one_module_gives_all_scores_in_one_pass(offline_caches, evaluate):
    given = {"predictions": [RESPONSE["a"], RESPONSE["b"]], "references": [KEY["a"], KEY["b"]]}
    every = closeread.load_metric("coref").compute(**given)
    # A document of four mentions in two entities, of which the response finds one entity and two mentions.
    found = evaluate.load("coref").compute(
        predictions=[[[[0, 0], [1, 1]]]], references=[[[[0, 0], [1, 1]], [[2, 2], [3, 3]]]]
    )
    assert (found["mentions/recall"], found["muc/recall"], found["muc/precision"]) == (
        1 / 2,
        1 / 2,
        1,
    )
    singly = {}
    for name in PROCEDURE.modules[1:]:
        singly |= closeread.load_metric(name).compute(**given)
    assert {
        name: score for name, score in every.items() if not name.startswith("mentions/")
    } == singly
    assert list(every) == [metric.name for metric in PROCEDURE.metrics]
