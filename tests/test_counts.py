"""Tables of counts: breakdowns inside units, shards, and everything as plain data."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closeread.counts.metrics import F1, MeanOf, Ratio
from closeread.counts.table import Breakdown, CountTable, merge
from closeread.exceptions import RequestError
from closeread.tasks import load_procedure, procedure_names


def test_a_table_without_counts_has_no_totals():
    assert CountTable(["x", "y"], np.array([0, 1]), (), np.zeros((2, 0))).block_totals().shape == (
        2,
        0,
    )


KINDS = {
    "a": [[1, 2], [0, 0], [3, 4]],
    "b": [[0, 0], [0, 0], [0, 1]],
    "none": [[0, 0], [0, 0], [0, 0]],
}


def table():
    """Three units in two blocks, whose parts are of kind a or b."""
    values = np.array([[1, 2], [0, 0], [3, 5]], np.float64)
    kinds = Breakdown.from_dense(list(KINDS), np.array(list(KINDS.values()), np.float64))
    return CountTable(
        ["x", "y", "z"],
        np.array([0, 0, 1]),
        ("n", "m"),
        values,
        {"side": ["l", "r", "l"]},
        {"kind": kinds},
        [b"1" * 32, b"2" * 32, b"3" * 32],
    )


def rows(table, name):
    """What each slice counts, unit by unit."""
    return {
        part: (list(one.units), one.values.tolist()) for part, one in table.slices(name).items()
    }


def test_a_breakdown_keeps_only_parts_and_units_that_count_anything():
    assert len(table().breakdowns["kind"].unit) == 3
    assert rows(table(), "kind") == {"a": (["x", "z"], [[1, 2], [3, 4]]), "b": (["z"], [[0, 1]])}
    slices = table().slices("kind")
    assert [one.blocks.tolist() for one in slices.values()] == [[0, 1], [0]]
    assert [one.fields["side"] for one in slices.values()] == [["l", "l"], ["l"]]
    assert [one.breakdowns for one in slices.values()] == [{}, {}]


def test_selected_rows_keep_their_breakdown():
    some = table().select(np.array([False, True, True]))
    assert rows(some, "kind") == {"a": (["z"], [[3, 4]]), "b": (["z"], [[0, 1]])}
    assert some.select(np.array([True, False])).slices("kind") == {}
    nothing = table().select(np.zeros(3, np.bool_))
    assert nothing.slices("kind") == nothing.slices("side") == {}
    assert table().slices("side")["l"].slices("kind")["a"].values.tolist() == [[1, 2], [3, 4]]


def test_fewer_counts_keep_their_breakdown():
    one = table().with_counts(["m"])
    assert rows(one, "kind") == {"a": (["x", "z"], [[2], [4]]), "b": (["z"], [[1]])}
    same = table()
    assert same.with_counts(["n", "m"]) is same


def test_no_such_field():
    with pytest.raises(RequestError) as error:
        table().slices("colour")
    assert str(error.value) == "no such field to slice by: 'colour' (choose from: side, kind)"


@given(st.lists(st.booleans(), min_size=3, max_size=3))
def test_shards_merge_to_the_whole(first):
    mask = np.array(first)
    shards = [table().select(mask), table().select(~mask)]
    both = merge(shards)
    order = np.argsort(both.units)
    assert sorted(both.units) == ["x", "y", "z"]
    assert both.values[order].tolist() == table().values.tolist()
    assert sorted(both.digests) == sorted(table().digests)
    for name in ("kind", "side"):
        found = {part: dict(zip(*one, strict=True)) for part, one in rows(both, name).items()}
        assert found == {
            part: dict(zip(*one, strict=True)) for part, one in rows(table(), name).items()
        }


def test_shards_that_name_their_parts_in_another_order():
    whole = table()
    other = Breakdown(("b", "a"), np.array([0]), np.array([1]), np.array([[9.0, 9.0]]))
    values = np.array([[9.0, 9.0]])
    shard = CountTable(
        ["w"], np.array([0]), whole.names, values, {"side": ["r"]}, {"kind": other}, [b"4" * 32]
    )
    assert rows(merge([whole, shard]), "kind")["a"] == (["x", "z", "w"], [[1, 2], [3, 4], [9, 9]])


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ([], "no tables to merge"),
        ([table(), table().with_counts(["m"])], "the tables have different counts"),
        ([table(), table()], "unit 'x' is in several tables"),
    ],
)
def test_tables_that_do_not_belong_together(tables, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        merge(tables)


def test_scores_are_none_where_nothing_was_counted():
    empty = table().select(np.zeros(3, np.bool_))
    metrics = load_procedure("timeline").metrics
    counts = CountTable(
        [], np.zeros(0, np.int64), ("anchors/right", "events/shared"), np.zeros((0, 2))
    )
    assert counts.scores([metric for metric in metrics if metric.name == "anchor_accuracy"]) == {
        "anchor_accuracy": None
    }
    assert empty.scores([]) == {}


def test_formulas():
    counts = {
        "tp": np.array([1.0, 0.0, 0.0]),
        "system": np.array([2.0, 3.0, 0.0]),
        "gold": np.array([1.0, 1.0, 0.0]),
    }
    precision, recall = Ratio("tp", "system"), Ratio("tp", "gold")
    assert F1(precision, recall)(counts).tolist() == pytest.approx([2 / 3, 0, np.nan], nan_ok=True)
    assert MeanOf((precision, recall))(counts).tolist() == pytest.approx(
        [3 / 4, 0, np.nan], nan_ok=True
    )
    assert F1(precision, recall) == F1(Ratio("tp", "system"), Ratio("tp", "gold"))


@pytest.mark.parametrize("name", procedure_names())
def test_procedures_and_metrics_are_data(name):
    procedure = load_procedure(name)
    again = pickle.loads(pickle.dumps(procedure))
    assert again == procedure
    for family in procedure.families:
        narrow = procedure.with_metrics(family)
        back = pickle.loads(pickle.dumps(narrow))
        assert back.metrics == narrow.metrics
        if procedure.selective:
            assert (back.count.func, back.count.keywords) == (
                narrow.count.func,
                narrow.count.keywords,
            )
        else:
            assert back.count is narrow.count


def test_tables_are_data():
    back = pickle.loads(pickle.dumps(table()))
    assert rows(back, "kind") == rows(table(), "kind")
    assert (list(back.digests), back.values.tolist()) == (
        list(table().digests),
        table().values.tolist(),
    )
