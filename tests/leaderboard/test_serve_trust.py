"""The server of a leaderboard under hostile requests: other sites, large bodies, and what an answer may tell."""

import gzip
import json
import re
import socket
from contextlib import suppress
from pathlib import Path

import pytest
from shared.boards import (
    make_store,
    read_tree,
    sample_answers,
    sample_board,
    small_limits,
    write_rows,
)
from shared.served_boards import BOUNDARY, encode, serving

from closeread.counts.procedure import GoldSpec
from closeread.leaderboard.declaration import make_board

pytest.importorskip("starlette", reason="the extra closeread[serve] is not installed")
pytest.importorskip("uvicorn", reason="the extra closeread[serve] is not installed")

SAMPLE, OWN = "mctaco-sample/test", "mctaco/own"
pytestmark = pytest.mark.gate

CANARY = "zanzibar"
LIMIT = 1_000_000
GOOD = "".join(json.dumps(row) + "\n" for row in sample_answers(right=70)).encode()


def make_gold(folder):
    """Gold of an organiser's own, with a word in every text and in its own name that must never be told."""
    rows = [
        {
            "id": f"own-{number:05}",
            "question_id": f"own-q{number // 4:04}",
            "sentence_id": f"own-s{number // 4:04}",
            "sentence": f"Sentence {CANARY} {number // 4}.",
            "question": f"Question {CANARY} {number // 4}?",
            "answer": f"{CANARY} {number}",
            "label": "yes" if number % 3 else "no",
            "category": "Event Duration",
        }
        for number in range(16)
    ]
    return write_rows(folder / f"{CANARY}.jsonl", rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def gold(folder):
    return make_gold(folder)


@pytest.fixture(scope="module")
def store(folder, gold):
    limits = small_limits(per_day=100, bytes=LIMIT, rows=20_000)
    return make_store(
        folder / "board",
        sample_board(limits=limits),
        make_board("mctaco", GoldSpec(gold=gold, split="own"), limits=limits),
    )


@pytest.fixture(scope="module")
def served(store, folder, gold):
    with serving(store, folder, "--workers", 1, "--gold", f"{OWN}={gold}") as served:
        yield served
        assert "Traceback" not in served.errors.read_text("utf-8")


@pytest.fixture
def browser(served):
    return served.browser()


@pytest.fixture
def unchanged(store):
    """The test fails if it changes anything in the store."""
    before = read_tree(store.place)
    yield
    assert read_tree(store.place) == before


def exchange(port, request):
    """Send raw bytes, and return what comes back."""
    with socket.create_connection(("127.0.0.1", port), timeout=100) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode("utf-8", "replace")


def test_only_our_own_names_are_served(browser):
    for host in ("127.0.0.1", "localhost", "127.0.0.1:1", "localhost:8000"):
        assert browser.get(Host=host).status == 200, host
    others = (
        "127.0.0.1.example.org",
        "localhost.example.org:80",
        "example.org:127.0.0.1",
        "127.0.0.2",
        "[::1]:8000",
    )
    for host in ("", "example.org", *others):
        assert browser.get(Host=host).status == 400, host


def test_requests_without_a_host_are_refused(served):
    assert exchange(served.port, b"GET / HTTP/1.0\r\n\r\n").startswith("HTTP/1.1 400 ")
    twice = b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: example.org\r\n\r\n"
    assert exchange(served.port, twice).startswith("HTTP/1.1 400 ")


@pytest.mark.usefixtures("unchanged")
class TestForms:
    """Forms of other sites do nothing."""

    def test_other_origins_are_refused(self, browser):
        others = [
            ("Origin", value) for value in ("https://example.org", "null", "http://localhost:1")
        ]
        others += [("Sec-Fetch-Site", value) for value in ("cross-site", "same-site", "none")]
        for other in others:
            answer = browser.post(GOOD, board=SAMPLE, headers=dict([other]))
            assert (answer.status, "This form was sent by another site." in answer.text) == (
                403,
                True,
            ), other

    def test_other_kinds_of_forms_are_refused(self, browser):
        with_more = f"multipart/form-data; boundary={BOUNDARY}; charset=utf-7"
        for kind in (
            None,
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            with_more,
        ):
            assert browser.post(GOOD, board=SAMPLE, headers={"Content-Type": kind}).status == 415, (
                kind
            )

    def test_looking_changes_nothing(self, browser):
        for path in ("/?submitted=" + "0" * 64, "/?submitted=../x", "/?do=submit&system=x"):
            assert browser.get(path).told == ""
        assert browser.get("/submit").status == 405

    def test_more_fields_and_files_than_the_form_has_are_refused(self, browser):
        many = {f"f{number}": "x" for number in range(20)}
        assert browser.post(GOOD, board=SAMPLE, **many).status == 400
        two = encode({"board": SAMPLE}, "a.jsonl", GOOD)
        two = two.removesuffix(f"--{BOUNDARY}--\r\n".encode()) + encode({}, "b.jsonl", GOOD)
        kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
        answer = browser.send("POST", "/submit", two, kind)
        assert (answer.status, "Too many files" in answer.text) == (400, True)
        assert browser.post(GOOD, board=SAMPLE, description="x" * 200_000).status == 400

    def test_forms_that_are_cut_off_are_refused(self, browser):
        kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
        for body in (
            b"",
            b"nothing of the kind",
            f"--{BOUNDARY}\r\n\r\nx".encode(),
            b"\xff" * 1000,
        ):
            answer = browser.send("POST", "/submit", body, kind)
            assert answer.status == 400 or answer.told.startswith(
                "This can’t be submitted: no such board"
            ), body

    def test_a_large_form_is_refused_before_it_is_read(self, served, browser):
        head = f"POST /submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary={BOUNDARY}\r\n"
        answer = exchange(served.port, head.encode() + b"Content-Length: 900000000\r\n\r\n")
        assert answer.startswith("HTTP/1.1 413 ")
        chunked = (
            b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"  # chunks win over the length
        )
        assert exchange(served.port, head.encode() + chunked).startswith("HTTP/1.1 411 ")
        assert "A form may have at most 1,100,000 bytes here, and has to declare them." in answer

    def test_a_form_of_unknown_length_is_refused_before_it_is_read(self, served, browser):
        def measure():
            status = Path(f"/proc/{served.process.pid}/status").read_text("ascii")
            return int(re.search(r"VmHWM:\s+([0-9]+) kB", status)[1])

        def write(sent):
            yield f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="predictions"; filename="x"\r\n\r\n'.encode()
            for _ in range(3000):
                sent.append(1)
                yield b"x" * 100_000

        before, sent = measure(), []
        kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
        with suppress(ConnectionError):  # it is closed while it is still written to
            assert (
                browser.send("POST", "/submit", write(sent), kind, encode_chunked=True).status
                == 411
            )
        assert len(sent) < 500  # of 3,000: the limit, and what the system keeps on its way
        assert measure() - before < 20_000

    def test_hostile_predictions_are_refused(self, browser):
        """As by the judge; the form itself refuses files that are too large."""
        large = browser.post(b"x" * (LIMIT + 1), board=SAMPLE).told
        assert (
            "Predictions: the file is larger than 1,000,000 bytes, the limit of this board" in large
        )
        bomb = gzip.compress(b" " * 40_000_000, 1)
        assert (
            "more than 1,000,000 bytes when decompressed"
            in browser.post(bomb, file="x", board=SAMPLE).told
        )

    def test_hostile_texts_are_shown_harmless(self, browser):
        texts = {
            "system": "<script>alert(1)</script>",
            "model": '"><img src=x onerror=alert(1)>',
            "paper": "javascript:alert(1)",
            "code": "https://example.org/\u202egnp.exe",
            "description": "{{ 7 * 7 }}\x1b[2J\ud800</textarea><svg onload=alert(1)>",
            "board": "<b>board</b>",
        }
        shown = [
            browser.post(b"x", **texts),
            browser.post(b"x", file="<b>\u202ex\x07</b>.jsonl", **{**texts, "board": SAMPLE}),
        ]
        for answer in shown:
            assert answer.status == 200
            page = re.sub("<script>.*</script>", "", answer.text, count=0, flags=re.DOTALL)
            for markup in (
                "<script>a",
                "<img",
                "<svg",
                "<b>",
                "onerror=alert(1)>",
                "\u202e",
                "\x1b",
                "\x07",
                " 49",
            ):
                assert markup not in page
            assert 'href="javascript' not in page
            assert "&lt;script&gt;alert(1)" in page

    def test_names_of_files_are_never_paths(self, browser):
        for file in (
            "../../x.jsonl",
            "/etc/passwd",
            "a\\b.jsonl",
            "x" * 3000,
            "%00.jsonl",
            "..",
            "x.PY",
        ):
            told = browser.post(GOOD, file=file, board=SAMPLE, do="check").told
            assert told.endswith("are valid. Nothing was submitted."), file


def test_other_pages_do_not_exist(browser):
    for path in (
        "/nothing",
        "/submit/",
        "/leaderboard.json",
        "/..%2f..%2fetc/passwd",
        "/templates/",
        "//",
    ):
        answer = browser.get(path)
        assert answer.status == 404, path
        assert "<p>There is no such page.</p>" in answer.text
        assert answer.headers["content-type"] == "text/html; charset=utf-8"


def test_every_answer_has_the_headers(browser):
    answers = [
        browser.get(),
        browser.get("/nothing"),
        browser.get("/submit"),
        browser.get(Host="example.org"),
        browser.send("POST", "/submit", b""),
        browser.send("PUT", "/", b""),
        browser.send("OPTIONS", "/"),
        browser.send("HEAD", "/"),
    ]
    assert [answer.status for answer in answers] == [200, 404, 405, 400, 415, 405, 405, 200]
    for answer in answers:
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert not {"server", "access-control-allow-origin"} & set(answer.headers)
    head = answers[-1]
    assert (head.text, head.headers["content-length"]) == ("", answers[0].headers["content-length"])


def test_nothing_of_private_gold_is_told(browser, store, gold):
    labels = [json.loads(line) for line in gold.read_text("utf-8").splitlines()]
    right = [{"id": row["id"], "label": row["label"]} for row in labels]
    wrong = [
        {"id": "own-00000", "label": CANARY[::-1]},
        *right[1:3],
        right[1],
        {"id": "elsewhere", "label": "no"},
    ]
    answers = [
        browser.post(
            "".join(json.dumps(row) + "\n" for row in rows).encode(),
            board=OWN,
            system=f"System {number}",
            **more,
        )
        for number, (rows, more) in enumerate(
            [(right, {}), (wrong, {}), (right[2:], {}), (right, {"do": "check"})]
        )
    ]
    assert answers[0].told.startswith("Submitted and judged: System 0 has F1 100.00")
    assert [answer.told.partition(":")[0] for answer in answers[1:3]] == [
        "This can’t be submitted, for these reasons",
        "This can’t be submitted",
    ]
    for answer in (*answers, browser.get(), browser.get("/nothing")):
        assert CANARY not in answer.text + str(answer.headers)


@pytest.mark.extended
def test_what_can_t_be_saved_is_told_and_kept_in_the_form(tmp_path):
    store = make_store(tmp_path / "board", sample_board())
    with serving(store, tmp_path) as served:
        (Path(store.place) / "submissions").write_bytes(b"")  # as good as a disk that is full
        answer = served.browser().post(GOOD, board=SAMPLE, system="Kept")
        assert answer.told.startswith("This can’t be submitted: This can't be saved: ")
        assert 'value="Kept"' in answer.text
        assert str(tmp_path) not in answer.told
        (Path(store.place) / "submissions").unlink()
        assert "Kept has F1" in served.browser().post(GOOD, board=SAMPLE, system="Kept").told


@pytest.mark.extended
def test_what_goes_wrong_here_is_told_without_details(tmp_path):
    gold = make_gold(tmp_path)
    store = make_store(tmp_path / "board", make_board("mctaco", GoldSpec(gold=gold, split="own")))
    with serving(store, tmp_path, "--gold", gold) as served:
        browser = served.browser()
        gold.rename(tmp_path / "elsewhere")
        index = Path(store.place) / "board.json"
        rows = [{"id": f"own-{number:05}", "label": "no"} for number in range(16)]
        answers = [
            browser.post("".join(json.dumps(row) + "\n" for row in rows).encode(), board=OWN)
        ]
        (tmp_path / "elsewhere").rename(gold)
        content = index.read_bytes()
        index.write_bytes(content[:-100])
        answers.append(browser.get())
        index.write_bytes(content)
        assert browser.get().status == 200
    for answer in answers:
        assert answer.status == 500
        assert (
            "Something went wrong here; the details are printed where this page is served."
            in answer.text
        )
        assert not re.search(f"{CANARY}|Traceback|[a-z]Error|{tmp_path}|closeread/", answer.text)
        assert answer.headers["x-frame-options"] == "DENY"
    errors = served.errors.read_text("utf-8")
    assert "Traceback" in errors
    assert "FormatError" in errors
