"""What evaluate modules accept as inputs, and what they refuse; with McTaco's module."""

import numpy as np
import pyarrow as pa
import pytest

import closeread
from closeread.exceptions import SubmissionError

pytestmark = pytest.mark.usefixtures("offline")


def test_any_shape_of_the_same_input(mctaco, sample):
    records, labels = sample
    wanted = mctaco.compute(predictions=labels, references=records)
    loaded = closeread.load_dataset("mctaco", "sample", split="test")
    numbers = [int(label == "yes") for label in labels]
    essential = [
        {n: r[n] for n in ("question_id", "sentence_id", "label", "category")} for r in records
    ]
    extra = loaded.map(lambda row: {"input_ids": [1, 2]})
    for predictions in (labels, numbers, np.array(numbers), np.array(labels), tuple(labels)):
        for references in (records, loaded, list(loaded), essential, extra):
            assert mctaco.compute(predictions=predictions, references=references) == wanted


def shapes(loaded):
    """The sample's rows in everything that people hold rows in."""
    frame = loaded.to_pandas()
    yield loaded.with_format("arrow")
    yield loaded.with_format("pandas")
    yield loaded.with_format("numpy")
    yield loaded.to_iterable_dataset()
    yield closeread.load_dataset("mctaco", "sample", split="test", streaming=True)
    yield loaded[:]
    yield loaded.with_format("numpy")[:]
    yield frame
    yield frame.to_dict("records")
    yield loaded.data.table
    yield iter(list(loaded))


def test_any_table_as_references(mctaco, sample):
    records, labels = sample
    wanted = mctaco.report(predictions=labels, references=records, by="category")
    loaded = closeread.load_dataset("mctaco", "sample", split="test")
    for references in shapes(loaded):
        got = mctaco.report(predictions=labels, references=references, by="category")
        assert got == wanted, type(references)


def test_any_column_as_predictions(mctaco, sample, datasets):
    records, labels = sample
    wanted = mctaco.compute(predictions=labels, references=records)
    numbers = [int(label == "yes") for label in labels]
    table = datasets.Dataset.from_dict({"label": numbers, "text": labels})
    columns = [
        table["label"],
        table["text"],
        table.with_format("arrow")[:]["label"],
        table.to_pandas()["text"],
    ]
    columns += [
        [np.str_(label) for label in labels],
        [np.int32(n) for n in numbers],
        [np.array(n) for n in numbers],
    ]
    columns += [
        table.with_format("numpy")["label"],
        iter(numbers),
        pa.chunked_array([numbers[:5], numbers[5:]]),
    ]
    for predictions in columns:
        assert mctaco.compute(predictions=predictions, references=records) == wanted, type(
            predictions
        )


def test_tensors(mctaco, sample):
    torch = pytest.importorskip("torch")
    records, labels = sample
    wanted = mctaco.compute(predictions=labels, references=records)
    tensor = torch.tensor([int(label == "yes") for label in labels])
    loaded = closeread.load_dataset("mctaco", "sample", split="test").with_format("torch")
    for predictions in (tensor, list(tensor), tuple(tensor)):
        assert mctaco.compute(predictions=predictions, references=loaded) == wanted
    assert mctaco.compute(predictions=tensor, references=loaded[:]) == wanted


def test_one_bad_row_among_columns_that_are_not_ours(mctaco, sample):
    records, labels = sample
    rows = [
        {**record, "input_ids": [1, 2], "label": int(record["label"] == "yes")}
        for record in records
    ]
    del rows[5]["category"]
    with pytest.raises(SubmissionError) as caught:
        mctaco.compute(predictions=labels, references=rows)
    assert str(caught.value) == "references: row 5: field 'category' is missing"


def test_questions_that_contradict_themselves(mctaco, sample):
    records, labels = sample
    rows = [dict(record) for record in records]
    rows[1]["category"] = "Stationarity"
    for call in (mctaco.compute, mctaco.report):
        with pytest.raises(
            SubmissionError, match=r"references: row 1: question 'test-q0000' has category"
        ):
            call(predictions=labels, references=rows)
    mctaco.add_batch(predictions=labels, references=rows)
    with pytest.raises(
        SubmissionError, match=r"references: row 1: question 'test-q0000' has category"
    ):
        mctaco.compute()


SHAPELESS = {
    "a number": (1, None, "predictions: expected a list with one item per row, got an int"),
    "a text": ("yes", None, "predictions: expected a list with one item per row, got a str"),
    "splits": (["yes"], "splits", "references: got a split by name, 'test' (expected the rows of one split)"),
    "ragged columns": (["yes"], {"label": ["yes"], "category": []},
                       "references: columns differ in length: label 1, category 0 "
                       "(expected one value per row in each)"),
    "other columns": (["yes"], {"text": ["yes"]},
                      "references: has none of the fields of a record "
                      "(expected question_id, sentence_id, label, category)"),
    "a column too few": (["yes"], {"label": ["yes"], "question_id": ["q"], "sentence_id": ["s"]},
                         "references: row 0: field 'category' is missing"),
    "labels for rows": (["yes"], ["yes"], "references: found values such as 'yes' "
                        "(expected the rows of closeread.load_dataset('mctaco'))"),
    "logits": ([[0.1, 0.9]], None, "predictions: found lists of numbers, such as logits "
               "(expected one label per row: predictions.argmax(axis=-1))"),
    "a number for rows": (["yes"], 7, "references: expected a list with one item per row, got an int"),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPELESS)
