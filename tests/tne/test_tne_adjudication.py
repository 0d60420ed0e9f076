"""Consolidation of links: by hand, and against a slow twin."""

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

from closeread.exceptions import FormatError, RequestError
from closeread.tasks.tne.consolidation import compare_links, keep_common_links, list_conflicts
from closeread.tasks.tne.rules import find_inconsistencies


def links_of(record):
    return [
        (link["anchor"], link["preposition"], link["complement"]) for link in record["np_relations"]
    ]


def test_what_both_have_is_kept_and_the_rest_is_asked():
    both = consolidate(ANNA, BEN)
    (record,) = keep_common_links(both)
    assert links_of(record) == [
        ("np3", "around", "np0"), ("np3", "around", "np2"), ("np1", "of", "np0"), ("np1", "of", "np2"),
    ]  # fmt: skip
    assert record == {**ANNA[0], "np_relations": record["np_relations"]}
    assert list_conflicts(both) == [
        {
            "id": "d", "anchor": "np1", "anchor_text": "roof", "anchor_context": "house [roof] it town",
            "complement": "np0", "complement_text": "house", "complement_context": "[house] roof it town",
            "A": ["of", "on"], "B": ["of"],
        },
        {
            "id": "d", "anchor": "np1", "anchor_text": "roof", "anchor_context": "house [roof] it town",
            "complement": "np3", "complement_text": "town", "complement_context": "house roof it [town]",
            "A": ["in"], "B": ["near"],
        },
        {
            "id": "d", "anchor": "np0", "anchor_text": "house", "anchor_context": "[house] roof it town",
            "complement": "np3", "complement_text": "town", "complement_context": "house roof it [town]",
            "A": [], "B": ["in"],
        },
    ]  # fmt: skip


def test_the_order_of_prepositions_is_no_conflict_and_the_first_annotators_stays():
    ours, theirs = annotate([(1, "of", 0), (1, "on", 0)]), annotate([(1, "on", 0), (1, "of", 0)])
    both = consolidate(ours, theirs)
    assert list_conflicts(both) == []
    assert keep_common_links(both) == ours
    # In a conflict each annotator's order is shown.
    (row,) = list_conflicts(consolidate(ours, annotate([(1, "in", 0), (1, "on", 0), (1, "of", 0)])))
    assert (row["A"], row["B"]) == (["of", "on"], ["in", "on", "of"])


