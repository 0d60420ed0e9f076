"""CoNLL-U files with CorefUD's annotation: what is read, what is refused and how, and what is written."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from shared.conll_documents import InventedWords

from closeread.errors import FormatError
from closeread.files import write_text
from closeread.formats.problems import LISTED
from closeread.tasks.coref.columns import MentionTable, mention_table
from closeread.tasks.coref.conllu import dump_conllu, read_conllu
from closeread.tasks.coref.token_differences import token_differences


@pytest.fixture
def read(file):
    """Reads text."""

    def call(text):
        file.write_text(text, "utf-8")
        return read_conllu(file)

    return call


def row(number, misc="_", form="w"):
    return "\t".join([str(number), form, *"_______", misc])


def document(*rows, name="a", fields="eid-etype-head-other"):
    """A document of rows, given as lines or as the Entity of a word."""
    lines = [line if "\t" in line or not line else row(i, line) for i, line in enumerate(rows, start=1)]
    return "\n".join([f"# newdoc id = {name}", f"# global.Entity = {fields}", *lines, "", ""])


def entities(table):
    """(id, parts, head) of every mention, in order."""
    return [
        (
            table.labels[table.entity[i]],
            table.parts.get(i, ((int(table.start[i]), int(table.end[i])),)),
            int(table.head[i]),
        )
        for i in range(len(table.start))
    ]


@pytest.mark.parametrize(
    ("cells", "mentions"),
    [
        (["_"], []),
        (["Entity=(e1)"], [("e1", ((0, 0),), 0)]),
        (["Entity=(e1-person-1-coref:x)"], [("e1", ((0, 0),), 0)]),
        (["Entity=(e1-p-2-a-b(c", "Entity=c)e1)"], [("e1", ((0, 1),), 1), ("c", ((0, 1),), 0)]),
        (["Entity=(e1--2-", "Entity=e1)"], [("e1", ((0, 1),), 1)]),
        (["Entity=(e1-p--", "Entity=e1)"], [("e1", ((0, 1),), 0)]),
        (["SpaceAfter=No|Entity=(e1|Bridge=e1<e2", "SplitAnte=e1<e2|Entity=e1)"], [("e1", ((0, 1),), 0)]),
        (["Entity=(e1(e1--2-", "Entity=e1)", "Entity=e1)"], [("e1", ((0, 2),), 0), ("e1", ((0, 1),), 1)]),
        (["Entity=(e1(e2", "Entity=e1)(e3)", "Entity=e2)"], [
            ("e1", ((0, 1),), 0), ("e2", ((0, 2),), 0), ("e3", ((1, 1),), 1)
        ]),
        (
            ["Entity=(e1[1/2]-p-2-", "Entity=e1[1/2])", "_", "Entity=(e1[2/2]-p-2-)"],
            [("e1", ((0, 1), (3, 3)), 1)],
        ),
        (["Entity=(e1[1/2]-p-2-)", "_", "Entity=(e1[2/2]-)"], [("e1", ((0, 0), (2, 2)), 2)]),
        (
            [f"Entity={cell}" for cell in ("(e1[1/3])", "(e2)", "(e1[2/3])", "(e1)", "(e1[3/3]", "e1[3/3])")],
            [("e1", ((0, 0), (2, 2), (4, 5)), 0), ("e1", ((3, 3),), 3), ("e2", ((1, 1),), 1)],
        ),
        # The mention that was interrupted last continues first.
        (
            ["Entity=(e1[1/2])", "Entity=(e1[1/2])", "Entity=(e1[2/2])", "Entity=(e1[2/2])"],
            [("e1", ((0, 0), (3, 3)), 0), ("e1", ((1, 1), (2, 2)), 1)],
        ),
    ],
)  # fmt: skip
def test_entities(read, cells, mentions):
    assert entities(read(document(*cells))) == mentions


def test_other_fields(read):
    text = document("Entity=(3-e1-x-", "Entity=e1)", fields="head-eid-other")
    with pytest.raises(FormatError, match="the head of a mention of entity 'e1' is token 3"):
        read(text)
    assert entities(read(text.replace("(3", "(2"))) == [("e1", ((0, 1),), 1)]
    assert entities(read(document("Entity=(e1", "Entity=e1)", fields="eid"))) == [("e1", ((0, 1),), 0)]


def test_tokens(read):
    table = read(
        "# newdoc id = a b\n# global.Entity = eid-head\n# sent_id = 1\n"
        + "\n".join(
            [row("0.1", "Entity=(z)", "∅"), row("1-2", form="du"), row(1, form="de"), row(2, "Entity=(e-2", "le")]
        )
        + "\n\n# newpar\n"
        + "\n".join([row(1, "Entity=e)", "mot long"), row("1.1"), row("1.2", "Entity=(z)"), row(2)])
        + "\n\n# newdoc id = b\n\n"
        + "\n".join([row(1, "Entity=(z)", "😀")])
    )
    assert list(table.names) == ["a b", "b"]
    assert table.n_tokens.tolist() == [7, 1]
    assert list(table.words(0)) == ["_", "de", "le", "mot long", "_", "_", "w"]  # empty nodes have no word
    assert entities(table) == [("z", ((0, 0),), 0), ("z", ((5, 5),), 5), ("e", ((2, 3),), 3), ("z", ((0, 0),), 0)]
    assert [table[i]["clusters"] for i in range(2)] == [[[[0, 0, 0], [5, 5, 5]], [[2, 3, 3]]], [[[0, 0, 0]]]]
    assert [table.words.line_of(0, 0), table.words.line_of(0, 3), table.words.line_of(1, 0)] == [4, 10, 17]


FIELDS = "'# global.Entity = eid-etype-head-other'"
OUTSIDE = "token outside a document (expected '# newdoc id = NAME' before it)"
PART = "(expected ID or ID[PART/PARTS] with PART from 1 to PARTS)"
BROKEN = {
    "": ["is empty"],
    "# a\n\n": ["contains no document (expected '# newdoc id = NAME' before the first sentence)"],
    row(1): [f"1: {OUTSIDE}"],
    "# newdoc\n" + row(1): ["1: document without a name (expected '# newdoc id = NAME')"],
    "# newdoc id = \n" + row(1): ["1: document without a name (expected '# newdoc id = NAME')"],
    "# newdoc id = a\x85b\n": [r"1: document name 'a\x85b' contains the control character U+0085"],
    document("_") * 2: ["5: duplicate document 'a' (first on line 1)"],
    "# newdoc id = a\n" + row(1, "Entity=(e1)"): [
        f"2: column 10: Entity without a declaration of its fields (expected a line such as {FIELDS} before it)"
    ],
    document("Entity=(e1)", fields="GRP-etype"): [
        "2: global.Entity is 'GRP-etype' (expected fields that include eid, such as 'eid-etype-head-other')"
    ],
    document("1 w _ _ _ _ _ _ _\t_"): ["3: the number of columns is 2 (expected 10, separated by tabs)"],
    document(row(1, form="a\rb")): ["3: the row contains a control character"],
    document(row(1, form="")): ["3: column 2: the word is empty (expected a word or '_')"],
    document(row("x")): ["3: column 1: 'x' (expected 1, 0.1 or a range from 1)"],
    document(row(2)): ["3: column 1: '2' (expected 1, 0.1 or a range from 1)"],
    document("_", row(1)): ["4: column 1: '1' follows word 1 (expected 2, 1.1 or a range from 2)"],
    document("_", row("1.2")): ["4: column 1: '1.2' follows word 1 (expected 2, 1.1 or a range from 2)"],
    document(row("1-1"), row(1)): ["3: column 1: '1-1' (expected 1, 0.1 or a range from 1)"],
    document(row("1-3"), row(1), row("2-3")): [
        "5: column 1: '2-3' follows word 1 (expected 2, 1.1 or a range from 2)",
        "6: the sentence ends before word 3, the last of a multiword token",
    ],
    document(row("1-2", "Entity=(e1)"), row(1), row(2)): [
        "3: column 10: Entity on a multiword token (expected on its words)"
    ],
    document("Entity=(a)|Entity=(b)"): ["3: column 10: Entity is given twice"],
    **{
        document(f"Entity={cell}"): [
            f"3: column 10: '{cell}' is not a valid Entity (expected '(ID-FIELDS', 'ID)' or '(ID-FIELDS)')"
        ]
        for cell in ["e1", "()", "(e1)e2", "((e1)", "(e1))", "(e1)("]
    },
    document("Entity=e1)"): ["3: column 10: entity 'e1' closes but is not open"],
    document("Entity=(e1", "Entity=e1[1/2])"): [
        "3: entity 'e1' opens but never closes",
        "4: column 10: entity 'e1[1/2]' closes but is not open",
    ],
    document("Entity=(e1") + document("Entity=e1)", name="b"): [
        "3: entity 'e1' opens but never closes",
        "7: column 10: entity 'e1' closes but is not open",
    ],
    document("Entity=(-p)"): [f"3: column 10: '' is not a valid entity id {PART}"],
    document("Entity=(e1[0/2])"): [f"3: column 10: 'e1[0/2]' is not a valid entity id {PART}"],
    document("Entity=(e1[3/2])"): [f"3: column 10: 'e1[3/2]' is not a valid entity id {PART}"],
    document("Entity=(e1[1/1])"): [f"3: column 10: 'e1[1/1]' is not a valid entity id {PART}"],
    document("Entity=(e1[2/2])"): ["3: column 10: part 2 of 2 of entity 'e1' without part 1 of 2 before it"],
    document("Entity=(e1[1/2])(e1[2/2])"): [
        "3: a mention of entity 'e1' has only 1 of its 2 parts (expected all of them in the same document)",
        "3: column 10: part 2 of 2 of entity 'e1' without part 1 of 2 before it",
    ],
    document("Entity=(e1[1/2])", "Entity=(e1[2/3])"): [
        "3: a mention of entity 'e1' has only 1 of its 2 parts (expected all of them in the same document)",
        "4: column 10: part 2 of 3 of entity 'e1' without part 1 of 3 before it",
    ],
    document("Entity=(e1-p-x)"): ["3: column 10: 'x' is not a valid head (expected the number of a token, from 1)"],
    document("Entity=(e1-p-0)"): ["3: column 10: '0' is not a valid head (expected the number of a token, from 1)"],
    document("Entity=(e1-p-2)"): [
        "3: column 10: the head of a mention of entity 'e1' is token 2 (expected at most 1, the number of its tokens)"
    ],
    document("Entity=(e1[1/2]-p-1)", "_", "Entity=(e1[2/2]-p-2)"): [
        "5: column 10: the head is 2, but 1 in another part"
    ],
}


@pytest.mark.parametrize(("text", "problems"), BROKEN.items())
def test_broken_files(file, text, problems):
    file.write_bytes(text.encode("utf-8"))
    with pytest.raises(FormatError) as caught:
        read_conllu(file)
    assert sorted(p.what if p.line is None else f"{p.line}: {p.what}" for p in caught.value.problems) == problems


def test_reading_stops_after_many_problems(read):
    with pytest.raises(FormatError) as caught:
        read("a\tb\n" * (LISTED + 50))
    assert len(caught.value.problems) == LISTED + 1
    assert caught.value.problems[0].what == "has at least 350 problems; only 300 are reported"


NAME = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs"]), min_size=1, max_size=6)
WORD = st.text(st.sampled_from("a#_-()=|é\u2028😀 \ufeff"), min_size=1, max_size=4)
LABELS = st.lists(NAME | st.sampled_from(["e1", "e2", "7", "a[1/2]", "a-b", "("]), min_size=4, max_size=4, unique=True)


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
                gaps = [0, *(j for j in range(1, len(places)) if places[j] > places[j - 1] + 1), len(places)]
                parts = tuple((places[a], places[b - 1]) for a, b in pairwise(gaps))
                mentions.append((entity, parts, draw(st.sampled_from(places))))
        # As they open: the longer part first, single tokens last.
        opened = sorted(range(len(mentions)), key=lambda m: (mentions[m][1][0][0], -mentions[m][1][0][1], m))
        order = list(dict.fromkeys(mentions[m][0] for m in opened))
        mentions = sorted((mentions[m] for m in opened), key=lambda m: order.index(m[0]))
        rows += [(i, len(labels) + order.index(entity), parts, head) for entity, parts, head in mentions]
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
        several = bool(np.bincount(table.entity).max(initial=0) > 1)
        assert ("two crossing mentions of one entity" in str(error)) is several  # noqa: PT017
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
    table = MentionTable(**{**vars(mention_table(["a b"], [[[[0, 1]], [[1, 1]]]])), "n_tokens": np.array([2])})
    blank = "\t".join(["_", *"____0__"])
    assert dump_conllu(table) == (
        "# newdoc id = a b\n# global.Entity = eid-etype-head-other\n"
        f"1\t{blank}\tEntity=(e1--1-\n2\t{blank}\tEntity=e1)(e2--1-)\n\n"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_tokens": None}, "a CoNLL-U file has a row for every token, but the number of tokens is unknown"),
        ({"names": ["a\n"]}, r"document 'a\n': a CoNLL-U file can't express 'a\n'"),
        ({"names": ["a "]}, "document 'a ': a CoNLL-U file can't express two crossing mentions"),
        ({"words": InventedWords([["a", "b\tc", "d", "e"]])}, r"document 'a': a CoNLL-U file can't express 'b\tc'"),
        ({"end": np.array([2, 3])}, "document 'a': a CoNLL-U file can't express two crossing mentions of one entity"),
    ],
)
def test_documents_that_the_format_can_not_express(change, message):
    table = {**vars(mention_table(["a"], [[[[0, 2], [1, 2]]]])), "n_tokens": np.array([4])}
    assert dump_conllu(MentionTable(**table))
    with pytest.raises(ValueError, match=re.escape(message)):
        dump_conllu(MentionTable(**{**table, **change}))


LINES = st.sampled_from(
    [
        *("# newdoc id = a", "# newdoc id = b", "# newdoc", "# global.Entity = eid-head", "# global.Entity", "#", ""),
        *(row(n, f"Entity={cell}") for n in (1, 2, 3, "1.1", "1-2") for cell in ("(e1", "e1)", "(e1-1)", "(e1[1/2])")),
        *(
            row(n, f"Entity={cell}")
            for n in (1, 2, 3)
            for cell in ("(e1[2/2]-2", "e1[2/2])", "(e1-5)(e2", "e2)e1)", "-")
        ),
        *map(row, ("1", "2", "3", "2.1", "x")),
    ]
)
SENTENCES = st.lists(
    st.sampled_from(["_", "Entity=(e1", "Entity=e1)", "Entity=(e1[1/2]-x-2", "Entity=e1[1/2])(e1[2/2])"])
)


@given(data=st.binary(max_size=100) | st.lists(LINES, max_size=12) | SENTENCES.map(lambda cells: [document(*cells)]))
@example(data=[document("Entity=(e1)")])
def test_any_file_is_a_table_or_a_format_error(file, data):
    file.write_bytes(data if isinstance(data, bytes) else "\n".join(data).encode("utf-8"))
    try:
        table = read_conllu(file)
    except FormatError:
        return
    assert (table.start <= table.head).all()
    assert (table.head <= table.end).all()
    assert (table.end < table.n_tokens[table.document]).all()
    assert [len(table.words(i)) for i in range(len(table))] == table.n_tokens.tolist()
