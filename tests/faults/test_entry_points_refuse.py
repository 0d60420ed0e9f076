"""Bad values through every entry point for rows in memory and in Parquet: an error with the row and the field."""

import copy
import datetime
import math
import warnings
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from shared import json_lines
from shared.late import datasets, evaluate
from shared.late import pandas as pd

import closeread
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.exceptions import FormatError, SubmissionError

GOLD = list(read_gold(load_corpus("mctaco"), "sample").records)[:6]
ROWS = [{"id": record["id"], "label": record["label"]} for record in GOLD]


class Frame:
    """A data frame like those of polars."""

    def __init__(self, table):
        self.table = table
        self.columns = table.column_names

    def __len__(self):
        return len(self.table)

    def __getitem__(self, name):
        return self.table[name]

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def raw(values):
    """An array of text with these bytes, which need not be UTF-8."""
    return pa.array(values, pa.binary()).view(pa.string())


def changed(value, name="label"):
    """The predictions with a value in the third row."""
    rows = copy.deepcopy(ROWS)
    rows[2][name] = value
    return rows


def in_list(value):
    return changed(value)


def in_columns(value):
    rows = changed(value)
    return {name: [row[name] for row in rows] for name in ("id", "label")}


def in_frame(value):
    return pd.DataFrame(
        {name: pd.Series(values, dtype=object) for name, values in in_columns(value).items()}
    )


ENTRY_POINTS = {"list": in_list, "columns": in_columns, "pandas": in_frame}
DEEP = [[]]
for _ in range(5000):
    DEEP = [DEEP]
CYCLE = []
CYCLE += [CYCLE, CYCLE]

VALUES = {
    "bytes": (b"yes", "b'yes' is bytes (expected a JSON value)"),
    "a date": (
        datetime.date(2020, 1, 2),
        "datetime.date(2020, 1, 2) is a date (expected a JSON value)",
    ),
    "a duration": (
        datetime.timedelta(1),
        "datetime.timedelta(days=1) is a timedelta (expected a JSON value)",
    ),
    "an object": (Path("yes"), "PosixPath('yes') is a PosixPath (expected a JSON value)"),
    "a complex number": (1j, "1j is a complex (expected a JSON value)"),
    "a control character": (
        "y\x1bes",
        r"the string 'y\x1bes' contains the control character U+001B",
    ),
    "a line end": ("yes\n", r"the string 'yes\n' contains the control character U+000A"),
    "a lone surrogate": ("y\ud800", r"the string 'y\ud800' contains the lone surrogate U+D800"),
    "infinity": (math.inf, "Infinity is not a valid JSON value"),
    "a huge decimal": (Decimal("-1e999999"), "-Infinity is not a valid JSON value"),
    "a huge integer": (10**5000, "contains a number with too many digits"),
    "half": (0.5, "0.5 is not one of 'no', 'yes'"),
    "a long integer": (2**70, f"{2**70} is not one of 'no', 'yes'"),
    "a list": (["yes"], "[\"yes\"] is not one of 'no', 'yes'"),
}


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
@pytest.mark.parametrize("name", VALUES)
def test_a_bad_value_is_refused_with_its_row_and_field(entry_point, name):
    value, said = VALUES[name]
    with pytest.raises(SubmissionError) as caught:
        closeread.score("mctaco", ENTRY_POINTS[entry_point](value), gold=GOLD)
    assert f"row 2: id 'test-00002': label: {said}" in str(caught.value)


def test_a_value_that_is_neither_true_nor_false():
    """pandas.NA compares to itself, and has no truth value; Arrow makes null of it, which is no prediction."""
    for predictions, message in (
        (
            in_list(pd.NA),
            "row 2: id 'test-00002': label: <NA> is a NAType (expected a JSON value)",
        ),
        (in_frame(pd.NA), "1 of 6 ids has no prediction: 'test-00002'"),
    ):
        with pytest.raises(SubmissionError) as caught:
            closeread.score("mctaco", predictions, gold=GOLD)
        assert message in str(caught.value)


