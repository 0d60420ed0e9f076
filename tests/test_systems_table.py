"""Tables of many systems, on counts whose tests can be worked out by hand."""

import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import combinations

import pytest

import closeread
from closeread.counts.comparison_tables import make_pair_grid
from closeread.counts.estimates import Resampling, correct_by_holm
from closeread.counts.report import Report
from closeread.exceptions import RequestError
from closeread.tables import Grid, draw_html

# Ten documents with an entity of two mentions each; a system that finds n of them has MUC recall n / 10, precision 1
# (0 if n is 0) and F1 2 n / (n + 10).
KEY = [{"document": f"d{i}", "clusters": [[[0, 0], [2, 3]]]} for i in range(10)]
QUICK = Resampling(400)


def system(n):
    """A response with the entities of the first n documents."""
    return [
        {**record, "clusters": record["clusters"] if i < n else []} for i, record in enumerate(KEY)
    ]


def make(numbers, **arguments):
    """The table of systems that find so many entities."""
    systems = {name: system(n) if isinstance(n, int) else n for name, n in numbers.items()}
    return closeread.table(
        "coref", systems, gold=KEY, **{"scores": "muc/f1", "resampling": QUICK, **arguments}
    )


def report(n, **arguments):
    """The report of such a system, as read from JSON."""
    found = closeread.score("coref", system(n), gold=KEY, resampling=replace(QUICK, **arguments))
    return Report.from_json(found.to_dict())


THREE = {"none": 0, "most": 9, "all": 10}


def test_the_best_and_what_is_close_to_it():
    table = make(THREE)
    assert [one.scores["muc/f1"].value for one in table.reports] == pytest.approx([0, 18 / 19, 1])
    # Swapping the one document in which "most" and "all" differ only turns the difference: p is 1.  Of "none" and "all"
    # only 2 of the 2**10 swaps give a difference as large, so p is about 1/512, and 3/512 after correction.
    assert table.standings == {"muc/f1": ["worse", "close", "best"]}
    assert table.find_test("muc/f1", 1).p_corrected == 1
    assert table.find_test("muc/f1", 0).difference.p_randomization == pytest.approx(
        1 / 512, abs=0.01
    )
    assert table.find_test("muc/f1", 2) is None
    assert table.n_tests["muc/f1"] == 3
    assert "none       0.00\nmost      94.74†\nall      100.00\n" in str(table)
    assert "† Not significantly different from the best (p > 0.05).\n" in str(table)
    assert "corrected for 3 comparisons in each score (all pairs) by Holm's method." in " ".join(
        str(table).split()
    )
    assert repr(table) == "<Table of 3 systems, best: MUC F1 100.00 ('all')>"


def test_tests_of_all_pairs_are_those_of_compare():
    numbers = {"a": 3, "b": 10, "c": 0, "d": 7}
    table = make(numbers, scores=["muc", "conll"], pairs=True)
    assert table.scores == ("muc/precision", "muc/recall", "muc/f1", "conll/f1")
    pairs = list(combinations(numbers, 2))
    for score in table.scores:
        tests = table.tests[score]
        assert [(table.names[one.first], table.names[one.second]) for one in tests] == pairs
        for (first, second), one in zip(pairs, tests, strict=True):
            sides = (system(numbers[name]) for name in (first, second))
            alone = closeread.compare(
                "coref", *sides, gold=KEY, resampling=QUICK, scores=("muc", "conll")
            )
            assert one.difference == pytest.approx(alone.differences[score])
        raw = [one.difference.p_randomization for one in tests]
        assert [one.p_corrected for one in tests] == pytest.approx(correct_by_holm(raw))


def test_equal_systems_share_the_first_place():
    table = make({"a": 4, "b": 9, "c": 9})
    assert table.find_best("muc/f1") == {1, 2}
    assert table.standings["muc/f1"][1:] == ["best", "best"]
    markdown = table.to_markdown()
    assert "| b        | **94.74** |" in markdown
    assert "| c        | **94.74** |" in markdown
    assert "Best scores are bold." in markdown


