"""Logs of language models in tables, comparisons and submissions, as the reader of logs returns them."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from shared.boards import make_store, sample_answers, sample_board

import closeread
from closeread.counts.systems import detect_kind
from closeread.llm.logs import Log
from closeread.llm.questions import Exam

USAGE = ("answered", "tokens in", "tokens out", "cost ($)")


@pytest.fixture
def make_log(tmp_path, monkeypatch):
    """Make a file that is taken for a log, which reads as a model's answers to the sample of McTaco."""
    logs = {}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("closeread.llm.logs.read_log", lambda path: logs[Path(path)])

    def make(name, model, *epochs, cost=None, procedure="mctaco", **settings):
        path = Path(name)
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("header.json", "{}")
        path.write_bytes(archive.getvalue())
        logs[path] = Log(
            path=path,
            procedure=procedure,
            corpus=procedure,
            config="sample",
            split=None,
            gold=None,
            options={"missing": "empty"},
            model=model,
            epochs=len(epochs),
            rows=epochs,
            answered=0.75,
            corrected=0,
            input_tokens=12345,
            output_tokens=67,
            cost=cost,
            exam=Exam(procedure, "sample", prompt=2, **settings),
            version="0.1",
            signature="",
            gold_digest="",
        )
        return path

    return make


def test_logs_are_known_by_how_they_begin(tmp_path, make_log):
    assert detect_kind(make_log("a.eval", "m", [])) == "log"
    (tmp_path / "log.json").write_text('{\n  "version": 2,\n  "status": "success",\n "eval": {}}')
    assert detect_kind(tmp_path / "log.json") == "log"
    (tmp_path / "rows.jsonl").write_text('{"id": "a", "label": "yes"}\n')
    assert detect_kind(tmp_path / "rows.jsonl") == "predictions"


