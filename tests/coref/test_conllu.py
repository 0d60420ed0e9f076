"""CoNLL-U files with CorefUD's annotation: what is read, what is refused and how; fields, empty nodes, relations."""

import pickle

import pytest
from shared.conllu_documents import document, entities, row
from shared.coref_readers import read_conllu

import closeread
from closeread import limits
from closeread.exceptions import FormatError
from closeread.tasks.coref.document_fields import list_fields
from closeread.tasks.coref.files import read_documents
from closeread.tasks.coref.formats.conllu import FORMAT
from closeread.tasks.coref.formats.reading import DEFAULT_READING


@pytest.fixture
def read(file):
    """Reads text."""

    def call(text):
        file.write_text(text, "utf-8")
        return read_conllu(file)

    return call


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
        # Parts without a token between them.
        (["Entity=(e1[1/2]-p-2-)", "Entity=(e1[2/2]-p-2-", "Entity=e1[2/2])"], [("e1", ((0, 2),), 1)]),
        # The mention that opened first continues first, and the one that opened last is complete first.
        (
            ["Entity=(e1[1/2])", "Entity=(e1[1/2])", "_", "Entity=(e1[2/2](e1[2/2])", "Entity=e1[2/2])"],
            [("e1", ((0, 0), (3, 4)), 0), ("e1", ((1, 1), (3, 3)), 1)],
        ),
        # A mention may be complete within a part of another, but not in a gap.
        (
            ["Entity=(e1[1/2]", "Entity=(e1[1/2])", "_", "Entity=(e1[2/2])e1[1/2])", "_", "Entity=(e1[2/2])"],
            [("e1", ((0, 3), (5, 5)), 0), ("e1", ((1, 1), (3, 3)), 1)],
        ),
    ],
)  # fmt: skip
def test_entities(read, cells, mentions):
    assert entities(read(document(*cells))) == mentions


@pytest.mark.parametrize(
    ("cells", "mentions"),
    [
        (["unit-repr-id0", "_", "start-repr-id1,unit-id0", "end-repr-id1"], [(0, 0, 0), (0, 2, 2), (1, 2, 3)]),
        (["start-id0", "start-id0,middle-id0", "end-id0,end-id0"], [(0, 0, 2), (0, 1, 2)]),
        # One mention ends where the next one begins, whatever stands first.
        (["start-id0", "start-id0,end-id0", "end-id0"], [(0, 0, 1), (0, 1, 2)]),
    ],
)  # fmt: skip
def test_chains_of_stanza(read, cells, mentions):
    """The expected values are those of the grammar: the last mention that opened closes first."""
    documents = read(
        document(*(f"start_char=0|coref_chains={cell}|ner=O" if cell != "_" else "_" for cell in cells))
    )  # fmt: skip
    (read_document,) = documents.documents
    found = [
        (number, mention.start, mention.end)
        for number, entity in enumerate(read_document.entities)
        for mention in entity.mentions
    ]
    assert sorted(found) == mentions
    assert read_document.label_of(0) == "id0"
    assert {(mention.head, mention.tag) for mention in read_document.mentions} == {(None, None)}
    assert not documents.has_heads
    assert documents.notices == [
        "mentions are read from stanza's coref_chains, which have no heads."
    ]


def test_a_file_without_newdoc_is_the_only_document_of_the_key(tmp_path):
    key = tmp_path / "key.conllu"
    key.write_text(document("Entity=(e1)", "_", "Entity=(e1)", name="ferry"), "utf-8")
    cells = ["coref_chains=unit-id0", "_", "coref_chains=unit-id0"]
    rows = [row(number, cell) for number, cell in enumerate(cells, start=1)]
    response = tmp_path / "response.conllu"
    response.write_text("\n".join(["# sent_id = 0", *rows, "", ""]), "utf-8")
    with pytest.warns(closeread.CloseReadWarning, match="stanza's coref_chains"):
        report = closeread.score("coref", response, gold=key, ci=False)
    assert float(report["conll/f1"]) == 1


