"""Figures of the running text of TNE's paper, and the random row of its Table 3, by hand."""

from fractions import Fraction
from itertools import product
from statistics import fmean, pstdev

import pytest
from shared.tne_release import cells_of, values_of, write

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.counts.printed_tables import DIFFERS, WITHIN_CHANCE, give_verdict
from closeread.tasks.tne.columns import documents_of
from closeread.tasks.tne.reproduction import describe_test, score_random_title

OF_ALL = "accuracy of prepositions when of is said of every pair, percent"


@pytest.fixture
def sample():
    """A ferry, a library, a cat and a mill: two news stories, a post in a forum and a page of a book."""
    return list(read_gold(load_corpus("tne"), "sample").records)


def document(size, *links):
    """A document of some noun phrases of a token each, and links by their numbers."""
    nps = [
        {"id": f"np{n}", "text": "a", "first_char": 2 * n, "last_char": 2 * n + 1, "first_token": n, "last_token": n}
        for n in range(size)
    ]
    relations = [{"anchor": f"np{a}", "complement": f"np{b}", "preposition": by} for a, by, b in links]
    return {"id": "x", "text": " ".join("a" * size), "tokens": ["a"] * size, "nps": nps, "np_relations": relations}


def percent(*fraction):
    return pytest.approx(float(100 * Fraction(*fraction)))


def test_prepositions_of_pairs_by_hand():
    links = [(0, "of", 1), (0, "in", 1), (1, "in", 2), (2, "of", 0), (2, "in", 1), (2, "of", 1), (1, "of", 0)]
    found = describe_test(documents_of([document(3, *links, (1, "in", 0))]))
    # Five pairs, three of them with of and in; of is the first of three pairs and the last of two.
    assert found[OF_ALL, "8.2"] == percent(2, 5)
    assert found["of for every pair: the first preposition of a pair", "8.2"] == percent(3, 5)
    assert found["of for every pair: any preposition of a pair", "8.2"] == percent(4, 5)
    assert found["of for every pair: share of links", "8.2"] == percent(4, 8)
    assert found["two prepositions of one pair, percent of test", "5.2, footnote 13"] == percent(3, 8)
    shares = [found[f"share of {name}, percent", "6"] for name in ("of", "in", "from", "for")]
    assert shares == [percent(4, 8), percent(4, 8), 0, 0]
    assert found["ordered pairs of k NPs", "2"] == ("6 in test", True)


def test_a_release_of_four_texts(sample, tmp_path):
    ferry, library, cat, mill = sample
    folder = write(tmp_path / "four", train=[library], dev=[ferry], test=[ferry], ood=[cat, mill])
    found = {row: value for (row, _), value in values_of("Text", folder).items()}
    assert found["NPs a document"] == (13 + 13 + 14 + 10 + 11) / 5
    assert found["links a document"] == (15 + 15 + 25 + 16 + 9) / 5
    assert found["links a document, second figure"] == pytest.approx((15 + 15 + 25) / 3)
    assert found["clusters of more than one NP a document"] == (2 + 2 + 3 + 2 + 1) / 5
    assert found["documents for training / development / test / out of domain"] == "1 / 1 / 1 / 2"
    assert found["documents of WikiNews / of other domains"] == "3 / 2"
    assert found["documents with one / two annotators of coreference, percent"] == "67 / 33"
    assert found["annotators of links a document"] == 2
    assert found["paragraphs taken of an article"] == 1
    assert found["NPs that count"] == "1 of 40 are pronouns"  # She, of the library
    assert found["typical number of NPs"] == 13
    kept = "NPs in the first three paragraphs of an article that was kept"
    assert found[kept] == "13 to 14, 0.0 % of documents in this range"
    # of, near, outside, on, among, around; in, from, to; for, about; and member(s) of
    assert found["prepositions, beside member(s) of"] == 11
    for about in (None, {"source": "x"}, {"annotators": None}, {"annotators": {"np-relations_worker": None}}):
        untold = write(tmp_path / "untold", test=[{**ferry, "metadata": about}])
        assert ("annotators of links a document", "5.2") not in values_of("Text", untold)
    assert "documents of IMDB / Gutenberg / Reddit" not in found  # there is none of IMDB
    cells = cells_of("Text", folder)
    for row, column in (("documents", "4"), ("NPs", "4"), ("links", "4"), ("typical number of NPs", "5.2")):
        assert cells["Text", row, column].verdict == DIFFERS


def test_random_titles_of_a_text_by_hand(sample):
    # The ferry: of its links, Ferry has four and Oldhaven two; one of the two is drawn, and links twelve others.
    precision, recall, f1 = score_random_title(documents_of(sample[:1]))
    assert precision == (percent(3, 12), percent(1, 12))
    assert recall == (percent(3, 15), percent(1, 15))
    assert f1 == (percent(2 * 3, 12 + 15), percent(2 * 1, 12 + 15))
    # Twice the ferry: the variance is twice as large.
    again = {**sample[0], "id": "s1 again"}
    precision, _, _ = score_random_title(documents_of([sample[0], again]))
    assert precision == (percent(6, 24), pytest.approx(100 * 2**0.5 / 24))
    assert give_verdict("13.2", precision) == give_verdict("36.8", precision) == DIFFERS  # two deviations are 11.79
    assert give_verdict("13.3", precision) == give_verdict("36.7", precision) == WITHIN_CHANCE


def test_random_titles_are_those_of_all_draws(sample):
    titles = [
        [np["id"] for np in record["nps"] if np["last_char"] <= record["text"].index("\n\n")] for record in sample
    ]
    assert sorted(map(len, titles)) == [1, 2, 2, 3]
    gold = [{(link["anchor"], link["complement"]) for link in record["np_relations"]} for record in sample]
    right = [
        sum(any(b == drawn for _, b in [pair]) for drawn, pairs in zip(draw, gold, strict=True) for pair in pairs)
        for draw in product(*titles)
    ]
    linked = sum(len(record["nps"]) - 1 for record in sample)
    linked_in_gold = sum(map(len, gold))
    scores = score_random_title(documents_of(sample))
    for (mean, deviation), whole in zip(scores, (linked, linked_in_gold, (linked + linked_in_gold) / 2), strict=True):
        assert mean == pytest.approx(100 * fmean(right) / whole)
        assert deviation == pytest.approx(100 * pstdev(right) / whole)
