"""Consolidation of links: by hand, against a slow twin, and decisions of every wrong kind."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.json_lines import read, write
from shared.tne_annotated import (
    ANNA,
    BEN,
    HOUSE,
    IT,
    ROOF,
    TOWN,
    annotate,
    close_links,
    consolidate,
    document,
)
from shared.tne_random import documents

from closeread.exceptions import CloseReadWarning, FormatError, RequestError
from closeread.tasks.tne.annotation import conflicts, consolidated, consolidation, read_decisions
from closeread.tasks.tne.columns import PREPOSITIONS
from closeread.tasks.tne.rules import find_inconsistencies


def links_of(record):
    return [
        (link["anchor"], link["preposition"], link["complement"]) for link in record["np_relations"]
    ]


def refuse(both, rows, file):
    """The problems of decisions in a file, a row a line, and their lines."""
    with pytest.raises(FormatError) as caught:
        read_decisions(both, write(file, rows))
    return [(problem.message, problem.line) for problem in caught.value.problems]


def test_what_both_have_is_kept_and_the_rest_is_asked():
    both = consolidate(ANNA, BEN)
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


def test_unknown_fields_of_decisions_are_ignored_with_a_note(file):
    both = consolidate(ANNA, BEN)
    rows = [{**row, "decision": []} for row in conflicts(both)]
    expected = read_decisions(both, write(file, rows))
    rows[1]["remark"] = "x"
    with pytest.warns(CloseReadWarning, match=":2: id 'd': unknown field 'remark' is ignored"):
        assert read_decisions(both, write(file, rows)) == expected


def test_decisions_say_all_that_holds(file):
    both = consolidate(ANNA, BEN)
    rows = conflicts(both)
    # of the cluster's members any will do
    rows[0] |= {"complement": "np2", "decision": ["on", "about", "of"]}
    rows[1] |= {"decision": []}
    rows[2] |= {"decision": ["in"]}
    rows[0] = {"id": "d", **{name: rows[0][name] for name in ("anchor", "complement", "decision")}}
    (record,) = consolidated(both, read_decisions(both, write(file, rows)))
    assert links_of(record) == [
        ("np3", "around", "np0"), ("np3", "around", "np2"),
        # in the order decided on, where the first annotator had the first of them
        ("np1", "on", "np0"), ("np1", "on", "np2"), ("np1", "about", "np0"), ("np1", "about", "np2"),
        ("np1", "of", "np0"), ("np1", "of", "np2"), ("np0", "in", "np3"),
    ]  # fmt: skip
    assert list(find_inconsistencies([record])) == []
    assert {link["complement"]: link["complement_coref_cluster_id"] for link in record["np_relations"]} == {
        "np0": "cc0", "np2": "cc0", "np3": "cc2",
    }  # fmt: skip


def test_the_order_of_prepositions_is_no_conflict_and_the_first_annotators_stays():
    ours, theirs = annotate([(1, "of", 0), (1, "on", 0)]), annotate([(1, "on", 0), (1, "of", 0)])
    both = consolidate(ours, theirs)
    assert conflicts(both) == []
    assert consolidated(both) == ours
    # In a conflict each annotator's order is shown.
    (row,) = conflicts(consolidate(ours, annotate([(1, "in", 0), (1, "on", 0), (1, "of", 0)])))
    assert (row["A"], row["B"]) == (["of", "on"], ["in", "on", "of"])


def test_three_annotators():
    three = consolidate(
        ANNA, BEN, annotate([(TOWN, "around", HOUSE), (ROOF, "of", HOUSE), (HOUSE, "in", TOWN)])
    )
    assert links_of(consolidated(three)[0])[0] == ("np3", "around", "np0")
    assert [(row["A"], row["B"], row["C"]) for row in conflicts(three)] == [
        (["of", "on"], ["of"], ["of"]), (["in"], ["near"], []), ([], ["in"], ["in"]),
    ]  # fmt: skip


def test_documents_come_in_any_order_and_clusters_under_any_id():
    two = [*ANNA, *annotate([(0, "of", 1)], "e", "a b", [])]
    renamed = [
        c | {"id": f"cc{9 - i}", "members": c["members"][::-1]}
        for i, c in enumerate(BEN[0]["coref"][::-1])
    ]
    other = [*annotate([(0, "of", 1)], "e", "a b", []), BEN[0] | {"coref": renamed}]
    both = consolidate(two, other)
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
    record = {
        "id": "d",
        "text": text,
        "tokens": [text],
        "nps": nps,
        "coref": coref,
        "np_relations": [],
    }
    other = {**record, "np_relations": list(close_links([(2, "by", 0)], coref))}
    (row,) = conflicts(consolidate([record], [other]))
    assert (row["complement"], row["complement_text"]) == ("np1", "He")
    # 60 characters, two of them line ends
    assert row["complement_context"] == f"[He] came. {'x' * 52} …"
    turned = [
        record
        | {"coref": [{"id": "cc0", "members": ["np1", "np2"]}, {"id": "cc1", "members": ["np0"]}]}
    ]
    (row,) = conflicts(
        consolidate(
            turned,
            [turned[0] | {"np_relations": list(close_links([(0, "by", 1)], turned[0]["coref"]))}],
        )
    )
    assert row["anchor_text"] == "The old king"
    assert row["anchor_context"] == f"… {'x' * 57} [The old king] slept."


PAIR = st.tuples(st.integers(0, 7), st.sampled_from(["of", "in", "on"]), st.integers(0, 7))


@st.composite
def several(draw):
    """Documents, and what two to four annotators say of them."""
    records = draw(documents())
    return [
        [_with_links(draw, record) for record in records] for _ in range(draw(st.integers(2, 4)))
    ]


def _with_links(draw, record):
    links = _linkable(draw(st.lists(PAIR, max_size=12)), record)
    return {**record, "np_relations": list(close_links(links, record["coref"]))}


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
def test_beside_a_slow_twin(file, annotators, data):
    together = consolidation(annotators, [str(i) for i in range(len(annotators))])
    rows = conflicts(together)
    for row in rows:
        row["decision"] = data.draw(
            st.lists(st.sampled_from(PREPOSITIONS[1:]), unique=True, max_size=3)
        )
    labels = read_decisions(together, write(file, rows))
    assert len(labels) == len(rows)
    agreed, final = consolidated(together), consolidated(together, labels)
    for index, record in enumerate(annotators[0]):
        said = [set(links_of(side[index])) for side in annotators]
        assert sorted(links_of(agreed[index])) == sorted(set.intersection(*said))
        cluster = {name: c["members"] for c in record["coref"] for name in c["members"]}
        wanted = set()
        differing = {
            (a, b)
            for side in said
            for a, p, b in side
            if any((a, p, b) not in other for other in said)
        }
        asked = {(row["anchor"], b): row["decision"] for row in rows if row["id"] == record["id"]
                 for b in cluster[row["complement"]]}  # fmt: skip
        assert asked.keys() == differing
        wanted = {link for link in set.union(*said) if (link[0], link[2]) not in differing}
        wanted |= {(a, p, b) for (a, b), prepositions in asked.items() for p in prepositions}
        assert sorted(links_of(final[index])) == sorted(wanted)
    for result in (agreed, final):
        assert list(find_inconsistencies(result)) == []
    again = consolidation([final, final], ["a", "b"])
    assert conflicts(again) == []
    assert consolidated(again) == final


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        ({"id": "x"}, ["id 'x' is not a document of the annotators' files"]),
        (
            {"anchor": "np4"},
            ["np4 and np3 in 'd': np4 does not exist (expected two of its 4 noun phrases)"],
        ),
        (
            {"anchor": "np3", "complement": "np2"},
            ["np3 and np2 in 'd': not a conflict, since all annotators link them by 'around'"],
        ),
        ({"anchor": "np2"}, ["np2 and np3 in 'd': not a conflict, since no annotator links them"]),
        (
            {"A": ["near"], "B": None},
            [
                """np1 and np3 in 'd': A is ["near"] (expected ["in"], as in the file of that annotator)"""
            ],
        ),
        ({"C": []}, ["np1 and np3 in 'd': C is [] (expected nothing: there are 2 annotators)"]),
        (
            {"decision": ["of", "of"]},
            ["""np1 and np3 in 'd': decision is ["of", "of"] (expected each preposition once)"""],
        ),
        (
            {"complement": "np2", "A": None, "B": None},
            [
                "np1 and np2 in 'd': is already on line 1 (expected one row for each anchor and cluster)"
            ],
        ),
    ],
)
def test_wrong_decisions(file, change, problems):
    both = consolidate(ANNA, BEN)
    rows = [row | {"decision": ["in"]} for row in conflicts(both)]
    rows[1] |= change
    told = [(what, line) for what, line in refuse(both, rows, file) if line]
    assert told == [(what, 2) for what in problems]


def test_open_conflicts_are_told_by_line_and_in_all(file):
    both = consolidate(ANNA, BEN)
    rows = conflicts(both)[1:2]
    assert refuse(both, rows, file) == [
        (
            "no row for 2 of 3 conflicts: np1 and np0 in 'd'; np0 and np3 in 'd' (expected one for each)",
            None,
        ),
        ("np1 and np3 in 'd': decision is null (expected prepositions, or [] for no link)", 1),
    ]
    assert read_decisions(both, file, may_stay_open=True) == {}
    many = consolidate(
        annotate([(0, "of", i) for i in range(1, 5)], words="a b c d e", clusters=[]),
        annotate([], words="a b c d e", clusters=[]),
    )
    assert refuse(many, [], file)[0][0] == (
        "no row for 4 of 4 conflicts: np0 and np1 in 'd'; np0 and np2 in 'd'; np0 and np3 in 'd'; …"
        " (expected one for each)"
    )


def test_annotators_of_other_clusters_or_without_links_are_refused():
    other = annotate([], clusters=[[IT, TOWN]])
    unlinked = [ANNA[0] | {"np_relations": None}]
    kinds = [
        cluster | {"np_type": "idiomatic"} if i else cluster
        for i, cluster in enumerate(ANNA[0]["coref"])
    ]
    with pytest.raises(FormatError) as caught:
        consolidate(ANNA, other, [ANNA[0] | {"np_relations": None, "coref": kinds}])
    expected = "(expected the same clusters in all files)"
    assert [problem.message for problem in caught.value.problems] == [
        "cleo has no links for 1 of 1 documents: 'd' (expected a list for each, possibly empty)",
        f"document 'd': anna has the cluster np0 and np2, which ben lacks {expected}",
        f"document 'd': anna has the cluster np3, which ben lacks {expected}",
        "document 'd': the cluster np1 is 'idiomatic' in cleo but 'standard' in anna",
        "document 'd': the cluster np3 is 'idiomatic' in cleo but 'standard' in anna",
    ]
    with pytest.raises(FormatError, match="anna has no links for 1 of 1 documents"):
        consolidate(unlinked, ANNA)
    with pytest.raises(FormatError, match="ben lacks 1 of the 1 documents of anna: 'd'"):
        consolidate(ANNA, annotate([], "e"))


@pytest.mark.parametrize("number", [0, 1, 9])
def test_so_many_annotators_are_refused(number):
    with pytest.raises(
        RequestError, match=rf"the number of annotators' files is {number} \(expected 2 to 8\)"
    ):
        consolidation([ANNA] * number, ["anna"] * number)


def test_documents_without_anything():
    nothing = document("d", "a b", (), ())
    empty = {**nothing, "nps": [], "coref": []}
    assert consolidated(consolidate([nothing], [nothing])) == [nothing]
    assert consolidated(consolidate([empty], [empty])) == [empty]
    assert conflicts(consolidate([empty], [empty])) == []


def test_from_two_files_to_gold(ran, run):
    write("anna.jsonl", ANNA)
    write("ben.jsonl", BEN)
    start = ["adjudicate", "tne", "anna.jsonl", "ben.jsonl"]
    told = ran(*start, "--conflicts", "conflicts.jsonl", "-o", "agreed.jsonl")
    assert (
        told
        == "agreed.jsonl: 1 document, 4 links; 0 conflicts decided, 3 open (in conflicts.jsonl)\n"
    )
    rows = read("conflicts.jsonl")
    assert [row["decision"] for row in rows] == [None] * 3

    refused = run(*start, "--decisions", "conflicts.jsonl", "-o", "gold.jsonl")
    assert refused.exit_code == 1
    assert refused.stderr.startswith(
        "Error: conflicts.jsonl: 3 problems:\nconflicts.jsonl:1: np1 and np0 in 'd': decision"
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


def test_rows_that_are_no_decisions_hide_no_others(ran, run):
    write("anna.jsonl", ANNA)
    write("ben.jsonl", BEN)
    rows = conflicts(consolidate(ANNA, BEN))
    bad = [
        rows[0] | {"decision": ["off"]},
        {"id": "d", "decision": []},
        rows[1],
        rows[2] | {"id": "e"},
    ]
    write("bad.jsonl", bad)
    with Path("bad.jsonl").open("a", encoding="utf-8") as file:
        file.write("x\n")
    start = [
        "adjudicate",
        "tne",
        "anna.jsonl",
        "ben.jsonl",
        "--decisions",
        "bad.jsonl",
        "-o",
        "gold.jsonl",
    ]
    lines = run(*start).stderr.splitlines()
    assert lines[0] == "Error: bad.jsonl: 6 problems:"
    assert lines[1].startswith("bad.jsonl:1: id 'd': decision[0]: 'off' is not one of ")
    assert lines[2:4] == [
        f"bad.jsonl:2: id 'd': field '{end}' is missing" for end in ("anchor", "complement")
    ]
    # Conflicts may seem to lack a row that could not be read.
    assert lines[4:] == [
        "bad.jsonl:3: np1 and np3 in 'd': decision is null (expected prepositions, or [] for no link)",
        "bad.jsonl:4: id 'e' is not a document of the annotators' files",
        "bad.jsonl:5: is not valid JSON: Expecting value at column 1",
    ]
    told = run(*start, "--conflicts", "open.jsonl").stderr
    assert "bad.jsonl:3" not in told
    assert "bad.jsonl: 5 problems:" in told
    assert not Path("gold.jsonl").exists()


def test_decisions_where_nothing_is_contested(ran, run):
    write("anna.jsonl", ANNA)
    write("ben.jsonl", BEN)
    ran(
        "adjudicate",
        "tne",
        "anna.jsonl",
        "anna.jsonl",
        "--conflicts",
        "none.jsonl",
        "-o",
        "agreed.jsonl",
    )
    assert Path("none.jsonl").read_bytes() == b""
    told = ran(
        "adjudicate",
        "tne",
        "anna.jsonl",
        "anna.jsonl",
        "--decisions",
        "none.jsonl",
        "-o",
        "gold.jsonl",
    )
    assert told == "gold.jsonl: 1 document, 7 links; 0 conflicts decided, 0 open\n"
    assert read("gold.jsonl") == ANNA
    result = run(
        "adjudicate",
        "tne",
        "anna.jsonl",
        "ben.jsonl",
        "--decisions",
        "none.jsonl",
        "-o",
        "other.jsonl",
    )
    assert result.stderr == (
        "Error: none.jsonl: no row for 3 of 3 conflicts: np1 and np0 in 'd'; np1 and np3 in 'd'; np0 and np3 in 'd' "
        "(expected one for each)\n"
    )


def test_all_that_is_wrong_with_two_files(ran, run):
    open_link = ANNA[0]["np_relations"][:1]
    write("anna.jsonl", [ANNA[0] | {"np_relations": open_link}])
    write("ben.jsonl", [BEN[0] | {"text": "x"}])
    result = run("adjudicate", "tne", "anna.jsonl", "ben.jsonl", "-o", "gold.jsonl")
    assert result.exit_code == 1
    assert [line.split(" (expected")[0] for line in result.stderr.splitlines()] == [
        "Error: anna.jsonl:1: id 'd': np_relations[0] (np3 around np0): there is no such link to np2",
        "ben.jsonl: 4 problems:",
        *(
            f"ben.jsonl:1: id 'd': np{number}: characters {start} to {end} of the text are {found}"
            for number, start, end, found in [
                (0, 0, 5, "'x'"),
                (1, 6, 10, "''"),
                (2, 11, 13, "''"),
                (3, 14, 18, "''"),
            ]
        ),
    ]
    assert not Path("gold.jsonl").exists()


def test_words_with_control_characters_come_back(ran):
    words = "a\x85b roof"  # as the released texts have them
    write("anna.jsonl", annotate([(1, "of", 0)], words=words, clusters=[]))
    write("ben.jsonl", annotate([], words=words, clusters=[]))
    start = ["adjudicate", "tne", "anna.jsonl", "ben.jsonl"]
    ran(*start, "--conflicts", "conflicts.jsonl", "-o", "agreed.jsonl")
    write(
        "decided.jsonl",
        [row | {"decision": ["of"], "anchor_text": "a\x91"} for row in read("conflicts.jsonl")],
    )
    ran(*start, "--decisions", "decided.jsonl", "-o", "gold.jsonl")
    assert read("gold.jsonl") == read("anna.jsonl")


@pytest.mark.extended
def test_the_release_with_itself_is_itself(corpora, ran):
    files = [corpora / "tne" / name for name in ("dev.jsonl.gz", "dev-v1.1.jsonl.gz")]
    told = ran("adjudicate", "tne", *files, "--conflicts", "conflicts.jsonl", "-o", "gold.jsonl")
    # 103,668 links, of which 9 stand twice
    assert (
        told
        == "gold.jsonl: 500 documents, 103,659 links; 0 conflicts decided, 0 open (in conflicts.jsonl)\n"
    )
    assert read("conflicts.jsonl") == []
