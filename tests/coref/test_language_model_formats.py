"""Files that language models read and write: the same documents there and back, and what models get wrong."""

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.coreference import NO_INTERVALS
from shared.coreference_tables import make_document

import closeread
from closeread.exceptions import FormatError, InputError, RequestError
from closeread.tasks.coref.alignment import align_documents
from closeread.tasks.coref.documents import Document, Documents, EmptyNode, Entity, Mention
from closeread.tasks.coref.files import read_documents, write_documents

CRAC = "Ida|[e1 Voss|e1] thanked her|[e2],[e3 sister|e3] because ##|[e1] paid\n\nIt|[e4] rained\n"
TOKENS = ["Ida", "Voss", "thanked", "her", "sister", "because", "_", "paid"]
WANTED = [[[0, 1], [6, 6]], [[3, 3]], [[3, 4]]]


def spans(documents):
    """The entities of each document as sets, without their order."""
    return [as_sets(record["clusters"]) for record in documents]


def words_of(documents):
    """The words of each document."""
    return [list(document.words.read()) for document in documents.documents]


def nodes_of(documents):
    """The tokens of each document that are empty nodes."""
    return [[node.token for node in document.nodes] for document in documents.documents]


def as_sets(clusters):
    return {frozenset(map(tuple, cluster)) for cluster in clusters}


def write(name, text):
    Path(name).write_text(text, "utf-8")
    return Path(name)


