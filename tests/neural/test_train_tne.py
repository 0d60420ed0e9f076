"""`closeread train tne` and `closeread predict tne`, with a random encoder of two layers, on the sample."""

import json
from unittest import mock

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
safetensors = pytest.importorskip("safetensors")

from click.testing import CliRunner  # noqa: E402
from shared.tiny_encoder import make_encoder  # noqa: E402

from closeread.cli import main  # noqa: E402
from closeread.corpus.gold import read_gold  # noqa: E402
from closeread.corpus.names import load_corpus  # noqa: E402

SAMPLE = ("--config", "sample", "--split", "test", "--validation-split", "test")
FAST = (
    "--learning-rate",
    "2e-3",
    "--head-learning-rate",
    "1e-2",
    "--batch-size",
    "2",
    "--patience",
    "99",
)


def call(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def train(*arguments):
    return call("train", "tne", *SAMPLE, *FAST, "--device", "cpu", *arguments)


@pytest.fixture(scope="module")
def documents():
    return read_gold(load_corpus("tne"), "sample", "test").records


@pytest.fixture(scope="module")
def encoder(tmp_path_factory, documents):
    words = {token.lower() for record in documents for token in record["tokens"] if token.strip()}
    # A window is shorter than any document of the sample.
    return make_encoder(tmp_path_factory.mktemp("encoder"), words, longest=24)


@pytest.fixture(scope="module")
def run(tmp_path_factory, encoder):
    folder = tmp_path_factory.mktemp("runs") / "run"
    done = train("--encoder", encoder, "--epochs", 40, "--encoder-dropout", 0, "-o", folder)
    assert done.exit_code == 0, done.output
    return folder


def read_run(folder):
    return json.loads((folder / "run.json").read_text("utf-8"))


def read_weights(folder):
    return (folder / "model.safetensors").read_bytes()


def test_the_loss_falls_and_the_best_epoch_is_kept(run):
    described = read_run(run)
    losses = [epoch["loss"] for epoch in described["epochs"]]
    assert losses[-1] < losses[0] / 3
    assert described["state"] == "complete"
    scores = [epoch["scores"]["links/f1"] for epoch in described["epochs"]]
    assert described["best"]["links/f1"] == max(scores) > 0.5
    assert described["best"]["epoch"] == scores.index(max(scores)) + 1
    assert not list(run.glob("checkpoint-*"))


def test_predictions_score_as_in_training(run, tmp_path):
    output = tmp_path / "predictions.jsonl"
    done = call("predict", "tne", run, "--config", "sample", "-o", output, "--device", "cpu")
    assert done.exit_code == 0, done.output
    scored = call("score", "tne", output, "--config", "sample", "--json", "--no-ci")
    assert scored.exit_code == 0, scored.output
    scores = json.loads(scored.stdout)["scores"]
    best = read_run(run)["best"]
    assert {name: score["value"] for name, score in scores.items()} == pytest.approx(
        {name: best[name] for name in scores}, abs=1e-12
    )


def test_every_pair_has_a_link_or_a_fallback(run, tmp_path, documents):
    output = tmp_path / "predictions.jsonl"
    call("predict", "tne", run, "--config", "sample", "-o", output, "--device", "cpu")
    rows = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
    for row, record in zip(rows, documents, strict=True):
        found = [
            (link["anchor"], link["complement"]) for link in row["relations"] + row["fallback"]
        ]
        ids = [phrase["id"] for phrase in record["nps"]]
        assert sorted(found) == sorted((a, c) for a in ids for c in ids if a != c)


def test_without_fallbacks_only_links_are_written(run, tmp_path):
    outputs = [tmp_path / "all.jsonl", tmp_path / "links.jsonl"]
    call("predict", "tne", run, "--config", "sample", "-o", outputs[0], "--device", "cpu")
    call(
        "predict",
        "tne",
        run,
        "--config",
        "sample",
        "--no-fallback",
        "-o",
        outputs[1],
        "--device",
        "cpu",
    )
    every, links = (
        [json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in outputs
    )
    assert links == [{"id": row["id"], "relations": row["relations"]} for row in every]


@pytest.mark.extended
@pytest.mark.parametrize("kind", ["frozen", "static"])
@pytest.mark.parametrize("variant", ["coupled", "decoupled"])
def test_other_models_learn_too(kind, variant, encoder, documents, tmp_path):
    source = encoder
    if kind == "static":
        words = sorted(
            {token for record in documents for token in record["tokens"] if token.strip()}
        )
        source = tmp_path / "vectors.txt"
        lines = [
            f"{word} " + " ".join(f"{(7 * i + 3 * d) % 11 - 5}" for d in range(8))
            for i, word in enumerate(words)
        ]
        source.write_text("\n".join([f"{len(words)} 8", *lines]) + "\n", "utf-8")
    folder = tmp_path / "run"
    rate = ("--head-learning-rate", "3e-3")
    done = train(
        "--encoder", f"{kind}:{source}", "--variant", variant, "--epochs", 5, *rate, "-o", folder
    )
    assert done.exit_code == 0, done.output
    losses = [epoch["loss"] for epoch in read_run(folder)["epochs"]]
    assert losses[-1] < losses[0]
    output = tmp_path / "predictions.jsonl"
    done = call("predict", "tne", folder, "--config", "sample", "-o", output, "--device", "cpu")
    assert done.exit_code == 0, done.output
    assert call("validate", "tne", output, "--config", "sample").exit_code == 0


def test_printed_decoding_links_every_pair(encoder, documents, tmp_path):
    folder, output = tmp_path / "run", tmp_path / "predictions.jsonl"
    train("--encoder", f"frozen:{encoder}", "--variant", "decoupled", "--epochs", 2, "-o", folder)
    done = call(
        "predict",
        "tne",
        folder,
        "--config",
        "sample",
        "--decoding",
        "printed",
        "-o",
        output,
        "--device",
        "cpu",
    )
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
    sizes = [len(record["nps"]) for record in documents]
    assert [len(row["relations"]) for row in rows] == [n * (n - 1) for n in sizes]


class Killed(BaseException):
    """The process is gone."""


@pytest.mark.extended
@pytest.mark.parametrize("kind", ["", "frozen:"])
def test_a_killed_run_resumes_to_the_identical_model(kind, encoder, tmp_path):
    from closeread.neural.training import Recorder

    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    command = ("--encoder", f"{kind}{encoder}", "--epochs", 4)
    assert train(*command, "-o", whole).exit_code == 0
    record = Recorder.on_save
    for epoch in (1, 3):

        def record_and_die(self, args, state, control, last=epoch, **options):
            record(self, args, state, control, **options)
            if state.epoch == last:
                raise Killed

        with mock.patch.object(Recorder, "on_save", record_and_die), pytest.raises(Killed):
            CliRunner().invoke(
                main,
                [
                    str(a)
                    for a in ("train", "tne", *SAMPLE, *FAST, *command, "--resume", "-o", resumed)
                ],
                catch_exceptions=False,
            )
        assert len(read_run(resumed)["epochs"]) == epoch
    done = train(*command, "--resume", "-o", resumed)
    assert done.exit_code == 0, done.output
    assert read_weights(resumed) == read_weights(whole)
    without_time = [
        [{**epoch, "seconds": 0} for epoch in read_run(folder)["epochs"]]
        for folder in (whole, resumed)
    ]
    assert without_time[0] == without_time[1]
    assert train(*command, "--resume", "-o", resumed).exit_code == 0  # it is complete
    assert read_weights(resumed) == read_weights(whole)


@pytest.mark.parametrize("name", ["optimizer.pt", "model.safetensors"])
def test_a_full_disk_keeps_the_last_checkpoint(name, encoder, tmp_path):
    """Whether torch writes, or safetensors."""
    folder = tmp_path / "run"
    command = ("--encoder", encoder, "--epochs", 3, "-o", folder)
    full = "[Errno 28] No space left on device"
    torch_save = torch.save
    safetensors_save = transformers.modeling_utils.safe_save_file

    def save(what, path, **options):
        if str(path).endswith(name) and "checkpoint-4" in str(path):
            raise RuntimeError(f"[enforce fail at inline_container.cc:664] . {full}")
        torch_save(what, path, **options)

    def save_tensors(tensors, path, **options):
        if str(path).endswith(name) and "checkpoint-4" in str(path):
            raise safetensors.SafetensorError(f"Error while serializing: {full}")
        safetensors_save(tensors, path, **options)

    with (
        mock.patch("torch.save", save),
        mock.patch.object(transformers.modeling_utils, "safe_save_file", save_tensors),
    ):
        done = train(*command)
    assert done.exit_code == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"Error: {folder}: a checkpoint can't be written: ")
    assert full in last
    assert len(read_run(folder)["epochs"]) == 1
    done = train(*command, "--resume")
    assert done.exit_code == 0, done.output
    assert len(read_run(folder)["epochs"]) == 3


def test_a_run_loads_by_itself(run, documents):
    """The model with its configuration, and the tokenizer of its encoder."""
    from closeread.neural.links import LinkModel

    model = LinkModel.from_pretrained(run)
    assert model.config.id2label[0] == "no link"
    assert len(model.config.id2label) == 25
    tokenizer = transformers.AutoTokenizer.from_pretrained(run)
    assert isinstance(transformers.AutoModel.from_pretrained(run), LinkModel)
    vectors = torch.zeros(3, model.config.span_size)
    assert model.eval()(torch.tensor([3]), vectors)["label"].shape == (6,)
    assert tokenizer.tokenize(documents[0]["tokens"][0])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (("--seed", 5), "holds a different run: seed was 0 and is 5"),
        (("--batch-size", 3), "holds a different run: batch_size was 2 and is 3"),
        (("--variant", "decoupled"), "holds a different run: model"),
    ],
)
def test_another_run_is_not_resumed(run, encoder, changed, message):
    arguments = [
        str(a) for a in ("train", "tne", *SAMPLE, *FAST, "--encoder", encoder, "--epochs", 40)
    ] + [
        "--device",
        "cpu",
        "--encoder-dropout",
        "0",
    ]
    if changed[0] == "--batch-size":
        arguments[arguments.index("--batch-size") + 1] = str(changed[1])
    else:
        arguments += map(str, changed)
    done = CliRunner().invoke(main, [*arguments, "--resume", "-o", str(run)])
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_folder_in_use_is_refused(run, encoder):
    done = train("--encoder", encoder, "-o", run)
    assert done.exit_code == 2
    assert "is not an empty folder (expected a new folder, or a run for --resume)" in done.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "run.json: has format 2"),
        ({"task": "mctaco"}, "run.json: is a run of mctaco (expected tne)"),
        ({"model": {}}, "run.json: model: is not a model of links (expected variant, kind, "),
        ({"setting": None}, "run.json: setting: expected an object such as"),
    ],
)
def test_a_run_of_another_kind_is_refused(run, tmp_path, change, message):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps({**read_run(run), **change}), "utf-8")
    done = call("predict", "tne", folder, "--config", "sample", "-o", tmp_path / "out.jsonl")
    assert done.exit_code == 1
    assert message in done.stderr
    assert not (tmp_path / "out.jsonl").exists()


