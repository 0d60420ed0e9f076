"""Links spread over clusters, by hand and as in the release, and gold made of them."""

import json
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.for_each import for_each
from shared.json_lines import read, write
from shared.tne_documents import SIDE, relations
from shared.tne_links import gold_links, link

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.tasks.tne.closure import close_links, close_rows

# Ann (np0) and the baker (np1) are one person, her shop (np2) and it (np3) one thing; the oven is np4.
WORDS = ["Ann", "baker", "shop", "it", "oven"]
CLUSTERS = [["np0", "np1"], ["np2", "np3"], ["np4"]]


def coref(clusters):
    return [{"id": f"cc{n}", "members": list(members), "np_type": None} for n, members in enumerate(clusters)]


def document(name="d", clusters=CLUSTERS):
    """An unlabelled document: one word is one noun phrase."""
    text = " ".join(WORDS)
    starts = [text.index(word) for word in WORDS]
    nps = [
        {
            "id": f"np{i}",
            "text": word,
            "first_char": start,
            "last_char": start + len(word),
            "first_token": i,
            "last_token": i,
        }
        for i, (word, start) in enumerate(zip(WORDS, starts, strict=True))
    ]
    return {"id": name, "text": text, "tokens": WORDS, "nps": nps, "coref": coref(clusters)}


@for_each(
    ("given_links", "added"),
    [
        # The oven of the shop is the oven of it, too; nothing follows for the shop of the oven.
        ([link(4, "in", 2)], [link(4, "in", 3)]),
        ([link(2, "with", 4)], []),
        # Anchors are not spread: the baker of the shop need not be called Ann of the shop.
        ([link(1, "of", 2)], [link(1, "of", 3)]),
        # What is there is not added, and stays first: the first preposition of np4 and np3 is `of`.
        ([link(4, "in", 2), link(4, "in", 3)], []),
        ([link(4, "in", 2), link(4, "of", 3)], [link(4, "in", 3), link(4, "of", 2)]),
        # Nothing is linked to itself, even if its own cluster is the complement.
        ([link(0, "of", 1)], []),
        ([], []),
    ],
)
def test_spread_by_hand(given_links, added):
    assert close_links(given_links, coref(CLUSTERS)) == given_links + added


def twin(links, clusters):
    """All triples that follow, one by one."""
    found = {(one["anchor"], one["preposition"], one["complement"]) for one in links}
    for one in links:
        for members in clusters:
            if one["complement"] in members:
                for other in members:
                    if other != one["anchor"]:
                        found.add((one["anchor"], one["preposition"], other))
    return found


@given(
    side=SIDE, clusters=st.sampled_from([CLUSTERS, [["np0", "np2", "np3"], ["np1"]], [["np0", "np1", "np2", "np3"]]])
)
def test_the_twin_spreads_the_same(side, clusters):
    links = relations(dict.fromkeys(side))
    closed = close_links(links, coref(clusters))
    assert {(one["anchor"], one["preposition"], one["complement"]) for one in closed} == twin(links, clusters)
    assert closed[: len(links)] == links
    assert close_links(closed, coref(clusters)) == closed
    assert len({json.dumps(one) for one in closed}) == len(closed)


@pytest.mark.extended
def test_released_links_follow_from_one_for_each_cluster(corpora):
    released = list(islice(read_gold(load_corpus("tne"), "default", "validation").records, 20))
    rows = []
    for record in released:
        one_each = {
            (one["anchor"], one["complement_coref_cluster_id"], one["preposition"]): one
            for one in record["np_relations"]
        }
        links = gold_links({"np_relations": list(one_each.values())})
        rows.append({"id": record["id"], "relations": links})
    for record, row in zip(released, close_rows(rows, released), strict=True):
        assert sorted(map(json.dumps, row["relations"])) == sorted(map(json.dumps, gold_links(record)))
    assert sum(len(row["relations"]) for row in rows) < sum(len(gold_links(record)) for record in released)


@pytest.fixture
def files(here):
    write("documents.jsonl", [document("d"), document("e")])
    rows = [{"id": "d", "relations": [link(4, "in", 2)]}, {"id": "e", "relations": [], "fallback": [link(4, "in", 2)]}]
    write("mine.jsonl", rows)
    return ["mine.jsonl", "--gold", "documents.jsonl"]