def test_other_fields(read):
    text = document("Entity=(3-e1-x-", "Entity=e1)", fields="head-eid-other")
    with pytest.raises(FormatError, match="the head of a mention of entity 'e1' is token 3"):
        read(text)
    assert entities(read(text.replace("(3", "(2"))) == [("e1", ((0, 1),), 1)]
    assert entities(read(document("Entity=(e1", "Entity=e1)", fields="eid"))) == [
        ("e1", ((0, 1),), 0)
    ]


def test_tokens(read):
    documents = read(
        "# newdoc id = a b\n# global.Entity = eid-head\n# sent_id = 1\n"
        + "\n".join(
            [
                row("0.1", "Entity=(z)", "∅"),
                row("1-2", form="du"),
                row(1, form="de"),
                row(2, "Entity=(e-2", "le"),
            ]
        )
        + "\n\n# newpar\n"
        + "\n".join([row(1, "Entity=e)", "mot long"), row("1.1"), row("1.2", "Entity=(z)"), row(2)])
        + "\n\n# newdoc id = b\n\n"
        + "\n".join([row(1, "Entity=(z)", "😀")])
    )
    first, second = documents.documents
    assert (first.name, second.name) == ("a b", "b")
    assert (first.n_tokens, second.n_tokens) == (7, 1)
    # empty nodes have no word
    assert list(first.words.read()) == ["_", "de", "le", "mot long", "_", "_", "w"]
    assert entities(documents) == [
        ("z", ((0, 0),), 0),
        ("z", ((5, 5),), 5),
        ("e", ((2, 3),), 3),
        ("z", ((0, 0),), 0),
    ]
    assert [record["clusters"] for record in documents] == [
        [[[0, 0, 0], [5, 5, 5]], [[2, 3, 3]]],
        [[[0, 0, 0]]],
    ]
    assert [first.line_of(0), first.line_of(3), second.line_of(0)] == [4, 10, 17]


PART = "(expected ID or ID[PART/PARTS] with PART from 1 to PARTS)"


def test_reading_stops_after_many_problems(read):
    with pytest.raises(FormatError) as caught:
        read("a\tb\n" * (limits.MAX_PROBLEMS + 50))
    assert len(caught.value.problems) == limits.MAX_PROBLEMS
    assert str(caught.value).endswith("(350 times; also lines 2, 3, 4, …)")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (row(1), ["1"]),
        ("# text = w\n" + row(1) + "\n\n" + row(1) + "\n", ["1"]),
        ("# newdoc\n" + row(1) + "\n\n# newdoc\n\n# newdoc id = 4", ["1", "2", "4"]),
        ("# newdoc id = a\n" + row(1) + "\n\n# newdoc\n" + row(1), ["a", "2"]),
        ("\n#newdoc\n" + row(1) + "\n\n#  newdoc id=b c \n" + row(1), ["1", "b c"]),
    ],
)
def test_documents_without_an_id_are_numbered(file, text, names):
    file.write_text(text, "utf-8")
    documents = FORMAT.read(file, DEFAULT_READING)
    assert list(documents.names) == names
    assert [document.is_named for document in documents.documents] == [
        name not in ("1", "2") for name in names
    ]


def test_ids_of_gum(read):
    text = document(
        "Entity=(1-abstract-new-cf1-2-sgl",
        "Entity=1)(2-person-giv:act",
        "Entity=2)",
        fields="GRP-etype-infstat",
    )
    text += document("Entity=(1-place-new)(x1-event)", name="b", fields="GRP-etype-infstat")
    documents = read(text)
    assert entities(documents) == [
        ("1", ((0, 1),), 0), ("2", ((1, 2),), 1), ("1", ((0, 0),), 0), ("x1", ((0, 0),), 0)
    ]  # fmt: skip
    assert [len(document.entities) for document in documents.documents] == [2, 2]
    assert documents.columns.entity.tolist() == [0, 1, 2, 3]


