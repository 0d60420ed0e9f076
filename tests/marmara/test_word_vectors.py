"""Word vectors: the file, the principal components, and the vectors of mentions."""

import gzip

import numpy as np
import pytest
from papers.figures import load_rows
from shared.turkish_sentences import document

from closeread.exceptions import FormatError
from closeread.tasks.marmara.documents import read_tokens
from closeread.tasks.marmara.mentions import PRONOUNS
from closeread.tasks.marmara.pairs import (
    N_COMPONENTS,
    Vectors,
    describe_mentions,
    find_cosines,
    find_words,
    read_vectors,
)

GOOD = b"3 2\nev 1 0.5\nal\xc4\xb1 -1e-1 2 \r\n\xc2\xa0 0 0\n"


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_only_words_that_are_asked_for_are_kept(here, pack):
    (here / "v.vec").write_bytes(pack(GOOD))
    found = read_vectors(here / "v.vec", {"alı", "yok", "\xa0"})
    assert found.n_dimensions == 2
    assert {word: vector.tolist() for word, vector in found.words.items()} == {
        "alı": [-0.1, 2.0],
        "\xa0": [0.0, 0.0],
    }


def test_what_is_no_file(here):
    with pytest.raises(FormatError, match=r"none\.vec: can't be read: No such file or directory"):
        read_vectors(here / "none.vec", ())
    with pytest.raises(FormatError, match="can't be read: Is a directory"):
        read_vectors(here, ())


def test_components_need_as_many_dimensions(here):
    (here / "v.vec").write_bytes(b"1 2\nev 1 2\n")
    with pytest.raises(
        FormatError,
        match=r"v\.vec:1: is not the first line of word vectors .* dimensions, at least 15\)",
    ):
        read_vectors(here / "v.vec", (), n_components=15)


def test_principal_components_by_singular_values(here):
    rng = np.random.default_rng(3)
    x = (rng.normal(size=(3000, 5)) * [5, 4, 3, 2, 1] @ rng.normal(size=(5, 5)) + 7).round(3)
    lines = [f"w{i} {' '.join(map(str, row))}\n" for i, row in enumerate(x.tolist())]
    (here / "v.vec").write_text(f"{len(x)} 5\n{''.join(lines)}")
    found = read_vectors(here / "v.vec", {"w0", "w7", "w2999", "none"}, n_components=3)
    # Another way to the same components: the singular vectors of the centred file, their largest coordinate positive.
    centred = x - x.mean(axis=0)
    axes = np.linalg.svd(centred)[2][:3]
    axes *= np.sign([axis[np.abs(axis).argmax()] for axis in axes])[:, None]
    assert found.n_dimensions == 3
    assert sorted(found.words) == ["w0", "w2999", "w7"]
    for word, vector in found.words.items():
        np.testing.assert_allclose(vector, axes @ centred[int(word[1:])], atol=1e-8)


def test_vectors_of_mentions():
    record = document("Ali'nin Ali Noun 2 POSSESSOR\nEvi ev Noun\nyandı yan Verb")
    tokens = read_tokens(record)
    assert find_words([tokens]) == {"ali", "evi", "yandı"}
    vectors = Vectors(
        2, {"ali": np.array([3.0, 4.0]), "evi": np.array([1.0, 0.0]), "Evi": np.array([9.0, 9.0])}
    )
    found = describe_mentions(tokens, [(0, 1), (0, 0), (2, 2)], PRONOUNS, vectors).vectors
    # The head of [Ali'nin Evi] is Evi; its mean is (4, 4) / 2.  yandı is unknown: zeros.
    assert found.values.tolist() == [[1, 0, 2, 2], [3, 4, 3, 4], [0, 0, 0, 0]]
    cosines = find_cosines(found, np.array([0, 0, 1]), np.array([1, 2, 1]))
    # (1, 0) and (3, 4): 3/5; (2, 2) and (3, 4): 14 / (√8 · 5); what is unknown: 0.
    np.testing.assert_allclose(cosines, [[3 / 5, 0, 1], [14 / (8**0.5 * 5), 0, 1]])


def test_as_many_components_as_the_paper_prints():
    text = load_rows("marmara_coref", "Text")
    assert [*text["principal components"].values()] == [str(N_COMPONENTS)]