def test_a_p_value_at_the_level_is_significant():
    table = make({"all": 10, "half": 5, "none": 0})
    at_level = replace(
        table, pairs=True, alpha=max(test.p_corrected for test in table.tests["muc/f1"])
    )
    assert at_level._to_grids()[1].best == {(row, 5) for row in range(3)}


def test_all_others_may_be_worse():
    table = make({"all": 10, "none": 0})
    assert "All others are significantly worse than the best (p ≤ 0.05).\n" in str(table)
    assert "†" not in str(table)
    # At a level of 0.001, which 400 resamples can't reach, nothing is tested; a single swap in 512 is not enough.
    strict = make({"all": 10, "none": 0}, alpha=0.001)
    assert strict.standings["muc/f1"] == ["best", "untested"]
    enough = make({"all": 10, "none": 0}, alpha=0.001, resampling=Resampling())
    assert enough.standings["muc/f1"] == ["best", "close"]
    assert enough.resampling.n_resamples == 5000  # 1 / 5001 is below a fifth of 0.001
    assert "400 resamples give no p-value below 0.0025" in " ".join(str(strict).split())


LONG = [{**KEY[0], "document": f"d{i}"} for i in range(40)]
TWELVE = {
    f"finds {n}": [
        {**record, "clusters": record["clusters"] if i < n else []} for i, record in enumerate(LONG)
    ]
    for n in (40, *range(20, 9, -1))
}
"""The first finds 20 documents more than any other system: 2 of 2**20 swaps give a difference as large."""


@pytest.mark.extended
def test_twelve_systems_have_as_many_resamples_as_66_tests_need():
    table = closeread.table("coref", TWELVE, gold=LONG, scores="muc/f1")
    assert table.standings["muc/f1"] == ["best", *["worse"] * 11]
    assert table.resampling.n_resamples == 7000  # 66 / 6600 is a fifth of 0.05
    assert table.find_test("muc/f1", 11).p_corrected == pytest.approx(66 / 7001)
    assert "7,000 resamples, seed 0" in " ".join(str(table).split())
    assert [
        *closeread.table("coref", TWELVE, gold=LONG, scores="muc/f1", alpha=0.001).standings[
            "muc/f1"
        ]
    ][1] == "worse"
    few = closeread.table("coref", dict([*TWELVE.items()][:5]), gold=LONG, scores="muc/f1")
    assert few.resampling.n_resamples == 1000  # 10 / 1000 is a fifth of 0.05


def test_too_few_resamples_leave_systems_untested():
    table = closeread.table(
        "coref", TWELVE, gold=LONG, scores="muc/f1", resampling=Resampling(1000)
    )
    assert table.resampling.n_resamples == 1000
    assert table.standings["muc/f1"] == ["best", *["untested"] * 11]
    shown = (
        str(table),
        table.to_markdown(),
        table.to_html(),
        table.to_latex().replace(r"$^\ddagger$", "‡"),
    )
    for text in shown:
        text = " ".join(text.split())
        assert "†" not in text
        assert "dagger" not in text
        assert "ignificantly" not in text
        assert text.count("‡") == 12  # 11 marks and their note
        assert "‡ Not tested against the best: there are too few resamples (see below)." in text
        assert "1,000 resamples give no p-value below 0.0659" in text  # 66 / 1001
        assert "use 1,319 or more" in text  # 66 / 1320 is 0.05
    header, *rows = table._to_rows()[0], *table._to_rows()[1]
    assert {row[header.index("differs_from_best")] for row in rows} == {None}
    saved = table.to_dict()
    assert {pair["p_randomization_corrected"] for pair in saved["pairs"]["muc/f1"]} == {None}
    assert saved["systems"][1]["standings"] == {"muc/f1": "untested"}
    assert closeread.table(
        "coref", TWELVE, gold=LONG, scores="muc/f1", resampling=Resampling(1319)
    ).standings["muc/f1"] == ["best", *["worse"] * 11]


