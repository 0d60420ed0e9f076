"""Consolidation of links: by hand, beside a slow twin, decisions of every wrong kind, and files as people edit them."""

import importlib.util
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from closeread.errors import FormatError, RequestError
from closeread.records import Parsed
from closeread.tasks.tne.adjudication import conflicts, consolidated, consolidation, decisions
from closeread.tasks.tne.columns import PREPOSITIONS, documents_of
from closeread.tasks.tne.rules import find_inconsistencies

TESTS = Path(__file__).parent.parent / "tne"


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, TESTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


annotated, small = loaded("annotated"), loaded("tne_documents")
closed, document, json_lines = annotated.closed, annotated.document, annotated.json_lines

WORDS = "house roof it town"
HOUSE, ROOF, IT, TOWN = range(4)
CLUSTERS = [[HOUSE, IT]]


def of(links, name="d", words=WORDS, clusters=CLUSTERS):
    return [document(name, words, links, clusters)]


# The roof of the house: both.  The town: by other prepositions, and to the second annotator only.
ANNA = of([(TOWN, "around", HOUSE), (ROOF, "of", HOUSE), (ROOF, "on", HOUSE), (ROOF, "in", TOWN)])
BEN = of([(ROOF, "of", HOUSE), (ROOF, "near", TOWN), (HOUSE, "in", TOWN), (TOWN, "around", HOUSE)])
NAMES = ["anna", "ben", "cleo"]


def found(*annotators):
    return consolidation(annotators, NAMES[: len(annotators)])


def links_of(record):
    return [(link["anchor"], link["preposition"], link["complement"]) for link in record["np_relations"]]


def by_target(rows):
    return {(row["anchor"], row["complement"]): (row["A"], row["B"]) for row in rows}


def decided(both, rows):
    """Decisions as a file holds them, a row a line."""
    return decisions(both, Parsed(rows, range(1, len(rows) + 1), []))


def test_what_both_have_is_kept_and_the_rest_is_asked():
    both = found(ANNA, BEN)
    (record,) = consolidated(both)
    assert links_of(record) == [
        ("np3", "around", "np0"), ("np3", "around", "np2"), ("np1", "of", "np0"), ("np1", "of", "np2"),
    ]  # fmt: skip
    assert record == {**ANNA[0], "np_relations": record["np_relations"]}
    assert conflicts(both) == [
        {
            "id": "d", "anchor": "np1", "anchor_text": "roof", "anchor_context": "house [roof] it town",
            "complement": "np0", "complement_text": "house", "complement_context": "[house] roof it town",
            "A": ["of", "on"], "B": ["of"], "decision": None,
        },
        {
            "id": "d", "anchor": "np1", "anchor_text": "roof", "anchor_context": "house [roof] it town",
            "complement": "np3", "complement_text": "town", "complement_context": "house roof it [town]",
            "A": ["in"], "B": ["near"], "decision": None,
        },
        {
            "id": "d", "anchor": "np0", "anchor_text": "house", "anchor_context": "[house] roof it town",
            "complement": "np3", "complement_text": "town", "complement_context": "house roof it [town]",
            "A": [], "B": ["in"], "decision": None,
        },
    ]  # fmt: skip


def test_decisions_say_all_that_holds():
    both = found(ANNA, BEN)
    rows = conflicts(both)
    rows[0] |= {"complement": "np2", "decision": ["on", "about", "of"]}  # of the cluster's members any will do
    rows[1] |= {"decision": []}
    rows[2] |= {"decision": ["in"]}
    read = decided(both, [{"id": "d", **{k: rows[0][k] for k in ("anchor", "complement", "decision")}}, *rows[1:]])
    assert (read.problems, read.open) == ([], [])
    (record,) = consolidated(both, read.labels)
    assert links_of(record) == [
        ("np3", "around", "np0"), ("np3", "around", "np2"),
        # in the order decided on, where the first annotator had the first of them
        ("np1", "on", "np0"), ("np1", "on", "np2"), ("np1", "about", "np0"), ("np1", "about", "np2"),
        ("np1", "of", "np0"), ("np1", "of", "np2"), ("np0", "in", "np3"),
    ]  # fmt: skip
    assert list(find_inconsistencies(documents_of([record]))) == []
    assert {link["complement"]: link["complement_coref_cluster_id"] for link in record["np_relations"]} == {
        "np0": "cc0", "np2": "cc0", "np3": "cc2",
    }  # fmt: skip


