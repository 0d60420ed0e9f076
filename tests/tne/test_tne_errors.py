"""Errors of links: a document by hand, answers of an earlier implementation, and what other commands count."""

import gzip
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import json_lines
from shared.count_tables import sum_counts
from shared.tne_annotated import document
from shared.tne_links import ENDS, gold_links, link
from shared.tne_random import documents
from twins.tne_errors import Places

import closeread
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.counts.estimates import Resampling
from closeread.exceptions import SubmissionError
from closeread.tasks.tne.errors import analyse_links, list_documents
from closeread.tasks.tne.links import tally_links
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


def share(part, whole):
    """A ratio; 0/0 is 0."""
    return Fraction(part, whole) if whole else Fraction(0)


@pytest.mark.parametrize("field", BY_HAND)
def test_scores_by_hand(found, field):
    for part, scores in found.report.slices[field].items():
        right, linked, gold, predicted = BY_HAND[field][part]
        expected = {
            "links/precision": share(right, predicted),
            "links/recall": share(right, gold),
            "unlabeled/precision": share(linked, predicted),
            "unlabeled/recall": share(linked, gold),
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
    assert errors["counts"] == found.counts
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


def test_only_what_is_left_out_is_told():
    # There is one confusion, and one document with errors.
    shown = str(closeread.errors("tne", ROWS, gold=[HOUSE], resampling=NO_CI, limit=1))
    assert "Most frequent confusions" in shown
    assert " more " not in shown


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
def test_breakdowns_are_those_of_the_definitions(given_sides):
    gold, rows = given_sides
    table = count(gold=gold, system=rows, breakdowns=tuple(BREAKDOWNS))
    for field in PLACES:
        expected = Counter()
        for record, row in zip(gold, rows, strict=True):
            places = Places(record)
            for name, pairs in tally_links(record["np_relations"], row["relations"]).items():
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


AGREED = json.loads(
    gzip.decompress((Path(__file__).parent.parent / "agreed" / "tne_links.json.gz").read_bytes())
)
LISTED = 10


def test_errors_are_those_of_the_array_program():
    cases = [case for case in AGREED if "errors" in case]
    assert len(cases) > 100
    for case in cases:
        table = count(gold=case["gold"], system=case["system"], missing="skip")
        analysis = analyse_links(case["gold"], case["system"], table)
        assert {
            "counts": analysis.count(),
            "confusions": analysis.list_confusions(),
            "missed": analysis.list_wordings(missed=True)[:LISTED],
            "spurious": analysis.list_wordings(missed=False)[:LISTED],
            "documents": list_documents(table),
            "rows": list(analysis.list_links()),
        } == case["errors"]


@given(sides())
def test_errors_are_what_scores_leave(given_sides):
    gold, rows = given_sides
    table = count(gold=gold, system=rows)
    analysis = analyse_links(gold, rows, table)
    totals = sum_counts(table)
    counted = analysis.count()
    assert counted["right"] == totals["links/right"]
    assert counted["right"] + counted["confused"] + counted["missing"] == totals["links/gold"]
    assert counted["right"] + counted["confused"] + counted["spurious"] == totals["links/system"]
    assert sum(row["pairs"] for row in analysis.list_confusions()) == counted["confused"]
    n_wrong = sum(counted.values()) - counted["right"]
    assert n_wrong == sum(1 for _ in analysis.list_links())
    assert n_wrong == sum(row["errors"] for row in list_documents(table))
    for missed, side in ((True, "gold"), (False, "system")):
        times = [row["triplets"] for row in analysis.list_wordings(missed=missed)]
        assert sum(times) == totals[f"triplets/{side}"] - totals["triplets/right"]
        assert times == sorted(times, reverse=True)


def test_ties_of_wordings_by_hand():
    # Of four wordings, each missed twice but the first, those in two documents come first, then the order of the texts.
    words = ["a", "b", "c", "d", "b"]
    one = document("one", words, [(0, "of", 1), (0, "of", 4), (2, "of", 3), (1, "in", 0)])
    two = document("two", words, [(2, "of", 3), (1, "in", 0), (3, "in", 0)])
    gold = [one, two]
    rows = [{"id": record["id"], "relations": []} for record in gold]
    analysis = analyse_links(gold, rows, count(gold=gold, system=rows))
    found = [tuple(row.values()) for row in analysis.list_wordings(missed=True)]
    assert found == [
        ("b", "in", "a", 2, 2),
        ("c", "of", "d", 2, 2),
        ("a", "of", "b", 2, 1),
        ("d", "in", "a", 1, 1),
    ]


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
    errors = skipped.to_dict()["errors"]
    assert [one["document"] for one in errors["documents"]] == [gold[0]["id"]]
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
