"""Fields of documents: the genre in their names, and the columns of a file, whose problems are in `refused/fields_*.txt`."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from shared.coreference import KEY, NO_INTERVALS, RESPONSE, write_jsonl
from shared.coreference_tables import make_documents, spread

import closeread
from closeread.exceptions import FormatError
from closeread.tasks.coref.document_fields import add_fields, list_fields, read_fields
from closeread.tasks.coref.documents import find_genre

DOCUMENTS = ["ferry; part 000", "night"]


@pytest.mark.parametrize(
    ("name", "genre"),
    [
        ("bn/cnn/00/cnn_0001; part 000", "bn"),
        ("bc/cctv/00/cctv_0000_0", "bc"),
        ("GUM_academic_art", "academic"),
        ("AMALGUM_bio_abc", "bio"),
        ("ferry", ""),
        ("xx/cnn/00", ""),
        ("GUM_academic", ""),
    ],
)
def test_genres(name, genre):
    assert find_genre(name) == genre


def with_fields(document, fields):
    return replace(document, fields=fields)


def test_the_genre_of_the_file_comes_before_that_of_the_name():
    names = ["bn/cnn/1", "GUM_news_x", "plain"]
    documents = make_documents([[], [], []], names=names)
    assert list_fields(documents) == {"genre": ["bn", "news", "unknown"]}
    assert list_fields(make_documents([[]], names=["plain"])) == {}
    unknown = {"genre": "", "year": "", "place": ""}
    fields = [unknown, {**unknown, "genre": "essay", "place": "Ulm"}, {}]
    documents = documents.replaced(map(with_fields, documents.documents, fields))
    assert list_fields(documents) == {
        "genre": ["bn", "essay", "unknown"],
        "place": ["unknown", "Ulm", "unknown"],
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.csv", 'document,place,year\nnight,"Ulm, Donau",2001\n\nferry; part 000,,1999\n'),
        ("f.tsv", "document\tplace\tyear\nferry; part 000\t\t1999\nnight\tUlm, Donau\t2001\n"),
        (
            "f.jsonl",
            '{"document": "night", "place": "Ulm, Donau", "year": 2001}\n'
            '{"document": "ferry; part 000", "place": null, "year": "1999"}\n',
        ),
        (
            "F.NDJSON",
            '{"year": 1999, "document": "ferry; part 000"}\n'
            '{"document": "night", "place": "Ulm, Donau", "year": 2001}\n',
        ),
    ],
)
def test_every_format(here, name, text):
    Path(name).write_text(text)
    fields = read_fields(Path(name), DOCUMENTS)
    assert {field: fields[field] for field in ("place", "year")} == {
        "place": ["", "Ulm, Donau"],
        "year": ["1999", "2001"],
    }


def test_values_that_are_not_text(here):
    Path("f.jsonl").write_text('{"document": "a", "spoken": true, "hours": 0.5}\n')
    assert read_fields(Path("f.jsonl"), ["a"]) == {"spoken": ["true"], "hours": ["0.5"]}


def test_other_suffixes(here):
    Path("f.txt").write_text("document,x\n")
    expected = r"f.txt: the suffix is '.txt' \(expected one of .csv, .tsv, .jsonl, .ndjson\)"
    with pytest.raises(FormatError, match=expected):
        read_fields(Path("f.txt"), DOCUMENTS)


def test_fields_replace_those_of_the_same_name(here):
    Path("f.csv").write_text("document,genre\nbn/1,a\nbn/2,b\n")
    documents = make_documents([spread(["ab"]), []], names=["bn/1", "bn/2"])
    assert list_fields(add_fields(documents, Path("f.csv"))) == {"genre": ["a", "b"]}


def test_scores_by_a_field(here, ran, run):
    write_jsonl(Path("key.jsonl"), KEY)
    write_jsonl(Path("response.jsonl"), RESPONSE)
    Path("f.tsv").write_text("document\tplace\nb\tUlm\na\tParis\n")
    report = closeread.score(
        "coref",
        "response.jsonl",
        gold="key.jsonl",
        fields="f.tsv",
        by="place",
        resampling=NO_INTERVALS,
    )
    plain = closeread.score("coref", "response.jsonl", gold="key.jsonl", resampling=NO_INTERVALS)
    assert report.total == plain.total
    # what is scored is the same, and so is the signature
    assert report.provenance == plain.provenance
    assert list(report.slices["place"]) == ["Paris", "Ulm"]
    said = json.loads(
        ran(
            "score",
            "coref",
            "key.jsonl",
            "response.jsonl",
            "--fields",
            "f.tsv",
            "--by",
            "place",
            "--json",
        )
    )
    assert list(said["slices"]["place"]) == ["Paris", "Ulm"]
    done = run("score", "coref", "key.jsonl", "response.jsonl", "--fields", "none.tsv")
    assert done.exit_code == 1
    assert done.stderr == "Error: none.tsv: can't be read: No such file or directory\n"
    assert "--fields FILE" in run("score", "coref", "--help-all").stdout
