"""The sample: six invented documents, whose parts must agree with each other."""

import json

import pytest
from shared.marmara_sample import ANNOTATIONS, DOCUMENTS, SAMPLE, treebank_files

from closeread.corpus.declaration import read_manifest
from closeread.corpus.sources import file_digest
from closeread.tasks.marmara.corpus_files import read_corpus_folder
from closeread.tasks.marmara.extraction import dump_document
from closeread.tasks.marmara.treebank import XmlReader, find_kind

CORPUS = read_corpus_folder(SAMPLE)
RELATIONS = """ABLATIVE.ADJUNCT APPOSITION CLASSIFIER COLLOCATION COORDINATION DATIVE.ADJUNCT DETERMINER EQU.ADJUNCT
ETOL FOCUS.PARTICLE INSTRUMENTAL.ADJUNCT INTENSIFIER LOCATIVE.ADJUNCT MODIFIER NEGATIVE.PARTICLE OBJECT POSSESSOR
QUESTION.PARTICLE RELATIVIZER S.MODIFIER SENTENCE SUBJECT VOCATIVE"""
CATEGORIES = "Noun Verb Punc Adj Conj Pron Adv Det Postp Num Ques Interj Dup"


def test_nothing_about_it_is_wrong_or_odd():
    assert (CORPUS.problems, CORPUS.notices) == ([], [])
    assert tuple(record["document"] for record in CORPUS.records) == DOCUMENTS
    genres = [record["genre"] for record in CORPUS.records]
    assert genres == ["News", "Travel", "Short Story", "Essay", "Article", "Other"]


def test_its_fragments_are_raw_and_extracted_to_its_treebank():
    raw = {name: (path, path.read_bytes()) for name, path in treebank_files("fragments").items()}
    reader = XmlReader()
    found = reader.read_fragments(raw)
    assert {find_kind(name, data) for name, (_, data) in raw.items()} == {
        "a fragment as distributed"
    }
    assert (reader.problems, reader.notices) == ([], [])
    for name in DOCUMENTS:
        assert dump_document(found[name]) == (SAMPLE / "treebank" / f"{name}.xml").read_text(
            "utf-8"
        )
    data = b"".join(data for _, data in raw.values())
    assert "ş".encode("cp1254") in data  # no UTF-8
    for damage in (b' IG="[(1,"', b"> & </W>", b"> < </W>", b"""(1,""+Punc")"""):
        assert damage in data


def test_manifest():
    manifest = read_manifest(SAMPLE.parent / "sample.sha256")
    files = [
        path
        for pattern in ("treebank/*", "coreference/*", "genres.tsv")
        for path in SAMPLE.glob(pattern)
    ]
    assert manifest == {
        path.relative_to(SAMPLE.parent).as_posix(): file_digest(path) for path in files
    }


@pytest.mark.parametrize("record", CORPUS.records, ids=DOCUMENTS)
def test_analyses_follow_the_treebank(record):
    for sentence in record["sentences"]:
        tokens = sentence["tokens"]
        roots = [
            token
            for token in tokens
            if token["relation"] == "SENTENCE" and token["head"] == len(tokens)
        ]
        assert len(roots) == 1, sentence["number"]
        for place, token in enumerate(tokens, 1):
            assert token["groups"][0][0] in CATEGORIES.split()
            assert ("_" in token["form"]) == ("_" in token["lemma"])
            if token["groups"] == [["Punc"]] and token["head"] is None:
                assert token["form"] == token["lemma"]
                continue
            assert token["relation"] in RELATIONS.split()
            assert token["head"] != place
            assert 1 <= token["head_group"] <= len(tokens[token["head"] - 1]["groups"])
        assert leads_to_the_end(tokens), sentence["number"]


def leads_to_the_end(tokens):
    """Whether the heads of every token lead to the last punctuation mark."""
    for place in range(1, len(tokens) + 1):
        seen = set()
        while tokens[place - 1]["head"] is not None and place not in seen:
            seen.add(place)
            place = tokens[place - 1]["head"]
        if seen and place != len(tokens):
            return False
    return True


def test_what_it_is_meant_to_show():
    mentions = [(record, mention) for record in CORPUS.records for mention in record["mentions"]]
    forms = {
        record["document"]: [t for s in record["sentences"] for t in s["tokens"]]
        for record in CORPUS.records
    }
    chained = {
        (r["document"], *span)
        for r in CORPUS.records
        for cluster in r["clusters"]
        for span in cluster
    }
    kinds = {"pronoun": 0, "apostrophe": 0, "several tokens": 0, "nested": 0, "in no chain": 0}
    for record, mention in mentions:
        tokens = forms[record["document"]][mention["start"] : mention["end"] + 1]
        kinds["pronoun"] += tokens[-1]["groups"][0][0] == "Pron"
        kinds["apostrophe"] += any("'" in token["form"] for token in tokens)
        kinds["several tokens"] += len(tokens) > 1
        kinds["nested"] += any(
            other is not mention
            and other["start"] <= mention["start"]
            and mention["end"] <= other["end"]
            for other in record["mentions"]
        )
        kinds["in no chain"] += (
            record["document"],
            mention["start"],
            mention["end"],
        ) not in chained
    assert all(count >= 5 for count in kinds.values()), json.dumps(kinds)
    assert all(
        any(len(cluster) >= 3 for cluster in record["clusters"]) for record in CORPUS.records
    )
    assert all(6 <= len(record["sentences"]) <= 12 for record in CORPUS.records)
    ids = [[mention["id"] for mention in record["mentions"]] for record in CORPUS.records]
    # one file has a gap
    assert sum(of_file != list(map(str, range(len(of_file)))) for of_file in ids) == 1


def test_annotators():
    assert len(ANNOTATIONS) == 9
    assert {path.stem for path in ANNOTATIONS} == {"anna", "ben", "cleo"}
