"""Constituents in the sixth column of CoNLL keys; broken trees are in `refused/constituents.txt`."""

import random
from dataclasses import replace

import numpy as np
import pytest
from agreed.coval import document_text, random_sentence
from hypothesis import given
from hypothesis import strategies as st
from shared.coref_readers import read_conll
from shared.coreference import report_files, score_files, write_conll, write_jsonl

from closeread.exceptions import FormatError, RequestError
from closeread.tasks.coref.metrics.matching import match_sides
from closeread.tasks.coref.metrics.minimum_spans import minimum_codes, read_trees
from closeread.tasks.coref.procedure import PROCEDURE

ROWS = [
    ("tea", "NN", "(TOP(S(NP*)"),
    ("is", "VBZ", "(VP*"),
    ("hot", "JJ", "(ADJP*))"),
    (".", ".", "*))"),
]
EXPECTED = "(expected cells such as '(TOP(S(NP*', '*' and '*))' in the sixth column)"
NEEDED = "constituents in a CoNLL key, or a key with minimum spans (ARRAU, Universal Anaphora)"


@pytest.fixture
def key(tmp_path):
    """A function that writes a key: a sentence with some cells of the tree replaced, by the number of the word."""

    def write(cells=(), name="key.conll"):
        rows = [(word, tag, dict(cells).get(i, cell)) for i, (word, tag, cell) in enumerate(ROWS)]
        path = tmp_path / name
        path.write_text(document_text("d", [ROWS, rows], [(0, 0, 0, 0), (1, 0, 0, 0)]), "utf-8")
        return path

    return write


def problems_of(path):
    with pytest.raises(FormatError) as caught:
        score_files(path, path, matching="minimum")
    return [(problem.line, problem.text) for problem in caught.value.problems]


def test_the_column_is_read_only_if_it_is_needed(key):
    broken = key([(1, "(VP")])
    assert score_files(broken, broken)["conll/f1"] == 1


def test_a_folder_of_files(key, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    text = key().read_text("utf-8")
    for name in ("a", "b"):
        (folder / f"{name}.conll").write_text(text.replace("(d)", f"({name})"), "utf-8")
    assert score_files(folder, folder, matching="minimum")["conll/f1"] == 1
    (folder / "b.conll").write_text(text.replace("(d)", "(b)").replace("(VP*", "(VP"), "utf-8")
    problem = "b.conll:3: column 6: '(VP' is not part of a tree (expected '*' with brackets) (2 times; also line 8)"
    with pytest.raises(FormatError) as caught:
        score_files(folder, folder, matching="minimum")
    assert str(caught.value) == f"{folder}/{problem}"
    write_jsonl(folder / "b.conll", {"b": [[[0, 0]]]})
    with pytest.raises(FormatError) as caught:
        score_files(folder, folder, matching="minimum")
    assert str(caught.value) == f"{folder}/b.conll: document 'b' has no constituents {EXPECTED}"


def test_files_with_too_few_columns(tmp_path):
    write_conll(path := tmp_path / "key.conll", {"a": [[[0, 0]]], "b": []})
    assert problems_of(path) == [
        (2, f"document 'a; part 000' has no constituents {EXPECTED}"),
        (14, f"document 'b; part 000' has no constituents {EXPECTED}"),
    ]


def test_keys_of_other_formats(tmp_path, key):
    path = write_jsonl(tmp_path / "key.jsonl", {"d; part 000": [[[0, 0]]]})
    with pytest.raises(RequestError) as caught:
        score_files(path, key(), matching="minimum")
    assert str(caught.value) == f"{path}: matching 'minimum' needs {NEEDED}"
    with pytest.raises(RequestError, match="matching 'minimum' needs constituents in a CoNLL key"):
        PROCEDURE.count(gold=[[[[0, 0]]]], system=[[[[0, 0]]]], matching="minimum")


def test_the_response_needs_no_trees(tmp_path, key):
    path = write_jsonl(tmp_path / "response.jsonl", {"d; part 000": [[[0, 0], [4, 4]]]})
    assert score_files(key(), path, matching="minimum")["conll/f1"] == 1


def test_the_signature_is_that_of_the_trees(key):
    same, other = key(name="same.conll"), key([(1, "(NP*")], name="other.conll")

    def sign(path, **options):
        return report_files(path, path, **options).provenance.signature

    assert (
        sign(key(), matching="minimum")
        == sign(same, matching="minimum")
        != sign(other, matching="minimum")
    )
    assert sign(key()) == sign(other)


def test_documents_without_tokens(tmp_path, key):
    text = key().read_text("utf-8")
    path = tmp_path / "two.conll"
    path.write_text(f"#begin document (e); part 000\n#end document\n{text}", "utf-8")
    assert score_files(path, path, matching="minimum")["conll/f1"] == 1


def test_deep_trees_and_many_nested_mentions(tmp_path):
    depth = 3000
    rows = [("tea", "NN", "(NP*" if i < depth else "*" + ")" * depth) for i in range(depth + 1)]
    path = tmp_path / "deep.conll"
    path.write_text(
        document_text("d", [rows], [(0, i, depth, i % 3) for i in range(0, depth, 50)]), "utf-8"
    )
    documents = read_trees(read_conll(path), path)
    codes = minimum_codes(documents, documents)[0]
    assert len(np.unique(codes)) == len(codes)


@given(seed=st.integers(0, 2**32), cell=st.text("(NPV*)-", max_size=8), word=st.integers(0, 8))
def test_any_cell_is_read_or_refused(seed, cell, word, file):
    rows = random_sentence(random.Random(seed))
    word %= len(rows)
    rows[word] = (*rows[word][:2], cell or "*")
    file.write_text(document_text("d", [rows], []), "utf-8")
    try:
        (document,) = read_trees(read_conll(file), file).documents
    except FormatError:
        return
    found = document.constituents.rows
    assert [row[:3] for row in found] == rows
    assert sum(row.cell.count("(") - row.cell.count(")") for row in found) == 0


def test_mentions_are_paired_whatever_their_order(key):
    documents = read_trees(read_conll(key()), key())
    (document,) = documents.documents
    entities = [entity._replace(mentions=entity.mentions[::-1]) for entity in document.entities]
    reverse = documents.replaced([replace(document, entities=entities[::-1])])
    own, other = match_sides(documents, reverse, matching="minimum").sides
    assert own.mention.tolist() == other.mention.tolist()[::-1]
