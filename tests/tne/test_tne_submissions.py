"""Submissions of links for TNE: everything that is wrong with a file at once."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.error_messages import check_message
from shared.for_each import for_each
from shared.tne_documents import phrase, references, relations, rows
from shared.tne_links import link
from shared.tne_submissions import ANY_JSON, GOLD, IDS, SIZES, arrays, count, read, refuse, submit
from twins.tne_submissions import is_valid

from closeread.exceptions import InputError, RequestError
from closeread.formats.json_lines import dump_json_lines
from closeread.tasks.tne import tne_arrays
from closeread.tasks.tne.columns import PREPOSITIONS
from closeread.tasks.tne.procedure import validate

KNOWN = "(expected one of its 13 noun phrases, np0 to np12)"
ONE_OF = f"is not one of {', '.join(map(repr, PREPOSITIONS[1:]))}"


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


def test_one_broken_link_hides_no_other(file):
    rows = submit(
        [
            link(0, "beside", 1),
            link(0, "of", 99),
            {"anchor": "np1"},
            link(4, "of", 4),
            link(2, "of", 3),
        ]
    )
    rows[0]["relations"].append(link(2, "of", 3))
    rows[0]["fallback"] = [link(0, "by", 1), 7, link(5, "of", 6), link(5, "in", 6)]
    found = refuse(file, [rows[0], {"id": "s2", "relations": 7}, rows[2]])
    assert [(line, what.split(" is not one of")[0].split(" (in")[0]) for line, what in found] == [
        (
            None,
            "1 of 4 ids has no prediction: 's4'. Add it, or use missing='empty' or missing='skip'",
        ),
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


def test_everything_at_once(file):
    rows = [
        {"id": "s9", "relations": []},
        {"id": "s1", "relations": [link(0, "of", 0), link(20, "of", 1)]},
        {"id": "s2", "relations": [link(0, "Of", 1), link(0, "of", 0)]},
        {"id": "s1", "relations": []},
        {"id": "s3", "relations": [], "fallback": [link(0, "of", 1)] * 2},
    ]
    assert refuse(file, rows) == [
        (
            None,
            "1 of 4 ids has no prediction: 's4'. Add it, or use missing='empty' or missing='skip'",
        ),
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
    return [(one.row, one.problem.message) for one in found]


@for_each(
    ("name", "row", "found"),
    [
        (
            "a right one",
            {"id": "d0", "relations": relations([(0, "of", 1), (0, "in", 1), (1, "of", 0)])},
            [],
        ),
        (
            "another's",
            {"id": "d1", "relations": []},
            ["id is 'd1' (expected 'd0', as in the gold)"],
        ),
        (
            "a noun phrase that is none",
            {"id": "d0", "relations": relations([(0, "of", 4), (9, "of", 1)])},
            [
                "relations[1]: anchor 'np9' does not exist (expected one of its 4 noun phrases, np0 to np3)",
                "relations[0]: complement 'np4' does not exist (expected one of its 4 noun phrases, np0 to np3)",
            ],
        ),
        (
            "no id of a noun phrase",
            {
                "id": "d0",
                "relations": [
                    {"anchor": "np01", "complement": "x\x1b", "preposition": "of"},
                    {"anchor": "of", "complement": "np1", "preposition": "of"},
                ],
            },
            [
                "relations[0]: anchor 'np01' does not exist (expected one of its 4 noun phrases, np0 to np3)",
                "relations[1]: anchor 'of' does not exist (expected one of its 4 noun phrases, np0 to np3)",
                r"relations[0]: complement 'x\x1b' does not exist (expected one of its 4 noun phrases, np0 to np3)",
            ],
        ),
        (
            "the same again, which does not exist",
            {
                "id": "d0",
                "relations": [{"anchor": "x", "complement": "np1", "preposition": "of"}] * 2,
            },
            [
                "relations[0]: anchor 'x' does not exist (expected one of its 4 noun phrases, np0 to np3)",
                "relations[1]: anchor 'x' does not exist (expected one of its 4 noun phrases, np0 to np3)",
            ],
        ),
        (
            "a link to itself",
            {"id": "d0", "relations": relations([(1, "of", 0), (2, "of", 2)])},
            ["relations[1]: np2 is linked to itself (expected two noun phrases)"],
        ),
        (
            "a link again",
            {
                "id": "d0",
                "relations": relations([(0, "of", 1), (0, "in", 1), (0, "of", 1), (0, "of", 1)]),
            },
            [
                "relations[2]: np0 and np1 are already linked by 'of'",
                "relations[3]: np0 and np1 are already linked by 'of'",
            ],
        ),
        (
            "two fallbacks of a pair",
            {
                "id": "d0",
                "relations": [],
                "fallback": relations([(0, "of", 1), (1, "of", 0), (0, "in", 1)]),
            },
            ["fallback[2]: np0 and np1 already have a fallback (expected at most one)"],
        ),
        (
            "everything of a fallback",
            {"id": "d0", "relations": [], "fallback": relations([(7, "of", 1), (1, "of", 1)])},
            [
                "fallback[0]: anchor 'np7' does not exist (expected one of its 4 noun phrases, np0 to np3)",
                "fallback[1]: np1 is linked to itself (expected two noun phrases)",
            ],
        ),
    ],
)
def test_problems(name, row, found):
    gold = references([[(0, "of", 1)]], ["A B C D"], [["A", "B", "C", "D"]])
    other = references([[(0, "of", 1)]])[0] | {"id": "z"}
    assert problems(gold=[other, *gold], system=[{"id": "z", "relations": []}, row]) == [
        (1, what) for what in found
    ]
    assert problems(gold=[*gold, other], system=[row, None]) == [(0, what) for what in found]


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
        ([arrays()[0], {}, *arrays()[2:]], [
            (2, "id 's2': predicted_prepositions is missing "
                "(expected a list of 196 labels, one for each ordered pair of the document's 14 noun phrases)"),
        ]),
        (arrays(id="s2")[:2] + arrays()[2:], [(1, "id is 's2' (expected 's1' or no id)")]),
        (arrays(id=None)[:1] + arrays()[1:], [(1, "id is null (expected 's1' or no id)")]),
        ([*arrays()[:2], {"relations": []}, *arrays()[3:]], [
            (3, "id 's3': predicted_prepositions is missing "
                "(expected a list of 100 labels, one for each ordered pair of the document's 10 noun phrases)"),
        ]),
    ],
)  # fmt: skip
@for_each("missing", ["error", "empty", "skip"])
def test_broken_arrays(file, rows, problems, missing):
    assert refuse(file, rows, missing=missing) == problems


@for_each("missing", ["error", "empty", "skip"])
@for_each(("content", "n"), [(arrays()[:3], 3), ([*arrays(), arrays()[0]], 5), (arrays()[:1], 1)])
def test_another_number_of_lines(file, content, n, missing):
    message = f"the number of lines is {n} (expected 4: one for each document, in the order of the corpus)"
    assert refuse(file, content, missing=missing) == [(None, message)]


def test_everything_about_arrays_at_once(file):
    rows = [*arrays({1: {3: 25}, 3: [0]}), *arrays()[:1]]
    content = dump_json_lines(rows[:1]) + "x\n" + dump_json_lines(rows[2:])
    assert refuse(file, content) == [
        (
            None,
            "the number of lines is 5 (expected 4: one for each document, in the order of the corpus)",
        ),
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
