"""Universal Anaphora files: what is read, and what is refused and how."""

import pytest
from shared.coref_readers import read_conllu
from shared.universal_anaphora import COLUMNS, HEADER, row

from closeread.exceptions import FormatError
from closeread.tasks.coref.files import read_documents
from closeread.tasks.coref.universal_anaphora.relations import Bridging


@pytest.fixture
def read(tmp_path):
    """Reads text."""

    def call(text):
        path = tmp_path / "file.txt"
        path.write_text(text, "utf-8")
        return read_documents(path)

    return call


def document(*rows, name="a"):
    """A document of rows, given as lines or as the identity cell of a word."""
    lines = [
        line if " " in line or not line else row(i, line) for i, line in enumerate(rows, start=1)
    ]
    return HEADER + "\n".join([f"# newdoc id = {name}", *lines, "", ""])


def entities(*documents):
    """(id, parts, minimum span) of every mention, in order."""
    return [
        (entity.label, mention.spans, mention.minimum)
        for document in documents
        for entity in document.entities
        for mention in entity.mentions
    ]


def one(number, parts=((0, 0),), minimum=()):
    return (str(number), parts, minimum)


@pytest.mark.parametrize(
    ("cells", "mentions"),
    [
        (["_"], []),
        (["(EntityID=1)"], [one(1)]),
        (["(EntityID=x-DD|MarkableID=m|SemType=a=b)"], [one("x-DD")]),
        (["(EntityID=1|MarkableID=m", ")"], [one(1, ((0, 1),))]),
        # The bracket that opened last closes first, in the same cell or later.
        (["(EntityID=1(EntityID=2)", ")"], [one(1, ((0, 1),)), one(2)]),
        (["(EntityID=1@(EntityID=2)", ")"], [one(1, ((0, 1),)), one(2)]),
        (["(EntityID=1", "(EntityID=2))"], [one(1, ((0, 1),)), one(2, ((1, 1),))]),
        (["(EntityID=1", ")(EntityID=2)"], [one(1, ((0, 1),)), one(2, ((1, 1),))]),
        (["(EntityID=1", ")@(EntityID=2)"], [one(1, ((0, 1),)), one(2, ((1, 1),))]),
        (["(EntityID=1(EntityID=2", ")", ")"], [one(1, ((0, 2),)), one(2, ((0, 1),))]),
        (["(EntityID=1", "(EntityID=2", "))"], [one(1, ((0, 2),)), one(2, ((1, 2),))]),
        # Markables cross if their brackets have ids.
        (
            ["(EntityID=1|MarkableID=m1", "(EntityID=2|MarkableID=m2", "m1)", "m2)"],
            [one(1, ((0, 2),)), one(2, ((1, 3),))],
        ),
        # Parts of a markable; those that touch are one.
        (
            ["(EntityID=1|MarkableID=m)", "(EntityID=2)", "(EntityID=1|MarkableID=m", ")"],
            [one(1, ((0, 0), (2, 3))), one(2, ((1, 1),))],
        ),
        (["(EntityID=1|MarkableID=m)", "(EntityID=1|MarkableID=m", ")"], [one(1, ((0, 2),))]),
        # The minimum span is that of the first part, in words of the document, and may be anywhere.
        (["(EntityID=1|Min=2", "_", ")"], [one(1, ((0, 2),), (1,))]),
        (["(EntityID=1|Min=2,3", "_", ")"], [one(1, ((0, 2),), (1, 2))]),
        (["(EntityID=1|Min=2)", "_"], [one(1, ((0, 0),), (1,))]),
        (["(EntityID=1|MarkableID=m|Min=1)", "_", "(EntityID=1|MarkableID=m|Min=3)"], [one(1, ((0, 0), (2, 2)), (0,))]),
        # Entities are in order of first mention, non-referring ones are none.
        (["(EntityID=2)", "(EntityID=3-Pseudo)", "(EntityID=1)", "(EntityID=2)"], [
            one(2), one(2, ((3, 3),)), one(1, ((2, 2),))
        ]),
    ],
)  # fmt: skip
def test_entities(read, cells, mentions):
    assert entities(*read(document(*cells)).documents) == mentions


