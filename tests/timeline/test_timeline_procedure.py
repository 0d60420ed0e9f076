"""The procedure `timeline`: hand cases, timelines without predictions, and what must hold of any input."""

import json
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.count_tables import score_table, sum_counts
from shared.timelines import entries
from twins import timelines as twin

import closeread
from closeread.counts.metrics import by_name
from closeread.counts.table import merge
from closeread.exceptions import SubmissionError
from closeread.tasks.timeline.procedure import PROCEDURE, count
from closeread.tasks.timeline.relations import (
    build_timeline,
    reduce_relations,
    timeline_counts,
)

CASES = json.loads((Path(__file__).parent.parent / "cases" / "timeline.json").read_text("utf-8"))
COLUMNS = {
    "awareness": ("verified_of_system", "system", "verified_of_gold", "gold"),
    "events": ("shared", "system", "gold"),
    "anchors": ("right",),
}


def timelines(sides):
    """Records of timelines, each given as rows (position, anchor, mentions); None is no record."""
    return [
        None
        if rows is None
        else {"id": f"thing_{i}", "entity": f"Thing {i}", "entries": entries(rows)}
        for i, rows in enumerate(sides)
    ]


@pytest.mark.parametrize("case", CASES["scores"], ids=lambda case: case["name"])
def test_hand_cases(case):
    options = PROCEDURE.keep_options(
        PROCEDURE.resolve_options(case.get("options", {})), reading=False
    )
    table = count(gold=timelines(case["gold"]), system=timelines(case["system"]), **options)
    got, totals = score_table(table, PROCEDURE), sum_counts(table)
    for family, expected in case["counts"].items():
        assert [totals[f"{family}/{name}"] for name in COLUMNS[family]] == expected, family
    for name, expected in case["expected"].items():
        if name == "anchor_accuracy":
            wanted = np.nan if expected is None else float(Fraction(expected))
            assert got[name] == pytest.approx(wanted, abs=1e-12, nan_ok=True)
        else:
            parts = [got[f"{name}/{part}"] for part in ("precision", "recall", "f1")]
            assert parts == pytest.approx(
                [float(Fraction(score)) for score in expected], abs=1e-12
            ), name


ONE, TWO = ([[1, "2010", ["1-1-a"]]], [[2, "2011", ["1-2-b"]]])


def test_timelines_without_predictions():
    gold, system = timelines([ONE, TWO]), timelines([ONE, None])
    empty = count(gold=gold, system=system)
    assert (list(empty.units), score_table(empty, PROCEDURE)["awareness/recall"]) == (
        ["thing_0", "thing_1"],
        0.5,
    )
    skipped = count(gold=gold, system=system, missing="skip")
    assert (list(skipped.units), score_table(skipped, PROCEDURE)["awareness/recall"]) == (
        ["thing_0"],
        1,
    )
    with pytest.raises(ValueError, match="1 of 2 timelines have no prediction"):
        count(gold=gold, system=system, missing="error")


@pytest.mark.parametrize("missing", ["empty", "skip", "error"])
def test_a_timeline_without_entries_is_left_out(missing):
    for predicted in (ONE, [], None):
        table = count(
            gold=timelines([[], TWO]), system=timelines([predicted, TWO]), missing=missing
        )
        assert (list(table.units), table.n_blocks) == (["thing_1"], 1)
        assert table.values.tolist() == [[1, 1, 1, 1, 1, 1, 1, 1]]


def test_nothing_at_all():
    table = count(gold=[], system=[])
    assert (len(table.units), table.n_blocks) == (0, 0)
    assert [score_table(table, PROCEDURE)[name] for name in ("awareness/f1", "events/f1")] == [0, 0]
    totals = table.values.sum(axis=0)
    decided = {
        metric.name
        for metric in PROCEDURE.metrics
        if metric.evaluate(by_name(totals, table.names))[1]
    }
    assert decided == {metric.name for metric in PROCEDURE.metrics} - {"anchor_accuracy"}


def test_the_signature_says_how_scores_are_averaged_unless_counts_are_summed():
    micro, events = (
        PROCEDURE.resolve_options({"average": average}) for average in ("micro", "events")
    )
    assert (
        PROCEDURE.signature(micro, "0" * 64)
        == "timeline|version:1|track:full|missing:empty|gold:000000000000"
    )
    assert "|average:events|" in PROCEDURE.signature(events, "0" * 64)


ENTRY = st.tuples(
    st.integers(0, 4),
    st.sampled_from(["2010", "2010-1", "2010-10", "2011", "XXXX-XX-XX"]),
    st.lists(st.sampled_from([f"{i}-{i % 3}-go" for i in range(1, 12)]), min_size=1, max_size=3),
)
SIDE = st.lists(ENTRY, max_size=8)
PAIRS = st.lists(st.tuples(SIDE, SIDE), min_size=1, max_size=4)
TRACK = st.sampled_from(["full", "ordering"])


