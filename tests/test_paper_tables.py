"""Tables of papers: their cells, their grids, and the command that shows them."""

import csv
import io
import json

import pytest

from closeread.corpus import reproduction
from closeread.corpus.reproduction import load_printed, reproduce
from closeread.counts.printed_tables import (
    AGREES,
    CUT_OFF,
    DIFFERS,
    NOT_PRINTED,
    NOT_RECOMPUTED,
    WITHIN_CHANCE,
    WITHOUT_DATA,
    Cell,
    Chance,
    Claim,
    Table,
    make_table_grids,
)
from closeread.exceptions import Problem, RequestError, UnavailableError
from closeread.operations import reproduce as operations
from closeread.tasks.mctaco.reproduction import RECOMPUTE

CELLS = (
    Cell("cats", "n", "12", 12.0, AGREES),
    Cell("cats", "share", "0.5", 0.56, CUT_OFF),
    Cell("dogs", "n", "9", 8.0, DIFFERS, "one ran away"),
    Cell("dogs", "share", None, 0.25, NOT_PRINTED, "one ran away"),
    Cell("birds", "n", "3", None, NOT_RECOMPUTED, "needs wings"),
    Cell("birds", "share", "0.1", None, NOT_RECOMPUTED, "needs wings"),
)
TABLE = Table("Table 7", "4.2", "Animals", "Nobody (2020), pages 1-2", "Cats come first", CELLS)
BARE = Table("Figure 1", "", "A cat", "Nobody (2020), pages 1-2", "", CELLS[:1])


def test_grids_without_what_is_missing():
    total, first, second = make_table_grids([TABLE, BARE], missing=False)
    counted = "2 agree, 1 is cut off, 1 differs, 2 not recomputed"
    assert (total.title, total.header, total.rows) == (f"6 printed figures: {counted}.", (), [])
    assert total.notes == [
        "1 more cell not among the printed figures.",
        "Nobody (2020), pages 1-2.",
    ]
    assert first.title == "Table 7 (section 4.2). Animals"
    assert first.rows == [
        ["cats", "n", "12", "12", AGREES, ""],
        ["", "share", "0.5", "0.56", CUT_OFF, ""],
        ["dogs", "n", "9", "8", DIFFERS, "one ran away"],
        ["", "share", "–", "0.25", NOT_PRINTED, ""],
    ]
    assert first.notes == ["Cats come first.", "2 cells not recomputed: see --missing."]
    assert (second.title, second.notes) == ("Figure 1. A cat", [])


PRINTED = {
    "source": "Nobody (2020), pages 1-2",
    "tables": [
        {
            "name": "Table 3",
            "caption": "Animals",
            "columns": ["n", "share"],
            "rows": {
                "cats": {"n": "12", "share": "0.5"},
                "dogs": {"n": "9"},
                "birds": {"n": "3", "share": "0.1"},
            },
            "notes": {"cats / share": "as in the text"},
            "differs": {"dogs": "one ran away"},
            "needs": {"birds / n": "needs wings", "share": "needs feathers", "": "needs a zoo"},
        }
    ],
}


@pytest.fixture
def animals(monkeypatch):
    """Makes the recomputed cells of a table of animals, which stands in for McTaco's Table 3."""
    monkeypatch.setattr(reproduction, "load_printed", lambda corpus: PRINTED)

    def set_cells(cells):
        monkeypatch.setitem(RECOMPUTE, "Table 3", lambda inputs: cells)

    return set_cells


