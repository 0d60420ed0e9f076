"""`closeread score timeline --explain`: what became of every relation, and why."""

import csv
import io
import json
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.for_each import for_each
from shared.timelines import entries

from closeread.tasks.timeline.explain import HEADER, NOTES, explain, row, title
from closeread.tasks.timeline.kernels.timelines import COUNTS, TRACKS, timeline_counts

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
    ["gold", "1-1-a", "BEFORE", "1-2-b", "entailed", "system: 1-1-a BEFORE 1-3-c, 1-3-c BEFORE 1-2-b"],
    ["gold", "1-2-b", "BEFORE", "1-3-c", "contradicted", "system: 1-3-c BEFORE 1-2-b"],
    ["system", "1-1-a", "SIMULTANEOUS", "2001", "verified", ""],
    ["system", "1-3-c", "SIMULTANEOUS", "2003", "verified", ""],
    ["system", "1-2-b", "SIMULTANEOUS", "2002", "verified", ""],
    ["system", "1-9-x", "SIMULTANEOUS", "2004", "missing", LACK.format("gold", "1-9-x, 2004")],
    ["system", "1-1-a", "BEFORE", "1-3-c", "entailed", "gold: 1-1-a BEFORE 1-2-b, 1-2-b BEFORE 1-3-c"],
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
    ["system", "1-3-c", "SIMULTANEOUS", "XXXX-XX-XX", "missing", LACK.format("gold", "1-3-c, XXXX-XX-XX")],
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
            Path(name, f"{entity}.txt").write_text("".join(f"{line}\n" for line in (entity.title(), *lines)), "utf-8")


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
    assert found == [[name, *one] for name, expected in (("ann", ANN), ("bo", BO), ("di", DI)) for one in expected]


def test_a_long_table_is_cut_and_says_so(told, monkeypatch):
    _, *rows = rows_of(told(*SCORE, "--explain", "--format", "csv"))
    longest = max(Counter(row[0] for row in rows).values())
    assert "more: see" not in told(*SCORE, "--explain")
    monkeypatch.setattr("closeread.operations.score.SHOWN", longest - 1)
    assert "1 more row: see --json and --format csv." in told(*SCORE, "--explain")
    assert rows_of(told(*SCORE, "--explain", "--format", "csv"))[1:] == rows


