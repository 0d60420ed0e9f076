"""What reads free text, and the answers of a MediaWiki."""

import json
from datetime import date
from pathlib import Path

from shared import json_lines
from shared.doors import sample_gold
from shared.fuzzing.target import Target
from shared.stand_in_wiki import redirect_to

from closeread.corpus.downloads import DownloadError
from closeread.exceptions import RequestError
from closeread.tasks.mctaco.perturbation.rules import change_numbers, perturb
from closeread.tasks.mctaco.perturbation.units import normalize_units
from closeread.tasks.mctaco.phrases import make_pool
from closeread.tasks.wikipossessions import articles
from closeread.tasks.wikipossessions.articles import (
    MANIFEST,
    UNSAFE,
    NoPageError,
    count_sections,
    count_words,
    extract_text,
    fetch_articles,
    fetch_page,
    strip_marks,
)
from closeread.tasks.wikipossessions.matching import normalize_name

DAY = date(2017, 6, 12)
TITLE = "The Blue Kettle (painting)"
PHRASES = """thirty-two and a half months
about 2.5 hundred years, twice a week; once every 90 minutes
£1,200.50 at 10:30 on 3/4/1999, one of them by 2 o'clock
an hour and a quarter of a century
the estate of Dr. Ada O'Neil's (1815–1852), Jr. & Sons, Ltd
"""
PAGE = """<div class="mw-parser-output"><p>A kettle <b>painted</b> in 1901.<sup class="reference">[1]</sup></p>
<h2><span class="mw-headline">History</span><span class="mw-editsection">[edit]</span></h2>
<ul><li>Ada had it</li><li>Ben sold it<br>for &pound;5</li></ul><table><tr><td>x</td></tr></table>
<div class="div-col"><p>More &amp; more</p></div><div style="display:none">hidden</div></div>
"""
ANSWERS = (
    {"query": {"pages": [{"pageid": 7, "title": TITLE, "ns": 0, "revisions": [
        {"revid": 7001, "parentid": 0, "timestamp": "2017-05-01T08:00:00Z"}]}], "logevents": []}},
    {"parse": {"title": TITLE, "pageid": 7, "revid": 7001, "text": PAGE}},
)  # fmt: skip
MOVES = (
    {"query": {"pages": [{"ns": 0, "title": TITLE, "missing": True}], "logevents": [
        {"logid": 3, "params": {"target_title": "The Kettle"}, "timestamp": "2018-01-01T00:00:00Z"}]}},
    {"query": {"pages": [{"pageid": 7, "title": "The Kettle", "redirect": True}], "logevents": []}},
    {"query": {"redirects": [{"from": "The Kettle", "to": "Kettle"}]}},
    {"query": {"pages": [{"pageid": 8, "title": "Kettle", "revisions": [
        {"revid": 8001, "timestamp": "2017-05-01T08:00:00Z"}]}]}},
    {"parse": {"revid": 8001, "text": redirect_to("Old kettle")}},
    {"query": {"pages": [{"pageid": 9, "title": "Old kettle", "revisions": [
        {"revid": 9001, "timestamp": "2017-05-01T08:00:00Z"}]}]}},
    {"parse": {"revid": 9001, "text": PAGE}},
)  # fmt: skip


class Answers:
    """A wiki with these answers, one after the other; each is a line."""

    url = articles.WIKIPEDIA

    def __init__(self, data):
        self.lines = iter(data.split(b"\n"))

    def ask(self, **_):
        return articles._parse(next(self.lines, b""), None)


def make_text_targets():
    """All targets by name."""
    gold = "".join(f"{record['answer']}\n" for record in sample_gold("mctaco"))
    found = {
        "text-phrases": Target({"a.txt": (PHRASES + gold).encode()}, ("a.txt",), _change_phrases),
        "text-article": Target({"a.html": PAGE.encode()}, ("a.html",), _extract),
        "wiki-manifest": _make_manifest(),
    }
    for name, answers in (("page", ANSWERS), ("moved", MOVES)):
        data = "\n".join(map(json.dumps, answers)).encode()
        found[f"wiki-{name}"] = Target({"answers": data}, ("answers",), _fetch)
    return found


def _change_phrases(folder, _):
    lines = (folder / "a.txt").read_bytes().decode("utf-8", "replace").splitlines()
    rules = (normalize_name, normalize_units, lambda text: normalize_units(text, rule="official"), perturb)
    changes = [lambda text, rule=rule: list(change_numbers(text, rule)) for rule in ("plus_one", "times_ten")]
    return [[rule(line) for rule in (*rules, *changes)] for line in lines], make_pool(lines)


def _extract(folder, _):
    text = extract_text((folder / "a.html").read_bytes().decode("utf-8", "replace"))
    assert not UNSAFE.search(text), text
    return text, count_sections(text), count_words(text), strip_marks(text)


def _fetch(folder, _):
    try:
        page = fetch_page(Answers((folder / "answers").read_bytes()), TITLE, DAY)
    except (NoPageError, articles.RefusedError, DownloadError) as error:
        raise RequestError(str(error)) from None
    assert page.text
    assert not UNSAFE.search(page.text)
    json_lines.dump([page._asdict()]).encode()
    return page


def _make_manifest():
    """A manifest and its texts, of which nothing is fetched again."""
    folder = Path("texts")
    fetch_articles([TITLE], folder, DAY, Answers("\n".join(map(json.dumps, ANSWERS)).encode()), list)
    files = {path.name: path.read_bytes() for path in folder.iterdir()}

    def read(folder, _):
        wiki = Answers(b"")
        try:
            return fetch_articles([TITLE], folder, DAY, wiki, list)
        except StopIteration:
            return None

    return Target(files, (MANIFEST,), read)
