"""Every folder of `metrics/`, as an evaluate module; and McTaco's in detail."""

import doctest
import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path

import datasets
import evaluate
import numpy as np
import pyarrow as pa
import pytest
from filelock import FileLock

import closeread
from closeread.corpora.gold import load_corpus, read_gold
from closeread.counts.report import Resampling
from closeread.errors import RequestError, SubmissionError
from closeread.hf.metric import EvaluateModule
from closeread.hf.modules import class_name, install_modules, module_names
from closeread.scoring import score

pytestmark = pytest.mark.usefixtures("offline")
ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("name", module_names())
def test_a_module_loads_in_every_way(name):
    by_name, ours = evaluate.load(name), closeread.load_metric(name)
    by_path = evaluate.load(str(ROOT / "metrics" / name))
    assert {module.name for module in (by_name, ours, by_path)} == {name}
    assert all(isinstance(module, EvaluateModule) for module in (by_name, ours, by_path))
    wanted = [metric.name for metric in ours.PROCEDURE.metrics]
    assert [[metric.name for metric in m.PROCEDURE.metrics] for m in (by_name, by_path)] == [wanted, wanted]
    assert name in ours.PROCEDURE.modules


@pytest.mark.parametrize("name", module_names())
def test_a_module_explains_itself(name):
    module = evaluate.load(name)
    assert module.description
    assert module.citation.startswith(("@inproceedings{", "@article{"))
    for option in module.PROCEDURE.options:
        assert option.help in module.compute.__doc__
        assert inspect.signature(module.compute).parameters[option.name].default == option.default
    for metric in module.PROCEDURE.metrics:
        assert metric.description in module.inputs_description


@pytest.mark.parametrize("name", module_names())
def test_examples_of_docstring_and_card_run(name):
    module = importlib.import_module(f"closeread.metrics.{name}.{name}")
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    for text, where in (
        (inspect.getdoc(getattr(module, class_name(name))), "docstring"),
        ((ROOT / "metrics" / name / "README.md").read_text("utf-8"), "card"),
    ):
        test = parser.get_doctest(text, {}, where, None, 0)
        assert len(test.examples) > 1, f"the {where} of {name} teaches by example"
        assert runner.run(test).failed == 0


@pytest.fixture
def sample():
    """Gold records of the sample and labels with every third turned."""
    records = list(read_gold(load_corpus("mctaco"), "sample").records)
    turned = {"yes": "no", "no": "yes"}
    return records, [r["label"] if i % 3 else turned[r["label"]] for i, r in enumerate(records)]


@pytest.fixture
def mctaco(offline):
    return evaluate.load("mctaco")


def test_scores_are_those_of_the_report(mctaco, sample, tmp_path):
    records, labels = sample
    (tmp_path / "predictions.txt").write_text("".join(f"{label}\n" for label in labels))
    report = score("mctaco", tmp_path / "predictions.txt", config="sample", resampling=Resampling(200))
    scores = mctaco.compute(predictions=labels, references=records)
    assert scores == {name: estimate.value for name, estimate in report.total.scores.items()}
    assert all(type(value) is float for value in scores.values())
    same = mctaco.report(predictions=labels, references=records, resampling=Resampling(200))
    assert same.total == report.total
    assert same.provenance.signature == report.provenance.signature


def test_any_shape_of_the_same_input(mctaco, sample):
    records, labels = sample
    wanted = mctaco.compute(predictions=labels, references=records)
    loaded = closeread.load_dataset("mctaco", "sample", split="test")
    numbers = [int(label == "yes") for label in labels]
    essential = [{n: r[n] for n in ("question_id", "sentence_id", "label", "category")} for r in records]
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