def test_a_table_for_every_timeline(told, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # no reason is wrapped
    text = told(*SCORE, "--explain")
    titles = [line for line in text.split("\n") if " gold relations and " in line]
    assert titles == [
        "ann: 4 of 6 gold relations and 4 of 7 system relations are verified or entailed",
        "bo: 3 of 3 gold relations and 3 of 5 system relations are verified or entailed",
        "di: 0 of 2 gold relations and 0 of 0 system relations are verified or entailed",
    ]
    for name, expected in (("ann", ANN), ("bo", BO)):
        table = text[text.index(f"{name}: ") :].split("\n\n")[1].split("\n")
        assert table[0].split() == list(HEADER)
        for line, cells in zip(table[2:], expected, strict=True):
            assert " ".join(line.split()) == " ".join(filter(None, cells))
    assert [text.count(note) for note in NOTES] == [1, 1, 1, 1]
    assert text.endswith(told(*SCORE)), "the scores come last"


def test_the_score_stays_what_it_is(told):
    with_words, without = (json.loads(told(*SCORE, "--json", *words)) for words in (["--explain"], []))
    explanations = with_words.pop("explanations")
    assert with_words == without
    assert [one["timeline"] for one in explanations] == ["ann", "bo", "di"]


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
            "first": [{"relation": "BEFORE", "one": a, "other": c}, {"relation": "BEFORE", "one": c, "other": b}],
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
            assert verdicts[side, "verified"] + verdicts[side, "entailed"] == unit[f"awareness/verified_of_{side}"]


def test_the_track_is_that_of_the_score(told):
    found = rows_of(told(*SCORE, "--explain", "--format", "csv", "--track", "ordering"))[1:]
    assert [one[1:] for one in found if one[0] == "ann"] == [
        ["gold", "1-1-a", "BEFORE", "1-2-b", "entailed", "system: 1-1-a BEFORE 1-3-c, 1-3-c BEFORE 1-2-b"],
        ["gold", "1-2-b", "BEFORE", "1-3-c", "contradicted", "system: 1-3-c BEFORE 1-2-b"],
        ["gold", "1-3-c", "SIMULTANEOUS", "1-4-d", "missing", LACK.format("system", "1-4-d")],
        ["system", "1-1-a", "BEFORE", "1-3-c", "entailed", "gold: 1-1-a BEFORE 1-2-b, 1-2-b BEFORE 1-3-c"],
        ["system", "1-3-c", "BEFORE", "1-2-b", "contradicted", "gold: 1-2-b BEFORE 1-3-c"],
        ["system", "1-2-b", "BEFORE", "1-9-x", "missing", LACK.format("gold", "1-9-x")],
    ]


def test_what_is_not_counted_is_not_explained(told):
    skipped = json.loads(told(*SCORE, "--json", "--explain", "--missing", "skip"))
    assert [one["timeline"] for one in skipped["explanations"]] == ["ann", "bo"]
    Path("sent/cy.txt").write_text("Cy\n1\t2001\t1-1-a\n", "utf-8")
    empty = json.loads(told(*SCORE, "--json", "--explain"))
    assert [one["timeline"] for one in empty["explanations"]] == ["ann", "bo", "di"]


def test_other_styles(told):
    text = told(*SCORE, "--explain", "--format", "markdown")
    assert "**ann: 4 of 6 gold relations" in text
    assert text.count("| entailed") == 2
    assert "order: 1-4-d" in told(*SCORE, "--explain", "--format", "latex")


def test_csv_is_one_table(files, run):
    result = run(*SCORE, "--explain", "--per-unit", "--format", "csv")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "CSV has only one table; omit --per-unit or --explain" in result.stderr


@for_each("procedure", ["mctaco", "wikipossessions", "tne", "coref"])
def test_only_where_there_is_something_to_explain(run, procedure):
    result = run("score", procedure, "x", "y", "--explain")
    assert result.exit_code == 2
    assert "No such option" in result.stderr
    assert "--explain" not in run("score", procedure, "--help").stdout
    assert "--explain" in run("score", "semeval2015_timeline", "--help").stdout


def chained(n):
    """What gold's only relation of neighbours, a before z, follows from where the system has n others between."""
    gold = entries([(1, "2001", ["a"]), (2, "2999", ["z"])])
    middle = [(i, f"{2000 + i}", [f"m{i}"]) for i in range(2, n + 2)]
    system = entries([(1, "2001", ["a"]), *middle, (n + 2, "2999", ["z"])])
    found = explain({"entries": gold}, {"entries": system}, {"track": "full"})
    (entailed,) = [one for one in found if one["verdict"] == "entailed"]
    return entailed


def test_long_chains_are_cut_in_the_middle():
    assert {name: len(part) for name, part in chained(9)["evidence"].items() if name != "left_out"} == {
        "first": 10,
        "last": 0,
    }
    evidence = chained(14)["evidence"]  # fifteen steps
    assert evidence["left_out"] == 5
    ends = [[(r["one"]["text"], r["other"]["text"]) for r in evidence[name]] for name in ("first", "last")]
    assert ends == [
        [("a", "m2"), ("m2", "m3"), ("m3", "m4"), ("m4", "m5"), ("m5", "m6")],
        [("m11", "m12"), ("m12", "m13"), ("m13", "m14"), ("m14", "m15"), ("m15", "z")],
    ]
    first, last = (", ".join(f"{one} BEFORE {other}" for one, other in part) for part in ends)
    assert row(chained(14))[-1] == f"system: {first}, 5 more, {last}"


@pytest.mark.extended
def test_the_size_of_what_is_told_grows_with_the_relations():
    # Every chain of the shuffled side passes others, and all are cut: four times as many take four times the room.
    sizes = []
    for n in (250, 1000):
        numbers = random.Random(1).sample(range(n), n)
        gold, system = (
            entries([(i + 1, f"{1000 + k}", [f"m{k}"]) for i, k in enumerate(side)]) for side in (range(n), numbers)
        )
        found = explain({"entries": gold}, {"entries": system}, {"track": "full"})
        sizes.append(len(json.dumps(found)))
    assert sizes[1] < 5 * sizes[0]


@for_each("track", TRACKS)
def test_many_relations_at_one_time_are_cut_too(track):
    n = 400
    gold = entries([(1, "2001", [f"{k:03}"]) for k in range(n)])
    system = entries([(1, "2001" if track == "full" else f"{k}", [f"{k * 7 % n:03}"]) for k in range(n)])
    for one in explain({"entries": gold}, {"entries": system}, {"track": track}):
        assert one["verdict"] in ("verified", "entailed")
        assert len(one["evidence"]["first"]) + len(one["evidence"]["last"]) <= 10


def test_neither_said_nor_excluded():
    # The system has a and b after x, and says nothing of the two: their anchor, x's, came back.
    gold = entries([(1, "2001", ["a"]), (2, "2002", ["b"])])
    system = entries([(1, "X", ["x"]), (2, "2001", ["a"]), (3, "X", ["x2"]), (4, "2002", ["b"])])
    found = [row(one) for one in explain({"entries": gold}, {"entries": system}, {"track": "full"})]
    assert found[2] == ["gold", "a", "BEFORE", "b", "missing", "system: not ordered"]


def test_an_empty_anchor_is_named():
    gold = entries([(1, "", ["a"])])
    (found,) = explain({"entries": gold}, None, {"track": "full"})
    assert row(found)[1:4] == ["a", "SIMULTANEOUS", "no anchor"]


ENTRY = st.tuples(
    st.integers(0, 4),
    st.sampled_from(["2010", "2011", "XXXX-XX-XX", ""]),
    st.lists(st.sampled_from("abcdef"), min_size=1, max_size=2),
)


@given(st.lists(ENTRY, max_size=6), st.lists(ENTRY, max_size=6), st.sampled_from(TRACKS))
def test_titles_are_the_counts(gold, system, track):
    sides = entries(gold), entries(system)
    counts = dict(zip(COUNTS, timeline_counts(*sides, track).tolist(), strict=True))
    verdicts = explain({"entries": sides[0]}, {"entries": sides[1]}, {"track": track})
    parts = [
        f"{counts[f'awareness/verified_of_{side}']} of {counts[f'awareness/{side}']} {side} relations"
        for side in ("gold", "system")
    ]
    assert title("t", verdicts) == f"t: {parts[0]} and {parts[1]} are verified or entailed"
    assert all(len(row(one)) == len(HEADER) for one in verdicts)


@pytest.mark.extended
@for_each("split", ["trial", "corpus_1", "corpus_2"])
@for_each("track", TRACKS)
def test_released_timelines(corpora, run, split, track, tmp_path):
    """Gold against itself: all is verified as it stands."""
    from closeread.corpus.gold import read_gold
    from closeread.corpus.names import load_corpus
    from closeread.tasks.timeline.timeline_txt import write_folder

    write_folder(read_gold(load_corpus("semeval2015_timeline"), None, split).records, tmp_path)
    arguments = ["score", "timeline", tmp_path, "--split", split, "--track", track, "--explain"]
    result = run(*arguments, "--format", "csv")
    verdicts = Counter(one[5] for one in rows_of(result.stdout)[1:])
    assert set(verdicts) == {"verified"}
    assert verdicts.total() > 200
