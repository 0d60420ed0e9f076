"""Errors of links: a document by hand, a slow twin, and what other commands count."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import json_lines
from shared.count_tables import sum_counts
from shared.tne_annotated import document
from shared.tne_links import ENDS, gold_links, link
from shared.tne_random import documents
from twins import links as twin
from twins.tne_errors import Places, list_wrong

import closeread
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.counts.estimates import Resampling
from closeread.exceptions import SubmissionError
from closeread.tasks.tne.columns import documents_of, rows_of
from closeread.tasks.tne.errors import HEADER, LinkAnalysis
from closeread.tasks.tne.procedure import BREAKDOWNS, count

pytestmark = pytest.mark.filterwarnings("ignore:.*:closeread.CloseReadWarning")

NO_CI = Resampling(0)
PLACES = [name for name in BREAKDOWNS if name not in ("preposition", "expressed")]
TOKENS = [
    "The",
    "roof",
    "of",
    "the",
    "house",
    "leaks",
    ".",
    "Its",
    "owner",
    "sold",
    "the",
    "house",
    ".",
]
# the roof, the house, its owner, the house, the roof of the house
SPANS = [(0, 1), (3, 4), (7, 8), (10, 11), (0, 4)]
CLUSTERS = [[0, 4], [1, 3], [2]]
# Right: 0 of 1.  Missing: 0 of 3, ten tokens ahead, and 2 of 1, four tokens back.  Confused: 2 of 3.
GOLD = [(0, "of", 1), (0, "of", 3), (2, "of", 1), (2, "of", 3)]
SENT = [(0, "of", 1), (2, "by", 3), (4, "of", 0), (1, "in", 2)]


HOUSE = document("d0", TOKENS, GOLD, CLUSTERS, SPANS, closed=False)
ROWS = [{"id": "d0", "relations": [link(*one) for one in SENT]}]


@pytest.fixture
def found():
    return closeread.errors("tne", ROWS, gold=[HOUSE], resampling=NO_CI)


# By hand: right, linked by both, gold, predicted.
BY_HAND = {
    "distance": {"0 to 5": (1, 2, 3, 4), "6 to 10": (0, 0, 1, 0)},
    "direction": {"before": (0, 0, 1, 0), "same token": (0, 0, 0, 1), "after": (1, 2, 3, 3)},
    "sentence": {"same": (1, 2, 2, 3), "other": (0, 0, 2, 1)},
    # `The roof of` is followed by the words of both mentions of the house.
    "expressed": {"explicit": (1, 1, 2, 1), "implicit": (0, 1, 2, 3)},
    # The longer of the two phrases that begin first is the first mention of the roof.
    "mention": {"only": (0, 0, 0, 1), "first": (1, 1, 2, 1), "further": (0, 1, 2, 2)},
}


@pytest.mark.parametrize("field", BY_HAND)
def test_scores_by_hand(found, field):
    for part, scores in found.report.slices[field].items():
        right, linked, gold, predicted = BY_HAND[field][part]
        expected = {
            "links/precision": twin.share(right, predicted),
            "links/recall": twin.share(right, gold),
            "unlabeled/precision": twin.share(linked, predicted),
            "unlabeled/recall": twin.share(linked, gold),
        }
        assert {name: scores.scores[name].value for name in expected} == {
            n: float(v) for n, v in expected.items()
        }
        assert scores.scores["links/precision"].undefined == (predicted == 0)
        assert scores.scores["links/recall"].undefined == (gold == 0)
        assert (scores.counts["links/gold"], scores.counts["links/system"]) == (gold, predicted)
    assert found.report.slices[field].keys() == BY_HAND[field].keys()


def test_lists_by_hand(found):
    assert found.counts == {"right": 1, "missing": 2, "spurious": 2, "confused": 1}
    errors = found.to_dict()["errors"]
    assert errors["pairs"] == found.counts
    # Both sides link 0-1 and 2-3, which gold links by `of`.
    assert errors["confusions"] == [{"gold": "of", "predicted": "by", "pairs": 1, "share": 0.5}]
    assert [list(one.values()) for one in errors["missed"]] == [
        ["its owner", "of", "the house", 2, 1],
        ["the roof", "of", "the house", 1, 1],
    ]
    assert {tuple(one.values()) for one in errors["spurious"]} == {
        ("its owner", "by", "the house", 1, 1),
        ("the roof of the house", "of", "the roof", 1, 1),
        ("the house", "in", "its owner", 1, 1),
    }
    # Nothing is predicted that far away, or backwards.
    assert str(found).count("* This score is 0/0; its value is set by convention.") >= 2
    # F1 of 1/4 and 1/4.
    assert [list(one.values()) for one in errors["documents"]] == [["d0", 5, 2, 2, 1, 4, 4, 0.25]]


def test_every_wrong_pair_is_a_row(found):
    header, rows = found._to_rows()
    of_0, of_2 = ["np0", "The roof"], ["np2", "Its owner"]
    assert list(header) == [
        *(
            "error",
            "document",
            "anchor",
            "anchor_words",
            "complement",
            "complement_words",
            "gold",
            "predicted",
        ),
        *("distance", "expressed", "direction", "sentence", "mention"),
    ]
    assert rows == [
        ["missing", "d0", *of_0, "np3", "the house", "of", None, 10, "explicit", "after", "other", "further"],
        ["missing", "d0", *of_2, "np1", "the house", "of", None, 4, "implicit", "before", "other", "first"],
        ["spurious", "d0", "np1", "the house", *of_2, None, "in", 4, "implicit", "after", "other", "only"],
        ["spurious", "d0", "np4", "The roof of the house", *of_0, None, "of", 0, "implicit", "same token",
         "same", "further"],
        ["confused", "d0", *of_2, "np3", "the house", "of", "by", 3, "implicit", "after", "same", "further"],
    ]  # fmt: skip
    assert len(found.to_frame()) == 5


def test_bins_at_their_bounds():
    places = [0, 5, 6, 10, 11, 20, 21, 50, 51, 100, 101]
    links = [(0, "of", number) for number in range(1, 11)]
    record = document("d0", ["x"] * 102, links, (), [(place, place) for place in places])
    table = count(
        gold=[record],
        system=[{"id": "d0", "relations": gold_links(record)}],
        breakdowns=["distance"],
    )
    counted = {
        name: sum_counts(part)["links/gold"] for name, part in table.slices("distance").items()
    }
    assert counted == {
        "0 to 5": 1,
        "6 to 10": 2,
        "11 to 20": 2,
        "21 to 50": 2,
        "51 to 100": 2,
        "over 100": 1,
    }


@st.composite
def sides(draw):
    """Documents, and a system's rows: some gold links, some with another preposition, some of its own."""
    gold, rows = draw(documents()), []
    for record in gold:
        links = [dict(one) for one in gold_links(record) if draw(st.booleans())]
        for one in links:
            one["preposition"] = draw(st.sampled_from([one["preposition"], "near"]))
        names = [np["id"] for np in record["nps"]]
        pairs = [(a, b) for a in names for b in names if a != b]
        own = draw(st.lists(st.sampled_from(pairs), max_size=4)) if pairs else []
        links += [{"anchor": a, "complement": b, "preposition": "in"} for a, b in own]
        unique = {tuple(one.values()): one for one in links}
        rows.append({"id": record["id"], "relations": list(unique.values())})
    return gold, rows