def test_parts_of_speech_are_those_of_heads(read):
    rows = [
        "\t".join(["1", "w", "_", "DET", *"_____", "Entity=(a-x-2-y"]),
        "\t".join(["2", "w", "_", "NOUN", *"_____", "Entity=a)(b--1-)"]),
        "\t".join(["2.1", "w", "_", "_", *"_____", "Entity=(c)"]),
        "\t".join(["3", "w", "_", "é", *"_____", "Entity=(a-z-1-)"]),
    ]
    documents = read(document(*rows))
    assert entities(documents) == [
        ("a", ((0, 1),), 1),
        ("a", ((3, 3),), 3),
        ("b", ((1, 1),), 1),
        ("c", ((2, 2),), 2),
    ]
    (read_document,) = documents.documents
    assert [mention.tag for mention in read_document.mentions] == ["NOUN", "é", "NOUN", ""]
    (again,) = pickle.loads(pickle.dumps(documents)).documents
    assert again.mentions == read_document.mentions


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
    documents = read(text + document("_", row("1.1", dependencies="1:a"), name="b"))
    first = [
        (1, 0, [(1, "x")]),
        (4, 1, [(8, "nsubj:pass"), (-1, "root")]),
        (6, 1, [(8, "obj"), (7, "y")]),
        (7, 1, []),
    ]
    assert [list(document.nodes) for document in documents.documents] == [
        first,
        [(1, 0, [(0, "a")])],
    ]
    assert documents.has_nodes
    assert not read(document("_", row("2-3"), row(2), row(3))).has_nodes


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
    documents = read(document("_", name=name) + document("_", name="GUM_vlog_x"))
    assert [document.fields for document in documents.documents] == [
        {"genre": genre} if genre else {},
        {"genre": "vlog"},
    ]
    assert list_fields(documents) == {"genre": [genre or "unknown", "vlog"]}
    assert list_fields(read(document("_", name="x"))) == {}


def test_notes_on_relations_of_a_folder_are_added_up(tmp_path):
    """One line for all files, whose numbers differ; 3 + 1 + 1 bridging relations and 2 split antecedents."""
    for name, *cells in (
        ("a", "Bridge=a<b:part,a<c|Entity=(b)", "Bridge=d<e"),
        ("b", "Bridge=b<a"),
        ("c", "SplitAnte=a<c,b<c,a<d,b<d"),
        ("d", "Bridge=b<a"),
        ("e", "_"),
    ):
        (tmp_path / f"{name}.conllu").write_text(document(*cells, name=name), "utf-8")
    documents = read_documents(tmp_path)
    sums = "2 split antecedents and 5 bridging relations are not scored"
    assert documents.notices == [
        f"{tmp_path}: 'a.conllu', 'b.conllu', 'c.conllu', … (4 files): {sums}"
    ]
    assert pickle.loads(pickle.dumps(read_conllu(tmp_path / "b.conllu"))).notices == [
        "1 bridging relation is not scored"
    ]


def test_notes_on_cells_of_a_folder_name_the_first(tmp_path):
    for name, cells in (("a", ("1)|(1",)), ("b", ("1)|(1", "1)|(1"))):
        rows = [f"w {cell}" for cell in ("(1", *cells, "1)")]
        text = "\n".join([f"#begin document ({name})", *rows, "", "#end document", ""])
        (tmp_path / f"{name}.conll").write_text(text, "utf-8")
    (notice,) = read_documents(tmp_path).notices
    assert notice == (
        f"{tmp_path}: 'a.conll', 'b.conll': an entity closes and opens again in 3 cells; what opens "
        "is read before what closes, as the reference scorer does (first: '1)|(1' on line 3 of 'a.conll')"
    )