def test_the_order_of_prepositions_is_no_conflict_and_the_first_annotators_stays():
    ours, theirs = of([(1, "of", 0), (1, "on", 0)]), of([(1, "on", 0), (1, "of", 0)])
    both = found(ours, theirs)
    assert conflicts(both) == []
    assert consolidated(both) == ours
    # In a conflict each annotator's order is shown.
    (row,) = conflicts(found(ours, of([(1, "in", 0), (1, "on", 0), (1, "of", 0)])))
    assert (row["A"], row["B"]) == (["of", "on"], ["in", "on", "of"])


def test_three_annotators():
    three = found(ANNA, BEN, of([(TOWN, "around", HOUSE), (ROOF, "of", HOUSE), (HOUSE, "in", TOWN)]))
    assert links_of(consolidated(three)[0])[0] == ("np3", "around", "np0")
    assert [(row["A"], row["B"], row["C"]) for row in conflicts(three)] == [
        (["of", "on"], ["of"], ["of"]), (["in"], ["near"], []), ([], ["in"], ["in"]),
    ]  # fmt: skip


def test_documents_come_in_any_order_and_clusters_under_any_id():
    two = [*ANNA, *of([(0, "of", 1)], "e", "a b", [])]
    renamed = [c | {"id": f"cc{9 - i}", "members": c["members"][::-1]} for i, c in enumerate(BEN[0]["coref"][::-1])]
    other = [*of([(0, "of", 1)], "e", "a b", []), BEN[0] | {"coref": renamed}]
    both = found(two, other)
    assert [row["id"] for row in conflicts(both)] == ["d", "d", "d"]
    assert [record["id"] for record in consolidated(both)] == ["d", "e"]
    assert consolidated(both)[1] == two[1]


def test_a_cluster_is_shown_by_its_first_words_in_the_text():
    text = "He came.\n\n" + "x" * 80 + " \n The old\nking slept."
    spans = [("The old\nking", text.index("The old")), ("He", 0), ("x" * 80, 10)]
    nps = [
        {"id": f"np{i}", "text": words, "first_char": start, "last_char": start + len(words), "first_token": 0,
         "last_token": 0}
        for i, (words, start) in enumerate(spans)
    ]  # fmt: skip
    coref = [{"id": "cc0", "members": ["np0", "np1"]}, {"id": "cc1", "members": ["np2"]}]
    record = {"id": "d", "text": text, "tokens": [text], "nps": nps, "coref": coref, "np_relations": []}
    other = {**record, "np_relations": list(closed([(2, "by", 0)], coref))}
    (row,) = conflicts(found([record], [other]))
    assert (row["complement"], row["complement_text"]) == ("np1", "He")
    assert row["complement_context"] == f"[He] came. {'x' * 52} …"  # 60 characters, two of them line ends
    turned = [record | {"coref": [{"id": "cc0", "members": ["np1", "np2"]}, {"id": "cc1", "members": ["np0"]}]}]
    (row,) = conflicts(found(turned, [turned[0] | {"np_relations": list(closed([(0, "by", 1)], turned[0]["coref"]))}]))
    assert row["anchor_text"] == "The old king"
    assert row["anchor_context"] == f"… {'x' * 57} [The old king] slept."


PAIR = st.tuples(st.integers(0, 7), st.sampled_from(["of", "in", "on"]), st.integers(0, 7))


@st.composite
def several(draw):
    """Documents, and what two to four annotators say of them."""
    records = draw(small.documents())
    return [[_with_links(draw, record) for record in records] for _ in range(draw(st.integers(2, 4)))]


