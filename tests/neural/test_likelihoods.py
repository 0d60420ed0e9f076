"""Likelihoods of texts, with random language models, against twins that read one sequence at a time."""

import inspect

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from shared.tiny_encoder import make_encoder, make_tokenizer  # noqa: E402
from twins.likelihoods import causal_likelihood, masked_likelihood  # noqa: E402

from closeread.exceptions import RequestError  # noqa: E402
from closeread.neural import likelihoods  # noqa: E402
from closeread.neural.likelihoods import CAUSAL, MASKED, LikelihoodModel  # noqa: E402
from closeread.neural.pairs import TextPairs  # noqa: E402

WORDS = [
    "the",
    "roof",
    "of",
    "a",
    "barn",
    "was",
    "painted",
    "how",
    "long",
    "did",
    "it",
    "take",
    "two",
    "days",
    "?",
]
LONGEST = 24
PAIRS = TextPairs(
    [
        "the barn was painted how long ?",
        "a roof",
        "the barn was painted how long ?",
        "did it take long ?",
    ],
    ["two days", "days", "it was a zoo", "of the barn ?"],
)


def make_model(folder, kind):
    torch.manual_seed(0)
    tokenizer = make_tokenizer(WORDS, LONGEST)
    if kind == MASKED:
        # With the usual range of 0.02, the context hardly matters.
        config = transformers.BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=LONGEST,
            initializer_range=0.7,
        )
        transformers.BertForMaskedLM(config).save_pretrained(folder)
    else:
        config = transformers.GPT2Config(
            vocab_size=len(tokenizer),
            n_embd=16,
            n_layer=2,
            n_head=2,
            n_positions=LONGEST,
            initializer_range=0.7,
        )
        transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def masked(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("masked"), MASKED)


@pytest.fixture(scope="module")
def causal(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("causal"), CAUSAL)


def test_a_masked_model_sees_all_but_one_piece(masked, monkeypatch):
    model = LikelihoodModel.load(masked)
    assert model.kind == MASKED
    tokenizer = transformers.AutoTokenizer.from_pretrained(masked)
    twin = transformers.AutoModelForMaskedLM.from_pretrained(masked).eval()
    expected = [masked_likelihood(tokenizer, twin, *pair) for pair in zip(*PAIRS, strict=True)]
    np.testing.assert_allclose(model.score(PAIRS), expected, atol=1e-5)
    assert np.ptp(expected) > 0.1
    monkeypatch.setattr(likelihoods, "PIECES_AT_ONCE", 1)
    np.testing.assert_allclose(model.score(PAIRS), expected, atol=1e-5)
    assert not model.n_cut


def test_a_causal_model_sees_what_is_before(causal):
    model = LikelihoodModel.load(causal)
    assert model.kind == CAUSAL
    tokenizer = transformers.AutoTokenizer.from_pretrained(causal)
    twin = transformers.AutoModelForCausalLM.from_pretrained(causal).eval()
    # The tokenizer begins a text with [CLS]; what ends it is not seen.
    expected = [
        causal_likelihood(tokenizer, twin, *pair, start=[tokenizer.cls_token_id])
        for pair in zip(*PAIRS, strict=True)
    ]
    np.testing.assert_allclose(model.score(PAIRS), expected, atol=1e-5)
    assert np.ptp(expected) > 0.1


@pytest.mark.parametrize("kind", [MASKED, CAUSAL])
def test_long_texts_lose_their_beginning(kind, request):
    model = LikelihoodModel.load(request.getfixturevalue(kind))
    # Of 24 pieces, a masked model needs two for itself and a causal one, which has no end, needs one.
    room = LONGEST - (2 if kind == MASKED else 1)
    fits = ["the", "barn", *["was"] * (room - 4)]
    pairs = TextPairs(
        [" ".join(fits), " ".join(["roof", *fits]), " ".join(["long"] * 50 + fits)],
        ["two days"] * 3,
    )
    scores = model.score(pairs)
    np.testing.assert_allclose(scores, scores[0], atol=1e-6)
    assert model.n_cut == 2


@pytest.mark.parametrize(
    ("text", "found"), [(" ", "' ' has 0 tokens"), ("days " * 22, "has 22 tokens")]
)
def test_an_answer_needs_pieces_and_room(masked, text, found):
    with pytest.raises(RequestError, match=rf"{found} of this model \(expected from 1 to 21\)"):
        LikelihoodModel.load(masked).score(TextPairs(["the barn"], [text]))


def test_no_pairs(masked):
    assert LikelihoodModel.load(masked).score(TextPairs([], [])).tolist() == []


def test_other_models_are_refused(tmp_path):
    make_encoder(tmp_path, WORDS)
    with pytest.raises(
        RequestError, match=r"is BertModel \(expected a masked or causal language model"
    ):
        LikelihoodModel.load(tmp_path)


def test_parameters_are_never_random(masked, tmp_path):
    model = transformers.AutoModel.from_pretrained(masked)
    model.save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(masked).save_pretrained(tmp_path)
    # says that it has a head
    transformers.AutoConfig.from_pretrained(masked).save_pretrained(tmp_path)
    with pytest.raises(
        RequestError, match=r"lacks parameters of a masked language model: 'cls.predictions"
    ):
        LikelihoodModel.load(tmp_path)


def test_the_code_of_a_model_is_never_run():
    source = inspect.getsource(likelihoods)
    assert "trust_remote_code=True" not in source
    assert source.count("from_pretrained(") == source.count("trust_remote_code=False") == 2
    assert "weights_only=True" in source
