"""`closeread leaderboard serve`, over HTTP: forms, what they are answered, and how the server begins and ends."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from shared.boards import make_store, read_tree, sample_answers, sample_board, send, small_limits
from shared.served_boards import COMMAND, serving

from closeread.leaderboard import server
from closeread.leaderboard.judge import judge
from closeread.leaderboard.results import CountCache
from closeread.leaderboard.submission import make_submission

pytest.importorskip("starlette", reason="the extra closeread[serve] is not installed")
pytest.importorskip("uvicorn", reason="the extra closeread[serve] is not installed")

pytestmark = pytest.mark.gate

WAITS = "Submitted, but not judged yet"
MCTACO, TNE = "mctaco-sample/test", "tne-sample/test"


def answers(right):
    """Predictions as the bytes of a file, of which the first `right` are right."""
    return "".join(json.dumps(row) + "\n" for row in sample_answers(right=right)).encode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def store(folder):
    return make_store(
        folder / "board", sample_board(limits=small_limits(per_day=100)), sample_board("tne")
    )


@pytest.fixture(scope="module")
def served(store, folder):
    with serving(store, folder, "--workers", 1) as served:
        yield served


@pytest.fixture
def browser(served):
    return served.browser()


def is_alive(process):
    """Whether a process is there, and not only waits for its parent to see that it has ended."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text("ascii", "replace")
    except OSError:
        return False
    return not stat.rpartition(")")[2].lstrip().startswith("Z")


def find_row(store, system):
    rows = [row for board in store.read_index()["boards"] for row in board["rows"]]
    return next((row for row in rows if row["system"] == system), None)


def test_a_form_becomes_a_row(browser, store, ran, tmp_path):
    (tmp_path / "mine.jsonl").write_bytes(answers(60))
    report = json.loads(
        ran("score", "mctaco", tmp_path / "mine.jsonl", "--config", "sample", "--json")
    )
    answer = browser.post(
        answers(60),
        board=MCTACO,
        system="  Sixty right  ",
        paper="https://example.org/paper",
        description="Trained by hand.\r\n  Slowly.",
    )
    row = find_row(store, "Sixty right")
    assert row["scores"] == report["scores"]
    assert (row["paper"], row["description"]) == (
        "https://example.org/paper",
        "Trained by hand. Slowly.",
    )
    f1 = f"{100 * report['scores']['f1']['value']:.2f}"
    assert re.fullmatch(
        rf"Submitted and judged: Sixty right has F1 {f1} and rank [0-9–]+\.", answer.told
    )
    assert f'href="#mctaco-sample-test:system:{row["id"]}"' in answer.text


def test_all_problems_are_told_at_once_and_values_are_kept(browser, store):
    before = read_tree(store.place)
    wrong = b'{"id": "nowhere", "label": "yes"}\n{"id": "test-00000", "label": NaN}\n'
    values = {
        "system": "My  system",
        "model": "no-org",
        "paper": "http://x.org",
        "description": "two\x07",
    }
    answer = browser.post(
        wrong, file="my file.jsonl", board=TNE, code="https://example.org/code", **values
    )
    assert answer.status == 200
    answer = browser.post(
        wrong, file="my file.jsonl", board=MCTACO, code="https://example.org/code", **values
    )
    assert answer.told == (
        "This can’t be submitted, for these reasons: "
        "Name of the system: 'My system' contains several spaces in a row (expected one) "
        r"Description: 'two\x07' contains an invisible character, U+0007; remove it "
        "Model on the Hub: 'no-org' is not the name of a model on the Hub "
        "(expected ORG/NAME of letters, digits, -, _ and .) "
        "Paper: 'http://x.org' is not an https link (expected https://HOST/…) "
        "predictions: 103 of 103 ids have no prediction: 'test-00000', 'test-00001', 'test-00002', …. Add them "
        "predictions:1: id 'nowhere' is not in the gold "
        "predictions:2: NaN is not a valid JSON value "
        "Please choose a file again; the last one was my file.jsonl ."
    )
    for name, value in {**values, "code": "https://example.org/code"}.items():
        shown = value.replace("\x07", r"\x07")  # what can't be seen is shown escaped
        field = re.search(rf'<(?:input|textarea) name="{name}".*?</label>', answer.text, re.DOTALL)[
            0
        ]
        assert f'value="{shown}"' in field or f">{shown}</textarea>" in field
        assert ("aria-invalid" in field) == (name != "code")
    assert 'role="alert" tabindex="-1"' in answer.text
    assert 'action="/submit#answer"' in answer.text
    assert "<details open>" in answer.text
    assert f'<option value="{MCTACO}" selected>' in answer.text
    assert read_tree(store.place) == before