def test_spread_and_made_gold_on_the_command_line(ran, files):
    said = ran("convert", "tne", *files, "--close", "-o", "closed.jsonl")
    assert said == "closed.jsonl: 2 documents; 1 link given, 1 added\n"
    assert read("closed.jsonl") == [
        {"id": "d", "relations": [link(4, "in", 2), link(4, "in", 3)]},
        {"id": "e", "relations": [], "fallback": [link(4, "in", 2)]},
    ]
    ran("convert", "tne", *files, "--close", "--to", "gold", "-o", "gold.jsonl")
    assert read("gold.jsonl") == [
        document("d") | {"np_relations": [{**link(4, "in", n), "complement_coref_cluster_id": "cc1"} for n in (2, 3)]},
        document("e") | {"np_relations": []},
    ]
    ran("convert", "tne", *files, "--close", "--to", "arrays", "-o", "arrays.jsonl")
    array = read("arrays.jsonl")[0]["predicted_prepositions"]
    assert {place: label for place, label in enumerate(array) if label} == {4 * 5 + 2: 3, 4 * 5 + 3: 3}  # in
    # One of two links, then both.
    for name, recall in (("mine", 1 / 2), ("closed", 1)):
        score = ran("score", "tne", f"{name}.jsonl", "--gold", "gold.jsonl", "--json", "--no-ci")
        assert json.loads(score)["scores"]["links/recall"]["value"] == recall


def test_clusters_of_a_system(ran, files):
    theirs = [["np0", "np1"], ["np2"], ["np3", "np4"]]
    write("chains.jsonl", [{"id": name, "coref": coref(theirs)} for name in "ed"])
    ran("convert", "tne", *files, "--close", "--clusters", "chains.jsonl", "-o", "closed.jsonl")
    assert read("closed.jsonl")[0]["relations"] == [link(4, "in", 2)]
    ran("convert", "tne", *files, "--clusters", "chains.jsonl", "--to", "gold", "-o", "gold.jsonl")
    assert read("gold.jsonl")[0]["coref"] == coref(theirs)


@for_each(
    ("clusters", "problems"),
    [
        (
            [{"id": "d", "coref": coref([["np0", "np9"]])}, {"id": "e"}],
            [
                "id 'e': coref is missing (expected clusters)",
                "id 'd': coref: cc0 has the member np9 (expected np0 to np4)",
                "id 'd': coref: np1 is in no cluster (expected exactly one cluster)",
            ],
        ),
        (
            [{"id": "d", "coref": coref(CLUSTERS)}],
            ["chains.jsonl lacks 1 of the 2 documents of gold: 'e'"],
        ),
    ],
)
def test_bad_clusters(run, files, clusters, problems):
    write("chains.jsonl", clusters)
    done = run("convert", "tne", *files, "--close", "--clusters", "chains.jsonl", "-o", "closed.jsonl")
    assert done.exit_code == 1
    assert [problem for problem in problems if problem not in done.stderr] == []
    assert not Path("closed.jsonl").exists()


def test_links_that_gold_can_not_have(run, files):
    write("mine.jsonl", [{"id": "d", "relations": [link(4, "in", 2), link(0, "of", 1)]}, {"id": "e", "relations": []}])
    done = run("convert", "tne", *files, "--to", "gold", "-o", "gold.jsonl")
    assert done.exit_code == 1
    assert done.stderr.splitlines() == [
        "Error: mine.jsonl: 2 problems:",
        "mine.jsonl: id 'd': np_relations[1] (np0 of np1): anchor and complement are both in cc0 "
        "(expected two clusters)",
        "mine.jsonl: id 'd': np_relations[0] (np4 in np2): there is no such link to np3 "
        "(expected links to all 2 members of the complement's cluster, cc1)",
    ]
    assert not Path("gold.jsonl").exists()


def test_options_that_belong_together(run, files):
    done = run("convert", "tne", *files, "-o", "x.jsonl")
    assert (done.exit_code, "--to or --close is needed to write a file" in done.stderr) == (2, True)
    done = run("convert", "tne", *files, "--clusters", "documents.jsonl", "--to", "jsonl", "-o", "x.jsonl")
    assert (done.exit_code, "no effect without --close or --to gold" in done.stderr) == (2, True)
    assert not Path("x.jsonl").exists()
