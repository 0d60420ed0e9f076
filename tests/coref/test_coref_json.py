"""Coreference as JSON Lines: what is read, what is refused and how, and what is written."""

import json
import re

import pytest
from shared.coreference_tables import make_document

from closeread.tasks.coref.documents import Document, Documents, Entity, Mention
from closeread.tasks.coref.formats.coref_json import dump_coref_json, read_records


def read_json(file):
    return read_records(file)


def test_the_number_of_tokens_is_known_only_where_all_say_it(file):
    file.write_text(
        '{"document": "a", "clusters": [], "n_tokens": 3}\n{"document": "b", "clusters": []}\n',
        "utf-8",
    )
    documents = read_json(file)
    assert [document.n_tokens for document in documents.documents] == [3, None]
    assert not documents.has_lengths


def row(clusters, document="a", **more):
    return json.dumps({"document": document, "clusters": clusters, **more})


def test_unknown_fields_and_null_are_ignored_with_a_note(file):
    file.write_text(
        f"{row([[[0, 1]]], n_tokens=None, genre='x')}\n{row([], 'b', n_token=3, genre='y')}",
        "utf-8",
    )
    documents = read_json(file)
    assert list(documents) == [
        {"document": "a", "clusters": [[[0, 1]]]},
        {"document": "b", "clusters": []},
    ]
    assert documents.notices == [
        "unknown field 'genre' is ignored",
        "unknown field 'n_token' is ignored; did you mean 'n_tokens'?",
    ]


def test_mentions_of_several_parts_are_not_written():
    mention = Mention(0, 2, subspans=((0, 0), (2, 2)))
    documents = Documents([Document("a", [Entity("", [mention])])])
    with pytest.raises(
        ValueError, match=re.escape("JSON Lines can't express discontinuous mentions")
    ):
        dump_coref_json(documents.documents)


def test_the_number_of_tokens_is_written():
    documents = Documents([make_document("a", [[[0, 2]]], n_tokens=3)])
    assert (
        dump_coref_json(documents.documents)
        == '{"document": "a", "clusters": [[[0, 2]]], "n_tokens": 3}\n'
    )
