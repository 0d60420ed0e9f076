"""Training classifiers of candidate answers: what is validated and encoded, and runs through the command line."""

import itertools
import json
import statistics
import sys

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from shared.tiny_encoder import make_encoder

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.exceptions import RequestError
from closeread.neural import encoders, pairs
from closeread.tasks.mctaco.models import keep_questions, make_texts, split_questions

RECORDS = read_gold(load_corpus("mctaco"), "sample").records
WORDS = sorted(
    {
        word
        for record in RECORDS
        for word in f"{record['question']} {record['answer']}".lower().split()
    }
)
SAMPLE = ["--config", "sample", "--split", "test"]
FAST = [
    "--batch-size",
    16,
    "--learning-rate",
    1e-3,
    "--head-learning-rate",
    1e-3,
    "--device",
    "cpu",
]

SCHEDULE = {
    "epochs": 40, "patience": 10, "batch_size": 1, "learning_rate": 1e-5, "head_learning_rate": 1e-3,
    "weight_decay": 0.01, "warmup": 0.1, "clip": 1.0, "seed": 0, "precision": "float32", "device": "cpu",
}  # fmt: skip


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return make_encoder(tmp_path_factory.mktemp("encoder"), WORDS, longest=96)


@pytest.fixture
def trained(encoder, ran):
    """Train with the sample, and return what is printed."""
    return lambda *more, epochs=1: ran(
        "train", "mctaco", "--encoder", encoder, *SAMPLE, *FAST, "--epochs", epochs, *more
    )


def questions_of(records):
    return {record["question_id"] for record in records}


def sentences_of(records):
    return {record["sentence_id"] for record in records}


@pytest.mark.parametrize(("share", "n"), [(0.1, 1), (0.25, 2), (0.5, 5), (0.001, 1), (0.999, 9)])
def test_no_sentence_is_on_both_sides(share, n):
    training, validation = split_questions(RECORDS, share, seed=3)
    assert len(sentences_of(RECORDS)) == 10
    # halves are rounded to even numbers, and one at least is on each side
    assert len(sentences_of(validation)) == n
    assert not sentences_of(training) & sentences_of(validation)
    assert sorted([*training, *validation], key=lambda record: record["id"]) == list(RECORDS)
    assert [*training] == [record for record in RECORDS if record in training]
    assert split_questions(RECORDS, share, seed=3) == (training, validation)


def test_other_seeds_choose_other_questions_for_validation():
    found = {frozenset(questions_of(split_questions(RECORDS, 0.3, seed)[1])) for seed in range(5)}
    assert len(found) == 5
    with pytest.raises(RequestError, match=r"1 sentence to learn from \(expected 2 or more"):
        split_questions(RECORDS[:1], 0.1, 0)


def test_smaller_sizes_are_within_larger_ones():
    found = [questions_of(keep_questions(RECORDS, size, seed=1)) for size in (0, 1, 10, 50, 100)]
    assert [len(kept) for kept in found] == [0, 1, 3, 13, 25]  # rounded up
    assert all(small <= large for small, large in itertools.pairwise(found))
    assert found[2] != questions_of(keep_questions(RECORDS, 10, seed=2))


def test_the_encoder_sees_normalized_answers(encoder, tmp_path, run, monkeypatch):
    record = {"sentence": "It rained.", "question": "How long?", "answer": "30 months, or 12 hours"}
    assert make_texts([record]) == (["It rained. How long?"], ["30 months, or 12 hours"])
    assert make_texts([record], "proper").second == ["2.5 years, or 12 hours"]
    assert make_texts([record], "official").second == ["2.47 years, or 0.5 days"]  # 900 days of 365
    seen = []
    tokenize_pairs = pairs.tokenize_pairs

    def tokenize_watched(tokenizer, config, texts):
        seen.append(set(texts.second))
        return tokenize_pairs(tokenizer, config, texts)

    monkeypatch.setattr(pairs, "tokenize_pairs", tokenize_watched)
    folder = tmp_path / "run"
    more = ["--unit-normalization", "official", "-o", folder]
    assert (
        run("train", "mctaco", "--encoder", encoder, *SAMPLE, *FAST, "--epochs", 1, *more).exit_code
        == 0
    )
    assert run("predict", "mctaco", folder, *SAMPLE, "-o", tmp_path / "p.jsonl").exit_code == 0
    training, validation, predicted = seen
    # "12 hours" and "30 months" are answers of the sample.
    assert {"0.5 days", "2.47 years"} <= training | validation
    assert {"0.5 days", "2.47 years"} <= predicted
    assert not {"12 hours", "30 months"} & (training | validation | predicted)
    assert json.loads((folder / "run.json").read_text("utf-8"))["unit_normalization"] == "official"


