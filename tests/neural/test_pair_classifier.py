"""Classifiers of pairs of texts, with a random encoder."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from shared.tiny_encoder import make_encoder  # noqa: E402

from closeread.exceptions import FormatError, RequestError  # noqa: E402
from closeread.neural import pairs as pair_classifier  # noqa: E402
from closeread.neural.devices import Hardware  # noqa: E402
from closeread.neural.encoders import load_tokenizer  # noqa: E402
from closeread.neural.pairs import (  # noqa: E402
    PairChoice,
    TextPairs,
    predict_pairs,
    tokenize_pairs,
    train_pairs,
)
from closeread.neural.run_files import read_run  # noqa: E402
from closeread.neural.run_folders import RunFolder  # noqa: E402
from closeread.neural.training import Recorder  # noqa: E402
from closeread.parameters import TrainingSettings  # noqa: E402

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
LONGEST = 16
CPU = Hardware("cpu", "float32")
# A pair is of kind 1 if its second text has "days".
PAIRS = TextPairs(
    ["the barn was painted how long ?", "a roof", "how long did it take ?", "the barn"] * 4,
    ["two days", "the barn", "days", "it was a roof", "a", "days ?", "long", "a barn"] * 2,
)
LABELS = np.array([int("days" in text) for text in PAIRS.second])
SETTINGS = TrainingSettings(
    epochs=4,
    patience=4,
    batch_size=4,
    learning_rate=3e-3,
    head_learning_rate=3e-3,
    seed=5,
    device="cpu",
)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return make_encoder(tmp_path_factory.mktemp("encoder"), WORDS, longest=LONGEST)


def score(probabilities):
    return {"accuracy": float((probabilities.argmax(1) == LABELS).mean())}


def ignore_truncation(n_truncated, longest):
    """What is done where nobody is to be warned."""


def train_in(folder, encoder, *, settings=SETTINGS, resume=False, labels=LABELS):
    train_pairs(
        RunFolder(folder),
        PairChoice(str(encoder), ["other", "days"], settings.encoder_dropout),
        settings,
        PAIRS,
        labels.tolist(),
        PAIRS,
        score=score,
        criterion="accuracy",
        metadata={"task": "pairs", "data": {}},
        resume=resume,
        warn_of_truncation=ignore_truncation,
    )


def predict(folder, pairs):
    return predict_pairs(RunFolder(folder), pairs, CPU, ignore_truncation)


def weights(folder):
    return (folder / "model.safetensors").read_bytes()


FAST = replace(SETTINGS, epochs=8, patience=8, learning_rate=1e-2)


def test_it_learns_what_it_is_shown_and_loads_with_transformers(encoder, tmp_path):
    folder = tmp_path / "run"
    train_in(folder, encoder, settings=FAST)
    run = read_run(folder)
    losses = [epoch["loss"] for epoch in run["epochs"]]
    assert losses[-1] < 0.5 * losses[0]
    assert run["best"]["accuracy"] == 1
    # In training, from its folder, and by transformers alone, the model says the same.
    probabilities = predict(folder, PAIRS)
    assert score(probabilities) == {"accuracy": 1.0}
    classify = transformers.pipeline(
        "text-classification",
        model=transformers.AutoModelForSequenceClassification.from_pretrained(folder),
        tokenizer=transformers.AutoTokenizer.from_pretrained(folder),
        top_k=None,
        device="cpu",
    )
    for number, (first, second) in enumerate(zip(*PAIRS, strict=True)):
        labels = classify({"text": first, "text_pair": second})
        by_name = {label["label"]: label["score"] for label in labels}
        expected = [by_name["other"], by_name["days"]]
        np.testing.assert_allclose(probabilities[number], expected, atol=1e-6)


def test_a_run_that_is_killed_goes_on_to_the_same_weights(encoder, tmp_path, monkeypatch):
    train_in(tmp_path / "whole", encoder)
    record = Recorder.on_save

    def record_two(self, args, state, control, **options):
        record(self, args, state, control, **options)
        if state.epoch == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Recorder, "on_save", record_two)
    with pytest.raises(KeyboardInterrupt):
        train_in(tmp_path / "killed", encoder)
    monkeypatch.undo()
    train_in(tmp_path / "killed", encoder, resume=True)
    assert weights(tmp_path / "killed") == weights(tmp_path / "whole")
    runs = [read_run(tmp_path / name) for name in ("killed", "whole")]
    scores = [[(epoch["loss"], epoch["scores"]) for epoch in run["epochs"]] for run in runs]
    assert scores[0] == scores[1]
    assert [run["state"] for run in runs] == ["complete"] * 2
    # Another seed is another run.
    train_in(tmp_path / "other", encoder, settings=replace(SETTINGS, seed=6))
    assert weights(tmp_path / "other") != weights(tmp_path / "whole")
    with pytest.raises(RequestError, match="holds a different run: seed was 5 and is 6"):
        train_in(tmp_path / "whole", encoder, settings=replace(SETTINGS, seed=6), resume=True)


def test_labels_out_of_range_are_refused_before_training(tmp_path):
    labels = np.array([*LABELS[:-1], 2])
    with pytest.raises(RequestError, match=r"a label is 2 \(expected 0 to 1\)"):
        train_in(tmp_path / "run", "no encoder", labels=labels)
    assert not (tmp_path / "run").exists()


def test_a_run_without_its_weights_is_refused(encoder, tmp_path):
    train_in(tmp_path / "run", encoder, settings=replace(SETTINGS, epochs=1))
    (tmp_path / "run" / "model.safetensors").unlink()
    with pytest.raises(FormatError, match="run: its model can't be loaded"):
        predict(tmp_path / "run", PAIRS)
    # Weights in a format that can hold code are not taken instead.
    torch.save({}, tmp_path / "run" / "pytorch_model.bin")
    with pytest.raises(FormatError, match="run: its model can't be loaded"):
        predict(tmp_path / "run", PAIRS)


def test_dropout_inside_the_encoder(encoder, tmp_path):
    """With none, two steps of the same seed differ only by the classifier's own dropout."""
    for share in (0.0, 0.5, None):
        settings = replace(SETTINGS, epochs=1, encoder_dropout=share)
        train_in(tmp_path / str(share), encoder, settings=settings)
    assert len({weights(tmp_path / name) for name in ("0.0", "0.5", "None")}) == 3


