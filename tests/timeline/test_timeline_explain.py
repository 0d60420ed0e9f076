"""`closeread score timeline --explain`: what became of every relation, and why."""

import csv
import io
import json
from collections import Counter
from pathlib import Path

import pytest
from shared.random_timelines import random_pair
from shared.timelines import entries
from twins import timelines as twin

from closeread.tasks.timeline.explain import HEADER, VERDICTS, explain, find_verdicts, row, title
from closeread.tasks.timeline.relations import TRACKS, timeline_counts

SCORE = ["score", "timeline", "sent", "--gold", "gold", "--no-ci"]

GOLD = {
    "ann": ["1\t2001\t1-1-a", "2\t2002\t1-2-b", "3\t2003\t1-3-c\t1-4-d"],
    "bo": ["1\t2001\t1-1-a", "2\t2001\t1-2-b", "0\tXXXX-XX-XX\t1-3-c"],
    "cy": [],
    "di": ["1\t2001\t1-1-a", "1\t2001\t1-1-a"],
}
SENT = {
    "ann": ["1\t2001\t1-1-a", "2\t2003\t1-3-c", "3\t2002\t1-2-b", "4\t2004\t1-9-x"],
    "bo": ["1\t2001\t1-1-a", "2\t2001\t1-2-b", "3\tXXXX-XX-XX\t1-3-c"],
}
LACK = "not in the {} order: {}"

