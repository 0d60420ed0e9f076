"""Tables in terminals of several widths: no number, id, path or URL is cut, folded or broken."""

import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from shared import json_lines
from shared.boards import NOON, make_store, run_judge, sample_board, score_here, send, send_answers, write_rows
from shared.commands import list_commands
from shared.doors import CORPORA, KEY, RESPONSE, sample_gold, system_rows, timeml, write_key
from shared.extras import find_lacking
from shared.leaderboards import make_index
from shared.terminals import show

from closeread.cli import printing
from closeread.corpus import showing
from closeread.corpus.names import corpus_names, load_corpus
from closeread.counts.printed_tables import AGREES, Cell, Table, make_table_grids
from closeread.hub import client
from closeread.leaderboard.page import Ranking
from closeread.tables import NOTHING, PIPE_WIDTH, Grid, Whole, draw, transpose
from closeread.tasks import load_procedure, procedure_names

BREAK = re.compile(r"[\s()]+")
WIDTHS = (60, 80, 100, 120)
SEVERAL = ("--resamples", "5")
COMMANDS = (
    ("list",),
    *(("info", corpus) for corpus in corpus_names()),
    *(("stats", corpus, "--config", "sample") for corpus in corpus_names()),
    *(("show", corpus, "--config", "sample") for corpus in corpus_names()),
    ("show", "tne", "--config", "sample_flat"),
    *(("score", corpus, f"{corpus}.jsonl", "--config", "sample", "--with-counts", *SEVERAL) for corpus in CORPORA),
    ("score", "mctaco", "mctaco.jsonl", "--config", "sample", "--by", "category", *SEVERAL),
    ("score", "tne", "tne.jsonl", "--config", "sample", "--by", "preposition", *SEVERAL),
    ("score", "timeline", "semeval2015_timeline.jsonl", "--config", "sample", "--explain", "--no-ci"),
    ("score", "coref", "key.conll", "response.conll", "--per-unit", *SEVERAL),
    ("score", "tlinks", "key.tml", "response.tml", "--by", "type", "--per-unit", *SEVERAL),
    ("compare", "mctaco", "mctaco.jsonl", "a folder/mctaco.jsonl", "--config", "sample", *SEVERAL),
    ("compare", "coref", "key.conll", "key.conll", "response.conll", *SEVERAL),
    ("table", "mctaco", "mctaco.jsonl", "a folder/mctaco.jsonl", "--config", "sample", "--pairs", *SEVERAL),
    ("table", "coref", "key.conll", "key.conll", "response.conll", "--intervals", "range", *SEVERAL),
    ("errors", "coref", "key.conll", "response.conll", "--by", "entity_size"),
    ("errors", "chains", "key.conll", "key.conll", "response.conll"),
    ("errors", "tne", "tne.jsonl", "--config", "sample", *SEVERAL),
    ("errors", "mctaco", "mctaco.jsonl", "--config", "sample", *SEVERAL),
    ("agreement", "coref", "key.conll", "response.conll"),
    ("agreement", "tne", "anna-tne.jsonl", "ben-tne.jsonl"),
    ("agreement", "timeline", "anna-semeval2015_timeline.jsonl", "ben-semeval2015_timeline.jsonl"),
    ("agreement", "wikipossessions", "anna-wikipossessions.jsonl", "ben-wikipossessions.jsonl"),
)
OF_STORES = (
    ("leaderboard", "show", "board"),
    ("leaderboard", "show", "board", "--system", "Tortoise"),
    ("leaderboard", "status", "board"),
    ("publish", "dataset", "mctaco", "my-org/rain", "--dry-run"),
    ("publish", "metric", "coref_lea", "my-org/coref_lea", "--dry-run"),
    ("publish", "leaderboard", "board", "my-org/board", "--dry-run"),
)
"""Commands whose tables are of a leaderboard or of what would be published."""

WITHOUT_STYLE = {"info", "show", "publish dataset", "publish leaderboard", "publish metric"}
"""Commands that print tables and have no option for other styles."""

