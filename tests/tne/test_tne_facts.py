"""Figures of TNE's records, by hand."""

from fractions import Fraction

import pytest
from shared.tne_annotated import document

from closeread.corpus.facts import load_facts
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.tasks.tne.links import PREPOSITIONS
from closeread.tasks.tne.rules import find_inconsistencies

CORPUS = load_corpus("tne")
SIZES = {"documents", "tokens", "noun phrases", "clusters of more than one"}
facts = load_facts("tne")


def same(found, expected):
    assert set(found) == set(expected)
    for name, value in expected.items():
        assert found[name] == pytest.approx(float(value), abs=0.00501), name


@pytest.fixture
def sample():
    return {record["id"]: record for record in read_gold(CORPUS, "sample").records}


def test_the_ferry_by_hand(sample):
    found = facts([sample["s1"]])
    expected = {
        "documents": 1,
        "tokens": 40,  # blank lines and line ends are tokens
        "noun phrases": 13,
        "clusters of more than one": 2,  # the ferry, and the day
        "links": 15,
        "pairs": 15,
        "triplets": 15,
        "links, once per cluster": 10,  # four anchors have the ferry twice, one has the day twice
        "links to the title": 6,  # Ferry four times, Oldhaven twice
        "symmetric links": 0,
        "transitive links": 1,  # the captain among the crew, both of the ferry
        # all but Ferry near Oldhaven and the sandbank outside the harbour
        "links between sentences": 13,
        "links to preceding phrases": 13,  # all but the same two
        # in order of the file: 4 3 14 23 12 26 15 30 19 33 22 30 15 10 18
        "mean distance in tokens": Fraction(274, 15),
        "% of links in surface form": Fraction(100, 15),  # a sandbank outside the harbour
        # and Ferry runs aground near Oldhaven
        "% of links in extended surface form": Fraction(200, 15),
        **{f"links: {name}": 0 for name in PREPOSITIONS[1:]},
        "links: of": 7,
        "links: on": 4,
        **{f"links: {name}": 1 for name in ("near", "outside", "among", "around")},
    }
    same(found, expected)


def test_documents_count_alike_in_shares(sample):
    # One of 15 links of the ferry is in surface form, none of nine of the mill: the mean is 1/30, not 1/24.
    found = facts([sample["s1"], sample["s4"]])
    assert found["% of links in surface form"] == round(100 / 30, 2)
    assert found["% of links in extended surface form"] == round(100 * 2 / 30, 2)
    # The neighbours of the miller, and the miller as one of them: two rows, one link both ways.
    assert found["symmetric links"] == 1
    # The captain of the crew as above, and the keys to the doors, both of the mill.
    assert found["transitive links"] == 2


def said(*words, links, nps):
    """A document of these tokens, with single blanks between them, noun phrases by token and links."""
    return document("x", words, links, (), [(place, place) for place in nps])


FILLED = ["so"] * 9


@pytest.mark.parametrize(
    ("words", "nps", "surface", "extended"),
    [
        (("roof", "of", "house"), (0, 2), 100, 100),
        (("roof", "in", "house"), (0, 2), 0, 0),  # another preposition
        (("roof", "of", "house", "house"), (0, 3), 100, 100),  # its words count, not its place
        (("roof", "Of", "house"), (0, 2), 0, 0),
        # something between preposition and complement
        (("roof", "of", "the", "house"), (0, 3), 0, 0),
        (("house", "of", "roof"), (2, 0), 0, 0),  # backwards
        (("roof", "so", "of", "house"), (0, 3), 0, 100),
        (("roof", *FILLED, "of", "house"), (0, 11), 0, 100),  # the preposition is the tenth token
        (("roof", "so", *FILLED, "of", "house"), (0, 12), 0, 0),  # the eleventh
        (("roof", "so", "of"), (0, 1), 0, 0),  # nothing behind the preposition
    ],
)
def test_surface_form(words, nps, surface, extended):
    record = said(*words, nps=nps, links=[(0, "of", 1)])
    assert list(find_inconsistencies([record])) == []
    found = facts([record])
    assert (found["% of links in surface form"], found["% of links in extended surface form"]) == (
        surface,
        extended,
    )


def test_white_space_is_no_token_to_look_ahead():
    record = said("roof", *FILLED, "so", "of", "house", nps=(0, 12), links=[(0, "of", 1)])
    assert facts([record])["% of links in extended surface form"] == 0
    for place in (3, 4, 5):
        record["tokens"][place] = "\n"
    assert facts([record])["% of links in extended surface form"] == 100


def test_no_look_into_the_next_document():
    first = said("house", "roof", nps=(1, 0), links=[(0, "of", 1)])
    second = said("of", "house", nps=(0, 1), links=[(0, "in", 1)])
    assert facts([first, {**second, "id": "y"}])["% of links in extended surface form"] == 0


def test_without_links_only_sizes(sample):
    records = [{**record, "np_relations": None} for record in sample.values()]
    assert set(facts(records)) == SIZES
    # And a document without links is no document with a share of 0.
    assert facts([sample["s1"], records[1]])["% of links in surface form"] == round(100 / 15, 2)
