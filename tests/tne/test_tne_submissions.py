"""Submissions of links for TNE: everything that is wrong with a file at once."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.error_messages import check_message
from shared.for_each import for_each
from shared.tne_links import link
from shared.tne_submissions import ANY_JSON, IDS, SIZES, count, read, refuse, submit
from twins.tne_submissions import is_valid

from closeread.exceptions import InputError
from closeread.formats.json_lines import dump_json_lines
from closeread.tasks.tne.columns import PREPOSITIONS

KNOWN = "(expected one of its 13 noun phrases, np0 to np12)"
ONE_OF = f"is not one of {', '.join(map(repr, PREPOSITIONS[1:]))}"


def test_a_sound_file(file):
    rows = submit([link(0, "of", 1), link(0, "in", 1), link(12, "of", 0)], [link(1, "of", 0), link(0, "of", 1)])
    submission = read(file, rows)
    assert list(submission.rows) == rows
    assert submission.missing == ()
    assert list(read(file, rows[::-1]).rows) == rows
    nulls = [{**row, "fallback": row.get("fallback")} for row in rows]
    assert list(read(file, nulls).rows) == nulls


@for_each(
    ("rows", "problems"),
    [
        (
            submit([link(0, "of", 1), link(13, "of", 1), link(1, "of", 99999)]),
            [
                f"id 's1': relations[1]: anchor 'np13' does not exist {KNOWN}",
                f"id 's1': relations[2]: complement 'np99999' does not exist {KNOWN}",
            ],
        ),
        (
            submit([link("x", "of", 1), {"anchor": "7", "complement": "np-1", "preposition": "of"}]),
            [
                f"id 's1': relations[0]: anchor 'npx' does not exist {KNOWN}",
                f"id 's1': relations[1]: anchor '7' does not exist {KNOWN}",
                f"id 's1': relations[1]: complement 'np-1' does not exist {KNOWN}",
            ],
        ),
        (submit([link(4, "of", 4)]), ["id 's1': relations[0]: np4 is linked to itself (expected two noun phrases)"]),
        (
            submit([link(0, "of", 1), link(0, "in", 1), link(1, "of", 0), link(0, "of", 1)]),
            ["id 's1': relations[3]: np0 and np1 are already linked by 'of'"],
        ),
        (
            submit([], [link(0, "of", 1), link(0, "in", 1), link(0, "of", 1)]),
            [
                "id 's1': fallback[1]: np0 and np1 already have a fallback (expected at most one)",
                "id 's1': fallback[2]: np0 and np1 already have a fallback (expected at most one)",
            ],
        ),
        (submit([], [link(3, "of", 3)]), ["id 's1': fallback[0]: np3 is linked to itself (expected two noun phrases)"]),
        (
            submit([["np0", "of", "np1"]]),
            ['id \'s1\': relations[0]: expected an object such as {"anchor": …, "complement": …, …}, found a list'],
        ),
    ],
)
def test_broken_links(file, rows, problems):
    assert refuse(file, rows) == [(1, what) for what in problems]


@for_each(
    ("broken", "problem"),
    [
        (link(0, "_", 1), f"relations[0].preposition: '_' {ONE_OF}"),
        (link(0, "Of", 1), f"relations[0].preposition: 'Of' {ONE_OF}; did you mean 'of'?"),
        (link(0, "", 1), f"relations[0].preposition: '' {ONE_OF}"),
        (
            {**link(0, "of", 1), "score": 0.5},
            "relations[0]: unknown field 'score' (fields: 'anchor', 'complement', 'preposition')",
        ),
        ({"anchor": "np0", "complement": "np1"}, "relations[0]: field 'preposition' is missing"),
        ({**link(0, "of", 1), "anchor": 0}, "relations[0].anchor: expected text, found 0"),
        ({**link(0, "of", 1), "anchor": ""}, "relations[0].anchor: is empty"),
    ],
)
def test_broken_links_are_told_whole(file, broken, problem):
    inside = f"(in {json.dumps(broken)})"
    assert refuse(file, submit([broken])) == [(1, f"id 's1': {problem} {inside}")]
    of_fallback = problem.replace("relations", "fallback")
    assert refuse(file, submit([], [broken])) == [(1, f"id 's1': {of_fallback} {inside}")]


def test_one_broken_link_hides_no_other(file):
    rows = submit([link(0, "beside", 1), link(0, "of", 99), {"anchor": "np1"}, link(4, "of", 4), link(2, "of", 3)])
    rows[0]["relations"].append(link(2, "of", 3))
    rows[0]["fallback"] = [link(0, "by", 1), 7, link(5, "of", 6), link(5, "in", 6)]
    found = refuse(file, [rows[0], {"id": "s2", "relations": 7}, rows[2]])
    assert [(line, what.split(" is not one of")[0].split(" (in")[0]) for line, what in found] == [
        (None, "1 of 4 ids has no prediction: 's4'. Add it, or use missing='empty' or missing='skip'"),
        (
            1,
            'id \'s1\': fallback[1]: expected an object such as {"anchor": …, "complement": …, …}, found 7',
        ),
        (1, "id 's1': relations[0].preposition: 'beside'"),
        (1, "id 's1': relations[2]: field 'complement' is missing"),
        (1, "id 's1': relations[2]: field 'preposition' is missing"),
        (1, f"id 's1': relations[1]: complement 'np99' does not exist {KNOWN}"),
        (1, "id 's1': relations[3]: np4 is linked to itself (expected two noun phrases)"),
        (1, "id 's1': relations[5]: np2 and np3 are already linked by 'of'"),
        (1, "id 's1': fallback[3]: np5 and np6 already have a fallback (expected at most one)"),
        (2, "id 's2': relations: expected a list, found 7"),
    ]


def test_rows_are_named_by_their_line(file):
    rows = submit([link(0, "of", 0)], name="s3")
    assert refuse(file, rows) == [(3, "id 's3': relations[0]: np0 is linked to itself (expected two noun phrases)")]
    assert refuse(file, rows[::-1]) == [
        (2, "id 's3': relations[0]: np0 is linked to itself (expected two noun phrases)")
    ]


@for_each("missing", ["error", "empty", "skip"])
def test_unknown_and_repeated_ids(file, missing):
    rows = [*submit(), {"id": "s9", "relations": []}, submit()[1], {"id": 7, "relations": []}, {"relations": []}]
    assert refuse(file, rows, missing=missing) == [
        (5, "id 's9' is not in the gold"),
        (6, "duplicate id 's2' (first on line 2)"),
        (7, "id: expected text, found 7"),
        (8, "field 'id' is missing"),
    ]


def test_missing_documents(file):
    message = "2 of 4 ids have no prediction: 's2', 's4'. Add them, or use missing='empty' or missing='skip'"
    rows = [submit()[0], submit()[2]]
    assert refuse(file, rows) == [(None, message)]
    for missing in ("empty", "skip"):
        submission = read(file, rows, missing=missing)
        assert submission.missing == ("s2", "s4")
        assert list(submission.rows) == [rows[0], None, rows[1], None]


def test_everything_at_once(file):
    rows = [
        {"id": "s9", "relations": []},
        {"id": "s1", "relations": [link(0, "of", 0), link(20, "of", 1)]},
        {"id": "s2", "relations": [link(0, "Of", 1), link(0, "of", 0)]},
        {"id": "s1", "relations": []},
        {"id": "s3", "relations": [], "fallback": [link(0, "of", 1)] * 2},
    ]
    assert refuse(file, rows) == [
        (None, "1 of 4 ids has no prediction: 's4'. Add it, or use missing='empty' or missing='skip'"),
        (1, "id 's9' is not in the gold"),
        (2, f"id 's1': relations[1]: anchor 'np20' does not exist {KNOWN}"),
        (2, "id 's1': relations[0]: np0 is linked to itself (expected two noun phrases)"),
        (
            3,
            f"id 's2': relations[0].preposition: 'Of' {ONE_OF}; did you mean 'of'? (in {json.dumps(link(0, 'Of', 1))})",
        ),
        (3, "id 's2': relations[1]: np0 is linked to itself (expected two noun phrases)"),
        (4, "duplicate id 's1' (first on line 2)"),
        (5, "id 's3': fallback[1]: np0 and np1 already have a fallback (expected at most one)"),
    ]
    content = dump_json_lines(rows) + '{"id": "s4", "id": "s4"}\n\n'
    assert refuse(file, content)[-2:] == [
        (6, "duplicate key 'id'"),
        (7, "is blank (expected one JSON object per line)"),
    ]


# Anything.

NP = st.sampled_from(["np0", "np1", "np2", "np9", "np10", "np13", "np01"])
GOOD_LINK = st.fixed_dictionaries({"anchor": NP, "complement": NP, "preposition": st.sampled_from(["of", "in"])})
LINKS = st.lists(GOOD_LINK, max_size=4) | st.lists(GOOD_LINK | ANY_JSON, max_size=3) | ANY_JSON
ROW = st.fixed_dictionaries(
    {"id": st.sampled_from([*IDS, "s9"]) | ANY_JSON, "relations": LINKS}, optional={"fallback": LINKS}
)


@pytest.mark.gate
@given(
    st.lists(ROW, min_size=1, max_size=4, unique_by=lambda row: json.dumps(row["id"])),
    st.sampled_from(["empty", "skip"]),
)
@settings(max_examples=200)
def test_rows_are_scored_or_refused_as_they_should(file, rows, missing):
    file.write_text(dump_json_lines(rows), "utf-8")
    try:
        table = count(file, missing=missing)
    except InputError as error:
        check_message(error)
        assert not is_valid(rows, dict(zip(IDS, SIZES, strict=True)))
        return
    assert is_valid(rows, dict(zip(IDS, SIZES, strict=True)))
    assert np.isfinite(table.values).all()