WHOLE = ("score", "compare", "table", "stats", "list", "info", "show")
"""Commands whose arguments are corpora or procedures."""

OTHERS = ("reproduce", "train")
"""Commands whose tables need the released corpora, and are drawn below without them, or trained models."""


def test_a_comparison_of_systems_with_short_names_fits_80_columns(monkeypatch, ran):
    monkeypatch.setenv("COLUMNS", "80")
    for label, name in (("yes", "yes.jsonl"), ("no", "random.jsonl")):
        json_lines.write(name, [{**row, "label": label} for row in system_rows("mctaco")])
    lines = ran("compare", "mctaco", "random.jsonl", "yes.jsonl", "--config", "sample", *SEVERAL).splitlines()
    assert lines[2].split() == ["metric", "random", "yes", "diff.", "95%", "interval", "p", "rand.", "p", "boot."]
    assert lines[4].startswith("Exact match ")
    assert max(map(len, lines)) <= 80
    assert "approximate randomization (p rand.) and bootstrap (p boot.)" in " ".join(lines)


def read_tables(monkeypatch, run, arguments):
    """The tables that a command prints, as data."""
    tables = []
    with monkeypatch.context() as patch:
        patch.setattr(printing, "print_grids", lambda grids, style="table": tables.extend(grids))
        patch.setattr(showing, "draw_parts", lambda parts, **_: tables.extend(p for p in parts if isinstance(p, Grid)))
        assert run(*arguments).exit_code == 0
    return tables


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


@pytest.fixture
def files(here):
    """Predictions, keys, responses and annotations of the samples."""
    for corpus in CORPORA:
        json_lines.write(f"{corpus}.jsonl", system_rows(corpus))
        for name in ("anna", "ben"):
            json_lines.write(f"{name}-{corpus}.jsonl", sample_gold(corpus))
    (here / "a folder").mkdir()
    rows = [{**row, "label": "yes"} for row in system_rows("mctaco")]
    json_lines.write("a folder/mctaco.jsonl", rows)
    write_key("key", "conll", KEY)
    write_key("response", "conll", RESPONSE)
    Path("key.tml").write_text(timeml("ei1 BEFORE ei2", "ei2 BEFORE ei3"))
    Path("response.tml").write_text(timeml("ei1 BEFORE ei2", "ei3 BEFORE ei2"))


def assert_all_whole(commands, monkeypatch, run):
    for arguments in commands:
        tables = read_tables(monkeypatch, run, arguments)
        assert any(table.rows for table in tables), arguments
        for table in tables:
            for columns in WIDTHS:
                assert_whole(table, columns)


@pytest.mark.gate
def test_no_command_cuts_what_it_prints(files, run, monkeypatch):
    assert_all_whole(COMMANDS, monkeypatch, run)


@pytest.mark.skipif(bool(find_lacking("hub")), reason="needs the extra hub")
def test_tables_of_leaderboards_and_of_publishing_are_whole(here, run, monkeypatch, tmp_path_factory):
    monkeypatch.setattr("closeread.leaderboard.judge.score_all", score_here)
    store = make_store(here / "board", sample_board(), sample_board("tne"))
    answers = [(f"{name} with a rather long name", right) for name, right in (("Patience", 80), ("Almanac", 40))]
    for number, (name, right) in enumerate([*answers, ("Tortoise", 60)]):
        send_answers(store, here, name, right=right, board="mctaco-sample/test", at=NOON - timedelta(hours=number))
    broken = write_rows(here / "broken.jsonl", [{"id": "s1", "relations": []}])
    send(store, broken, "Sundial", board="tne-sample/test", at=NOON - timedelta(days=1))
    run_judge(store, tmp_path_factory.mktemp("cache"))
    send_answers(store, here, "Sundial", right=50, board="mctaco-sample/test")
    kinds = ("new", "unchanged", "deleted")
    monkeypatch.setattr(
        client,
        "compare",
        lambda hub, plan: [
            client.Change(path, size, kinds[number % 3]) for number, (path, size) in enumerate(plan.sizes().items())
        ],
    )
    assert_all_whole(OF_STORES, monkeypatch, run)
    (table,) = read_tables(monkeypatch, run, ("leaderboard", "status", "board"))
    assert [row[1] for row in table.rows] == ["refused", *["accepted"] * 3, "not judged yet"]


