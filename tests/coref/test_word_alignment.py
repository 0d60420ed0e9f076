"""Words of a system aligned with those of the key."""

import json
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closeread
from closeread.exceptions import InputError, RequestError
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


KEY = ["New", "York-based", "firms", "say", "they", "win"]
OTHER = ["New", "York", "-", "based", "firms", "say", "they", "win"]
CHAINS = [[[0, 1], [4, 4]], [[2, 2], [5, 5]]]


def write(path, *documents):
    """Write documents, each with its words, which may be None, and its clusters."""
    with path.open("w", encoding="utf-8") as file:
        for number, (words, clusters) in enumerate(documents):
            record = {"doc_key": f"d{number}", "sentences": [words], "clusters": clusters}
            if words is None:
                record = {"document": f"d{number}", "clusters": clusters}
            file.write(json.dumps(record) + "\n")
    return path


def score(key, response, **options):
    return closeread.score("coref", response, gold=key, words="align", ci=False, **options)


@pytest.mark.parametrize("order", [1, -1])
def test_mentions_that_fall_on_one_word_are_moved(order, tmp_path):
    # "York" and "based" are both parts of "York-based", so the second one is left out.
    clusters = [[[1, 1], [6, 6]], [[3, 3], [7, 7]]][::order]
    key = write(tmp_path / "key.jsonl", (KEY, CHAINS))
    response = write(tmp_path / "response.jsonl", (OTHER, clusters))
    moved = r"2 mentions moved to the borders of words \(1 onto another, and left out\), and 0 lost"
    with pytest.warns(closeread.CloseReadWarning, match=moved):
        report = score(key, response)
    # "York-based", "they" and "win" are left, of which two are among the four of the key.
    values = {name: estimate.value for name, estimate in report.total.scores.items()}
    assert [values["mentions/precision"], values["mentions/recall"]] == [2 / 3, 1 / 2]
    assert [values["b3/precision"], values["b3/recall"]] == [1 / 2, 1 / 4]


def test_repeated_mentions_have_the_tokens_and_lines_of_the_response(tmp_path):
    key = write(tmp_path / "key.jsonl", (KEY, CHAINS), (KEY, CHAINS))
    clusters = [[[1, 1], [6, 6]], [[3, 3], [6, 6]]]
    response = write(tmp_path / "response.jsonl", (OTHER, []), (OTHER, clusters))
    with pytest.raises(InputError) as caught:
        score(key, response)
    (problem,) = caught.value.problems
    assert problem.line == 2
    assert "the mention of tokens 6 to 6 is in entities" in problem.text


def test_words_are_needed_on_both_sides(tmp_path):
    with_words, without = (KEY, CHAINS), (None, CHAINS)
    whole = write(tmp_path / "whole.jsonl", with_words, with_words)
    write(tmp_path / "none.jsonl", without, without)
    some = [{"doc_key": "d0", "sentences": [KEY], "clusters": CHAINS}]
    some.append({"doc_key": "d1", "clusters": CHAINS})
    path = tmp_path / "some.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in some))
    needs = "words='align' needs words on both sides, but document"
    with pytest.raises(RequestError, match=f"{needs} 'd0' of the response has none"):
        score(whole, tmp_path / "none.jsonl")
    with pytest.raises(RequestError, match=f"{needs} 'd0' of the key has none"):
        score(tmp_path / "none.jsonl", whole)
    with pytest.raises(RequestError, match=f"{needs} 'd1' of the response has none"):
        score(whole, path)


def test_repeats_of_documents_without_words_have_no_line(tmp_path):
    key = write(tmp_path / "key.jsonl", (KEY, CHAINS), (KEY, CHAINS))
    records = [
        {"doc_key": "d0", "sentences": [KEY], "clusters": CHAINS},
        {"doc_key": "d1", "clusters": [*CHAINS, [[5, 5]]]},
    ]
    path = tmp_path / "response.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    with pytest.raises(InputError, match="the mention of tokens 5 to 5 is in entities"):
        closeread.score("coref", path, gold=key, ci=False)