def test_the_narrowest_reason_is_told(animals):
    animals(
        {
            ("cats", "n"): 12.0,
            ("cats", "share"): Chance(0.48, 0.0214),
            ("dogs", "n"): 8.0,
            ("dogs", "share"): 0.25,
        }
    )
    (table,) = reproduce("mctaco", "3")
    assert [(c.row, c.column, c.verdict, c.why, c.is_expected) for c in table.cells] == [
        ("cats", "n", AGREES, "", True),
        (
            "cats",
            "share",
            WITHIN_CHANCE,
            "mean of random draws, whose standard deviation is 0.021; as in the text",
            True,
        ),
        ("dogs", "n", DIFFERS, "one ran away", True),
        ("dogs", "share", NOT_PRINTED, "", True),
        ("birds", "n", NOT_RECOMPUTED, "needs wings", True),
        ("birds", "share", NOT_RECOMPUTED, "needs feathers", True),
    ]
    assert table.cells[1].recomputed == 0.48  # JSON has numbers, no pairs
    animals({("cats", "n"): 11.0})
    (table,) = reproduce("mctaco", "table 3")
    assert [(c.why, c.is_expected) for c in table.cells[:3]] == [
        ("", False),  # nobody knows that it differs
        ("needs feathers; as in the text", True),
        ("needs a zoo", True),
    ]


def test_what_needs_no_data_is_counted_apart(animals, monkeypatch):
    table = {**PRINTED["tables"][0], "without_data": {"cats": "a cat by definition"}}
    rows = {**table["rows"], "cows": {"n": None}, "ants": {"n": None}, "bees": {"n": None}}
    monkeypatch.setattr(
        reproduction,
        "load_printed",
        lambda corpus: {**PRINTED, "tables": [{**table, "rows": rows}]},
    )
    identities = {("ants", "n"): Claim("5 legs", False), ("bees", "n"): Claim("6 legs", True)}
    animals({("cats", "n"): 12.0, ("cats", "share"): 0.9, ("dogs", "n"): 9.0, **identities})
    found = reproduce("mctaco", "3")
    cells = {(cell.row, cell.column): (cell.verdict, cell.why) for cell in found[0].cells}
    assert cells["cats", "n"] == (WITHOUT_DATA, "a cat by definition")
    # what a definition says can be wrong, too
    assert cells["cats", "share"] == (DIFFERS, "as in the text")
    assert cells["dogs", "n"] == (AGREES, "")
    # nothing is printed, and nothing recomputed
    assert cells["cows", "n"] == (NOT_PRINTED, "needs a zoo")
    assert cells["ants", "n"][0] == DIFFERS
    assert cells["bees", "n"][0] == NOT_PRINTED
    assert repr(found).endswith(
        ": agrees 1, holds without data 1, differs 2, not recomputed 2, not printed 2>"
    )


@pytest.mark.parametrize("cell", [("cows", "n"), ("cats", "weight")])
def test_a_recomputed_cell_needs_a_place(animals, cell):
    animals({cell: 1.0})
    with pytest.raises(ValueError, match=r"Table 3 has no cell \('c"):
        reproduce("mctaco", "3")


def test_unknown_tables_and_corpora():
    with pytest.raises(RequestError, match=r"table.*'9'"):
        reproduce("mctaco", "9")
    with pytest.raises(RequestError, match="corpus with a paper's tables"):
        load_printed("nothing")


def test_strict_fails_when_a_value_differs_that_is_not_known_to(animals, run):
    good = {("cats", "n"): 12.0, ("cats", "share"): 0.5, ("dogs", "n"): 8.0}
    animals(good)
    assert run("reproduce", "mctaco", "3", "--strict").exit_code == 0  # dogs are known to differ
    for spoiled, message in (
        ({("cats", "n"): 13.0}, "Error: mctaco: Table 3: cats, n is 13 (12 printed)\n"),
        (
            {("cats", "n"): 13.0, ("cats", "share"): 0.62},
            "cats, n is 13 (12 printed), and 1 more\n",
        ),
    ):
        animals(good | spoiled)
        result = run("reproduce", "mctaco", "3", "--strict")
        assert result.exit_code == 1
        assert result.stderr.endswith(message)
        assert "differs" in result.stdout  # the table is shown all the same
        assert run("reproduce", "mctaco", "3").exit_code == 0


