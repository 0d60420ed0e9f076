"""Vectors of words in context, with a random encoder."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from shared.tiny_encoder import make_encoder, make_tokenizer  # noqa: E402

from closeread.exceptions import RequestError  # noqa: E402
from closeread.neural.encoders import (  # noqa: E402
    SPECIAL,
    encode_words,
    load_encoder,
    load_tokenizer,
    longest_input,
    set_dropout,
    tokenize_words,
)
from closeread.neural.fill_mask import FillMask  # noqa: E402

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


class Encoder:
    """An encoder with its tokenizer, in a folder."""

    def __init__(self, folder):
        self.tokenizer = load_tokenizer(folder)
        self.model = load_encoder(folder, transformers.AutoModel).eval()
        self.longest = longest_input(self.tokenizer, self.model.config)

    def encode(self, words):
        """The vectors of the words of a document, (n_words, dimensions)."""
        (windows,) = tokenize_words(self.tokenizer, [words], self.longest)
        tokens = [window.tokens for window in windows]
        padded = self.tokenizer.pad({"input_ids": tokens}, return_tensors="pt")
        longest = padded["input_ids"].shape[1]
        rows = [window.words + [SPECIAL] * (longest - len(window.words)) for window in windows]
        with torch.inference_mode():
            return encode_words(self.model, torch.tensor(rows), len(words), **padded).numpy()


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return Encoder(make_encoder(tmp_path_factory.mktemp("encoder"), WORDS, longest=LONGEST))


def encode_window(encoder, words):
    """The vectors of all tokens of a document that fits into a window, straight from the model, and their words."""
    ids, owner = [2], []
    for number, word in enumerate(words):
        tokens = encoder.tokenizer(word, add_special_tokens=False)["input_ids"]
        ids += tokens
        owner += [number] * len(tokens)
    with torch.inference_mode():
        hidden = encoder.model(input_ids=torch.tensor([[*ids, 3]])).last_hidden_state[0, 1:-1]
    return hidden.numpy(), np.array(owner)


def encode_alone(encoder, words):
    """The vectors of words of a document that fits into a window: the means of those of their tokens."""
    hidden, owner = encode_window(encoder, words)
    vectors = np.zeros((len(words), hidden.shape[1]))
    for number in set(owner.tolist()):
        vectors[number] = hidden[owner == number].mean(0)
    return vectors


@pytest.mark.parametrize(
    "words", [["the", "barn"], ["two", "zebras", "\n", "painted", "a", "barn"], ["red"]]
)
def test_words_have_the_means_of_their_tokens(encoder, words):
    vectors = encoder.encode(words)
    np.testing.assert_allclose(vectors, encode_alone(encoder, words), atol=1e-5)


def test_a_word_without_tokens_has_no_vector(encoder):
    assert not encoder.encode(["the", " \n", "barn"])[1].any()


def test_documents_without_words(encoder):
    assert encoder.encode([]).shape == (0, encoder.model.config.hidden_size)
    assert tokenize_words(encoder.tokenizer, [], LONGEST) == []


def test_a_document_that_just_fits_is_one_window(encoder):
    words = (WORDS * 2)[: LONGEST - 2]
    assert encoder.longest == LONGEST
    np.testing.assert_allclose(encoder.encode(words), encode_alone(encoder, words), atol=1e-5)


def test_a_longer_document_has_the_means_of_its_windows(encoder):
    # 20 words of one token; windows of 14 that share 16 / 4 = 4: 0-13 and 10-19.
    words = (WORDS * 2)[:20]
    first, _ = encode_window(encoder, words[:14])
    second, _ = encode_window(encoder, words[10:])
    expected = np.concatenate([first[:10], (first[10:] + second[:4]) / 2, second[4:]])
    np.testing.assert_allclose(encoder.encode(words), expected, atol=1e-5)


def test_dropout_is_that_which_is_set(tmp_path):
    encoder = Encoder(make_encoder(tmp_path, WORDS, dropout=0.5))
    encoder.model.train()
    assert not np.array_equal(encoder.encode(["the", "barn"]), encoder.encode(["the", "barn"]))
    set_dropout(encoder.model, 0.0)
    np.testing.assert_array_equal(encoder.encode(["the", "barn"]), encoder.encode(["the", "barn"]))


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
        load_tokenizer(tmp_path)


def test_a_model_with_a_decoder_is_refused(tmp_path):
    make_encoder(tmp_path, WORDS)
    transformers.T5Config(d_model=16, d_ff=16, num_layers=1, num_heads=2).save_pretrained(tmp_path)
    with pytest.raises(RequestError, match=r"is a t5 model with a decoder \(expected an encoder\)"):
        load_encoder(tmp_path, transformers.AutoModel)


def test_a_tokenizer_without_padding_is_refused(tmp_path):
    tokenizer = make_tokenizer(WORDS, LONGEST)
    tokenizer.pad_token = None
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(RequestError, match=r"has no padding token \(expected an encoder\)"):
        load_tokenizer(tmp_path)


def test_an_encoder_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(RequestError, match=r"nowhere: its tokenizer can't be loaded \(expected a"):
        load_tokenizer(tmp_path / "nowhere")
    make_tokenizer(WORDS, LONGEST).save_pretrained(tmp_path)
    with pytest.raises(RequestError, match="can't be loaded as an encoder"):
        load_encoder(tmp_path, transformers.AutoModel)


MODEL_CODE = """
from pathlib import Path

import transformers

Path({path!r}).touch()


class Config(transformers.PretrainedConfig):
    model_type = "strange"


class Model(transformers.PreTrainedModel):
    config_class = Config
"""


@pytest.mark.parametrize(
    "auto_class", ["AutoModel", "AutoModelForSequenceClassification", "AutoModelForMaskedLM"]
)
def test_the_code_of_a_model_is_never_run(auto_class, tmp_path, monkeypatch):
    """Neither where the repository asks for it, nor after a user's yes."""
    monkeypatch.setattr("builtins.input", lambda *_: "y")
    folder = tmp_path / "model"
    make_tokenizer(WORDS, LONGEST).save_pretrained(folder)
    witness = tmp_path / "code_has_run"
    (folder / "strange.py").write_text(MODEL_CODE.format(path=str(witness)), "utf-8")
    names = {"AutoConfig": "strange.Config", auto_class: "strange.Model"}
    (folder / "config.json").write_text(
        json.dumps({"model_type": "strange", "auto_map": names}), "utf-8"
    )
    with pytest.raises((RequestError, ValueError)):
        load_encoder(folder, getattr(transformers, auto_class))
    with pytest.raises((RequestError, ValueError)):
        FillMask(str(folder), device="cpu")
    assert not witness.exists()
    # That this would have been noticed.
    transformers.AutoConfig.from_pretrained(folder, trust_remote_code=True)
    assert witness.exists()


@pytest.mark.parametrize(
    ("config", "limit", "longest"),
    [
        # RoBERTa counts positions after that of padding, which is 1: two are never used.
        (transformers.RobertaConfig(max_position_embeddings=514, pad_token_id=1), 10**6, 512),
        (transformers.BertConfig(max_position_embeddings=512), 10**6, 512),
        (transformers.BertConfig(max_position_embeddings=512), 128, 128),
        (transformers.T5Config(), 10**6, 4096),  # relative positions
        (transformers.T5Config(), 512, 512),
    ],
)
def test_the_longest_input(config, limit, longest):
    tokenizer = SimpleNamespace(model_max_length=limit)
    assert longest_input(tokenizer, config) == longest