def test_what_holds_no_rows(mctaco, sample, name):
    predictions, references, message = SHAPELESS[name]
    if references is None:
        references = sample[0]
    elif references == "splits":
        references = closeread.load_dataset("mctaco", "sample")
    with pytest.raises(SubmissionError) as caught:
        mctaco.compute(predictions=predictions, references=references)
    assert str(caught.value) == message


def test_adding_nothing(mctaco):
    with pytest.raises(
        SubmissionError, match="references: expected a list with one item per row, got None"
    ):
        mctaco.add_batch()
    with pytest.raises(
        SubmissionError, match=r"references: row 0: expected an object such as .*, found null"
    ):
        mctaco.add()


def test_messages_hold_no_look_ahead(mctaco, sample):
    row = {**sample[0][0], "question_id": "a b"}
    with pytest.raises(SubmissionError) as caught:
        mctaco.compute(predictions=["yes"], references=[row])
    expected = "(expected 1 to 64 ASCII letters, digits, '_', '.' and '-')"
    assert str(caught.value) == f"references: row 0: question_id: 'a b' is not valid {expected}"


def test_labels_mean_what_the_dataset_says(mctaco, sample, datasets):
    records, labels = sample
    wanted = mctaco.report(predictions=labels, references=records, by="category")
    other = datasets.Dataset.from_list(records).cast_column(
        "label", datasets.ClassLabel(names=["yes", "no"])
    )
    # in alphabetical order, which is not the schema's
    other = other.class_encode_column("category")
    got = mctaco.report(predictions=labels, references=other, by="category")
    assert got.total.scores == wanted.total.scores
    assert got.slices == wanted.slices
    assert mctaco.compute(
        predictions=labels, references=other.with_format("numpy")
    ) == mctaco.compute(predictions=labels, references=records)


NO_LABEL = "is not one of 'no', 'yes'; did you mean 'yes'?"
BAD = {
    "a label that is none": ({"predictions": ["yes", "Yes"]}, f"predictions: row 1: 'Yes' {NO_LABEL}"),
    "a number that is no label": ({"predictions": [0, 2]}, "predictions: row 1: 2 is not one of 'no', 'yes'"),
    "a share of a label": ({"predictions": [0, 0.5]}, "predictions: row 1: 0.5 is not one of 'no', 'yes'"),
    "no label": (
        {"predictions": [0, None]},
        "predictions: row 1: is None (expected a prediction, or missing='empty' or missing='skip')",
    ),
    "too few predictions": (
        {"predictions": [0]},
        "predictions: 1 prediction for 2 references (expected one prediction per reference)",
    ),
    "a field too few": ({"references": [{}, {}]}, None),
    "a field of the wrong kind": (
        {"references": [("question_id", 7)]},
        "references: row 1: question_id: expected text, found 7",
    ),
    "an unknown category": (
        {"references": [("category", "Frequenzy")]},
        "references: row 1: category: 'Frequenzy' is not one of "
        "'Event Duration', 'Event Ordering', 'Frequency', 'Typical Time', 'Stationarity'; did you mean 'Frequency'?",
    ),
    "only predictions": ({"references": None}, "mctaco: predictions and references are both required"),
}  # fmt: skip


def inputs(changes):
    row = {"question_id": "q", "sentence_id": "s", "label": "yes", "category": "Frequency"}
    references = [dict(row), dict(row)]
    if changes.get("references", ()) is None:
        references = None
    elif changes.get("references") == [{}, {}]:
        references = [row, {"question_id": "q"}]
    else:
        for name, value in changes.get("references", ()):
            references[1][name] = value
    return {"predictions": changes.get("predictions", ["yes", "no"]), "references": references}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_names_row_and_field(mctaco, name):
    changes, message = BAD[name]
    given = inputs(changes)
    with pytest.raises(SubmissionError) as caught:
        mctaco.compute(**given)
    if message is None:
        assert "references: row 1: field 'label' is missing" in str(caught.value)
    else:
        assert str(caught.value) == message


def test_all_problems_of_a_side_at_once(mctaco):
    given = inputs({"predictions": ["Yes", "No"]})
    with pytest.raises(SubmissionError) as caught:
        mctaco.report(**given)
    assert [p.text for p in caught.value.problems] == [
        f"row 0: 'Yes' {NO_LABEL}",
        "row 1: 'No' is not one of 'no', 'yes'; did you mean 'no'?",
    ]


def test_equal_problems_are_told_once(mctaco):
    rows = closeread.load_dataset("mctaco", "sample", split="test")
    with pytest.raises(SubmissionError) as caught:
        mctaco.compute(predictions=["maybe"] * len(rows), references=rows)
    assert str(caught.value).splitlines() == [
        "predictions: 103 problems of 2 kinds:",
        "predictions: row 0: 'maybe' is not one of 'no', 'yes' (100 times; also row 1, row 2, row 3, …)",
        "predictions: row 100: is invalid, too (only 100 rows are explained) (3 times; also row 101, row 102)",
    ]


def test_in_a_training_loop(mctaco, datasets):
    # As a Trainer calls it: logits and the labels of an evaluation set, batch by batch.
    rows = closeread.load_dataset("mctaco", "sample", split="test")
    logits = np.random.default_rng(0).normal(size=(len(rows), 2))
    scores = mctaco.compute(predictions=logits.argmax(axis=-1), references=rows)
    assert set(scores) == {"exact_match", "f1"}
    assert isinstance(rows, datasets.Dataset)