def counted(pairs, track, average="micro"):
    gold, system = (timelines(sides) for sides in zip(*pairs, strict=True))
    return count(gold=gold, system=system, track=track, average=average)


@given(PAIRS, TRACK, st.randoms())
def test_the_order_of_entries_and_timelines_does_not_matter(pairs, track, random):
    # Here no two entries are equal in the sort without being equal.
    shuffled = [tuple(random.sample(side, len(side)) for side in pair) for pair in pairs]
    there, back = counted(pairs, track), counted(shuffled[::-1], track)
    assert there.values.tolist() == back.values[::-1].tolist()


@given(PAIRS, TRACK)
def test_the_average_over_events_is_the_sum_of_the_scores_of_single_timelines(pairs, track):
    scored = [pair for pair in pairs if pair[0]]
    alone = [
        (len(gold), score_table(counted([(gold, system)], track), PROCEDURE))
        for gold, system in scored
    ]
    together = score_table(counted(pairs, track, "events"), PROCEDURE)
    for metric in PROCEDURE.metrics:
        parts = [(weight, scores[metric.name]) for weight, scores in alone]
        defined = [(weight, score) for weight, score in parts if not np.isnan(score)]
        if not defined:
            expected = 0.0 if metric.zero_division == 0 else np.nan
        else:
            expected = sum(w * score for w, score in defined) / sum(w for w, _ in defined)
        assert together[metric.name] == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_timelines_with_nothing_in_common_are_told():
    # A timeline of one event without predictions, and one of two events.
    longer = [[1, "2011", ["1-2-b"]], [2, "2012", ["1-3-c"]]]
    gold, system = timelines([ONE, longer]), timelines([[], longer])
    told = r"1 of 2 timelines has no Anchor accuracy \(0/0\): left out of the mean"
    with pytest.warns(closeread.CloseReadWarning, match=told):
        closeread.count("timeline", system, gold=gold, average="events")


def test_intervals_and_merging_follow_the_weights():
    # Two timelines of 3 events and 1, with awareness F1 of 4/7 and 1: resampled twice each, or merged, they stay so.
    gold = timelines(
        [[[1, "2010", ["1-1-a"]], [2, "2011", ["1-2-b"]], [3, "2012", ["1-3-c"]]], ONE]
    )
    system = timelines([[[1, "2010", ["1-1-a"]], [2, "2012", ["1-3-c"]]], ONE])
    table = count(gold=gold, system=system, average="events")
    (f1,) = [metric for metric in PROCEDURE.metrics if metric.name == "awareness/f1"]
    for weights, expected in (
        ((2, 0), 4 / 7),
        ((0, 2), 1),
        ((1, 1), (3 * 4 / 7 + 1) / 4),
        ((2, 1), (6 * 4 / 7 + 1) / 7),
    ):
        assert float(f1.score(np.array(weights) @ table.values, table.names)) == pytest.approx(
            expected
        )
    parts = [
        count(gold=[g], system=[s], average="events") for g, s in zip(gold, system, strict=True)
    ]
    assert np.array_equal(merge(parts).values, table.values)


def counts(gold, system, track="full"):
    return timeline_counts(entries(gold), entries(system), track).tolist()


# Walks.


def as_walk(names):
    """Times numbered in order of first appearance."""
    number = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return [number[name] for name in names]


@pytest.mark.parametrize(
    ("names", "steps", "expected"),
    [
        ("", "", ""),
        ("A", "", ""),
        ("ABC", "<<", "++"),
        ("AAB", "=<", ".+"),
        ("AAB", "<<", "?+"),
        ("ABA", "<<", "+?"),
        ("ABA", "<=", "+?"),
        ("ABA", "==", "+."),
        ("ABA", "=<", "+?"),
        ("ABAB", "<?<", "+?."),
        ("ABAC", "<?<", "+?+"),
        ("ABACB", "<?<<", "+?++"),
        ("ABACBC", "<?<<<", "+?++?"),
        ("ABACBC", "<?<<=", "+?++?"),
        ("ABACBC", "<?<==", "+?++."),
        ("ABACBAC", "<?<=?<", "+?++?."),
        ("ABACADBDC", "<?<?<<?<", "+?+?++?+"),
        # B = D puts B before C, as D is.
        ("ABADCABDABC", "<?<<?<=?<<", "+?++?.+?.."),
    ],
)
def test_walks(names, steps, expected):
    # A question mark is a step that both would contradict: back to where it came from.
    _, statuses = reduce_relations(as_walk(names), [step != "=" for step in steps])
    signs = {"new": "+", "entailed": ".", "contradictory": "?"}
    assert "".join(signs[status] for status in statuses) == expected