def test_predictions_are_checked_without_submitting(browser, store):
    before = read_tree(store.place)
    answer = browser.post(
        answers(33), file="mine.jsonl", board=MCTACO, system="Only checked", do="check"
    )
    assert answer.told == "The predictions in mine.jsonl are valid. Nothing was submitted."
    assert 'value="Only checked"' in answer.text
    assert "<details open>" in answer.text
    assert read_tree(store.place) == before


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"data": b"", "file": ""}, "This can’t be submitted: Predictions: no file is chosen"),
        ({"data": b"", "file": None}, "This can’t be submitted: Predictions: no file is chosen"),
        (
            {"data": b""},
            "This can’t be submitted: predictions: is empty Please choose a file again",
        ),
        (
            {"data": b"x", "board": "mctaco/tests"},
            "This can’t be submitted: no such board: 'mctaco/tests'",
        ),
        ({"data": b"x", "board": None}, "This can’t be submitted: no such board: ''"),
        (
            {"data": answers(3), "system": None},
            "This can’t be submitted: Name of the system: '' is empty",
        ),
    ],
)
def test_forms_that_lack_something(browser, sent, told):
    assert browser.post(**{"board": MCTACO, **sent}).told.startswith(told)


def test_two_forms_at_once_are_both_judged(served, store):
    browsers = [served.browser() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        jobs = [
            pool.submit(one.post, answers(40 + n), board=MCTACO, system=f"At once {n}")
            for n, one in enumerate(browsers)
        ]
        told = [job.result().told for job in jobs]
    assert [one.partition(" has ")[0] for one in told] == [
        f"Submitted and judged: At once {n}" for n in range(4)
    ]
    assert all(find_row(store, f"At once {n}") for n in range(4))


def test_what_waits_is_judged_together(tmp_path, monkeypatch):
    runs = []
    monkeypatch.setattr(
        server, "judge", lambda *given, **named: runs.append(named) or judge(*given, **named)
    )
    store = make_store(tmp_path / "board", sample_board(limits=small_limits(per_day=10)))
    own = server.Service(store, {}, CountCache(tmp_path / "counts"), lambda kind, sentence: None)
    own.catch_up(1)
    (tmp_path / "p.jsonl").write_bytes(answers(3))
    board = store.read_leaderboard().find(None)
    sent = [make_submission(board, tmp_path / "p.jsonl", system=f"Waits {n}") for n in range(3)]
    try:
        for one in sent:
            own.submit(board, one)
        assert own.describe(sent[0].about.id)["message"].startswith(
            f"{WAITS}: 3 submissions waiting for the judge."
        )
        for one in sent:
            own.judge(one.about.id)
    finally:
        own.close()
    assert len(runs) == 2  # when it began, and once for all that waited
    assert all(find_row(store, f"Waits {n}") for n in range(3))


@pytest.mark.extended
def test_the_page_is_shown_while_something_is_scored(served, browser, store):
    browser.post(answers(1), board=MCTACO, do="check")  # starts the worker, if there is none yet
    workers = served.find_workers()
    browsers = [served.browser() for _ in range(42)]  # more than there are threads
    for worker in workers:
        os.kill(worker, signal.SIGSTOP)
    with ThreadPoolExecutor(42) as pool:
        waiting = [pool.submit(one.post, answers(7), board=MCTACO, do="check") for one in browsers]
        time.sleep(0.3)
        assert served.browser().get().status == 200
        assert not any(job.done() for job in waiting)
        for worker in workers:
            os.kill(worker, signal.SIGCONT)
        assert {job.result().told for job in waiting} == {
            "The predictions in predictions.jsonl are valid. Nothing was submitted."
        }


def test_a_worker_that_dies_takes_nothing_with_it(served, browser, store):
    browser.post(answers(1), board=MCTACO, do="check")
    workers = served.find_workers()
    for worker in workers:
        os.kill(worker, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(browser.post, answers(55), board=MCTACO, system="Unlucky")
        time.sleep(0.2)
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        answer = waiting.result()
    assert answer.told.startswith(
        "This can’t be submitted: Scoring failed; the reason is printed where this page is"
    )
    assert 'value="Unlucky"' in answer.text
    assert "the scoring process ended" in served.errors.read_text("utf-8")
    assert find_row(store, "Unlucky") is None
    assert "Unlucky has F1" in browser.post(answers(55), board=MCTACO, system="Unlucky").told


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.extended
def test_a_signal_ends_the_server_and_its_workers(tmp_path, number):
    store = make_store(tmp_path / "board", sample_board())
    with serving(store, tmp_path) as served:
        browser = served.browser()
        browser.post(answers(1), board=MCTACO, do="check")
        workers = served.find_workers()
        large = b'{"id": "nowhere", "label": "yes"}\n' * 400_000
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(browser.post, large, board=MCTACO)
            # Until the child that scores is there.
            while len(processes := served.find_workers()) <= len(workers) and not waiting.done():
                time.sleep(0.01)
            served.process.send_signal(number)
            assert served.process.wait(20) == 0
            assert "Scoring failed" in waiting.result().told
        deadline = time.monotonic() + 25  # the system ends what is killed a little later
        while any(map(is_alive, processes)) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not [number for number in processes if is_alive(number)]
        assert "Traceback" not in served.errors.read_text("utf-8")
    assert not find_row(store, "Mine")


def find_left(folder):
    """The numbers of the processes whose temporary files are in a folder, and these."""
    known = f"TMPDIR={folder}".encode()
    processes = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if known in (place / "environ").read_bytes() and is_alive(place.name):
                processes.append(int(place.name))
    return processes, sorted(folder.iterdir())


@pytest.mark.parametrize("is_scoring", [False, True])
@pytest.mark.parametrize("command", ["serve", "judge"])
@pytest.mark.extended
def test_a_killed_server_or_judge_leaves_nothing_behind(tmp_path, monkeypatch, command, is_scoring):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    store = make_store(tmp_path / "board", sample_board())
    large = b'{"id": "nowhere", "label": "yes"}\n' * 400_000
    with ExitStack() as stack:
        if command == "serve":
            served = stack.enter_context(serving(store, tmp_path))
            process, errors = served.process, served.errors
            browser = served.browser()
            browser.post(answers(1), board=MCTACO, do="check")
            if is_scoring:
                pool = stack.enter_context(ThreadPoolExecutor(1))
                pool.submit(browser.post, large, board=MCTACO)
        else:
            (tmp_path / "p.jsonl").write_bytes(large if is_scoring else answers(3))
            send(store, tmp_path / "p.jsonl", "Mine", at=datetime.now(UTC))
            errors = tmp_path / "errors.txt"
            with errors.open("w") as stderr:
                command = [*COMMAND[:-1], "judge", store.place, "--cache", tmp_path / "counts"]
                process = subprocess.Popen(command, stderr=stderr, stdout=subprocess.DEVNULL)
            stack.callback(process.wait)
        # The server or the judge, its worker, which has files, and, if it scores, the child of this one.
        deadline = time.monotonic() + 150
        while time.monotonic() < deadline:
            processes, files = find_left(scratch)
            if files and len(processes) >= 2 + is_scoring:
                break
            time.sleep(0.005)
        process.kill()
        assert files
        deadline = time.monotonic() + 25
        while any(find_left(scratch)) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert find_left(scratch) == ([], [])
        assert "Traceback" not in errors.read_text("utf-8")


def test_a_port_that_is_taken_is_told(store, tmp_path, run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("leaderboard", "serve", store.place, "--port", port)
    assert done.exit_code == 2
    assert (
        f"port {port} can't be used: Address already in use (--port 0 takes one that is free)"
        in done.stderr
    )


def test_other_stores_are_refused(run, tmp_path):
    done = run("leaderboard", "serve", "hf://datasets/lab/board")
    assert (done.exit_code, "serve shows a folder" in done.stderr) == (2, True)
    done = run("leaderboard", "serve", tmp_path)
    assert (done.exit_code, "is not a leaderboard" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("hidden", "needed"),
    [
        (["starlette"], "starlette: pip install 'closeread[serve]'"),
        (
            ["uvicorn", "python_multipart"],
            "python-multipart and uvicorn: pip install 'closeread[serve]'",
        ),
    ],
)
def test_missing_libraries_are_named(store, hidden, needed):
    code = f"import sys; sys.modules.update(dict.fromkeys({hidden})); {COMMAND[2]}"
    done = subprocess.run(
        [sys.executable, "-c", code, *COMMAND[3:], store.place], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr == f"Error: serving a leaderboard needs {needed}\n"