def test_tokens(read):
    documents = read(
        f"# global.columns = {COLUMNS}\n# newdoc id = a b\n# sent_id = 1\n# text = no\n"
        + "\n".join(
            [
                row("0.1", "(EntityID=z)", word="pro"),
                row(1, "(EntityID=1|Min=1,2", word="on"),
                row("1.1"),
            ]
        )
        + "\n\n# sent_id = 2\n"
        + "\n".join(
            [row(2, word="a"), row(3, ")", word="é"), row("3.1"), row("3.2", "(EntityID=z)")]
        )
        + "\n\n\n# newdoc id = b\n"
        + "\n".join([row(1, word="in"), "", row(1, "(EntityID=1)", word="x"), ""])
    )
    first, second = documents.documents
    assert (first.name, second.name) == ("a b", "b")
    assert (first.n_tokens, second.n_tokens) == (7, 2)
    assert list(first.words.read()) == ["_", "on", "_", "a", "é", "_", "_"]
    # A mention does not contain the zeros between its words.
    assert entities(first, second) == [
        ("z", ((0, 0),), ()),
        ("z", ((6, 6),), ()),
        ("1", ((1, 1), (3, 4)), (1, 3)),
        ("1", ((1, 1),), ()),
    ]
    # Words tell their places apart, sentences do not.
    places = [(node.token, node.sentence) for node in first.nodes]
    assert places == [(0, 0), (2, 0), (5, 0), (6, 0)]
    assert list(second.nodes) == []
    assert [first.line_of(0), first.line_of(3), second.line_of(1)] == [5, 10, 19]


@pytest.mark.parametrize(
    ("columns", "cells"),
    [
        ("ID FORM IDENTITY", "1\tnew york\t(EntityID=1)"),
        ("ID FORM IDENTITY", "1 new (EntityID=1)"),
        ("ID FORM IDENTITY", "1   new \t (EntityID=1)  "),
        ("ID FORM IDENTITY X", "1\tnew york\t(EntityID=1)"),
        ("IDENTITY ID DISCOURSE_DEIXIS FORM", "(EntityID=1) 0 _ new"),
        ("ID FORM IDENTITY", "0 new (EntityID=1)"),
        ("ID FORM IDENTITY", "1  a\xa0b  (EntityID=1)"),
    ],
)
def test_columns(read, columns, cells):
    documents = read(f"#global.columns={columns}\n# newdoc id = a\n{cells}\n").documents
    assert entities(*documents) == [one(1)]


def test_relations(read):
    documents = read(
        document(
            row(1, "(EntityID=1|MarkableID=m1|ElementOf=3,4)"),
            row(2, "(EntityID=2|MarkableID=m2|ElementOf=3)", "(MarkableID=m2|Rel=of|MentionAnchor=m1|EntityAnchor=1)"),
            row(3, "(EntityID=3|MarkableID=m3|ElementOf=4", "(MarkableID=m3|MentionAnchor=m9"),
            row(4, ")", ")(MarkableID=m2|EntityAnchor=2)", "(EntityID=1-DD|MarkableID=d1"),
            row(5, "(EntityID=4|MarkableID=m4)", "_", ")"),
            row(6, "(EntityID=5-Pseudo|MarkableID=m5|ElementOf=4)", "_", "(EntityID=1-DD|MarkableID=d2)"),
        )
    )  # fmt: skip
    assert documents.has_relations
    (read_document,) = documents.documents
    found = read_document.relations
    assert found.antecedents == {"3": ["1", "2"], "4": ["1", "3", "5-Pseudo"]}
    assert found.non_referring == {"5-Pseudo": [((5, 5),)]}
    # The last anchor of an anaphor counts; m9 is no markable.
    assert found.bridging == [Bridging(((1, 1),), None)]
    assert found.unknown_markables == 1
    deixis = read_document.deixis
    assert entities(deixis) == [one("1-DD", ((3, 4),)), one("1-DD", ((5, 5),))]
    assert deixis.name == "a"
    assert deixis.relations is not None
    assert deixis.deixis is None
    assert read(document("(EntityID=1)")).documents[0].deixis is None


def test_recognised_by_first_line(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(HEADER + "# newdoc id = a\n" + row(1, "(EntityID=1)"))
    assert read_documents(path).has_relations
    path.write_text(
        "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC\n# newdoc id = a\n"
    )
    assert list(read_documents(path).names) == list(read_conllu(path).names)
    path = tmp_path / "a.CONLLUA"
    path.write_text("\n# newdoc id = a\n")
    with pytest.raises(FormatError):
        read_documents(path.with_name("b.CONLLUA"))


def test_row_without_columns(tmp_path):
    path = tmp_path / "a.conllua"
    path.write_text("x\n# newdoc id = a\n" + row(1, "(EntityID=1)"))
    with pytest.raises(FormatError) as caught:
        read_documents(path)
    [first, second] = caught.value.problems
    assert (
        first.text
        == f"row without a declaration of its columns (expected '# global.columns = {COLUMNS}')"
    )
    assert second.text == "token outside a document (expected '# newdoc id = NAME' before it)"
