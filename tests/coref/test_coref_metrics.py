"""The table of coreference metrics: nothing can be registered without its counts."""

import pickle

import numpy as np
import pytest
from shared.coreference import KEY, RESPONSE
from shared.for_each import for_each

from closeread.exceptions import RequestError
from closeread.tasks.coref.metrics import entity, repeats, scores
from closeread.tasks.coref.metrics.scores import COUNTED, IN_CONLL, TITLES, CorefMetric, OwnNumerators, SharedNumerator
from closeread.tasks.coref.procedure import PROCEDURE


def test_every_title_has_counts():
    assert set(TITLES) == {*COUNTED, "conll"}
    assert set(IN_CONLL) <= set(COUNTED)
    assert all(name == metric.name and TITLES[name] == metric.title for name, metric in COUNTED.items())


KERNELS = entity.muc_counts, repeats.muc_counts, repeats.minimum_muc_counts


@for_each("n_arguments", range(6))
def test_a_metric_without_a_kernel_is_an_error(n_arguments):
    arguments = ("b5", "B⁵", "mentions found", *KERNELS)
    assert SharedNumerator(*arguments)
    with pytest.raises(TypeError, match="missing"):
        SharedNumerator(*arguments[:n_arguments])
    with pytest.raises(TypeError, match="abstract"):
        CorefMetric(*arguments)


def test_an_unregistered_metric_is_an_error(monkeypatch):
    monkeypatch.setitem(scores.TITLES, "b5", "B⁵")
    with pytest.raises(KeyError, match="b5"):
        scores.scores_of("b5")


def test_a_metric_that_is_counted_by_the_wrong_rule_is_an_error():
    shape = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))
    side = repeats.Side(*shape)
    table = repeats.repeated_overlap(side, side, 1)
    wrong = OwnNumerators("muc", "MUC", "links found", *KERNELS)
    with pytest.raises(ValueError, match="zip"):
        wrong.columns(table, "reference")


@for_each("name", TITLES)
@for_each("duplicates", ["error", "reference"])
def test_the_counts_are_those_that_the_scores_need(name, duplicates):
    gold, system = list(KEY.values()), list(RESPONSE.values())
    repeated = [[*clusters, clusters[0]] for clusters in gold] if duplicates == "reference" else gold
    procedure = PROCEDURE.with_metrics(name)
    table = procedure.count(gold=repeated, system=system, duplicates=duplicates)
    for metric in procedure.metrics:
        assert 0 <= metric.score(table.values.sum(axis=0), table.names) <= 1


def test_repeats_have_a_limit(monkeypatch):
    gold, system = [[[[0, 0], [1, 1]], [[0, 0], [2, 2]]]], [[[[0, 0], [1, 1]]]]  # one mention has two places in gold
    monkeypatch.setattr(repeats, "MAX_REPEATS", 2)
    PROCEDURE.count(gold=gold, system=system, duplicates="reference")
    monkeypatch.setattr(repeats, "MAX_REPEATS", 1)
    with pytest.raises(RequestError, match=r"2 places of repeated mentions \(expected at most 1\)"):
        PROCEDURE.count(gold=gold, system=system, duplicates="reference")


def test_metrics_pickle():
    assert pickle.loads(pickle.dumps(COUNTED)) == COUNTED
