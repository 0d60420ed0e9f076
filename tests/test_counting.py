"""Counting in pieces gives what counting at once gives: scores, intervals and signature."""

import json
import pickle
import random

import pyarrow as pa
import pytest
from shared.entry_points import sample_gold, system_rows
from shared.late import pandas as pd

import closeread
from closeread import RequestError

CORPORA = ("mctaco", "tne", "semeval2015_timeline", "wikipossessions", "marmara_coref")


def clusters(seed):
    draw = random.Random(seed)
    spans = [[start, start] for start in range(6)]
    return [spans[: draw.randint(1, 3)], spans[3 : draw.randint(4, 6)]]


GOLD = {f"d{i}": clusters(i) for i in range(12)}
FOUND = {f"d{i}": clusters(i + 100) for i in range(12)}
WHOLE = closeread.score("coref", FOUND, gold=GOLD)


def count_part(names):
    return closeread.count(
        "coref", {name: FOUND[name] for name in names}, gold={name: GOLD[name] for name in names}
    )


def scores_of(report):
    return report.provenance.signature, report.scores


@pytest.mark.parametrize("n_parts", [1, 2, 5])
def test_merged_parts_give_the_report_of_the_whole(n_parts):
    names = list(GOLD)
    parts = [pickle.loads(pickle.dumps(count_part(names[i::n_parts]))) for i in range(n_parts)]
    for order in (parts, parts[::-1]):
        assert scores_of(closeread.merge(order).report()) == scores_of(WHOLE)


@pytest.mark.filterwarnings("ignore::closeread.exceptions.CloseReadWarning")  # of the samples
@pytest.mark.parametrize("corpus", CORPORA)
def test_batches_of_a_table_are_counted_as_rows_are(corpus):
    gold = [dict(row) for row in sample_gold(corpus)]
    rows = system_rows(corpus)
    key, value = {
        "wikipossessions": ("article", "possessions"),
        "marmara_coref": ("document", "clusters"),
    }.get(corpus, ("id", {"mctaco": "label", "tne": "relations"}.get(corpus, "entries")))
    found = {row[key]: row[value] for row in rows}
    table = [{**row, "found": found.get(row[key])} for row in gold]
    columns = {name: [row.get(name) for row in table] for name in table[0]}
    counted = closeread.count_batch(corpus, predictions="found", missing="empty")(columns)
    whole = closeread.score(corpus, rows, gold=gold, missing="empty")
    assert scores_of(closeread.merge(counted["counts"]).report()) == scores_of(whole)


def make_table():
    return [
        {"document": name, "key": GOLD[name], "response": FOUND[name], "topic": "x"}
        for name in GOLD
    ]


@pytest.mark.parametrize(
    "make",
    [
        pa.Table.from_pylist,
        lambda rows: pa.RecordBatch.from_pylist(rows),
        lambda rows: pd.DataFrame(rows),
        lambda rows: {name: [row[name] for row in rows] for name in rows[0]},
    ],
    ids=["table", "batch", "pandas", "dict"],
)
def test_a_batch_has_the_type_that_was_given(make):
    counter = pickle.loads(
        pickle.dumps(closeread.count_batch("coref", gold="key", predictions="response"))
    )
    halves = [counter(make(rows)) for rows in (make_table()[:5], make_table()[5:])]
    assert type(halves[0]) is type(make(make_table()))
    counts = [half["counts"][0] for half in halves]
    merged = closeread.merge(counts)
    assert len(counter({name: [] for name in make_table()[0]})["counts"]) == 0
    assert scores_of(merged.report()) == scores_of(WHOLE)


def test_a_column_has_the_groups_over_which_scores_are_averaged():
    """Batches cut through groups; each group is scored alone, too."""
    groups = {name: "tales" if number < 4 else "news" for number, name in enumerate(GOLD)}
    rows = [{**row, "genre": groups[row["document"]]} for row in make_table()]
    counter = closeread.count_batch(
        "coref", gold="key", predictions="response", groups="genre", undefined="zero"
    )
    counter = pickle.loads(pickle.dumps(counter))
    halves = [counter(pa.Table.from_pylist(part)) for part in (rows[:7], rows[7:])]
    report = closeread.merge([half["counts"][0].as_py() for half in halves]).report(ci=False)
    assert "|average:groups|groups:2|undefined:zero|" in report.provenance.signature
    alone = {}
    for group in ("tales", "news"):
        key, response = (
            {name: side[name] for name in side if groups[name] == group} for side in (GOLD, FOUND)
        )
        alone[group] = closeread.score("coref", response, gold=key, ci=False)
    for name, estimate in report.scores.items():
        values = [part.scores[name].value or 0 for part in alone.values()]
        assert estimate.value == pytest.approx(sum(values) / 2)
    with pytest.raises(RequestError, match="group_by names a field of the gold"):
        closeread.count_batch("mctaco", predictions="label", groups="category")(
            {"id": [1], "label": ["yes"]}
        )


def test_saved_counts_are_read_merged_and_compared(tmp_path):
    count_part(list(GOLD)[:6]).save(tmp_path / "a.parquet")
    count_part(list(GOLD)[6:]).save(tmp_path / "b.parquet")
    merged = closeread.merge(
        [tmp_path / "a.parquet", closeread.Counts.load(tmp_path / "b.parquet")], expect=GOLD
    )
    assert (len(merged), repr(merged)) == (12, "<Counts of coref: 12 documents>")
    # scored at once, with the same signature
    assert closeread.compare("coref", merged, FOUND, gold=GOLD)


def test_absent_foreign_and_changed_units_are_told():
    names = list(GOLD)
    with pytest.raises(RequestError, match=r"1 document of the expected gold not counted .'d11'."):
        closeread.merge([count_part(names[:-1])], expect=GOLD)
    less = {name: GOLD[name] for name in names[1:]}
    with pytest.raises(
        RequestError, match=r"1 document counted but not in the expected gold .'d0'."
    ):
        closeread.merge([count_part(names)], expect=less)
    with pytest.raises(RequestError, match=r"1 document counted with other gold .'d1'."):
        closeread.merge([count_part(names)], expect={**GOLD, "d1": [[[0, 0]]]})


def test_a_row_without_a_prediction_is_an_error_or_counts_as_asked():
    table = {
        "document": ["a", "b"],
        "clusters": [GOLD["d0"], GOLD["d1"]],
        "found": [FOUND["d0"], None],
    }
    with pytest.raises(RequestError, match="'b'"):
        closeread.count_batch("coref", predictions="found")(table)
    counted = closeread.count_batch("coref", predictions="found", missing="skip")(table)
    assert len(closeread.merge(counted["counts"])) == 1


def test_counts_report_slices_and_parameters():
    counts = count_part(list(GOLD))
    report = counts.report(ci=False)
    assert report.scores["b3/f1"].low is None
    assert counts.report(seed=3).scores != counts.report(seed=4).scores
    assert json.dumps(report.to_dict())
