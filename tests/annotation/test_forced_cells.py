"""What a person has decided, in cells with `=`, and worksheets."""

import random
from pathlib import Path

import pytest

from closeread.exceptions import FormatError
from closeread.tasks.annotation.forced import read_forced
from closeread.tasks.coref.documents import Mention
from closeread.tasks.coref.files import read_documents

pytestmark = pytest.mark.usefixtures("here")

WORDS = ["The", "old", "ferry", "sailed", "and", "Ida", "left", "it"]
ANNOTATORS = {
    "anna": ["(1", "-", "1)", "-", "-", "-", "-", "(1)"],
    "ben": ["(1", "-", "1)", "-", "-", "(1)", "-", "-"],
    "cleo": ["-", "(3)", "-", "-", "-", "-", "-", "(3)"],
}
"""K: (0-2, 7) 1, (0-2, 5) 1, (1, 7) 1, of k = 3; all cost 2 apart and 2 together."""


def text_of(*columns, name="ferry", words=WORDS):
    rows = [
        "\t".join(row) for row in zip(map(str, range(len(words))), words, *columns, strict=True)
    ]
    return "\n".join([f"#begin document ({name});", *rows, "#end document", ""])


@pytest.fixture
def files():
    for name, cells in ANNOTATORS.items():
        Path(f"{name}.conll").write_text(text_of(cells), "utf-8")
    return [f"{name}.conll" for name in ANNOTATORS]


@pytest.fixture
def adjudicate(run, files):
    """Runs the command with forced cells; returns its result, and the cells of the worksheet's last column."""

    def call(cells, *options):
        Path("forced.conll").write_text(text_of(cells), "utf-8")
        more = ["--forced", "forced.conll", "--worksheet", "sheet.conll", *options]
        done = run("adjudicate", "coref", *files, "-o", "gold.conll", *more)
        sheet = Path("sheet.conll").read_text("utf-8") if done.exit_code == 0 else ""
        return done, [row.split("\t")[-1] for row in sheet.splitlines()[1:-2]]

    return call


def test_without_decisions(ran, files):
    """All links cost 2 either way: as many as fit are used, first the earliest, (0-2, 5); (1, 7) is left."""
    ran("adjudicate", "coref", *files, "-o", "gold.conll", "--worksheet", "sheet.conll")
    rows = Path("sheet.conll").read_text("utf-8").splitlines()
    assert rows[0] == "#begin document (ferry)"
    assert rows[1].split("\t") == ["ferry", "0", "0", "The", "(1", "(1", "-", "(1"]
    assert rows[2].split("\t") == ["ferry", "0", "1", "old", "-", "-", "(1)", "(2)"]
    assert [row.split("\t")[-1] for row in rows[1:-2]] == [
        "(1",
        "(2)",
        "1)",
        "-",
        "-",
        "(1)",
        "-",
        "(2)",
    ]
    assert rows[-2:] == ["", "#end document"]
    assert read_documents(Path("gold.conll"))[0] == read_documents(Path("sheet.conll"))[0]


def test_a_token_without_mentions(adjudicate):
    """No mention begins or ends on token 5, so (0-2, 7) is the earliest link; (1, 7) is in another chain or none."""
    done, cells = adjudicate(["-", "-", "-", "-", "-", "=-", "-", "-"])
    assert cells == ["(1", "-", "1)", "-", "-", "=-", "-", "(1)"]
    assert done.stdout == "gold.conll: 1 document, 1 chain, 2 mentions; cost 6, optimal\n"
    assert not done.stderr


def test_chains_that_are_decided_keep_their_ids(adjudicate):
    done, cells = adjudicate(["-", "=(4)", "-", "(7)", "-", "-", "-", "=(4)"])
    assert cells == ["(1", "=(4)", "1)", "-", "-", "(1)", "-", "=(4)"]
    assert done.stderr == "note: forced.conll: 1 cell without '=' ignored.\n"
    done, cells = adjudicate(["=(1", "-", "=1)", "-", "-", "-", "-", "=(1)"])
    assert cells == ["=(1", "-", "=1)", "-", "-", "-", "-", "=(1)"]
    done, cells = adjudicate(["-", "=(1)", "-", "-", "-", "-", "-", "=(1)"])
    assert cells == ["(2", "=(1)", "2)", "-", "-", "(2)", "-", "=(1)"]


