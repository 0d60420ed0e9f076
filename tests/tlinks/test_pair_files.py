"""Files of pairs, as TimeBank-Dense, TDDiscourse and MATRES have them: invented ones, and the released ones."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from closeread.tasks.tlinks.pair_files import read_pairs

KEY = """harbour\te1\tt0\tb
harbour\te1\te2\ti
harbour\te2\te3\tb
harbour\te1\te3\tv

market.2\te7\te8\ts
"""
# Of harbour: the first link turned round, one that follows from nothing, and one that is right.
RESPONSE = """market.2\te8\te7\ts\tworld knowledge
harbour\tt0\te1\ta
harbour\te1\te3\tb
harbour\te2\te3\tb
"""
STARTS = """harbour\tsank\tcame\t1\t2\tBEFORE
harbour\tcame\tsaid\t2\t0\tEQUAL
harbour\tsank\tsaid\t1\t3\tVAGUE
"""
TIMEML = """<TimeML><DCT><TIMEX3 tid="t0">May</TIMEX3></DCT><TEXT>It <EVENT eid="e10">sank</EVENT> when he
<EVENT eid="e20">came</EVENT>, she <EVENT eid="e30">said</EVENT>.</TEXT>
<MAKEINSTANCE eiid="ei1" eventID="e10"/><MAKEINSTANCE eiid="ei2" eventID="e20"/>
<MAKEINSTANCE eiid="ei3" eventID="e30"/>
<TLINK eventInstanceID="ei1" relatedToEventInstance="ei2" relType="{relation}"/></TimeML>
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("key.tsv").write_text(KEY)
    Path("response.txt").write_text(RESPONSE)
    Path("starts.txt").write_text(STARTS)


def scores(ran, *command):
    found = json.loads(ran("score", "tlinks", *command, "--json", "--no-ci"))["scores"]
    return [found[f"awareness/{name}"]["value"] for name in ("precision", "recall")]


def test_documents_are_matched_by_name(ran, run, files):
    # Key: 3 links and 1.  Response: 3 links and 1, of which "e1 before e3" does not follow; all but "e1 includes e2" of
    # the key's are there.
    assert scores(ran, "key.tsv", "response.txt") == [3 / 4, 3 / 4]
    notes = run("score", "tlinks", "key.tsv", "response.txt", "--no-ci").stderr
    assert notes == "note: key.tsv: 1 link without a relation (VAGUE or NONE); not counted\n"
    Path("packed.tsv.gz").write_bytes(gzip.compress(KEY.encode()))
    assert scores(ran, "packed.tsv.gz", "response.txt") == [3 / 4, 3 / 4]


def test_documents_that_one_side_lacks(ran, run, files):
    Path("response.txt").write_text(RESPONSE.partition("\n")[2] + "inn\te1\te2\ta\n")
    done = run("score", "tlinks", "key.tsv", "response.txt")
    assert "response.txt: document 'inn' is not in the key" in done.stderr
    assert scores(ran, "key.tsv", "response.txt", "--extra", "skip") == [2 / 3, 2 / 4]


def test_matres_says_where_events_start(ran, run, files):
    """A folder of TimeML entails what MATRES says if it says more; BEFORE is not what MATRES means by it."""
    for relation, right in (("BEFORE", 1), ("INCLUDES", 1), ("AFTER", 0), ("BEGINS", 0)):
        Path("tml").mkdir(exist_ok=True)
        Path("tml/harbour.tml").write_text(TIMEML.format(relation=relation))
        # Two links of the key state a relation.
        assert scores(ran, "starts.txt", "tml")[1] == right / 2
        # The start of an event does not tell where it ends.
        assert scores(ran, "tml", "starts.txt")[1] == 0
    note = "note: starts.txt: 1 link of an event 0, read as the creation time, t0\n"
    assert note in run("score", "tlinks", "starts.txt", "tml", "--no-ci").stderr