# By hand.  In ann the system turns b and c round: what follows from its order is a < c < b < x, from gold's a < b < c.
ANN = [
    ["gold", "1-1-a", "SIMULTANEOUS", "2001", "verified", ""],
    ["gold", "1-2-b", "SIMULTANEOUS", "2002", "verified", ""],
    ["gold", "1-3-c", "SIMULTANEOUS", "2003", "verified", ""],
    ["gold", "1-4-d", "SIMULTANEOUS", "2003", "missing", LACK.format("system", "1-4-d")],
    [
        "gold",
        "1-1-a",
        "BEFORE",
        "1-2-b",
        "entailed",
        "system: 1-1-a BEFORE 1-3-c, 1-3-c BEFORE 1-2-b",
    ],
    ["gold", "1-2-b", "BEFORE", "1-3-c", "contradicted", "system: 1-3-c BEFORE 1-2-b"],
    ["system", "1-1-a", "SIMULTANEOUS", "2001", "verified", ""],
    ["system", "1-3-c", "SIMULTANEOUS", "2003", "verified", ""],
    ["system", "1-2-b", "SIMULTANEOUS", "2002", "verified", ""],
    ["system", "1-9-x", "SIMULTANEOUS", "2004", "missing", LACK.format("gold", "1-9-x, 2004")],
    [
        "system",
        "1-1-a",
        "BEFORE",
        "1-3-c",
        "entailed",
        "gold: 1-1-a BEFORE 1-2-b, 1-2-b BEFORE 1-3-c",
    ],
    ["system", "1-3-c", "BEFORE", "1-2-b", "contradicted", "gold: 1-2-b BEFORE 1-3-c"],
    ["system", "1-2-b", "BEFORE", "1-9-x", "missing", LACK.format("gold", "1-9-x")],
]
# Both sides say that a and b have one anchor and that a is before b, which contradicts it.
OWN = "contradicts earlier {} relations: 1-1-a SIMULTANEOUS 2001, 1-2-b SIMULTANEOUS 2001"
BO = [
    ["gold", "1-1-a", "SIMULTANEOUS", "2001", "verified", ""],
    ["gold", "1-2-b", "SIMULTANEOUS", "2001", "verified", ""],
    ["gold", "1-1-a", "BEFORE", "1-2-b", "verified", OWN.format("gold")],
    ["system", "1-1-a", "SIMULTANEOUS", "2001", "verified", ""],
    ["system", "1-2-b", "SIMULTANEOUS", "2001", "verified", ""],
    [
        "system",
        "1-3-c",
        "SIMULTANEOUS",
        "XXXX-XX-XX",
        "missing",
        LACK.format("gold", "1-3-c, XXXX-XX-XX"),
    ],
    ["system", "1-1-a", "BEFORE", "1-2-b", "verified", OWN.format("system")],
    ["system", "1-2-b", "BEFORE", "1-3-c", "missing", LACK.format("gold", "1-3-c")],
]
DI = [
    ["gold", "1-1-a", "SIMULTANEOUS", "2001", "missing", LACK.format("system", "1-1-a, 2001")],
    [
        "gold",
        "1-1-a (copy 2)",
        "SIMULTANEOUS",
        "2001",
        "missing",
        LACK.format("system", "1-1-a (copy 2), 2001"),
    ],
]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Gold and what a system sent, as folders."""
    monkeypatch.chdir(tmp_path)
    for name, side in (("gold", GOLD), ("sent", SENT)):
        Path(name).mkdir()
        for entity, lines in side.items():
            Path(name, f"{entity}.txt").write_text(
                "".join(f"{line}\n" for line in (entity.title(), *lines)), "utf-8"
            )


@pytest.fixture
def told(files, run):
    """What a command prints; it must end well."""

    def call(*arguments):
        result = run(*arguments)
        assert result.exit_code == 0, result.stderr
        return result.stdout

    return call


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


def test_a_row_for_every_relation(told):
    header, *found = rows_of(told(*SCORE, "--explain", "--format", "csv"))
    assert header == ["timeline", *HEADER]
    assert found == [
        [name, *one]
        for name, expected in (("ann", ANN), ("bo", BO), ("di", DI))
        for one in expected
    ]


def test_json_holds_all_of_it(told):
    explanations = json.loads(told(*SCORE, "--json", "--explain"))["explanations"]
    found = {one["timeline"]: one["explained"] for one in explanations}
    assert [row(verdict) for verdict in found["ann"]] == ANN
    a, b, c = ({"kind": "mention", "text": text, "copy": 0} for text in ("1-1-a", "1-2-b", "1-3-c"))
    assert found["ann"][4] == {
        "side": "gold",
        "relation": {"relation": "BEFORE", "one": a, "other": b},
        "verdict": "entailed",
        "evidence": {
            "first": [
                {"relation": "BEFORE", "one": a, "other": c},
                {"relation": "BEFORE", "one": c, "other": b},
            ],
            "left_out": 0,
            "last": [],
        },
        "absent": [],
        "excluded_by": {"first": [], "left_out": 0, "last": []},
    }
    year = {"kind": "anchor", "text": "2001", "copy": 0}
    assert found["di"][1]["absent"] == [{**a, "copy": 1}, year]
    ends = [{"relation": "SIMULTANEOUS", "one": one, "other": year} for one in (a, b)]
    assert found["bo"][2]["excluded_by"] == {"first": ends, "left_out": 0, "last": []}
    with_units = json.loads(told(*SCORE, "--json", "--explain", "--per-unit"))
    assert with_units["explanations"] == explanations
    for unit in with_units["units"]:
        verdicts = Counter((one["side"], one["verdict"]) for one in found[unit["timeline"]])
        for side in ("gold", "system"):
            assert (
                verdicts[side, "verified"] + verdicts[side, "entailed"]
                == unit[f"awareness/verified_of_{side}"]
            )


def test_the_track_is_that_of_the_score(told):
    found = rows_of(told(*SCORE, "--explain", "--format", "csv", "--track", "ordering"))[1:]
    assert [one[1:] for one in found if one[0] == "ann"] == [
        [
            "gold",
            "1-1-a",
            "BEFORE",
            "1-2-b",
            "entailed",
            "system: 1-1-a BEFORE 1-3-c, 1-3-c BEFORE 1-2-b",
        ],
        ["gold", "1-2-b", "BEFORE", "1-3-c", "contradicted", "system: 1-3-c BEFORE 1-2-b"],
        ["gold", "1-3-c", "SIMULTANEOUS", "1-4-d", "missing", LACK.format("system", "1-4-d")],
        [
            "system",
            "1-1-a",
            "BEFORE",
            "1-3-c",
            "entailed",
            "gold: 1-1-a BEFORE 1-2-b, 1-2-b BEFORE 1-3-c",
        ],
        ["system", "1-3-c", "BEFORE", "1-2-b", "contradicted", "gold: 1-2-b BEFORE 1-3-c"],
        ["system", "1-2-b", "BEFORE", "1-9-x", "missing", LACK.format("gold", "1-9-x")],
    ]


def chained(n):
    """What gold's only relation of neighbours, a before z, follows from where the system has n others between."""
    gold = entries([(1, "2001", ["a"]), (2, "2999", ["z"])])
    middle = [(i, f"{2000 + i}", [f"m{i}"]) for i in range(2, n + 2)]
    system = entries([(1, "2001", ["a"]), *middle, (n + 2, "2999", ["z"])])
    found = explain({"entries": gold}, {"entries": system}, {"track": "full"})
    (entailed,) = [one for one in found if one["verdict"] == "entailed"]
    return entailed


def test_long_chains_are_cut_in_the_middle():
    assert {
        name: len(part) for name, part in chained(9)["evidence"].items() if name != "left_out"
    } == {
        "first": 10,
        "last": 0,
    }
    evidence = chained(14)["evidence"]  # fifteen steps
    assert evidence["left_out"] == 5
    ends = [
        [(r["one"]["text"], r["other"]["text"]) for r in evidence[name]]
        for name in ("first", "last")
    ]
    assert ends == [
        [("a", "m2"), ("m2", "m3"), ("m3", "m4"), ("m4", "m5"), ("m5", "m6")],
        [("m11", "m12"), ("m12", "m13"), ("m13", "m14"), ("m14", "m15"), ("m15", "z")],
    ]
    first, last = (", ".join(f"{one} BEFORE {other}" for one, other in part) for part in ends)
    assert row(chained(14))[-1] == f"system: {first}, 5 more, {last}"


