"""Fetching articles from a stand-in for Wikipedia: the right revision, moved titles, folders and manifests."""

import hashlib
import json
from pathlib import Path

import pytest
from shared.stand_in_wiki import AFTER, redirect_to

from closeread import __version__
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus

JUG = "<p>Ann made it.</p><h2>History</h2><p>Ben bought it.</p>"
JUG_TEXT = "Ann made it.\n\n== History ==\n\nBen bought it.\n"


def manifest():
    return [json.loads(line) for line in Path("texts/manifest.jsonl").read_text("utf-8").splitlines()]


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
            "found": "",
            "page_id": 1,
            "revision": 1001,
            "timestamp": "2017-06-12T23:59:59Z",
            "file": "A Jug.txt",
            "sha256": hashlib.sha256(JUG_TEXT.encode()).hexdigest(),
        }
    ]


def test_the_loader_finds_the_texts(fetch, wiki):
    wiki.add("A Jug", JUG)
    fetch("A Jug")
    Path("texts").rename("corpus/articles")
    (record,) = read_gold(load_corpus("wikipossessions"), data_dir=Path("corpus")).records
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
    from closeread.tasks.wikipossessions import articles

    now = iter([100.0, 100.25, 101.0, 105.0, 105.0])
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
    assert done.stderr == "note: 'A Jug' was moved to 'Jug (1888)'.\n"
    assert Path("texts/A Jug.txt").read_text() == JUG_TEXT
    assert [(row["page"], row["found"]) for row in manifest()] == [("Jug (1888)", "moved")]
    # It is told again when nothing is fetched.
    assert fetch("A Jug").stderr == done.stderr


def test_a_title_that_names_another_page_today(fetch, wiki):
    """The page was moved away, and another one that is older was moved to its title."""
    wiki.add("Venus", "<p>The other Venus.</p>")
    wiki.add("Venus (jug)", JUG)
    wiki.log("Venus", "Venus (jug)")
    assert fetch("Venus").stderr == "note: 'Venus' was moved to 'Venus (jug)'.\n"
    assert Path("texts/Venus.txt").read_text() == JUG_TEXT


def test_a_move_that_was_undone_is_no_move(fetch, wiki):
    wiki.add("A Jug", JUG)
    wiki.log("A Jug", "Nonsense")
    wiki.log("Nonsense", "A Jug")
    assert fetch("A Jug").stderr == ""
    assert manifest()[0]["found"] == ""


def test_moves_before_the_day_do_not_matter(fetch, wiki):
    wiki.add("A Jug", JUG)
    wiki.log("A Jug", "Elsewhere", at="2017-06-12T23:59:59Z")
    assert fetch("A Jug").exit_code == 0


def test_redirects_then_and_now(fetch, wiki):
    wiki.add("Jug of Ann", JUG)
    wiki.add("A Jug", redirect_to("Jug of Ann"))
    wiki.add("The Jug", (AFTER, redirect_to("Jug of Ann")))
    wiki.redirects["The Jug"] = "Jug of Ann"
    notes = fetch("A Jug", "The Jug").stderr.splitlines()
    assert notes == [f"note: {title!r} redirects to 'Jug of Ann'." for title in ("A Jug", "The Jug")]
    assert Path("texts/A Jug.txt").read_text() == Path("texts/The Jug.txt").read_text() == JUG_TEXT


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
    fetch("A Jug")
    own, changed = Path("texts/B Jug.txt"), Path("texts/A Jug.txt")
    own.write_text("Mine.")
    changed.write_text(JUG_TEXT.replace("Ben", "Bea"))
    wiki.asked.clear()
    done = fetch("A Jug", "B Jug")
    assert done.exit_code == 2
    what = "texts has 2 texts that manifest.jsonl does not list as they are: 'A Jug.txt', 'B Jug.txt'"
    assert f"{what}; move them away, or choose another folder" in done.stderr
    assert (own.read_text(), wiki.asked) == ("Mine.", [])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: row | {"day": "2018-01-01"}, "texts holds articles as of '2018-01-01' (expected '2017-06-12');"),
        (lambda row: row | {"api": "https://x"}, "texts holds articles of 'https://x' (expected 'http://127.0.0.1:"),
        (lambda row: row | {"sha256": 3}, "texts/manifest.jsonl:1: sha256 is 3 (expected a text, as"),
        (lambda row: {"title": "A Jug"}, "texts/manifest.jsonl: 9 problems:"),
    ],
)
def test_manifests_of_others(fetch, wiki, change, message):
    wiki.add("A Jug", JUG)
    fetch("A Jug")
    Path("texts/manifest.jsonl").write_text(json.dumps(change(manifest()[0])) + "\n")
    done = fetch("A Jug")
    assert done.exit_code
    assert message in done.stderr


def test_broken_manifests(fetch, wiki):
    Path("texts").mkdir()
    Path("texts/manifest.jsonl").write_text('{"title": "A')
    done = fetch("A Jug")
    assert done.exit_code == 1
    assert "texts/manifest.jsonl:1: is not valid JSON" in done.stderr
    assert wiki.asked == []


def test_bad_days_and_contacts(fetch):
    for day, contact, message in (
        ("2999-01-01", "", "--as-of is 2999-01-01 (expected a day that is over)"),
        ("June", "", "'June' does"),
        ("2017-06-12", "ann\nX: y", r"the contact is 'ann\nX: y' (expected printable ASCII)"),
        ("2017-06-12", "Łódź", "the contact is 'Łódź' (expected printable ASCII)"),
    ):
        done = fetch("A Jug", day=day, arguments=("--contact", contact))
        assert done.exit_code == 2
        assert message in done.stderr


@pytest.mark.parametrize("seconds", ["nan", "inf", "-1"])
def test_bad_delays(fetch, seconds):
    done = fetch("A Jug", arguments=("--delay", seconds))
    assert done.exit_code == 2
    assert "Invalid value for '--delay'" in done.stderr