def test_every_command_with_tables_is_tried():
    tried = {arguments[: 2 if len(arguments) > 1 else 1] for arguments in (*COMMANDS, *OF_STORES)}
    scored = {load_corpus(corpus).procedure for corpus in corpus_names()} | {"coref", "tlinks"}
    assert scored == set(procedure_names())
    for path, command in list_commands():
        prints_tables = any(param.name == "style" for param in command.params) or " ".join(path) in WITHOUT_STYLE
        if prints_tables and path[0] not in OTHERS:
            known = {name[0] for name in tried} if path[0] in WHOLE else tried
            assert path[0] in known or path[:2] in known, path


def test_tables_of_boards_and_papers_are_whole():
    why = "The corpus at https://example.org/a/rather/long/path/of/a/file was never released in this form"
    cells = [
        Cell(f"12. a row with a long name, number {i}", "column of it", "0.1234567", 0.1234567, AGREES, why)
        for i in range(3)
    ]
    index = make_index(4)
    grids = [
        *(grid for details in (False, True) for grid in Ranking(index, details).to_grids()),
        *make_table_grids(
            [Table("Table 7", "4.2", "A caption", "Nobody (2020)", "A note", tuple(cells))], missing=True
        ),
    ]
    assert len(grids) > 10
    for grid in grids:
        for columns in WIDTHS:
            assert_whole(grid, columns)


@pytest.mark.parametrize("columns", WIDTHS)
def test_units_have_their_scores_and_counts(files, run, monkeypatch, columns):
    arguments = ("score", "coref", "key.conll", "response.conll", "--no-ci")
    units = json.loads(run(*arguments, "--json", "--per-unit").stdout)["units"]
    scores, counts = (
        read_tables(monkeypatch, run, [*arguments, option])[0] for option in ("--per-unit", "--with-counts")
    )
    titles = {metric.name: metric.title for metric in load_procedure("coref").metrics}
    header, _, *lines = assert_whole(scores, columns).splitlines()
    assert header.split() == ["document", *(unit["document"] for unit in units)]
    shown = {line[:20].rstrip(): line[20:].split() for line in lines}  # the longest title has 18 characters
    values = {title: [unit[name] for unit in units] for name, title in titles.items()}
    assert shown == {
        title: [NOTHING if value is None else f"{100 * value:.2f}" for value in row] for title, row in values.items()
    }
    words = assert_whole(counts, columns).split()
    others = [value for unit in units for name, value in unit.items() if name not in titles and name != "document"]
    assert not Counter(f"{value:.6f}".rstrip("0").rstrip(".") for value in others) - Counter(words)


def test_prose_wraps_before_anything_becomes_a_block():
    grid = Grid(
        "", ["id", "about", "n"], [["a-long-id", "many short words in a row", "1,234"]], prose=frozenset({"about"})
    )
    assert draw(grid, "table", width=60).splitlines()[2] == "a-long-id   many short words in a row   1,234"
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
    grid = Grid("Title", header, [["a", "1", "50.00", "left"], ["bb", "22", "5.00", "right"]], ["A note."], best=best)
    # 2 + 6 + 5 + 5 columns and 2 spaces between them are 24.
    assert draw(grid, "table", width=24).splitlines()[2] == "id  number  share  name"
    split = replace(grid, labels=1)
    first = ["id   number   share", "─" * 19, "a         1   50.00", "bb       22    5.00"]
    second = ["id   name", "──────────", "a    left", "bb   right"]
    assert draw(split, "table", width=23).splitlines() == ["Title", "", *first, "", *second, "A note."]
    assert "\x1b[1mleft" in draw(split, "table", width=23, coloured=True)
    # A name and its column are 2 + 2 + 6; without room for these, each row is a block.
    assert draw(split, "table", width=10).splitlines()[2] == "id  number"
    assert draw(split, "table", width=9).splitlines()[2] == "id    a"


