"""Tables in terminals of several widths: no number, id, path or URL is cut, folded or broken."""

import re
from collections import Counter
from dataclasses import replace

import pytest
from shared.leaderboards import make_index
from shared.terminals import show

from closeread.cli import printing
from closeread.leaderboard.page import Ranking
from closeread.tables import PIPE_WIDTH, Grid, Whole, draw, transpose

BREAK = re.compile(r"[\s()]+")
WIDTHS = (60, 80, 100, 120)


def assert_whole(grid, columns):
    """Each cell stands in a terminal as often as in the table: in one piece, or if it is prose, with whole words."""
    screen = show(columns, lambda: printing.print_grids([grid]))
    assert "\x1b" not in screen or "\x1b[1m" in screen or "\x1b[2m" in screen
    plain = re.sub(r"\x1b\[[0-9;]*m", "", screen)
    lines = plain.splitlines()
    # A narrower table may have a number in parentheses.
    words, pieces = Counter(BREAK.split(plain)), Counter()
    for row in grid.rows:
        for name, cell in zip(grid.header, row, strict=True):
            if name not in grid.prose or isinstance(cell, Whole):
                assert not cell or any(cell.rstrip() in line for line in lines), (cell, plain)
            pieces.update(filter(None, BREAK.split(cell)))
    assert not pieces - words, (pieces - words, plain)
    assert "…" not in plain or "…" in str(grid.rows)
    # A longer line has nothing but what can't be shorter, and perhaps its name.
    cells = {cell for row in grid.rows for cell in row} | {*grid.notes}
    longer = [line for line in lines if len(line) > columns]
    assert all(re.split(r"  +", line)[-1] in cells for line in longer), longer
    return plain


def test_tables_of_boards_are_whole():
    index = make_index(4)
    for grid in Ranking(index)._to_grids():
        for columns in WIDTHS:
            assert_whole(grid, columns)


def test_prose_wraps_before_anything_becomes_a_block():
    grid = Grid(
        "",
        ["id", "about", "n"],
        [["a-long-id", "many short words in a row", "1,234"]],
        prose=frozenset({"about"}),
    )
    assert (
        draw(grid, "table", width=60).splitlines()[2]
        == "a-long-id   many short words in a row   1,234"
    )
    # 9 + 3 + 18 + 3 + 5
    assert draw(grid, "table", width=38).splitlines()[2:] == [
        "a-long-id   many short words   1,234",
        "            in a row",
    ]
    assert draw(grid, "table", width=30).splitlines() == [
        "id     a-long-id",
        "about  many short words in a",
        "       row",
        "n      1,234",
    ]
    assert draw(grid, "table", width=12).splitlines()[:2] == ["id", "  a-long-id"]


def test_columns_that_are_too_many_follow_in_another_table():
    header, best = ["id", "number", "share", "name"], frozenset({(0, 3)})
    grid = Grid(
        "Title",
        header,
        [["a", "1", "50.00", "left"], ["bb", "22", "5.00", "right"]],
        ["A note."],
        best=best,
    )
    # 2 + 6 + 5 + 5 columns and 2 spaces between them are 24.
    assert draw(grid, "table", width=24).splitlines()[2] == "id  number  share  name"
    split = replace(grid, labels=1)
    first = ["id   number   share", "─" * 19, "a         1   50.00", "bb       22    5.00"]
    second = ["id   name", "──────────", "a    left", "bb   right"]
    assert draw(split, "table", width=23).splitlines() == [
        "Title",
        "",
        *first,
        "",
        *second,
        "A note.",
    ]
    assert "\x1b[1mleft" in draw(split, "table", width=23, coloured=True)
    # A name and its column are 2 + 2 + 6; without room for these, each row is a block.
    assert draw(split, "table", width=10).splitlines()[2] == "id  number"
    assert draw(split, "table", width=9).splitlines()[2] == "id    a"


def test_a_narrower_table_stands_for_one_that_is_too_wide():
    grid = Grid(
        "", ["system", "MUC", "B³"], [["one", "10.00", "20.00"]], labels=1, best=frozenset({(0, 2)})
    )
    turned = transpose(grid, "score")
    assert (turned.header, turned.rows) == (["score", "one"], [["MUC", "10.00"], ["B³", "20.00"]])
    assert turned.best == {(1, 1)}
    chain = replace(grid, narrower=turned)
    assert draw(chain, "table", width=20).startswith("system")  # 6 + 5 + 5 and 4 spaces
    assert draw(chain, "table", width=19).startswith("score")
    assert draw(chain, "table", width=11).startswith("system")  # in blocks, or two tables
    assert draw(chain, "markdown") == draw(grid, "markdown")
    empty = Grid("", ["system", "MUC"], [])
    assert transpose(empty, "score").rows == [["MUC"]]


def test_blocks_say_what_a_blank_cell_repeats():
    rows = [["Ann", "x" * 9, "1"], ["", "y" * 9, ""]]
    grid = Grid("", ["name", "value", "n"], rows, ditto=frozenset({"name"}))
    assert (
        draw(grid, "table", width=16)
        == f"name   Ann\nvalue  {'x' * 9}\nn      1\n\nname   Ann\nvalue  {'y' * 9}\n"
    )


def test_paths_and_code_are_not_broken_at_spaces():
    rows = [[Whole("one two three four")], ["see `one two three four` there"]]
    lines = draw(
        Grid("", ["prose"], rows, prose=frozenset({"prose"})), "table", width=20
    ).splitlines()
    assert lines[2:] == ["one two three four", "see", "`one two three four`", "there"]


def test_the_width_is_that_of_the_terminal_or_of_a_variable(monkeypatch, run):
    grid = Grid("", ["a", "b"], [["x" * 40, "y" * 45]])
    assert "a " in show(100, lambda: printing.print_grids([grid])).splitlines()[0]
    assert show(80, lambda: printing.print_grids([grid])).startswith("a  xxx")  # a block
    monkeypatch.setenv("COLUMNS", "90")
    assert "a " in show(80, lambda: printing.print_grids([grid])).splitlines()[0]
    assert "─" * 88 in draw(grid, "table")  # piped: 40 + 3 + 45
    monkeypatch.setenv("COLUMNS", "80")
    assert "─" not in draw(grid, "table")
    monkeypatch.delenv("COLUMNS")
    assert PIPE_WIDTH == 100
    assert "─" * 88 in draw(grid, "table")


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_the_better_system_is_bold_if_the_terminal_has_colours(monkeypatch, name, value):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    grid = Grid(
        "",
        ["metric", "one", "two"],
        [["F1", "50.00", "60.00"]],
        ["A note."],
        best=frozenset({(0, 2)}),
    )
    assert show(80, lambda: printing.print_grids([grid])).splitlines()[2:] == [
        "F1       50.00   \x1b[1m60.00\x1b[0m",
        "\x1b[2mA note.\x1b[0m",
    ]
    monkeypatch.setenv(name, value)
    assert "\x1b" not in show(80, lambda: printing.print_grids([grid]))
