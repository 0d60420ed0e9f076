"""The table of coreference metrics: nothing can be registered without its counts."""

import pickle

import pytest
from shared.coreference import KEY, RESPONSE

from closeread.exceptions import RequestError
from closeread.tasks.coref.metrics import duplicates
from closeread.tasks.coref.metrics.entity import OF_BOTH, OF_SIDE
from closeread.tasks.coref.metrics.scores import IN_CONLL, SELECTED, TITLES, scores_of
from closeread.tasks.coref.procedure import PROCEDURE


def test_every_metric_has_counts():
    assert set(TITLES) == {*OF_BOTH, *OF_SIDE, "blanc", "conll"}
    assert set(IN_CONLL) <= set(TITLES)


@pytest.mark.parametrize("name", TITLES)
@pytest.mark.parametrize("duplicates", ["error", "reference"])
def test_the_counts_are_those_that_the_scores_need(name, duplicates):
    gold, system = list(KEY.values()), list(RESPONSE.values())
    repeated = (
        [[*clusters, clusters[0]] for clusters in gold] if duplicates == "reference" else gold
    )
    procedure = PROCEDURE.with_metrics(name)
    table = procedure.count(gold=repeated, system=system, duplicates=duplicates)
    for metric in procedure.metrics:
        assert 0 <= metric.score(table.values.sum(axis=0), table.names) <= 1


def test_repeats_have_a_limit(monkeypatch):
    # one mention has two places in gold
    gold, system = [[[[0, 0], [1, 1]], [[0, 0], [2, 2]]]], [[[[0, 0], [1, 1]]]]
    monkeypatch.setattr(duplicates, "MAX_PAIRS", 2)
    PROCEDURE.count(gold=gold, system=system, duplicates="reference")
    monkeypatch.setattr(duplicates, "MAX_PAIRS", 1)
    with pytest.raises(RequestError, match=r"2 places of repeated mentions \(expected at most 1\)"):
        PROCEDURE.count(gold=gold, system=system, duplicates="reference")
    # one pair is in two entities, and none of it in the response
    gold = [[[[0, 0], [1, 1]], [[0, 0], [1, 1], [2, 2]]]]
    with pytest.raises(
        RequestError,
        match=r"2 pairs of repeated mentions of the same entities \(expected at most 1\)",
    ):
        PROCEDURE.count(gold=gold, system=[[[[2, 2], [3, 3]]]], duplicates="reference")


def test_metrics_pickle():
    for name in (*TITLES, *SELECTED):
        assert pickle.loads(pickle.dumps(scores_of(name))) == scores_of(name)
