"""Logs are read: their rows, and what is known of the model; a log that can't be scored is refused in a sentence."""

import json
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


def run(folder, task, model="closeread/random", **options):
    (log,) = inspect_ai.eval(
        task, model=model, log_dir=str(folder), display="none", log_format="json", **options
    )
    return log


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    from closeread.llm import tasks

    log = run(tmp_path_factory.mktemp("logs"), tasks.mctaco(config="sample", prompt=1), epochs=2)
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
        read_log(run(tmp_path, tasks.mctaco(config="sample"), limit=5).location)
    with pytest.raises(FormatError, match="does not exist"):
        read_log(tmp_path / "none.eval")
