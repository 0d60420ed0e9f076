"""McTaco's tables, Figure 2 and figures of the text, computed by hand and from the release."""

import itertools
import math
from collections import Counter
from fractions import Fraction
from importlib import resources

import numpy as np
import pytest
from shared.peers import find_peer

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.reproduction import Inputs, load_printed, reproduce
from closeread.counts.printed_tables import (
    AGREES,
    CUT_OFF,
    DIFFERS,
    NOT_PRINTED,
    NOT_RECOMPUTED,
    WITHIN_CHANCE,
    WITHOUT_DATA,
)
from closeread.counts.table import CountTable
from closeread.tasks.mctaco import reproduction
from closeread.tasks.mctaco.perturbation.rules import perturb
from closeread.tasks.mctaco.reproduction import RECOMPUTE, RELEASED_PREDICTIONS, sample_questions

DEV = """It rained .	When ?	at noon	yes	Typical Time
It rained .	When ?	never	no	Typical Time
It rained .	When ?	in May	yes	Typical Time
"""
TEST = """Ada slept late .	How long ?	one hour	yes	Event Duration
Ada slept late .	How long ?	two years	no	Event Duration
Ada slept late .	How often ?	daily	no	Frequency
"""
UPSTREAM = {
    "ESIM + GloVe": "yes yes yes",
    "ESIM + ELMo": "no no no",
    "BERT + unit normalization": "yes no no",
    "RoBERTa": "yes no yes",
}
BERT = "BERT + unit normalization"
TEXT_OF_SCORES = {(f"RoBERTa, {metric}", "4, footnote 9") for metric in ("F1", "EM")}


def cells_of(table=None, **inputs):
    return {
        (t.name, c.row, c.column): c
        for t in reproduce("mctaco", table, Inputs(**inputs))
        for c in t.cells
    }


def values_of(table, **inputs):
    return {place[1:]: cell.recomputed for place, cell in cells_of(table, **inputs).items()}


@pytest.fixture
def small(tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "dev_3783.tsv").write_text(DEV, "utf-8")
    (folder / "test_9442.tsv").write_text(TEST, "utf-8")
    return folder


@pytest.fixture
def upstream(tmp_path):
    for system, labels in UPSTREAM.items():
        path = tmp_path / "upstream" / RELEASED_PREDICTIONS[system]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{label}\n" for label in labels.split()), "utf-8")
    return tmp_path / "upstream"


def test_sizes_by_hand(small):
    got = values_of("1", data_dir=small)
    expected = {
        "# of unique questions": 3,
        "# of unique question-answer pairs": 6,
        "avg. sentence length": Fraction(3 * 3 + 3 * 4, 6),
        "avg. question length": Fraction(3 * 2 + 3 * 3, 6),
        "avg. answer length": Fraction(2 + 1 + 2 + 2 + 2 + 1, 6),
    }
    for row, value in expected.items():
        assert got[row, "value"] == pytest.approx(float(value), abs=1e-12), row
    for row, questions, candidates in (
        ("event typical time", 1, 3),
        ("event duration", 1, 2),
        ("event frequency", 1, 1),
        ("event stationarity", 0, 0),
        ("event ordering", 0, 0),
    ):
        assert (got[row, "# questions"], got[row, "avg # of candidate"]) == (questions, candidates)


def test_scores_by_hand(small, upstream):
    got = values_of("2", data_dir=small, upstream=upstream)
    expected = {
        # Always yes: P = 1/2 and R = 1 where one of two is plausible, P = 0 where none is.
        "Always Positive": (Fraction(2, 3) / 2, 0),
        # Always no: R = 0 where one is plausible; right where none is.
        "Always Negative": (Fraction(1, 2), Fraction(1, 2)),
        "ESIM + GloVe": (Fraction(1, 3), 0),
        "ESIM + ELMo": (Fraction(1, 2), Fraction(1, 2)),
        BERT: (1, 1),
        # A coin on two candidates, the first plausible: yes yes 2/3, yes no 1, no yes 0, no no 0.  On one: 0 or 1.
        "Random": ((Fraction(5, 12) + Fraction(1, 2)) / 2, (Fraction(1, 4) + Fraction(1, 2)) / 2),
    }
    for row, (f1, exact) in expected.items():
        assert got[row, "F1"] == pytest.approx(100 * float(f1), abs=1e-10), row
        assert got[row, "EM"] == pytest.approx(100 * float(exact), abs=1e-10), row
    assert got["BERT", "F1"] is got["Human", "EM"] is None