def test_train_predict_score(trained, ran, tmp_path):
    out = trained("--test-split", "test", "-o", tmp_path / "run", "--json", epochs=2)
    (found,) = json.loads(out)["runs"]
    assert (found["seed"], found["size"], found["questions"]) == (0, 100, 23)
    ran("predict", "mctaco", tmp_path / "run", *SAMPLE, "-o", tmp_path / "p.jsonl")
    told = ran("predict", "mctaco", tmp_path / "run", *SAMPLE, "-o", tmp_path / "p.txt")
    labels = (tmp_path / "p.txt").read_text("utf-8").split()
    assert told == f"{tmp_path / 'p.txt'}: 103 candidates, {labels.count('yes')} yes\n"
    assert [
        json.loads(line)["label"] for line in (tmp_path / "p.jsonl").read_text("utf-8").splitlines()
    ] == labels
    for name in ("p.jsonl", "p.txt"):
        report = json.loads(ran("score", "mctaco", tmp_path / name, *SAMPLE, "--json", "--no-ci"))
        assert {name: report["scores"][name]["value"] for name in ("exact_match", "f1")} == found[
            "test"
        ]
    kept = json.loads((tmp_path / "run/run.json").read_text("utf-8"))["test"]
    assert {name: kept[name] for name in ("exact_match", "f1")} == found["test"]
    # Candidates without a label, in another order.
    rows = [
        {name: record[name] for name in ("id", "question_id", "sentence", "question", "answer")}
        for record in RECORDS
    ]
    (tmp_path / "q.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows[::-1]), "utf-8"
    )
    ran(
        "predict",
        "mctaco",
        tmp_path / "run",
        "--questions",
        tmp_path / "q.jsonl",
        "-o",
        tmp_path / "r.txt",
    )
    assert (tmp_path / "r.txt").read_text("utf-8").split() == labels[::-1]


@pytest.mark.extended
def test_several_seeds(trained, run, ran, tmp_path, monkeypatch):
    out = trained(
        "--seeds", 2, "--seed", 3, "--test-split", "test", "-o", tmp_path / "runs", "--json"
    )
    found = json.loads(out)
    assert found == json.loads((tmp_path / "runs/run.json").read_text("utf-8"))
    assert [one["folder"] for one in found["runs"]] == ["seed-3", "seed-4"]
    for data in ("validation", "test"):
        for metric in ("exact_match", "f1"):
            values = [one[data][metric] for one in found["runs"]]
            summary = found["summary"][0][data][metric]
            assert summary["mean"] == pytest.approx(statistics.mean(values))
            assert summary["standard_error"] == pytest.approx(statistics.stdev(values) / 2**0.5)
    # A run of several is the run of its seed alone, and one that is missing is made again.
    trained("--seed", 4, "-o", tmp_path / "alone")
    weights = (tmp_path / "runs/seed-4/model.safetensors").read_bytes()
    assert (tmp_path / "alone/model.safetensors").read_bytes() == weights
    for path in (tmp_path / "runs/seed-4").iterdir():
        path.unlink()
    kept = (tmp_path / "runs/seed-3/model.safetensors").stat().st_mtime_ns
    again = trained(
        "--seeds",
        2,
        "--seed",
        3,
        "--test-split",
        "test",
        "-o",
        tmp_path / "runs",
        "--json",
        "--resume",
    )
    assert [one["test"] for one in json.loads(again)["runs"]] == [
        one["test"] for one in found["runs"]
    ]
    assert (tmp_path / "runs/seed-4/model.safetensors").read_bytes() == weights
    assert (tmp_path / "runs/seed-3/model.safetensors").stat().st_mtime_ns == kept
    monkeypatch.chdir(tmp_path)
    result = run("predict", "mctaco", "runs", *SAMPLE, "-o", "p.jsonl")
    several = "describes several runs (expected the folder of one run)"
    assert (result.exit_code, several in result.stderr) == (1, True)
    ran("predict", "mctaco", "runs/seed-4", *SAMPLE, "-o", "p.jsonl")
    report = json.loads(ran("score", "mctaco", "p.jsonl", *SAMPLE, "--json", "--no-ci"))
    assert report["scores"]["f1"]["value"] == found["runs"][1]["test"]["f1"]


