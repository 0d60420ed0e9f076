"""Large files, whose documents and rows are parsed some at a time, are read and refused as others are."""

import gzip
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import json_lines
from shared.for_each import for_each
from shared.tne_files import TNE, put
from shared.tne_random import documents
from shared.tne_released import document, with_links
from shared.tne_submissions import IDS, submit

import closeread
from closeread.corpus.facts import count_corpus
from closeread.corpus.gold import read_gold, read_own_gold
from closeread.counts.sides import Place
from closeread.exceptions import InputError
from closeread.formats import stored_lines, stored_text
from closeread.records import column
from closeread.scoring import Scorer, open_scorer, score
from closeread.tasks.tne import tne_jsonl
from closeread.tasks.tne.columns import Documents, SystemRows
from closeread.tasks.tne.procedure import BREAKDOWNS, PROCEDURE, count
from closeread.tasks.tne.stored import StoredDocuments

OPTIONS = PROCEDURE.resolve_options({})
COLUMNS = ("first_char", "last_char", "first_token", "last_token")


@contextmanager
def stored(batch):
    """Store files of any size, and parse that many bytes at a time; larger files are not held in memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_lines, "LARGE", 0)
        patch.setattr(stored_text, "PART", batch)
        patch.setattr(stored_lines, "BATCH", batch)
        yield


def read(file):
    """What a file is read as, or the message that refuses it."""
    try:
        gold = read_own_gold(TNE, file, store=True)
    except InputError as error:
        return str(error)
    return list(gold.records), gold.digest, gold.notices


def whole(**changes):
    """A document that can be read some at a time."""
    return {**with_links((3, "of", 0, 0), (3, "of", 2, 0)), **changes}


def link_all(records):
    """Link each noun phrase to all those of the next cluster, so that the documents are valid."""
    for record in records:
        clusters = record["coref"]
        record["np_relations"] = [
            {"anchor": a, "complement": c, "preposition": "of", "complement_coref_cluster_id": theirs["id"]}
            for own, theirs in pairwise(clusters)
            for a in own["members"]
            for c in theirs["members"]
        ]
    return records


def assert_same_documents(ours, theirs):
    assert list(ours) == list(theirs)
    for name in ("id", "text", "domain", "forum", "tokens", "nps"):
        assert column(ours, name) == column(theirs, name)
    for name in ("document", "anchor", "complement", "label"):
        assert np.array_equal(getattr(ours.links, name), getattr(theirs.links, name))
    for name in (*COLUMNS, "starts", "text", "document"):
        assert np.array_equal(getattr(ours.noun_phrases, name), getattr(theirs.noun_phrases, name))
    for name in ("document", "ids", "kind", "member_of", "member"):
        assert np.array_equal(getattr(ours.clusters, name), getattr(theirs.clusters, name))
    for name in ("sizes", "is_cut", "without_last_token", "in_title", "cluster_of", "token_starts"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))


@given(documents(6), st.sampled_from([1, 600, 2**20]), st.booleans(), st.data())
@settings(max_examples=25)
def test_stored_documents_are_those_of_a_small_file(tmp_path_factory, records, batch, ends, data):
    file = tmp_path_factory.mktemp("gold") / "gold.jsonl"
    put(file, json_lines.dump(link_all(records))[: None if ends else -1])
    plain = read_own_gold(TNE, file, store=True)
    with stored(batch):
        found = read_own_gold(TNE, file, store=True)
        assert isinstance(found.records, StoredDocuments)
        assert_same_documents(found.records, Documents(list(plain.records)))
        assert (found.digest, found.notices) == (plain.digest, plain.notices)
        places = data.draw(st.lists(st.integers(-len(records), len(records) - 1)))
        assert [found.records[place] for place in places] == [plain.records[place] for place in places]
        assert list(found.records[1:]) == list(plain.records[1:])
        rows = [{"id": record["id"], "relations": record["np_relations"][::2]} for record in records]
        tables = [count(gold=g.records, system=SystemRows(rows), breakdowns=tuple(BREAKDOWNS)) for g in (found, plain)]
        assert np.array_equal(tables[0].values, tables[1].values)
        for one, other in zip(*(table.breakdowns.values() for table in tables), strict=True):
            assert [np.array_equal(a, b) for a, b in zip(vars(one).values(), vars(other).values(), strict=True)]


@for_each("place", [0, 1, 2])
@for_each(
    "line",
    [
        json_lines.dump([document(np_relations=...)]).strip(),
        json_lines.dump([document(coref=None)]).strip(),
        json_lines.dump([{**whole(), "id": "b"}]).strip(),
        json_lines.dump([whole(id="c", extra=1)]).strip(),
        json_lines.dump([with_links((3, "of", 0, 0))]).strip(),
        json_lines.dump([whole(id="c", domain="books")]).strip(),
        json_lines.dump([whole(id="c\x7f")]).strip(),
        json_lines.dump([whole(id="c")]).strip().replace('"first_token": 0', '"first_token": 0.0'),
        *("", "[]", "{", "\ufeff{}", "{}", '{"id": 1}', "\xff", '{"id": "c", "id": "c"}', "NaN", "null", "[" * 200),
    ],
)
def test_files_are_read_or_refused_as_small_ones(file, line, place):
    lines = [json_lines.dump([whole(id=name)]).strip() for name in "ab"]
    lines.insert(place, line)
    for text in ("\n".join(lines), "\r\n".join(lines) + "\r\n"):
        put(file, text.encode("latin-1", "ignore") if line == "\xff" else text)
        plain = read(file)
        for batch in (1, 2**20):
            with stored(batch):
                assert read(file) == plain


ROWS = st.sampled_from([*submit(), *submit([{"anchor": "np0", "complement": "np1", "preposition": "of"}])[:1]])
ODD = st.sampled_from(
    ["", "{}", '{"id": "s1"}', '{"id": "x", "relations": []}', "[]", '{"id": "s1", "relations": [1]}']
)


@given(st.lists(ROWS.map(lambda row: json_lines.dump([row]).strip()) | ODD, max_size=len(IDS)), st.booleans())
@settings(max_examples=25)
def test_submissions_are_read_or_refused_as_small_ones(tmp_path_factory, some, is_whole):
    file = tmp_path_factory.mktemp("system") / "system.jsonl"
    put(file, "\n".join([*(json_lines.dump(submit()).splitlines() if is_whole else []), *some]) or "{}")
    scorer = Scorer(PROCEDURE, OPTIONS, read_gold(TNE, "sample"))

    def submitted():
        try:
            return scorer.tabulate(scorer.read(file).rows).values.tolist()
        except InputError as error:
            return str(error)

    plain = submitted()
    for batch in (1, 2**20):
        with stored(batch):
            assert submitted() == plain


def test_scores_and_signature_of_stored_files(tmp_path):
    records = [whole(id=name) for name in "abcdef"]
    gold = put(tmp_path / "gold.jsonl", json_lines.dump(records))
    link = {"anchor": "np3", "complement": "np0", "preposition": "of"}
    fallback = [{"anchor": "np3", "complement": "np2", "preposition": "in"}]
    rows = [{"id": name, "relations": [link], "fallback": fallback} for name in "abcdef"]
    system = put(tmp_path / "system.jsonl", json_lines.dump(rows))
    plain = score("tne", system, gold=gold, by=("expressed", "sentence", "domain"))
    with stored(1):
        assert score("tne", system, gold=gold, by=("expressed", "sentence", "domain")) == plain
    assert plain.scores["links/recall"].value == 0.5
    assert plain.scores["uprep"].value == 0


def test_a_file_that_changes_is_told(tmp_path):
    gold = put(tmp_path / "gold.jsonl", json_lines.dump([whole(id=name) for name in "ab"]))
    with stored(1):
        records = read_own_gold(TNE, gold, store=True).records
        assert records[1]["id"] == "b"
        put(gold, json_lines.dump([whole(id=name) for name in "abc"]))
        with pytest.raises(InputError, match=r"gold\.jsonl: has changed while it was used"):
            list(records)


def test_rows_of_large_files_are_no_objects(tmp_path, monkeypatch):
    """Rows are stored only if nothing is wrong, and records are parsed again only when asked for."""
    system = put(tmp_path / "system.jsonl", json_lines.dump(submit()))
    scorer = Scorer(PROCEDURE, OPTIONS, read_gold(TNE, "sample"))
    with stored(1):
        rows = scorer.read(system).rows
        assert isinstance(rows, SystemRows)
        monkeypatch.setattr(stored_lines.StoredRecords, "batches", None)
        assert isinstance(rows.rows, stored_lines.StoredRecords)
        assert scorer.tabulate(rows).values[:, 1].sum() == 0
        assert rows[0] == submit()[0]


def test_what_does_not_score_parses_a_file_once(tmp_path, monkeypatch):
    records = [whole(id=name) for name in "abcdef"]
    gold = put(tmp_path / "test.jsonl.gz", gzip.compress(json_lines.dump(records).encode()))
    parse, parsed = tne_jsonl.parse_each, []

    def count_lines(*arguments):
        for line in parse(*arguments):
            parsed.append(line)
            yield line

    monkeypatch.setattr(tne_jsonl, "parse_each", count_lines)
    for work in (
        lambda: count_corpus("tne", data_dir=tmp_path),
        lambda: closeread.baseline("tne", "surface", gold=gold),
        lambda: open_scorer("tne", Place(gold=gold)),
    ):
        parsed.clear()
        with stored(1):
            assert work()
        assert len(parsed) == len(records)
