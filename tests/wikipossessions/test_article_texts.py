"""Article texts in a folder next to the released file."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from shared.possession_records import ROW, read_released

from closeread.tasks.wikipossessions.articles import (
    count_sections,
    count_words,
    extract_text,
    strip_marks,
)
from closeread.tasks.wikipossessions.possession_csv import article_texts

DIGITS = "1" * 5000
TITLES = ["", ".", "..", "../secret", "/secret", "a/b", "a\\b", "~", "x" * 5000]


@example(title="..")
@example(title="a/../b")
@given(title=st.sampled_from(TITLES) | st.text(max_size=8).filter(str.isprintable))
@settings(max_examples=30)
def test_titles_can_not_lead_outside_the_folder(tmp_path_factory, title):
    folder = tmp_path_factory.mktemp("titles")
    (folder / "articles").mkdir()
    for place in (folder / "secret.txt", folder / "..txt", folder / ".txt"):
        place.write_text("Secret.", "utf-8")
    assert article_texts(folder / "articles", [title]) == ({}, [])


def write_articles(file, texts):
    folder = file.parent / "articles"
    folder.mkdir(exist_ok=True)
    for name, content in texts.items():
        (folder / f"{name}.txt").write_bytes(content)
    return folder


def test_texts(tmp_path):
    file = tmp_path / "annotations.csv"
    write_articles(file, {"Cafe\u0301": b"\xef\xbb\xbfIt is\r\nold.\n", "Other": b"x"})
    records, _, problems, *_ = read_released(
        file, ROW.replace("A Vase", "Caf\xe9"), ROW, ROW.replace("A Vase", "AC/DC")
    )
    assert problems == []
    assert [record["text"] for record in records] == ["It is\nold.\n", None, None]


def test_unreadable_texts(tmp_path):
    file = tmp_path / "annotations.csv"
    folder = write_articles(file, {"A": b"ab\xff", "B": b"a\x1bb", "C": b""})
    (folder / "D.txt").mkdir()
    _, _, problems, *_ = read_released(file, *(ROW.replace("A Vase", name) for name in "ABCDE"))
    assert [(problem.line, problem.text) for problem in problems] == [
        (2, f"{folder}/A.txt: byte 3 is not valid UTF-8 (expected UTF-8 text)"),
        (3, f"{folder}/B.txt: contains the control character U+001B"),
        (4, f"{folder}/C.txt: is empty"),
        (5, f"{folder}/D.txt: is a directory (expected a file)"),
    ]


PAGE = """
<div class="mw-content-ltr mw-parser-output" lang="en">
<div class="hatnote">For the other jug, see Jug.</div>
<table class="infobox"><tr><th>Owner</th><td>Ann</td></tr></table>
<p class="mw-empty-elt">
</p>
<p><b>The Jug</b> is a <a href="/wiki/Jug">jug</a>&#160;of 1888.<sup class="reference">[1]</sup>
It is small.</p>
<div class="thumb"><div class="thumbcaption"><p>The jug in a box</p></div></div>
<div class="mw-heading mw-heading2"><h2 id="History">History</h2><span class="mw-editsection">[edit]</span></div>
<p>Ann &amp; Ben <span style="display: none">hidden</span>sold it<br>twice.</p>
<h3><span class="mw-headline">Later <i>years</i></span><span class="mw-editsection">[edit]</span></h3>
<ul><li>Mill Hall<ul><li>Riga</li></ul></li><li>Lund</li></ul>
<blockquote><p>My jug!</p></blockquote>
<figure><figcaption>A picture</figcaption></figure>
<h2>Notes</h2>
<ol class="references"><li>Poe 1999.</li></ol>
<style>p { color: red }</style><script>alert("x")</script>
</div>
"""
TEXT = """The Jug is a jug of 1888. It is small.

== History ==

Ann & Ben sold it
twice.

=== Later years ===

Mill Hall
Riga
Lund

My jug!

== Notes ==
"""


def test_a_page_by_hand():
    assert extract_text(PAGE) == TEXT
    # The lead has 10 words, then 1, 6, 2, 2 + 1 + 1, 2 and 1.
    assert count_words(TEXT) == 10 + 1 + 6 + 2 + 4 + 2 + 1
    assert count_sections(TEXT) == 2
    assert strip_marks(TEXT).splitlines()[2::5][:2] == ["History", "Later years"]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("<table><tr><td>Box</td></tr></table>", ""),
        ("<p> \n </p><h2></h2>", ""),
        ("Bare", "Bare\n"),
        ("Bare<ul><li>One</li><li>Two</li></ul>", "Bare\n\nOne\nTwo\n"),
        ("<p>One<p>Two", "One\n\nTwo\n"),
        ("<p>One</b></p></div></p>Two", "One\n\nTwo\n"),
        ("<table><tr><td>Box</table>After", "After\n"),
        ("<p>1 &lt; 2 &amp;lt; 3</p>", "1 < 2 &lt; 3\n"),
        ("<p>a\x1b[31m\x00b\u200e</p>", "a[31m b\u200e\n".replace(" ", "\n")),
        ("<dl><dt>Owner</dt><dd>Ann</dd></dl>", "Owner\nAnn\n"),
        ("<p>Never <!-- seen --> closed <", "Never closed <\n"),
        (f"<p title='&#{DIGITS};'>One &#{DIGITS}; two", "One \ufffd two\n"),
    ],
)
def test_pages_of_other_forms(html, text):
    assert extract_text(html) == text


@pytest.mark.parametrize(
    ("text", "words", "sections"),
    [
        ("", 0, 0),
        ("One two.\n", 2, 0),
        ("== A ==\n\n=== B ===\n\n== C D ==\n", 4, 2),
        ("== A === B\n==  ==\n", 6, 0),  # no marks
        ("= A =\n== B ==\nC == D == E\n", 7, 1),
    ],
)
def test_counts_by_hand(text, words, sections):
    assert (count_words(text), count_sections(text)) == (words, sections)


TAGS = [f"<{slash}{tag}>" for tag in ("p", "div", "h2", "table", "li") for slash in ("", "/")]
MARKUP = st.sampled_from([*TAGS, "<br>", "&amp;", "&#0;", "<!--", "-->"])


@example(parts=["<table>" * 50])
@given(parts=st.lists(MARKUP | st.text(max_size=5)))
def test_any_page_gives_a_text_that_can_be_loaded(parts):
    text = extract_text("".join(parts))
    assert text == "" or (text.strip() and text.endswith("\n") and "\n\n\n" not in text)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", text)


@given(st.lists(st.lists(st.sampled_from(["Ann", "Ben", "sold"]), min_size=1), min_size=1))
def test_no_word_of_a_paragraph_is_lost(paragraphs):
    html = "".join(
        f"<p>{' '.join(words)}</p><table><tr><td>x</td></tr></table>" for words in paragraphs
    )
    assert extract_text(html) == "\n\n".join(map(" ".join, paragraphs)) + "\n"
