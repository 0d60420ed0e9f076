"""Logs are read: their rows, and what is known of the model; a log that can't be scored is refused in a sentence."""

import json
import sys
import zipfile
from pathlib import Path

import pytest

import closeread
from closeread.exceptions import FormatError
from closeread.llm.logs import read_log

inspect_ai = pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")

pytestmark = [
    pytest.mark.gate,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]


def evaluate(folder, task, model="closeread/random", **options):
    options = {"log_format": "json"} | options
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(folder), display="none", **options)
    return log


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    from closeread.llm import tasks

    log = evaluate(
        tmp_path_factory.mktemp("logs"), tasks.mctaco(config="sample", prompt=1), epochs=2
    )
    return Path(log.location)


@pytest.fixture
def change(log, tmp_path):
    """A copy of the log, changed."""

    def change(edit):
        found = json.loads(log.read_text())
        edit(found)
        path = tmp_path / "changed.json"
        path.write_text(json.dumps(found))
        return path

    return change


def test_what_a_log_tells(log):
    read = read_log(log)
    assert (read.procedure, read.corpus, read.config, read.split, read.gold) == (
        "mctaco",
        "mctaco",
        "sample",
        "test",
        None,
    )
    assert (read.model, read.epochs, read.answered, read.cost) == ("closeread/random", 2, 1, None)
    assert read.version == closeread.__version__
    for seed, rows in enumerate(read.rows):
        assert rows == closeread.baseline("mctaco", "random", seed=seed, config="sample")
    report = closeread.score("mctaco", read.rows[0], config=read.config, **read.options)
    assert report.provenance.signature == read.signature
    assert read.signature.endswith(f"gold:{read.gold_digest}")
    assert read.input_tokens > read.output_tokens > 100


def test_rows_are_written_for_each_epoch(log, ran, tmp_path):
    printed = ran("llm", "rows", log, "-o", tmp_path / "rows.jsonl")
    assert "206 rows in 2 files, one for each epoch; 100% of answers read" in printed
    for epoch, rows in enumerate(read_log(log).rows, start=1):
        lines = (tmp_path / f"rows-{epoch}.jsonl").read_text().splitlines()
        assert list(map(json.loads, lines)) == rows


def test_costs_are_summed(change):
    def set_cost(log):
        log["stats"]["model_usage"]["closeread/random"] |= {
            "total_cost": 0.25,
            "input_tokens_cache_read": 7,
        }

    before, read = read_log(change(lambda log: None)), read_log(change(set_cost))
    assert (read.cost, read.input_tokens) == (0.25, before.input_tokens + 7)


def cut(log):
    del log["samples"][3:]


def fail(log):
    log["status"] = "error"


def change_gold(log):
    log["eval"]["metadata"]["signature"] = "mctaco|version:1|missing:empty|gold:000000000000"


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (cut, "is cut short: it has 3 of 50 answers"),
        (fail, r"is cut short: it has 50 of 50 answers \(status: error\)"),
        (change_gold, "was written with other gold or options: .*gold:000000000000"),
        (lambda log: log["eval"].update(task="arc", metadata={}), "is a log of the task 'arc'"),
        (lambda log: log.clear(), "is not a log of inspect-ai"),
    ],
)
def test_a_log_that_cannot_be_scored_is_refused(edit, message, change):
    with pytest.raises(FormatError, match=message):
        read_log(change(edit))


def test_a_part_of_the_questions_is_cut_short(tmp_path):
    from closeread.llm import tasks

    with pytest.raises(FormatError, match="it has 5 of 25 answers"):
        read_log(evaluate(tmp_path, tasks.mctaco(config="sample"), limit=5).location)
    with pytest.raises(FormatError, match="does not exist"):
        read_log(tmp_path / "none.eval")


def set_metadata(**values):
    return lambda log: log["eval"]["metadata"].update(values)


def set_exam(**values):
    return lambda log: log["eval"]["metadata"]["exam"].update(values)


def set_answer(**values):
    return lambda log: log["samples"][0]["scores"]["count_answers"]["metadata"].update(values)


def set_epochs(number):
    return lambda log: log["eval"]["config"].update(epochs=number)


def set_epoch(number):
    return lambda log: log["samples"][0].update(epoch=number)


def set_usage(**values):
    return lambda log: log["stats"]["model_usage"]["closeread/random"].update(values)


ROW = {"id": "test-q0000-a0", "label": "yes"}

