"""What is odd in TNE's documents and no error: every oddity once, last tokens that are not given, and the release."""

import pytest
from shared.for_each import for_each
from shared.tne_released import document, link, with_noun_phrase
from twins.tne_rules import count_oddities

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.tasks.tne.columns import PREPOSITIONS, documents_of
from closeread.tasks.tne.rules import find_inconsistencies, find_oddities

TNE = load_corpus("tne")


def odd(**changes):
    return list(find_oddities([document(), document(id="r2", **changes)]))


def test_nothing_odd():
    assert odd() == []
    assert list(find_oddities([])) == []
    assert list(find_oddities([document(nps=[], coref=[], np_relations=[], text="A title without end")])) == []


def test_repeated_links():
    links = [*document()["np_relations"], document()["np_relations"][1]]
    said = "1 link is a duplicate (first: np_relations[3] (np3 of np4) in 'r2')."
    assert odd(np_relations=links) == [said]
    said = "3 links are duplicates (first: np_relations[3] (np3 of np4) in 'r2')."
    assert odd(np_relations=[*links, links[0], links[0]]) == [said]
    assert odd(np_relations=[*links[:3], link("np3", "in", "np4", "cc3")]) == []


def test_cut_tokens():
    tokens = ["Fire", "in", "Ulm", "\n\n", "The", "fire", "destroyed", "the", "roof", "of", "a", "mill.", "\n"]
    said = "1 noun phrase begins or ends inside a token (first: np4 in 'r2')."
    assert odd(tokens=tokens) == [said]
    spaced = document(
        text="Fire in Ulm\n\nThe  fire. \n", tokens=["Fire", "in", "Ulm", "\n\n", "The", " ", "fire", ".", "\n"]
    )
    spaced |= {"nps": spaced["nps"][:3], "coref": spaced["coref"][:2], "np_relations": []}
    spaced["nps"][2] |= {"text": "The  fire", "last_char": 22, "last_token": 6}
    assert list(find_inconsistencies([spaced])) == list(find_oddities([spaced])) == []


def test_no_last_token():
    record = document(id="r2")
    stated = [phrase["last_token"] for phrase in record["nps"]]
    for phrase in record["nps"]:
        phrase["last_token"] = None
    assert list(find_oddities([document(), record])) == [
        "5 noun phrases have no last token; the token in which their words end is used (first: np0 in 'r2')."
    ]
    assert documents_of([record]).noun_phrases.last_token.tolist() == stated
    assert list(find_inconsistencies([record])) == []
    # White space before a closing quotation mark is why a released noun phrase has none.
    tokens = ["Ulm", ":", "the", '"', "Sun", "Post", '"', "lied", "\n\n", "."]
    text = 'Ulm: the "Sun Post "lied\n\n.'
    place = {
        "text": 'the "Sun Post ',
        "first_char": 5,
        "last_char": 19,
        "first_token": 2,
        "last_token": None,
        "id": "np0",
    }
    quoting = {"id": "q", "text": text, "tokens": tokens, "nps": [place], "np_relations": []}
    quoting |= {"coref": [{"id": "cc0", "members": ["np0"], "np_type": "standard"}]}
    assert documents_of([quoting]).noun_phrases.last_token.tolist() == [5]
    assert [notice for notice in find_oddities([quoting]) if "last token" in notice] == [
        "1 noun phrase has no last token; the token in which its words end is used (first: np0 in 'q')."
    ]


def test_no_last_token_and_no_words():
    expected = "(expected a first and a last token among the document's 14 tokens)"
    record = with_noun_phrase(4, first_token=13, last_token=None)
    assert [what for _, what in find_inconsistencies([record])] == [f"id 'r1': np4: its tokens are 13 to 14 {expected}"]
    without = [{key: value for key, value in record.items() if key != "tokens"}]
    assert documents_of(without).noun_phrases.last_token.tolist()[4] == 0
    assert list(find_inconsistencies(without)) == []


def test_equal_spans():
    nps = [*document()["nps"], {**document()["nps"][4], "id": "np5"}]
    coref = [*document()["coref"], {"id": "cc9", "members": ["np5"], "np_type": "standard"}]
    said = "1 noun phrase has the span of another (first: np5 in 'r2')."
    assert odd(nps=nps, coref=coref) == [said]