def _with_links(draw, record):
    links = _linkable(draw(st.lists(PAIR, max_size=12)), record)
    return {**record, "np_relations": list(closed(links, record["coref"]))}


def _linkable(links, record):
    """Those of noun phrases that exist, in two clusters."""
    cluster = {name: c["id"] for c in record["coref"] for name in c["members"]}
    ends = [(f"np{a}", f"np{b}") for a, _, b in links]
    return [
        link
        for link, (a, b) in zip(links, ends, strict=True)
        if a in cluster and b in cluster and cluster[a] != cluster[b]
    ]


@given(several(), st.data())
def test_beside_a_slow_twin(annotators, data):
    together = consolidation(annotators, [str(i) for i in range(len(annotators))])
    rows = conflicts(together)
    for row in rows:
        row["decision"] = data.draw(st.lists(st.sampled_from(PREPOSITIONS[1:]), unique=True, max_size=3))
    read = decided(together, rows)
    assert (read.problems, read.open, len(read.labels)) == ([], [], len(rows))
    agreed, final = consolidated(together), consolidated(together, read.labels)
    for index, record in enumerate(annotators[0]):
        said = [set(links_of(side[index])) for side in annotators]
        assert sorted(links_of(agreed[index])) == sorted(set.intersection(*said))
        cluster = {name: c["members"] for c in record["coref"] for name in c["members"]}
        wanted = set()
        differing = {(a, b) for side in said for a, p, b in side if any((a, p, b) not in other for other in said)}
        asked = {(row["anchor"], b): row["decision"] for row in rows if row["id"] == record["id"]
                 for b in cluster[row["complement"]]}  # fmt: skip
        assert asked.keys() == differing
        wanted = {link for link in set.union(*said) if (link[0], link[2]) not in differing}
        wanted |= {(a, p, b) for (a, b), prepositions in asked.items() for p in prepositions}
        assert sorted(links_of(final[index])) == sorted(wanted)
    for result in (agreed, final):
        assert list(find_inconsistencies(documents_of(result))) == []
    again = consolidation([final, final], ["a", "b"])
    assert conflicts(again) == []
    assert consolidated(again) == final


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        ({"id": "x"}, ["id 'x' is no document of the annotators' files"]),
        ({"anchor": "np4"}, ["'d', np4 and np3: np4 does not exist; needed: two of its 4 noun phrases"]),
        (
            {"anchor": "np3", "complement": "np2"},
            ["'d', np3 and np2 are no conflict: all annotators link them by 'around'"],
        ),
        (
            {"anchor": "np2"},
            ["'d', np2 and np3 are no conflict: no annotator links them"],
        ),
        (
            {"A": ["near"], "B": None},
            ["""'d', np1 and np3: A is ["near"]; needed: ["in"], as that annotator's file says now"""],
        ),
        ({"C": []}, ["'d', np1 and np3: C is []; needed: nothing, since there are 2 annotators"]),
        ({"decision": ["of", "of"]}, ["""'d', np1 and np3: decision is ["of", "of"]; needed: each preposition once"""]),
        (
            {"complement": "np2", "A": None, "B": None},
            ["'d', np1 and np2: stands on line 1 already; needed: one decision for an anchor and a cluster"],
        ),
    ],
)
def test_wrong_decisions(change, problems):
    both = found(ANNA, BEN)
    rows = [row | {"decision": ["in"]} for row in conflicts(both)]
    rows[1] |= change
    read = decided(both, rows)
    assert [(problem.what, problem.line) for problem in read.problems] == [(what, 2) for what in problems]


SAID = st.none() | st.lists(st.sampled_from(["of", "in", "near"]), max_size=2)
ROW = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["d", "d", "d", "x"]),
        "anchor": st.sampled_from(["np0", "np1", "np2", "np3", "np99999"]),
        "complement": st.sampled_from(["np0", "np1", "np2", "np3", "np4"]),
        "decision": SAID,
    },
    optional={"A": SAID, "B": SAID, "H": SAID, "anchor_text": st.none()},
)


