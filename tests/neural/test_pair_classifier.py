"""Classifiers of pairs of texts, with a random encoder."""

import errno
import inspect
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from shared.file_faults import file_faults  # noqa: E402
from shared.tiny_encoder import make_encoder, make_tokenizer  # noqa: E402

from closeread.exceptions import RequestError  # noqa: E402
from closeread.neural import pairs as pair_classifier  # noqa: E402
from closeread.neural.pairs import (  # noqa: E402  # noqa: E402
    LabelledTexts,
    PairChoice,
    PairClassifier,
    TextPairs,
    load_classifier,
    predict_pairs,
    train_pairs,
)
from closeread.neural.run_files import read_run  # noqa: E402
from closeread.neural.run_folders import RunFolder  # noqa: E402
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
CHOICE = PairChoice("an encoder")
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


def score(found):
    return {"accuracy": float((found.argmax(1) == LABELS).mean())}


def train_in(folder, encoder, *, settings=SETTINGS, resume=False, texts=PAIRS, labels=LABELS):
    train_pairs(
        RunFolder(folder),
        replace(settings, encoder=str(encoder)),
        LabelledTexts(texts, labels),
        PAIRS,
        score=score,
        criterion="accuracy",
        about={"task": "pairs", "data": {}},
        resume=resume,
    )


def weights(folder):
    return (folder / "model.safetensors").read_bytes()


def test_it_learns_what_it_is_shown(encoder, tmp_path):
    train_in(
        tmp_path / "run",
        encoder,
        settings=replace(SETTINGS, epochs=8, patience=8, learning_rate=1e-2),
    )
    run = read_run(tmp_path / "run")
    losses = [epoch["loss"] for epoch in run["epochs"]]
    assert losses[-1] < 0.5 * losses[0]
    assert run["best"]["accuracy"] == 1
    # Both runs of the model, in training and from its folder, see the same.
    model = load_classifier(RunFolder(tmp_path / "run"), "cpu")
    assert score(predict_pairs(model, model.cut(PAIRS))) == {"accuracy": 1.0}


def test_a_run_that_is_killed_goes_on_to_the_same_weights(encoder, tmp_path, monkeypatch):
    train_in(tmp_path / "whole", encoder)
    save = RunFolder.save

    def save_two(self, run, model, state, criterion):
        save(self, run, model, state, criterion)
        if len(state.epochs) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(RunFolder, "save", save_two)
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


def test_a_full_disk_keeps_the_last_checkpoint(encoder, tmp_path):
    short = replace(SETTINGS, epochs=2, patience=2)
    with file_faults(tmp_path / "whole") as counted:
        train_in(tmp_path / "whole", encoder, settings=short)
    opened = [number for number, name in enumerate(counted.events) if name == "open"]
    # What is opened last is, after the second epoch, the checkpoint and the description, and that of the end.
    for at in opened[-5:]:
        run = tmp_path / f"full-{at}"
        with pytest.raises(OSError, match="No space left"), file_faults(run, at, errno.ENOSPC):
            train_in(run, encoder, settings=short)
        assert len(read_run(run)["epochs"]) >= 1
        assert len(RunFolder(run).load_state().epochs) >= 1
        train_in(run, encoder, settings=short, resume=True)
        assert weights(run) == weights(tmp_path / "whole")


def test_without_anything_to_learn_from_it_stays_as_it_is(encoder, tmp_path):
    train_in(tmp_path / "run", encoder, texts=TextPairs([], []), labels=LABELS[:0])
    run = read_run(tmp_path / "run")
    assert (run["best"]["epoch"], run["epochs"], run["state"]) == (0, [], "complete")
    found = PairClassifier.load(encoder, CHOICE, with_weights=False)
    RunFolder(tmp_path / "run").load_weights(found)
    whole = transformers.AutoModel.from_pretrained(encoder).state_dict()
    kept = found.model.base_model.state_dict()
    assert all(torch.equal(kept[name], whole[name]) for name in kept)


def test_padding_and_neighbours_change_nothing(encoder, monkeypatch):
    model = PairClassifier.load(encoder, CHOICE).eval()
    found = predict_pairs(model, model.cut(PAIRS))
    monkeypatch.setattr(pair_classifier, "AT_ONCE", 1)
    np.testing.assert_allclose(predict_pairs(model, model.cut(PAIRS)), found, atol=1e-6)
    for number, pair in enumerate(zip(*PAIRS, strict=True)):
        encoded = model.tokenizer(*pair, return_tensors="pt")
        with torch.inference_mode():
            alone = model.model(**encoded).logits.softmax(-1)[0]
        np.testing.assert_allclose(found[number], alone, atol=1e-6)
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-6)


def test_only_the_first_text_is_cut_at_its_beginning(encoder):
    model = PairClassifier.load(encoder, CHOICE)
    model.tokenizer.model_input_names = ["input_ids", "token_type_ids", "attention_mask"]
    # Of 16 pieces, three are special and three are of the second text.
    fits = ["the", "roof", "of", "a", "barn", "was", "painted", "how", "long", "?"]
    pieces = model.cut(TextPairs([" ".join(fits), " ".join(["two", *fits])], ["it was two"] * 2))
    assert pieces.n_cut == 1
    found = [model.tokenizer.convert_ids_to_tokens(one["input_ids"]) for one in pieces.inputs]
    assert found[0] == found[1] == ["[CLS]", *fits, "[SEP]", "it", "was", "two", "[SEP]"]
    assert pieces.inputs[0]["token_type_ids"] == [0] * 12 + [1] * 4
    assert model.cut(TextPairs(["two"], ["days " * 12])).n_cut == 0
    with pytest.raises(
        RequestError,
        match=r"has 13 tokens, and the model takes 16 for a pair \(expected at most 12",
    ):
        model.cut(TextPairs(["two"], ["days " * 13]))


def test_models_that_do_not_fit(tmp_path):
    tokenizer = make_tokenizer(WORDS, LONGEST)
    sizes = {
        "vocab_size": len(tokenizer),
        "d_model": 8,
        "d_ff": 8,
        "d_kv": 4,
        "num_layers": 1,
        "num_heads": 2,
    }
    transformers.T5Config(**sizes).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(RequestError, match=r"is a t5 model with a decoder \(expected an encoder\)"):
        PairClassifier.load(tmp_path, CHOICE)
    tokenizer.pad_token = None
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(RequestError, match=r"has no padding token \(expected an encoder\)"):
        PairClassifier.load(tmp_path, CHOICE)


def test_the_code_of_a_model_is_never_run():
    source = inspect.getsource(pair_classifier)
    assert "trust_remote_code=True" not in source
    # The configuration, and the model with and without weights, which share their options.
    assert (source.count("from_pretrained("), source.count("from_config(")) == (2, 1)
    assert (
        source.count("trust_remote_code=False") == source.count('"trust_remote_code": False') == 1
    )
    loading = (
        "classes.from_pretrained(name,weights_only=True,ignore_mismatched_sizes=True,**options"
    )
    # However many lines the formatter gives it.
    assert "".join(source.split()).count(loading) == 1