@pytest.mark.extended
def test_a_learning_curve(trained, ran, tmp_path):
    out = trained("--sizes", "0,50,100", "--seeds", 2, "-o", tmp_path / "curve")
    assert "Mean and standard error" in out
    found = json.loads((tmp_path / "curve/run.json").read_text("utf-8"))
    assert [one["folder"] for one in found["runs"]] == [
        f"size-{size}/seed-{seed}" for size in (0, 50, 100) for seed in (0, 1)
    ]
    # 25 questions, of which those of one sentence are for validation; half of the others, rounded up, are learnt from.
    whole = [len(questions_of(split_questions(RECORDS, 0.1, seed)[0])) for seed in (0, 1)]
    assert [one["questions"] for one in found["runs"]] == [
        0,
        0,
        *(-(-n // 2) for n in whole),
        *whole,
    ]
    assert [one["epoch"] for one in found["runs"]] == [0, 0, 1, 1, 1, 1]
    told = ran("plot", "learning-curve", tmp_path / "curve", "-o", tmp_path / "c.svg")
    assert told == f"{tmp_path / 'c.svg'}: 6 runs with 3 sizes of the training data\n"
    drawn = (tmp_path / "c.svg").read_text("utf-8")
    assert all(
        f">{text}</text>" in drawn for text in ("training questions", "validation score (%)", "F1")
    )


def refuse(run, *arguments):
    """The error of a command, in one line."""
    result = run(*arguments)
    assert result.exit_code in (1, 2)
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert "Traceback" not in result.stderr
    return line.removeprefix("Error: ")


def test_folders_that_hold_something_else(run, here, encoder):
    train = ["train", "mctaco", "--encoder", encoder, *SAMPLE, *FAST, "--epochs", 1, "-o", "run"]
    (here / "run").mkdir()
    (here / "run/notes.txt").write_text("mine", "utf-8")
    assert refuse(run, *train).startswith(
        "run: is not an empty folder (expected a new folder, or a run for --resume)"
    )
    several = "run: is not an empty folder (expected a new folder, or several runs for --resume)"
    assert (
        refuse(run, *train, "--seeds", 2)
        == refuse(run, *train, "--seeds", 2, "--resume")
        == several
    )
    predict = ["predict", "mctaco", "run", *SAMPLE, "-o", "p.jsonl"]
    assert (
        refuse(run, *predict)
        == "run/run.json: does not exist (expected the folder of a training run)"
    )
    described = {
        "format": 1,
        "closeread": "1",
        "task": "tne",
        "model": {},
        "data": {},
        "setting": SCHEDULE,
    }
    described |= {"versions": {}, "device": "", "threads": 1, "state": "complete", "epochs": []}
    (here / "run/run.json").write_text(json.dumps(described), "utf-8")
    assert refuse(run, *predict) == "run/run.json: is a run of tne (expected mctaco)"
    (here / "run/run.json").write_text(
        json.dumps({**described, "task": "mctaco", "model": {"x": 1}}), "utf-8"
    )
    other = "model: is not a classifier of pairs (expected encoder, labels, encoder_dropout)"
    assert refuse(run, *predict) == f"run/run.json: {other}"
    (here / "run/run.json").write_text(json.dumps({**described, "format": 2}), "utf-8")
    newer = "has format 2 (expected 1): it was written by a newer closeread; update closeread"
    assert refuse(run, *predict) == f"run/run.json: {newer}"
    (here / "run/run.json").write_text(
        json.dumps({"format": 1, "task": "mctaco", "runs": [], "state": ""}), "utf-8"
    )
    state = "run/run.json: state: '' is not one of 'training', 'complete'"
    assert refuse(run, "plot", "learning-curve", "run", "-o", "c.png") == state
    several = "run/run.json: describes several runs (expected the folder of one run)"
    assert refuse(run, *predict) == several
    assert refuse(run, *train, "--resume") == several
    assert sorted(path.name for path in here.rglob("*")) == ["notes.txt", "run", "run.json"]


class Slow:
    """A tokenizer that is written in Python."""

    is_fast = False


def test_encoders_that_can_not_be_used(run, here, encoder, monkeypatch):
    train = ["train", "mctaco", *SAMPLE, *FAST, "--epochs", 1, "-o", "run", "--encoder"]
    with monkeypatch.context() as patch:
        patch.setattr(
            encoders.transformers.AutoTokenizer, "from_pretrained", lambda *_, **__: Slow()
        )
        found = refuse(run, *train, encoder)
    assert found == f"{encoder}: Slow is not a fast tokenizer (expected one, with a tokenizer.json)"
    assert "nowhere" in refuse(run, *train, "./nowhere")
    assert "nowhere" in refuse(run, *train, "./nowhere", "--seeds", 2)
    assert not (here / "run").exists()


def test_without_torch(run, here, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    needs = "a trained model needs torch and transformers and accelerate: pip install 'closeread[neural]'"
    for command in (
        ["train", "mctaco", "--encoder", "e", *SAMPLE, "-o", "run"],
        ["predict", "mctaco", "run", "-o", "p.jsonl"],
    ):
        assert refuse(run, *command) == needs
    assert not list(here.iterdir())


@pytest.mark.parametrize(
    ("sizes", "found"),
    [
        ("10,x", "'10,x' is no list of numbers"),
        ("10,101", "sizes is 101.0 (expected a number from 0 to 100)"),
        ("5,5", "twice"),
    ],
)
def test_sizes_are_percentages(run, here, sizes, found):
    assert found in refuse(run, "train", "mctaco", "--encoder", "e", "--sizes", sizes, "-o", "run")


def test_candidates_without_what_is_needed(run, here):
    (here / "q.jsonl").write_text(
        '{"id": "a", "question_id": "q", "sentence": "S.", "question": "Q?"}\n', "utf-8"
    )
    found = refuse(run, "predict", "mctaco", "run", "--questions", "q.jsonl", "-o", "p.jsonl")
    assert found == "q.jsonl:1: id 'a': field 'answer' is missing"
    found = refuse(
        run,
        "predict",
        "mctaco",
        "run",
        "--questions",
        "q.jsonl",
        "--split",
        "test",
        "-o",
        "p.jsonl",
    )
    assert found == "--questions and --config, --split or --gold exclude each other"


def test_long_sentences_are_told_once(encoder, run, tmp_path):
    records = [dict(record, sentence="word " * 200) for record in RECORDS[:10]]
    (tmp_path / "long.jsonl").write_text(
        "".join(json.dumps(record) + "\n" for record in records), "utf-8"
    )
    train = [
        "train",
        "mctaco",
        "--encoder",
        encoder,
        "--training",
        tmp_path / "long.jsonl",
        *FAST,
        "--epochs",
        1,
    ]
    result = run(*train, "--seeds", 2, "-o", tmp_path / "runs")
    assert result.exit_code == 0, result.stderr
    assert "MISSING" not in result.stderr  # as transformers says of new parameters
    told = "10 candidates are longer than the 96 tokens that the model takes: the beginning of the sentence is left out."
    assert [line for line in result.stderr.splitlines() if "longer" in line] == [f"note: {told}"]
