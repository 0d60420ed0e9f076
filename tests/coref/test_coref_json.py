"""Coreference as JSON Lines: what is read, what is refused and how, and what is written."""

import json
import re

import numpy as np
import pytest

from closeread.tasks.coref.documents import MentionTable, mention_table
from closeread.tasks.coref.formats.coref_json import dump_coref_json, read_records, table_of


def read_table(file):
    return table_of(read_records(file, "").records)


def test_the_number_of_tokens_is_known_only_where_all_say_it(file):
    file.write_text(
        '{"document": "a", "clusters": [], "n_tokens": 3}\n{"document": "b", "clusters": []}\n',
        "utf-8",
    )
    assert read_table(file).n_tokens is None


def row(clusters, document="a", **more):
    return json.dumps({"document": document, "clusters": clusters, **more})


def test_unknown_fields_and_null_are_ignored_with_a_note(file):
    file.write_text(
        f"{row([[[0, 1]]], n_tokens=None, genre='x')}\n{row([], 'b', n_token=3, genre='y')}",
        "utf-8",
    )
    table = read_table(file)
    assert list(table) == [
        {"document": "a", "clusters": [[[0, 1]]]},
        {"document": "b", "clusters": []},
    ]
    assert table.notices == [
        "unknown field 'genre' is ignored",
        "unknown field 'n_token' is ignored; did you mean 'n_tokens'?",
    ]


def test_mentions_of_several_parts_are_not_written():
    table = MentionTable(
        **{**vars(mention_table(["a"], [[[[0, 2]]]])), "parts": {0: ((0, 0), (2, 2))}}
    )
    with pytest.raises(
        ValueError, match=re.escape("JSON Lines can't express discontinuous mentions")
    ):
        dump_coref_json(table)


def test_a_table_may_have_numpy_counts(file):
    table = MentionTable(**{**vars(mention_table(["a"], [[[[0, 2]]]])), "n_tokens": np.array([3])})
    assert dump_coref_json(table) == '{"document": "a", "clusters": [[[0, 2]]], "n_tokens": 3}\n'