def test_neither_said_nor_excluded():
    # The system has a and b after x, and says nothing of the two: their anchor, x's, came back.
    gold = entries([(1, "2001", ["a"]), (2, "2002", ["b"])])
    system = entries([(1, "X", ["x"]), (2, "2001", ["a"]), (3, "X", ["x2"]), (4, "2002", ["b"])])
    found = [row(one) for one in explain({"entries": gold}, {"entries": system}, {"track": "full"})]
    assert found[2] == ["gold", "a", "BEFORE", "b", "missing", "system: not ordered"]


def test_titles_count_what_is_right():
    # Three events in this order, of which the system has the first two: of gold, the second relation is not verified.
    gold = entries([(1, "2001", ["a"]), (2, "2002", ["b"]), (3, "2003", ["c"])])
    found = explain({"entries": gold}, {"entries": gold[:2]}, {"track": "ordering"})
    assert (
        title("x", found)
        == "x: 1 of 2 gold relations and 1 of 1 system relations are verified or entailed"
    )


def test_an_empty_anchor_is_named():
    gold = entries([(1, "", ["a"])])
    (found,) = explain({"entries": gold}, None, {"track": "full"})
    assert row(found)[1:4] == ["a", "SIMULTANEOUS", "no anchor"]


def counts(gold, system, track="full"):
    return timeline_counts(entries(gold), entries(system), track).tolist()


def as_node(node):
    """A node as the twin has it."""
    return (
        ("mention", (node["text"], node["copy"]))
        if node["kind"] == "mention"
        else ("time", node["text"])
    )


def as_twin(relation):
    """A relation as the twin has it."""
    return (relation["relation"], as_node(relation["one"]), as_node(relation["other"]))


def checked(explanation, own, other, nodes, graph):
    """Whether the verdict is that of the twin, and follows from the evidence and from no less.

    Args:
        explanation: of a relation.
        own, other: all relations of its side, and of the other.
        nodes, graph: the nodes of the other side, and the relations that its order is made of.
    """
    relation, evidence = (
        as_twin(explanation["relation"]),
        [as_twin(r) for r in explanation["evidence"]],
    )
    kind, one, two = relation
    assert [as_node(node) for node in explanation["absent"]] == [
        node for node in (one, two) if node not in nodes
    ]
    literal = [
        r for r in other if r == relation or (kind == twin.SIMULTANEOUS and r == (kind, two, one))
    ]
    assert (explanation["verdict"] == "verified") == bool(literal)
    if literal:
        assert evidence == literal
    else:
        assert set(evidence) <= set(graph)
        for name, follows in (("entailed", twin.entailed), ("contradicted", twin.contradicted)):
            assert (explanation["verdict"] == name) == follows(relation, graph)
            if explanation["verdict"] == name:
                assert follows(relation, evidence)
                assert not any(
                    follows(relation, evidence[:i] + evidence[i + 1 :])
                    for i in range(len(evidence))
                )
    earlier = twin.reduced(own[: own.index(relation)])[1]
    excluded_by = [as_twin(r) for r in explanation["excluded_by"]]
    assert set(excluded_by) <= set(earlier)
    assert (
        twin.contradicted(relation, excluded_by)
        == twin.contradicted(relation, earlier)
        == bool(excluded_by)
    )


@pytest.mark.gate
@pytest.mark.parametrize("track", TRACKS)
def test_explanations_are_those_of_the_twin_and_of_the_counts(track):
    met = set()
    for seed in range(200):
        pair = random_pair(seed, 6 if seed % 5 else 14)
        said = [twin.relations(rows, track) for rows in pair]
        nodes = [
            {node for _, *ends in twin.relations(rows, "full") for node in ends} for rows in pair
        ]
        reduced = [twin.reduced(relations) for relations in said]
        found = list(find_verdicts(*map(entries, pair), track))
        for name, own, other in (("gold", 0, 1), ("system", 1, 0)):
            of_side = [explanation for explanation in found if explanation["side"] == name]
            assert [as_twin(explanation["relation"]) for explanation in of_side] == reduced[own][
                0
            ], "in order"
            for explanation in of_side:
                checked(explanation, said[own], said[other], nodes[other], reduced[other][1])
                met.add(
                    (
                        explanation["verdict"],
                        bool(explanation["excluded_by"]),
                        bool(explanation["absent"]),
                    )
                )
        verified = [e["side"] for e in found if e["verdict"] in ("verified", "entailed")]
        assert [verified.count("system"), verified.count("gold")] == counts(*pair, track)[0:4:2]
    # Without anchors nothing is contradictory, and whatever is on both sides is in an order there.
    kinds = {(verdict, False, False) for verdict in VERDICTS} | {("missing", False, True)}
    if track == "ordering":
        assert met == kinds - {("missing", False, False)}
    else:
        assert met >= kinds | {
            (verdict, True, absent) for verdict, _, absent in kinds - {("missing", False, False)}
        }