def test_models_stand_beside_systems(make_log):
    right, wrong = sample_answers(right=90), sample_answers(right=10)
    some = [
        make_log("run-1.eval", "org/large", right, cost=1.5),
        make_log("run-2.eval", "org/small", wrong),
    ]
    Path("mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in right), "utf-8")
    table = closeread.table("mctaco", [*some, "mine.jsonl"])
    assert table.names == ("org/large", "org/small", "mine")
    assert table.reports[0].scores == table.reports[2].scores
    assert table.reports[0].provenance.options["missing"] == "empty"
    assert table.reports[0].scores["f1"].value > table.reports[1].scores["f1"].value
    grid = table._to_grids()[0]
    assert tuple(grid.header[-4:]) == USAGE
    assert [tuple(row[-4:]) for row in grid.rows] == [
        ("75.00", "12,345", "67", "1.50"),
        ("75.00", "12,345", "67", "–"),
        ("–", "–", "–", "–"),
    ]
    latex = table.to_latex().splitlines()
    assert r"cost (\$)" in next(line for line in latex if line.startswith("System"))
    assert len({line.count(" & ") for line in latex if " & " in line}) == 1
    frame = table.to_frame("arrow").to_pylist()
    assert [(row["input_tokens"], row["cost"]) for row in frame if row["metric"] == "f1"] == [
        (12345, 1.5),
        (12345, None),
        (None, None),
    ]


def test_models_of_one_name_are_told_apart_and_chosen_names_kept(make_log):
    logs = [make_log(f"run-{number}.eval", "org/m", sample_answers(right=50)) for number in (1, 2)]
    assert closeread.table("mctaco", logs).names == ("org/m (run-1)", "org/m (run-2)")
    assert closeread.table("mctaco", logs, names=["a", "b"]).names == ("a", "b")
    compared = closeread.compare("mctaco", logs[0], logs[1])
    assert (compared.names, compared["f1"].value) == (("run-1", "run-2"), 0)


def test_counts_are_averaged_over_epochs(make_log):
    epochs = [sample_answers(right=right) for right in (90, 30)]
    table = closeread.table("mctaco", {"m": make_log("run.eval", "m", *epochs)})
    alone = [closeread.score("mctaco", rows, config="sample", ci=False) for rows in epochs]
    for name in ("exact_match", "f1"):  # means over questions, so that they average, too
        expected = sum(one[name].value for one in alone) / 2
        assert table.reports[0].scores[name].value == pytest.approx(expected, abs=1e-12)


def test_a_log_is_scored_as_its_rows(make_log, capsys):
    rows = sample_answers(right=70)
    log = make_log("run.eval", "m", rows)
    expected = closeread.score("mctaco", rows, config="sample", missing="empty")
    assert closeread.score("mctaco", log, config="sample").scores == expected.scores
    assert closeread.score("mctaco", log).scores == expected.scores
    with pytest.raises(closeread.InputError, match=r"is a log of mctaco \(expected one that tne"):
        closeread.score("tne", log, config="sample")


def test_a_log_is_validated_as_its_rows(make_log, run):
    log = make_log("run.eval", "m", sample_answers(right=103)[:50])
    verdict = closeread.validate("mctaco", log)
    assert (verdict.valid, verdict.name, verdict.rows, verdict.total) == (True, "run.eval", 50, 103)
    assert not closeread.validate("mctaco", log, missing="error")
    assert not closeread.validate("mctaco", make_log("bad.eval", "m", [{"id": "x"}]))
    other = make_log("other.eval", "m", [], procedure="tne")
    done = run("validate", "mctaco", log, other)
    assert done.exit_code == 1
    assert "run.eval: valid; 50 of 103" in done.stdout
    assert "other.eval: is a log of tne (expected one that mctaco scores)" in done.output


def test_the_epoch_with_the_fewest_rows_is_told(make_log):
    answers = sample_answers(right=103)
    log = make_log("run.eval", "m", answers, answers[:40], answers[:50])
    assert closeread.validate("mctaco", log).rows == 40


def test_rows_of_a_log_have_a_file_by_default(make_log, run):
    answers = sample_answers(right=103)
    assert run("llm", "rows", make_log("run.eval", "m", answers)).exit_code == 0
    lines = Path("predictions.jsonl").read_text("utf-8").splitlines()
    assert list(map(json.loads, lines)) == answers


def test_epochs_are_averaged_in_a_score(make_log):
    log = make_log("run.eval", "m", sample_answers(right=90), sample_answers(right=30))
    table = closeread.table("mctaco", [log])
    assert closeread.score("mctaco", log).scores["f1"].value == table.reports[0].scores["f1"].value
    with pytest.raises(closeread.RequestError, match="a log of 2 epochs can't be explained"):
        closeread.score("mctaco", log, explain=True)


def test_a_folder_of_logs_is_its_logs(make_log):
    Path("logs").mkdir()
    make_log("logs/run-1.eval", "org/large", sample_answers(right=90))
    alone = closeread.score("mctaco", "logs")
    assert alone.scores == closeread.score("mctaco", "logs/run-1.eval").scores
    make_log("logs/run-2.eval", "org/small", sample_answers(right=30))
    Path("logs/logs.json").write_text("{}", "utf-8")
    assert closeread.table("mctaco", ["logs"]).names == ("org/large", "org/small")
    (compared,) = closeread.compare("mctaco", ["logs"])
    assert compared["f1"].value < 0
    with pytest.raises(closeread.InputError, match="logs: has 2 logs"):
        closeread.score("mctaco", "logs")


def test_what_a_model_did_not_answer_is_empty_unless_the_user_says_otherwise(make_log):
    log = make_log("run.eval", "m", sample_answers(right=103)[:50])
    table = closeread.table("mctaco", [log])
    assert table.reports[0].provenance.missing > 0
    with pytest.raises(closeread.InputError, match="no prediction"):
        closeread.table("mctaco", [log], missing="error")


def test_a_log_of_another_task_is_refused(make_log):
    log = make_log("run.eval", "m", [], procedure="tne")
    with pytest.raises(closeread.InputError, match="is a log of tne"):
        closeread.table("mctaco", [log])


def test_the_answers_in_a_log_are_submitted(make_log, tmp_path, run):
    store = make_store(tmp_path / "board", sample_board())
    answers = sample_answers(right=60)
    rows = Path("rows.jsonl")
    rows.write_text("".join(json.dumps(row) + "\n" for row in answers), "utf-8")
    log = make_log("run.eval", "m", answers)
    told = ("submit", "mctaco", "--system", "M", "--to", store.place)
    done = run(*told, log, "--dry-run")
    assert done.stdout.startswith("run.eval: valid; "), done.stderr
    done = run(*told, log)
    assert done.exit_code == 0, done.stderr
    assert "had been submitted before" in run(*told, "--log", log).stdout
    (sent,) = (tmp_path / "board" / "submissions").rglob("*.jsonl")
    assert [json.loads(line) for line in sent.read_text("utf-8").splitlines()] == answers
    for wrong, message in (
        ((), "either predictions or --log is needed"),
        ((rows, "--log", log), "either predictions or --log is needed"),
        (("--log", make_log("two.eval", "m", answers, answers)), "has 2 epochs"),
        ((Path("two.eval"),), "has 2 epochs"),
        (("--log", make_log("other.eval", "m", answers, procedure="tne")), "is a log of tne"),
        ((Path("other.eval"),), "is a log of tne"),
    ):
        assert message in run(*told, *wrong).stderr


@pytest.mark.gate
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_log_of_inspect_is_a_system(tmp_path):
    inspect_ai = pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")
    from closeread.llm import tasks

    where = {"log_dir": str(tmp_path), "display": "none"}
    (log,) = inspect_ai.eval(
        tasks.mctaco(config="sample"), model="closeread/always-positive", **where
    )
    table = closeread.table("mctaco", [log.location])
    rows = closeread.baseline("mctaco", "always-positive", config="sample")
    assert table.names == ("closeread/always-positive",)
    assert table.reports[0].scores == closeread.score("mctaco", rows, config="sample").scores
    assert table.usage["closeread/always-positive"].answered == 1


BASELINES = {
    "mctaco": "always-positive",
    "tne": "title-last",
    "timeline": "creation-time",
    "coref": "one-entity",
}


@pytest.mark.filterwarnings("ignore::closeread.CloseReadWarning")
@pytest.mark.parametrize("procedure", ["mctaco", "tne", "wikipossessions", "timeline", "coref"])
@pytest.mark.parametrize("missing", ["error", "empty"])
def test_what_was_not_read_is_submitted_as_nothing(procedure, missing, make_log, tmp_path, run):
    names = {"timeline": "semeval2015_timeline", "coref": "marmara_coref"}
    corpus = names.get(procedure, procedure)
    rows = [{"article": "The Blue Kettle (painting)", "possessions": []}]
    if procedure != "wikipossessions":
        rows = closeread.baseline(corpus, BASELINES[procedure], config="sample")[:1]
    board = sample_board(corpus, options={"missing": missing})
    store = make_store(tmp_path / "board", board)
    gold = board.open_scorer(None).gold
    log = make_log("run.eval", "m", rows, procedure=procedure)
    told = ("submit", corpus, "--system", "M", "--to", store.place)
    done = run(*told, log)
    assert done.exit_code == 0, done.stderr
    (sent,) = (tmp_path / "board" / "submissions").rglob("*.jsonl")
    lines = [json.loads(line) for line in sent.read_text("utf-8").splitlines()]
    expected = closeread.score(corpus, rows, config="sample", missing="empty", ci=False)
    found = closeread.score(corpus, lines, config="sample", missing=missing, ci=False)
    differ = [name for name in expected.scores if found.scores[name] != expected.scores[name]]
    # Questions without plausible candidates: "no" for each of them is an exact match, no prediction is not.
    assert differ == ["exact_match"] * (procedure == "mctaco" and missing == "error")
    assert ("no answer was read" in done.stderr) == (missing == "error")
    n_units = len(gold.units)
    assert len(lines) == (n_units if missing == "error" else len(rows))


def test_what_was_not_read_is_known_by_the_ids_of_private_gold(make_log, tmp_path, run):
    from closeread.leaderboard.declaration import make_board

    gold = tmp_path / "gold.jsonl"
    rows = list(closeread.load_dataset("mctaco", "sample")["test"])
    gold.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    store = make_store(tmp_path / "board", make_board("mctaco", gold=gold))
    log = make_log("run.eval", "m", sample_answers(right=103)[5:])
    done = run("submit", "mctaco", "--system", "M", "--to", store.place, log)
    assert done.exit_code == 0, done.stderr
    assert "no answer was read for 5 ids: 'no' is submitted for them" in done.stderr
    (sent,) = (tmp_path / "board" / "submissions").rglob("*.jsonl")
    lines = [json.loads(line) for line in sent.read_text("utf-8").splitlines()]
    assert lines[-5:] == [{"id": row["id"], "label": "no"} for row in rows[:5]]


def test_a_submission_of_a_log_tells_how_the_model_was_asked(make_log, tmp_path, run):
    store = make_store(tmp_path / "board", sample_board())
    told = ("submit", "mctaco", "--system", "M", "--to", store.place)

    def describe(name, *options, right, **settings):
        log = make_log(name, "org/large", sample_answers(right=right), **settings)
        before = set((tmp_path / "board" / "submissions").rglob("*.json"))
        done = run(*told, log, *options)
        assert done.exit_code == 0, done.stderr
        (about,) = set((tmp_path / "board" / "submissions").rglob("*.json")) - before
        return json.loads(about.read_text("utf-8"))["description"]

    plain = "org/large, prompt 2, ask=question, structured=false, shots=0, closeread 0.1"
    assert describe("a.eval", right=10) == plain
    asked = {"ask": "candidate", "structured": True, "shots": 4, "examples": "folder/some.jsonl"}
    assert describe("b.eval", right=20, seed=3, **asked) == (
        "org/large, prompt 2, ask=candidate, structured=true, shots=4, seed=3, examples=some.jsonl, closeread 0.1"
    )
    assert describe("c.eval", "--description", "My own words", right=30) == "My own words"