def pack(links):
    return [tuple(one[name] for name in ENDS) for one in links]


@given(sides())
def test_breakdowns_are_those_of_the_slow_twin(given_sides):
    gold, rows = given_sides
    table = count(gold=gold, system=rows, breakdowns=tuple(BREAKDOWNS))
    for field in PLACES:
        expected = Counter()
        for record, row in zip(gold, rows, strict=True):
            places = Places(record)
            for name, pairs in twin.list_pairs(
                pack(row["relations"]), pack(record["np_relations"]), None
            ).items():
                expected.update((places.find(field, pair), name) for pair, _ in pairs)
        counted = {
            (part, name): n
            for part, of_part in table.slices(field).items()
            for name, n in sum_counts(of_part).items()
            if n
        }
        assert counted == dict(expected)
        assert list(table.slices(field)) == [
            part for part in BREAKDOWNS[field].parts if part in table.slices(field)
        ]
    # Every pair belongs to one part of each.
    for field in BREAKDOWNS:
        for name, whole in sum_counts(table).items():
            assert sum(sum_counts(part)[name] for part in table.slices(field).values()) == whole


@given(sides())
def test_wrong_pairs_are_those_of_the_slow_twin(given_sides):
    gold, rows = given_sides
    table = count(gold=gold, system=rows)
    analysis = LinkAnalysis(documents_of(gold), rows_of(rows), table)
    expected, confusions, errors = Counter(), Counter(), Counter()
    for record, row in zip(gold, rows, strict=True):
        places = Places(record)
        for kind, pair, *labels in list_wrong(pack(row["relations"]), pack(record["np_relations"])):
            fields = [places.find(field, pair) for field in PLACES if field != "distance"]
            expected[kind, record["id"], *pair, *labels, *fields] += 1
            errors[record["id"]] += 1
            if kind == "confused":
                confusions[tuple(labels)] += 1
    kept = [
        HEADER.index(name)
        for name in ("error", "document", "anchor", "complement", "gold", "predicted")
    ]
    kept += range(HEADER.index("expressed") + 1, len(HEADER))
    assert Counter(tuple(row[i] for i in kept) for row in analysis.list_links()) == expected
    assert {
        (one["gold"], one["predicted"]): one["pairs"] for one in analysis.list_confusions()
    } == confusions
    assert {one["document"]: one["errors"] for one in analysis.list_documents()} == errors
    totals = sum_counts(table)
    counted = analysis.count()
    assert counted["right"] == totals["links/right"]
    assert counted["right"] + counted["confused"] + counted["missing"] == totals["links/gold"]
    assert counted["right"] + counted["confused"] + counted["spurious"] == totals["links/system"]
    everything = 10**6
    for missed, side in ((True, "gold"), (False, "system")):
        times = [one["triplets"] for one in analysis.list_wordings(everything, missed=missed)]
        assert sum(times) == totals[f"triplets/{side}"] - totals["triplets/right"]
        assert times == sorted(times, reverse=True)