def test_no_noun_phrase_in_the_title():
    nps = [{**np, "id": f"np{i}"} for i, np in enumerate(document()["nps"][2:])]
    coref = [{"id": f"cc{i}", "members": [f"np{i}"], "np_type": "standard"} for i in range(3)]
    changes = {"nps": nps, "coref": coref, "np_relations": []}
    said = "1 document has no noun phrase in its title (first: 'r2')."
    assert odd(**changes) == [said]
    # Without a blank line there is no title.
    assert odd(**changes, text=document()["text"].replace("\n\n", "\n ")) == []


def test_blanks_at_an_edge():
    nps = document()["nps"]
    nps[4] = {**nps[4], "text": " a mill", "first_char": nps[4]["first_char"] - 1}
    said = "1 noun phrase begins or ends with white space (first: np4 in 'r2')."
    assert odd(nps=nps) == [said]


@for_each("cluster", ["cc2", "cc1"])
def test_linked_times(cluster):
    coref = [
        {**c, "np_type": "time/date/measurement" if c["id"] == cluster else "idiomatic"} for c in document()["coref"]
    ]
    place = {"cc2": "np3", "cc1": "np1"}[cluster]
    said = f"1 linked noun phrase is a time, date or measurement (first: {place} in 'r2')."
    assert odd(coref=coref) == [said]
    assert odd(coref=coref, np_relations=[]) == []
    assert odd(coref=coref, np_relations=...) == []


def test_every_oddity_is_said_once():
    record = document(id="r2")
    record["np_relations"] *= 3
    record["coref"] = [{**c, "np_type": "time/date/measurement"} for c in record["coref"]]
    said = list(find_oddities([document(), record]))
    assert [notice.split(" (")[0] for notice in said] == [
        "6 links are duplicates",
        "4 linked noun phrases are times, dates or measurements",
    ]


@for_each(
    ("text", "first", "tokens", "last"),
    [
        ("war UK", 0, ["x-war", "UK", "."], 1),
        ("war", 0, ["x-war-y", "UK"], 0),
        ("a b", 1, ["x", "a", " ", " ", "b", "c"], 4),
        ("b ", 1, ["a", "b", " ", "c"], 1),
        (" ", 1, ["a", " ", "c"], 1),
        ("a b c", 1, ["x", "a", "b"], 3),
    ],
)
def test_where_words_end(text, first, tokens, last):
    phrase = {"text": text, "first_char": 0, "last_char": 1, "first_token": first, "last_token": None, "id": "np0"}
    record = {"id": "q", "text": "x", "tokens": tokens, "nps": [phrase], "coref": [], "np_relations": []}
    assert documents_of([record]).noun_phrases.last_token.tolist() == [last]


# The release.


@pytest.mark.gate
@for_each(("config", "split", "duplicates"), [
    ("default", "test", 2), ("default", "validation", 9), ("unlabeled", "test", 0), ("unlabeled", "ood", 0),
])  # fmt: skip
def test_the_release_keeps_every_rule(corpora, config, split, duplicates):
    gold = read_gold(TNE, config, split)
    assert list(find_inconsistencies(gold.records)) == []
    said = gold.known_oddities
    assert [int(notice.split(" ")[0].replace(",", "")) for notice in said] == count_oddities(gold.records)
    repeated = [notice for notice in said if "duplicate" in notice]
    assert [int(notice.split(" ")[0]) for notice in repeated] == ([duplicates] if duplicates else [])


@pytest.mark.extended
def test_last_tokens_of_the_release_from_its_words(corpora):
    records = read_gold(TNE, "default", "validation").records
    stated = documents_of(records).noun_phrases.last_token
    unsaid = [{**record, "nps": [{**np, "last_token": None} for np in record["nps"]]} for record in records]
    assert documents_of(unsaid).noun_phrases.last_token.tolist() == stated.tolist()


def test_ids_are_not_in_the_order_of_the_text(corpora):
    phrases = documents_of(read_gold(TNE).records).noun_phrases
    first = phrases.first_char[1:] < phrases.first_char[:-1]
    assert first[phrases.document[1:] == phrases.document[:-1]].any()


@pytest.mark.extended
def test_labels_of_the_release(corpora):
    links = read_gold(TNE).records.links
    assert set(links.label.tolist()) == set(range(1, len(PREPOSITIONS)))