def test_reports_have_a_row_without_tests():
    table = make({"none": 0, "told": report(9), "all": 10, "most": 9})
    assert table.has_counts == (True, False, True, True)
    assert table.standings["muc/f1"] == ["worse", "untested", "best", "close"]
    assert "told      94.74‡\n" in str(table)
    note = "‡ Not tested against the best: tests need counts, and there is only a report of 'told'."
    assert note in " ".join(str(table).split())
    assert table.n_tests["muc/f1"] == 3
    best = make({"none": 0, "told": report(10), "most": 9})
    assert best.standings["muc/f1"] == ["untested", "best", "untested"]
    alone = make({"told": report(10), "most": 9})
    assert (
        "No tests: they need the counts of two systems, and there is only a report of 'told'."
        in str(alone)
    )
    assert alone.tests == {}


def test_reports_in_memory_still_have_their_counts():
    found = closeread.score("coref", system(9), gold=KEY, resampling=Resampling(0))
    table = closeread.table(
        "coref", {"kept": found, "all": closeread.score("coref", system(10), gold=KEY)}
    )
    assert table.has_counts == (True, True)
    assert set(table.scores) == {
        name for name in found.scores if not name.endswith(("precision", "recall"))
    }


def test_one_document_can_not_be_tested():
    table = closeread.table(
        "coref", {"a": KEY[:1], "b": system(0)[:1]}, gold=KEY[:1], scores="muc/f1"
    )
    assert (table.tests, table.standings["muc/f1"]) == ({}, ["best", "untested"])
    assert "With only 1 document, there is nothing to resample." in str(table)
    assert not {"†", "‡"} & set(str(table))


def test_intervals():
    both = make(THREE, intervals="range", digits=1)
    low, high = (100 * getattr(both.reports[1].scores["muc/f1"], end) for end in ("low", "high"))
    assert f"most       94.7† [{low:.1f}, {high:.1f}]\n" in str(both)
    half = make(THREE, intervals="plus-minus", digits=3)
    assert f"94.737† ± {(high - low) / 2:.3f}\n" in str(half)
    assert (
        "±: half the width of intervals: 95%, percentile bootstrap over documents, 400 resamples"
        in " ".join(str(half).split())
    )
    told = make(
        {"other": report(9, confidence=0.9), "bare": report(9, n_resamples=0), "all": 10},
        intervals="range",
    )
    text = " ".join(str(told).split())
    assert (
        "No intervals of 'other': those of its report have another confidence level (90%, 400 resamples, seed 0)."
        in text
    )
    assert "The report of 'bare' has no intervals." in text
    assert "those of its report (" not in text
    seeded = make({"other": report(9, seed=1), "all": 10}, intervals="range")
    notes = " ".join(str(seeded).split())
    assert "The intervals of 'other' are those of its report (95%, 400 resamples, seed 1)." in notes
    assert notes.count("those of its report (") == 1
    assert [
        line.split()[:2] for line in str(told).splitlines() if line.startswith(("other", "bare"))
    ] == [
        ["other", "94.74"],
        ["bare", "94.74"],
    ]


def test_rows_are_sorted_by_a_score():
    table = make(THREE | {"none again": 0}, sort="muc/f1")
    assert table.names == ("all", "most", "none", "none again")
    assert table.find_best("muc/f1") == {0}
    with pytest.raises(RequestError, match="no such column to sort by: 'muc'"):
        make(THREE, sort="muc")


def test_html_is_harmless():
    html = make({"<script>": 9, "b": 10}).to_html()
    tags = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.append(tag)
    parser.feed(html)
    assert "script" not in tags
    assert "<strong>100.00</strong>" in html
    assert make({"a": 9})._repr_html_() == make({"a": 9}).to_html()


