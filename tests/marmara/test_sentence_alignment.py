"""Sentences of another edition are found by the words that are known of them."""

from itertools import permutations
from math import isclose, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import sentence_alignment as twin

from closeread.tasks.marmara.placing import (
    Match,
    Stretch,
    Target,
    align,
    choose_spans,
    find_quotes,
    find_spans,
    key_sentence,
    make_key,
    match_sentence,
    pick_best,
)

ANYWHERE = (0, 99)


def stretch(text, first, last=None):
    return Stretch(make_key(text), first, first if last is None else last)


def find(sentence, *stretches):
    """The match of stretches in a sentence of words and blanks."""
    return match_sentence(key_sentence(sentence.split()), stretches)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Işık", "IŞIK"),  # I is the capital of ı
        ("izmir", "İZMİR"),
        ("İzmir", "I\u0307zmir"),  # a letter and its dot, composed
        ("Ayşe'nin", "Ayşe’nin"),
        ("Ayşe'nin", "Ayşenin"),
        ("kabul etti", "kabul_etti"),
        ('"Ev"', "“ev”"),
        ("on  iki", "on\u00a0iki"),
    ],
)
def test_editions_agree(text, other):
    assert make_key(text) == make_key(other)


@pytest.mark.parametrize(("text", "other"), [("ışık", "işik"), ("kar", "kâr"), ("o.", "o")])
def test_texts_differ(text, other):
    assert make_key(text) != make_key(other)


def test_a_treebank_token_is_several_tokens_elsewhere():
    """What is one token in the treebank, of two parts, is found as two tokens of UD, after a longer way."""
    match = find("Ali dün kabul etti .", stretch("kabul_etti", 1))
    # √9 = 3, the most a stretch weighs, one token away
    assert match == Match(3 / (1 + 0.3 * 1), [(2, 3)])


def test_only_at_borders_of_tokens():
    assert find("onlar kitaplar aldı", stretch("kitap", 1)) is None
    assert find("on lar", stretch("n", 0)) is None
    assert find("al dı", stretch("aldı", 0)).spans == [(0, 1)]


def test_nearest_place():
    """Of the places 0, 3 and 6, 3 is the nearest to 4."""
    match = find("o dedi ki o geldi ve o gitti", stretch("o", 4))
    assert match.spans == [(3, 3)]
    assert isclose(match.score, 1 / 1.3)


def test_score_sums_over_stretches():
    """Kedi: √4 in its place; Ayşe'nin evindeki: 15 letters count as 9, 2 tokens away."""
    match = find(
        "dün bir de Ayşe'nin evindeki kedi", stretch("kedi", 5), stretch("Ayşe'nin evindeki", 1, 2)
    )
    assert isclose(match.score, sqrt(4) + 3 / (1 + 0.3 * 2))
    assert match.spans == [(5, 5), (3, 4)]


def test_all_stretches_must_be_found():
    assert find("Ali ile Veli geldi", stretch("Ali", 0), stretch("Veli", 1))
    assert find("Ali geldi", stretch("Ali", 0), stretch("Veli", 1)) is None


def test_same_text_twice():
    """Both would be nearest to the second place; they stay apart, and in their order."""
    assert find("sen x x x sen y", stretch("sen", 3), stretch("sen", 5)).spans == [(0, 0), (4, 4)]
    assert find("sen x x x sen y", stretch("sen", 5), stretch("sen", 3)).spans == [(4, 4), (0, 0)]
    assert find("sen geldi", stretch("sen", 0), stretch("sen", 2)) is None


def test_what_is_before_stays_before():
    """`ev` is nearest to the last place, but `eski ev` must come after it."""
    assert find("ev ve o eski ev", stretch("ev", 3), stretch("eski ev", 5, 6)).spans == [
        (0, 0),
        (3, 4),
    ]
    assert find("ev ve o ev eski", stretch("ev", 3), stretch("ev eski", 4, 5)).spans == [
        (0, 0),
        (3, 4),
    ]
    assert find("Veli ile Ali", stretch("Ali", 0), stretch("Veli", 2)) is None


def test_nested_stretches():
    assert find("Ali'nin evi", stretch("Ali'nin", 0), stretch("Ali'nin evi", 0, 1)).spans == [
        (0, 0),
        (0, 1),
    ]


