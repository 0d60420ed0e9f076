"""Leaderboards as tables, and `closeread leaderboard show` and `build`: harmless whatever submitters write."""

import csv as csv_reader
import io
import json
import random
import re
from contextlib import contextmanager
from itertools import pairwise
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from markdown_it import MarkdownIt
from shared.boards import sample_board
from shared.leaderboards import (
    HOSTILE,
    make_board,
    make_hostile_index,
    make_index,
    make_row,
    wrap,
)

from closeread.cli import main
from closeread.exceptions import RequestError
from closeread.leaderboard.declaration import Leaderboard
from closeread.leaderboard.page import COLUMNS, Ranking, grid, render_page
from closeread.operations import leaderboard as operations
from closeread.tables import draw, escape_markdown


@pytest.fixture
def board():
    rng = random.Random(5)
    first = make_row(rng, "Tortoise", 0.6, flags=[{"flag": "perfect"}])
    first["scores"]["f1"] = {"value": 0.61, "low": 0.55, "high": 0.66, "undefined": False}
    first["scores"]["exact_match"] = {"value": 0.0, "low": None, "high": None, "undefined": True}
    rows = [
        first,
        make_row(rng, "Hare", 0.3, kind="baseline"),
        make_row(rng, "Ledger", 0.549, rank=None),
    ]
    return make_board(rows)


def test_a_ranking(board):
    found = grid(board)
    assert found.header == ("rank", "system", "F1", "95% interval", "Exact match", "flags")
    assert found.rows[0][:5] == ("1", "Tortoise", "61.00", "55.00–66.00", "0.00*")
    assert found.rows[1][:3] == ("2", "Ledger", "54.90")
    assert found.rows[2][:2] == ("3", "Hare (baseline)")
    board["rows"].append({**board["rows"][0], "system": "Snail", "author": "bo"})
    assert grid(board).header[-2] == "author"  # as soon as there are two
    del board["rows"][-1]
    wide = grid(board, style="markdown")
    assert (wide.header[-1], wide.rows[0][-1]) == ("flags", "equal to the gold")
    assert "* This score is 0/0; its value is set by convention." in found.notes
    assert "Refused: 2. Withdrawn: 1." in found.notes
    # A board of an older version does not say it.
    assert not any("too small" in note for note in found.notes)


def test_a_dagger_marks_what_is_not_distinguishable_from_the_best_but_not_the_best(board):
    note = "† Not distinguishable from the best."
    assert note not in grid(board).notes
    best = board["rows"][0]
    scores = {**best["scores"], "f1": {**best["scores"]["f1"], "value": 0.6}}
    board["rows"][1:1] = [
        {**best, "id": "a" * 64, "system": "Twin"},
        {**best, "id": "b" * 64, "system": "Snail", "scores": scores},
    ]
    shown = grid(board)
    assert [row[0] for row in shown.rows[:3]] == ["1", "1", "1†"]
    assert note in shown.notes