def test_any_column_as_predictions(mctaco, sample):
    records, labels = sample
    wanted = mctaco.compute(predictions=labels, references=records)
    numbers = [int(label == "yes") for label in labels]
    table = datasets.Dataset.from_dict({"label": numbers, "text": labels})
    columns = [table["label"], table["text"], table.with_format("arrow")[:]["label"], table.to_pandas()["text"]]
    columns += [[np.str_(label) for label in labels], [np.int32(n) for n in numbers], [np.array(n) for n in numbers]]
    columns += [table.with_format("numpy")["label"], iter(numbers), pa.chunked_array([numbers[:5], numbers[5:]])]
    for predictions in columns:
        assert mctaco.compute(predictions=predictions, references=records) == wanted, type(predictions)


def test_tensors(mctaco, sample):
    torch = pytest.importorskip("torch")
    records, labels = sample
    wanted = mctaco.compute(predictions=labels, references=records)
    tensor = torch.tensor([int(label == "yes") for label in labels])
    loaded = closeread.load_dataset("mctaco", "sample", split="test").with_format("torch")
    for predictions in (tensor, list(tensor), tuple(tensor)):
        assert mctaco.compute(predictions=predictions, references=loaded) == wanted
    assert mctaco.compute(predictions=tensor, references=loaded[:]) == wanted