def test_a_narrower_table_stands_for_one_that_is_too_wide():
    grid = Grid("", ["system", "MUC", "B³"], [["one", "10.00", "20.00"]], labels=1, best=frozenset({(0, 2)}))
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


def test_systems_and_scores_are_one_table_in_80_columns(files, ran, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = ["Mentions", "MUC", "B³", "CEAFm", "CEAFe", "BLANC", "LEA", "CoNLL"]
    table = ran("table", "coref", "key.conll", "key.conll", "response.conll", *SEVERAL).split("\n\n")
    assert len(table) == 2  # the title, and the table
    assert [line.split()[0] for line in table[1].splitlines()[2:10]] == names
    compared = ran("compare", "coref", "key.conll", "key.conll", "response.conll", *SEVERAL).split("\n\n")
    assert len(compared) == 2
    assert compared[1].split()[:3] == ["metric", "key", "response"]
    long = "a response with a long name"
    Path(f"{long}.conll").write_text(Path("response.conll").read_text("utf-8"), "utf-8")
    compared = ran("compare", "coref", "key.conll", "key.conll", f"{long}.conll", *SEVERAL).split("\n\n")
    assert compared[1].split()[:3] == ["metric", "first", "second"]
    assert f"\nFirst: key; second: {long}.\n" in compared[1]


def test_the_number_of_units_is_a_note_where_it_has_no_column(files, ran, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    scored = ran("score", "coref", "key.conll", "response.conll", *SEVERAL)
    assert scored.split()[1:7] == ["metric", "precision", "recall", "F1", "95%", "interval"]
    assert "\n2 documents.\n" in scored
    sliced = ran("score", "tne", "tne.jsonl", "--config", "sample", "--by", "preposition", *SEVERAL)
    assert "\nall (4 documents)\n" in sliced
    assert "\nabout (1 document)\n" in sliced


def test_blocks_say_what_a_blank_cell_repeats():
    rows = [["Ann", "x" * 9, "1"], ["", "y" * 9, ""]]
    grid = Grid("", ["name", "value", "n"], rows, ditto=frozenset({"name"}))
    assert draw(grid, "table", width=16) == f"name   Ann\nvalue  {'x' * 9}\nn      1\n\nname   Ann\nvalue  {'y' * 9}\n"


def test_paths_and_code_are_not_broken_at_spaces():
    rows = [[Whole("one two three four")], ["see `one two three four` there"]]
    lines = draw(Grid("", ["prose"], rows, prose=frozenset({"prose"})), "table", width=20).splitlines()
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
    grid = Grid("", ["metric", "one", "two"], [["F1", "50.00", "60.00"]], ["A note."], best=frozenset({(0, 2)}))
    assert show(80, lambda: printing.print_grids([grid])).splitlines()[2:] == [
        "F1       50.00   \x1b[1m60.00\x1b[0m",
        "\x1b[2mA note.\x1b[0m",
    ]
    monkeypatch.setenv(name, value)
    assert "\x1b" not in show(80, lambda: printing.print_grids([grid]))


@pytest.mark.extended
def test_a_terminal_of_another_process(files):
    command = ["compare", "mctaco", "mctaco.jsonl", "a folder/mctaco.jsonl", "--config", "sample", "--resamples", "9"]
    program = f"import sys; from closeread.cli import main; main({command!r})"
    screen = show(120, lambda: subprocess.run([sys.executable, "-c", program], stdout=sys.stdout, check=True))
    header = next(line for line in screen.splitlines() if line.startswith("metric"))
    assert re.split(r"  +", header)[1:3] == ["mctaco", "a folder/mctaco"]
    piped = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "\x1b" not in piped
