"""Words of a system aligned with those of the key."""

import time
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from closeread.tasks.coref.alignment import LOST, align_words

WORDS = st.lists(st.text("abcXé", min_size=1, max_size=6), max_size=30)


@st.composite
def two_tokenisations(draw):
    text = draw(st.text("abc", min_size=1, max_size=60))
    cuts = [draw(st.sets(st.integers(1, len(text)), max_size=20)) for _ in range(2)]
    return [
        [
            text[a:b]
            for a, b in zip([0, *sorted(cut)], [*sorted(cut), len(text)], strict=True)
            if a < b
        ]
        for cut in cuts
    ]


@given(sides=two_tokenisations())
def test_equal_text_maps_identically(sides):
    system, key = sides
    starts = [np.cumsum([0, *map(len, words)]).tolist() for words in sides]
    word_of = [j for j, word in enumerate(key) for _ in word]
    found = align_words(system, key)
    assert found.first == [word_of[a] for a in starts[0][:-1]]
    assert found.last == [word_of[b - 1] for b in starts[0][1:]]
    borders = set(starts[1])
    assert found.is_whole == [{a, b} <= borders for a, b in pairwise(starts[0])]
    assert (found.n_equal, found.n_missing) == (len(system), 0)


@given(system=WORDS, key=WORDS)
def test_monotone(system, key):
    found = align_words(system, key)
    kept = [(a, b) for a, b in zip(found.first, found.last, strict=True) if a != LOST]
    assert all(0 <= a <= b < len(key) for a, b in kept)
    assert all(one[1] <= other[0] or one[0] == other[0] for one, other in pairwise(kept))
    assert [a for a, _ in kept] == sorted(a for a, _ in kept)
    assert [b for _, b in kept] == sorted(b for _, b in kept)


@given(
    key=st.lists(st.integers(100, 999).map("w{}".format), min_size=1, max_size=40, unique=True),
    data=st.data(),
)
def test_left_out_words_are_missing(key, data):
    left = data.draw(st.sets(st.integers(0, len(key) - 1), max_size=len(key) // 3))
    kept = [i for i in range(len(key)) if i not in left]
    found = align_words([key[i] for i in kept], key)
    # Characters of a word that is left out may be equal to its neighbour's; that no word is lost doesn't depend on it.
    assert found.first.count(LOST) == 0
    if not left:
        assert found.first == kept


def test_a_large_document():
    rng = np.random.default_rng(5)
    key = [f"w{n:x}" for n in rng.integers(0, 20_000, 100_000)]
    changed = set(rng.choice(100_000, 1_000, replace=False).tolist())
    system = ["other" if i in changed else word for i, word in enumerate(key)]
    begin = time.process_time()
    found = align_words(system, key)
    assert time.process_time() - begin < 150
    right = sum(found.first[i] == found.last[i] == i for i in range(100_000) if i not in changed)
    assert right > 98_800
    assert found.n_equal >= right