def test_padding_and_neighbours_change_nothing(encoder, tmp_path, monkeypatch):
    train_in(tmp_path / "run", encoder, settings=replace(SETTINGS, epochs=1))
    folder = tmp_path / "run"
    probabilities = predict(folder, PAIRS)
    monkeypatch.setattr(pair_classifier, "PAIRS_AT_ONCE", 1)
    np.testing.assert_allclose(predict(folder, PAIRS), probabilities, atol=1e-6)
    np.testing.assert_allclose(probabilities.sum(1), 1, atol=1e-6)
    assert predict(folder, TextPairs([], [])).shape == (0, 2)


def test_only_the_first_text_is_truncated_at_its_beginning(encoder):
    tokenizer = load_tokenizer(encoder)
    tokenizer.model_input_names = ["input_ids", "token_type_ids", "attention_mask"]
    config = transformers.AutoConfig.from_pretrained(encoder)

    def tokenize(*texts):
        return tokenize_pairs(tokenizer, config, TextPairs(*texts))

    # Of 16 tokens, three are special and three are of the second text.
    fits = ["the", "roof", "of", "a", "barn", "was", "painted", "how", "long", "?"]
    tokenized = tokenize([" ".join(fits), " ".join(["two", *fits])], ["it was two"] * 2)
    assert tokenized.n_truncated == 1
    words = [
        tokenizer.convert_ids_to_tokens(example["input_ids"]) for example in tokenized.examples
    ]
    assert words[0] == words[1] == ["[CLS]", *fits, "[SEP]", "it", "was", "two", "[SEP]"]
    assert tokenized.examples[0]["token_type_ids"] == [0] * 12 + [1] * 4
    assert tokenize(["two"], ["days " * 12]).n_truncated == 0
    with pytest.raises(
        RequestError,
        match=r"has 13 tokens, and the model takes 16 for a pair \(expected at most 12",
    ):
        tokenize(["two"], ["days " * 13])
