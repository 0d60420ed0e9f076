"""Coreference as JSON Lines: what is read, what is refused and how, and what is written."""

import json
import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from shared.for_each import for_each

from closeread.exceptions import FormatError
from closeread.files import write_text
from closeread.tasks.coref.documents import MentionTable, mention_table
from closeread.tasks.coref.formats.coref_json import dump_coref_json, read_records, table_of


def read_table(file):
    return table_of(read_records(file, "").records)


SAFE = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=5)
MENTION = st.tuples(st.integers(0, 9), st.integers(0, 9)).map(sorted)
HEADED = MENTION.flatmap(lambda span: st.integers(*span).map(lambda head: [*span, head]))


def documents_of(mentions):
    clusters = st.lists(st.lists(mentions, min_size=1, max_size=3), max_size=3)
    return st.dictionaries(SAFE, clusters, min_size=1, max_size=3)


@given(documents=documents_of(MENTION) | documents_of(HEADED), sized=st.booleans())
@example(documents={"a; part 000": [[[0, 0], [0, 0]], [[0, 0]]], "\u2028😀": []}, sized=False)
@example(documents={"a": [[[0, 2, 1]]], "b": []}, sized=True)
def test_round_trip(file, documents, sized):
    rows = [{"document": name, "clusters": clusters} for name, clusters in documents.items()]
    if sized:
        rows = [{**row, "n_tokens": 10 + i} for i, row in enumerate(rows)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    table = read_table(file)
    assert list(table) == [
        {"document": name, "clusters": clusters} for name, clusters in documents.items()
    ]
    assert (table.n_tokens.tolist() if sized else table.n_tokens) == (
        [10, 11, 12][: len(rows)] if sized else None
    )
    write_text(file, dump_coref_json(table))
    assert [json.loads(line) for line in file.read_text("utf-8").split("\n")[:-1]] == rows
    assert list(read_table(file)) == list(table)


def test_the_number_of_tokens_is_known_only_where_all_say_it(file):
    file.write_text(
        '{"document": "a", "clusters": [], "n_tokens": 3}\n{"document": "b", "clusters": []}\n',
        "utf-8",
    )
    assert read_table(file).n_tokens is None


def row(clusters, document="a", **more):
    return json.dumps({"document": document, "clusters": clusters, **more})


BROKEN = {
    "": ["is empty"],
    "x": ["1: is not valid JSON: Expecting value at column 1"],
    "[]": ["1: '[]' is not a JSON object (expected one object per line)"],
    '{"document": "a"}': ["1: field 'clusters' is missing"],
    '{"clusters": []}': ["1: field 'document' is missing"],
    row([], document=""): ["1: document: is empty"],
    row([[]]): ["1: clusters[0]: is empty"],
    row([[[0]]]): ["1: clusters[0][0]: has 1 item (expected at least 2)"],
    row([[[0, 1, 1, 1]]]): ["1: clusters[0][0]: has 4 items (expected at most 3)"],
    row([[[1, 0, 0]]]): [
        "1: clusters[0][0]: [1, 0, 0] ends before it starts (expected [start, end, head])"
    ],
    row([[[2, 3, 1]], [[0, 1, 2]]]): [
        "1: clusters[0][0]: head 1 of [2, 3, 1] is outside the mention (expected a token from 2 to 3)",
        "1: clusters[1][0]: head 2 of [0, 1, 2] is outside the mention (expected a token from 0 to 1)",
    ],
    "\n".join(
        [row([[[0, 1, 0]], [[2, 3], [4, 5]]]), row([[[6, 7]]], document="b"), row([], document="c")]
    ): [
        "1: clusters[1][0]: [2, 3] has no head, but the first mention of all, [0, 1, 0], has a head "
        "(expected heads for all mentions or for none)",
        "2: clusters[0][0]: [6, 7] has no head, but the first mention of all, [0, 1, 0], has a head "
        "(expected heads for all mentions or for none)",
    ],
    "\n".join([row([[[0, 1]]]), row([[[2, 3], [6, 7, 6]]], document="b")]): [
        "2: clusters[0][1]: [6, 7, 6] has a head, but the first mention of all, [0, 1], has no head "
        "(expected heads for all mentions or for none)"
    ],
    row([[[-1, 0]]]): ["1: clusters[0][0][0]: -1 is less than the minimum of 0"],
    row([[[0, 0.5]]]): ["1: clusters[0][0][1]: expected a whole number, found 0.5"],
    row([[[0, "1"]]]): ["1: clusters[0][0][1]: expected a whole number, found '1'"],
    row([[[0, True]]]): ["1: clusters[0][0][1]: expected a whole number, found true"],
    row([[[0, 2**31]]]): [
        "1: clusters[0][0][1]: 2147483648 is greater than the maximum of 2147483647"
    ],
    row([], n_tokens=-1): ["1: n_tokens: -1 is less than the minimum of 0"],
    row([[[0, 0], [2, 1]]]): [
        "1: clusters[0][1]: [2, 1] ends before it starts (expected [start, end])"
    ],
    row([[[0, 3]], [[2, 2]]], n_tokens=3): [
        "1: clusters[0][0]: [0, 3] is outside the document, which has 3 tokens (expected an end below 3)"
    ],
    "\n".join([row([[[1, 0]]]), "{}", row([[[1, 1]]]), "-"]): [
        "1: clusters[0][0]: [1, 0] ends before it starts (expected [start, end])",
        "2: field 'clusters' is missing",
        "2: field 'document' is missing",
        "3: duplicate document 'a' (first on line 1)",
        "4: is not valid JSON: Expecting value at column 1",
    ],
}


@for_each(("text", "problems"), BROKEN.items())
def test_broken_files(file, text, problems):
    file.write_text(text, "utf-8")
    with pytest.raises(FormatError) as caught:
        read_table(file)
    assert (
        sorted(
            p.message if p.line is None else f"{p.line}: {p.message}" for p in caught.value.problems
        )
        == problems
    )


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