TEXTS = {
    "crac.txt": CRAC,
    "tags.txt": "<e1>Ida Voss</e1> thanked <e3><e2>her</e2> sister</e3> because <e1>##</e1> paid\n\n<e4>It</e4> rained",
    "links.txt": "[Ida Voss](#e1) thanked [[her](#e2) sister](#e3) because [##](#e1) paid\n\n[It](#c_4) rained\n\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_three_notations(name, here):
    documents = read_documents(write(name, TEXTS[name]))
    assert list(documents.names) == ["1", "2", "3"]
    assert spans(documents) == [as_sets(WANTED), set(), {frozenset({(0, 0)})}]
    assert words_of(documents)[0] == TOKENS
    assert nodes_of(documents) == [[6], [], []]


def test_brackets_that_are_no_links(here):
    documents = read_documents(write("a.txt", "[ [Ann] and [Ben](#e1) ] ran [\n"))
    assert words_of(documents) == [["[", "[", "Ann", "]", "and", "Ben", "]", "ran", "["]]
    assert spans(documents) == [{frozenset({(5, 5)})}]


@pytest.mark.parametrize(
    ("text", "words", "entities"),
    [
        ("Los|[e1] <h1> x|[e1]", 3, [[(0, 0), (2, 2)]]),
        ("<h1> Ann|[e1] </h1> <h2> her|[e1] </h2>", 6, [[(1, 1), (4, 4)]]),
        ("<h1> no entities", 3, []),
        ("<e1>Ann</e1> saw <e1>her</e1> a|[b]", 7, [[(0, 0), (2, 2)]]),
        ("<p1>Ann</p1> left", 2, [[(0, 0)]]),
    ],
)
def test_words_like_tags_do_not_decide(text, words, entities, here):
    documents = read_documents(write("a.txt", text))
    assert [len(found) for found in words_of(documents)] == [words]
    assert spans(documents) == [as_sets(entities)]


def test_words_like_tags_are_written_if_they_can_be_read(here):
    for word in ("<h1>", "<e1>"):
        document = make_document("a", [[[0, 0], [2, 2]]], words=["Ann", word, "her"])
        write_documents(Documents([document]), Path("a.txt"))
        assert Path("a.txt").read_text() == f"Ann|[e1] {word} her|[e1]\n"
        assert spans(read_documents(Path("a.txt"))) == [as_sets([[(0, 0), (2, 2)]])]
    with pytest.raises(RequestError, match="can't express words such as <e1>"):
        write_documents(Documents([make_document("a", [], words=["<e1>"])]), Path("b.txt"))


def test_too_many_or_too_few_lines_are_counted(here, run):
    write("key.conll", CONLL + CONLL.replace("(ferry)", "(train)"))
    line = "Ida|[e1 Voss|e1] thanked her|[e2]\n"
    expected = "(expected a line for each, in the key's order, since they have no names)"
    for n, numbers in ((1, "1 line"), (3, "3 lines")):
        write("answer.txt", line * n)
        for more in ((), ("--extra", "skip", "--missing", "skip")):
            done = run("score", "coref", "key.conll", "answer.txt", *more)
            found = f"Error: answer.txt: has {numbers} for 2 documents of the key {expected}\n"
            assert done.stderr == found
    write("key.txt", line * 2)
    write("answer.txt", line)
    with pytest.raises(InputError, match="has 1 line for 2 documents of the key"):
        closeread.score("coref", Path("answer.txt"), gold=Path("key.txt"), missing="error")
    unnamed = [{"document": ["Ann"], "clusters": []}]
    with pytest.raises(InputError, match="predictions: has 1 document for 2 documents"):
        closeread.score("coref", unnamed, gold=Path("key.conll"))


JSON = {
    "maverick.jsonl": {"tokens": [*TOKENS[:6], "##", "paid"], "clusters_token_offsets": WANTED},
    "preco.jsonl": {
        "id": "1",
        "sentences": [TOKENS[:3], TOKENS[3:]],
        "mention_clusters": [[[0, 0, 2], [1, 3, 4]], [[1, 0, 1]], [[1, 0, 2]]],
    },
    "coref_data.jsonl": {
        "id": "1",
        "text": "any",
        "sentences": [
            {"id": 1, "tokens": [{"id": i, "text": word} for i, word in enumerate(TOKENS[:3], 1)]},
            {
                "id": 2,
                "tokens": [
                    {"id": 3.1 if i == 3 else i, "text": word} for i, word in enumerate(TOKENS[3:])
                ],
            },
        ],
        "coref_chains": [[[0, 0, 1], [1, 3, 3]], [[1, 0, 0]], [[1, 0, 1]]],
    },
}


@pytest.mark.parametrize("name", JSON)
def test_json_of_other_projects(name, here):
    documents = read_documents(write(name, json.dumps(JSON[name]) + "\n"))
    assert list(documents.names) == ["1"]
    assert spans(documents) == [as_sets(WANTED)]
    assert words_of(documents) == [TOKENS]
    assert nodes_of(documents) == ([[]] if name == "preco.jsonl" else [[6]])


def test_coref_data_in_parquet(here, run):
    row = JSON["coref_data.jsonl"]
    sentences = [
        {**one, "tokens": [{**token, "id": str(token["id"])} for token in one["tokens"]]}
        for one in row["sentences"]
    ]
    pq.write_table(pa.Table.from_pylist([{**row, "sentences": sentences}]), "key.parquet")
    documents = read_documents(Path("key.parquet"))
    assert spans(documents) == [as_sets(WANTED)]
    assert words_of(documents) == [TOKENS]
    for more in ((), ("--to", "coref-data"), ("--blind",)):
        done = run("convert", "coref", "key.parquet", *more, "-o", "copy.parquet")
        assert done.exit_code == 2
        expected = ".conll, .conllu, .jsonl, .ndjson, .txt, .json, .tsv"
        assert f"the suffix is '.parquet' (expected one of {expected})" in done.stderr
    assert not Path("copy.parquet").exists()


@pytest.mark.parametrize(
    ("name", "field", "mention", "what"),
    [
        ("preco.jsonl", "mention_clusters", [1, 3, 6], "[1, 3, 6] is not a span"),
        ("preco.jsonl", "mention_clusters", [2, 0, 1], "[2, 0, 1] is not a span"),
        ("coref_data.jsonl", "coref_chains", [1, 2, 1], "[1, 2, 1] is not a span"),
    ],
)
def test_mentions_outside_sentences(name, field, mention, what, here):
    row = {**JSON[name], field: [[mention]]}
    with pytest.raises(FormatError, match="is not a span of the document") as error:
        read_documents(write(name, json.dumps(row) + "\n"))
    assert what in str(error.value)


def test_json_array(here):
    rows = [
        {"doc_id": "a", **JSON["maverick.jsonl"]},
        {"doc_id": "b", "tokens": ["x"], "clusters_token_offsets": None},
    ]
    documents = read_documents(write("crac.json", json.dumps(rows, indent=2)))
    assert list(documents.names) == ["a", "b"]
    assert spans(documents) == [as_sets(WANTED), set()]
    assert documents.notices == ["crac.json: 1 document without annotation (null)."]


@pytest.mark.parametrize(
    "text", ["[", "[]", "[1]", '[{"doc_id": "a"}]', '[{"clusters_token_offsets": 1}]', "[NaN]"]
)
def test_broken_arrays(text, here):
    with pytest.raises(FormatError):
        read_documents(write("crac.json", text))


@st.composite
def random_documents(draw):
    """Documents with words, empty nodes, and entities of which no two mentions cross."""
    made = []
    for i in range(draw(st.integers(1, 3))):
        tokens = draw(st.lists(st.text("aé<|]#1e", min_size=1, max_size=3), min_size=1, max_size=8))
        tokens = [f"w{token.replace('|', '')}" for token in tokens]
        empty = draw(st.sets(st.integers(0, len(tokens) - 1), max_size=2))
        tokens = ["_" if j in empty else token for j, token in enumerate(tokens)]
        clusters = []
        for _ in range(draw(st.integers(0, 3))):
            here = set()
            for _ in range(draw(st.integers(1, 3))):
                start = draw(st.integers(0, len(tokens) - 1))
                end = draw(st.integers(start, len(tokens) - 1))
                if not any(a < start <= b < end or start < a <= end < b for a, b in here):
                    here.add((start, end))
            clusters.append(sorted(here))
        nodes = [EmptyNode(token, 0, ()) for token in sorted(empty)]
        made.append(make_document(f"d{i}", clusters, words=tokens, nodes=nodes))
    return Documents(made)


@pytest.mark.parametrize(
    ("suffix", "to"),
    [(".txt", None), (".json", None), (".jsonl", "coref-data")],
    ids=str,
)
@given(documents=random_documents())
@settings(max_examples=40)
def test_there_and_back(tmp_path_factory, suffix, to, documents):
    path = tmp_path_factory.mktemp("files") / f"file{suffix}"
    write_documents(documents, path, to)
    again = read_documents(path)
    numbers = ["1", "2", "3"][: len(documents)]
    assert list(again.names) == (numbers if suffix == ".txt" else documents.names)
    assert spans(again) == spans(documents)
    assert words_of(again) == words_of(documents)
    assert nodes_of(again) == nodes_of(documents)
    blind = write_documents(documents, path, to, blind=True)
    assert spans(read_documents(path)) == [set()] * len(documents)
    assert spans(blind) == spans(documents)


def test_what_text_cannot_hold(here):
    crossing = make_document("a", [[[0, 2], [1, 3]]], words=list("abcd"))
    with pytest.raises(
        RequestError, match="two crossing mentions of one entity, the second on tokens 1 to 3"
    ):
        write_documents(Documents([crossing]), Path("a.txt"))
    entity = Entity("e", [Mention(0, 3, 3, ((0, 0), (2, 3)))])
    parts = replace(crossing, entities=[entity])
    written = write_documents(Documents([parts]), Path("a.txt"))
    assert Path("a.txt").read_text() == "a b c|[e1 d|e1]\n"
    assert written.notices == ["1 discontinuous mention cut to the part with the head."]
    with pytest.raises(RequestError, match="document 'a' has no words, which CRAC's text needs"):
        write_documents(Documents([Document("a", n_tokens=2)]), Path("a.txt"))


CONLL = """#begin document (ferry); part 000
ferry 0 0 Ida (0
ferry 0 1 Voss 0)
ferry 0 2 thanked -
ferry 0 3 her (1)

#end document
"""


def test_prompts_on_the_command_line(ran, run, here):
    write("key.conll", CONLL)
    assert (
        ran("convert", "coref", "key.conll", "--blind", "-o", "prompts.txt")
        == "prompts.txt: 1 document\n"
    )
    assert Path("prompts.txt").read_text() == "Ida Voss thanked her\n"
    ran("convert", "coref", "key.conll", "-o", "response.txt")
    assert Path("response.txt").read_text() == "Ida|[e1 Voss|e1] thanked her|[e2]\n"
    assert (
        json.loads(ran("score", "coref", "key.conll", "response.txt", "--json"))["scores"]["b3/f1"][
            "value"
        ]
        == 1
    )
    ran("convert", "coref", "key.conll", "--to", "coref-data", "-o", "key.jsonl")
    assert json.loads(Path("key.jsonl").read_text())["coref_chains"] == [[[0, 0, 1]], [[0, 3, 3]]]
    assert run("convert", "coref", "key.conll", "--blind", "-o", "key.conllu").exit_code != 0


def score(response, **options):
    return closeread.score(
        "coref", response, gold=Path("key.conll"), resampling=NO_INTERVALS, **options
    )


NASTY = {
    "unclosed": ("Ida|[e1 Voss|e1] thanked|[e9 her|[e2]", 1, 1),
    "unopened": ("Ida|[e1 Voss|e1] thanked|e9] her|[e2]", 1, 1),
    "invented": ("Ida|[e1 Voss|e1] thanked|(e9) her|[e2]", 0, 1),
    "bare id": ("Ida|[e1 Voss|e1] thanked|e9 her|[e2]", 1, 1),
    "markup": ("<e1>Ida Voss</e1> <b>thanked <e2>her</e2>", 1, 1),
    "changed words": ("ida|[e1 Voss|e1] thanks her|[e2]", 0, 1),
    "missing words": ("Ida|[e1 Voss|e1] her|[e2]", 0, 1),
    "extra text": ("Sure! Ida|[e1 Voss|e1] thanked her|[e2] . Done", 0, 1),
    "other tokens": ("<e1>IdaVoss</e1> than ked <e2>her</e2>.", 0, 1),
    "a lost mention": ("<e1>Ida Voss</e1> thanked <e2>Mo</e2>", 0, 0.5),
    "nothing": ("\n", 0, 0),
}


@pytest.mark.filterwarnings("ignore:.* left out|1 document aligned:closeread.CloseReadWarning")
@pytest.mark.parametrize("name", NASTY)
def test_what_models_write(name, here):
    text, n_tags, recall = NASTY[name]
    write("key.conll", CONLL)
    write("answer.txt", text)
    report = score(Path("answer.txt"), words="align")
    assert report.scores["mentions/recall"].value == recall
    assert "words:align" in report.provenance.signature
    noted = " ".join(read_documents(Path("answer.txt"), tolerant=True).notices)
    assert (f"{n_tags} tag in 1 document left out" in noted) == bool(n_tags)
    with pytest.raises(InputError):
        score(Path("answer.txt"))


def test_hint_and_other_text(here):
    write("key.conll", CONLL)
    write("answer.txt", "Ida|[e1 Voss|e1] thanked|[e9 her|[e2]")
    with pytest.raises(InputError, match=r":1: .*never closed .*words='align'"):
        score(Path("answer.txt"))
    write("answer.txt", "Quite|[e1] another story about whales")
    with pytest.raises(InputError, match="another text than the key's"):
        score(Path("answer.txt"), words="align")


def test_mentions_without_offsets_are_refused(here):
    write("key.conll", CONLL)
    row = {
        "doc_id": "ferry; part 000",
        "clusters_text_mentions": [["Ida Voss", "Ida Voss"], ["her"], ["Mo"]],
    }
    write("answer.json", json.dumps([row]))
    with pytest.raises(InputError, match="only the text of mentions is given"):
        score(Path("answer.json"))


@pytest.mark.filterwarnings("ignore:1 document aligned:closeread.CloseReadWarning")
def test_empty_nodes_after_their_parents(here):
    """CRAC's converter moves an empty node after its parent, wherever the key has it."""
    rows = [
        "1\tpaid\t_\t_\t_\t_\t0\troot\t_\tEntity=(e1--1-)",
        "1.1\t_\t_\t_\t_\t_\t_\t_\t2:nsubj\tEntity=(e1--1-)",
    ]
    rows.append("2\tslept\t_\t_\t_\t_\t1\tx\t_\t_")
    head = "# newdoc id = a\n# global.Entity = eid-etype-head-other\n"
    write("key.conllu", head + "1\tOh\t_\t_\t_\t_\t0\troot\t_\t_\n\n" + "\n".join(rows) + "\n\n")
    for text in ("Oh paid|[e1] ##|[e1] slept", "Oh paid|[e1] slept ##|[e1]"):
        write("answer.txt", text + "\n")
        report = closeread.score(
            "coref",
            Path("answer.txt"),
            gold=Path("key.conllu"),
            resampling=NO_INTERVALS,
            words="align",
        )
        assert report.scores["b3/f1"].value == 1
    write("answer.txt", "Oh paid|[e1] ##|[e1] slept\n")
    report = closeread.score(
        "coref", Path("answer.txt"), gold=Path("key.conllu"), resampling=NO_INTERVALS
    )
    assert report.scores["b3/f1"].value == 1


def test_heads_and_parts_are_aligned(here):
    write("key.conll", CONLL)
    write("key.conllu", "")
    entities = [Entity("e", [Mention(0, 2, 2, ((0, 0), (2, 2)))])]
    words = ["IdaVoss", "thanked", "her"]
    found = replace(make_document("ferry; part 000", [], words=words), entities=entities)
    aligned, problems = align_documents(read_documents(Path("key.conll")), Documents([found]))
    assert problems == []
    (mention,) = aligned.documents[0].mentions
    assert mention.subspans == ((0, 1), (3, 3))
    assert mention.head == 3
