"""Submissions for TNE as arrays of the leaderboard: everything that is wrong with a file at once, and round trips."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.for_each import for_each
from shared.tne_links import gold_rows, link
from shared.tne_submissions import GOLD, IDS, SIZES, arrays, count, read, refuse, submit

from closeread.exceptions import RequestError
from closeread.formats.json_lines import dump_json_lines
from closeread.records import Parsed
from closeread.tasks.tne import tne_arrays
from closeread.tasks.tne.columns import PREPOSITIONS


def test_arrays_row_by_row(file):
    rows = arrays({1: {1: 1, 13: 3, 12 * 13: 24}, 3: {9: 9}})
    wanted = submit([link(0, "of", 1), link(1, "in", 0), link(12, "around", 0)])
    wanted[2]["relations"] = [link(0, "member(s) of", 9)]
    assert list(read(file, rows).rows) == wanted
    with_ids = [{"id": name, **row} for name, row in zip(IDS, rows, strict=True)]
    assert list(read(file, with_ids).rows) == wanted
    last = [{**row, "id": name} for name, row in zip(IDS, rows, strict=True)]
    assert list(read(file, last).rows) == wanted


def test_the_diagonal_counts_for_nothing(file):
    rows = arrays({1: {0: 7, 14: 24, 13**2 - 1: 1, 2: 1}})
    assert list(read(file, rows).rows) == submit([link(0, "of", 2)])


def test_every_label(file):
    rows = arrays({2: {label: label for label in range(1, 14)} | {12 * 14 + label: label for label in range(14, 25)}})
    (found,) = (row["relations"] for row in read(file, rows).rows if row["relations"])
    assert [PREPOSITIONS.index(one["preposition"]) for one in found] == list(range(1, 25))
    ends = [(one["anchor"], one["complement"]) for one in found]
    assert ends == [*(("np0", f"np{i}") for i in range(1, 14)), *(("np13", f"np{i}") for i in range(11))]


LABEL = "(expected an integer from 0 to 24)"
PAIRS = "one for each ordered pair of the document's 13 noun phrases"
LENGTH = f"(expected 169: {PAIRS})"
LIST = f"(expected a list of 169 labels, {PAIRS})"


@for_each(
    ("rows", "problems"),
    [
        (arrays({1: [0] * 168}), [(1, f"id 's1': predicted_prepositions has 168 labels {LENGTH}")]),
        (arrays({1: [3]}), [(1, f"id 's1': predicted_prepositions has 1 label {LENGTH}")]),
        (arrays({1: [0] * 170}), [(1, f"id 's1': predicted_prepositions has 170 labels {LENGTH}")]),
        (arrays({1: []}), [(1, f"id 's1': predicted_prepositions has 0 labels {LENGTH}")]),
        (arrays({1: [[0, 1]] * 3}), [
            (1, f"id 's1': predicted_prepositions has 3 labels {LENGTH}"),
            *((1, f"id 's1': predicted_prepositions[{i}] is [0, 1] {LABEL}") for i in range(3)),
        ]),
        (arrays({2: {5: 25, 7: -1}}), [
            (2, f"id 's2': predicted_prepositions[5] (np0, np5) is 25 {LABEL}"),
            (2, f"id 's2': predicted_prepositions[7] (np0, np7) is -1 {LABEL}"),
        ]),
        (arrays({1: {0: -1}}), [(1, f"id 's1': predicted_prepositions[0] (np0, np0) is -1 {LABEL}")]),
        (arrays({1: {1: True, 13: 1.0, 12 * 13 + 5: "1"}}), [
            (1, f"id 's1': predicted_prepositions[1] (np0, np1) is true {LABEL}"),
            (1, f"id 's1': predicted_prepositions[13] (np1, np0) is 1.0 {LABEL}"),
            (1, f"id 's1': predicted_prepositions[161] (np12, np5) is '1' {LABEL}"),
        ]),
        (arrays({1: {1: None, 2: 10**400}}), [
            (1, f"id 's1': predicted_prepositions[1] (np0, np1) is null {LABEL}"),
            (1, f"id 's1': predicted_prepositions[2] (np0, np2) is {'1' + '0' * 27} … {'0' * 28} {LABEL}"),
        ]),
        (arrays({4: [99] * 121}), [
            (4, f"id 's4': predicted_prepositions[0] (np0, np0) is 99 {LABEL}"),
            (4, f"id 's4': predicted_prepositions[1] (np0, np1) is 99 {LABEL}"),
            (4, f"id 's4': predicted_prepositions[2] (np0, np2) is 99 {LABEL}, and 118 more"),
        ]),
        (arrays({1: 7}), [(1, f"id 's1': predicted_prepositions is 7 {LIST}")]),
        (arrays({1: "0" * 99}), [(1, f"id 's1': predicted_prepositions is '{'0' * 27} … {'0' * 27}' {LIST}")]),
        (arrays({1: None}), [(1, f"id 's1': predicted_prepositions is null {LIST}")]),
        ([arrays()[0], {}, *arrays()[2:]], [
            (2, "id 's2': predicted_prepositions is missing "
                "(expected a list of 196 labels, one for each ordered pair of the document's 14 noun phrases)"),
        ]),
        (arrays(score=1)[:1] + arrays()[1:], [
            (1, "id 's1': unknown key 'score' (expected predicted_prepositions only)"),
        ]),
        (arrays(id="s2")[:2] + arrays()[2:], [(1, "id is 's2' (expected 's1' or no id)")]),
        (arrays(id=None)[:1] + arrays()[1:], [(1, "id is null (expected 's1' or no id)")]),
        ([*arrays()[:2], {"relations": []}, *arrays()[3:]], [
            (3, "id 's3': unknown key 'relations' (expected predicted_prepositions only)"),
            (3, "id 's3': predicted_prepositions is missing "
                "(expected a list of 100 labels, one for each ordered pair of the document's 10 noun phrases)"),
        ]),
    ],
)  # fmt: skip
@for_each("missing", ["error", "empty", "skip"])
def test_broken_arrays(file, rows, problems, missing):
    assert refuse(file, rows, missing=missing) == problems


@for_each("missing", ["error", "empty", "skip"])
@for_each(
    ("content", "n"),
    [
        (arrays()[:3], 3),
        ([*arrays(), arrays()[0]], 5),
        (arrays()[:1], 1),
    ],
)
def test_another_number_of_lines(file, content, n, missing):
    message = f"the number of lines is {n} (expected 4: one for each document, in the order of the corpus)"
    assert refuse(file, content, missing=missing) == [(None, message)]


def test_everything_about_arrays_at_once(file):
    rows = [*arrays({1: {3: 25}, 3: [0]}), *arrays()[:1]]
    content = dump_json_lines(rows[:1]) + "x\n" + dump_json_lines(rows[2:])
    assert refuse(file, content) == [
        (None, "the number of lines is 5 (expected 4: one for each document, in the order of the corpus)"),
        (1, f"id 's1': predicted_prepositions[3] (np0, np3) is 25 {LABEL}"),
        (2, "is not valid JSON: Expecting value at column 1"),
        (
            3,
            "id 's3': predicted_prepositions has 1 label "
            "(expected 100: one for each ordered pair of the document's 10 noun phrases)",
        ),
    ]


@for_each(
    ("line", "is_array"),
    [
        ('{"predicted_prepositions": [', True),
        (' {"id": "a", "predicted_prepositions" : [0]}', True),
        ('{"predicted_prepositions":7}', True),
        ('{"id": "s1", "relations": []}', False),
        ('{"id": "s1", "relations": [{"anchor": "predicted_prepositions"}], "predicted_prepositions": [0]}', False),
        ('["predicted_prepositions"]', False),
        ("", False),
    ],
)
def test_what_is_taken_for_arrays(line, is_array):
    assert tne_arrays.recognises(line) == is_array


@given(st.data())
@settings(max_examples=50)
def test_arrays_round_trip(file, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    share = data.draw(st.sampled_from([0, 0.1, 1]))
    rows = arrays()
    for row, size in zip(rows, SIZES, strict=True):
        labels = np.where(rng.random((size, size)) < share, rng.integers(0, 25, (size, size)), 0)
        np.fill_diagonal(labels, 0)
        row["predicted_prepositions"] = labels.ravel().tolist()
    submission = read(file, rows)
    assert tne_arrays.dump_submission(submission.rows, GOLD.records) == dump_json_lines(rows)
    # The same as links, whatever the file.
    table = count(file)
    file.write_text(dump_json_lines(submission.rows), "utf-8")
    assert np.array_equal(count(file).values, table.values)


def test_arrays_keep_the_first_of_several_labels():
    rows = submit([link(0, "of", 1), link(2, "at", 1), link(0, "in", 1)], [link(5, "of", 6)])
    written = [json.loads(line)["predicted_prepositions"] for line in
               tne_arrays.dump_submission(rows, GOLD.records).splitlines()]  # fmt: skip
    assert [len(row) for row in written] == [size**2 for size in SIZES]
    assert {place: label for place, label in enumerate(written[0]) if label} == {1: 1, 2 * 13 + 1: 15}
    assert not any(map(any, written[1:]))


def test_arrays_beyond_a_line_are_refused():
    # A line may have 2**26 bytes, and a label takes four at most.
    rows = [{"id": "small", "relations": []}, {"id": "large", "relations": []}]
    gold = [{"id": row["id"], "nps": [None] * size} for row, size in zip(rows, (2, 4097), strict=True)]
    message = (
        "id 'large': 4,097 noun phrases need 16,785,409 labels on one line "
        "(expected at most 4,096 noun phrases); write JSON Lines of links instead"
    )
    with pytest.raises(RequestError) as caught:
        tne_arrays.dump_submission(rows, gold)
    assert str(caught.value) == message


def test_gold_is_a_submission(file):
    rows = gold_rows(GOLD.records)
    file.write_text(dump_json_lines(rows), "utf-8")
    assert count(file).values[:, :5].sum() > 0
    assert tne_arrays.parse_submission(
        tne_arrays.dump_submission(rows, GOLD.records).splitlines(), GOLD.records
    ) == Parsed([{**row, "relations": sorted(row["relations"], key=place)} for row in rows], [1, 2, 3, 4], [])


def place(one):
    return int(one["anchor"][2:]), int(one["complement"][2:])


# Anything.
