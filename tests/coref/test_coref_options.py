"""The options of the coreference procedure, computed by hand."""

from fractions import Fraction

import pytest
from shared.coreference import KEY, RESPONSE, score_records

from closeread.counts.metrics import by_name
from closeread.exceptions import RequestError
from closeread.tasks.coref.metrics.scores import TITLES
from closeread.tasks.coref.procedure import PROCEDURE


def is_fraction(value, text):
    return value == pytest.approx(float(Fraction(text)), abs=1e-12)


def test_counts_are_summed_over_documents():
    # LEA: a has 5/3 of 7 and 8/3 of 8, b 2 of 3 (the singleton is missing) and 2 of 2.
    found = score_records(KEY, RESPONSE)
    assert is_fraction(found["lea/recall"], Fraction(5, 3) / 10 + Fraction(2, 10))
    assert is_fraction(found["lea/precision"], (Fraction(8, 3) + 2) / 10)
    assert is_fraction(found["mentions/recall"], "8/10")


def test_scores_are_averaged_over_documents():
    found = score_records(KEY, RESPONSE, average="documents")
    assert is_fraction(found["lea/recall"], (Fraction(5, 21) + Fraction(2, 3)) / 2)
    assert is_fraction(found["lea/precision"], (Fraction(1, 3) + 1) / 2)
    # F1 of a is 5/18, of b 4/5: their mean, not the F1 of the means.
    assert is_fraction(found["lea/f1"], (Fraction(5, 18) + Fraction(4, 5)) / 2)
    # MUC of b is 1; CEAFe of b: 1 of 2 and 1 of 1, F1 2/3; B3 of b: 2/3 and 1, F1 4/5.
    a = (Fraction(2, 5) + Fraction(5, 11) + Fraction(13, 25)) / 3
    b = (1 + Fraction(4, 5) + Fraction(2, 3)) / 3
    assert is_fraction(found["conll/f1"], (a + b) / 2)


@pytest.mark.parametrize(("missing", "recall"), [("empty", "5/30"), ("skip", "5/21")])
def test_documents_without_a_response(missing, recall):
    # With b as an empty response, LEA finds 5/3 of 10; without it, 5/3 of 7.
    assert is_fraction(
        score_records(KEY, {"a": RESPONSE["a"]}, missing=missing)["lea/recall"], recall
    )


def test_documents_without_a_response_may_be_an_error():
    with pytest.raises(ValueError, match="1 of 2 documents have no response"):
        score_records(KEY, {"a": RESPONSE["a"]}, missing="error")


def test_singletons_can_be_dropped():
    kept, dropped = (
        score_records(KEY, RESPONSE, keep_singletons=keep) for keep in ("true", "false")
    )
    assert is_fraction(kept["b3/recall"], (Fraction(35, 12) + 2) / 10)
    assert is_fraction(dropped["b3/recall"], (Fraction(35, 12) + 2) / 9)
    # A mention that stands alone on one side only is then found on neither.
    gone = score_records({"a": [[[0, 0], [1, 1]]]}, {"a": [[[0, 0]]]}, keep_singletons="false")
    assert gone["mentions/recall"] == 0


def test_edges_of_blanc():
    key, response = (
        {"a": [[[0, 0], [1, 1]]]},
        {"a": [[[0, 0], [1, 1]], [[2, 2]], [[3, 3]], [[4, 4]]]},
    )
    assert score_records(key, response)["blanc/f1"] == 1
    for average in ("micro", "documents"):
        assert (
            score_records(key, response, blanc_edge="luo2014", average=average)["blanc/f1"] == 0.5
        )


def test_duplicates():
    twice = {"a": [[[0, 0], [1, 1]], [[1, 1], [2, 2]]]}
    once = {"a": [[[0, 0], [1, 1]], [[2, 2]]]}
    with pytest.raises(ValueError, match="the response has mentions that occur more than once"):
        score_records(once, twice)
    assert score_records(once, twice, duplicates="first") == score_records(once, once)
    assert score_records(twice, once, duplicates="first") == score_records(once, once)
    # The reference scorer drops the response's repeats, and keeps the key's (`test_reference.py`).
    assert score_records(once, twice, duplicates="reference") == score_records(once, once)
    assert score_records(twice, once, duplicates="reference") != score_records(once, once)


def test_metrics_are_the_same_alone():
    every = score_records(KEY, RESPONSE)
    for name in TITLES:
        alone = score_records(KEY, RESPONSE, metrics=(name,))
        assert alone == {
            full: value for full, value in every.items() if full.startswith(f"{name}/")
        }
        mean = score_records(KEY, RESPONSE, metrics=(name,), average="documents")
        assert set(mean) == set(alone)


@pytest.mark.parametrize("metric", ["mctaco", "leo", ""])
def test_metrics_that_do_not_exist(metric):
    with pytest.raises(RequestError, match="no such coref metric"):
        PROCEDURE.with_metrics((metric,))


def test_repeats_go_before_singletons():
    key = {"a": [[[0, 0], [1, 1]], [[1, 1], [2, 2]], [[5, 5], [5, 5]]]}
    response = {"a": [[[0, 0], [1, 1]]]}
    found = score_records(key, response, duplicates="first", keep_singletons="false")
    assert found["mentions/recall"] == found["ceafe/recall"] == 1
    assert score_records(key, response, duplicates="first")["mentions/recall"] == 0.5


def test_an_average_of_nothing_is_undefined():
    def reported(key, response):
        table = PROCEDURE.count(gold=key, system=response, average="documents")
        totals = table.values.sum(axis=0)
        return {
            metric.name: metric.evaluate(by_name(totals, table.names))[1]
            for metric in PROCEDURE.metrics
        }

    assert set(reported([[], []], [[], []]).values()) == {True}
    one = [[[[0, 0], [1, 1]]], []]
    assert not any(reported(one, one).values())


def test_macro_ignores_skipped_documents():
    only_a = score_records({"a": KEY["a"]}, {"a": RESPONSE["a"]}, average="documents")
    assert score_records(KEY, {"a": RESPONSE["a"]}, average="documents", missing="skip") == only_a


def test_metrics_by_one_name_and_none():
    assert [metric.name for metric in PROCEDURE.with_metrics("lea").metrics] == [
        "lea/precision",
        "lea/recall",
        "lea/f1",
    ]
    with pytest.raises(RequestError, match="no coref metric selected"):
        PROCEDURE.with_metrics(())