def test_missing_predictions_are_what_the_option_says(mctaco, sample, tmp_path):
    records, labels = sample
    labels = [None if i % 7 == 0 else label for i, label in enumerate(labels)]
    rows = [{"id": r["id"], "label": label} for r, label in zip(records, labels, strict=True) if label is not None]
    (tmp_path / "some.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    scores = {}
    for missing in ("empty", "skip"):
        report = score("mctaco", tmp_path / "some.jsonl", config="sample", resampling=Resampling(0), missing=missing)
        scores[missing] = mctaco.compute(predictions=labels, references=records, missing=missing)
        assert scores[missing] == {name: estimate.value for name, estimate in report.total.scores.items()}
        same = mctaco.report(predictions=labels, references=records, resampling=Resampling(0), missing=missing)
        assert same.total == report.total
        assert same.provenance.signature == report.provenance.signature
        assert same.provenance.missing == report.provenance.missing == 15
    assert scores["empty"] != scores["skip"]
    with pytest.raises(
        SubmissionError, match=r"row 1: is None \(expected a prediction, or missing='empty' or missing='skip'\)"
    ):
        mctaco.compute(predictions=["yes", None], references=records[:2])
    with pytest.raises(SubmissionError, match="row 1: 'Yes' is not one of"):
        mctaco.compute(predictions=[None, "Yes"], references=records[:2], missing="skip")


def test_one_bad_row_among_columns_that_are_not_ours(mctaco, sample):
    records, labels = sample
    rows = [{**record, "input_ids": [1, 2], "label": int(record["label"] == "yes")} for record in records]
    del rows[5]["category"]
    with pytest.raises(SubmissionError) as caught:
        mctaco.compute(predictions=labels, references=rows)
    assert str(caught.value) == "references: row 5: 'category' is a required property"


def test_questions_that_contradict_themselves(mctaco, sample):
    records, labels = sample
    rows = [dict(record) for record in records]
    rows[1]["category"] = "Stationarity"
    for call in (mctaco.compute, mctaco.report):
        with pytest.raises(SubmissionError, match=r"references: row 1: question 'test-q0000' has category"):
            call(predictions=labels, references=rows)
    mctaco.add_batch(predictions=labels, references=rows)
    with pytest.raises(SubmissionError, match=r"references: row 1: question 'test-q0000' has category"):
        mctaco.compute()


SHAPELESS = {
    "a number": (1, None, "predictions: expected a list with one item per row, got an int"),
    "a text": ("yes", None, "predictions: expected a list with one item per row, got a str"),
    "splits": (["yes"], "splits", "references: got several splits: 'test' (expected the rows of one split)"),
    "ragged columns": (["yes"], {"label": ["yes"], "category": []},
                       "references: columns differ in length: label 1, category 0 "
                       "(expected one value per row in each)"),
    "other columns": (["yes"], {"text": ["yes"]},
                      "references: has none of the fields of a record "
                      "(expected question_id, sentence_id, label, category)"),
    "a column too few": (["yes"], {"label": ["yes"], "question_id": ["q"], "sentence_id": ["s"]},
                         "references: row 0: 'category' is a required property"),
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
    with pytest.raises(SubmissionError, match="references: expected a list with one item per row, got None"):
        mctaco.add_batch()
    with pytest.raises(SubmissionError, match="references: row 0: None is not of type 'object'"):
        mctaco.add()


def test_messages_hold_no_look_ahead(mctaco, sample):
    row = {**sample[0][0], "question_id": "a b"}
    with pytest.raises(SubmissionError) as caught:
        mctaco.compute(predictions=["yes"], references=[row])
    expected = "(expected 1 to 64 ASCII letters, digits, '_', '.' and '-')"
    assert str(caught.value) == f"references: row 0: question_id: 'a b' is not valid {expected}"


def test_adding_comes_to_the_same(mctaco, sample):
    records, labels = sample
    wanted = mctaco.compute(predictions=labels, references=records)
    for record, label in zip(records, labels, strict=True):
        mctaco.add(prediction=label, reference=record)
    assert mctaco.compute() == wanted
    for start in range(0, len(labels), 10):
        part = slice(start, start + 10)
        mctaco.add_batch(predictions=labels[part], references=records[part])
    assert mctaco.compute() == wanted
    mctaco.add_batch(predictions=labels[:50], references=records[:50])
    assert mctaco.compute(predictions=labels[50:], references=records[50:]) == wanted


def test_labels_mean_what_the_dataset_says(mctaco, sample):
    records, labels = sample
    wanted = mctaco.report(predictions=labels, references=records, by="category")
    other = datasets.Dataset.from_list(records).cast_column("label", datasets.ClassLabel(names=["yes", "no"]))
    other = other.class_encode_column("category")  # in alphabetical order, which is not the schema's
    got = mctaco.report(predictions=labels, references=other, by="category")
    assert got.total.scores == wanted.total.scores
    assert got.slices == wanted.slices
    assert mctaco.compute(predictions=labels, references=other.with_format("numpy")) == mctaco.compute(
        predictions=labels, references=records
    )


def test_combined_modules_add(sample):
    records, labels = sample
    both = evaluate.combine(["mctaco", "mctaco"])
    for record, label in zip(records[:30], labels[:30], strict=True):
        both.add(prediction=label, reference=record)
    scores = evaluate.load("mctaco").compute(predictions=labels[:30], references=records[:30])
    assert both.compute() == {f"mctaco_{i}_{name}": value for i in (0, 1) for name, value in scores.items()}


def test_options_reach_the_procedure(mctaco, sample):
    records, labels = sample
    assert mctaco.compute(predictions=labels, references=records, missing="skip")
    with pytest.raises(RequestError, match="option missing: 'none' is not one of 'error', 'empty', 'skip'"):
        mctaco.compute(predictions=labels, references=records, missing="none")
    with pytest.raises(RequestError, match="no such option of mctaco: 'average'"):
        mctaco.compute(predictions=labels, references=records, average="macro")


def test_combine_and_save(mctaco, sample, tmp_path):
    records, labels = sample
    scores = mctaco.compute(predictions=labels, references=records)
    combined = evaluate.combine(["mctaco", mctaco]).compute(predictions=labels, references=records)
    assert combined == {f"mctaco_{i}_{name}": value for i in (0, 1) for name, value in scores.items()}
    path = evaluate.save(tmp_path / "scores.json", **scores)
    assert scores.items() <= json.loads(path.read_text("utf-8")).items()


def test_nothing_at_all(mctaco):
    assert mctaco.compute(predictions=[], references=[]) == {"exact_match": None, "f1": None}


BAD = {
    "a label that is none": ({"predictions": ["yes", "Yes"]}, "predictions: row 1: 'Yes' is not one of ['no', 'yes']"),
    "a number that is no label": ({"predictions": [0, 2]}, "predictions: row 1: 2 is not one of ['no', 'yes']"),
    "a share of a label": ({"predictions": [0, 0.5]}, "predictions: row 1: 0.5 is not one of ['no', 'yes']"),
    "no label": (
        {"predictions": [0, None]},
        "predictions: row 1: is None (expected a prediction, or missing='empty' or missing='skip')",
    ),
    "a truth value": ({"predictions": [0, True]}, "predictions: row 1: True is not one of ['no', 'yes']"),
    "too few predictions": (
        {"predictions": [0]},
        "predictions: 1 prediction for 2 references (expected one prediction per reference)",
    ),
    "a field too few": ({"references": [{}, {}]}, None),
    "a field of the wrong kind": (
        {"references": [("question_id", 7)]},
        "references: row 1: question_id: 7 is not of type 'string'",
    ),
    "an unknown category": (
        {"references": [("category", "Frequenzy")]},
        "references: row 1: category: 'Frequenzy' is not one of "
        "['Event Duration', 'Event Ordering', 'Frequency', 'Typical Time', 'Stationarity']",
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
        assert "references: row 1: 'label' is a required property" in str(caught.value)
    else:
        assert str(caught.value) == message


def test_all_problems_of_a_side_at_once(mctaco):
    given = inputs({"predictions": ["Yes", "No"]})
    with pytest.raises(SubmissionError) as caught:
        mctaco.report(**given)
    assert [p.what for p in caught.value.problems] == [
        "row 0: 'Yes' is not one of ['no', 'yes']",
        "row 1: 'No' is not one of ['no', 'yes']",
    ]


def test_bad_input_keeps_no_lock(mctaco, sample):
    records, labels = sample
    mctaco.add(prediction="yes", reference=records[0])
    with pytest.raises(RequestError):
        mctaco.compute(missing="none")
    with pytest.raises(SubmissionError):
        mctaco.add(prediction="Yes", reference=records[0])
    # A lock that is kept makes every call of a sibling wait a second for it.
    locks = list(Path(evaluate.config.HF_METRICS_CACHE).rglob("*.lock"))
    assert locks
    for lock in locks:
        with FileLock(lock, timeout=0):
            pass
    mctaco.add(prediction=labels[0], reference=records[0])
    assert mctaco.compute()


def test_installed_modules_need_no_import_of_ours(offline, tmp_path):
    written = install_modules()
    assert [path.name for path in written] == [f"{name}.py" for name in module_names()]
    assert all(len(path.read_text().splitlines()) == 1 for path in written)
    code = "import evaluate, sys; assert 'closeread' not in sys.modules; m = evaluate.load('mctaco')\n"
    code += "row = {'question_id': 'q', 'sentence_id': 's', 'label': 'yes', 'category': 'Frequency'}\n"
    code += "print(m.compute(predictions=['yes'], references=[row]))"
    environment = {
        "HF_HUB_OFFLINE": "1",
        "HF_MODULES_CACHE": str(evaluate.config.HF_MODULES_CACHE),
        "HOME": str(tmp_path),
    }
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout == "{'exact_match': 1.0, 'f1': 1.0}\n", done.stderr
    old = written[0].parent.with_name("0" * 64)
    old.mkdir()
    (old / written[0].name).write_text(written[0].read_text())
    other = written[0].parent.with_name("1" * 64)
    other.mkdir()
    (other / written[0].name).write_text("# somebody else's\n")
    assert install_modules() == written
    assert not old.exists()
    assert other.exists()


def test_in_a_training_loop(mctaco):
    # As a Trainer calls it: logits and the labels of an evaluation set, batch by batch.
    rows = closeread.load_dataset("mctaco", "sample", split="test")
    logits = np.random.default_rng(0).normal(size=(len(rows), 2))
    scores = mctaco.compute(predictions=logits.argmax(axis=-1), references=rows)
    assert set(scores) == {"exact_match", "f1"}
    assert isinstance(rows, datasets.Dataset)
