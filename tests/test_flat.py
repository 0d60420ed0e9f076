"""Flat configs: a row for each annotation, counted in the sample's files by other means than our readers."""

import csv
import json
import re
from html import unescape
from pathlib import Path

import pytest

from closeread.corpus.facts import count_corpus
from closeread.corpus.gold import read_gold
from closeread.corpus.names import corpus_names, load_corpus
from closeread.corpus.schema import RowValidator, load_schema
from closeread.exceptions import RequestError
from closeread.files import package_folder
from closeread.operations.score import score
from closeread.records import as_columns


def folder(name):
    return package_folder(f"closeread.loaders.{name}")


def flat(name):
    return list(read_gold(load_corpus(name), "sample_flat").records)


@pytest.mark.parametrize(
    "name", [name for name in corpus_names() if "flat" in load_corpus(name).configs]
)
def test_rows_are_what_the_schema_says_and_hold_single_values(name):
    corpus = load_corpus(name)
    assert corpus.configs["flat"].splits == corpus.configs[corpus.default_config].splits
    rows = flat(name)
    assert (
        RowValidator(load_schema(corpus.schema), corpus.configs["sample_flat"].definition).problems(
            rows
        )
        == []
    )
    assert {type(value) for row in rows for value in row.values()} <= {str, int, bool, type(None)}


def test_possessions():
    lines = (folder("wikipossessions") / "sample.csv").read_text("utf-8").splitlines()[1:]
    released = [tuple(cell.strip() for cell in line.split("#")) for line in lines]
    rows = [
        tuple(row[name] for name in ("article", "possessor", "order"))
        for row in flat("wikipossessions")
    ]
    assert sorted(rows) == sorted((cells[0], cells[2], cells[4]) for cells in released)


def test_links():
    lines = (folder("tne") / "sample.jsonl").read_text("utf-8").splitlines()
    expected = []
    for document in map(json.loads, lines):
        nps = document["nps"]
        text = {np["id"]: document["text"][np["first_char"] : np["last_char"]] for np in nps}
        for link in document["np_relations"]:
            one, other = link["anchor"], link["complement"]
            expected.append(
                (document["id"], one, text[one], link["preposition"], other, text[other])
            )
    names = ("id", "anchor", "anchor_text", "preposition", "complement", "complement_text")
    assert [tuple(row[name] for name in names) for row in flat("tne")] == expected


def test_event_mentions():
    expected = []
    for file in sorted(
        (folder("semeval2015_timeline") / "sample" / "TimeLines_Gold_Standard").glob("*.txt")
    ):
        entity, *lines = file.read_text("utf-8").rstrip().split("\n")
        for number, (position, anchor, *mentions) in enumerate(line.split("\t") for line in lines):
            expected += [
                (file.stem, entity, number, int(position), anchor, mention) for mention in mentions
            ]
    rows = flat("semeval2015_timeline")
    assert [tuple(row.values())[:6] for row in rows] == expected
    # The name of a mention says where it is: document, sentence, words.
    assert all(row["mention"].startswith(f"{row['document']}-{row['sentence']}-") for row in rows)


def test_coreference_mentions():
    expected, chains = [], {}
    for file in sorted((folder("marmara_coref") / "sample" / "coreference").glob("*.xml")):
        text = unescape(file.read_text("utf-8"))
        found = re.findall(r'<mention [^>]*?id="(\d+)" sentenceNo="([^"]+)"[^>]*>([^<]+)<', text)
        expected += [(file.stem, *mention) for mention in found]
        chains[file.stem] = text.count("<chain>")
    rows = flat("marmara_coref")
    assert sorted(
        (row["document"], row["id"], row["sentence"], row["text"]) for row in rows
    ) == sorted(expected)
    for name, found in chains.items():
        of_document = [row for row in rows if row["document"] == name and row["chain"] is not None]
        assert {row["chain"] for row in of_document} == set(range(found))


def test_nothing_gives_columns_without_values():
    from closeread.tasks.tne.records import flatten

    unlabelled = {
        "id": "a",
        "text": "x",
        "tokens": ["x"],
        "nps": [],
        "np_relations": None,
        "coref": [],
    }
    assert as_columns(flatten([unlabelled]), ["id", "anchor"]) == {"id": (), "anchor": ()}


@pytest.mark.parametrize("name", ["wikipossessions", "mctaco"])
def test_they_are_no_gold(name):
    with pytest.raises(RequestError, match=f"config sample_flat of {name} is for data frames"):
        score(name, [], config="sample_flat")
    with pytest.raises(RequestError, match=f"config sample_flat of {name} has no statistics"):
        count_corpus(name, "sample_flat")


def test_csv_as_rfc_4180_describes_it(tmp_path):
    import pyarrow as pa

    from closeread.hf.export import FORMATS

    table = pa.table(
        {"text": ['say "no"', "a,b\nc", None], "n": [1, None, -2], "known": [True, False, None]}
    )
    FORMATS["csv"].write(table, tmp_path / "rows.csv")
    # RFC 4180, 2: lines end in CRLF; fields with commas, line ends or quotes are quoted, and quotes are doubled.
    expected = b'text,n,known\r\n"say ""no""",1,true\r\n"a,b\nc",,false\r\n,-2,\r\n'
    assert Path(tmp_path / "rows.csv").read_bytes() == expected
    with (tmp_path / "rows.csv").open(newline="", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 3