def test_three_annotators():
    three = consolidate(
        ANNA, BEN, annotate([(TOWN, "around", HOUSE), (ROOF, "of", HOUSE), (HOUSE, "in", TOWN)])
    )
    assert links_of(keep_common_links(three)[0])[0] == ("np3", "around", "np0")
    assert [(row["A"], row["B"], row["C"]) for row in list_conflicts(three)] == [
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
    assert [row["id"] for row in list_conflicts(both)] == ["d", "d", "d"]
    assert [record["id"] for record in keep_common_links(both)] == ["d", "e"]
    assert keep_common_links(both)[1] == two[1]


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
    (row,) = list_conflicts(consolidate([record], [other]))
    assert (row["complement"], row["complement_text"]) == ("np1", "He")
    # 60 characters, two of them line ends
    assert row["complement_context"] == f"[He] came. {'x' * 52} …"
    turned = [
        record
        | {"coref": [{"id": "cc0", "members": ["np1", "np2"]}, {"id": "cc1", "members": ["np0"]}]}
    ]
    (row,) = list_conflicts(
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


@given(several())
def test_beside_a_slow_twin(annotators):
    together = compare_links(annotators, [str(i) for i in range(len(annotators))])
    agreed, rows = keep_common_links(together), list_conflicts(together)
    for index, record in enumerate(annotators[0]):
        said = [set(links_of(side[index])) for side in annotators]
        assert sorted(links_of(agreed[index])) == sorted(set.intersection(*said))
        cluster = {name: c["members"] for c in record["coref"] for name in c["members"]}
        differing = {
            (a, b)
            for side in said
            for a, p, b in side
            if any((a, p, b) not in other for other in said)
        }
        listed = {
            (row["anchor"], member)
            for row in rows
            if row["id"] == record["id"]
            for member in cluster[row["complement"]]
        }
        assert listed == differing
    assert list(find_inconsistencies(agreed)) == []
    again = compare_links([agreed, agreed], ["a", "b"])
    assert list_conflicts(again) == []
    assert keep_common_links(again) == agreed


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
    assert [problem.text for problem in caught.value.problems] == [
        "cleo has no links for 1 of 1 documents: 'd' (expected a list for each, possibly empty)",
        f"document 'd': anna has the cluster np0 and np2, which ben lacks {expected}",
        f"document 'd': anna has the cluster np3, which ben lacks {expected}",
        "document 'd': the cluster np1 is 'idiomatic' in cleo but 'standard' in anna",
        "document 'd': the cluster np3 is 'idiomatic' in cleo but 'standard' in anna",
    ]
    with pytest.raises(FormatError, match="anna has no links for 1 of 1 documents"):
        consolidate(unlinked, ANNA)
    with pytest.raises(FormatError, match="ben lacks 1 of the 1 document of anna: 'd'"):
        consolidate(ANNA, annotate([], "e"))


@pytest.mark.parametrize("number", [0, 1, 9])
def test_so_many_annotators_are_refused(number):
    with pytest.raises(
        RequestError, match=rf"the number of annotators' files is {number} \(expected 2 to 8\)"
    ):
        compare_links([ANNA] * number, ["anna"] * number)


def test_documents_without_anything():
    nothing = document("d", "a b", (), ())
    empty = {**nothing, "nps": [], "coref": []}
    assert keep_common_links(consolidate([nothing], [nothing])) == [nothing]
    assert keep_common_links(consolidate([empty], [empty])) == [empty]
    assert list_conflicts(consolidate([empty], [empty])) == []


def test_from_two_files_to_gold(ran):
    write("anna.jsonl", ANNA)
    write("ben.jsonl", BEN)
    start = ["adjudicate", "tne", "anna.jsonl", "ben.jsonl"]
    told = ran(*start, "--conflicts", "conflicts.jsonl", "-o", "agreed.jsonl")
    assert told == "agreed.jsonl: 1 document, 4 links; 3 conflicts (in conflicts.jsonl)\n"
    assert [(row["A"], row["B"]) for row in read("conflicts.jsonl")] == [
        (["of", "on"], ["of"]),
        (["in"], ["near"]),
        ([], ["in"]),
    ]
    assert ran(*start, "-o", "again.jsonl") == "again.jsonl: 1 document, 4 links; 3 conflicts\n"
    assert read("again.jsonl") == read("agreed.jsonl")
    ran("agreement", "tne", "agreed.jsonl", "anna.jsonl")  # reads it with all rules of the corpus
    told = ran("adjudicate", "tne", "anna.jsonl", "anna.jsonl", "-o", "same.jsonl")
    assert told == "same.jsonl: 1 document, 7 links; 0 conflicts\n"
    assert read("same.jsonl") == ANNA


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
    words = "a\x91b roof"  # as the released texts have them
    write("anna.jsonl", annotate([(1, "of", 0)], words=words, clusters=[]))
    write("ben.jsonl", annotate([], words=words, clusters=[]))
    start = ["adjudicate", "tne", "anna.jsonl", "ben.jsonl"]
    ran(*start, "--conflicts", "conflicts.jsonl", "-o", "agreed.jsonl")
    (row,) = read("conflicts.jsonl")
    assert row["complement_text"] == "a\x91b"
    assert read("agreed.jsonl") == read("ben.jsonl")


@pytest.mark.extended
def test_the_release_with_itself_is_itself(corpora, ran):
    files = [corpora / "tne" / name for name in ("dev.jsonl.gz", "dev-v1.1.jsonl.gz")]
    told = ran("adjudicate", "tne", *files, "--conflicts", "conflicts.jsonl", "-o", "gold.jsonl")
    # 103,668 links, of which 9 stand twice
    assert told == "gold.jsonl: 500 documents, 103,659 links; 0 conflicts (in conflicts.jsonl)\n"
    assert read("conflicts.jsonl") == []
