"""Every folder of `metrics/`, as an evaluate module; and McTaco's in detail."""

import doctest
import inspect
import json
from pathlib import Path

import pytest
from filelock import FileLock
from shared.evaluate_modules import SCORING

import closeread
from closeread.counts.estimates import Resampling
from closeread.exceptions import RequestError, SubmissionError
from closeread.hf.modules import install_modules, module_names
from closeread.operations.score import score
from closeread.tasks import load_procedure

pytestmark = pytest.mark.usefixtures("offline")
ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("name", module_names())
def test_a_module_loads_in_every_way(name, evaluate):
    by_name, ours = evaluate.load(name), closeread.load_metric(name)
    from closeread.hf.metric import EvaluateModule

    by_path = evaluate.load(str(ROOT / "metrics" / name))
    assert {module.name for module in (by_name, ours, by_path)} == {name}
    assert {isinstance(module, EvaluateModule) for module in (by_name, ours, by_path)} == {
        name in SCORING
    }
    if name not in SCORING:
        return
    wanted = [metric.name for metric in ours.PROCEDURE.metrics]
    assert [[metric.name for metric in m.PROCEDURE.metrics] for m in (by_name, by_path)] == [
        wanted,
        wanted,
    ]
    assert name in ours.PROCEDURE.modules


@pytest.mark.parametrize("name", module_names())
def test_a_module_explains_itself(name, evaluate):
    module = evaluate.load(name)
    assert module.description
    assert module.citation.startswith(("@inproceedings{", "@article{"))
    parameters = inspect.signature(module.compute).parameters
    options = module.PROCEDURE.options if name in SCORING else module.OPTIONS
    for option in options:
        if option.reading:  # a module gets no files
            assert option.name not in parameters
            continue
        assert option.help in module.compute.__doc__
        assert parameters[option.name].default == option.default
    described = (
        [metric.description for metric in module.PROCEDURE.metrics]
        if name in SCORING
        else module.SCORES.values()
    )
    assert all(description in module.inputs_description for description in described)


@pytest.mark.filterwarnings("ignore::closeread.exceptions.CloseReadWarning")  # of the samples
@pytest.mark.parametrize("name", module_names())
def test_examples_of_the_card_run(name):
    """Those of the docstring are run in a copy, as evaluate does."""
    text = (ROOT / "metrics" / name / "README.md").read_text("utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    assert len(test.examples) > 1
    assert doctest.DocTestRunner().run(test).failed == 0


def test_missing_predictions_are_what_the_option_says(mctaco, sample, tmp_path):
    records, labels = sample
    labels = [None if i % 7 == 0 else label for i, label in enumerate(labels)]
    rows = [
        {"id": r["id"], "label": label}
        for r, label in zip(records, labels, strict=True)
        if label is not None
    ]
    (tmp_path / "some.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    scores = {}
    for missing in ("empty", "skip"):
        report = score(
            "mctaco",
            tmp_path / "some.jsonl",
            config="sample",
            resampling=Resampling(0),
            missing=missing,
        )
        scores[missing] = mctaco.compute(predictions=labels, references=records, missing=missing)
        assert scores[missing] == {
            name: estimate.value for name, estimate in report.total.scores.items()
        }
        same = mctaco.report(
            predictions=labels, references=records, resampling=Resampling(0), missing=missing
        )
        assert same.total == report.total
        assert same.provenance.signature == report.provenance.signature
        assert same.provenance.missing == report.provenance.missing == 15
    assert scores["empty"] != scores["skip"]
    with pytest.raises(
        SubmissionError,
        match=r"row 1: is None \(expected a prediction, or missing='empty' or missing='skip'\)",
    ):
        mctaco.compute(predictions=["yes", None], references=records[:2])
    with pytest.raises(SubmissionError, match="row 1: 'Yes' is not one of"):
        mctaco.compute(predictions=[None, "Yes"], references=records[:2], missing="skip")


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


def test_combined_modules_add(sample, evaluate):
    records, labels = sample
    both = evaluate.combine(["mctaco", "mctaco"])
    for record, label in zip(records[:30], labels[:30], strict=True):
        both.add(prediction=label, reference=record)
    scores = evaluate.load("mctaco").compute(predictions=labels[:30], references=records[:30])
    assert both.compute() == {
        f"mctaco_{i}_{name}": value for i in (0, 1) for name, value in scores.items()
    }


def test_options_reach_the_procedure(mctaco, sample):
    records, labels = sample
    assert mctaco.compute(predictions=labels, references=records, missing="skip")
    with pytest.raises(
        RequestError, match="option missing: 'none' is not one of 'error', 'empty', 'skip'"
    ):
        mctaco.compute(predictions=labels, references=records, missing="none")
    with pytest.raises(RequestError, match="no such option of mctaco: 'setting'"):
        mctaco.compute(predictions=labels, references=records, setting="exact")
    with pytest.raises(RequestError, match="option average is one of files or groups"):
        mctaco.compute(predictions=labels, references=records, average="groups")


def test_nothing_at_all(mctaco):
    names = [metric.name for metric in load_procedure("mctaco").metrics]
    assert names
    assert mctaco.compute(predictions=[], references=[]) == dict.fromkeys(names)


def test_bad_input_keeps_no_lock(mctaco, sample, evaluate):
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


@pytest.mark.gate
def test_installed_modules_need_no_import_of_ours(offline, evaluate, python):
    written = install_modules()
    assert [path.name for path in written] == [f"{name}.py" for name in module_names()]
    assert all(len(path.read_text().splitlines()) == 1 for path in written)
    code = (
        "import evaluate, sys; assert 'closeread' not in sys.modules; m = evaluate.load('mctaco')\n"
    )
    code += (
        "row = {'question_id': 'q', 'sentence_id': 's', 'label': 'yes', 'category': 'Frequency'}\n"
    )
    code += "print(m.compute(predictions=['yes'], references=[row]))"
    done = python(code, HF_MODULES_CACHE=str(evaluate.config.HF_MODULES_CACHE))
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
