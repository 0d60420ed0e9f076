"""Documents written as CoNLL-U: what is read back, and what is refused."""

import re
from dataclasses import replace
from itertools import groupby, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.conll_documents import InventedWords
from shared.conllu_documents import entities
from shared.coref_readers import read_conllu
from shared.coreference_tables import make_document

from closeread.files import write_text
from closeread.tasks.coref.documents import Document, Documents, EmptyNode, Entity, Mention
from closeread.tasks.coref.formats.conllu import dump_conllu
from closeread.tasks.coref.formats.lines import make_mention
from closeread.tasks.coref.word_comparison import token_differences

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
def random_documents(draw):
    """Documents with mentions with gaps and heads, some of which the format can't express."""
    documents = []
    for i, name in enumerate(draw(st.lists(NAME, min_size=1, max_size=3, unique=True))):
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
        labels = draw(LABELS)
        entities = [
            Entity(label, [make_mention(parts, head=head) for _, parts, head in group])
            for label, (_, group) in zip(labels, groupby(mentions, lambda m: m[0]), strict=False)
        ]
        words = InventedWords(draw(st.lists(WORD, min_size=n, max_size=n)), i)
        documents.append(Document(name, entities, n, words))
    return Documents(documents)


def spans(documents):
    """The mentions of each entity by their place, without the entities' ids."""
    return [
        [
            sorted((mention.spans, mention.head) for mention in entity.mentions)
            for entity in document.entities
        ]
        for document in documents.documents
    ]


def labels_of(documents):
    """The ids of all entities."""
    return [entity.label for document in documents.documents for entity in document.entities]


@given(documents=random_documents())
def test_round_trip(file, documents):
    try:
        text = dump_conllu(documents.documents)
    except ValueError as error:
        assert "can't express" in str(error)  # noqa: PT017
        return
    write_text(file, text)
    again = read_conllu(file)
    assert list(again.names) == list(documents.names)
    assert [document.n_tokens for document in again.documents] == [
        document.n_tokens for document in documents.documents
    ]
    assert spans(again) == spans(documents)
    assert token_differences(documents, again) == []
    for label, before in zip(labels_of(again), labels_of(documents), strict=True):
        assert label == before or re.fullmatch(r"e[1-4]", label)
    assert dump_conllu(again.documents) == text


def test_writing():
    written = dump_conllu([make_document("a b", [[[0, 1]], [[1, 1]]], n_tokens=2)])
    blank = "\t".join(["_", *"____0__"])
    assert written == (
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
        ({"name": "a\n"}, r"document 'a\n': a CorefUD file can't express this name"),
        ({"name": "a "}, "document 'a ': a CorefUD file can't express this name"),
        ({"name": ""}, "document '': a CorefUD file can't express this name"),
        (
            {"words": InventedWords(["a", "b\tc", "d", "e"])},
            r"a CorefUD file can't express the word 'b\tc'",
        ),
        ({"entities": [Entity("", [Mention(0, 2), Mention(1, 3)])]}, f"document 'a': {CROSSING}"),
    ],
)
def test_documents_that_the_format_can_not_express(change, message):
    fit = make_document("a", [[[0, 2], [1, 2]]], n_tokens=4)
    assert dump_conllu([fit])
    with pytest.raises(ValueError, match=re.escape(message)):
        dump_conllu([replace(fit, **change)])


def of_one_entity(*mentions, n_tokens):
    """A document of one entity whose mentions are given by their parts."""
    return Document("a", [Entity("", list(map(make_mention, mentions)))], n_tokens)


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
    text = dump_conllu([of_one_entity(*mentions, n_tokens=len(cells))])
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
    with pytest.raises(ValueError, match=CROSSING):
        dump_conllu([of_one_entity(*mentions, n_tokens=5)])


def test_empty_nodes_are_written(file):
    empty = [
        [EmptyNode(2, 0, [(1, "nsubj"), (-1, "root")])],
        [EmptyNode(0, 0, []), EmptyNode(1, 1, [(0, "obj:x")])],
    ]
    text = dump_conllu(
        [
            make_document("a", [[[0, 2]]], n_tokens=4, nodes=empty[0]),
            make_document("b", [[[1, 1]]], n_tokens=3, nodes=empty[1]),
        ]
    )
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
    again = read_conllu(file).documents
    assert [[(one.token, one.dependencies) for one in document.nodes] for document in again] == [
        [(one.token, one.dependencies) for one in nodes] for nodes in empty
    ]
    assert dump_conllu(again) == text
