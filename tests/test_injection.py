"""Texts of data are shown as they are: no spreadsheet, renderer or terminal acts on them."""

import csv
import io
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import closeread
from closeread.exceptions import escape_line
from closeread.tables import Grid, csv_text, draw, draw_html

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "<https://example.org>",
    "![x](https://example.org/x.png)",
    "a|b",
    "$x$|$y$",
    "\\|",
    "`|`",
    "**bold** _it_ ~~no~~ *x*",
    "&lt;b&gt;",
    "# heading",
    "- item",
    "1. item",
    "\\input{secret} $x$ 50% {",
    "a\nvalid; 103 rows",
    "\x1b[31mred",
    "\u202eabc",
)
texts = st.one_of(st.sampled_from(HOSTILE), st.text("ab\\|`*_[]<>&#;!()-~ \n", max_size=12))


def shown(text):
    """A text as a renderer of Markdown shows it: white space at the ends, and repeated, is lost."""
    return " ".join(escape_line(text).split())


def find_blocks(markdown):
    """The kinds of Markdown's inline tokens and their text, for each block of text."""
    tokens = (
        MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(markdown)
    )
    return [
        (
            before.type,
            {child.type for child in token.children},
            " ".join("".join(child.content for child in token.children).split()),
        )
        for before, token in pairwise(tokens)
        if token.type == "inline"
    ]


@given(texts)
def test_markdown(text):
    cell = f"x{text}"
    found = find_blocks(draw(Grid("", ["name", f"{cell} F1"], [[cell, "45.00"]]), "markdown"))
    assert [content for *_, content in found] == ["name", shown(f"{cell} F1"), shown(cell), "45.00"]
    assert set.union(*(kinds for _, kinds, _ in found)) <= {"text", "text_special", "code_inline"}


@given(texts)
def test_titles_and_notes_in_markdown(text):
    (*_, title), (block, kinds, note) = find_blocks(
        draw(Grid(f"x{text}", [], [], [text.strip() or "x"]), "markdown")
    )
    assert title == shown(f"x{text}")
    assert block == "paragraph_open"
    # Code stays code, without its marks; an empty one may leave a blank.
    assert kinds <= {"text", "text_special", "code_inline"}
    wanted = shown(text.strip() or "x")
    assert re.sub("[` ]", "", note) == re.sub("[` ]", "", wanted)


@pytest.mark.parametrize("text", ["$x$", "a $$b$$", "@user", "#12", ":tada:", "www.example.org"])
def test_nothing_is_found_in_rendered_markdown(text):
    """GitHub makes formulas, links and pictures of it wherever it is no code."""
    grid = Grid(text, ["name", text], [["a", text]], [f"See `x`{text} (or {text})"])
    tokens = MarkdownIt("commonmark").enable(["table"]).parse(draw(grid, "markdown"))
    children = [child for token in tokens for child in token.children or ()]
    prose = "".join(child.content for child in children if child.type != "code_inline")
    code = "".join(child.content for child in children if child.type == "code_inline")
    assert not set("$@#:").intersection(prose)
    assert "www" not in prose
    assert code.count(text[-3:]) == 5


def test_the_best_values_are_still_bold_and_names_whole():
    drawn = draw(
        Grid("", ["name", "F1"], [["exact_match", "45.00*"]], best=frozenset({(0, 1)})), "markdown"
    )
    assert "| exact_match |" in drawn
    assert "| **45.00\\*** |" in drawn


@pytest.mark.parametrize(
    "text", ["=1+1", "+1 =cmd|'/c calc'!A0", "-2+3", "@SUM(A1)", "  =1", "\t=1", "＝1"]
)
def test_csv(text):
    ((_, value),) = csv.reader(
        io.StringIO(csv_text(["name", "value"], [[text, -0.5]])).readlines()[1:]
    )
    ((name, _),) = csv.reader(
        io.StringIO(csv_text(["name", "value"], [[text, -0.5]])).readlines()[1:]
    )
    assert (name, value) == (f"'{text}", "-0.5")


@pytest.mark.parametrize("text", ["-0.5", "+1,000", "-1e-05", "np-3", "a=b", "1+1", "", "'=1"])
def test_csv_of_what_is_no_formula(text):
    assert next(csv.reader([csv_text([text], [])])) == [text]
    assert csv_text(["x"], [[text]]).splitlines()[1].strip('"') == text.strip('"')


def test_csv_of_names_of_columns_and_control_characters():
    """Users' own fields are columns, and a terminal acts on what is printed."""
    assert (
        csv_text(["=cat", "c"], [["a\x1b[31mb", "c\x9b\x00"]])
        == "'=cat,c\na\\x1b[31mb,c\\x9b\\x00\n"
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_latex_and_html(text):
    grid = Grid(text, [f"x{text}"], [[text]], [text])
    latex = draw(grid, "latex")
    assert "\\input" not in "".join(line for line in latex.splitlines() if not line.startswith("%"))
    assert sum(line.startswith("%") for line in latex.splitlines()) == 2
    for drawn in (latex, draw_html(grid), draw(grid, "table")):
        assert all(character.isprintable() or character == "\n" for character in drawn)
        assert "\nvalid; 103" not in drawn
    assert "<img" not in draw_html(grid)


def test_a_row_of_latex_is_no_argument_of_the_row_before():
    r"""LaTeX reads `\\ [9cm]` as nine centimetres of space, and `\\ *` as a kind of line end."""
    drawn = draw(Grid("", ["a"], [["x"], ["[9cm] b"], ["* c"]]), "latex")
    assert [line.split()[0] for line in drawn.splitlines()[4:7]] == ["x", "{}[9cm]", "{}*"]
    systems = {name: [{"document": "a", "clusters": []}] for name in ("x", "[9cm] b")}
    gold = [{"document": "a", "clusters": [[[0, 0], [1, 1]]]}]
    made = closeread.table(
        "coref", systems, gold=gold, metrics="muc", resampling=closeread.Resampling(0)
    )
    assert "\\\\\n{}[9cm] b & " in made.to_latex()
