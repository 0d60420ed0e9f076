"""What CoNLL-U files have beside mentions: names of documents, empty nodes, fields and relations."""

import pickle

import numpy as np
import pytest
from shared.conllu_documents import document, entities, row
from shared.for_each import for_each

from closeread.tasks.coref.formats.conllu import FORMAT, read_conllu


@pytest.fixture
def read(file):
    """Reads text."""

    def call(text):
        file.write_text(text, "utf-8")
        return read_conllu(file)

    return call


@for_each(
    ("text", "names", "lines"),
    [
        (row(1), ["1"], [1]),
        ("# text = w\n" + row(1) + "\n\n" + row(1) + "\n", ["1"], [1]),
        ("# newdoc\n" + row(1) + "\n\n# newdoc\n\n# newdoc id = 4", ["1", "2", "4"], [1, 4, 6]),
        ("# newdoc id = a\n" + row(1) + "\n\n# newdoc\n" + row(1), ["a", "2"], [1, 4]),
        ("\n#newdoc\n" + row(1) + "\n\n#  newdoc id=b c \n" + row(1), ["1", "b c"], [2, 5]),
    ],
)
def test_documents_without_an_id_are_numbered(file, text, names, lines):
    file.write_text(text, "utf-8")
    parsed = FORMAT.read(file, "")
    assert list(parsed.records.names) == names
    assert list(parsed.lines) == lines
    assert sorted(parsed.records.unnamed) == [i for i, name in enumerate(names) if name in ("1", "2")]


def test_ids_of_gum(read):
    text = document(
        "Entity=(1-abstract-new-cf1-2-sgl", "Entity=1)(2-person-giv:act", "Entity=2)", fields="GRP-etype-infstat"
    )
    text += document("Entity=(1-place-new)(x1-event)", name="b", fields="GRP-etype-infstat")
    table = read(text)
    assert entities(table) == [
        ("1", ((0, 1),), 0), ("2", ((1, 2),), 1), ("1", ((0, 0),), 0), ("x1", ((0, 0),), 0)
    ]  # fmt: skip
    assert table.entity.tolist() == [0, 1, 2, 3]
    assert list(table.mention_fields["type"]) == ["abstract", "person", "place", "event"]


def test_fields_of_mentions(read):
    rows = [
        "\t".join(["1", "w", "_", "DET", *"_____", "Entity=(a-x-2-y"]),
        "\t".join(["2", "w", "_", "NOUN", *"_____", "Entity=a)(b--1-)"]),
        "\t".join(["2.1", "w", "_", "_", *"_____", "Entity=(c)"]),
        "\t".join(["3", "w", "_", "é", *"_____", "Entity=(a-z-1-)"]),
    ]
    table = read(document(*rows))
    assert entities(table) == [("a", ((0, 1),), 1), ("a", ((3, 3),), 3), ("b", ((1, 1),), 1), ("c", ((2, 2),), 2)]
    assert list(table.mention_fields["pos"]) == ["NOUN", "é", "NOUN", ""]
    assert list(table.mention_fields["type"]) == ["x", "z", "", ""]
    chosen = table.take(np.array([3, 1])).mention_fields["pos"]
    assert (len(chosen), chosen[0], chosen[1:]) == (2, "", ["é"])
    assert list(table.select(table.entity == 1).mention_fields["type"]) == [""]
    assert list(pickle.loads(pickle.dumps(table)).mention_fields["pos"]) == ["NOUN", "é", "NOUN", ""]
    assert "type" not in read(document("Entity=(a)", fields="eid-head")).mention_fields
    assert list(read(document("Entity=(a-x)", fields="eid-entity")).mention_fields["type"]) == ["x"]


def test_empty_nodes(read):
    sentences = [
        [row(1), row("1.1", dependencies="0.1:x"), row("2-3"), row(2), row(3)],
        [
            row("0.1", dependencies="2:nsubj:pass|0:root"),
            row(1),
            row("1.1", dependencies="2:obj|1.2:y"),
            row("1.2"),
            row(2),
        ],
    ]
    text = document(*sentences[0], "", "", *sentences[1]).replace("0.1:x", "1.1:x")
    table = read(text + document("_", row("1.1", dependencies="1:a"), name="b"))
    first = [(1, 0, [(1, "x")]), (4, 1, [(8, "nsubj:pass"), (-1, "root")]), (6, 1, [(8, "obj"), (7, "y")]), (7, 1, [])]
    assert table.empty == [first, [(1, 0, [(0, "a")])]]
    assert read(document("_", row("2-3"), row(2), row(3))).empty is None


@for_each(
    ("cells", "notices"),
    [
        (["Entity=(a)", "Bridge=|Entity=(b)"], []),
        (["Bridge=b<a"], ["1 bridging relation is not scored"]),
        (["Bridge=a<b:part,a<c|Entity=(b)"], ["2 bridging relations are not scored"]),
        (["SplitAnte=a<c,b<c", "SplitAnte=a<c"], ["1 split antecedent is not scored"]),
        (
            ["SplitAnte=a<c,b<c,a<d,b<d", "Bridge=a<b|Entity=(x)"],
            ["2 split antecedents and 1 bridging relation are not scored"],
        ),
        (["XBridge=a<b|Bridges=x|# Bridge=y"], []),
    ],
)
def test_relations_are_noted(read, cells, notices):
    for text in (document(*cells), document(*cells) + document(name="b")):
        assert read(text).notices == notices


@for_each(
    ("name", "genre"),
    [
        ("GUM_academic_art", "academic"),
        ("GENTLE_dictionary_next", "dictionary"),
        ("bn/cnn/00/cnn_0001; part 000", "bn"),
        ("wb/c2e/00/c2e_0001", "wb"),
        ("GUM_academic", ""),
        ("xx/cnn/00/cnn_0001", ""),
        ("1023_bleak_house_brat", ""),
    ],
)
def test_genres(read, name, genre):
    table = read(document("_", name=name) + document("_", name="GUM_vlog_x"))
    assert list(table.document_fields["genre"]) == [genre, "vlog"]
    assert read(document("_", name="x")).document_fields == {}
