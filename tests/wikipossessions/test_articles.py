"""Fetching articles from a stand-in for Wikipedia: the right revision, moved titles, folders and manifests."""

import json
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest
from shared.stand_in_wiki import AFTER, BEFORE, CUT, ENDLESS, redirect_to

from closeread import __version__
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.records import UserFiles
from closeread.tasks.wikipossessions import articles

JUG = "<p>Ann made it.</p><h2>History</h2><p>Ben bought it.</p>"
JUG_TEXT = "Ann made it.\n\n== History ==\n\nBen bought it.\n"


def manifest():
    return [
        json.loads(line) for line in Path("texts/manifest.jsonl").read_text("utf-8").splitlines()
    ]


def test_the_last_revision_of_the_day_is_fetched(fetch, wiki):
    old, last = ("2016-01-01T00:00:00Z", "<p>Old.</p>"), ("2017-06-12T23:59:59Z", JUG)
    wiki.add("A Jug", old, last, ("2017-06-13T00:00:00Z", "<p>New.</p>"))
    done = fetch("A Jug")
    assert done.stdout == "texts: 1 article fetched, 0 already there\n"
    assert Path("texts/A Jug.txt").read_bytes() == JUG_TEXT.encode()
    assert manifest() == [
        {
            "title": "A Jug",
            "day": "2017-06-12",
            "api": wiki.url,
            "page": "A Jug",
            "revision": 1001,
            "timestamp": "2017-06-12T23:59:59Z",
        }
    ]


def test_the_loader_finds_the_texts(fetch, wiki):
    wiki.add("A Jug", JUG)
    fetch("A Jug")
    Path("texts").rename("corpus/articles")
    (record,) = read_gold(load_corpus("wikipossessions"), files=UserFiles(Path("corpus"))).records
    assert record["text"] == JUG_TEXT


def test_requests_are_polite(fetch, wiki):
    wiki.add("A Jug", JUG)
    fetch("A Jug", arguments=("--contact", "ann@example.org"))
    assert {one["maxlag"] for one in wiki.asked} == {"5"}
    assert {agent.split(" python-requests/")[0] for agent in wiki.agents} == {
        f"closeread/{__version__} (ann@example.org)"
    }
    assert len(wiki.asked) == 2


def test_requests_are_a_second_apart_by_default(wiki, waits, monkeypatch):
    # Each request asks for the time before it waits and when it is sent.
    now = iter([100.0, 100.0, 100.25, 101.0, 105.0, 105.0])
    monkeypatch.setattr(articles, "monotonic", lambda: next(now))
    wiki.add("A Jug", JUG)
    client = articles.Wiki(wiki.url)
    for _ in range(3):
        client.ask(action="parse", oldid="1000")
    client.close()
    # The second was asked for after a quarter of a second; before the third, four seconds had passed.
    assert waits == [0.75]


def test_moved_titles_are_found_and_told(fetch, wiki):
    wiki.add("A Jug", JUG)
    wiki.move("A Jug", "Jug of Ann", at="2018-01-01T00:00:00Z")
    wiki.move("Jug of Ann", "Jug (1888)")
    done = fetch("A Jug")
    assert done.stderr == "note: 'A Jug' redirects to 'Jug (1888)'.\n"
    assert Path("texts/A Jug.txt").read_text() == JUG_TEXT
    assert [row["page"] for row in manifest()] == ["Jug (1888)"]
    # It is told again when nothing is fetched.
    assert fetch("A Jug").stderr == done.stderr


def test_redirects_then_and_now(fetch, wiki):
    wiki.add("Jug of Ann", JUG)
    wiki.add("A Jug", redirect_to("Jug of Ann"))
    wiki.add("The Jug", (AFTER, redirect_to("Jug of Ann")))
    wiki.redirects |= {"A Jug": "Jug of Ann", "The Jug": "Jug of Ann"}
    notes = fetch("A Jug", "The Jug").stderr.splitlines()
    assert notes == [
        f"note: {title!r} redirects to 'Jug of Ann'." for title in ("A Jug", "The Jug")
    ]
    assert Path("texts/A Jug.txt").read_text() == Path("texts/The Jug.txt").read_text() == JUG_TEXT


def test_an_article_that_became_a_redirect_is_itself(fetch, wiki):
    wiki.add("Jug of Ann", "<p>Another jug.</p>")
    wiki.add("A Jug", JUG, (AFTER, redirect_to("Jug of Ann")))
    wiki.redirects["A Jug"] = "Jug of Ann"
    assert fetch("A Jug").stderr == ""
    assert Path("texts/A Jug.txt").read_text() == JUG_TEXT


