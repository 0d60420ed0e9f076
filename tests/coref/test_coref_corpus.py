"""A corpus of coreference, declared as any other: read in each format, loaded, counted and exported."""

import hashlib
import re

import pytest
from shared.coreference_tables import digest_documents

from closeread.corpus.declaration import Config, Corpus, SourceFile
from closeread.corpus.gold import read_gold, read_own_gold
from closeread.corpus.schema import load_schema
from closeread.exceptions import FormatError
from closeread.formats.json_lines import dump_json_lines
from closeread.records import UserFiles
from closeread.tasks import find_format
from closeread.tasks.coref.documents import Documents, documents_of
from closeread.tasks.coref.formats import FORMATS
from closeread.tasks.coref.formats.reading import DEFAULT_READING
from closeread.tasks.coref.key_response import take_documents

CONLL = """#begin document (rain); part 000
rain 0 0 It (1)
rain 0 1 rains -

#end document
#begin document (sun); part 000
sun 0 0 The (3
sun 0 1 sun 3)
sun 0 2 shines -
sun 0 3 . -
#end document
"""
CONLLU = """# newdoc id = rain; part 000
# global.Entity = eid-etype-head-other
1\tIt\t_\t_\t_\t_\t0\t_\t_\tEntity=(e1--1-)
2\trains\t_\t_\t_\t_\t0\t_\t_\t_

# newdoc id = sun; part 000
1\tThe\t_\t_\t_\t_\t0\t_\t_\tEntity=(e2--2-
2\tsun\t_\t_\t_\t_\t0\t_\t_\tEntity=e2)
3\tshines\t_\t_\t_\t_\t0\t_\t_\t_
4\t.\t_\t_\t_\t_\t0\t_\t_\t_

"""
RECORDS = [
    {"document": "rain; part 000", "clusters": [[[0, 0]]]},
    {"document": "sun; part 000", "clusters": [[[0, 1]]]},
]
WITH_HEADS = [
    {"document": "rain; part 000", "clusters": [[[0, 0, 0]]]},
    {"document": "sun; part 000", "clusters": [[[0, 1, 1]]]},
]
FILES = {
    "conll": ("key.conll", CONLL),
    "conllu": ("key.conllu", CONLLU),
    "coref_json": ("key.jsonl", dump_json_lines(RECORDS)),
}


def declared(format_name, file, text):
    """The declaration of a corpus of one file."""
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return Corpus(
        name="coref",
        title="Weather",
        description="Invented sentences.",
        language="en",
        homepage="http://example.org",
        licence="CC0",
        citation="",
        configs={
            "default": Config("All.", {"test": SourceFile(file, sha256, "http://example.org/key")})
        },
        default_split="test",
        format=format_name,
        submission_formats=(),
        procedure="coref",
        key="document",
    )


@pytest.mark.parametrize(("name", "records"), [("conll", RECORDS), ("conllu", WITH_HEADS)])
def test_gold_in_several_formats(name, records, tmp_path):
    file, text = FILES[name]
    (tmp_path / file).write_text(text, "utf-8")
    gold = read_gold(declared("corpus_documents", file, text), files=UserFiles(tmp_path))
    assert gold.released
    assert isinstance(gold.records, Documents)
    assert list(Documents(gold.records.documents)) == records


@pytest.mark.parametrize("name", FILES)
def test_formats_write_documents_again(name, tmp_path):
    file, text = FILES[name]
    (tmp_path / file).write_text(text, "utf-8")
    one = find_format("coref", name)
    documents = one.read(tmp_path / file, DEFAULT_READING)
    (first_line,) = [form.first_line for form in FORMATS.values() if form.module == name]
    assert re.match(first_line, text.split("\n")[0])
    assert not re.match(first_line, "rain 0 0 It (1)")
    (tmp_path / file).write_text(one.write(documents.documents), "utf-8")
    again = one.read(tmp_path / file, DEFAULT_READING)
    assert digest_documents(again) == digest_documents(documents)
    assert (
        "rain; part 000" in one.write(documents_of(RECORDS).documents)
        if name == "coref_json"
        else list(again) == list(documents)
    )


def test_json_lines_of_a_corpus_in_conll_follow_the_same_rules(tmp_path):
    corpus = declared("corpus_documents", *FILES["conll"])
    path = tmp_path / "own.jsonl"
    path.write_text(dump_json_lines(RECORDS), "utf-8")
    assert list(read_own_gold(corpus, path).records) == RECORDS
    rows = [RECORDS[0], {"document": "x", "clusters": [[[3, 2]], [[0, 5]]], "n_tokens": 5}]
    path.write_text(dump_json_lines(rows), "utf-8")
    with pytest.raises(FormatError) as caught:
        read_own_gold(corpus, path)
    assert [problem.line for problem in caught.value.problems] == [2, 2]
    assert "clusters[0][0]: [3, 2] ends before it starts" in str(caught.value)
    assert "clusters[1][0]: [0, 5] is outside the document, which has 5 tokens" in str(caught.value)


def test_features_take_mentions_with_and_without_heads(datasets, features):
    schema = features(load_schema("coref"))
    for records in (RECORDS, WITH_HEADS):
        rows = datasets.Dataset.from_list(
            [{**record, "n_tokens": 2} for record in records], features=schema
        )
        assert rows.features == schema
        assert [row["clusters"] for row in rows] == [record["clusters"] for record in records]
        assert list(take_documents([{**row} for row in rows], "any", is_response=False)) == records
