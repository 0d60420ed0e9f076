"""Our counts beside those of the reference scorer, kept in `agreed/coref_reference.json`.

The scorer's sums are kept to 13 digits.  Of BLANC it returns the counts of links; the scores come from its function
for scores, and those that it prints itself, cut off after two digits of a percentage, are compared as such.
"""

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest

from closeread.tasks.coref.kernels.blanc import blanc_counts, blanc_scores
from closeread.tasks.coref.kernels.entity_metrics import (
    b_cubed_counts,
    ceafe_counts,
    ceafm_counts,
    lea_counts,
    mention_counts,
    muc_counts,
)
from closeread.tasks.coref.kernels.overlap import overlap
from closeread.tasks.coref.kernels.sides import Side, reference_response

AGREED = Path(__file__).parent.parent / "agreed"
AGREEMENT = json.loads((AGREED / "coref_reference.json").read_text("utf-8"))
SAID = AGREEMENT["said"]


def maker():
    spec = importlib.util.spec_from_file_location("coref_reference", AGREED / "coref_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def documents_of(name):
    """Gold and system of a pair: {document: clusters}."""
    if name in AGREEMENT["cases"]:
        case = AGREEMENT["cases"][name]
        return case["gold"], case["system"]
    script = maker()
    return [script.clusters(text) for text in script.random_pair(int(name.split()[1]))]


def side(documents, names):
    rows, entity = [], 0
    for document, clusters in documents.items():
        for cluster in clusters:
            rows += [(names.index(document), start * 10000 + end, entity) for start, end in cluster]
            entity += 1
    return Side(*np.array(rows, dtype=np.int64).reshape(-1, 3).T)


def table_of(name):
    gold, system = documents_of(name)
    names = list(gold)
    assert system.keys() == gold.keys()
    key, response = side(gold, names), side(system, names)
    return overlap(key, reference_response(key, response), len(names))


@pytest.mark.parametrize("name", SAID)
def test_agrees_with_the_reference_scorer(name):
    table, said = table_of(name), SAID[name]
    for metric, function in {
        "mentions": mention_counts,
        "muc": muc_counts,
        "ceafm": ceafm_counts,
        "ceafe": ceafe_counts,
    }.items():
        assert function(table).sum(axis=0)[[0, 1, 0, 2]] == pytest.approx(said[metric], abs=1e-9), metric
    for metric, function in {"bcub": b_cubed_counts, "lea": lea_counts}.items():
        got = np.hstack([function(table), function(table.transposed)]).sum(axis=0)
        assert got == pytest.approx(said[metric], abs=1e-9), metric
    links, mentions = blanc_counts(table).sum(axis=0), mention_counts(table).sum(axis=0)
    assert links[[0, 1, 0, 2, 3, 4, 3, 5]].tolist() == said["blanc"]
    precision, recall, f1 = np.nan_to_num(blanc_scores(links, mentions, "reference"))
    assert [recall, precision, f1] == pytest.approx(said["blanc_scores"], abs=1e-9)
    printed = [float(number) for number in re.findall(r"([0-9.]+)%", said["blanc_printed"])]
    for ours, cut in zip((recall, precision, f1), printed, strict=True):
        assert -1e-9 <= 100 * ours - cut < 0.01 + 1e-9


def test_the_figures_cover_what_they_should():
    official = [name for name in SAID if name.startswith("TC-")]
    assert len(official) == 36
    assert {"TC-A-7", "TC-A-8", "TC-A-9"} < set(official)
    random = [table_of(name) for name in SAID if name not in official]
    assert sum(table.repeats for table in random) > 50
    assert sum(table.n_documents > 1 for table in random) > 200
    # Documents without a mention on either side, or on one; ties and clusters of several partners need the solver.
    assert any((table.mentions == 0).all(axis=1).any() for table in random)
    assert any(((table.mentions[:, 1] > 0) & (table.mentions[:, 2] == 0)).any() for table in random)
    assert any(((table.mentions[:, 1] == 0) & (table.mentions[:, 2] > 0)).any() for table in random)


def test_the_cases_are_the_pairs_that_have_no_seed():
    assert list(AGREEMENT["cases"]) == [name for name in SAID if not name.startswith("random ")]
