"""The fill-mask model, on tiny models with random weights."""

import json
from unittest import mock

import pytest

from closeread.exceptions import RequestError
from closeread.neural import fill_mask
from closeread.neural.fill_mask import FillMask

pytestmark = pytest.mark.gate

# fmt: off
WORDS = [
    "the", "barn", "was", "painted", "how", "long", "did", "it", "take", "two", "days", "weeks", "years", "a",
    "few", "?", ".",
]
# fmt: on


def test_missing_libraries_name_the_extra():
    with (
        mock.patch.dict("sys.modules", {"torch": None}),
        pytest.raises(ImportError, match=r"pip install 'closeread\[neural\]'"),
    ):
        FillMask("no-such-model")


@pytest.fixture(scope="module")
def tiny_bert(tmp_path_factory):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("tiny-bert")
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, "##s", "##ing", "paint"]
    (folder / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    transformers.BertTokenizer(str(folder / "vocab.txt"), model_max_length=24).save_pretrained(
        folder
    )
    config = transformers.BertConfig(
        vocab_size=len(pieces),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=26,
        initializer_range=1.0,  # with the usual 0.02 the context hardly matters
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.BertForMaskedLM(config).save_pretrained(folder)
    return str(folder)


TEXTS = [
    "the barn was painted . how long did it take ? two [MASK]",
    "how long ? [MASK] days",
    "the barn was painted . how long did it take ? a few [MASK] .",
]


def test_returns_whole_words_best_first(tiny_bert, monkeypatch):
    monkeypatch.setattr(fill_mask, "MAX_WORDS", 4)
    model = FillMask(tiny_bert, device="cpu")
    words = model(TEXTS)
    assert (model(TEXTS[::-1]), model([])) == (words[::-1], [])
    assert [len(found) for found in words] == [4, 4, 4]
    assert all(word in [*WORDS, "paint"] for found in words for word in found)
    monkeypatch.setattr(fill_mask, "MAX_WORDS", 8)
    longer = model(TEXTS)
    assert [len(found) for found in longer] == [8, 8, 8]
    assert [found[:4] for found in longer] == words


def test_batches_give_the_same_words_as_single_texts(tiny_bert, monkeypatch):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_bert)
    model = transformers.AutoModelForMaskedLM.from_pretrained(tiny_bert).eval()
    monkeypatch.setattr(fill_mask, "MAX_WORDS", 3)
    monkeypatch.setattr(fill_mask, "TEXTS_AT_ONCE", 2)
    found = FillMask(tiny_bert, device="cpu")(TEXTS)
    for text, words in zip(TEXTS, found, strict=True):
        encoded = tokenizer(text, return_tensors="pt")
        with torch.inference_mode():
            scores = model(**encoded).logits[
                0, encoded["input_ids"][0].tolist().index(tokenizer.mask_token_id)
            ]
        order = tokenizer.convert_ids_to_tokens(scores.argsort(descending=True).tolist())
        assert words == [token for token in order if token in [*WORDS, "paint"]][:3]


def test_long_sentences_are_truncated_at_the_beginning(tiny_bert):
    model = FillMask(tiny_bert, device="cpu")
    end = "how long did it take ? two [MASK] ."
    # The model can read 24 words and two special tokens; `end` has 9 words.
    fits = "the " * 15 + end
    assert model(["barn " * 50 + fits]) == model([fits])
    assert model(["barn " + fits]) == model([fits])
    assert model(["barn " * 13 + end]) != model([fits])


def test_a_device_that_is_none(tiny_bert):
    with pytest.raises(RequestError, match="device 'nosuch' can't be used: "):
        FillMask(tiny_bert, device="nosuch")


def test_an_answer_that_is_too_long_gets_no_words(tiny_bert):
    assert FillMask(tiny_bert, device="cpu")(["[MASK] " + "days " * 40]) == [[]]


@pytest.mark.parametrize(("text", "count"), [("no mask", 0), ("[MASK] [MASK]", 2)])
def test_a_text_needs_exactly_one_mask(tiny_bert, text, count):
    with pytest.raises(ValueError, match=f"contains \\[MASK\\] {count} times \\(expected once\\)"):
        FillMask(tiny_bert, device="cpu")([text])


def test_a_tokenizer_without_a_mask(tmp_path):
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    plain = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}))
    transformers.PreTrainedTokenizerFast(tokenizer_object=plain).save_pretrained(tmp_path)
    with pytest.raises(
        ValueError, match=r"the tokenizer has no mask token \(expected a fill-mask model\)"
    ):
        FillMask(str(tmp_path), device="cpu")


def test_vocabularies_whose_words_begin_with_a_space(tmp_path):
    """As in RoBERTa, tokens without the leading space are word pieces."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokens = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *"abcdys"]
    tokens += ["\u0120", "\u0120d", "ay", "\u0120day", "da", "day"]
    merges = [("\u0120", "d"), ("a", "y"), ("\u0120d", "ay"), ("d", "a"), ("da", "y")]
    vocabulary = {token: i for i, token in enumerate(tokens)}
    tokenizer = transformers.RobertaTokenizer(vocab=vocabulary, merges=merges, model_max_length=32)
    tokenizer.save_pretrained(tmp_path)
    config = transformers.RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=34,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.RobertaForMaskedLM(config).save_pretrained(tmp_path)
    model = FillMask(str(tmp_path), device="cpu")
    for text in (f"a day {model.mask_token}", "a day " * 40 + model.mask_token):
        assert sorted(model([text])[0]) == ["d", "day"]


def test_the_command_fills_masks(tiny_bert, run, tmp_path):
    made = tmp_path / "candidates.jsonl"
    options = ["--config", "sample", "--fill-mask", tiny_bert, "--device", "cpu", "-o", made]
    result = run("prepare", "mctaco", "candidates", *options)
    assert result.exit_code == 0, result.stderr
    rows = [json.loads(line) for line in made.read_text("utf-8").splitlines()]
    assert {"original", "rules", "masked"} == {row["technique"] for row in rows}


def test_a_model_that_does_not_exist(run, tmp_path):
    pytest.importorskip("transformers")
    options = [
        "--config",
        "sample",
        "--fill-mask",
        str(tmp_path / "nowhere"),
        "-o",
        str(tmp_path / "candidates.jsonl"),
    ]
    result = run("prepare", "mctaco", "candidates", *options)
    assert result.exit_code == 1
    assert "nowhere" in result.stderr
    assert list(tmp_path.iterdir()) == []
