"""Submissions of links for TNE: everything that is wrong with a file at once."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.error_messages import check_message
from shared.tne_documents import phrase, references, rows
from shared.tne_links import link
from shared.tne_submissions import ANY_JSON, GOLD, IDS, SIZES, arrays, count, read, submit
from twins.tne_submissions import is_valid

from closeread.exceptions import InputError, RequestError
from closeread.formats.json_lines import dump_json_lines
from closeread.tasks.tne import tne_arrays
from closeread.tasks.tne.procedure import validate


def test_a_sound_file(file):
    rows = submit(
        [link(0, "of", 1), link(0, "in", 1), link(12, "of", 0)],
        [link(1, "of", 0), link(0, "of", 1)],
    )
    submission = read(file, rows)
    assert list(submission.rows) == rows
    assert submission.missing == ()
    assert list(read(file, rows[::-1]).rows) == rows
    nulls = [{**row, "fallback": row.get("fallback")} for row in rows]
    assert list(read(file, nulls).rows) == nulls


# Anything.

NP = st.sampled_from(["np0", "np1", "np2", "np9", "np10", "np13", "np01"])
GOOD_LINK = st.fixed_dictionaries(
    {"anchor": NP, "complement": NP, "preposition": st.sampled_from(["of", "in"])}
)
LINKS = st.lists(GOOD_LINK, max_size=4) | st.lists(GOOD_LINK | ANY_JSON, max_size=3) | ANY_JSON
ROW = st.fixed_dictionaries(
    {"id": st.sampled_from([*IDS, "s9"]) | ANY_JSON, "relations": LINKS},
    optional={"fallback": LINKS},
)


@pytest.mark.gate
@given(
    st.lists(ROW, min_size=1, max_size=4, unique_by=lambda row: json.dumps(row["id"])),
    st.sampled_from(["empty", "skip"]),
)
@settings(max_examples=200)
def test_rows_are_scored_or_refused_as_they_should(file, rows, missing):
    file.write_text(dump_json_lines(rows), "utf-8")
    # Null is a missing prediction.
    rows = [row for row in rows if row["relations"] is not None or not isinstance(row["id"], str)]
    try:
        table = count(file, missing=missing)
    except InputError as error:
        check_message(error)
        assert not is_valid(rows, dict(zip(IDS, SIZES, strict=True)))
        return
    assert is_valid(rows, dict(zip(IDS, SIZES, strict=True)))
    assert np.isfinite(table.values).all()


def problems(**sides):
    """The row and the message of each problem, all of which are the system's."""
    found = list(validate(**sides))
    assert all(one.side == "system" for one in found)
    return [(one.row, one.problem.text) for one in found]


def test_problems_of_documents_with_few_noun_phrases():
    phrases = [phrase(0, "the roof", 0)]
    gold = [{"id": f"d{n}", "np_relations": [], "nps": phrases[:n]} for n in range(2)]
    system = rows([[(0, "of", 1)], [(0, "of", 1)]])
    assert problems(gold=gold, system=system) == [
        (
            0,
            "relations[0]: anchor 'np0' does not exist (expected none: the document has no noun phrases)",
        ),
        (
            0,
            "relations[0]: complement 'np1' does not exist (expected none: the document has no noun phrases)",
        ),
        (1, "relations[0]: complement 'np1' does not exist (expected np0, its only noun phrase)"),
    ]


def test_problems_where_the_noun_phrases_are_not_known():
    gold = references([[(0, "of", 1)]])
    assert list(validate(gold=gold, system=rows([[(90, "of", 99999)]]))) == []
    bad = [{"id": "d0", "relations": [{"anchor": "it", "complement": "np0", "preposition": "of"}]}]
    found = "relations[0]: anchor 'it' does not exist (expected np0, np1, …)"
    assert problems(gold=gold, system=bad) == [(0, found)]


def test_the_diagonal_counts_for_nothing(file):
    rows = arrays({1: {0: 7, 14: 24, 13**2 - 1: 1, 2: 1}})
    assert list(read(file, rows).rows) == submit([link(0, "of", 2)])


@pytest.mark.parametrize(
    ("line", "is_array"),
    [
        ('{"predicted_prepositions": [', True),
        (' {"id": "a", "predicted_prepositions" : [0]}', True),
        ('{"predicted_prepositions":7}', True),
        ('{"id": "s1", "relations": []}', False),
        (
            '{"id": "s1", "relations": [{"anchor": "predicted_prepositions"}], "predicted_prepositions": [0]}',
            False,
        ),
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


def test_arrays_beyond_a_line_are_refused():
    # A line may have 2**26 bytes, and a label takes four at most.
    rows = [{"id": "small", "relations": []}, {"id": "large", "relations": []}]
    gold = [
        {"id": row["id"], "nps": [None] * size} for row, size in zip(rows, (2, 4097), strict=True)
    ]
    message = (
        "id 'large': 4,097 noun phrases need 16,785,409 labels on one line "
        "(expected at most 4,096 noun phrases); write JSON Lines of links instead"
    )
    with pytest.raises(RequestError) as caught:
        tne_arrays.dump_submission(rows, gold)
    assert str(caught.value) == message


def test_arrays_that_just_fit_on_a_line_are_written(monkeypatch):
    monkeypatch.setattr(tne_arrays.limits, "MAX_LINE_BYTES", len("24, ") * 3 * 3)
    rows, gold = [{"id": "three", "relations": []}], [{"id": "three", "nps": [None] * 3}]
    assert json.loads(tne_arrays.dump_submission(rows, gold)) == {tne_arrays.ARRAY: [0] * 9}


# Anything.
