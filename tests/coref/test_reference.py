"""Our counts next to those of the reference scorer, which are in `agreed/coref_reference.json`.

The scorer's sums are stored with 13 digits.  For BLANC it returns the counts of links; its scores come from its scoring
function, and the scores that it prints, truncated to two digits of a percentage, are compared as such.
"""

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from agreed import coref_reference as maker
from shared.coreference_kernels import compare_as_reference, compare_unique
from shared.peers import find_peer

from closeread.exceptions import SubmissionError
from closeread.scoring import find_gold, open_scorer
from closeread.tasks.coref.metrics.entity import blanc_scores
from closeread.tasks.coref.metrics.matching import keep_as_reference, match_sides
from closeread.tasks.coref.metrics.overlap import Side, find_duplicates
from closeread.tasks.coref.procedure import PROCEDURE

AGREED = Path(__file__).parent.parent / "agreed"
AGREEMENT = json.loads((AGREED / "coref_reference.json").read_text("utf-8"))
SAID = AGREEMENT["said"]


MADE = maker.made_pairs()


def side(documents):
    """A side of a stored case, ``{document: clusters}``."""
    rows, entity = [], 0
    for number, clusters in enumerate(documents.values()):
        for cluster in clusters:
            rows += [(number, start * 10000 + end, entity) for start, end in cluster]
            entity += 1
    return Side(*np.array(rows, dtype=np.int64).reshape(-1, 3).T)


def sides_of(name, read):
    """Key and response; pairs without a stored case are read as files."""
    if name in AGREEMENT["cases"]:
        case = AGREEMENT["cases"][name]
        assert case["gold"].keys() == case["system"].keys()
        key, response = side(case["gold"]), side(case["system"])
        return key, response.select(keep_as_reference(key, response)), len(case["gold"])
    key, response = (read(text) for text in MADE[name])
    assert list(key.names) == list(response.names)
    return *match_sides(key, response, "reference").sides, len(key)


def has_repeats(*sides):
    return any(len(find_duplicates(side)) for side in sides)


def compare(key, response, n_documents):
    compare_sides = compare_as_reference if has_repeats(key, response) else compare_unique
    return compare_sides(key, response, n_documents)


@pytest.mark.parametrize("name", SAID)
def test_agrees_with_the_reference_scorer(name, read):
    assert_agrees(compare(*sides_of(name, read)), SAID[name])


def assert_agrees(count, said):
    for metric in ("mentions", "muc", "ceafm", "ceafe", "b3", "lea"):
        ours = count(metric).sum(axis=0)
        assert ours == pytest.approx(said["bcub" if metric == "b3" else metric], abs=1e-9), metric
    links, mentions = count("blanc").sum(axis=0), count("mentions").sum(axis=0)[[0, 1, 3]]
    assert links[[0, 1, 0, 2, 3, 4, 3, 5]].tolist() == said["blanc"]
    precision, recall, f1 = np.nan_to_num(blanc_scores(links, mentions, "reference"))
    assert [recall, precision, f1] == pytest.approx(said["blanc_scores"], abs=1e-9)
    printed = [float(number) for number in re.findall(r"([0-9.]+)%", said["blanc_printed"])]
    for ours, cut in zip((recall, precision, f1), printed, strict=True):
        assert -1e-9 <= 100 * ours - cut < 0.01 + 1e-9


def test_the_figures_cover_what_they_should(read):
    official = [name for name in SAID if name.startswith("TC-")]
    assert len(official) == 36
    assert {"TC-A-7", "TC-A-8", "TC-A-9"} < set(official)
    assert len(official) + len(MADE) == len(SAID)
    random = [sides_of(name, read) for name in SAID if name.startswith("random ")]
    assert sum(has_repeats(key, response) for key, response, _ in random) > 50
    mentions = [compare(*sides)("mentions") for sides in random]
    assert sum(len(counts) > 1 for counts in mentions) > 200
    # Documents without mentions on both sides, or on one.
    assert any((counts == 0).all(axis=1).any() for counts in mentions)
    assert any(((counts[:, 1] > 0) & (counts[:, 3] == 0)).any() for counts in mentions)
    assert any(((counts[:, 1] == 0) & (counts[:, 3] > 0)).any() for counts in mentions)


def test_the_cases_are_the_pairs_that_have_no_seed():
    assert list(AGREEMENT["cases"]) == [name for name in SAID if name not in MADE]


def test_the_order_of_brackets_matters(read):
    """B-cubed by hand; the mention that the response repeats belongs to the entity that is met first."""
    for name, recall, precision in [
        # Entity 2 is met first and keeps token 2: no two mentions of the key are together.
        ("single tokens first", "1/2", "1/2"),
        # Entity 2 is met first and keeps token 0, which is with token 1, as in the key.
        ("single tokens in order", "1", "2/3"),
        ("open before close", "1", "1"),
    ]:
        scores = score_pair(*(read(text) for text in MADE[name]))
        assert [scores["b3/recall"], scores["b3/precision"]] == [
            pytest.approx(float(Fraction(f))) for f in (recall, precision)
        ]
    pair = [read(text) for text in MADE["single tokens first"]]
    # "first" goes by the order of the text: entity 1 keeps token 2.
    assert score_pair(*pair, duplicates="first")["b3/recall"] == 1


def score_pair(key, response, duplicates="reference"):
    table = PROCEDURE.count(gold=key, system=response, duplicates=duplicates)
    return {
        metric.name: metric.score(table.values.sum(axis=0), table.names)
        for metric in PROCEDURE.metrics
    }


@pytest.mark.parametrize("name", AGREEMENT["cases"])
def test_the_scorers_own_files_are_scored(name):
    folder = find_peer("reference-coreference-scorers") / "test" / "DataFiles"
    key = folder / f"{name.rpartition('-')[0]}.key"
    scorer = open_scorer(*find_gold("coref", gold=key, duplicates="reference", words="ignore"))
    response = scorer.read(folder / f"{name}.response")
    assert_agrees(
        compare(*match_sides(scorer.gold.records, response.rows, "reference").sides, 1),
        SAID[name],
    )


def test_other_words_are_an_error_without_the_option():
    folder = find_peer("reference-coreference-scorers") / "test" / "DataFiles"
    refused = []
    for name in AGREEMENT["cases"]:
        key = folder / f"{name.rpartition('-')[0]}.key"
        scorer = open_scorer(*find_gold("coref", gold=key, duplicates="reference"))
        try:
            scorer.read(folder / f"{name}.response")
        except SubmissionError as error:
            refused.append([problem.text.split()[0] for problem in error.problems])
    assert refused == [["token"]] * 11
