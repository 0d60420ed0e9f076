"""Our counts next to those of the reference scorer, which are in `agreed/coref_reference.json`.

The scorer's sums are stored with 13 digits.  For BLANC it returns the counts of links; its scores come from its scoring
function, and the scores that it prints, truncated to two digits of a percentage, are compared as such.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from agreed import coref_reference as maker

from closeread.tasks.coref.kernels.blanc import blanc_scores
from closeread.tasks.coref.kernels.overlap import overlap
from closeread.tasks.coref.kernels.repeated_mentions import (
    RepeatedOverlap,
    has_repeats,
    keep_as_reference,
    repeated_overlap,
)
from closeread.tasks.coref.kernels.sides import Side
from closeread.tasks.coref.metrics import COUNTED

AGREED = Path(__file__).parent.parent / "agreed"
AGREEMENT = json.loads((AGREED / "coref_reference.json").read_text("utf-8"))
SAID = AGREEMENT["said"]


def documents_of(name):
    """Gold and system of a pair: {document: clusters}."""
    if name in AGREEMENT["cases"]:
        case = AGREEMENT["cases"][name]
        return case["gold"], case["system"]
    return [maker.clusters(text) for text in maker.random_pair(int(name.split()[1]))]


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
    response = response.select(keep_as_reference(key, response))
    build = repeated_overlap if has_repeats(key) or has_repeats(response) else overlap
    return build(key, response, len(names))


@pytest.mark.parametrize("name", SAID)
def test_agrees_with_the_reference_scorer(name):
    table, said = table_of(name), SAID[name]
    for metric in ("mentions", "muc", "ceafm", "ceafe"):
        assert COUNTED[metric].count(table).sum(axis=0)[[0, 1, 0, 2]] == pytest.approx(said[metric], abs=1e-9), metric
    for metric, theirs in {"b3": "bcub", "lea": "lea"}.items():
        ours = np.hstack([COUNTED[metric].count(table), COUNTED[metric].count(table.transposed)]).sum(axis=0)
        assert ours == pytest.approx(said[theirs], abs=1e-9), metric
    links, mentions = (COUNTED[metric].count(table).sum(axis=0) for metric in ("blanc", "mentions"))
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
    assert sum(isinstance(table, RepeatedOverlap) for table in random) > 50
    assert sum(table.n_documents > 1 for table in random) > 200
    # Documents without mentions on both sides, or on one.
    assert any((table.mentions == 0).all(axis=1).any() for table in random)
    assert any(((table.mentions[:, 1] > 0) & (table.mentions[:, 2] == 0)).any() for table in random)
    assert any(((table.mentions[:, 1] == 0) & (table.mentions[:, 2] > 0)).any() for table in random)


def test_the_cases_are_the_pairs_that_have_no_seed():
    assert list(AGREEMENT["cases"]) == [name for name in SAID if not name.startswith("random ")]
