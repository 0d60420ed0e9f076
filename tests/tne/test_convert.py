"""Predictions for TNE from links to the leaderboard's arrays and back, and what is lost."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.json_lines import read, write
from shared.tne_annotated import document as make_document
from shared.tne_documents import SIDE, relations
from shared.tne_links import link

from closeread.tasks.tne.closure import close_links

SAMPLE = ["--config", "sample"]
SIZES = {"s1": 13, "s2": 14, "s3": 10, "s4": 11}


LINKS = {
    "s1": [link(0, "near", 1), link(5, "outside", 6), link(12, "of", 0)],
    "s2": [link(2, "around", 13), link(2, "of", 1)],
    "s3": [],
    "s4": [link(10, "member(s) of", 9)],
}


def rows(**more):
    return [{"id": name, "relations": links, **more.get(name, {})} for name, links in LINKS.items()]


def in_order(records):
    return [{**record, "relations": sorted(record["relations"], key=str)} for record in records]


def test_to_arrays_and_back(ran, run):
    write("mine.jsonl", rows()[::-1])
    result = run("convert", "tne", "mine.jsonl", *SAMPLE, "--to", "arrays", "-o", "arrays.jsonl")
    assert result.stdout == "arrays.jsonl: 4 documents\n"
    assert result.stderr == ""
    arrays = [record["predicted_prepositions"] for record in read("arrays.jsonl")]
    assert [len(array) for array in arrays] == [size * size for size in SIZES.values()]
    # The official evaluator's numbers of near, outside, of, around and member(s) of, at anchor * k + complement.
    assert [{place: label for place, label in enumerate(array) if label} for array in arrays] == [
        {1: 18, 5 * 13 + 6: 22, 12 * 13: 1}, {2 * 14 + 13: 24, 2 * 14 + 1: 1}, {}, {10 * 11 + 9: 9},
    ]  # fmt: skip
    assert ran("convert", "tne", "arrays.jsonl", *SAMPLE, "--to", "jsonl", "-o", "back.jsonl")
    assert in_order(read("back.jsonl")) == in_order(rows())
    ran("convert", "tne", "back.jsonl", *SAMPLE, "--to", "arrays", "-o", "again.jsonl")
    assert Path("again.jsonl").read_bytes() == Path("arrays.jsonl").read_bytes()
    ran("convert", "tne", "arrays.jsonl", *SAMPLE, "--to", "arrays", "-o", "same.jsonl")
    assert Path("same.jsonl").read_bytes() == Path("arrays.jsonl").read_bytes()


def test_what_arrays_can_not_hold_is_told(ran, run):
    several = {
        "relations": [link(0, "near", 1), link(0, "of", 1), link(0, "in", 1), link(1, "of", 0)]
    }
    fallback = {"fallback": [link(2, "of", 3), link(2, "of", 4)]}
    write("mine.jsonl", rows(s3=several | fallback, s4={"fallback": None}))
    result = run("convert", "tne", "mine.jsonl", *SAMPLE, "--to", "arrays", "-o", "arrays.jsonl")
    assert result.stderr.splitlines() == [
        "note: 2 of 10 links are lost: an array holds only the first preposition of a pair.",
        "note: 2 fallbacks are lost: arrays can't hold them.",
    ]
    array = read("arrays.jsonl")[2]["predicted_prepositions"]
    assert (array[1], array[10], sum(array)) == (18, 1, 19)
    result = run("convert", "tne", "mine.jsonl", *SAMPLE, "--to", "jsonl", "-o", "same.jsonl")
    assert (result.exit_code, result.stderr) == (0, "")
    assert read("same.jsonl") == read("mine.jsonl")


def test_gold_of_ones_own_needs_no_links(ran):
    write("gold.jsonl", [make_document("d", "a b", None)])
    write("mine.jsonl", [{"id": "d", "relations": [link(1, "of", 0)]}])
    ran(
        "convert",
        "tne",
        "mine.jsonl",
        "--gold",
        "gold.jsonl",
        "--to",
        "arrays",
        "-o",
        "arrays.jsonl",
    )
    assert read("arrays.jsonl") == [{"predicted_prepositions": [0, 0, 1, 0]}]


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (rows()[:3], "1 of 4 ids has no prediction: 's4'"),
        (
            rows(s3={"relations": [link(0, "of", 10)]}),
            "complement 'np10' does not exist (expected one of its 10 noun",
        ),
        ([{"predicted_prepositions": []}] * 4, "predicted_prepositions has 0 labels (expected 169"),
    ],
)
def test_bad_predictions_are_refused(run, tmp_path, monkeypatch, records, message):
    monkeypatch.chdir(tmp_path)
    write("mine.jsonl", records)
    for form in ("arrays", "jsonl"):
        result = run("convert", "tne", "mine.jsonl", *SAMPLE, "--to", form, "-o", "out.jsonl")
        assert result.exit_code == 1
        assert message in result.stderr
        assert "--missing" not in result.stderr  # which this command lacks
        assert not Path("out.jsonl").exists()


# Ann (np0) and the baker (np1) are one person, her shop (np2) and it (np3) one thing; the oven is np4.
WORDS = ["Ann", "baker", "shop", "it", "oven"]
CLUSTERS = [["np0", "np1"], ["np2", "np3"], ["np4"]]


def coref(clusters):
    return [
        {"id": f"cc{n}", "members": list(members), "np_type": None}
        for n, members in enumerate(clusters)
    ]


def document(name):
    """An unlabelled document: one word is one noun phrase."""
    return make_document(name, WORDS, None) | {"coref": coref(CLUSTERS)}


@pytest.mark.parametrize(
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
    side=SIDE,
    clusters=st.sampled_from(
        [CLUSTERS, [["np0", "np2", "np3"], ["np1"]], [["np0", "np1", "np2", "np3"]]]
    ),
)
def test_the_twin_spreads_the_same(side, clusters):
    links = relations(dict.fromkeys(side))
    closed = close_links(links, coref(clusters))
    assert {(one["anchor"], one["preposition"], one["complement"]) for one in closed} == twin(
        links, clusters
    )
    assert closed[: len(links)] == links
    assert close_links(closed, coref(clusters)) == closed
    assert len({json.dumps(one) for one in closed}) == len(closed)


@pytest.fixture
def files(here):
    write("documents.jsonl", [document("d"), document("e")])
    rows = [
        {"id": "d", "relations": [link(4, "in", 2)]},
        {"id": "e", "relations": [], "fallback": [link(4, "in", 2)]},
    ]
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
        document("d")
        | {
            "np_relations": [
                {**link(4, "in", n), "complement_coref_cluster_id": "cc1"} for n in (2, 3)
            ]
        },
        document("e") | {"np_relations": []},
    ]
    ran("convert", "tne", *files, "--close", "--to", "arrays", "-o", "arrays.jsonl")
    array = read("arrays.jsonl")[0]["predicted_prepositions"]
    # in
    assert {place: label for place, label in enumerate(array) if label} == {
        4 * 5 + 2: 3,
        4 * 5 + 3: 3,
    }
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


@pytest.mark.parametrize(
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
    done = run(
        "convert", "tne", *files, "--close", "--clusters", "chains.jsonl", "-o", "closed.jsonl"
    )
    assert done.exit_code == 1
    assert [problem for problem in problems if problem not in done.stderr] == []
    assert not Path("closed.jsonl").exists()


def test_links_that_gold_can_not_have(run, files):
    write(
        "mine.jsonl",
        [
            {"id": "d", "relations": [link(4, "in", 2), link(0, "of", 1)]},
            {"id": "e", "relations": []},
        ],
    )
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
    done = run(
        "convert", "tne", *files, "--clusters", "documents.jsonl", "--to", "jsonl", "-o", "x.jsonl"
    )
    assert (done.exit_code, "no effect without --close or --to gold" in done.stderr) == (2, True)
    assert not Path("x.jsonl").exists()