@pytest.mark.parametrize("value", [DEEP, CYCLE], ids=["deep", "cycle"])
def test_values_without_a_bottom(value):
    for given in (changed(value), in_columns(value)):
        with pytest.raises(SubmissionError) as caught:
            closeread.score("mctaco", given, gold=GOLD)
        assert "row 2: " in str(caught.value)
        assert "is nested too deeply (limit: 100 levels)" in str(caught.value)


def test_all_rows_and_fields_are_told_at_once():
    rows = changed(b"yes")
    rows[3]["label"] = "maybe"
    rows[4] = {"id": "a\0", "label": math.nan}
    with pytest.raises(SubmissionError) as caught:
        closeread.score("mctaco", rows, gold=GOLD, missing="empty")
    for said in (
        "row 2: id 'test-00002': label: b'yes' is bytes",
        "row 3: id 'test-00003': label: 'maybe' is not one of",
        r"row 4: id: the string 'a\x00' contains the control character U+0000",
        "label: NaN is not a valid JSON value",
    ):
        assert said in str(caught.value)


# Columns of Arrow, in memory and in Parquet.

IDS = [row["id"] for row in ROWS]
LABELS = [row["label"] for row in ROWS]
STAMPS = [datetime.datetime(2020, 1, 1)] * 6
FOREIGN = {
    "binary": (pa.array([label.encode() for label in LABELS], pa.binary()), "is bytes"),
    "date": (pa.array(STAMPS, pa.date32()), "is a date"),
    "timestamp": (pa.array(STAMPS, pa.timestamp("us", "UTC")), "is a datetime"),
    "duration": (pa.array([datetime.timedelta(1)] * 6), "is a timedelta"),
    "bytes in a list": (pa.array([[b"a"]] * 6), "is bytes"),
    "uuid": (pa.array([b"0" * 16] * 6, pa.uuid()), "is an UUID"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_columns_of_other_types(name):
    column, kind = FOREIGN[name]
    table = pa.table({"id": IDS, "label": column})
    for given in (table, Frame(table), *table.to_batches()):
        with pytest.raises(SubmissionError) as caught:
            closeread.score("mctaco", given, gold=GOLD)
        assert f"{kind} (expected a JSON value)" in str(caught.value)
        assert "row 0: id 'test-00000': label" in str(caught.value)
    with pytest.raises(SubmissionError) as caught:
        evaluate.load("mctaco").compute(predictions=column, references=GOLD)
    assert f"{kind} (expected a JSON value)" in str(caught.value)


def whole(**columns):
    """The gold as a table with other columns."""
    return pa.table({**pa.Table.from_pylist(GOLD).to_pydict(), **columns})


def damaged(name="answer"):
    return whole(**{name: raw([b"a", b"a\xff", b"a", b"\xc3", b"a", b"a"])})


def gold_doors(table, folder):
    """The table through every entry point for gold that knows Arrow; with what messages call it."""
    yield table, "gold"
    yield Frame(table), "gold"
    yield datasets.Dataset(pa.Table.from_batches(table.to_batches())), "gold"
    pq.write_table(table, folder / "gold.parquet")
    yield folder / "gold.parquet", str(folder / "gold.parquet")


def test_text_that_is_not_utf_8(tmp_path):
    for given, source in gold_doors(damaged(), tmp_path):
        with pytest.raises(FormatError) as caught:
            closeread.score("mctaco", ROWS, gold=given)
        assert f"{source}: column 'answer' can't be read as string (" in str(caught.value)
        assert "UTF8" in str(caught.value)


def test_control_characters_in_gold(tmp_path):
    for given, source in gold_doors(whole(answer=["a", "b\x1b", "c", "d", "e", "f"]), tmp_path):
        with pytest.raises(FormatError) as caught:
            closeread.score("mctaco", ROWS, gold=given)
        said = r"answer: the string 'b\x1b' contains the control character U+001B"
        assert str(caught.value) == f"{source}: row 1: id 'test-00001': {said}"
    lines = json_lines.write(
        tmp_path / "gold.jsonl", whole(answer=["a", "b\x1b", "c", "d", "e", "f"]).to_pylist()
    )
    with pytest.raises(FormatError, match=r"U\+001B"):
        closeread.score("mctaco", ROWS, gold=lines)


COLUMNS = {
    "a missing column": (lambda: whole().drop_columns("answer"), ["field 'answer' is missing"]),
    "a column twice": (
        lambda: whole().append_column("answer", pa.array(["x"] * 6)),
        ["has several columns 'answer'"],
    ),
    "a list for text": (lambda: whole(answer=[["a"]] * 6), ["answer: expected text, found a list"]),
    "numbers for text": (lambda: whole(answer=range(6)), ["answer: expected text, found 5"]),
    "everything at once": (
        lambda: whole(answer=range(6), question=[b"a"] * 6, extra=[None] * 6),
        ["question: b'a' is bytes (expected a JSON value)"],
    ),
    "no columns": (lambda: pa.table({}), ["has no "]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_parquet_is_compared_with_the_schema(name, tmp_path):
    make, said = COLUMNS[name]
    pq.write_table(make(), tmp_path / "gold.parquet")
    with pytest.raises(FormatError) as caught:
        closeread.score("mctaco", ROWS, gold=tmp_path / "gold.parquet")
    assert str(caught.value).startswith(str(tmp_path))
    for text in said:
        assert text in str(caught.value)


@pytest.mark.parametrize("names", [("yes", "no"), ("no", "yes")])
def test_labels_as_numbers_of_every_kind(names):
    numbers = [names.index(row["label"]) for row in ROWS]
    table = datasets.Dataset.from_dict({"id": IDS, "label": numbers}).cast_column(
        "label", datasets.ClassLabel(names=list(names))
    )
    wanted = closeread.score("mctaco", ROWS, gold=GOLD).to_dict()
    assert closeread.score("mctaco", table, gold=GOLD).to_dict() == wanted
    if names == ("no", "yes"):
        for column in (
            map(float, numbers),
            map(np.float32, numbers),
            map(Decimal, numbers),
            map(np.int8, numbers),
        ):
            given = pd.DataFrame({"id": IDS, "label": list(column)})
            assert closeread.score("mctaco", given, gold=GOLD).to_dict() == wanted


def test_predictions_by_id_are_as_good_as_rows():
    wanted = closeread.score("mctaco", ROWS, gold=GOLD).to_dict()
    labels = {row["id"]: row["label"] for row in ROWS}
    frame = pd.DataFrame(ROWS)
    for given in (
        *(
            labels,
            {row["id"]: row for row in ROWS},
            {name: {"label": label} for name, label in labels.items()},
        ),
        *(dict(enumerate(ROWS)), {name: label == "yes" for name, label in labels.items()}),
        *(
            pd.Series(labels),
            frame.set_index("id"),
            pd.DataFrame({"label": labels}),
            frame.set_index("id", drop=False),
        ),
        frame.assign(label=frame["label"] == "yes"),
    ):
        assert closeread.score("mctaco", given, gold=GOLD).to_dict() == wanted
    for given, what in (
        (ROWS[0], "got a single row"),
        ({**labels, "nobody": "no"}, "id 'nobody' is not in the gold"),
        (frame.drop(columns="id"), "has no column 'id'"),
    ):
        with pytest.raises(SubmissionError, match=what):
            closeread.score("mctaco", given, gold=GOLD)
    clusters = {"a": [[[0, 0], [1, 1]]], "b": [[[0, 0], [2, 2]]]}
    assert closeread.score("coref", pd.Series(clusters), gold=clusters)["lea/f1"].value == 1


GOOD = {
    "large_string": lambda column: column.cast(pa.large_string()),
    "string_view": lambda column: column.cast(pa.string_view()),
    "dictionary": lambda column: column.dictionary_encode(),
}


@pytest.mark.parametrize("name", GOOD)
def test_other_arrow_types_of_the_same_values(name, tmp_path):
    wanted = closeread.score("mctaco", ROWS, gold=GOLD).to_dict()
    table = pa.table(
        {one: GOOD[name](column) for one, column in zip(GOLD[0], whole().columns, strict=True)}
    )
    try:
        datasets.Dataset(table)
    except ValueError:
        pytest.skip("this version of datasets lacks the type")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for given, _ in gold_doors(table, tmp_path):
            assert closeread.score("mctaco", ROWS, gold=given).to_dict() == wanted