@given(st.lists(ROW, max_size=8))
def test_any_rows_are_decisions_problems_or_open(rows):
    both = found(ANNA, BEN)
    read = decided(both, rows)
    asked = {(row["anchor"], row["complement"]) for row in conflicts(both)}
    still = {(row["anchor"], row["complement"]) for row in conflicts(both, read.labels)}
    assert still <= asked
    assert len(asked) - len(still) == len(read.labels) <= len(rows)
    (record,) = consolidated(both, read.labels)
    assert list(find_inconsistencies(documents_of([record]))) == []
    if rows and not read.problems and not read.open:
        assert len(read.labels) == 3


def test_open_conflicts_are_told_by_line_and_in_all():
    both = found(ANNA, BEN)
    read = decided(both, conflicts(both)[1:2])
    assert read.labels == {}
    assert [(problem.what, problem.line) for problem in read.open] == [
        ("'d', np1 and np3: decision is null; needed: prepositions, or [] for none", 1),
        (
            "no row for 2 conflicts: 'd', np1 and np0; 'd', np0 and np3; needed: one for each of the 3 conflicts",
            None,
        ),
    ]
    many = found(
        of([(0, "of", i) for i in range(1, 6)], words="a b c d e f", clusters=[]),
        of([], words="a b c d e f", clusters=[]),
    )
    (problem,) = decided(many, []).open
    assert problem.what == (
        "no row for 5 conflicts: 'd', np0 and np1; 'd', np0 and np2; 'd', np0 and np3; …;"
        " needed: one for each of the 5 conflicts"
    )


def test_annotators_of_other_clusters_or_without_links_are_refused():
    other = of([], clusters=[[IT, TOWN]])
    unlinked = [ANNA[0] | {"np_relations": None}]
    kinds = [cluster | {"np_type": "idiomatic"} if i else cluster for i, cluster in enumerate(ANNA[0]["coref"])]
    with pytest.raises(FormatError) as caught:
        found(ANNA, other, [ANNA[0] | {"np_relations": None, "coref": kinds}])
    needed = "needed: the same clusters in all"
    assert [problem.what for problem in caught.value.problems] == [
        "cleo has no links for 1 of 1 documents ('d'); needed: a list for each, which may be empty",
        f"document 'd': anna has the cluster np0 and np2, which ben lacks; {needed}",
        f"document 'd': anna has the cluster np3, which ben lacks; {needed}",
        "document 'd': the cluster np1 is 'idiomatic' in cleo; needed: 'standard', as in anna",
        "document 'd': the cluster np3 is 'idiomatic' in cleo; needed: 'standard', as in anna",
    ]
    with pytest.raises(FormatError, match="anna has no links for 1 of 1 documents"):
        found(unlinked, ANNA)
    with pytest.raises(FormatError, match="ben lacks 1 of the 1 documents of anna: 'd'"):
        found(ANNA, of([], "e"))


@pytest.mark.parametrize("number", [0, 1, 9])
def test_so_many_annotators_are_refused(number):
    with pytest.raises(RequestError, match=f"annotators' files: {number}; needed: 2 to 8"):
        consolidation([ANNA] * number, NAMES)


def test_documents_without_anything():
    nothing = document("d", "a b", (), ())
    empty = {**nothing, "nps": [], "coref": []}
    assert consolidated(found([nothing], [nothing])) == [nothing]
    assert consolidated(found([empty], [empty])) == [empty]
    assert conflicts(found([empty], [empty])) == []


def write(path, records):
    Path(path).write_text(json_lines(records), "utf-8")


def read(path):
    return [json.loads(line) for line in Path(path).read_bytes().splitlines()]


