"""Holm's correction, against statsmodels."""

import json
import math
from pathlib import Path

import pytest
from shared import json_lines
from shared.entry_points import system_rows

import closeread
from closeread.counts.comparison_tables import warn_of_few_resamples
from closeread.counts.estimates import Resampling, correct_by_holm, min_p_value
from closeread.exceptions import RequestError

AGREED = json.loads((Path(__file__).parent / "agreed" / "statsmodels_holm.json").read_text("utf-8"))
KINDS = ("p_bootstrap", "p_randomization")


def test_the_example_of_the_article():
    # Times 4, 3, 2 and 1 from the smallest on: 0.02, 0.03, 0.06 and 0.04, which is at least the one before.
    assert correct_by_holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_what_statsmodels_gives():
    assert len(AGREED["families"]) > 5
    for family in AGREED["families"]:
        assert correct_by_holm(family["p"]) == pytest.approx(family["corrected"], rel=1e-12)


def test_what_was_not_tested_does_not_count():
    first, nothing, second = correct_by_holm([0.02, math.nan, 0.01])
    assert (first, second) == pytest.approx((0.02, 0.02))
    assert math.isnan(nothing)
    assert correct_by_holm([]) == []
    assert (min_p_value(999, 5), min_p_value(9, 40)) == (0.005, 1.0)


@pytest.fixture
def files(here):
    """Predictions for McTaco's sample: mostly right, always yes, always no."""
    rows = system_rows("mctaco")
    json_lines.write("good.jsonl", rows)
    for label in ("yes", "no"):
        json_lines.write(f"{label}.jsonl", [{**row, "label": label} for row in rows])


def compare(run, *arguments):
    """What `closeread compare` prints as JSON."""
    systems = ("good.jsonl", "yes.jsonl", "no.jsonl")
    command = (
        "compare",
        "mctaco",
        *systems,
        "--config",
        "sample",
        "--resamples",
        "200",
        "--json",
        *arguments,
    )
    result = run(*command)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_compare_corrects_for_all_scores_of_all_systems(files, run):
    first, second = compare(run)
    raw = compare(run, "--correction", "none")
    assert first["correction"] == second["correction"] == {"method": "holm", "n_tests": 4}
    assert raw[0]["correction"] is None
    for kind in KINDS:
        before = [one["differences"][name][kind] for one in raw for name in ("exact_match", "f1")]
        after = [
            one["differences"][name][f"{kind}_corrected"]
            for one in (first, second)
            for name in ("exact_match", "f1")
        ]
        assert after == pytest.approx(correct_by_holm(before))
        assert after != before
        # those stay what they were
        assert [one["differences"]["f1"][kind] for one in (first, second)] == before[1::2]
    assert not any("corrected" in key for key in raw[0]["differences"]["f1"])


def test_just_enough_resamples_are_enough():
    assert warn_of_few_resamples(79, 4) == []  # 4 / 80 is the level itself
    assert len(warn_of_few_resamples(78, 4)) == 1


# of 39, the smallest p-value is 2 / 40, which still decides
@pytest.mark.parametrize("n_resamples", [100, 39])
def test_a_corrected_comparison_is_saved(files, n_resamples):
    how = {"config": "sample", "resampling": Resampling(n_resamples)}
    comparison = closeread.compare("mctaco", "good.jsonl", "yes.jsonl", **how)
    comparison.save("comparison.json")
    stored = json.loads(Path("comparison.json").read_text("utf-8"))
    assert stored["correction"] == {"method": "holm", "n_tests": 2}
    uncorrected = closeread.compare("mctaco", "good.jsonl", "yes.jsonl", correction="none", **how)
    assert uncorrected.differences == comparison.differences
    assert uncorrected.to_dict()["correction"] is None
    with pytest.raises(RequestError, match="no such correction: 'bonferroni'"):
        closeread.compare(
            "mctaco", "good.jsonl", "yes.jsonl", config="sample", correction="bonferroni"
        )


def test_python_compares_systems_by_name_and_stored_counts(files, run):
    """As the command does, with the names of files as in tables."""
    found = compare(run)
    for name in ("yes", "no"):
        result = run(
            "score",
            "mctaco",
            f"{name}.jsonl",
            "--config",
            "sample",
            "--no-ci",
            "--counts",
            f"{name}.parquet",
        )
        assert result.exit_code == 0, result.stderr
    named = {"good": system_rows("mctaco"), "yes": "yes.parquet", "no": Path("no.parquet")}
    for systems in (named, ["good.jsonl", "yes.parquet", "no.jsonl"]):
        compared = closeread.compare("mctaco", systems, config="sample", resampling=Resampling(200))
        assert [pair.to_dict() for pair in compared] == compared.to_dict() == found
    assert [pair.names for pair in compared] == [("good", "yes"), ("good", "no")]
    assert repr(compared) == "<Comparison of 'good' with 'yes', 'no': 25 questions>"
    assert str(compared).count("p rand.") == 4
    with pytest.raises(RequestError, match="there are several pairs of systems; take one"):
        compared["f1"]
    two = closeread.compare("mctaco", "good.jsonl", "yes.parquet", config="sample")
    assert (two.names, two.differences["f1"].value) == (
        ("good", "yes"),
        found[0]["differences"]["f1"]["value"],
    )
    assert closeread.compare("mctaco", named["good"], "no.parquet", config="sample").names == (
        "first",
        "no",
    )
    assert closeread.compare("mctaco", "yes.parquet", "no.parquet").names == ("yes", "no")
    with pytest.raises(RequestError, match="a comparison needs at least two systems"):
        closeread.compare("mctaco", ["good.jsonl"], config="sample")


def test_comparisons_test_f1_unless_asked_for_more(here, run):
    """Four systems that differ in 20 of 40 documents: 3 tests of one F1 need no more than 1,000 resamples."""
    key = [{"document": f"d{i}", "clusters": [[[0, 0], [2, 3]]]} for i in range(40)]
    systems = {
        f"finds {n}": [
            {**record, "clusters": record["clusters"] if i < n else []}
            for i, record in enumerate(key)
        ]
        for n in (40, 20, 15, 10)
    }
    first, *_ = closeread.compare("coref", systems, gold=key, metrics=("muc", "conll"))
    assert list(first.differences) == ["muc/f1", "conll/f1"]
    assert (first.n_tests["muc/f1"], first.resampling.n_resamples) == (6, 1000)
    assert first.tests["muc/f1"][0].p_corrected == pytest.approx(6 / 1001)
    first, *_ = closeread.compare("coref", systems, gold=key, scores=("muc", "b3", "conll"))
    assert list(first.differences)[:3] == ["muc/precision", "muc/recall", "muc/f1"]
    # Precision is 1 for all, so that a difference of 0 is tested too: 7 scores of 3 pairs.
    # 21 / 2100 is 0.01
    assert (first.n_tests["muc/f1"], first.resampling.n_resamples) == (21, 3000)
    for name, rows in {"key": key, **systems}.items():
        json_lines.write(f"{name}.jsonl", rows)
    command = (
        "compare",
        "coref",
        "key.jsonl",
        *(f"{name}.jsonl" for name in systems),
        "--scores",
        "muc,b3,conll",
    )
    result = run(*command, "--json")
    assert json.loads(result.stdout)[0]["differences"] == first.to_dict()["differences"]
