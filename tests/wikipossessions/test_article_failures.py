"""What goes wrong when articles are fetched: titles without a text, networks that break off, servers that are busy."""

import json
from pathlib import Path

import pytest
from shared.stand_in_wiki import AFTER, BEFORE, CUT, ENDLESS, redirect_to

from closeread.tasks.wikipossessions import articles

JUG = "<p>Ann made it.</p>"
LAG = {"error": {"code": "maxlag", "info": "Waiting for a server: 7 seconds lagged."}}
GONE = {"error": {"code": "nosuchrevid", "info": "There\nis none."}}
EMPTY = {"batchcomplete": True, "query": {"pages": [], "logevents": []}}


def move_to(title):
    return {"query": {"pages": [], "logevents": [{"logid": 1, "params": {"target_title": title}}]}}


def find(title, at=BEFORE):
    return {"query": {"pages": [{"pageid": 1, "title": title, "revisions": [{"revid": 1000, "timestamp": at}]}]}}


def files():
    return sorted(path.name for path in Path("texts").iterdir())


def test_all_titles_without_a_text_are_told_at_once(fetch, wiki):
    wiki.add("A Jug", JUG)
    wiki.add("Late", (AFTER, JUG))
    wiki.add("Bare", "<div class='mw-parser-output'><table><tr><td>Box</td></tr></table></div>")
    wiki.add("Round", redirect_to("Round"))
    wiki.log("Gone", "Gone for good")
    long = "x" * 260
    done = fetch("Lost", "A Jug", "Late", "Bare", "Round", "Gone", "a|b", "a/b", long, "~~~")
    assert done.exit_code == 1
    first, *problems = [line.removeprefix("Error: ").removeprefix(f"{wiki.url}: ") for line in done.stderr.splitlines()]
    assert first == "9 problems:"
    assert problems == [
        "'a/b' contains a slash, so that it can't be the name of a file",
        f"'{'x' * 27} … {'x' * 27}' is too long for the name of a file: 264 bytes (limit: 255)",
        "'Lost' does not exist; it may have been deleted or is spelled otherwise",
        "'Late' did not exist at the end of 2017-06-12",
        "'Bare' has no paragraphs in revision 3000 (expected the text of an article)",
        "'Round' was moved or redirects more than 10 times (last: 'Round')",
        "'Gone' does not exist (its page is now 'Gone for good'); it may have been deleted or is spelled otherwise",
        "'a|b' contains '|' (expected a title of Wikipedia)",
        "'~~~' can't be a title of this wiki",
    ]
    # The others are there.
    assert files() == ["A Jug.txt", "manifest.jsonl"]


def test_titles_that_are_one_file_on_some_systems(fetch, wiki):
    wiki.add("A Jug", JUG)
    wiki.add("A jug", JUG)
    done = fetch("A Jug", "A jug")
    assert done.exit_code == 1
    problem = "'A jug' and 'A Jug' can't both be names of files: they differ only in case or accents"
    assert done.stderr == f"Error: {wiki.url}: {problem}\n"
    assert files() == ["A Jug.txt", "manifest.jsonl"]


@pytest.mark.parametrize("n_bytes", [0, 1, 60, -1])
@pytest.mark.parametrize("request_number", [0, 1])
def test_connections_that_break_off_are_tried_again(fetch, wiki, waits, n_bytes, request_number):
    wiki.add("A Jug", JUG)
    wiki.answer = pass_first(wiki, request_number, (CUT, n_bytes))
    assert fetch("A Jug").exit_code == 0
    assert len(wiki.asked) == 3
    assert waits == [5]
    assert Path("texts/A Jug.txt").read_text() == "Ann made it.\n"


def pass_first(wiki, number, fault):
    """Return a wiki's `answer`, which has the request after the first `number` fail."""
    whole = type(wiki).answer
    if number == 0:
        wiki.fail(fault)

    def answer(asked):
        if len(wiki.asked) == number:
            wiki.fail(fault)
        return whole(wiki, asked)

    return answer


def test_a_run_that_broke_off_is_continued(fetch, wiki, waits):
    for title in ("A Jug", "B Jug", "C Jug"):
        wiki.add(title, JUG)
    assert fetch("A Jug").exit_code == 0
    wiki.fail(*[(CUT, 9)] * 5)
    done = fetch("A Jug", "B Jug", "C Jug")
    assert done.exit_code == 1
    assert waits == [5, 10, 20, 40]
    there = "1 of 3 articles are in texts: run the same command again to fetch the others"
    assert f"the connection failed (the answer breaks off), 5 tries; {there}" in done.stderr
    assert files() == ["A Jug.txt", "manifest.jsonl"]
    done = fetch("A Jug", "B Jug", "C Jug")
    assert done.stdout == "texts: 2 articles fetched, 1 already there\n"


def test_nobody_is_there(fetch, wiki):
    done = fetch("A Jug", arguments=("--api", "http://127.0.0.1:9/api.php"))
    assert done.exit_code == 1
    assert (
        "http://127.0.0.1:9/api.php: the connection failed (ConnectionError; expected https://…/api.php); 0 of 1 "
        in done.stderr
    )


def test_addresses_that_are_none(fetch, wiki):
    for url in ("", "nowhere", "file:///etc/passwd", "https://", "http://[::1"):
        done = fetch("A Jug", arguments=("--api", url))
        message = f"Error: the address of the API is {url!r} (expected https://…/api.php)\n"
        assert (done.exit_code, done.stderr) == (2, message)
    for url in ("http://127.0.0.1:99999/", "http://a..b/"):  # requests and urllib3 refuse them differently
        done = fetch("A Jug", arguments=("--api", url))
        assert done.exit_code == 1
        assert "; expected https://…/api.php); 0 of 1 articles are in texts: check --api" in done.stderr


