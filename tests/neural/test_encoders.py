"""Vectors of words in context, with a random encoder."""

import inspect

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from shared.tiny_encoder import make_encoder  # noqa: E402

from closeread.exceptions import RequestError  # noqa: E402
from closeread.neural import encoders  # noqa: E402
from closeread.neural.encoders import Encoder  # noqa: E402

WORDS = [
    "the",
    "roof",
    "of",
    "a",
    "barn",
    "was",
    "painted",
    "red",
    "by",
    "two",
    "men",
    "from",
    "village",
]
LONGEST = 16


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return Encoder.load(
        make_encoder(tmp_path_factory.mktemp("encoder"), WORDS, longest=LONGEST)
    ).eval()


def encode(encoder, documents):
    with torch.inference_mode():
        return encoder(encoder.cut(documents)).numpy()


def encode_alone(encoder, words):
    """The vectors of a document that fits into a window, straight from the model."""
    ids, owner = [2], []
    for number, word in enumerate(words):
        cut = encoder.tokenizer(word, add_special_tokens=False)["input_ids"]
        ids += cut
        owner += [number] * len(cut)
    with torch.inference_mode():
        hidden = (
            encoder.model(input_ids=torch.tensor([[*ids, 3]])).last_hidden_state[0, 1:-1].numpy()
        )
    return np.stack(
        [
            hidden[[piece for piece, word in enumerate(owner) if word == number]].mean(0)
            if number in owner
            else np.zeros(encoder.dimensions)
            for number in range(len(words))
        ]
    )


DOCUMENTS = [["the", "barn"], [], ["two", "zebras", "\n", "painted", "a", "barn"], ["red"]]


def test_words_have_the_means_of_their_pieces(encoder):
    expected = np.concatenate([encode_alone(encoder, words) for words in DOCUMENTS if words])
    np.testing.assert_allclose(encode(encoder, DOCUMENTS), expected, atol=1e-5)


def test_a_word_without_pieces_has_no_vector(encoder):
    assert not encode(encoder, [["the", " \n", "barn"]])[1].any()


def test_a_document_without_words(encoder):
    assert encode(encoder, [[], []]).shape == (0, encoder.dimensions)


def test_selected_documents_have_the_vectors_that_they_have_among_all(encoder):
    pieces = encoder.cut(DOCUMENTS)
    with torch.inference_mode():
        found = encoder([pieces[3], pieces[0]]).numpy()
    np.testing.assert_allclose(found, encode(encoder, [DOCUMENTS[3], DOCUMENTS[0]]), atol=1e-6)


def test_a_document_that_just_fits_is_not_cut(encoder):
    words = (WORDS * 2)[: encoder.longest]
    assert encoder.longest == LONGEST - 2
    np.testing.assert_allclose(encode(encoder, [words]), encode_alone(encoder, words), atol=1e-5)


def test_a_longer_document_has_the_vectors_of_its_windows(encoder):
    # 24 words of one piece; windows of 14 that share at least 3: 0-13 and 10-23, which meet at 12.
    words = (WORDS * 2)[:24]
    expected = np.concatenate(
        [encode_alone(encoder, words[:14])[:12], encode_alone(encoder, words[10:])[2:]]
    )
    np.testing.assert_allclose(
        encode(encoder, [["the"], words]),
        np.concatenate([encode_alone(encoder, ["the"]), expected]),
        atol=1e-5,
    )


def test_dropout_is_that_which_is_set(encoder, tmp_path):
    loaded = Encoder.load(make_encoder(tmp_path, WORDS, dropout=0.5)).train()
    encoders.set_dropout(loaded.model, 0.0)
    pieces = loaded.cut([["the", "barn"]])
    assert torch.equal(loaded(pieces), loaded(pieces))


def test_an_encoder_without_a_fast_tokenizer_is_refused(tmp_path):
    config = transformers.CanineConfig(
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        num_hash_buckets=8,
    )
    transformers.CanineModel(config).save_pretrained(tmp_path)
    transformers.CanineTokenizer().save_pretrained(tmp_path)
    with pytest.raises(RequestError, match="CanineTokenizer is not a fast tokenizer"):
        Encoder.load(tmp_path)


def test_a_model_with_a_decoder_is_refused(tmp_path):
    make_encoder(tmp_path, WORDS)
    transformers.T5Config(d_model=16, d_ff=16, num_layers=1, num_heads=2).save_pretrained(tmp_path)
    with pytest.raises(RequestError, match=r"is a t5 model with a decoder \(expected an encoder\)"):
        Encoder.load(tmp_path)


def test_the_code_of_a_model_is_never_run():
    source = inspect.getsource(encoders)
    assert "trust_remote_code=True" not in source
    assert source.count("from_pretrained(\n") + source.count("from_pretrained(name") == 3
    assert source.count("trust_remote_code=False") == 4