def test_tokens_without_a_key():
    """Quotation marks are neither the first nor the last token, but may be inside."""
    sentence = key_sentence(['"', "Ev", '"', "dedi"])
    assert find_spans(sentence, "ev") == [(1, 1)]
    assert find_spans(sentence, "evdedi") == [(1, 3)]


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("Ev", (1, 1), (1, 1)),
        ('"Ev"', (1, 1), (0, 2)),
        ("“Ev", (1, 1), (0, 1)),
        ("Ev ”", (1, 1), (1, 2)),
        ("'dedi'", (3, 3), (2, 3)),  # nothing follows
    ],
)
def test_quotation_marks_of_their_own(text, place, expected):
    assert find_quotes(text, place, ['"', "Ev", '"', "dedi"]) == expected


def test_quotation_marks_in_a_token():
    assert find_quotes('"Ev"', (1, 1), ["'", '"Ev"', "'"]) == (1, 1)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ({}, None),
        ({4: 0.1}, 4),
        ({4: 1.2, 7: 1.0}, 4),
        ({4: 1.0, 7: 1.19}, None),
        ({4: 1.0, 7: 1.2, 9: 0.5}, 7),
    ],
)
def test_clear_advantage(scores, expected):
    best = pick_best({Target("d", i): Match(score, []) for i, score in scores.items()})
    assert (best and best.sentence) == expected


def test_align_prefers_the_greatest_sum():
    """The best of the first row, 5, would leave nothing for the second."""
    assert align([{0: 3, 2: 5}, {1: 4}]) == [0, 1]
    assert align([{0: 3, 2: 8}, {1: 4}]) == [2, None]
    assert align([{}, {3: 1}]) == [None, 3]
    assert align([]) == []


WORDS = st.sampled_from(["a", "b", "ab", "ba", "'", "A_B"])
SCORES = st.lists(st.dictionaries(st.integers(0, 5), st.integers(1, 9), max_size=4), max_size=5)


@given(SCORES)
@settings(max_examples=150)
def test_align_equals_brute_force(scores):
    """No assignment in order has a greater sum."""
    assigned = {row: column for row, column in enumerate(align(scores)) if column is not None}
    sums = {tuple(sorted(one.items())): total for one, total in twin.list_assignments(scores)}
    assert sums[tuple(sorted(assigned.items()))] == max(sums.values())


@given(st.lists(WORDS, max_size=5), st.lists(WORDS, min_size=1, max_size=3))
@settings(max_examples=150)
def test_find_places_equals_brute_force(tokens, words):
    key = make_key("".join(words))
    if key:
        assert find_spans(key_sentence(tokens), key) == twin.list_places(tokens, key, make_key)


@given(st.data())
@settings(max_examples=150)
def test_choose_places_equals_brute_force(data):
    begins = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=6, unique=True).map(sorted))
    size = data.draw(st.integers(0, 2))
    places = [(begin, begin + size) for begin in begins]
    firsts = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=len(places)).map(sorted))
    bound = st.tuples(st.integers(0, 4), st.integers(3, 9)) | st.just(ANYWHERE)
    bounds = [data.draw(bound) for _ in firsts]
    expected, chosen = (
        twin.choose_places(firsts, places, bounds),
        choose_spans(firsts, places, bounds),
    )
    assert (chosen is None) == (expected is None)
    if chosen is not None:
        assert tuple(chosen) == expected


@given(st.lists(st.lists(WORDS, min_size=1, max_size=6), min_size=1, max_size=3), st.data())
@settings(max_examples=150)
def test_places_of_a_match(sentences, data):
    """Stretches of a sentence, wherever they are found, are there, all different and in their order."""
    tokens = data.draw(st.sampled_from(sentences))
    spans = [
        (i, j)
        for i in range(len(tokens))
        for j in range(i, len(tokens))
        if make_key("".join(tokens[i : j + 1]))
    ]
    chosen = (
        data.draw(st.lists(st.sampled_from(spans), min_size=1, max_size=3, unique=True))
        if spans
        else []
    )
    stretches = [Stretch(make_key("".join(tokens[i : j + 1])), i, j) for i, j in chosen]
    # Stretches with the same key that overlap are one for callers.
    twice = any(
        one.key == other.key and one.first <= other.first <= one.last
        for one, other in permutations(stretches, 2)
    )
    if (
        not stretches
        or twice
        or any(make_key(tokens[i]) == "" or make_key(tokens[j]) == "" for i, j in chosen)
    ):
        return
    for sentence in sentences:
        match = match_sentence(key_sentence(sentence), stretches)
        assert match or sentence != tokens
        if match is None:
            continue
        keys = list(map(make_key, sentence))
        assert ["".join(keys[first : last + 1]) for first, last in match.spans] == [
            one.key for one in stretches
        ]
        assert len(set(match.spans)) == len(stretches)
        for one, (_, last) in zip(stretches, match.spans, strict=True):
            for other, (first, _) in zip(stretches, match.spans, strict=True):
                assert one.last >= other.first or last < first
