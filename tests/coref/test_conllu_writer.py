"""Documents written as CoNLL-U: what is read back, and what is refused."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.conll_documents import InventedWords
from shared.conllu_documents import entities

from closeread.files import write_text
from closeread.tasks.coref.documents import EmptyNode, MentionTable, mention_table
from closeread.tasks.coref.formats.conllu import dump_conllu, read_conllu
from closeread.tasks.coref.sides import token_differences

NAME = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs"]), min_size=1, max_size=6)
WORD = st.text(st.sampled_from("a#_-()=|é\u2028😀 \ufeff"), min_size=1, max_size=4)
LABELS = st.lists(
    NAME | st.sampled_from(["e1", "e2", "7", "a[1/2]", "a-b", "("]),
    min_size=4,
    max_size=4,
    unique=True,
)

CROSSING = "a CorefUD file can't express its mentions: they would be read back differently, as when two mentions of"


@st.composite
def tables(draw):
    """Tables of mentions with gaps and heads, some of which the format can't express."""
    names = draw(st.lists(NAME, min_size=1, max_size=3, unique=True))
    rows, n_tokens, labels = [], [], []
    for i in range(len(names)):
        n = draw(st.integers(1, 9))
        mentions = []
        for entity in range(draw(st.integers(0, 3))):
            for _ in range(draw(st.integers(1, 2))):
                places = sorted(draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=5)))
                if draw(st.booleans()):
                    places = list(range(places[0], places[-1] + 1))
                gaps = [
                    0,
                    *(j for j in range(1, len(places)) if places[j] > places[j - 1] + 1),
                    len(places),
                ]
                parts = tuple((places[a], places[b - 1]) for a, b in pairwise(gaps))
                mentions.append((entity, parts, draw(st.sampled_from(places))))
        # As they open: the longer part first, single tokens last.
        opened = sorted(
            range(len(mentions)), key=lambda m: (mentions[m][1][0][0], -mentions[m][1][0][1], m)
        )
        order = list(dict.fromkeys(mentions[m][0] for m in opened))
        mentions = sorted((mentions[m] for m in opened), key=lambda m: order.index(m[0]))
        rows += [
            (i, len(labels) + order.index(entity), parts, head) for entity, parts, head in mentions
        ]
        labels += draw(LABELS)[: len(order)]
        n_tokens.append(n)
    words = [draw(st.lists(WORD, min_size=n, max_size=n)) for n in n_tokens]
    return MentionTable(
        names=names,
        n_tokens=np.array(n_tokens),
        document=np.array([i for i, *_ in rows], np.int64),
        start=np.array([parts[0][0] for *_, parts, _ in rows], np.int64),
        end=np.array([parts[-1][1] for *_, parts, _ in rows], np.int64),
        entity=np.array([entity for _, entity, *_ in rows], np.int64),
        n_entities=len(labels),
        parts={i: parts for i, (*_, parts, _) in enumerate(rows) if len(parts) > 1},
        head=np.array([head for *_, head in rows], np.int64),
        labels=labels,
        words=InventedWords(words),
    )


def spans(table):
    """The mentions by their place, without their entities' ids."""
    rows = zip(entities(table), table.document.tolist(), table.entity.tolist(), strict=True)
    return sorted((document, entity, *mention[1:]) for mention, document, entity in rows)


@given(table=tables())
def test_round_trip(file, table):
    try:
        text = dump_conllu(table)
    except ValueError as error:
        assert "can't express" in str(error)  # noqa: PT017
        return
    write_text(file, text)
    again = read_conllu(file)
    assert list(again.names) == list(table.names)
    assert again.n_tokens.tolist() == table.n_tokens.tolist()
    assert spans(again) == spans(table)
    assert token_differences(table, again) == []
    for label, before in zip(again.labels, table.labels, strict=True):
        assert label == before or re.fullmatch(r"e[1-4]", label)
    assert dump_conllu(again) == text


def test_writing():
    table = MentionTable(
        **{**vars(mention_table(["a b"], [[[[0, 1]], [[1, 1]]]])), "n_tokens": np.array([2])}
    )
    blank = "\t".join(["_", *"____0__"])
    assert dump_conllu(table) == (
        "# newdoc id = a b\n# global.Entity = eid-etype-head-other\n"
        f"1\t{blank}\tEntity=(e1--1-\n2\t{blank}\tEntity=e1)(e2--1-)\n\n"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"n_tokens": None},
            "a CorefUD file has a row for every token, but the number of tokens is unknown",
        ),
        ({"names": ["a\n"]}, r"document 'a\n': a CorefUD file can't express this name"),
        ({"names": ["a "]}, "document 'a ': a CorefUD file can't express this name"),
        ({"names": [""]}, "document '': a CorefUD file can't express this name"),
        (
            {"words": InventedWords([["a", "b\tc", "d", "e"]])},
            r"a CorefUD file can't express the word 'b\tc'",
        ),
        ({"end": np.array([2, 3])}, f"document 'a': {CROSSING}"),
    ],
)
def test_documents_that_the_format_can_not_express(change, message):
    table = {**vars(mention_table(["a"], [[[[0, 2], [1, 2]]]])), "n_tokens": np.array([4])}
    assert dump_conllu(MentionTable(**table))
    with pytest.raises(ValueError, match=re.escape(message)):
        dump_conllu(MentionTable(**{**table, **change}))


