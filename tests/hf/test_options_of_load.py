"""Options given where a module is loaded are the defaults of its `compute`."""

import inspect
import pickle

import pytest

import closeread
from closeread.exceptions import RequestError
from closeread.hf.modules import module_names

pytestmark = pytest.mark.usefixtures("offline")

SINGLETONS = [[[0, 0]], [[2, 2]]]
"""The right entities of a document, all singletons: LEA is 1 with them, and 0 if they are left out."""


def lea(module, **options):
    sides = {"predictions": [SINGLETONS], "references": [SINGLETONS]}
    return module.compute(**sides, **options)["lea/f1"]


def test_options_hold_in_compute(evaluate):
    module = evaluate.load("coref_lea", keep_singletons="false", seed=3)
    assert lea(module) == 0
    assert lea(module, keep_singletons="true") == 1
    assert lea(module) == 0
    assert lea(evaluate.load("coref_lea")) == 1
    assert inspect.signature(module.compute).parameters["keep_singletons"].default == "false"
    assert module.seed == 3
    assert lea(pickle.loads(pickle.dumps(module))) == 0
    assert lea(closeread.load_metric("coref_lea", keep_singletons="false")) == 0
    assert lea(evaluate.combine([module])) == 0


def test_options_hold_for_stored_inputs_and_reports(evaluate):
    module = evaluate.load("coref_lea", keep_singletons="false")
    report = module.report(predictions=[SINGLETONS], references=[SINGLETONS])
    assert report.provenance.options["keep_singletons"] == "false"
    module.add(prediction=SINGLETONS, reference=SINGLETONS)
    assert module.compute()["lea/f1"] == 0


@pytest.mark.filterwarnings("ignore:alpha is 0/0:closeread.CloseReadWarning")
def test_options_of_alpha(evaluate):
    anna, ben = [[[0, 0], [1, 1], [2, 2]]], [[[0, 0], [1, 1]], [[2, 2]]]
    documents = [[anna, ben], [anna, anna]]
    module = evaluate.load("coref_alpha", average="pooled")
    by_default = evaluate.load("coref_alpha").compute(predictions=documents)
    assert module.compute(predictions=documents) != by_default
    assert module.compute(predictions=documents, average="macro") == by_default


@pytest.mark.parametrize("name", module_names())
def test_unknown_options_are_refused_as_by_compute(name, evaluate):
    module = evaluate.load(name)
    with pytest.raises(RequestError) as of_compute:
        module.compute(
            predictions=[], foo=1, **({} if name == "coref_alpha" else {"references": []})
        )
    for load in (evaluate.load, closeread.load_metric):
        with pytest.raises(RequestError) as of_load:
            load(name, foo=1)
        assert str(of_load.value) == str(of_compute.value)


def test_values_are_checked(evaluate):
    with pytest.raises(RequestError, match=r"^option track: 'order' is not one of"):
        evaluate.load("timeline_awareness", track="order")
