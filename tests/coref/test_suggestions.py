"""Names as others write them get a suggestion, wherever a metric, a field or a module is named."""

import pytest
from shared.coreference import KEY, RESPONSE

import closeread
from closeread.exceptions import RequestError, describe_unknown, suggest
from closeread.tasks import load_procedure, procedure_names
from closeread.tasks.coref.procedure import PROCEDURE

OTHER_NAMES = {
    "bcub": "b3",
    "b_cubed": "b3",
    "bcubed": "b3",
    "B-Cubed": "b3",
    "B³": "b3",
    "B3": "b3",
    "bcub_f1": "b3",
    "CoNLL": "conll",
    "conll_f1": "conll",
    "CoNLL-2012": "conll",
    "avg": "conll",
    "ceaf_e": "ceafe",
    "ceafe/f": "ceafe",
    "CEAFφ4": "ceafe",
    "ceaf_m": "ceafm",
    "muc_f1": "muc",
    "MUC/precision": "muc",
    "blanc score": "blanc",
    "mention": "mentions",
    "LEA": "lea",
}
"""Names in coval, scorch, corefud-scorer, the reference scorer and papers."""


@pytest.mark.parametrize(("name", "metric"), OTHER_NAMES.items())
def test_metrics(name, metric, here, run):
    question = f"Did you mean '{metric}'?"
    assert suggest(name, PROCEDURE.families, PROCEDURE.aliases) == f" {question}"
    with pytest.raises(RequestError) as error:
        closeread.score("coref", RESPONSE, gold=KEY, metrics=("muc", name))
    message = (
        f"no such coref metric: '{name}'. {question} (choose from: {', '.join(PROCEDURE.families)})"
    )
    assert str(error.value) == message
    done = run("score", "coref", "key.conll", "response.conll", "--metrics", name)
    assert (done.exit_code, done.stderr) == (2, f"Error: {message}\n")


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("size", "entity_size"),
        ("cluster-size", "entity_size"),
        ("entity size", "entity_size"),
        ("type", "mention_type"),
        ("UPOS", "mention_type"),
        ("zeros", "zero"),
        ("distances", "distance"),
    ],
)
def test_fields(name, field):
    assert suggest(name, PROCEDURE.breakdowns, PROCEDURE.aliases) == f" Did you mean '{field}'?"


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("coref_bcub", "coref_b3"),
        ("coref_avg", "coref_conll"),
        ("coref_LEA", "coref_lea"),
        ("muc", "coref_muc"),
    ],
)
def test_modules(name, module):
    with pytest.raises(
        RequestError, match=f"^no such metric: '{name}'. Did you mean '{module}'[?] "
    ):
        closeread.load_metric(name)


def test_datasets_call_a_config_name():
    with pytest.raises(
        RequestError, match=r"^no such option of mctaco: 'config'\. Did you mean 'name'\?"
    ):
        closeread.load_dataset("mctaco", config="sample")


@pytest.mark.parametrize("procedure", procedure_names())
def test_aliases_lead_somewhere_and_hide_nothing(procedure):
    procedure = load_procedure(procedure)
    known = {*procedure.families, *procedure.breakdowns}
    assert set(procedure.aliases.values()) <= known
    assert not known & set(procedure.aliases)


def test_nothing_is_similar():
    assert suggest("xyz", ["b3"], {"bcub": "b3"}) == ""
    assert suggest("_", ["b3"], {"bcub": "b3"}) == ""
    assert suggest("bcub", ["lea"], {"bcub": "b3"}) == ""  # what it stands for is not known here
    assert describe_unknown("metric", "xyz", [], {}) == "no such metric: 'xyz' (choose from: none)"