@pytest.mark.parametrize("n", [0, 1, 12, 200])
def test_a_ranking_fits_a_terminal(n, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    found = grid(make_index(n)["boards"][0])
    lines = draw(found, "table").splitlines()
    assert max(map(len, lines)) <= 80
    scores = {row[2] for row in found.rows}
    assert all(any(score in line for line in lines) for score in scores)  # no number is broken


def test_many_scores_are_shown_in_several_tables(board):
    names = [f"metric {i}" for i in range(20)]
    board["metrics"] += [{"name": name, "title": name, "description": ""} for name in names]
    for row in board["rows"]:
        row["scores"] |= {
            name: {"value": 0.5, "low": 0.4, "high": 0.6, "undefined": False} for name in names
        }
    lines = draw(grid(board), "table", width=80).splitlines()
    assert max(map(len, lines)) <= 80
    headers = [line for line in lines if line.startswith("rank")]
    assert len(headers) > 1
    assert all("system" in header for header in headers)
    assert all(any(name in line for line in lines) for name in ("metric", "19"))
    assert set(names) < set(grid(board, style="markdown").header)


def test_other_signatures_are_counted_and_not_ranked():
    index = make_index(3)
    found = grid(index["boards"][0])
    assert "Patience (draft)" not in str(found.rows)
    assert "1 row with another signature: not comparable, see to_frame()." in found.notes


def csv(index):
    return Ranking(index).to_csv()


def read(text):
    return list(csv_reader.DictReader(io.StringIO(text)))


def test_long_form_has_a_row_for_every_score(board):
    rows = read(csv(wrap(board)))
    # Three rows with two scores each, of all units and of five categories.
    assert len(rows) == 3 * 2 * (1 + 5)
    assert list(rows[0]) == list(COLUMNS)
    (f1,) = [
        row
        for row in rows
        if (row["system"], row["metric"], row["slice"]) == ("Tortoise", "f1", "all")
    ]
    assert {name: f1[name] for name in ("value", "low", "high", "rank_low", "rank_high", "best", "flags")} == {
        "value": "0.61", "low": "0.55", "high": "0.66", "rank_low": "1", "rank_high": "1", "best": "True",
        "flags": "perfect",
    }  # fmt: skip
    assert (f1["n_units"], f1["field"], f1["standing"]) == ("1332", "", "ranked")


def test_all_standings_are_in_the_long_form():
    rows = read(csv(make_index(4)))
    assert {row["standing"] for row in rows} == {"ranked", "superseded", "other signature"}
    assert {row["system"] for row in rows if row["standing"] == "other signature"} == {
        "Patience (draft)"
    }


def test_ratios_keep_their_digits():
    value = 0.1234567890123456
    row = make_row(random.Random(0), "A", 0.5)
    row["scores"]["f1"]["value"] = value
    found = [
        row
        for row in read(csv(wrap(make_board([row]))))
        if (row["metric"], row["slice"]) == ("f1", "all")
    ]
    assert float(found[0]["value"]) == value


def test_json_lines_have_the_rows_and_all_keys():
    index = make_index(4)
    rows = [json.loads(line) for line in Ranking(index).to_json_lines().splitlines()]
    assert {tuple(row) for row in rows} == {COLUMNS}
    assert len(rows) == len(read(csv(index)))
    assert Ranking(wrap()).to_json_lines() == ""


def test_no_cell_is_a_formula():
    for row in csv_reader.reader(io.StringIO(csv(make_hostile_index()))):
        assert not [
            cell for cell in row if cell.strip().startswith(("=", "+", "-", "@", "\t", "＝"))
        ]
    names = {row["system"] for row in read(csv(make_hostile_index()))}
    assert '\'=HYPERLINK("https://example.org")' in names
    assert r"\t=1+1" in names
    assert r"\u202egnp.tset\u2066" in names


def is_found(token):
    return token.type != "code_inline" and re.search(r"www\.|://|@\w|\$|#[0-9]", token.content)


def cells_of(markdown):
    """The cells of the table of a Markdown text: (kinds of tokens, text) for each.

    Bare links and mentions, which other renderers find in text outside of code, are of the kind "found".
    """
    tokens = (
        MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(markdown)
    )
    return [
        (
            {"found" if is_found(child) else child.type for child in token.children},
            "".join(child.content for child in token.children),
        )
        for before, token in pairwise(tokens)
        if before.type in ("td_open", "th_open")
    ]


@pytest.mark.parametrize(
    "text",
    [
        *HOSTILE,
        "$x$",
        "a $x$ |b",
        "BERT (large), v1.0",
        "a||b",
        "|",
        "\\|",
        "`|`",
        "http://example.org|x",
    ],
)
def test_a_cell_of_markdown_shows_a_text_as_it_is(text):
    from closeread.leaderboard.names import show_safely

    shown = show_safely(text)
    ((kinds, content), _) = cells_of(f"| {escape_markdown(shown)} | x |\n|---|---|\n")
    assert kinds <= {"text", "code_inline", "text_special"}
    assert content.strip() == shown.strip()


def test_a_hostile_board_has_as_many_cells_as_any_in_markdown():
    found = grid(make_hostile_index()["boards"][0], style="markdown")
    drawn = draw(found, "markdown")
    cells = cells_of(drawn)
    assert len(cells) == len(found.header) * (1 + len(found.rows))
    assert not {kind for kinds, _ in cells for kind in kinds} - {
        "text",
        "code_inline",
        "text_special",
    }


def test_a_hostile_board_runs_nothing_in_latex():
    drawn = draw(grid(make_hostile_index()["boards"][0], style="latex"), "latex")
    assert "\\input{secret}" not in drawn
    assert all(character.isprintable() or character == "\n" for character in drawn)


@pytest.fixture
def index(monkeypatch):
    """The index that every store has."""
    found = make_index(12)
    second = make_index(2, seed=7)["boards"][0]
    found["boards"].append({**second, "name": "mctaco-sample/test", "title": "McTaco sample, test"})

    declared = Leaderboard("Boards", {board["name"]: sample_board() for board in found["boards"]})

    @contextmanager
    def open_store(place):
        yield SimpleNamespace(read_index=lambda: found, read_leaderboard=lambda: declared)

    monkeypatch.setattr(operations, "open_store", open_store)
    return found


def call(command, *arguments):
    result = CliRunner().invoke(main, ["leaderboard", command, *arguments], catch_exceptions=False)
    if result.exit_code == 2:
        raise RequestError(result.stderr)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_json_is_the_index(index):
    assert json.loads(call("show", "board", "--json")) == index


def test_one_board(index):
    found = json.loads(call("show", "board", "--json", "--board", "mctaco-sample/test"))
    assert found == wrap(index["boards"][1])
    text = call("show", "board", "--board", "mctaco-sample/test")
    assert text.startswith("McTaco sample, test\n")
    assert "McTaco, test" not in text


@pytest.mark.parametrize("style", ["table", "markdown", "latex", "csv"])
def test_every_format_has_every_system(index, style):
    text = call("show", "board", "--format", style)
    for board in index["boards"]:
        assert all(
            row["system"].replace("#", r"\#" if style == "latex" else "#") in text
            for row in board["rows"]
        )


def test_what_is_not_there(index):
    with pytest.raises(
        RequestError, match=r"no such board: 'mctaco/tests'\. Did you mean 'mctaco/test'\?"
    ):
        call("show", "board", "--board", "mctaco/tests")


def test_build_writes_the_page(index, tmp_path):
    output = tmp_path / "index.html"
    text = call("build", "board", "-o", str(output))
    page = render_page(index, address="board")
    assert output.read_text("utf-8") == page
    assert text == f"{output}: {len(page.encode()):,} bytes\n"
