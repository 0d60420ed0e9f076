"""Laws of means over groups, for any counts and in the procedures that have fields."""

from hashlib import sha256

import numpy as np
import pytest

import closeread
from closeread.corpus.baselines import load_baselines
from closeread.counts.estimates import Resampling, score
from closeread.counts.metrics import F1, Metric, Ratio, average_groups
from closeread.counts.resampling import draw_weights, make_strata, split_columns, sum_strata
from closeread.counts.table import CountTable
from closeread.exceptions import RequestError

PLAIN = (
    Metric("f1", "F1", "", F1(Ratio("common", "key"), Ratio("common", "response")), 0.0),
    Metric("recall", "Recall", "", Ratio("common", "key"), 0.0),
)
NAMES = ("common", "key", "response")


def make_table(groups, seed=0):
    """Return random counts of units that belong to some groups."""
    rng = np.random.default_rng(seed)
    sides = rng.integers(5, 30, (len(groups), 2))
    values = np.column_stack([rng.binomial(sides.min(axis=1), 0.7), sides]).astype(float)
    digests = [sha256(bytes([number])).digest() for number in range(len(groups))]
    units = [str(number) for number in range(len(groups))]
    return CountTable(units, np.arange(len(groups)), NAMES, values, digests=digests, groups=groups)


def test_the_mean_is_that_of_the_scores_of_groups():
    table = make_table(["b", "a", "b", "c"])
    means = score(table, average_groups(PLAIN, "zero"), Resampling(0)).scores
    parts = [score(part, PLAIN, Resampling(0)).scores for part in table.split_groups().values()]
    for name in ("f1", "recall"):
        assert means[name].value == pytest.approx(np.mean([part[name].value for part in parts]))


def test_another_group_changes_no_draws():
    table = make_table(["a", "a", "a", "b", "b"])
    more = make_table(["a", "a", "a", "b", "b", "0", "0"])

    def draw(table):
        strata = make_strata(table, np.arange(table.n_blocks), seed=3)
        return {
            tuple(stratum.blocks.tolist()): np.concatenate(
                [*draw_weights(len(stratum.blocks), 50, stratum.rng)]
            )
            for stratum in strata
        }

    before, after = draw(table), draw(more)
    for blocks, weights in before.items():
        assert (after[blocks] == weights).all()
    # Groups do not share a generator.
    assert not (after[3, 4] == after[5, 6]).all()


def test_the_variance_of_the_mean_is_the_sum_of_those_of_groups():
    n_resamples = 20_000
    table = make_table(["a"] * 12 + ["b"] * 20 + ["c"] * 7)
    (mean, _) = average_groups(PLAIN, "zero")

    def resample(table, metric):
        strata = make_strata(table, np.arange(table.n_blocks), seed=0)
        sums = sum_strata(strata, table.split_blocks(), draw_weights, n_resamples)
        return metric.score_columns(split_columns(sums, table)).var()

    parts = [resample(part, PLAIN[0]) for part in table.split_groups().values()]
    # The standard error of a variance is its share sqrt(2 / n) of it: 1 %.
    assert resample(table, mean) == pytest.approx(sum(parts) / len(parts) ** 2, rel=0.05)


def test_blocks_of_several_groups_are_resampled_together():
    table = make_table(["a", "b", "a", "b"])
    shared = CountTable(
        table.units, np.array([0, 0, 1, 1]), NAMES, table.values, groups=table.groups
    )
    assert [(name, blocks.tolist()) for name, blocks in shared.list_strata()] == [("", [0, 1])]
    assert [name for name, _ in table.list_strata()] == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "field"),
    [("mctaco", "category"), ("tne", "domain")],
)
@pytest.mark.filterwarnings("ignore:.* no UPrep accuracy:closeread.CloseReadWarning")
def test_every_procedure_averages_over_its_fields(name, field):
    baseline = sorted(load_baselines(name))[0]
    rows = closeread.baseline(name, baseline, config="sample")
    report = closeread.score(name, rows, config="sample", group_by=field, ci=False)
    sliced = closeread.score(name, rows, config="sample", by=field, ci=False)
    assert report.groups.keys() == sliced.slices[field].keys()
    for metric, estimate in report.scores.items():
        values = [scores.scores[metric] for scores in sliced.slices[field].values()]
        defined = [float(value) for value in values if not (value.undefined or value.value is None)]
        if metric.endswith("/f1") or "/" not in metric:
            expected = pytest.approx(np.mean(defined)) if defined else None
            assert estimate.value == expected
    assert f"|average:groups|groups:{len(report.groups)}|" in report.provenance.signature
    with pytest.raises(RequestError, match="average='groups' needs group_by= and a field"):
        closeread.score(name, rows, config="sample", average="groups")


def adjust_by_holm(p_values):
    """Return p-values corrected as Holm (1979) does: the k-th smallest of n times n - k + 1, never falling."""
    corrected = {}
    highest = 0.0
    for rank, number in enumerate(np.argsort(p_values, kind="stable")):
        highest = max(highest, min(1.0, p_values[number] * (len(p_values) - rank)))
        corrected[int(number)] = highest
    return [corrected[number] for number in range(len(p_values))]


def test_a_table_tells_in_which_groups_systems_differ(tmp_path):
    """Of 12 documents in each of two folders, a is right about all, b about those of one, c about half of the other."""
    names = [f"{folder}/{number}" for folder in ("tales", "news") for number in range(12)]
    wrong = {"key": [], "a": [], "b": names[:12], "c": names[12::2]}
    for side, documents in wrong.items():
        lines = [f"{name}\te1\te2\t{'a' if name in documents else 'b'}\n" for name in names]
        (tmp_path / f"{side}.tsv").write_text("".join(lines))
    systems = {side: tmp_path / f"{side}.tsv" for side in "abc"}
    options = {"gold": tmp_path / "key.tsv", "group_by": "folder", "resamples": 5_000}
    table = closeread.table("tlinks", systems, **options)
    assert table.group_tests.keys() == {"tales", "news"}
    tests = [test for group in table.groups for test in table.group_tests[group]]
    assert [(test.first, test.second) for test in tests] == [(0, 1), (0, 2), (1, 2)] * 2
    assert [test.p_corrected for test in tests] == pytest.approx(
        adjust_by_holm([test.difference.p_randomization for test in tests])
    )
    # Only 2 of 2 ** 12 swaps are as clear as b in tales, 2 of 2 ** 6 as c in news; others are equal.
    standings = {
        group: [table.find_standing("awareness/f1", system, group) for system in range(3)]
        for group in table.groups
    }
    assert standings == {"tales": ["best", "worse", "best"], "news": ["best", "best", "close"]}
    _, rows = table._to_rows()
    cells = {(row[0], row[1], row[2]): row[3] for row in rows}
    assert cells["b", "tales", "awareness/f1"] == 0
    assert cells["c", "news", "awareness/f1"] == cells["b", "mean", "awareness/f1"] == 0.5
    assert [line.split()[1:3] for line in str(table).splitlines()[4:7]] == [
        ["100.00", "100.00"],
        ["100.00", "0.00"],
        ["50.00†", "100.00"],
    ]
    assert len(table.to_dict()["groups"]["news"]) == 3