def test_the_deviation_of_a_coin_by_hand(small):
    got = RECOMPUTE["Table 2"](Inputs(data_dir=small))
    # Var of F1: (4/9 + 1) / 4 - 25/144 = 3/16, and 1/4; of EM: 1/4 * 3/4, and 1/4.  Both give (3/16 + 1/4) / 2².
    for column in ("F1", "EM"):
        assert got["Random", column].deviation == pytest.approx(
            100 * math.sqrt(Fraction(7, 64)), abs=1e-10
        )


def test_categories_by_hand(small, upstream):
    assert values_of("Figure 2", data_dir=small, upstream=upstream) == {
        ("Frequency", "Random"): 50,
        ("Frequency", "ESIM + GloVe"): 0,
        ("Frequency", "ESIM + ELMo"): 100,
        ("Frequency", BERT): 100,
        ("Frequency", "RoBERTa"): 0,
        ("Event Duration", "Random"): 25,
        ("Event Duration", "ESIM + GloVe"): 0,
        ("Event Duration", "ESIM + ELMo"): 0,
        ("Event Duration", BERT): 100,
        ("Event Duration", "RoBERTa"): 100,
    }
    without = cells_of("Figure 2", data_dir=small)
    assert {cell.verdict for cell in without.values()} == {NOT_PRINTED}
    assert {cell.column for cell in without.values()} == {"Random"}


def test_text_by_hand(small, upstream):
    got = cells_of("Text", data_dir=small, upstream=upstream)
    by_row = {row: cell for (_, row, _), cell in got.items()}
    split = by_row["split of the data, dev / test, percent"]
    assert (split.recomputed, split.verdict) == ("33.3 / 66.7", DIFFERS)
    assert by_row["classes of temporal common sense"].recomputed == 3
    assert by_row["tuples"].recomputed == 6
    assert by_row["tuples in these"].recomputed == 150  # 3 candidates of 2 questions
    assert by_row["RoBERTa, F1"].recomputed == by_row["RoBERTa, EM"].recomputed == 50
    # there are no 100 questions
    assert by_row[f"{BERT} on the 100 questions, F1"].verdict == NOT_RECOMPUTED


def test_samples_of_questions_beside_all_samples(monkeypatch):
    monkeypatch.setattr(reproduction, "SAMPLE", 3)
    values = [Fraction(1), Fraction(0), Fraction(2, 3), Fraction(1, 2), Fraction(0)]
    table = CountTable(
        list("abcde"), np.arange(5), ("f1_sum",), np.array([[float(value)] for value in values])
    )
    means = [100 * sum(sample) / 3 for sample in itertools.combinations(values, 3)]
    mean = sum(means) / len(means)
    variance = sum((one - mean) ** 2 for one in means) / len(means)
    got = sample_questions(table, "f1_sum")
    assert got.mean == pytest.approx(float(mean), abs=1e-10)
    assert got.deviation == pytest.approx(math.sqrt(variance), abs=1e-10)


def test_table_3_needs_no_files_and_shows_every_rule():
    cells = cells_of("3")
    assert {cell.verdict for cell in cells.values()} == {WITHOUT_DATA}
    assert len(cells) == 54
    made = {word: set() for _, word, _ in cells}
    for (_, word, _), cell in cells.items():
        made[word] |= set(cell.recomputed.split(", "))
    for word, others in made.items():
        # elsewhere a verb and an ordinal
        context = {"am": "7 {}", "second": "a {} ago"}.get(word, "{}")
        found = perturb(context.format(word), number_rule="off", agreement="keep")
        assert set(found) == {context.format(other) for other in others}


def test_every_cell_has_a_verdict_and_a_reason(corpora):
    cells = cells_of()
    counts = Counter(cell.verdict for cell in cells.values())
    # Without data hold the 54 rules of Table 3, two examples and three statements about printed scores.
    agreeing = {AGREES: 82 - 59, CUT_OFF: 1, WITHIN_CHANCE: 2, WITHOUT_DATA: 54 + 2 + 3}
    assert counts == {**agreeing, NOT_RECOMPUTED: 25, NOT_PRINTED: 5}
    assert all(cell.is_expected for cell in cells.values())
    assert all(
        cell.why
        for cell in cells.values()
        if cell.verdict in (DIFFERS, NOT_RECOMPUTED, WITHIN_CHANCE)
    )
    assert cells["Table 2", "Always Positive", "EM"].verdict == CUT_OFF
    assert cells["Table 2", "Random", "F1"].verdict == WITHIN_CHANCE


