"""JSON Lines of neural systems: what is read, what is told about it, and what is refused."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.coreference import NO_INTERVALS, as_values, read_response
from shared.coreference_tables import digest_documents
from shared.entry_points import KEY, RESPONSE
from shared.neural import DIALECTS, e2e, word_level, words_of, write_lines

import closeread
from closeread.counts.annotators import Annotator
from closeread.exceptions import FormatError, SubmissionError
from closeread.formats.json_lines import dump_json_lines
from closeread.tasks.annotation.annotators import read_annotators
from closeread.tasks.coref.files import read_documents, take_documents

pytestmark = pytest.mark.filterwarnings(
    "ignore:2 documents matched by name and part:closeread.CloseReadWarning",
    "ignore:.*entities are read from:closeread.CloseReadWarning",
)  # those of the samples are expected

CONLL = """#begin document (bn/ferry_7); part 000
bn/ferry_7 0 0 Ida NNP (0
bn/ferry_7 0 1 Voss NNP 0)
bn/ferry_7 0 2 left VBD -
bn/ferry_7 0 3 /. . -
#end document
#begin document (bn/ferry_7); part 001
bn/ferry_7 1 0 She PRP (0)
bn/ferry_7 1 1 left VBD -
#end document
"""


def values(key, response):
    return as_values(closeread.score("coref", response, gold=key, resampling=NO_INTERVALS))


@pytest.mark.parametrize("make", DIALECTS.values(), ids=DIALECTS)
def test_the_same_documents(make, here):
    (own := Path("own.jsonl")).write_text(dump_json_lines(KEY), "utf-8")
    path = write_lines(Path("other.jsonlines"), map(make, KEY))
    documents = read_documents(path)
    assert list(documents) == KEY
    assert digest_documents(documents) == digest_documents(read_documents(own))
    first, second = documents.documents
    assert [first.words.read(), second.words.read()] == [words_of("a"), words_of("b")]
    assert (first.n_tokens, second.n_tokens, documents.notices) == (10, 6, [])
    assert (first.line_of(3), second.line_of(3)) == (1, 2)


@pytest.mark.parametrize(
    ("make", "predicted"), [(e2e, "predicted_clusters"), (word_level, "span_clusters")]
)
def test_gold_and_predictions_in_one_file(make, predicted, here):
    rows = [
        {**make(gold), "clusters": (make(gold).get("clusters") or make(gold)[predicted])}
        for gold in KEY
    ]
    for row, system in zip(rows, RESPONSE, strict=True):
        row[predicted] = make(system).get(predicted, make(system).get("clusters"))
    both = write_lines(Path("both.jsonlines"), rows)
    key, response = read_documents(both), read_documents(both, is_response=True)
    assert (list(key), list(response)) == (KEY, RESPONSE)
    assert key.notices == [
        f"both.jsonlines: entities are read from 'clusters'; '{predicted}' is ignored."
    ]
    assert response.notices == [
        f"both.jsonlines: entities are read from '{predicted}'; 'clusters' is ignored."
    ]
    assert values(both, both) == values(rows, rows) == values(KEY, RESPONSE)
    assert list(read_annotators([Annotator("both", both)])[0].documents) == KEY


def test_predictions_of_allennlp_are_the_documents_of_the_key_in_its_order(here):
    """Its predictor writes words and inclusive ends, no names, and what it computed besides."""
    predictions = [
        {
            "top_spans": [[0, 0]],
            "predicted_antecedents": [-1],
            "document": words_of(record["document"]),
            "clusters": record["clusters"],
        }
        for record in RESPONSE
    ]
    path = write_lines(Path("predictions.jsonl"), predictions)
    key = write_lines(Path("key.jsonl"), map(e2e, KEY))
    assert values(key, path) == values(key, predictions) == values(KEY, RESPONSE)
    wrong = [{**predictions[0], "clusters": [[[0, 10]]]}]
    with pytest.raises(FormatError, match=r"clusters\[0\]\[0\]: \[0, 10\]"):
        read_documents(write_lines(Path("wrong.jsonl"), wrong))


def test_a_response_without_predictions_of_its_own(here):
    path = write_lines(Path("response.jsonl"), map(e2e, RESPONSE))
    response = read_documents(path, is_response=True)
    assert (list(response), response.notices) == (RESPONSE, [])


def test_fields_that_are_not_ours(here):
    more = {
        "speakers": [["a\nb"]],
        "ner": [[0, 1, "PERSON"]],
        "text": "a\tb\u0085",
        "top_spans": None,
    }
    path = write_lines(Path("key.jsonl"), [e2e(record, **more) for record in KEY])
    assert list(read_documents(path)) == KEY


def test_entities_without_mentions_are_none(here):
    path = write_lines(
        Path("key.jsonl"), [{"doc_key": "a", "sentences": [["x"]], "clusters": [[]]}]
    )
    documents = read_documents(path)
    assert list(documents) == [{"document": "a", "clusters": []}]
    assert [list(document.entities) for document in documents.documents] == [[]]


def test_words_are_compared_but_for_what_preprocessing_changes(here):
    (key := Path("key.conll")).write_text(CONLL)
    rows = [
        {
            "doc_key": "bn/ferry_7_0",
            "sentences": [["Ida", "Voss", "left", "."]],
            "clusters": [[[0, 1]]],
        },
        {"doc_key": "bn/ferry_7_1", "sentences": [["She", "left"]], "clusters": [[[0, 0]]]},
    ]
    response = write_lines(Path("response.jsonl"), rows)
    report = closeread.score("coref", response, gold=key, resampling=NO_INTERVALS)
    assert report.total.scores["b3/f1"].value == 1
    assert (
        closeread.score("coref", key, gold=response, resampling=NO_INTERVALS)
        .total.scores["b3/f1"]
        .value
        == 1
    )
    rows[1]["sentences"] = [["He", "left"]]
    for source, place in (
        (write_lines(response, rows), "response.jsonl:2: "),
        (rows, "predictions: "),
    ):
        with pytest.raises(SubmissionError) as caught:
            values(key, source)
        found = "token 0 of document 'bn/ferry_7; part 001' is 'He', but 'She' in the key (line 8)"
        assert str(caught.value) == place + found
    with pytest.raises(SubmissionError) as caught:
        values(rows, key)
    assert (
        str(caught.value)
        == "key.conll:8: token 0 of document 'bn/ferry_7_1' is 'She', but 'He' in the key"
    )


def test_names_in_either_form(here):
    (key := Path("key.conll")).write_text(CONLL)
    rows = [{"doc_key": f"bn/ferry_7_{part}", "clusters": [[[0, 0]]]} for part in (0, 1)]
    response = read_response(key, write_lines(Path("response.jsonl"), rows))
    assert list(response.names) == ["bn/ferry_7; part 000", "bn/ferry_7; part 001"]
    assert response.notices == [
        "2 documents matched by name and part: 'bn/ferry_7_0' is 'bn/ferry_7; part 000' in the key, and so on."
    ]
    assert response.list_absent() == []
    wl = [
        {
            "document_id": "bn/ferry_7",
            "part_id": 1,
            "cased_words": ["She", "left"],
            "span_clusters": [[[0, 1]]],
        }
    ]
    response = read_response(key, write_lines(Path("response.jsonl"), wl))
    assert [(document.name, document.is_absent) for document in response.documents] == [
        ("bn/ferry_7; part 000", True),
        ("bn/ferry_7; part 001", False),
    ]
    assert response.notices == []


@pytest.mark.parametrize(
    ("known", "given", "message"),
    [
        (["a; part 0", "a; part 000"], "a_0", "did you mean 'a; part 000'"),
        (["a"], "a_0", "did you mean 'a'"),
        (["a; part 000"], "a_1", "did you mean 'a; part 000'"),
        (["a; part 000"], "b_0", "is not in the key; extra"),
    ],
)
def test_names_that_are_unclear(known, given, message, here):
    key = [{"document": name, "clusters": []} for name in known]
    with pytest.raises(SubmissionError, match=message):
        values(key, [{"doc_key": given, "clusters": []}])


def test_names_that_the_key_has_are_kept(here):
    key = [{"document": name, "clusters": []} for name in ("a_0", "a; part 000")]
    response = [{"doc_key": "a_0", "clusters": [[[0, 0]]]}]
    assert list(read_response(key, response)) == [
        {"document": "a_0", "clusters": [[[0, 0]]]},
        {"document": "a; part 000", "clusters": []},
    ]


def row(kind="doc_key", **fields):
    return json.dumps({kind: "a", **fields})


def test_words_that_are_only_compared_may_be_anything(file):
    """Words of BOOKCOREF are line ends, and quotes of Windows-1252 that were read as Latin-1 are C1 controls."""
    words = ["Ida", "\n", "\x92s", "she\x00"]
    for document in (
        {"doc_key": "a", "sentences": [words], "clusters": [[[0, 0], [3, 3]]]},
        {"doc_id": "a", "tokens": words, "clusters_token_offsets": [[[0, 0], [3, 3]]]},
    ):
        file.write_text(json.dumps(document), "utf-8")
        (read,) = read_documents(file).documents
        assert read.words.read() == words
        scores = closeread.score("coref", [document], gold=[document], ci=False).scores
        assert scores["conll/f1"].value == 1


def test_broken_records(here):
    with pytest.raises(FormatError) as caught:
        values([e2e(KEY[0]), {"doc_key": "b", "clusters": [[[2, 1]]]}, 7], RESPONSE)
    assert [problem.text for problem in caught.value.problems] == [
        'row 2: expected an object such as {"doc_key": …}, found 7',
        "row 1: clusters[0][0]: [2, 1] ends before it starts (expected [start, end])",
    ]


SPAN = st.tuples(st.integers(0, 9), st.integers(0, 9)).map(sorted)
CLUSTERS = st.lists(st.lists(SPAN, min_size=1, max_size=3), max_size=4)


@given(clusters=CLUSTERS, is_response=st.booleans())
def test_every_dialect_means_the_same(clusters, is_response):
    record = {"document": "a", "clusters": clusters}
    for make in DIALECTS.values():
        documents = take_documents([make(record)], "any", is_response=is_response)
        assert list(documents) == [record]
        (document,) = documents.documents
        assert (list(document.words.read()), document.n_tokens) == (words_of("a"), 10)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.sampled_from(["", "a", "\n"]),
    lambda value: st.lists(value, max_size=3),
    max_leaves=6,
)
FIELDS = (
    "doc_key",
    "document_id",
    "cased_words",
    "part_id",
    "sentences",
    "tokens",
    "subtoken_map",
    "clusters",
)
PLAUSIBLE = st.lists(
    st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2), max_size=2), max_size=2
)
NEARLY = st.fixed_dictionaries(
    {}, optional=dict.fromkeys((*FIELDS, "predicted_clusters", "span_clusters"), JSON | PLAUSIBLE)
)
SOUND = st.fixed_dictionaries(
    {"doc_key": st.sampled_from(["a", "b"]), "clusters": PLAUSIBLE},
    optional={
        "tokens": st.lists(st.just("x"), max_size=4),
        "subtoken_map": st.lists(st.integers(0, 3), max_size=4),
    },
)


@given(rows=st.lists(NEARLY | SOUND, min_size=1, max_size=3), is_response=st.booleans())
def test_any_file_is_documents_or_a_format_error(file, rows, is_response):
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    try:
        documents = read_documents(file, is_response=is_response)
    except FormatError:
        return
    for document in documents.documents:
        assert all(0 <= mention.start <= mention.end for mention in document.mentions)
        n_tokens = document.n_tokens
        assert n_tokens is None or all(mention.end < n_tokens for mention in document.mentions)
    assert len(set(documents.names)) == len(documents)
