"""Submissions: joined with the gold by id, and judged alike by two implementations of JSON Schema."""

import copy

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closeread import limits
from closeread.corpus.gold import read_gold
from closeread.corpus.names import corpus_names, load_corpus
from closeread.corpus.schema import NOT_EXPLAINED, RowValidator
from closeread.corpus.submissions import dump_submission, name_fields, read_submission
from closeread.corpus.validation import accept_rows
from closeread.exceptions import SubmissionError
from closeread.files import write_text

MCTACO = load_corpus("mctaco")
IDS = [record["id"] for record in read_gold(MCTACO, "sample").records]
GOLD = [{"id": name} for name in IDS]
ROWS = [{"id": name, "label": "yes" if i % 3 else "no"} for i, name in enumerate(IDS)]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("submissions") / "system"


def put(file, rows, suffix=".jsonl"):
    write_text(file, dump_submission(rows, MCTACO, suffix))
    return file


PREDICTED = {
    "marmara_coref": ("document", "clusters"),
    "mctaco": ("id", "label"),
    "semeval2015_timeline": ("id", "entries"),
    "tne": ("id", "relations"),
    "wikipossessions": ("article", "possessions"),
}


def test_a_mapping_stands_for_the_id_and_what_is_predicted():
    assert {name: name_fields(load_corpus(name)) for name in PREDICTED} == PREDICTED


@pytest.mark.parametrize("name", corpus_names())
def test_the_last_required_field_of_a_prediction_is_not_its_id(name):
    corpus = load_corpus(name)
    key, predicted = name_fields(corpus)
    assert key == corpus.key
    assert predicted != key


@given(rows=st.permutations(ROWS), spaced=st.booleans())
def test_rows_in_any_order(file, rows, spaced):
    put(file, [{"label": row["label"], "id": row["id"]} for row in rows] if spaced else rows)
    submission = read_submission(file, MCTACO, GOLD)
    assert submission.rows == ROWS
    assert submission.missing == ()


@given(kept=st.sets(st.sampled_from(IDS), min_size=1), missing=st.sampled_from(["empty", "skip"]))
def test_missing_rows_that_are_allowed(file, kept, missing):
    put(file, [row for row in reversed(ROWS) if row["id"] in kept])
    submission = read_submission(file, MCTACO, GOLD, missing)
    assert submission.rows == [row if row["id"] in kept else None for row in ROWS]
    assert submission.missing == tuple(name for name in IDS if name not in kept)


@pytest.mark.parametrize(
    ("n", "message"),
    [
        (1, "1 of 103 ids has no prediction: 'test-00102'. Add it"),
        (3, "3 of 103 ids have no prediction: 'test-00100', 'test-00101', 'test-00102'. Add them"),
        (
            4,
            "4 of 103 ids have no prediction: 'test-00099', 'test-00100', 'test-00101', …. Add them",
        ),
    ],
)
def test_missing_rows_are_an_error(file, n, message):
    put(file, ROWS[:-n])
    with pytest.raises(SubmissionError) as caught:
        read_submission(file, MCTACO, GOLD)
    assert str(caught.value) == f"{file}: {message}, or use missing='empty' or missing='skip'"


@pytest.mark.parametrize("missing", ["error", "empty", "skip"])
def test_a_text_file_never_lacks_a_line(file, missing):
    """Nobody knows which line is missing, and every later one may be off."""
    put(file, ROWS[:-1], ".txt")
    with pytest.raises(SubmissionError) as caught:
        read_submission(file, MCTACO, GOLD, missing)
    assert (
        str(caught.value)
        == f"{file}: the number of lines is 102 (expected 103, one for each candidate)"
    )


@pytest.mark.parametrize("missing", ["error", "empty", "skip"])
def test_unknown_and_repeated_ids_are_always_errors(file, missing):
    put(file, [*ROWS, {"id": "test-00103", "label": "no"}, ROWS[7]])
    with pytest.raises(SubmissionError) as caught:
        read_submission(file, MCTACO, GOLD, missing)
    assert [(p.line, p.text) for p in caught.value.problems] == [
        (104, "id 'test-00103' is not in the gold"),
        (105, "duplicate id 'test-00007' (first on line 8)"),
    ]


# Two judges: what one refuses, the other words.

EVERY_KEYWORD = {
    "$defs": {
        "name": {"type": "string", "pattern": "^[a-z]{1,8}$(?!\\n)"},
        "document": {
            "type": "object",
            "additionalProperties": False,
            "required": ["id", "n"],
            "properties": {
                "id": {"$ref": "#/$defs/name", "description": "beside a $ref"},
                "n": {"type": "integer", "minimum": 0, "maximum": 2**53, "x-dtype": "int32"},
                "share": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
                "sure": {"type": "boolean"},
                "label": {"type": "string", "enum": ["no", "yes"]},
                "text": {"type": ["string", "null"], "minLength": 2},
                "spans": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": 2,
                    "items": {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["start"],
                        # Without a maximum, the oldest jsonschema-rs takes 1e300 for an integer.
                        "properties": {
                            "start": {"type": "integer", "minimum": -5, "maximum": 2**53}
                        },
                    },
                },
            },
        },
    }
}

