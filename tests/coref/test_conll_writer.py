"""Writing CoNLL files, and reading them back."""

import re
from dataclasses import replace

import pytest
from hypothesis import assume, given
from shared.conll_documents import (
    InventedWords,
    as_ontonotes,
    as_plain_values,
    document,
    has_crossing,
    random_documents,
)
from shared.coref_readers import read_conll
from shared.coreference_tables import make_document

from closeread.files import write_text
from closeread.tasks.coref.documents import Entity, Mention
from closeread.tasks.coref.formats.conll import dump_conll, dump_in_frames
from closeread.tasks.coref.word_comparison import token_differences


@given(documents=random_documents())
def test_round_trip_in_columns_for_predicates(file, documents):
    assume(not has_crossing(documents))
    text = as_ontonotes(dump_conll(documents.documents))
    write_text(file, text)
    again = read_conll(file)
    assert as_plain_values(again) == as_plain_values(documents)
    assert token_differences(documents, again) == []
    lines = [
        re.sub(" +", "\t", line) if line.startswith("nw/a") else line for line in text.split("\n")
    ]
    assert dump_in_frames(again.documents).split("\n") == lines


def test_ids_are_written_back(read):
    text = "#begin document (a); part 3\na\t3\t0\tx\t(12\na\t3\t1\ty\t12)|(07)\n\n#end document\n"
    assert dump_conll(read(text).documents) == text


@pytest.mark.parametrize(
    ("labels", "cells"),
    [
        (["12", "7"], ["(12)", "(7)"]),
        (["07", "7"], ["(0)", "(1)"]),  # the same entity to coval and corefud-scorer
        (["abc12", "7"], ["(0)", "(1)"]),
        (["7", "7"], ["(0)", "(1)"]),
    ],
)
def test_ids_that_scorers_know(labels, cells):
    entities = [Entity(label, [Mention(token, token)]) for token, label in enumerate(labels)]
    text = dump_conll([replace(make_document("a", [], n_tokens=2), entities=entities)])
    assert [row.split("\t")[-1] for row in text.split("\n")[1:3]] == cells


def test_writing_without_words():
    written = dump_conll([make_document("a b", [[[0, 1]], [[1, 1]]], n_tokens=3)])
    rows = ["a_b\t0\t0\t_\t(0", "a_b\t0\t1\t_\t0)|(1)", "a_b\t0\t2\t_\t-", ""]
    assert written == document(*rows, name="(a b)")


def of_one_entity(*mentions):
    return {"entities": [Entity("", mentions)]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"n_tokens": None},
            "a CoNLL file has a row for every token, but the number of tokens is unknown",
        ),
        (
            of_one_entity(Mention(0, 2, subspans=((0, 0), (2, 2))), Mention(1, 2)),
            "a CoNLL file can't express discontinuous mentions",
        ),
        ({"name": "a\n"}, r"document 'a\n': a CoNLL file can't express this name"),
        ({"name": ""}, "document '': a CoNLL file can't express this name"),
        (
            {"words": InventedWords(["a", "b c", "d", "e"])},
            "document 'a': a CoNLL file can't express the word 'b c'",
        ),
        (
            {"words": InventedWords(["a", "", "d", "e"])},
            "document 'a': a CoNLL file can't express the word ''",
        ),
        (
            of_one_entity(Mention(0, 2), Mention(1, 3)),
            "document 'a': a CoNLL file can't express two crossing mentions of one entity, the second on tokens 1 to 3",
        ),
        # `1)|(1` would be read as a mention of token 1, within one of tokens 0 to 2.
        (
            of_one_entity(Mention(0, 1), Mention(1, 2)),
            "document 'a': a CoNLL file can't express two crossing mentions of one entity, the second on tokens 1 to 2",
        ),
    ],
)
def test_documents_that_the_format_can_not_express(change, message):
    fit = make_document("a", [[[0, 2], [1, 2]]], n_tokens=4)
    assert dump_conll([fit])
    with pytest.raises(ValueError, match=re.escape(message)):
        dump_conll([replace(fit, **change)])
