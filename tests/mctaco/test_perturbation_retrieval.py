"""Phrase retrieval: hand cases, and comparison with a slow, obvious implementation."""

from importlib.util import find_spec
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.for_each import for_each

from closeread.tasks.mctaco.perturbation import candidates as retrieval
from closeread.tasks.mctaco.perturbation.candidates import PhraseIndex

pytestmark = pytest.mark.skipif(find_spec("sklearn") is None, reason="scikit-learn is not installed")

WORD = r"\w+"
PHRASES = ["painted the barn", "sold the barn", "went home", "Went  Home", "home the barn painted"]


@for_each(
    ("text", "k", "expected", "why"),
    [
        ("painted a barn", 1, ["painted the barn"], "the best"),
        ("walked home", 5, ["went home", "home the barn painted"], "the longer phrase is less similar"),
        ("went HOME", 5, ["home the barn painted"], "the text itself is not returned"),
        ("flew away", 5, [], "no word in common"),
        ("", 5, [], "no word"),
        ("barn barn", 2, ["painted the barn", "sold the barn"], "barn weighs less next to the rarer sold"),
    ],
)
def test_hand_cases(text, k, expected, why):
    assert PhraseIndex(PHRASES).similar([text], k) == [expected], why


def test_ties_by_position():
    index = PhraseIndex(["b a", "x", "a b", "a  B", "a c"])
    assert index.similar(["a b c b"], 5)[0][:2] == ["b a", "a b"]
    assert index.similar(["b"], 2) == [["b a", "a b"]]
    assert index.similar(["b"], 1) == [["b a"]]


def test_no_texts():
    assert PhraseIndex(["a"]).similar([], 3) == []


@for_each("phrases", [[], ["", "?!"]])
def test_phrases_without_words_are_an_error(phrases):
    with pytest.raises(ValueError, match=r"no phrase contains a word \(expected at least one\)"):
        PhraseIndex(phrases)


def test_k_below_one_is_an_error():
    with pytest.raises(ValueError, match=r"k is 0 \(expected at least 1\)"):
        PhraseIndex(["a"]).similar(["a"], 0)


def test_missing_library_names_the_extra():
    with (
        mock.patch.dict("sys.modules", {"sklearn.feature_extraction.text": None}),
        pytest.raises(ImportError, match=r"pip install 'closeread\[perturb\]'"),
    ):
        PhraseIndex(["a"])


def slow_similar(phrases, texts, k):
    """Return the same with a dense matrix of all similarities and a full sort."""

    from sklearn.feature_extraction.text import TfidfVectorizer

    distinct = list({" ".join(phrase.casefold().split()): phrase for phrase in reversed(phrases)}.values())
    distinct.sort(key=phrases.index)
    vectorizer = TfidfVectorizer(token_pattern=WORD)
    vectors = vectorizer.fit_transform(distinct).toarray()
    found = []
    for vector, text in zip(vectorizer.transform(texts).toarray(), texts, strict=True):
        similarity = np.round(vectors @ vector, 12)
        order = sorted(range(len(distinct)), key=lambda i: (-similarity[i], i))
        same = " ".join(text.casefold().split())
        usable = [i for i in order if similarity[i] > 0 and " ".join(distinct[i].casefold().split()) != same]
        found.append([distinct[i] for i in usable[:k]])
    return found


SHORT = st.lists(st.sampled_from(["a", "b", "C", "c", "dd", "e e", "  "]), max_size=4).map(" ".join)


@given(
    st.lists(SHORT, min_size=1, max_size=8),
    st.lists(SHORT, min_size=1, max_size=5),
    st.integers(1, 4),
    st.integers(1, 30),
)
def test_agrees_with_the_slow_twin_for_any_batch_size(phrases, texts, k, cells):
    phrases = ["a word", *phrases]
    with mock.patch.object(retrieval, "_CELLS", cells):
        assert PhraseIndex(phrases).similar(texts, k) == slow_similar(phrases, texts, k)