def test_a_folder_without_a_run_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    done = call(
        "predict", "tne", tmp_path / "empty", "--config", "sample", "-o", tmp_path / "out.jsonl"
    )
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1].endswith(
        "run.json: does not exist (expected the folder of a training run)"
    )


def test_the_missing_extra_is_named(tmp_path):
    with mock.patch.dict("sys.modules", {"torch": None}):
        done = train("--encoder", "x", "-o", tmp_path / "run")
    assert done.exit_code == 1
    assert "pip install 'closeread[neural]'" in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("source", ["{}/none", "frozen:{}/none", "static:{}/none.txt"])
def test_a_source_that_does_not_exist_is_named_and_leaves_no_folder(source, tmp_path):
    done = train("--encoder", source.format(tmp_path), "-o", tmp_path / "run")
    assert done.exit_code in (1, 2)
    (told,) = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    assert str(tmp_path / "none") in told
    assert not (tmp_path / "run").exists()


def test_damaged_vectors_leave_no_folder(tmp_path):
    (tmp_path / "vectors.txt").write_text("he 0.1 0.2\nshe 0.3\n", "utf-8")
    done = train("--encoder", f"static:{tmp_path / 'vectors.txt'}", "-o", tmp_path / "run")
    assert done.exit_code == 1
    lines = done.stderr.splitlines()
    assert lines[-1] == f"Error: {tmp_path / 'vectors.txt'}:2: 'she' has 1 number (expected 2)"
    assert not (tmp_path / "run").exists()


def test_documents_and_gold_exclude_each_other(run, tmp_path):
    (tmp_path / "texts.jsonl").write_text("", "utf-8")
    texts = ("--documents", tmp_path / "texts.jsonl", "-o", tmp_path / "out.jsonl")
    for other in (
        ("--config", "sample"),
        ("--split", "test"),
        ("--gold", tmp_path / "texts.jsonl"),
    ):
        done = call("predict", "tne", run, *texts, *other)
        assert done.exit_code == 2
        assert "--documents and --config, --split or --gold exclude each other" in done.stderr