def test_rows_and_json_have_everything():
    table = make(THREE | {"told": report(9)})
    frame = table.to_frame("arrow").to_pydict()
    assert frame["system"] == list(table.names)
    assert frame["best"] == [False, False, True, False]
    assert frame["difference_from_best"] == [-1, pytest.approx(-1 / 19), None, None]
    assert frame["differs_from_best"] == [True, False, None, None]
    found = json.loads(json.dumps(table.to_dict(), allow_nan=False))
    assert found["correction"] == {"method": "holm", "n_tests": {"muc/f1": 3}}
    assert found["systems"][1]["standings"] == {"muc/f1": "close"}
    assert Report.from_json(found["systems"][3]["report"]).scores == table.reports[3].scores
    pairs = found["pairs"]["muc/f1"]
    assert [(one["first"], one["second"]) for one in pairs] == [
        ("none", "most"),
        ("none", "all"),
        ("most", "all"),
    ]
    rows = replace(table, pairs=True).to_frame("arrow").to_pydict()
    for name, shown in (
        ("p_randomization_corrected", "p_randomization_corrected"),
        ("low", "ci_low"),
    ):
        assert rows[shown] == [one[name] for one in pairs]
    assert "All pairs of systems\n" in str(replace(table, pairs=True))


def test_a_score_is_named_with_its_first_pair():
    grid = make_pair_grid(make({"a": 9, "b": 10, "c": 4}, scores=["muc", "conll"], pairs=True))
    assert [row[0] for row in grid.rows[:4]] == ["MUC precision", "", "", "MUC recall"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 1}, r"alpha is 1 \(expected a number above 0 and below 1\)"),
        ({"alpha": math.nan}, "alpha is nan"),
        ({"digits": 11}, r"digits is 11 \(expected a whole number from 0 to 10\)"),
        ({"intervals": "±"}, "no such style of intervals: '±'"),
        ({"scores": "muc/f2"}, "no such coref score: 'muc/f2'. Did you mean 'muc/f1'"),
        ({"scores": []}, "a table needs at least one score"),
        ({"scores": "lea", "metrics": "muc"}, "metrics= excludes the score 'lea'"),
        ({"matching": "partly"}, "option matching: 'partly' is not one of"),
    ],
)
def test_what_can_not_be_asked_for(arguments, message):
    with pytest.raises(RequestError, match=message):
        make(THREE, **arguments)
    with pytest.raises(RequestError, match="a table needs at least one system"):
        make({})


def test_systems_that_were_not_scored_alike():
    other = closeread.score(
        "coref",
        system(9),
        gold=KEY,
        resampling=Resampling(0),
        average="documents",
        keep_singletons="false",
    )
    fewer = closeread.score("coref", system(9)[:8], gold=KEY[:8], resampling=Resampling(0))
    with pytest.raises(RequestError) as error:
        closeread.table("coref", {"a": report(9), "b": other, "c": fewer})
    first, *lines = str(error.value).splitlines()
    assert first == "the systems are not comparable: they were not scored as 'a' was:"
    assert lines[:2] == [
        "'b': option keep_singletons is 'false' (expected 'true')",
        "'b': option average is 'documents' (expected 'micro')",
    ]
    digests = [one.provenance.signature[-12:] for one in (fewer, report(9))]
    assert lines[2:] == ["'c': gold is coref {} (expected coref {})".format(*digests)]


def test_scores_that_some_systems_lack():
    some = closeread.score("coref", system(9), gold=KEY, metrics=("muc", "lea"), resampling=QUICK)
    table = closeread.table("coref", {"some": some, "all": report(10)})
    assert table.scores == ("muc/f1", "lea/f1")
    assert "No column for conll/f1, which is not in 'some'." in str(table)
    with pytest.raises(RequestError) as error:
        closeread.table(
            "coref", {"some": some, "all": report(10)}, scores=["muc/f1", "conll", "b3/f1"]
        )
    known = "muc/precision, muc/recall, muc/f1, lea/precision, lea/recall, lea/f1"
    assert (
        str(error.value)
        == f"some systems lack scores:\n'some' has no conll/f1, b3/f1 (it has: {known})"
    )


def test_a_table_is_public():
    assert closeread.table.__module__ == "closeread"
    assert isinstance(make(THREE), closeread.Comparison)


def test_a_column_of_scores_without_values_is_where_its_numbers_would_be():
    grid = Grid("", ["system", "F1", "note"], [["a", "–", "–"], ["b", "–", "none"]])
    assert re.findall("<th style=.text-align: ([a-z]+)", draw_html(grid)) == [
        "left",
        "right",
        "left",
    ]