def test_table_json_and_csv_of_the_command(animals, run):
    animals({("cats", "n"): 12.0, ("cats", "share"): 0.5061, ("dogs", "n"): Claim("eight", False)})
    shown = run("reproduce", "mctaco", "3").stdout
    assert "3 cells" not in shown
    assert "2 cells not recomputed: see --missing." in shown
    assert "needs wings" not in shown
    assert "needs wings" in run("reproduce", "mctaco", "3", "--missing").stdout
    (table,) = json.loads(run("reproduce", "mctaco", "3", "--json").stdout)
    assert (table["corpus"], table["name"]) == ("mctaco", "Table 3")
    assert [(c["printed"], c["recomputed"], c["verdict"]) for c in table["cells"]] == [
        ("12", 12.0, AGREES),
        ("0.5", 0.5061, AGREES),
        ("9", "eight", DIFFERS),
        ("3", None, NOT_RECOMPUTED),
        ("0.1", None, NOT_RECOMPUTED),
    ]
    rows = list(
        csv.DictReader(io.StringIO(run("reproduce", "mctaco", "3", "--format", "csv").stdout))
    )
    assert list(rows[0]) == [
        "corpus",
        "table",
        "row",
        "column",
        "printed",
        "recomputed",
        "verdict",
        "why",
    ]
    assert [(row["recomputed"], row["why"]) for row in rows] == [
        ("12.0", ""),
        ("0.5061", "as in the text"),
        ("eight", "one ran away"),
        ("", "needs wings"),
        ("", "needs feathers"),
    ]


@pytest.fixture
def papers(monkeypatch):
    """Makes the tables of papers by corpus; those without tables lack their files."""

    def set_papers(tables):
        def reproduce_one(corpus):
            if not tables[corpus]:
                raise UnavailableError(
                    corpus, [Problem("not found", None, file) for file in ("x.tsv", "y.tsv")]
                )
            return reproduction.Reproduction(corpus, tuple(tables[corpus]))

        monkeypatch.setattr(operations, "recompute", reproduce_one)
        monkeypatch.setattr(operations, "reproducible", lambda: list(tables))

    return set_papers


def test_all_papers_at_once(papers, run):
    papers(
        {
            "mctaco": [TABLE],
            "tne": [TABLE, BARE],
            "semeval2015_timeline": [],
            "marmara_coref": [TABLE],
        }
    )
    result = run("reproduce", "all")
    assert result.exit_code == 0
    first, *rows = (line for line in result.stdout.splitlines() if line and "─" not in line)
    assert first == "11 printed figures: 3 agree, 2 are cut off, 2 differ, 4 not recomputed."
    assert [line.split() for line in rows] == [
        ["verdict", "mctaco", "tne", "all"],
        ["agrees", "1", "2", "3"],
        ["agrees,", "cut", "off", "1", "1", "2"],
        ["differs", "1", "1", "2"],
        ["not", "recomputed", "2", "2", "4"],
        ["not", "printed", "1", "1", "2"],
        ["cells", "6", "7", "13"],
    ]
    assert result.stderr == (
        "note: semeval2015_timeline is left out: semeval2015_timeline/x.tsv: not found, and 1 more problem\n"
        "note: marmara_coref is left out, since its files are your own: closeread reproduce marmara_coref\n"
    )
    found = json.loads(run("reproduce", "all", "--json").stdout)
    assert [(table["corpus"], table["name"]) for table in found] == [
        ("mctaco", "Table 7"),
        ("tne", "Table 7"),
        ("tne", "Figure 1"),
    ]
    assert "Table 7 (section 4.2). Animals" in run("reproduce", "all", "--missing").stdout


def test_nothing_to_recompute_from(papers, run):
    papers({"tne": [], "marmara_coref": []})
    result = run("reproduce", "all", "-q")
    assert result.exit_code == 2
    assert result.stderr.endswith(
        "Error: no corpus has its files here:\n"
        "tne is left out: tne/x.tsv: not found, and 1 more problem\n"
        "marmara_coref is left out, since its files are your own: closeread reproduce marmara_coref\n"
        "put the released files into $CLOSEREAD_DATA/CORPUS, or try closeread reproduce CORPUS --data-dir DIR\n"
    )