def test_from_two_files_to_gold(ran, run):
    write("anna.jsonl", ANNA)
    write("ben.jsonl", BEN)
    start = ["adjudicate", "tne", "anna.jsonl", "ben.jsonl"]
    told = ran(*start, "--conflicts", "conflicts.jsonl", "-o", "agreed.jsonl")
    assert told == "agreed.jsonl: 1 document, 4 links; 0 conflicts decided, 3 open (in conflicts.jsonl)\n"
    rows = read("conflicts.jsonl")
    assert [row["decision"] for row in rows] == [None] * 3

    refused = run(*start, "--decisions", "conflicts.jsonl", "-o", "gold.jsonl")
    assert refused.exit_code == 1
    assert refused.stderr.startswith(
        "Error: conflicts.jsonl: 3 problems:\nconflicts.jsonl:1: 'd', np1 and np0: decision"
    )
    assert not Path("gold.jsonl").exists()

    write("some.jsonl", [rows[0] | {"decision": ["on"]}, rows[1]])
    told = ran(*start, "--decisions", "some.jsonl", "--conflicts", "rest.jsonl", "-o", "more.jsonl")
    assert told == "more.jsonl: 1 document, 4 links; 1 conflict decided, 2 open (in rest.jsonl)\n"
    assert read("rest.jsonl") == rows[1:]

    write("all.jsonl", [row | {"decision": row["A"]} for row in rows])
    told = ran(*start, "--decisions", "all.jsonl", "-o", "gold.jsonl")
    assert told == "gold.jsonl: 1 document, 7 links; 3 conflicts decided, 0 open\n"
    (gold,) = read("gold.jsonl")
    assert gold == ANNA[0]
    ran("agreement", "tne", "gold.jsonl", "anna.jsonl")  # reads it with all rules of the corpus


def test_all_that_is_wrong_with_a_file_of_decisions(ran, run):
    write("anna.jsonl", ANNA)
    write("ben.jsonl", BEN)
    rows = conflicts(found(ANNA, BEN))
    write(
        "bad.jsonl", [rows[0] | {"decision": ["of"]}, rows[0] | {"decision": ["on"]}, rows[1], rows[2] | {"B": ["on"]}]
    )
    result = run("adjudicate", "tne", "anna.jsonl", "ben.jsonl", "--decisions", "bad.jsonl", "-o", "gold.jsonl")
    assert result.exit_code == 1
    assert [line.split(": ")[0] for line in result.stderr.splitlines()[1:]] == [
        "bad.jsonl:2", "bad.jsonl:3", "bad.jsonl:4", "bad.jsonl:4",
    ]  # fmt: skip
    assert not Path("gold.jsonl").exists()


def test_rows_that_are_no_decisions_hide_no_others(ran, run):
    write("anna.jsonl", ANNA)
    write("ben.jsonl", BEN)
    rows = conflicts(found(ANNA, BEN))
    bad = [rows[0] | {"decision": ["off"]}, {"id": "d", "decision": []}, rows[1], rows[2] | {"id": "e"}]
    write("bad.jsonl", bad)
    with Path("bad.jsonl").open("a", encoding="utf-8") as file:
        file.write("x\n")
    start = ["adjudicate", "tne", "anna.jsonl", "ben.jsonl", "--decisions", "bad.jsonl", "-o", "gold.jsonl"]
    lines = run(*start).stderr.splitlines()
    assert lines[0] == "Error: bad.jsonl: 6 problems:"
    assert lines[1].startswith("bad.jsonl:1: id 'd': decision[0]: 'off' is not one of ")
    assert lines[2:4] == [f"bad.jsonl:2: id 'd': '{end}' is a required property" for end in ("anchor", "complement")]
    # Conflicts may seem to lack a row that could not be read.
    assert lines[4:] == [
        "bad.jsonl:3: 'd', np1 and np3: decision is null; needed: prepositions, or [] for none",
        "bad.jsonl:4: id 'e' is no document of the annotators' files",
        "bad.jsonl:5: is no JSON: Expecting value at column 1",
    ]
    told = run(*start, "--conflicts", "open.jsonl").stderr
    assert "bad.jsonl:3" not in told
    assert "bad.jsonl: 5 problems:" in told
    assert not Path("gold.jsonl").exists()


