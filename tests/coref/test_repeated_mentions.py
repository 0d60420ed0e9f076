"""Mentions of several entities, sides without mentions, and documents that only the response has."""

import pytest
from shared.coreference import score_files, write_corefud, write_jsonl

import closeread
from closeread.exceptions import SubmissionError

ONCE = [[[0, 0], [2, 2]], [[3, 3], [4, 4]]]
TWICE = [[[0, 0], [2, 2]], [[0, 0], [3, 3], [4, 4]]]

# Precision and recall as corefud-scorer 1.2 prints them (matching by head, exact and partial alike) where the response
# repeats the mention; the same scorer's where the key does; and where both do.
OF_RESPONSE = {
    "muc": (66.67, 50),
    "b3": (73.33, 75),
    "ceafm": (80, 100),
    "ceafe": (90, 90),
    "blanc": (29.17, 50),
    "lea": (60, 50),
}
OF_KEY = {name: pair[::-1] for name, pair in OF_RESPONSE.items()} | {"blanc": (100, 58.33)}


def score(key, response, **options):
    report = closeread.score("coref", {"d": response}, gold={"d": key}, ci=False, **options)
    return {name: 100 * value.value for name, value in report.total.scores.items()}


def check(scores, expected):
    for name, (precision, recall) in expected.items():
        assert scores[f"{name}/precision"] == pytest.approx(precision, abs=0.005)
        assert scores[f"{name}/recall"] == pytest.approx(recall, abs=0.005)


@pytest.mark.filterwarnings("ignore::closeread.CloseReadWarning")
@pytest.mark.parametrize("response", [TWICE, TWICE[::-1]])
def test_the_last_entity_is_that_of_coval(response):
    scores = score(ONCE, response, duplicates="last")
    check(scores, OF_RESPONSE)
    assert scores["conll/f1"] == pytest.approx(73.77, abs=0.005)
    check(score(response, ONCE, duplicates="last"), OF_KEY)
    both = score(response, TWICE, duplicates="last")["conll/f1"]
    assert both == pytest.approx(82.22, abs=0.005)
    again = [[*ONCE[0], [0, 0]], ONCE[1]]
    assert score(ONCE, again, duplicates="last")["conll/f1"] == pytest.approx(100)
    assert score(ONCE, response, duplicates="first")["conll/f1"] == pytest.approx(100)


@pytest.mark.filterwarnings("ignore::closeread.CloseReadWarning")
@pytest.mark.parametrize("cell", ["(e1-x-1-)(e2-x-1-)", "(e2-x-1-)(e1-x-1-)"])
@pytest.mark.parametrize("matching", ["exact", "head", "partial"])
def test_the_last_entity_does_not_depend_on_brackets(tmp_path, cell, matching):
    others = {3: "(e1-x-1-)", 4: "(e2-x-1-)", 5: "(e2-x-1-)"}
    key = write_corefud(tmp_path / "k.conllu", {1: "(e1-x-1-)", 2: "", **others})
    response = write_corefud(tmp_path / "r.conllu", {1: cell, 2: "", **others})
    scores = score_files(key, response, duplicates="last", matching=matching, metrics=("conll",))
    assert scores["conll/f1"] == pytest.approx(0.7377, abs=0.00005)


def test_a_response_that_repeats_a_mention_is_an_error_and_a_key_is_not():
    with pytest.raises(SubmissionError, match="duplicates='last' or duplicates='reference'"):
        score(ONCE, TWICE)
    with pytest.warns(closeread.CloseReadWarning, match="the key repeats 1 mention; counted as by"):
        score(TWICE, ONCE)


@pytest.mark.filterwarnings("ignore::closeread.CloseReadWarning")
def test_a_key_that_repeats_a_mention_is_scored_as_by_the_reference_scorer():
    assert score(TWICE, ONCE) == score(TWICE, ONCE, duplicates="reference")


@pytest.mark.filterwarnings("ignore:the response repeats:closeread.CloseReadWarning")
def test_a_response_that_the_reference_scorer_refuses_is_noted():
    cluster = [[i, i] for i in range(12)]
    with pytest.warns(closeread.CloseReadWarning, match="would refuse the response: it drops 11"):
        score([cluster], [cluster, cluster[:11]], duplicates="reference")


def test_documents_that_the_key_lacks_are_left_out_on_request(tmp_path):
    key = write_jsonl(tmp_path / "k.jsonl", {"a": ONCE})
    response = write_jsonl(tmp_path / "r.jsonl", {"b": ONCE, "a": ONCE, "c": ONCE})
    with pytest.raises(SubmissionError, match=r"2 documents are not in the key: 'b', 'c'.*extra"):
        score_files(key, response)
    with pytest.warns(closeread.CloseReadWarning, match=r"2 documents .* left out.*'b', 'c'"):
        assert score_files(key, response, extra="skip")["conll/f1"] == 1


def test_sides_without_mentions_are_noted():
    with pytest.warns(closeread.CloseReadWarning, match="the response has no mentions at all"):
        score(ONCE, [])
    with pytest.warns(closeread.CloseReadWarning, match="the key has no mentions at all"):
        score([], ONCE)
    with pytest.warns(closeread.CloseReadWarning, match="no mention in common"):
        score(ONCE, [[[7, 7], [8, 8]]])


def test_an_undefined_score_does_not_enter_a_mean_in_silence():
    # Two perfect documents, of which one has only singletons: MUC is 0/0 there.
    documents = {"a": ONCE, "b": [[[0, 0]], [[1, 1]]]}

    def average(**options):
        report = closeread.score(
            "coref", documents, gold=documents, average="documents", ci=False, **options
        )
        return [report.total.scores[f"{name}/f1"].value for name in ("muc", "b3", "conll")]

    with pytest.warns(closeread.CloseReadWarning, match=r"1 of 2 documents has no MUC.*left out"):
        assert average() == [1, 1, 1]
    with pytest.warns(closeread.CloseReadWarning, match=r"1 of 2 documents .*counted as 0"):
        assert average(undefined="zero") == pytest.approx([1 / 2, 1, 5 / 6])


@pytest.mark.filterwarnings("ignore::closeread.CloseReadWarning")
def test_blanc_of_nothing_is_undefined():
    assert score([], [], blanc_edge="luo2014")["blanc/f1"] == 0