def test_the_released_predictions(corpora):
    folder = find_peer("MCTACO")
    cells = cells_of(upstream=folder)
    of_systems = {
        place: cell
        for place, cell in cells.items()
        if (place[0] == "Table 2" and place[1] in RELEASED_PREDICTIONS)
        or place[1:] in TEXT_OF_SCORES
    }
    assert len(of_systems) == 8
    assert {cell.verdict for cell in of_systems.values()} == {AGREES, CUT_OFF}
    for metric in ("F1", "EM"):
        assert (
            cells["Text", f"{BERT} on the 100 questions, {metric}", "4, footnote 7"].verdict
            == WITHIN_CHANCE
        )


def test_figures_in_notes_are_those_of_the_files(corpora):
    splits = [
        read_gold(load_corpus("mctaco"), "default", split).records
        for split in ("validation", "test")
    ]
    (notes,) = (table for table in load_printed("mctaco")["tables"] if table["name"] == "Text")

    def share(sizes):
        return " / ".join(f"{100 * size / sum(sizes):.1f}" for size in sizes)

    of_split = notes["notes"]["split of the data, dev / test, percent"]
    assert (
        f"sentences are {share([len({r['sentence_id'] for r in split}) for split in splits])}"
        in of_split
    )
    assert f"candidates {share([len(split) for split in splits])}" in of_split
    sizes = [Counter(record["question_id"] for record in split) for split in splits]
    assert max(max(of.values()) for of in sizes) == 19
    assert "has more than 19" in notes["needs"]["candidates per question after expansion"]
    of_test = np.array(list(sizes[1].values()))
    deviation = 10 * of_test.std(ddof=1) * math.sqrt(1 - 100 / len(of_test))
    assert f"standard deviation is {deviation:.0f}" in notes["notes"]["tuples in these"]
    assert (
        f"it is {75.8 - 42.7:.1f}"
        in notes["without_data"]["how far the best systems are behind humans, percent"]
    )


def read_card_tables():
    """The tables of the card, by their header."""
    lines = resources.files("closeread.cards").joinpath("mctaco.md").read_text("utf-8").splitlines()
    tables, header = {}, None
    for line in lines:
        cells = tuple(cell.strip() for cell in line.strip("|").split("|"))
        if not line.startswith("|"):
            header = None
        elif header is None:
            header = cells
        elif not cells[0].startswith(":-"):
            tables.setdefault(header, []).append(cells)
    return tables


def test_tables_of_the_card_are_those_of_the_paper():
    tables = read_card_tables()
    table_1, table_2, *_ = load_printed("mctaco")["tables"]
    (text,) = (table for table in load_printed("mctaco")["tables"] if table["name"] == "Text")
    by_category = [
        (row, *cells.values()) for row, cells in table_1["rows"].items() if "# questions" in cells
    ]
    assert tables["category", "questions", "candidates per question"] == by_category
    scores = {
        row: tuple(cells[name] for name in ("F1", "EM")) for row, cells in table_2["rows"].items()
    }
    scores["RoBERTa"] = tuple(
        text["rows"][f"RoBERTa, {metric}"]["4, footnote 9"] for metric in ("F1", "EM")
    )
    assert {row: cells for row, *cells in map(tuple, tables["system", "F1", "EM"])} == {
        row: list(cells) for row, cells in scores.items()
    }


def test_what_the_card_says_of_coins_and_categories(corpora):
    (header,) = (header for header in read_card_tables() if "RoBERTa" in header)
    shown = {
        (row, name): cell
        for row, *cells in read_card_tables()[header]
        for name, cell in zip(header[1:], cells, strict=True)
    }
    card = " ".join(
        resources.files("closeread.cards").joinpath("mctaco.md").read_text("utf-8").split()
    )
    f1, exact = (RECOMPUTE["Table 2"](Inputs())["Random", metric] for metric in ("F1", "EM"))
    assert f"a mean F1 of {f1.mean:.2f} and a mean exact match of {exact.mean:.2f}" in card
    assert f"standard deviations of {f1.deviation:.2f} and {exact.deviation:.2f}" in card
    coin = values_of("Figure 2")
    assert len(coin) == 5
    for place, value in coin.items():
        assert shown[place] == f"{value:.1f}"
    for place, value in values_of("Figure 2", upstream=find_peer("MCTACO")).items():
        assert shown[place] == f"{value:.1f}"