def test_what_is_there_is_not_fetched_again(fetch, wiki):
    for title in ("A Jug", "B Jug", "C Jug"):
        wiki.add(title, JUG.replace("Ann", title))
    fetch("A Jug", "B Jug")
    Path("texts/A Jug.txt").unlink()
    wiki.asked.clear()
    done = fetch("A Jug", "B Jug", "C Jug")
    assert done.stdout == "texts: 2 articles fetched, 1 already there\n"
    assert {one["titles"] for one in wiki.asked if "titles" in one} == {"A Jug", "C Jug"}
    assert [row["title"] for row in manifest()] == ["A Jug", "B Jug", "C Jug"]


def test_texts_of_ones_own_are_not_written_over(fetch, wiki):
    wiki.add("A Jug", JUG)
    Path("texts").mkdir()
    Path("texts/B Jug.txt").write_text("Mine.")
    done = fetch("A Jug", "B Jug")
    assert done.stdout == "texts: 1 article fetched, 1 already there\n"
    assert Path("texts/B Jug.txt").read_text() == "Mine."
    assert [row["title"] for row in manifest()] == ["A Jug"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda row: row | {"day": "2018-01-01"},
            "texts holds articles of '2018-01-01 from http://127.0.0.1:",
        ),
        (
            lambda row: row | {"api": "https://x"},
            "texts holds articles of '2017-06-12 from https://x' (expected '2017-06-12 from http://127.0.0.1:",
        ),
        (lambda row: {"title": "A Jug"}, "texts holds articles of 'None from None' (expected"),
    ],
)
def test_manifests_of_others(fetch, wiki, change, message):
    wiki.add("A Jug", JUG)
    fetch("A Jug")
    Path("texts/manifest.jsonl").write_text(json.dumps(change(manifest()[0])) + "\n")
    done = fetch("A Jug")
    assert done.exit_code
    assert message in done.stderr


def test_bad_days_and_contacts(fetch):
    for day, contact, message in (
        ("2999-01-01", "", "--as-of is 2999-01-01 (expected a day that is over)"),
        ("June", "", "--as-of is 'June' (expected a day, such as 2017-06-12)"),
        ("2017-06-12", "ann\nX: y", r"the contact is 'ann\nX: y' (expected printable ASCII)"),
        ("2017-06-12", "Łódź", "the contact is 'Łódź' (expected printable ASCII)"),
    ):
        done = fetch("A Jug", day=day, arguments=("--contact", contact))
        assert done.exit_code == 2
        assert message in done.stderr


MADE = "<p>Ann made it.</p>"
LAG = {"error": {"code": "maxlag", "info": "Waiting for a server: 7 seconds lagged."}}
GONE = {"error": {"code": "nosuchrevid", "info": "There is none."}}
EMPTY = {"batchcomplete": True, "query": {"pages": []}}


def find(title, at=BEFORE):
    return {
        "query": {
            "pages": [
                {"pageid": 1, "title": title, "revisions": [{"revid": 1000, "timestamp": at}]}
            ]
        }
    }


def files():
    return sorted(path.name for path in Path("texts").iterdir())


def test_all_titles_without_a_text_are_told_at_once(fetch, wiki):
    wiki.add("A Jug", MADE)
    wiki.add("Late", (AFTER, MADE))
    wiki.add("Bare", "<div class='mw-parser-output'><table><tr><td>Box</td></tr></table></div>")
    wiki.add("Round", redirect_to("Round"))
    done = fetch("Lost", "A Jug", "Late", "Bare", "Round", "a|b", "~~~")
    assert done.exit_code == 1
    first, *problems = [
        line.removeprefix("Error: ").removeprefix(f"{wiki.url}: ")
        for line in done.stderr.splitlines()
    ]
    assert first == "6 problems:"
    assert problems == [
        "'Lost' did not exist at the end of 2017-06-12",
        "'Late' did not exist at the end of 2017-06-12",
        "'Bare' had no paragraphs at the end of 2017-06-12",
        "'Round' had no paragraphs at the end of 2017-06-12",
        "'a|b' did not exist at the end of 2017-06-12",
        "'~~~' did not exist at the end of 2017-06-12",
    ]
    # The others are there.
    assert files() == ["A Jug.txt", "manifest.jsonl"]


def test_titles_that_can_not_name_files(fetch, wiki):
    wiki.add("A Jug", MADE)
    wiki.add("A jug", MADE)
    done = fetch("A Jug", "A jug", "a/b")
    assert done.exit_code == 1
    assert done.stderr.splitlines()[1:] == [
        "texts: 'A jug' and 'A Jug' can't both be names of files: they differ only in case or accents",
        "texts: 'a/b' can't be the name of a file: it contains a slash",
    ]
    assert not Path("texts").exists()