@given(st.lists(st.integers(0, 7), min_size=1, max_size=24), st.data())
def test_a_walk_is_a_sequential_reduction(names, data):
    later = data.draw(st.lists(st.booleans(), min_size=len(names) - 1, max_size=len(names) - 1))
    at = as_walk(names)
    order, statuses = reduce_relations(at, later)
    graph = []
    for i, after in enumerate(later):
        relation = (twin.BEFORE if after else twin.SIMULTANEOUS, at[i], at[i + 1])
        if twin.entailed(relation, graph):
            assert statuses[i] == "entailed"
        elif twin.contradicted(relation, graph):
            assert statuses[i] == "contradictory"
        else:
            assert statuses[i] == "new"
            graph.append(relation)
    times = range(max(at) + 1)
    ways = {a: twin.ways(graph, a) for a in times}
    for a in times:
        for b in times:
            expected = (
                0
                if (b, False) in ways[a]
                else -1
                if (b, True) in ways[a]
                else 1
                if (a, True) in ways[b]
                else None
            )
            assert order.compare(a, b) == expected


# The order of entries.


CELL = st.text(st.sampled_from("a1 0\t-"), max_size=3)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 1), st.sampled_from(["1", "1 ", " ", "a"]), st.lists(CELL, max_size=2)
        )
    )
)
def test_entries_stand_in_the_order_of_the_sorted_lines(rows):
    numbered = [(*row, number) for number, row in enumerate(rows)]
    expected = sorted(numbered, key=lambda row: twin.key(row[:3]))
    mentions = build_timeline(entries(rows), "full").mentions
    assert [mention.entry for mention in mentions] == [
        number for *_, texts, number in expected for _ in texts
    ]


# Input of any kind.


def texts(rows):
    return [mention.text for mention in build_timeline(entries(rows), "full").mentions]


def test_long_numbers():
    long = "9" * 5000
    rows = [
        (1, "", [f"1{long}-x"]),
        (1, "", [f"{long}-x"]),
        (1, "", ["7-x"]),
        (10**30, "", ["8-x"]),
    ]
    assert texts(rows) == [f"{n}-x" for n in ("7", long, f"1{long}", "8")]
    assert counts(rows, rows, "ordering")[:4] == [3] * 4
    assert counts(rows[1:2] + rows[3:], rows[:1] + rows[3:], "ordering")[:4] == [0, 1, 0, 1]


def test_white_space_at_the_end_is_no_part_of_the_sort():
    rows = [(1, "", ["b "]), (1, "", ["b"]), (1, "", ["a\u00a0"]), (1, "", ["a"])]
    # No break is text; the mentions themselves stay as they are.
    assert texts(rows) == ["a", "a\u00a0", "b ", "b"]
    assert texts([rows[1], rows[0]]) == ["b", "b "]
    assert counts([rows[0]], [rows[1]]) == [0, 1, 0, 1, 0, 1, 1, 0]


@pytest.fixture(scope="module")
def metric(evaluate):
    return evaluate.load("timeline_awareness")


@pytest.fixture(scope="module")
def records():
    """The sample's timelines, with the spans of their mentions."""
    return list(closeread.load_dataset("semeval2015_timeline", "sample", split="test"))


def bare(records):
    """Timelines without spans."""
    fields = ("position", "anchor", "mentions")
    return [
        {**row, "entries": [{name: entry[name] for name in fields} for entry in row["entries"]]}
        for row in records
    ]


@pytest.mark.gate
def test_timelines_stand_in_the_order_of_gold(metric, records):
    with pytest.raises(SubmissionError) as caught:
        metric.compute(predictions=bare(records)[::-1], references=records)
    assert [record["id"] for record in records] == ["aurelia", "mara_lindqvist", "northbay_ferries"]
    assert str(caught.value) == (
        "predictions: 2 problems:\n"
        "predictions: row 0: id is 'northbay_ferries' (expected 'aurelia', as in the gold)\n"
        "predictions: row 2: id is 'aurelia' (expected 'northbay_ferries', as in the gold)"
    )


@pytest.mark.gate
def test_spans_are_not_read(metric, records):
    assert any(entry["spans"] for row in records for entry in row["entries"])
    wrong = [
        {**row, "entries": [{**entry, "spans": []} for entry in row["entries"]]} for row in records
    ]
    for rows in (records, wrong, bare(records)):
        assert metric.compute(predictions=rows, references=records)["awareness/f1"] == 1


def test_each_timeline_is_built_once_a_score():
    # Notes on contradictions need the same timelines as the counts.
    gold = timelines([[(1, "2007-01-01", [f"1-{n}-go"]), (2, "", [f"2-{n}-go"])] for n in (0, 1)])
    system = timelines([[(1, "2007-01-01", [f"1-{n}-go"])] for n in (0, 2)])
    n_built = 0

    def count_calls(frame, event, argument):
        nonlocal n_built
        n_built += event == "call" and frame.f_code is reduce_relations.__code__

    sys.setprofile(count_calls)
    try:
        closeread.score("timeline", system, gold=gold, ci=False)
    finally:
        sys.setprofile(None)
    assert n_built == len(gold) + len(system)
