"""Word vectors that are trained on texts."""

import os
import subprocess
import sys

import numpy as np
import pytest

from closeread.exceptions import MissingExtraError, RequestError
from closeread.neural.trained_vectors import train_vectors

SMALL = {"dimensions": 8, "epochs": 2, "window": 2}
TEXTS = [["a", "b", "a", "\n", "c"], ["b", "a", "B", "\xa0"]]
PHRASES = [f"w{i} w{i % 7} w{i % 3}" for i in range(50)]
SCRIPT = f"""
from closeread.neural.trained_vectors import train_vectors
words, matrix = train_vectors([text.split() for text in {PHRASES}], dimensions=8, epochs=2, min_count=1)
print(words, matrix.tobytes().hex())
"""


@pytest.fixture
def gensim():
    return pytest.importorskip("gensim")


@pytest.mark.usefixtures("gensim")
def test_words_by_frequency_without_white_space():
    words, matrix = train_vectors(TEXTS, **SMALL, min_count=1)
    assert (words[:2], sorted(words[2:])) == (["a", "b"], ["B", "c"])  # 3 times, 2 times, and once
    assert (matrix.shape, matrix.dtype) == ((4, 8), np.float32)
    assert np.isfinite(matrix).all()
    assert train_vectors(iter(TEXTS), **SMALL)[0] == ["a", "b"]  # twice or more


@pytest.mark.usefixtures("gensim")
def test_words_that_occur_in_the_same_places_are_similar():
    rng = np.random.default_rng(0)
    texts = [[str(rng.choice(["cat", "dog"])), "eats", "meat"] for _ in range(300)]
    texts += [[str(rng.choice(["car", "bus"])), "needs", "fuel"] for _ in range(300)]
    words, matrix = train_vectors(texts, dimensions=16, epochs=30, window=2)
    unit = dict(zip(words, matrix / np.linalg.norm(matrix, axis=1, keepdims=True), strict=True))
    assert unit["cat"] @ unit["dog"] > unit["cat"] @ unit["car"]
    assert unit["car"] @ unit["bus"] > unit["bus"] @ unit["dog"]


@pytest.mark.usefixtures("gensim")
def test_a_seed_determines_the_vectors():
    found = [train_vectors(TEXTS, **SMALL, min_count=1, seed=seed)[1] for seed in (3, 3, 4)]
    assert (found[0] == found[1]).all()
    assert (found[0] != found[2]).any()


@pytest.mark.gate
@pytest.mark.usefixtures("gensim")
def test_hashes_of_strings_do_not_matter():
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    words, matrix = train_vectors(
        [text.split() for text in PHRASES], dimensions=8, epochs=2, min_count=1
    )
    assert done.stdout == f"{words} {matrix.tobytes().hex()}\n"


@pytest.mark.usefixtures("gensim")
def test_the_end_of_a_long_text_is_not_cut_off():
    # gensim passes over what follows the first 10,000 words of a text; only there do these two differ.
    body = ["a", "b"] * 5_000
    found = [
        train_vectors([[*body, *end]], dimensions=4, epochs=1, window=1)[1]
        for end in (["x", "y"] * 20, ["x"] * 20 + ["y"] * 20)
    ]
    assert (found[0] != found[1]).any()


@pytest.mark.usefixtures("gensim")
@pytest.mark.parametrize("texts", [[], [[]], [["\n", " "]], [["a", "b"]]])
def test_no_word_is_frequent_enough(texts):
    with pytest.raises(
        RequestError, match=r"no word occurs 2 times or more in the texts \(expected at least one\)"
    ):
        train_vectors(texts)


def test_without_gensim(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    monkeypatch.setitem(sys.modules, "gensim", None)
    with pytest.raises(MissingExtraError) as error:
        train_vectors(TEXTS)
    assert str(error.value) == "training word vectors needs gensim: pip install 'closeread[neural]'"
