"""What evaluate asks of every module in its repository, asked of ours; and that they pickle.

With a checkout of github.com/huggingface/evaluate (see `shared.peers`), its own test is run on our modules, too.
"""

import doctest
import importlib
import importlib.util
import inspect
import pickle
import shutil
import subprocess
import sys

import pytest
from shared.entry_points import CASES, sample_gold
from shared.evaluate_modules import SCORING
from shared.peers import find_peer

from closeread.files import package_folder
from closeread.hf.modules import module_names
from closeread.tasks import load_procedure, procedure_names

METRICS = package_folder("closeread.evaluate_modules")
CLUSTERS = [[[0, 1, 0], [3, 3, 3]], [[5, 6, 6]]]

pytestmark = pytest.mark.usefixtures("offline")


def import_copy(name):
    """Import a module as evaluate does from a path: a copy in its cache."""
    from evaluate.loading import evaluation_module_factory

    return importlib.import_module(
        evaluation_module_factory(str(METRICS / name), module_type="metric").module_path
    )


@pytest.mark.parametrize("name", SCORING)
def test_it_names_every_parameter(name):
    from evaluate.loading import import_main_class

    parameters = inspect.signature(
        import_main_class(import_copy(name).__name__)._compute
    ).parameters
    variable = {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
    assert not {parameter.kind for parameter in parameters.values()} & variable
    (procedure,) = (p for p in map(load_procedure, procedure_names()) if name in p.modules)
    options = {option.name: option.default for option in procedure.options if not option.reading}
    assert list(parameters) == ["self", "predictions", "references", *options]
    assert {option: parameters[option].default for option in options} == options


@pytest.mark.filterwarnings("ignore::closeread.exceptions.CloseReadWarning")  # of the samples
@pytest.mark.parametrize("name", module_names())
def test_its_example_runs_from_a_copy(name, monkeypatch, evaluate):
    module, load = import_copy(name), evaluate.load
    monkeypatch.setattr(
        evaluate, "load", lambda path, *rest, **more: load(str(METRICS / path), *rest, **more)
    )
    done = doctest.testmod(module, raise_on_error=True)
    assert done.attempted > 1
    assert done.failed == 0


@pytest.mark.gate
def test_the_original(tmp_path):
    pytest.importorskip("absl", reason="the original test needs absl-py")
    for name in module_names():
        shutil.copytree(
            METRICS / name,
            tmp_path / "metrics" / name,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    test = find_peer("evaluate").resolve() / "tests" / "test_metric_common.py"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-rA",
        "--rootdir",
        str(test.parent.parent),
    ]
    command += [str(test), "-k", "LocalModuleTest and not real_metric"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = {
        line.rpartition("_metric_")[2]
        for line in done.stdout.splitlines()
        if line.startswith("PASSED")
    }
    assert passed == set(module_names())


CORPORA = {
    "mctaco": "mctaco",
    "tne": "tne",
    "timeline": "semeval2015_timeline",
    "wikipossessions": "wikipossessions",
}
"""By the task's name."""

NOT_STORED = {"possession", "tne_links"}
"""Modules whose predictions have optional fields: evaluate stores them only if all fields are there."""


TASKS = {name: task for task in (*CORPORA, "coref") for name in load_procedure(task).modules}
"""By the name of a module; a new task needs nothing here."""


def inputs(name):
    """A pair of inputs for a module."""
    task = TASKS[name]
    if task == "coref":
        return {"predictions": [CLUSTERS[:1]], "references": [CLUSTERS]}
    gold = sample_gold(CORPORA[task])
    return {"predictions": CASES[task].predictions(CASES[task].system(gold)), "references": gold}


def compute_stored(module, given):
    """Compute the scores of inputs, after storing them if evaluate can."""
    if module.name in NOT_STORED:
        return module.compute(**given)
    module.add_batch(**given)
    return module.compute()


def by_dill(module):
    import dill

    return dill.loads(dill.dumps(module))


def by_cloudpickle(module):
    cloudpickle = pytest.importorskip("cloudpickle")
    return pickle.loads(cloudpickle.dumps(module))


COPIES = {
    "pickle": lambda module: pickle.loads(pickle.dumps(module)),
    "dill": by_dill,
    "cloudpickle": by_cloudpickle,
}


@pytest.mark.filterwarnings("ignore::closeread.exceptions.CloseReadWarning")  # of the samples
@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("name", TASKS)
def test_it_pickles_before_and_after_compute(name, how, evaluate):
    module = evaluate.load(name, seed=3, experiment_id="mine")
    given = inputs(name)
    before = COPIES[how](module)
    scores = module.compute(**given)
    assert compute_stored(module, given) == scores
    for copy in (before, COPIES[how](module)):
        assert copy.compute(**given) == compute_stored(copy, given) == scores
        assert (copy.seed, copy.experiment_id, copy.compute.__doc__) == (
            3,
            "mine",
            module.compute.__doc__,
        )
        assert inspect.signature(copy.compute) == inspect.signature(module.compute)


@pytest.mark.parametrize("in_memory", [False, True])
def test_it_does_not_pickle_while_it_stores_predictions(in_memory, evaluate):
    module = evaluate.load("coref_lea", keep_in_memory=in_memory)
    module.add(prediction=CLUSTERS, reference=CLUSTERS)
    with pytest.raises(
        TypeError, match=r"coref_lea has stored predictions and references, which can't be pickled"
    ):
        pickle.dumps(module)
    assert module.compute()["lea/f1"] == 1
    assert len(pickle.loads(pickle.dumps(module))) == 0


def test_the_fingerprint_of_datasets_stays(mctaco, sample):
    from datasets.fingerprint import Hasher

    records, labels = sample
    before = Hasher.hash(mctaco)
    mctaco.compute(predictions=labels, references=records)
    assert Hasher.hash(mctaco) == before