ROW = {
    "id": "a",
    "n": 1,
    "share": 0.5,
    "sure": True,
    "label": "no",
    "text": "ab",
    "spans": [{"start": 1}],
}
TRICKY = [
    "",
    "\n",
    "a\n",
    "a\u2028",
    "A",
    "é",
    "\u212a",
    "ａ",
    "a\0",
    "😀",
    "e\u0301",
    "yes\n",
    "x" * 64,
    "x" * 65,
]
TRICKY += [
    0,
    -1,
    -5,
    -6,
    1.0,
    -0.0,
    1.5,
    5e-324,
    1 + 2**-52,
    1e300,
    2**53,
    2**53 + 1,
    2**64,
    -(2**63) - 1,
    10**400,
]
TRICKY += [
    None,
    True,
    False,
    [],
    {},
    [None],
    [[]],
    {"a": 1},
    {"start": 1},
    [{"start": 1.0}],
    [{"start": 1}] * 3,
]


def changed(value):
    """The value with one thing in it changed, for everything in it and every tricky value."""
    yield from TRICKY
    if isinstance(value, list):
        yield from [value * 3, value[1:], [*value, None]]
        for i, child in enumerate(value):
            yield from ([*value[:i], other, *value[i + 1 :]] for other in changed(child))
    if isinstance(value, dict):
        yield {**value, "extra": 1}
        for name, child in value.items():
            yield {key: kept for key, kept in value.items() if key != name}
            yield {f"{key}\n" if key == name else key: kept for key, kept in value.items()}
            yield from ({**value, name: other} for other in changed(child))


def test_two_judges_agree_and_every_rejection_is_worded():
    ours = RowValidator(EVERY_KEYWORD, "document")
    theirs = jsonschema.Draft4Validator(
        {"$defs": EVERY_KEYWORD["$defs"], "$ref": "#/$defs/document"}
    )
    assert ours.accepts(ROW)
    assert sum(map(ours.accepts, changed(ROW))) > 10
    for other in changed(ROW):
        assert ours.accepts(other) == theirs.is_valid(other), other
        problems = accept_rows(ours, [other], [7])[1]
        assert not (problems and ours.accepts(other))  # whole numbers as floats are accepted, too
        assert all(
            p.row == 7 and p.text.isprintable() and "is not a JSON value" not in p.message
            for p in problems
        )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n": None}, ["n: expected a whole number, found null"]),
        ({"n": -1}, ["n: -1 is less than the minimum of 0"]),
        ({"label": 1}, ["label: 1 is not one of 'no', 'yes'"]),
        ({"label": "Yes"}, ["label: 'Yes' is not one of 'no', 'yes'; did you mean 'yes'?"]),
        ({"spans": []}, ["spans: is empty"]),
        (
            {"spans": [{"start": 1}, {"start": "1"}]},
            ['spans[1].start: expected a whole number, found \'1\' (in {"start": "1"})'],
        ),
        (
            {"spans": [{"begin": 1}]},
            ["spans[0]: unknown field 'begin'; did you mean 'start'? (in {\"begin\": 1})"],
        ),
        ({"text": "\x1b"}, [r"text: '\x1b' has 1 character (expected at least 2)"]),
        (
            {"n": 1.5, "share": 2},
            ["n: expected a whole number, found 1.5", "share: 2 is greater than the maximum of 1"],
        ),
        ({"share": float("nan")}, ["share: is not a finite number"]),
        ({"text": {1, 2}}, ["text: expected text or null, found a set"]),
        ({1: 2}, ["unknown field '1' (fields: 'id', 'n', 'share', 'sure', 'label', …)"]),
    ],
)
def test_words(change, words):
    assert [
        p.text for p in RowValidator(EVERY_KEYWORD, "document").problems([{**ROW, **change}])
    ] == words


def test_rejected_rows_beyond_the_worded_ones_are_counted():
    good, bad = {"id": "a", "n": 1}, {"id": "a"}
    rows = [good, *[bad] * limits.MAX_EXPLAINED, good, bad, bad, good]
    problems = RowValidator(EVERY_KEYWORD, "document").problems(rows, range(1, len(rows) + 1))
    assert [p.row for p in problems] == [
        *range(2, limits.MAX_EXPLAINED + 2),
        limits.MAX_EXPLAINED + 3,
        limits.MAX_EXPLAINED + 4,
    ]
    assert [p.text for p in problems[limits.MAX_EXPLAINED - 1 :]] == [
        "field 'n' is missing",
        *[NOT_EXPLAINED] * 2,
    ]


def test_rows_are_not_changed():
    row = copy.deepcopy(ROW)
    RowValidator(EVERY_KEYWORD, "document").problems([row, {**row, "n": "x"}], [1, 2])
    assert row == ROW