# Doors.


@pytest.fixture
def predictions(ran):
    ran("baseline", "tne", "surface-extended", "--config", "sample", "-o", "mine.jsonl", "-q")
    return "mine.jsonl"


def test_scores_are_those_of_score(predictions):
    by = ("distance", "domain", "expressed", "preposition", "mention")
    scored = closeread.score("tne", predictions, config="sample", by=by)
    found = closeread.errors("tne", predictions, config="sample", by=by)
    assert found.report.to_dict() == scored.to_dict()
    assert found.report.provenance.signature == scored.provenance.signature
    assert closeread.Report.from_json(found.to_dict()).to_dict() == scored.to_dict()


def test_documents_without_a_row(predictions):
    gold = read_gold(load_corpus("tne"), "sample").records
    rows = [{"id": gold[0]["id"], "relations": []}]
    skipped = closeread.errors("tne", rows, config="sample", missing="skip", resampling=NO_CI)
    assert {row[1] for row in skipped._to_rows()[1]} == {gold[0]["id"]}
    assert skipped.counts["missing"] == len({one[:2] for one in pack(gold_links(gold[0]))})
    assert [one["document"] for one in skipped.analysis.list_documents()] == [gold[0]["id"]]
    assert sum(
        one["triplets"] for one in skipped.analysis.list_wordings(10**6, missed=True)
    ) == len(gold_links(gold[0]))
    empty = closeread.errors("tne", rows, config="sample", missing="empty", resampling=NO_CI)
    assert {row[1] for row in empty._to_rows()[1]} == {one["id"] for one in gold}
    with pytest.raises(SubmissionError, match="3 of 4 ids have no prediction"):
        closeread.errors("tne", rows, config="sample")


def test_nothing_is_wrong(ran):
    gold = read_gold(load_corpus("tne"), "sample").records
    json_lines.write(
        "gold.jsonl", [{"id": one["id"], "relations": gold_links(one)} for one in gold]
    )
    found = closeread.errors("tne", "gold.jsonl", config="sample", resampling=NO_CI)
    assert sum(found.counts.values()) == found.counts["right"] > 0
    assert found._to_rows()[1] == []
    assert "Documents with the most errors" not in str(found)
    assert "Most frequent" not in str(found)
