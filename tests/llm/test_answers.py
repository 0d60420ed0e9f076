"""The reader of language models' answers: rows or a reason, never an exception, never credit by a guess."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from closeread.llm.answers import (
    FORMS,
    Answer,
    answer_schema,
    merge_answers,
    read_answer,
    write_answer,
)

QUESTION = {"ids": ["q-0", "q-1"], "ask": "question"}
CANDIDATE = {"ids": ["q-0"], "ask": "candidate"}
DOCUMENT = {"id": "d", "nps": ["np0", "np1", "np2"]}
ARTICLE = {"article": "The Blue Kettle"}
ENTITY = {"id": "aurelia", "entity": "Aurelia"}
TEXT = {"document": "t", "tokens": [0, 10]}
ABOUT = {
    "mctaco": QUESTION,
    "tne": DOCUMENT,
    "wikipossessions": ARTICLE,
    "timeline": ENTITY,
    "coref": TEXT,
}

YES_NO = '{"labels": ["yes", "no"]}'
OF = '{"anchor": 0, "preposition": "of", "complement": 2}'
LINK = {"anchor": "np0", "complement": "np2", "preposition": "of"}

NONE = "no item of the list can be read"

READ = [
    ("mctaco", QUESTION, YES_NO, ["yes", "no"]),
    ("mctaco", QUESTION, f"Sure! Here it is:\n{YES_NO}\nI hope that [1] helps.", ["yes", "no"]),
    (
        "mctaco",
        QUESTION,
        f'I first thought {{"labels": 3}}.\n```json\n{YES_NO}\n```\nDone.',
        ["yes", "no"],
    ),
    ("mctaco", QUESTION, f"```\n{YES_NO}", ["yes", "no"]),
    ("mctaco", QUESTION, f'<think>{{"labels": ["no", "no"]}}?</think>{YES_NO}', ["yes", "no"]),
    ("mctaco", QUESTION, '{"labels": ["Yes", " NO ",],}', ["yes", "no"]),
    ("mctaco", QUESTION, '["yes", "no"]', ["yes", "no"]),
    ("mctaco", QUESTION, '{"labels": [true, false]}', ["yes", "no"]),
    ("mctaco", QUESTION, f"{YES_NO} or, in other words, {YES_NO}", ["yes", "no"]),
    ("mctaco", CANDIDATE, "Yes.", ["yes"]),
    ("mctaco", CANDIDATE, "**No**", ["no"]),
    ("mctaco", CANDIDATE, "No, ferries take longer.", ["no"]),
    ("mctaco", CANDIDATE, "It is a short trip.\nAnswer: yes", ["yes"]),
    ("mctaco", CANDIDATE, '{"label": "no"}', ["no"]),
    ("tne", DOCUMENT, f'{{"relations": [{OF}]}}', [LINK]),
    (
        "tne",
        DOCUMENT,
        '{"relations": [{"anchor": "[0]", "preposition": "OF", "complement": "np2"}]}',
        [LINK],
    ),
    (
        "tne",
        DOCUMENT,
        f'[{OF}, {OF.replace("of", "in")}, {OF.replace("2", "7")}, "0 of 2"]',
        [LINK],
    ),
    ("tne", DOCUMENT, '{"relations": []}', []),
    (
        "coref",
        TEXT,
        '{"clusters": [[[0, 1], ["3", 3]], [[0, 1], [9, 10], [5, 4]]]}',
        [[[0, 1], [3, 3]]],
    ),
    ("coref", TEXT, '{"clusters": []}', []),
]

UNREAD = [
    ("mctaco", QUESTION, "", "nothing"),
    ("mctaco", QUESTION, " \n", "nothing"),
    ("mctaco", QUESTION, "<think>Hm, yes and no", "nothing"),
    ("mctaco", QUESTION, "I'm sorry, but I can't help with that.", "no JSON"),
    ("mctaco", QUESTION, "<labels>yes, no</labels>", "no JSON"),
    ("mctaco", QUESTION, '{"labels": ["yes"', "JSON that is cut short or malformed"),
    ("mctaco", QUESTION, '{"labels": ["yes"]}', "1 label for 2 answers"),
    ("mctaco", QUESTION, '{"labels": ["yes", "no", "no"]}', "3 labels for 2 answers"),
    ("mctaco", QUESTION, '{"labels": ["yes", "perhaps"]}', "a label is neither yes nor no"),
    ("mctaco", QUESTION, '{"labels": "yes, no"}', "no list of labels"),
    ("mctaco", QUESTION, "{" * 5000 + "}" * 5000, "no list of labels"),
    ("mctaco", CANDIDATE, "There is no reason to doubt it.", "neither yes nor no"),
    ("mctaco", CANDIDATE, "Yes and no", "both yes and no"),
    ("mctaco", CANDIDATE, "Yes, at first sight.\nAnswer: no", "both yes and no"),
    ("mctaco", CANDIDATE, "Nobody knows.", "neither yes nor no"),
    ("tne", DOCUMENT, '{"relations": [{"anchor": 0}]}', NONE),
    ("tne", DOCUMENT, '{"relations": [{"anchor": 1, "preposition": "of", "complement": 1}]}', NONE),
    ("coref", TEXT, '{"clusters": [[0, 1]]}', NONE),
    ("timeline", ENTITY, '{"entries": [{"position": "first", "mentions": ["1-0-said"]}]}', NONE),
]


YES = [
    "Yes it is plausible.",
    "Yes (probably)",
    "yes because ferries are slow",
    "Answer: Yes (plausible)",
    "The answer is yes because ferries are slow.",
    "1. Yes",
    "Yes - it is.",
    "YES",
    "yes",
    "*Yes*, since the sea is wide.",
    "<answer>yes</answer>",
    "Ferries are slow.\nAnswer: Yes",
    "I would say yes.",
    "Plausible: yes",
    '["yes"]',
    '{"label": true}',
    'See [1, {"label": "Yes"}',
    'There is no doubt: {"label": "yes", "reason": "No ferry is fast."}',
]

BOTH = [
    "Yes\n\nNo",
    "No.\nYes.",
    "Yes.\nNo.",
    "No, wait. Yes.",
    "Yes! No!",
    "yes, no",
    "no;yes",
    "Yes, but actually no",
    "Yes/No",
    "Yes or no?",
    "Answer: yes. Answer: no",
    'no\n{"label": "yes"}',
    '{"label": "yes"}\nNo.',
]

NEITHER = ["No doubt.", "No idea", "No-one knows.", "Nobody knows.", "Yesterday", "Perhaps"]


@pytest.mark.parametrize("text", YES)
def test_an_answer_begins_with_its_word(text):
    assert read_answer("mctaco", text, CANDIDATE) == Answer([{"id": "q-0", "label": "yes"}])


@pytest.mark.parametrize("text", BOTH)
def test_yes_and_no_are_no_answer(text):
    assert read_answer("mctaco", text, CANDIDATE) == Answer([], "both yes and no")


@pytest.mark.parametrize("text", NEITHER)
def test_other_words_are_no_answer(text):
    assert read_answer("mctaco", text, CANDIDATE) == Answer([], "neither yes nor no")


@pytest.mark.parametrize(
    "text",
    [
        f"Reasoning: see [1, and then\n{YES_NO}",
        f"The set {{1, 2\n{YES_NO}",
        f"{YES_NO} The range is [1, 5).",
        'A screen of 5": \n{"labels": ["yes", "no",],}',
        f"{YES_NO} {{",
    ],
)
def test_brackets_in_prose_spoil_nothing(text):
    answer = read_answer("mctaco", text, QUESTION)
    assert [row["label"] for row in answer.rows] == ["yes", "no"]
    assert not answer.is_corrected


def test_a_correction_counts():
    draft = '{"labels": ["no", "no"]}'
    answer = read_answer("mctaco", f"{draft} No, wait: {YES_NO}", QUESTION)
    assert ([row["label"] for row in answer.rows], answer.is_corrected) == (["yes", "no"], True)
    answer = read_answer("mctaco", '{"label": "no"} {"label": "yes"}', CANDIDATE)
    assert (answer.rows, answer.is_corrected) == ([{"id": "q-0", "label": "yes"}], True)
    merged = merge_answers("coref", [Answer(is_corrected=True), Answer()])
    assert merged.is_corrected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f'{YES_NO}\n```json\n["no", "no"]\n```', "several different answers"),
        (f'["no", "no"] {YES_NO}', "several different answers"),
        ('["no", "no"] or ["yes", "no"]', "several different answers"),
        (f'{YES_NO} or {{"labels": ["no", "n', "JSON that is cut short or malformed"),
    ],
)
def test_lists_that_contradict_each_other_are_no_answer(text, reason):
    assert read_answer("mctaco", text, QUESTION) == Answer([], reason)


def test_a_part_of_an_answer_that_is_cut_short_is_no_answer():
    answer = read_answer("coref", "[[[0, 1], [2, 2]], [[3,", TEXT)
    assert answer == Answer([], "no list of clusters")


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text", ['{"labels":["' + '\\"' * 50_000, "[" * 100_000, '["a", ' * 20_000]
)
def test_a_model_that_repeats_itself_is_read_at_once(text):
    assert read_answer("mctaco", text, QUESTION).reason


@pytest.mark.parametrize(("procedure", "about", "text", "expected"), READ)
def test_a_nasty_answer_is_read(procedure, about, text, expected):
    answer = read_answer(procedure, text, about)
    assert answer.reason is None
    field = {"mctaco": "label", "tne": "relations", "coref": "clusters"}[procedure]
    values = [row[field] for row in answer.rows]
    assert values == expected if procedure == "mctaco" else values == [expected]


@pytest.mark.parametrize(("procedure", "about", "text", "reason"), UNREAD)
def test_an_answer_that_cannot_be_read_is_no_prediction(procedure, about, text, reason):
    assert read_answer(procedure, text, about) == Answer([], reason)


def test_items_that_cannot_be_read_are_counted():
    read = read_answer("tne", f'{{"relations": [{OF}, {{}}, {OF}]}}', DOCUMENT)
    assert (read.rows, read.dropped) == ([{"id": "d", "relations": [LINK]}], 2)


def test_a_possession_may_lack_what_may_be_unknown():
    known = {"possessor": "Anna Berg", "certainty": "certain", "order": "1"}
    given = [
        {**known, "order": 1, "place": "Oslo"},
        {**known, "relation": "during"},
        {**known, "anchor": "1888"},
    ]
    (row,) = read_answer("wikipossessions", json.dumps({"possessions": given}), ARTICLE).rows
    unknown = dict.fromkeys(("type", "anchor", "relation", "relation_certainty"))
    assert row["possessions"] == [
        {**known, **unknown},
        {**known, **unknown},
        {**known, **unknown, "anchor": "1888"},
    ]


def test_entries_are_read_one_by_one():
    entry = {"position": "1", "anchor": "2014-03-03", "mentions": "1-0-said"}
    text = json.dumps(
        {"entries": [entry, {**entry, "position": "later"}, {**entry, "mentions": []}, entry]}
    )
    expected = {"position": 1, "anchor": "2014-03-03", "mentions": ["1-0-said"]}
    # a word may stand twice in a sentence, so an entry may, too
    read = read_answer("timeline", text, ENTITY)
    assert read == Answer(
        [{"id": "aurelia", "entity": "Aurelia", "entries": [expected, expected]}], None, 2
    )


def test_answers_to_windows_are_merged():
    chains = [[[[0, 0], [2, 2]], [[1, 1], [3, 3]]], [[[2, 2], [5, 5]], [[4, 4], [6, 6]]]]
    parts = [Answer([{"document": "t", "clusters": one}]) for one in chains]
    (row,) = merge_answers("coref", parts).rows
    assert row["clusters"] == [[[0, 0], [2, 2], [5, 5]], [[1, 1], [3, 3]], [[4, 4], [6, 6]]]
    links = [
        Answer([{"id": "d", "relations": [{**LINK, "preposition": one}]}]) for one in ("of", "in")
    ]
    assert merge_answers("tne", links).rows == [{"id": "d", "relations": [LINK]}]
    assert merge_answers("tne", [links[0], Answer(reason="nothing")]) == Answer(
        links[0].rows, "nothing"
    )


PIECES = [*'{}[],:"`\n', "yes", "no", YES_NO, OF, "1", "```", "null", "1e999", "NaN"]
PIECES += [f'"{form.key}"' for form in FORMS.values()]


@given(st.sampled_from(sorted(FORMS)), st.text() | st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_gives_rows_or_a_reason(procedure, text):
    for about in (ABOUT[procedure], CANDIDATE) if procedure == "mctaco" else (ABOUT[procedure],):
        answer = read_answer(procedure, text, about)
        assert bool(answer.rows) != bool(answer.reason)


FIELDS = ["anchor", "complement", "preposition", "position", "mentions", "possessor"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(FIELDS), inner),
)


@given(st.sampled_from(sorted(FORMS)), st.lists(VALUES))
def test_any_list_gives_rows_or_a_reason(procedure, values):
    answer = read_answer(procedure, json.dumps({FORMS[procedure].key: values}), ABOUT[procedure])
    assert bool(answer.rows) != bool(answer.reason)


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 4), st.integers(5, 9)).map(list), min_size=1),
        unique_by=str,
    )
)
def test_what_is_written_is_read(chains):
    seen = [mention for chain in chains for mention in map(tuple, chain)]
    if len(seen) == len(set(seen)):
        row = {"document": "t", "clusters": chains}
        assert read_answer("coref", write_answer("coref", [row], TEXT), TEXT).rows == [row]


def test_schemas_of_answers_have_no_ids():
    label = {
        "description": "Whether the answer is plausible.",
        "type": "string",
        "enum": ["no", "yes"],
    }
    labels = {"type": "array", "items": label}
    assert answer_schema("mctaco")["properties"] == {"labels": labels}
    assert answer_schema("mctaco", "candidate")["properties"] == {"label": labels["items"]}
    item = answer_schema("tne")["properties"]["relations"]["items"]
    assert item["required"] == ["anchor", "preposition", "complement"]
    assert item["properties"]["anchor"]["type"] == "integer"
    entry = answer_schema("timeline")["properties"]["entries"]["items"]
    assert set(entry["properties"]) == {"position", "anchor", "mentions"}


def test_mentions_that_are_not_in_the_text_are_counted():
    answer = read_answer("coref", '{"clusters": [[[0, 1], [9000, 9001], [3, 3]], [[2, 2]]]}', TEXT)
    assert (answer.rows[0]["clusters"], answer.dropped) == ([[[0, 1], [3, 3]], [[2, 2]]], 1)
    alone = read_answer("coref", '{"clusters": [[[0, 1], [9000, 9001]]]}', TEXT)
    assert (alone.rows[0]["clusters"], alone.dropped, alone.reason) == ([[[0, 1]]], 1, None)