def test_decisions_where_nothing_is_contested(ran, run):
    write("anna.jsonl", ANNA)
    write("ben.jsonl", BEN)
    ran("adjudicate", "tne", "anna.jsonl", "anna.jsonl", "--conflicts", "none.jsonl", "-o", "agreed.jsonl")
    assert Path("none.jsonl").read_bytes() == b""
    told = ran("adjudicate", "tne", "anna.jsonl", "anna.jsonl", "--decisions", "none.jsonl", "-o", "gold.jsonl")
    assert told == "gold.jsonl: 1 document, 7 links; 0 conflicts decided, 0 open\n"
    assert read("gold.jsonl") == ANNA
    result = run("adjudicate", "tne", "anna.jsonl", "ben.jsonl", "--decisions", "none.jsonl", "-o", "other.jsonl")
    assert result.stderr == (
        "Error: none.jsonl: no row for 3 conflicts: 'd', np1 and np0; 'd', np1 and np3; 'd', np0 and np3; "
        "needed: one for each of the 3 conflicts\n"
    )


def test_all_that_is_wrong_with_two_files(ran, run):
    open_link = ANNA[0]["np_relations"][:1]
    write("anna.jsonl", [ANNA[0] | {"np_relations": open_link}])
    write("ben.jsonl", [BEN[0] | {"text": "x"}])
    result = run("adjudicate", "tne", "anna.jsonl", "ben.jsonl", "-o", "gold.jsonl")
    assert result.exit_code == 1
    assert [line.split("; ")[0] for line in result.stderr.splitlines()] == [
        "Error: anna.jsonl:1: id 'd': np_relations[0] (np3 around np0): cc0 is reached but for np2",
        "ben.jsonl: 4 problems:",
        *(
            f"ben.jsonl:1: id 'd': np{number}: characters {start} to {end} of the text are {found}"
            for number, start, end, found in [(0, 0, 5, "'x'"), (1, 6, 10, "''"), (2, 11, 13, "''"), (3, 14, 18, "''")]
        ),
    ]
    assert not Path("gold.jsonl").exists()


def test_words_with_control_characters_come_back(ran):
    words = "a\x85b roof"  # as the released texts have them
    write("anna.jsonl", of([(1, "of", 0)], words=words, clusters=[]))
    write("ben.jsonl", of([], words=words, clusters=[]))
    start = ["adjudicate", "tne", "anna.jsonl", "ben.jsonl"]
    ran(*start, "--conflicts", "conflicts.jsonl", "-o", "agreed.jsonl")
    write("decided.jsonl", [row | {"decision": ["of"], "anchor_text": "a\x91"} for row in read("conflicts.jsonl")])
    ran(*start, "--decisions", "decided.jsonl", "-o", "gold.jsonl")
    assert read("gold.jsonl") == read("anna.jsonl")


@pytest.mark.parametrize(
    "written", [["-o", "anna.jsonl"], ["-o", "x.jsonl", "--conflicts", "ben.jsonl"], ["-o", "d.jsonl"]]
)
def test_what_is_read_is_not_written_over(ran, run, written):
    write("anna.jsonl", ANNA)
    write("ben.jsonl", BEN)
    write("d.jsonl", [])
    result = run("adjudicate", "tne", "anna.jsonl", "ben.jsonl", "--decisions", "d.jsonl", *written)
    assert result.exit_code == 2
    assert "is also an input; choose another output file" in result.stderr
    assert read("anna.jsonl") == ANNA


def test_the_release_with_itself_is_itself(corpora, ran):
    files = [corpora / "tne" / name for name in ("dev.jsonl.gz", "dev-v1.1.jsonl.gz")]
    told = ran("adjudicate", "tne", *files, "--conflicts", "conflicts.jsonl", "-o", "gold.jsonl")
    # 103,668 links, of which 9 stand twice
    assert told == "gold.jsonl: 500 documents, 103,659 links; 0 conflicts decided, 0 open (in conflicts.jsonl)\n"
    assert read("conflicts.jsonl") == []