@pytest.mark.parametrize("target", ["http://a..b/", "http://example.org/", "file:///etc/passwd"])
def test_redirects_to_other_places(fetch, wiki, target):
    wiki.fail((302, {"Location": target}))
    done = fetch("A Jug")
    assert done.exit_code == 1
    assert "; expected https://…/api.php); 0 of 1 articles are in texts: check --api" in done.stderr
    assert len(wiki.asked) == 1


@pytest.mark.parametrize(
    ("fault", "waited"),
    [
        (({"Retry-After": "7"}, LAG), 7),
        (({}, LAG), 5),
        ((429, {"Retry-After": "3"}), 3),
        ((503, {"Retry-After": "Mon, 12 Jun 2017 00:00:00 GMT"}), 0),
        ((503, {"Retry-After": "soon"}), 5),
        (({}, {"error": {"code": "internal_api_error_DBQueryError", "info": ""}}), 5),
        (502, 5),
        (b'{"query": {"pages"', 5),
        (b"<html>Log in to the hotel</html>", 5),
        (b"[" * 100_000, 5),
    ],
)
def test_a_busy_server_is_asked_again(fetch, wiki, waits, fault, waited):
    wiki.add("A Jug", JUG)
    wiki.fail(fault)
    assert fetch("A Jug").exit_code == 0
    assert waits == [waited]


@pytest.mark.parametrize(
    ("faults", "message"),
    [
        ([(429, {"Retry-After": "3600"})], "--contact, and the server asks to wait for 3,600 seconds; 0 of 1"),
        ([403], "HTTP status 403; Wikimedia refuses programs without a contact: pass yours with --contact; 0 of 1"),
        ([404], "answers with HTTP status 404; 0 of 1 articles are in texts: check --api"),
        ([({}, LAG)] * 5, "answers with the error 'maxlag': Waiting for a server: 7 seconds lagged., 5 tries; 0 of 1"),
        ([b"[]"], "answers with JSON that no MediaWiki sends"),
        ([b'{"query": []}'], "answers with JSON that no MediaWiki sends"),
        ([b'{"query": {"pages": {"1": {}}}}'], "answers with JSON that no MediaWiki sends"),
        ([b'{"query": {"pages": [3]}}'], "answers with JSON that no MediaWiki sends"),
        ([b'{"query": {"pages": [{"revisions": [{"revid": "3"}]}]}}'], "answers with JSON that no MediaWiki sends"),
        ([b'{"query": {"logevents": [3]}}'], "answers with JSON that no MediaWiki sends"),
        ([b'{"error": "maxlag"}'], "answers with JSON that no MediaWiki sends"),
        ([({}, move_to(["B"]))], "answers with JSON that no MediaWiki sends"),
        ([({}, move_to("A|B"))], "'A Jug' leads to 'A|B', which contains '|' (expected a title of Wikipedia)"),
        ([({}, find("A\x1b[1m"))], "answers with JSON that no MediaWiki sends"),
        ([({}, find("A Jug", "2017-01-01\n"))], "answers with JSON that no MediaWiki sends"),
        ([({}, GONE)], "'A Jug': answers with the error 'nosuchrevid': There is none."),
        ([({}, EMPTY)], "'A Jug' can't be a title of this wiki"),
        ([ENDLESS], "'A Jug': the answer has more than 16,777,216 bytes"),
    ],
)  # fmt: skip
def test_what_stays_is_an_error(fetch, wiki, faults, message):
    wiki.add("A Jug", JUG)
    wiki.fail(*faults)
    done = fetch("A Jug")
    assert done.exit_code == 1
    assert message in done.stderr
    assert files() == []


def test_revisions_of_another_day_or_number_are_refused(fetch, wiki):
    wiki.fail(({}, find("A Jug", "2018-01-01T00:00:00Z")))
    assert "a revision of '2018-01-01' of 'A Jug' (expected 2017-06-12 or before)" in fetch("A Jug").stderr
    other = {"parse": {"revid": 8, "text": JUG}}
    wiki.fail(({}, find("A Jug")), ({}, other))
    assert "answers with JSON that no MediaWiki sends" in fetch("A Jug").stderr
    assert files() == []


def test_only_programs_without_a_contact_are_told_to_pass_one(fetch, wiki):
    wiki.fail(403)
    assert "answers with HTTP status 403; 0 of 1 articles" in fetch("A", arguments=("--contact", "a@b.org")).stderr


def test_a_drip_ends(fetch, wiki, monkeypatch):
    monkeypatch.setattr(articles, "SECONDS", 0.0)
    done = fetch("A Jug")
    assert (
        "no complete answer within 0 seconds), 5 tries; 0 of 1 articles are in texts: run the same command"
        in done.stderr
    )


def test_no_more_is_read_than_is_kept(wiki):
    wiki.fail(ENDLESS)
    client = articles.Wiki(wiki.url)
    with pytest.raises(articles.TooLargeError):
        client.ask(action="parse", oldid="1")
    client.close()


def test_servers_that_hide_moves(fetch, wiki):
    wiki.add("A Jug", JUG)
    wiki.moves.append({"logid": 5, "title": "A Jug", "timestamp": AFTER, "actionhidden": True})
    assert fetch("A Jug").exit_code == 0
    assert json.loads(Path("texts/manifest.jsonl").read_text())["found"] == ""


def test_folders_that_can_not_be_written(fetch, wiki):
    wiki.add("A Jug", JUG)
    Path("texts").write_text("a file")
    done = fetch("A Jug")
    assert done.exit_code == 1
    assert done.stderr == "Error: texts: can't be written: File exists\n"
