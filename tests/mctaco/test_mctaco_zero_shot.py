"""Answers by their likelihood: thresholds against a slow search, and the command."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closeread.tasks.mctaco.models import choose_threshold, label_candidates, make_rows
from closeread.tasks.mctaco.procedure import score_labels

SAMPLE = ["--config", "sample", "--split", "test"]


def make_records(rows):
    return [
        {
            "id": str(i),
            "question_id": f"q{question}",
            "sentence_id": "s",
            "label": "yes" if yes else "no",
            "category": "Frequency",
        }
        for i, (question, yes, _) in enumerate(rows)
    ]


def test_above_the_mean_of_the_question():
    question = [0, 1, 0, 1, 2, 3, 3, 3]
    scores = np.array([-1.0, -5, -3, -4, -9, -0.1, -0.1, -0.1])
    found = label_candidates(make_records([(one, True, 0) for one in question]), scores)
    assert [row["label"] for row in found] == ["yes", "no", "no", "yes", "no", "no", "no", "no"]


rows = st.lists(
    st.tuples(st.integers(0, 3), st.booleans(), st.integers(-6, 0)), min_size=1, max_size=12
)


@given(rows)
def test_the_best_of_all_thresholds(rows):
    records, scores = make_records(rows), np.array([score for *_, score in rows], float)
    threshold, f1 = choose_threshold(records, scores)

    def score(limit):
        return score_labels(records, make_rows(records, scores > limit))["f1"]

    # Whole scores from -6 to 0 can be divided in eight ways.
    tried = {half: score(half) for half in np.arange(-7.5, 1)}
    assert f1 == pytest.approx(max(tried.values()))
    assert score(threshold) == pytest.approx(f1)
    fewer = [half for half in tried if (scores > half).sum() < (scores > threshold).sum()]
    assert all(tried[half] < f1 - 1e-9 for half in fewer)


def make_model(folder, records):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from shared.tiny_encoder import make_tokenizer

    words = {
        word
        for record in records
        for word in f"{record['question']} {record['answer']}".lower().split()
    }
    tokenizer = make_tokenizer(sorted(words), 128)
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer),
        n_embd=16,
        n_layer=1,
        n_head=2,
        n_positions=128,
        initializer_range=0.5,
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_the_command(ran, run, tmp_path):
    from closeread.corpus.gold import read_gold
    from closeread.corpus.names import load_corpus

    records = read_gold(load_corpus("mctaco"), "sample").records
    model = make_model(tmp_path / "model", records)

    def predict(*more):
        return ran(
            "predict",
            "mctaco",
            "--zero-shot",
            model,
            *SAMPLE,
            "--device",
            "cpu",
            "-o",
            tmp_path / "p.jsonl",
            *more,
        )

    def score():
        report = json.loads(
            ran("score", "mctaco", tmp_path / "p.jsonl", *SAMPLE, "--json", "--no-ci")
        )
        return report["scores"]["f1"]["value"]

    predict()
    labels = [
        json.loads(line)["label"] for line in (tmp_path / "p.jsonl").read_text("utf-8").splitlines()
    ]
    by_question = {}
    for record, label in zip(records, labels, strict=True):
        by_question.setdefault(record["question_id"], []).append(label)
    # Some are above the mean and some below, whatever the model.
    assert all(set(found) == {"yes", "no"} for found in by_question.values())
    out = predict("--tune-on", "test")
    threshold, f1 = (
        out.strip().partition("; threshold ")[2].removesuffix(" on test").split(", with F1 ")
    )
    assert f"{100 * score():.1f}" == f1
    predict("--threshold", threshold)
    assert f"{100 * score():.1f}" == f1
    # no probability is above 1
    assert predict("--threshold", "0").endswith("103 candidates, 0 yes\n")
    assert predict("--threshold", "-1000").endswith("103 candidates, 103 yes\n")


def usage(run, *arguments):
    result = run("predict", "mctaco", *arguments, "-o", "p.jsonl")
    assert result.exit_code == 2
    return result.stderr.splitlines()[-1]


def test_options_that_exclude_each_other(run, here):
    assert usage(run) == "Error: either the folder of a run or --zero-shot is needed"
    assert (
        usage(run, "run", "--zero-shot", "m")
        == "Error: either the folder of a run or --zero-shot is needed"
    )
    assert usage(run, "run", "--threshold", "-1") == "Error: --threshold needs --zero-shot"
    assert usage(run, "run", "--tune-on", "validation") == "Error: --tune-on needs --zero-shot"
    both = usage(run, "--zero-shot", "m", "--threshold", "-1", "--tune-on", "validation")
    assert both == "Error: --threshold and --tune-on exclude each other"
    assert usage(run, "--zero-shot", "m", "--run-seed", "1").startswith(
        "Error: --run-seed can't be used with --zero-shot"
    )
    assert not list(here.iterdir())
