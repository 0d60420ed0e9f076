"""The reader of TNE's files: both versions, gzipped or not, the fields it adds, and the release."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from shared.json_lines import dump
from shared.tne_files import TNE, put, read
from shared.tne_released import document, first_version

from closeread.corpus.gold import read_gold, read_own_gold
from closeread.corpus.schema import load_schema
from closeread.tasks.tne.tne_jsonl import dump_records, find_origin


def test_both_versions_are_one(file):
    new = read_own_gold(TNE, put(file, dump([document()])))
    assert list(new.records) == [{**document(), "domain": "news", "forum": None}]
    old = read_own_gold(TNE, put(file, dump([first_version(document())])))
    assert list(old.records) == list(new.records)
    assert old.digest == new.digest
    # Where the object's keys alone are the ids.
    bare = first_version(document())
    for noun_phrase in bare["nps"].values():
        del noun_phrase["id"]
    assert list(read_own_gold(TNE, put(file, dump([bare]))).records) == list(new.records)


def test_what_the_recovered_train_split_lacks(file):
    record = document(metadata=...)
    for cluster in record["coref"]:
        del cluster["np_type"]
    (found,) = read_own_gold(TNE, put(file, dump([first_version(record)]))).records
    assert [cluster["np_type"] for cluster in found["coref"]] == [None] * 4
    assert found.keys() & {"metadata", "domain", "forum"} == set()


def test_an_unlabelled_document(file):
    gold = read_own_gold(TNE, put(file, dump([document(np_relations=...)])))
    assert "np_relations" not in gold.records[0]
    assert gold.digest == read_own_gold(TNE, put(file, dump([document(np_relations=None)]))).digest


@pytest.mark.parametrize(
    ("source", "domain", "forum"),
    [
        ("wiki_05_news.json", "news", None),
        ("1342_gut.json", "books", None),
        ("12_7_imdb.json", "imdb", None),
        ("reddit_atheism_formatted.json", "reddit", "atheism"),
        ("reddit_Ask_Historians_formatted.json", "reddit", "Ask_Historians"),
        ("reddit__formatted.json", None, None),
        ("wiki_news.json", None, None),
        ("wiki_05_news.json\n", None, None),
        ("other.json", None, None),
        ("", None, None),
    ],
)
def test_domain_and_forum(file, source, domain, forum):
    assert find_origin(source) == (domain, forum)
    metadata = {**document()["metadata"], "source": source}
    (record,) = read(file, dump([document(metadata=metadata)])).records
    assert (record["domain"], record["forum"]) == (domain, forum)


@pytest.mark.parametrize(
    ("own", "found"),
    [
        ({"domain": "news"}, ("news", None)),
        ({"domain": "news", "forum": None}, ("news", None)),
        ({"domain": None, "forum": None}, ("news", None)),
        ({"domain": "news", "forum": "mine"}, ("news", "mine")),
        ({"domain": "books", "metadata": None}, ("books", None)),
        ({"domain": "reddit", "forum": "Cats", "metadata": ...}, ("reddit", "Cats")),
    ],
)
def test_domain_and_forum_that_are_given(file, own, found):
    (record,) = read_own_gold(TNE, put(file, dump([document(**own)]))).records
    assert (record.get("domain"), record.get("forum")) == found


def test_names_that_are_absent_are_null(file):
    # So that a file has the digest of its Parquet, which has all names.
    full = document(metadata={"annotators": None, "url": None, "source": None})
    assert (
        read(file, dump([document(metadata={})])).records[0] == read(file, dump([full])).records[0]
    )
    annotators = {"coref_worker": None, "consolidator_worker": 1, "np-relations_worker": None}
    (record,) = read(
        file, dump([document(metadata={"annotators": {"consolidator_worker": 1}})])
    ).records
    assert record["metadata"] == {"annotators": annotators, "url": None, "source": None}


# Files.


TRUNCATED, CORRUPT = (
    f"is not a valid gzip file: {what}" for what in ("it is truncated", "its data is corrupt")
)


# The release.


@pytest.mark.extended
def test_both_versions_of_the_release_are_one(corpora):
    new = read_gold(TNE, split="validation")
    old = read_own_gold(TNE, corpora / "tne" / "dev.jsonl.gz")
    assert (new.released, len(new.records)) == (True, 500)
    assert list(old.records) == list(new.records)
    assert old.digest == new.digest


@pytest.mark.extended
def test_the_unlabelled_release_is_the_labelled_one_without_links(corpora):
    labelled, unlabelled = (
        read_gold(TNE, split="test").records,
        read_gold(TNE, "unlabeled", "test").records,
    )
    without = [
        {name: value for name, value in record.items() if name != "np_relations"}
        for record in labelled
    ]
    assert list(unlabelled) == without


@pytest.mark.extended
def test_domains_and_forums_of_the_release(corpora):
    records = read_gold(TNE, "unlabeled", "ood").records
    domains = [record["domain"] for record in records]
    assert {domain: domains.count(domain) for domain in set(domains)} == {
        "books": 170,
        "imdb": 169,
        "reddit": 170,
    }
    forums = {record["forum"] for record in records if record["domain"] == "reddit"}
    splits = TNE.configs["ood_forums"].splits
    assert forums == set(splits)
    # One source is called asked_science, and its file askedscience.
    assert splits["asked_science"].name == "ood_reddit_askedscience.jsonl.gz"
    assert {record["forum"] for record in records if record["domain"] != "reddit"} == {None}
    assert {record["domain"] for record in read_gold(TNE).records} == {"news"}


@pytest.mark.parametrize(
    "character", ["\u0080", "\u0085", "\u009f", "\t", "\n", "\u2028", "\ufeff", "\xa0", "é", "😀"]
)
@pytest.mark.parametrize("escaped", [True, False])
def test_characters_that_texts_may_hold(file, character, escaped):
    words = f"a{character}b"
    nps = [
        {
            "text": words,
            "first_char": 1,
            "last_char": 4,
            "first_token": 0,
            "last_token": 0,
            "id": "np0",
        }
    ]
    coref = [{"id": "cc0", "members": ["np0"], "np_type": "standard"}]
    record = document(text=f" {words} ", tokens=[words], nps=nps, coref=coref, np_relations=[])
    content = json.dumps(record, ensure_ascii=escaped) + "\n"
    gold = read_own_gold(TNE, put(file, content))
    assert gold.records[0]["text"] == f" {words} "
    assert dump_records(gold.records).count("\n") == 1
    assert read_own_gold(TNE, put(file, dump_records(gold.records))).digest == gold.digest


@pytest.fixture(scope="module")
def sample():
    return read_gold(TNE, "sample")


def test_what_is_written_is_the_release(sample):
    written = [json.loads(line) for line in dump_records(sample.records).splitlines()]
    wanted = [
        {k: v for k, v in record.items() if k not in ("domain", "forum")}
        for record in sample.records
    ]
    assert written == wanted
    # nothing was changed by writing
    assert read_gold(TNE, "sample").records[0] == sample.records[0]


@pytest.mark.parametrize(
    "changes", [{"np_relations": None}, {"metadata": None}, {"metadata": {}}, {"np_relations": []}]
)
def test_fields_that_are_null_are_not_written(file, tmp_path, changes, features):
    gold = read_own_gold(TNE, put(file, dump([document(**changes)])))
    (written,) = (json.loads(line) for line in dump_records(gold.records).splitlines())
    assert {name for name in changes if name not in written} == {
        name for name in changes if changes[name] is None
    }
    assert read_own_gold(TNE, put(file, dump_records(gold.records))).digest == gold.digest
    path = tmp_path / "gold.parquet"
    schema = features(load_schema("tne")).arrow_schema
    pq.write_table(pa.Table.from_pylist(list(gold.records), schema=schema), path)
    assert read_own_gold(TNE, path).digest == gold.digest


@pytest.mark.extended
def test_the_release_through_parquet(corpora, tmp_path, features):
    gold, path = read_gold(TNE), tmp_path / "gold.parquet"
    schema = features(load_schema("tne")).arrow_schema
    pq.write_table(pa.Table.from_pylist(list(gold.records), schema=schema), path)
    assert read_own_gold(TNE, path).digest == gold.digest
    path = put(tmp_path / "gold.jsonl", dump_records(gold.records))
    assert read_own_gold(TNE, path).digest == gold.digest