def table_of_parts(*mentions, n_tokens):
    """A table of one entity whose mentions are given by their parts."""
    return MentionTable(
        names=["a"],
        n_tokens=np.array([n_tokens]),
        document=np.zeros(len(mentions), np.int64),
        start=np.array([parts[0][0] for parts in mentions]),
        end=np.array([parts[-1][1] for parts in mentions]),
        entity=np.zeros(len(mentions), np.int64),
        n_entities=1,
        parts={i: parts for i, parts in enumerate(mentions) if len(parts) > 1},
    )


@pytest.mark.parametrize(
    ("mentions", "cells"),
    [
        # What opens last closes first.
        ([((0, 1), (3, 3)), ((1, 1),)], ["(e1[1/2]--1-", "e1[1/2])(e1--1-)", "", "(e1[2/2]--1-)"]),
        (
            [((0, 2), (4, 4)), ((1, 2),)],
            ["(e1[1/2]--1-", "(e1--1-", "e1)e1[1/2])", "", "(e1[2/2]--1-)"],
        ),
        # Inside of a part, and in the gap between two.
        (
            [((0, 4), (6, 6)), ((1, 1), (3, 3)), ((5, 5),)],
            [
                "(e1[1/2]--1-",
                "(e1[1/2]--1-)",
                "",
                "(e1[2/2]--1-)",
                "e1[1/2])",
                "(e1--1-)",
                "(e1[2/2]--1-)",
            ],
        ),
        # One mention ends where the next begins: udapi, too, closes before it opens.
        ([((0, 1),), ((1, 2),)], ["(e1--1-", "e1)(e1--1-", "e1)"]),
    ],
)
def test_brackets(file, mentions, cells):
    table = table_of_parts(*mentions, n_tokens=len(cells))
    text = dump_conllu(table)
    found = [
        line.split("\t")[9].removeprefix("Entity=") for line in text.splitlines() if "\t" in line
    ]
    assert found == [cell or "_" for cell in cells]
    write_text(file, text)
    assert sorted(parts for _, parts, _ in entities(read_conllu(file))) == sorted(mentions)


@pytest.mark.parametrize(
    "mentions",
    [
        # udapi continues the mention that was interrupted first
        [((0, 0), (3, 3)), ((1, 1), (2, 2))],
        [((0, 0), (2, 2)), ((1, 1), (3, 3))],
        [((0, 2), (4, 4)), ((1, 3),)],  # and closes what was opened last
        [((0, 2),), ((1, 3),)],
        # the last part would be read after the end of the first mention
        [((0, 2), (4, 4)), ((0, 0), (2, 2))],
    ],
)
def test_mentions_that_other_readers_would_join_otherwise(mentions):
    table = table_of_parts(*mentions, n_tokens=5)
    with pytest.raises(ValueError, match=CROSSING):
        dump_conllu(table)


def test_empty_nodes_are_written(file):
    empty = [
        [EmptyNode(2, 0, [(1, "nsubj"), (-1, "root")])],
        [EmptyNode(0, 0, []), EmptyNode(1, 1, [(0, "obj:x")])],
    ]
    table = MentionTable(
        **{
            **vars(mention_table(["a", "b"], [[[[0, 2]]], [[[1, 1]]]])),
            "n_tokens": np.array([4, 3]),
            "empty": empty,
        }
    )
    text = dump_conllu(table)
    rows = [line.split("\t") for line in text.splitlines() if "\t" in line]
    assert [(row[0], row[1], row[6], row[8]) for row in rows] == [
        ("1", "_", "0", "_"),
        ("2", "_", "0", "_"),
        ("2.1", "_", "_", "2:nsubj|0:root"),
        ("3", "_", "0", "_"),
        ("0.1", "_", "_", "_"),
        ("0.2", "_", "_", "0.1:obj:x"),
        ("1", "_", "0", "_"),
    ]
    write_text(file, text)
    again = read_conllu(file)
    assert [[(one.token, one.dependencies) for one in nodes] for nodes in again.empty] == [
        [(one.token, one.dependencies) for one in nodes] for nodes in empty
    ]
    assert dump_conllu(again) == text