def test_links_that_nobody_has(adjudicate):
    """Under v, a forced link with K = 0 costs k = 3; under ua 1; all others cost 2 apart."""
    for objective, cost in (("v", 9), ("u", 6), ("ua", 7), ("va", 7)):
        done, _ = adjudicate(
            ["=-", "=(1)", "=-", "=(1)", "=-", "=-", "=-", "=-"], "--objective", objective
        )
        assert done.stdout == f"gold.conll: 1 document, 1 chain, 2 mentions; cost {cost}, optimal\n"


def test_different_chains(adjudicate):
    """The ferry and it are decided to be apart: Ida joins the ferry, and it the old."""
    done, cells = adjudicate(["=(5", "-", "=5)", "-", "-", "-", "-", "=(6)"])
    assert cells == ["=(5", "(6)", "=5)", "-", "-", "(5)", "-", "=(6)"]
    assert done.stdout == "gold.conll: 1 document, 2 chains, 4 mentions; cost 6, optimal\n"


def test_nothing_fits(adjudicate):
    """Nobody has a link to token 3, so it can't be in a chain of two; under va it can."""
    done, _ = adjudicate(["-", "-", "-", "=(1)", "-", "-", "-", "-"])
    assert done.exit_code == 1
    assert (
        done.stderr
        == "Error: forced.conll:1: document 'ferry': no solution has all forced mentions\n"
    )
    assert not Path("gold.conll").exists()
    done, cells = adjudicate(["-", "-", "-", "=(1)", "-", "-", "-", "-"], "--objective", "va")
    assert done.exit_code == 0
    assert cells[3] == "=(1)"


def test_worksheets_come_back(adjudicate, files, ran):
    _, cells = adjudicate(["-", "=(4)", "-", "-", "-", "=-", "-", "-"])
    sheet, gold = Path("sheet.conll").read_bytes(), Path("gold.conll").read_bytes()
    ran(
        "adjudicate",
        "coref",
        *files,
        "-o",
        "again.conll",
        "--forced",
        "sheet.conll",
        "--worksheet",
        "next.conll",
    )
    assert Path("again.conll").read_bytes() == gold
    assert Path("next.conll").read_bytes() == sheet
    assert cells[1] == "=(4)"


def test_cells_are_read_as_written():
    cells = ["=(1|(2", "=(3)2)", "=(4)1)", "-", "=_", "(9)", "=(2)", "_"]
    Path("forced.conll").write_text(text_of(cells), "utf-8")
    document = read_forced(Path("forced.conll")).documents["ferry"]
    assert document.bound == {0, 1, 2, 4, 6}
    spans = {(0, 2, "1"), (0, 1, "2"), (1, 1, "3"), (2, 2, "4"), (6, 6, "2")}
    assert {(*mention[:2], name) for mention, name in document.chain_of.items()} == spans


def test_columns_of_other_tools(run, files):
    """A file without words, whose columns are other annotators' chains, has nothing to compare."""
    rows = "".join(
        f"{i}\t{cell}\t{'=-' if i == 5 else '-'}\n" for i, cell in enumerate(ANNOTATORS["anna"])
    )
    Path("forced.conll").write_text(f"#begin document (ferry);\n{rows}#end document\n", "utf-8")
    done = run("adjudicate", "coref", *files, "-o", "gold.conll", "--forced", "forced.conll")
    assert done.exit_code == 0
    assert [(5, 5)] not in read_documents(Path("gold.conll"))[0]["clusters"]


def test_any_text_is_read_or_refused():
    """An error of ours, or decisions whose mentions begin and end on bound tokens."""
    rng = random.Random(0)
    pieces = [
        "=",
        "(",
        ")",
        "1",
        "2",
        "-",
        "_",
        "|",
        "\t",
        "\n",
        "#begin document (d)\n",
        "#end document\n",
        "x",
        "=(1)\n",
    ]
    n_read = 0
    for _ in range(400):
        body = "".join(rng.choice(pieces) for _ in range(rng.randint(1, 14)))
        frame = rng.random() < 0.7
        Path("forced.conll").write_text(
            f"#begin document (d)\n{body}\n#end document\n" if frame else body, "utf-8"
        )
        try:
            found = read_forced(Path("forced.conll"))
        except FormatError:
            continue
        n_read += 1
        for document in found.documents.values():
            assert {
                token for mention in document.chain_of for token in mention[:2]
            } <= document.bound
            assert all(
                isinstance(mention, Mention) and mention.start <= mention.end
                for mention in document.chain_of
            )
    assert 0 < n_read < 400