def test_events_by_their_own_ids(ran, files):
    """TimeBank-Dense has ids of events, TimeML's links those of instances."""
    Path("tml").mkdir()
    Path("tml/harbour.tml").write_text(TIMEML.format(relation="BEFORE"))
    Path("dense.txt").write_text("harbour\te20\te10\ta\n")
    assert scores(ran, "tml", "dense.txt") == [1, 1]
    assert scores(ran, "dense.txt", "tml") == [1, 1]


def test_what_is_wrong_with_a_file(run, files):
    Path("bad.tsv").write_text(
        "harbour\te1\te2\n"
        "harbour\te1\te2\tx\n"
        "\te1\te2\ta\n"
        "harbour\tcame\te2\ta\n"
        "harbour\tsank\tcame\te1\t2\tBEFORE\n"
        "harbour\tsank\tcame\tone\t2\tbefore\n"
    )
    done = run("score", "tlinks", "bad.tsv", "response.txt")
    forms = "4 or 5: document, source, target and relation; or 6, as in MATRES"
    no_id = "is no id of an event or a time (expected such as e1 or t0)"
    assert done.stderr.splitlines()[-6:] == [
        f"bad.tsv:1: has 3 columns (expected {forms})",
        "bad.tsv:2: the relation is 'x' (expected one of a, b, i, ii, s, v)",
        "bad.tsv:3: has no name of a document",
        f"bad.tsv:4: 'came' {no_id}",
        "bad.tsv:6: the relation is 'before' (expected one of BEFORE, AFTER, EQUAL, VAGUE)",
        f"bad.tsv:6: 'one' {no_id}",
    ]
    Path("empty.txt").write_text("\n")
    done = run("score", "tlinks", "key.tsv", "empty.txt")
    assert done.stderr.endswith("empty.txt: has no pairs\n")


def test_pairs_have_no_text_and_are_no_single_document(run, files):
    done = run("score", "tlinks", "key.tsv", "response.txt", "--matching", "strict")
    assert "key.tsv is a file of pairs, which has no text to match by" in done.stderr
    Path("one.tml").write_text(TIMEML.format(relation="BEFORE"))
    done = run("score", "tlinks", "key.tsv", "one.tml")
    assert "one.tml: is a file but the key is a file of pairs" in done.stderr


FACTS = {
    "MATRES/timebank.txt": (182, 6_336, {"STARTS_BEFORE": 3_229, "STARTS_EQUAL": 208}),
    "MATRES/aquaint.txt": (73, 6_404, {"STARTS_BEFORE": 3_233, "STARTS_EQUAL": 232}),
    "MATRES/platinum.txt": (20, 837, {"STARTS_BEFORE": 424, "STARTS_EQUAL": 31}),
    "StructTempRel-EMNLP17/data/TempEval3/TimebankDense.full.txt": (
        36,
        12_715,
        {"VAGUE": 5_910, "BEFORE": 2_590, "AFTER": 2_104, "SIMULTANEOUS": 215},
    ),
    "TDDiscourse/TDDMan/TDDManTrain.tsv": (21, 4_000, {}),
    "TDDiscourse/TDDMan/TDDManDev.tsv": (4, 650, {}),
    "TDDiscourse/TDDMan/TDDManTest.tsv": (9, 1_500, {}),
    "TDDiscourse/TDDMan/TDDManTestPhenomena.tsv": (3, 107, {}),
    "TDDiscourse/TDDAuto/TDDAutoTrain.tsv": (22, 32_607, {}),
    "TDDiscourse/TDDAuto/TDDAutoTest.tsv": (9, 4_258, {}),
}
"""The numbers of documents and pairs that are in the papers' or the README's tables, or that `cut` and `sort` give."""


@pytest.mark.parametrize("name", FACTS)
def test_released_files(corpora, name):
    path = corpora / "peers" / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    n_documents, n_pairs, relations = FACTS[name]
    documents, _ = read_pairs(path)
    assert len(documents) == n_documents
    links = [link for document in documents.values() for link in document.tlinks]
    assert len(links) == n_pairs
    counts = Counter(link.relation for link in links)
    assert {relation: counts[relation] for relation in relations} == relations