@pytest.mark.parametrize("n_bytes", [0, 1, 60, -1])
@pytest.mark.parametrize("request_number", [0, 1])
def test_connections_that_break_off_are_tried_again(fetch, wiki, waits, n_bytes, request_number):
    wiki.add("A Jug", MADE)
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
        wiki.add(title, MADE)
    assert fetch("A Jug").exit_code == 0
    wiki.fail(*[(CUT, 9)] * 5)
    done = fetch("A Jug", "B Jug", "C Jug")
    assert done.exit_code == 1
    assert waits == [5, 10, 20, 40]
    there = "1 of 3 articles are in texts: check --api, or run this again later for the others"
    assert f"no answer: the answer breaks off, 5 tries; {there}" in done.stderr
    assert files() == ["A Jug.txt", "manifest.jsonl"]
    done = fetch("A Jug", "B Jug", "C Jug")
    assert done.stdout == "texts: 2 articles fetched, 1 already there\n"


def test_nobody_is_there(fetch, wiki):
    done = fetch("A Jug", arguments=("--api", "http://127.0.0.1:9/api.php"))
    assert done.exit_code == 1
    assert "http://127.0.0.1:9/api.php: no answer: ConnectionError; 0 of 1 " in done.stderr


def test_addresses_that_are_none(fetch, wiki):
    for url in ("nowhere", "file:///etc/passwd", "http://127.0.0.1:99999/", "http://a..b/"):
        done = fetch("A Jug", arguments=("--api", url))
        assert done.exit_code == 1
        assert "; 0 of 1 articles are in texts: check --api" in done.stderr


@pytest.mark.parametrize("target", ["http://a..b/", "http://example.org/", "file:///etc/passwd"])
def test_redirects_to_other_places(fetch, wiki, target):
    wiki.fail((302, {"Location": target}))
    done = fetch("A Jug")
    assert done.exit_code == 1
    assert "; 0 of 1 articles are in texts: check --api" in done.stderr
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
    wiki.add("A Jug", MADE)
    wiki.fail(fault)
    assert fetch("A Jug").exit_code == 0
    assert waits == [waited]


@pytest.mark.parametrize(
    ("faults", "message"),
    [
        ([(429, {"Retry-After": "3600"})], "--contact, and the server asks to wait for 3,600 seconds; 0 of 1"),
        ([403], "HTTP status 403; Wikimedia refuses programs without a contact: pass yours with --contact; 0 of 1"),
        ([404], "no answer: HTTP status 404; 0 of 1 articles are in texts: check --api"),
        ([({}, LAG)] * 5, "answers with the error 'maxlag': 'Waiting for a server: 7 seconds lagged.', 5 tries; 0 of 1"),
        ([b"[]"], "answers with JSON that no MediaWiki sends"),
        ([b'{"query": []}'], "answers with JSON that no MediaWiki sends"),
        ([b'{"query": {"pages": {"1": {}}}}'], "answers with JSON that no MediaWiki sends"),
        ([b'{"query": {"pages": [3]}}'], "answers with JSON that no MediaWiki sends"),
        ([b'{"query": {"pages": [{"revisions": null}]}}'], "answers with JSON that no MediaWiki sends"),
        ([b'{"error": "maxlag"}'], "answers with JSON that no MediaWiki sends"),
        ([({}, GONE)], "answers with the error 'nosuchrevid': 'There is none.'; 0 of 1"),
        ([({}, EMPTY)], "answers with JSON that no MediaWiki sends"),
        ([ENDLESS], "no answer: it has more than 16,777,216 bytes"),
    ],
)  # fmt: skip
def test_what_stays_is_an_error(fetch, wiki, faults, message):
    wiki.add("A Jug", MADE)
    wiki.fail(*faults)
    done = fetch("A Jug")
    assert done.exit_code == 1
    assert message in done.stderr
    assert files() == []


def test_own_errors_are_not_taken_for_those_of_a_wiki(wiki, tmp_path, monkeypatch):
    monkeypatch.setattr(articles, "extract_text", {}.__getitem__)
    wiki.add("A Jug", MADE)
    with closing(articles.Wiki(wiki.url, 0)) as client, pytest.raises(KeyError, match="Ann made"):
        articles.fetch_articles(["A Jug"], tmp_path, date(2017, 6, 12), client, iter)


def test_only_programs_without_a_contact_are_told_to_pass_one(fetch, wiki):
    wiki.fail(403)
    assert (
        "no answer: HTTP status 403; 0 of 1 articles"
        in fetch("A", arguments=("--contact", "a@b.org")).stderr
    )


def test_a_drip_ends(fetch, wiki, monkeypatch):
    monkeypatch.setattr(articles, "ANSWER_SECONDS", 0.0)
    done = fetch("A Jug")
    assert (
        "no answer: no complete answer within 0 seconds, 5 tries; 0 of 1 articles are in texts"
        in done.stderr
    )


def test_folders_that_can_not_be_written(fetch, wiki):
    wiki.add("A Jug", MADE)
    Path("texts").write_text("a file")
    done = fetch("A Jug")
    assert done.exit_code == 1
    assert done.stderr == "Error: texts: can't be written: File exists\n"