FORGED = [
    (set_exam(evil=1), r"exam: unknown field 'evil'"),
    (lambda log: log["eval"]["metadata"]["exam"].pop("name"), "exam: field 'name' is missing"),
    (set_metadata(exam=[]), "exam: expected an object .* found a list"),
    (set_metadata(exam=None), "exam: expected an object .* found null"),
    (set_metadata(exam="mctaco"), "exam: expected an object .* found 'mctaco'"),
    (set_exam(config=["sample"]), "config: expected text or null, found a list"),
    (set_exam(config="smaple"), "smaple"),
    (set_exam(split={}), "split: expected text or null, found an object"),
    (set_exam(name="../mctaco"), r"name: .* is not valid"),
    (set_exam(name="mctacos"), "mctacos"),
    (set_exam(prompt="../../x"), "prompt: expected a whole number"),
    (set_exam(ask="answer"), "ask: .* is not one of"),
    (set_exam(shots=-1), "shots: -1 is less than"),
    (set_exam(structured=1), "structured: expected true or false"),
    (set_metadata(procedure="tne"), "is of mctaco, but says 'tne'"),
    (lambda log: log["eval"]["metadata"].pop("signature"), "field 'signature' is missing"),
    (set_metadata(samples="25"), "samples: expected a whole number"),
    (set_metadata(samples=[25]), "samples: expected a whole number"),
    (set_metadata(samples=True), "samples: expected a whole number"),
    (set_metadata(samples=0), "samples: 0 is less than"),
    (set_metadata(samples=10**30), "samples: .* is greater than"),
    (set_metadata(samples=24), r"has 25 answers of epoch 1 \(expected 24 of each of 2 epochs\)"),
    (set_epochs(10**9), "epochs: 1000000000 is greater than"),
    (set_epochs(0), "epochs: 0 is less than"),
    (set_epochs(-2), "epochs: -2 is less than"),
    (set_epochs(1), r"has 25 answers of epoch 2 \(expected 25 of each of 1 epoch\)"),
    (set_epoch(99), r"has .* of epoch \d+ \(expected 25 of each of 2 epochs\)"),
    (set_epoch(2), r"has 2\d answers of epoch \d \(expected 25 of each of 2 epochs\)"),
    (set_epoch(0), "epoch: 0 is less than"),
    (set_epoch(-5), "epoch: -5 is less than"),
    (
        lambda log: log["samples"][0]["scores"]["count_answers"]["metadata"].pop("rows"),
        "field 'rows' is missing",
    ),
    (lambda log: log["samples"][0]["scores"]["count_answers"].pop("metadata"), "'rows' is missing"),
    (set_answer(rows=5), "rows: expected a list, found 5"),
    (set_answer(rows={}), "rows: expected a list, found an object"),
    (set_answer(rows=[["test-q0000-a0", "yes"]]), r"rows\S*: expected an object, found a list"),
    (set_answer(rows=["yes"]), r"rows\S*: expected an object, found 'yes'"),
    (set_answer(rows=[ROW | {"label": "\ud800"}]), "lone surrogate|not a log of inspect"),
    (set_answer(rows=[ROW | {"\ud800": "yes"}]), "is not valid|not a log of inspect"),
    (set_answer(rows=[ROW | {"label": float("nan")}]), "is not a finite number"),
    (set_answer(rows=[ROW | {"label": float("inf")}]), "is not a finite number"),
    (set_answer(corrected=2), "corrected: expected true or false"),
    (set_usage(total_cost=float("nan")), "cost: is not a finite number"),
    (set_usage(total_cost=-1), "cost: -1.* is less than"),
    (set_usage(input_tokens=-(10**9)), "input_tokens: .* is less than"),
]


@pytest.mark.parametrize(("edit", "message"), FORGED)
def test_what_a_log_says_is_checked(edit, message, change):
    path = change(edit)
    with pytest.raises(FormatError, match=message) as caught:
        read_log(path)
    assert str(caught.value).startswith(str(path))


def test_forged_logs_are_errors_behind_each_door(change, run):
    for edit in (set_answer(rows=5), set_exam(evil=1), set_epochs(10**9)):
        path = change(edit)
        for command in (
            ("llm", "rows", path, "-o", path.with_name("rows.jsonl")),
            ("score", "mctaco", path, "--config", "sample"),
            ("validate", "mctaco", path, "--config", "sample"),
            ("table", "mctaco", path, "--config", "sample"),
        ):
            done = run(*command)
            assert done.exit_code == 1
            assert path.name in done.output
            assert "Traceback" not in done.output


def test_archives_that_unpack_to_much_are_refused_unread(tmp_path, monkeypatch):
    def refuse(path):
        raise AssertionError(f"{path} is read")

    monkeypatch.setattr("inspect_ai.log.read_eval_log", refuse)
    path = tmp_path / "run.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for number in range(3):
            archive.writestr(f"samples/{number}_epoch_1.json", " " * 2**20)
    assert path.stat().st_size < 10_000
    message = r"run.eval: is too large: 3,145,730 bytes, unpacked \(limit: 3,145,729\)"
    monkeypatch.setattr("closeread.limits.MAX_FILE_BYTES", 3 * 2**20 + 1)
    with pytest.raises(FormatError, match=message):
        read_log(path)


def test_archives_are_read(tmp_path):
    from closeread.llm import tasks

    task = tasks.mctaco(config="sample")
    log = evaluate(tmp_path, task, log_format="eval")
    assert zipfile.is_zipfile(log.location)
    assert len(read_log(log.location).rows[0]) == 103


OPENED = list[str]()
sys.addaudithook(lambda event, details: OPENED.append(str(details[0])) if event == "open" else None)


def test_paths_that_a_log_names_are_not_opened(change, tmp_path, run):
    gold, examples = tmp_path / "gold.jsonl", tmp_path / "examples.jsonl"
    articles = tmp_path / "articles"
    articles.mkdir()
    rows = list(closeread.load_dataset("mctaco", "sample")["test"])
    for path in (gold, examples, articles / "Vase.txt"):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    named = {"gold": str(gold), "examples": str(examples), "articles": str(articles)}
    path = change(set_exam(config=None, split=None, **named))
    OPENED.clear()
    read = read_log(path)
    assert (read.gold, len(read.rows[0])) == (str(gold), 103)
    message = "gold.jsonl', and logs can't choose what is read; name the gold yourself (--gold)"
    for command in ("score", "validate", "table"):
        done = run(command, "mctaco", path)
        assert message in " ".join(done.output.split()), command
    assert str(path) in OPENED
    assert not [opened for opened in OPENED if opened.startswith(tuple(named.values()))]
    report = closeread.score("mctaco", path, gold=gold)
    assert report.scores == closeread.score("mctaco", path, config="sample").scores
