"""What the paper on TimeLine prints, recomputed."""

import json
import shutil
from fractions import Fraction
from pathlib import Path

import pytest
from shared.for_each import for_each
from shared.timelines import write_texts

from closeread.corpus.gold import read_gold, splits_at_hand
from closeread.corpus.names import load_corpus
from closeread.corpus.reproduction import Inputs, load_printed, reproduce
from closeread.counts.printed_tables import (
    AGREES,
    DIFFERS,
    NOT_PRINTED,
    NOT_RECOMPUTED,
    format_like,
)
from closeread.tasks.timeline.reproduction import _name_granularity

NAME = "semeval2015_timeline"
SECOND_HAND = "Table 2, Track B, at second hand"
SPLITS = ("trial", "corpus_1", "corpus_2", "corpus_3")
EVALUATION = SPLITS[1:]
# what is odd about files and mentions
ANY_FILES = pytest.mark.filterwarnings("ignore::UserWarning")

EVENTS = "least number of events of a target entity"
DOCUMENTS = "least number of documents of a target entity"
IN_ALL = "articles / target entities in all"
OF_TRIAL, OF_EVALUATION = (
    "trial: articles / target entities",
    "evaluation: articles / target entities",
)
USED = "target entities / timelines used in the evaluation"
ANCHORS = "granularities of anchors"
UNKNOWN = "position of events whose anchor is unknown"
CORPUS_SIZE, TOKENS = "documents a corpus", "tokens of each evaluation corpus"
STOCK, AIRBUS, GM = (
    f"documents of a timeline, {name}" for name in ("Stock Market", "Airbus", "GM")
)
AT_0, ORDERED = (
    "events at position 0, Stock Market",
    "events that are ordered, Airbus and GM, percent",
)

RELEASED = {
    IN_ALL: (SPLITS, AGREES, "120 / 44"),
    OF_TRIAL: (("trial",), AGREES, "30 / 6"),
    OF_EVALUATION: (EVALUATION, AGREES, "90 / 38"),
    UNKNOWN: (("trial",), AGREES, 0),
    CORPUS_SIZE: (SPLITS, AGREES, "30"),
    USED: (EVALUATION, AGREES, "38 / 37"),
    STOCK: (("corpus_3",), AGREES, Fraction(118, 13)),
    AIRBUS: (("corpus_1",), AGREES, Fraction(80, 13)),
    GM: (("corpus_2",), AGREES, Fraction(63, 11)),
    AT_0: (("corpus_3",), AGREES, 1),
    ORDERED: (
        ("corpus_1", "corpus_2"),
        AGREES,
        "61.5 and 66.3 of events, 69.7 and 67.4 of mentions",
    ),
    EVENTS: (("corpus_2",), DIFFERS, 0),
    DOCUMENTS: (("corpus_2",), DIFFERS, 0),
}
"""From rows of "Text" to the splits that they need, the verdict and the value.

The shares of ordered events are 169/275 and 163/246, those of mentions 271/389 and 219/325.
"""


def cells(table=None, folder=None):
    """The cells of one table, or of the running text, by row (and column, for a table)."""
    (found,) = reproduce(NAME, table or "Text", Inputs(data_dir=folder))
    return {cell.row if table is None else (cell.row, cell.column): cell for cell in found.cells}


@pytest.fixture
def at_hand(corpora):
    return set(splits_at_hand(load_corpus(NAME), "default"))


@pytest.fixture
def transcription(corpora):
    """The figures that were copied from the paper."""
    path = corpora.parent / "printed" / f"{NAME}.json"
    if not path.exists():
        pytest.skip(f"{path} is not available")
    return json.loads(path.read_text("utf-8"))


def test_the_text_agrees_wherever_the_files_are(at_hand):
    found = cells()
    for row, (splits, verdict, value) in RELEASED.items():
        if set(splits) <= at_hand:
            assert (found[row].verdict, found[row].recomputed) == (verdict, pytest.approx(value)), (
                row
            )
        elif verdict == AGREES:
            assert (found[row].verdict, found[row].recomputed) == (NOT_RECOMPUTED, None)
            assert found[row].why.startswith("needs the files of")


def test_every_other_cell_says_why_not(corpora):
    for table in reproduce(NAME):
        assert all(
            cell.is_expected and (cell.why or cell.verdict == AGREES) for cell in table.cells
        ), table.name


def test_the_evaluation_corpora_have_30_000_tokens_together(at_hand):
    tokens = {"corpus_1": "9,909", "corpus_2": "10,068", "corpus_3": "9,916"}
    cell = cells()[TOKENS]
    assert (cell.verdict, cell.recomputed) == (
        DIFFERS,
        "; ".join(number for split, number in tokens.items() if split in at_hand),
    )


def read_card_table(title):
    """The rows of the first table below a title of the card, without their header."""
    card = (Path(__file__).parents[2] / "cards" / f"{NAME}.md").read_text("utf-8")
    lines = card.partition(f"{title}\n")[2].partition("\n|")[2].partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_card_says_what_the_command_says(at_hand):
    found, rows = cells(), read_card_table("### What the paper prints")
    assert {row for row, *_ in rows} == {*RELEASED, TOKENS} - {UNKNOWN, CORPUS_SIZE}
    for row, section, printed, files in rows:
        assert (found[row].column, found[row].printed) == (section, printed)
        if set(EVALUATION if row == TOKENS else RELEASED[row][0]) <= at_hand:
            assert format_like(printed, found[row].recomputed) == files


def test_the_card_has_the_printed_scores():
    tables = {table["name"]: table["rows"] for table in load_printed(NAME)["tables"]}
    found = {
        f"{track}: {run}": (total, gm)
        for track, run, total, gm in read_card_table("### Scores of systems")
    }
    corpus_2 = {row: values["GM F1"] for row, values in tables["Table 2, GM column"].items()}
    printed = {
        row.replace("SPINOZAVU run", "SPINOZAVU"): (values["Total F1"], corpus_2.get(row, ""))
        for row, values in tables["Table 2"].items()
    }
    assert found == printed


def test_second_hand_is_never_printed(transcription, corpora):
    (table,) = [one for one in transcription if one.get("second_hand")]
    found = cells(SECOND_HAND)
    assert len(found) == len(table["rows"]) == 24
    for row in table["rows"]:
        cell = found[row["row"], row["column"]]
        assert (cell.printed, cell.recomputed, cell.verdict) == (None, None, NOT_PRINTED)
        assert cell.why.startswith(f"{row['value']} at second hand; needs ")


DOCUMENT = """<Document doc_id="{id}" doc_name="x" src_url="http://x/">
<token number="0" sentence="1" t_id="1">Ann</token><token number="1" sentence="1" t_id="2">left</token>
<Markables><TIMEX3 functionInDocument="CREATION_TIME" type="DATE" value="2011-01-02" m_id="0"/>
</Markables></Document>"""


def write_split(folder, split, documents, **texts):
    """Write a split of our own, with documents of two tokens."""
    below = folder if split == "trial" else folder / "SemEval_Task4_data" / split
    trial = ("TimeLines_trial_data_task4_v1.2", "Corpus-trial-data_task4_events_timelines")
    names = trial if split == "trial" else ("TimeLines_Gold_Standard", "corpus_trackB_CAT")
    for name in names:
        (below / name).mkdir(parents=True, exist_ok=True)
    write_texts(below / names[0], **texts)
    for number in documents:
        (below / names[1] / f"{number}.xml").write_text(DOCUMENT.format(id=number))
    return folder


@pytest.fixture
def own(tmp_path):
    """A release of our own that fulfils the paper's criterion; trial, Airbus, GM and stock market."""
    ann = "Ann\n1\t2011-01-02\t1-1-left\n2\t2012-02\t1-1-x\t2-1-y\n3\tXXXX\t2-1-z\n"
    write_split(tmp_path, "trial", (1, 2), ann=ann)
    write_split(
        tmp_path,
        "corpus_1",
        (1, 2, 3),
        ann=f"{ann}0\tXXXX-XX-XX\t3-1-a\t3-1-b\n",
        bo=ann.replace("Ann", "Bo"),
    )
    write_split(tmp_path, "corpus_2", (1, 2), ann=f"{ann}0\tXXXX-XX\t2-1-a\n0\tXXXX-XX-XX\t2-1-b\n")
    write_split(tmp_path, "corpus_3", (1, 2), ann=f"{ann}0\tXXXX-XX-XX\t2-1-a\n", cy="Cy\n")
    return tmp_path


@ANY_FILES
def test_every_figure_by_hand(own):
    """Ann has 3 events of 4 mentions in each split, and Bo; beside them are 1 of 2, 2 of 1, and 1 of 1 at position 0.

    Airbus: (3 + 2)/2 documents, 6/7 events and 8/10 mentions ordered.  GM: 2/1, 3/5 and 4/6.
    """
    found = cells(folder=own)
    expected = {
        IN_ALL: "9 / 6",
        OF_TRIAL: "2 / 1",
        OF_EVALUATION: "7 / 5",
        USED: "5 / 4",
        EVENTS: 0,
        DOCUMENTS: 0,
        ANCHORS: "day 8, month 6, year 5",
        UNKNOWN: 0,
        CORPUS_SIZE: "2, 3",
        TOKENS: "6; 4; 4",
        STOCK: 2,
        AIRBUS: Fraction(5, 2),
        GM: 2,
        AT_0: 1,
        ORDERED: "85.7 and 60.0 of events, 80.0 and 66.7 of mentions",
    }
    assert {
        row: cell.recomputed for row, cell in found.items() if cell.recomputed is not None
    } == expected
    assert found[ANCHORS].verdict == AGREES
    assert all(
        found[row].verdict == DIFFERS for row in (IN_ALL, EVENTS, ORDERED, CORPUS_SIZE, TOKENS)
    )


@for_each(
    ("anchor", "expected"),
    [("2011-XX-XX", "day"), ("XXXX-XX", "month"), ("2011-13", "other"), ("", "other")],
)
def test_granularities(anchor, expected):
    assert _name_granularity(anchor) == expected


@ANY_FILES
@for_each(("at_0", "verdict"), [(3, DIFFERS), (4, AGREES)])
def test_exactly_seventy_percent_is_not_below(own, at_0, verdict):
    """Of Airbus 7 events are ordered, of 10 or 11; of GM 3/5, and 4/6 mentions."""
    folder = own / "SemEval_Task4_data" / "corpus_1" / "TimeLines_Gold_Standard"
    (folder / "bo.txt").unlink(missing_ok=True)
    lines = [f"{day}\t2011-01-0{day}\t1-1-left\n" for day in range(1, 8)]
    (folder / "ann.txt").write_text("".join(["Ann\n", *lines, *["0\tXXXX-XX-XX\t3-1-a\n"] * at_0]))
    assert cells(folder=own)[ORDERED].verdict == verdict


@ANY_FILES
@pytest.mark.parametrize("events", [3, 2])
def test_a_statement_about_all_needs_all_to_hold_and_one_to_fail(own, events):
    """Without corpus 3, three events of every entity confirm nothing; two of one entity refute the paper."""
    shutil.rmtree(own / "SemEval_Task4_data" / "corpus_3")
    path = own / "SemEval_Task4_data" / "corpus_1" / "TimeLines_Gold_Standard" / "bo.txt"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[: 1 + events]))
    cell = cells(folder=own)[EVENTS]
    expected = (NOT_RECOMPUTED, None) if events == 3 else (DIFFERS, 2)
    assert (cell.verdict, cell.recomputed) == expected
    assert cells(folder=own)[USED].why.startswith("needs the files of all three")


@ANY_FILES
@for_each(
    ("lines", "expected"),
    [
        # Of the figure's sentences only; 2004 comes first there, and an event of another sentence does not count.
        (
            "1\t1976\t9-1-built\n2\t2004\t18315-7-fighting\t18355-4-fighting\n3\t2010\t18355-18-x\n4\t2011-01\t18315-7-leave\n",
            {"fight": (1, AGREES), "leave": (3, DIFFERS), "anchor": ("2011-01", AGREES)},
        ),
        (
            "0\tXXXX\t18315-7-leave\n1\t2004\t18315-7-fighting\n2\t2005\t18355-4-fighting\n",
            {
                "fight": ("not in the timeline", DIFFERS),
                "leave": (0, DIFFERS),
                "anchor": ("XXXX", DIFFERS),
            },
        ),
    ],
)
def test_figure_1_by_hand(tmp_path, lines, expected):
    write_split(tmp_path, "trial", (18315, 18355), steve_jobs=f"Steve Jobs\n{lines}")
    found = cells("Figure 1", tmp_path)
    names = {
        "fight": ("18315-7-fighting, 18355-4-fighting", "position"),
        "leave": ("18315-7-leave", "position"),
    }
    names["anchor"] = ("18315-7-leave", "anchor")
    assert {
        name: (found[cell].recomputed, found[cell].verdict) for name, cell in names.items()
    } == expected


def test_the_command(corpora, run):
    shown = run("reproduce", NAME, "--strict", "--missing", "--json")
    assert shown.exit_code == 0
    tables = {table["name"]: table for table in json.loads(shown.stdout)}
    f1 = {cell["row"]: cell["printed"] for cell in tables["Table 2"]["cells"]}
    assert (f1["Track A: WHUNLP 1"], f1["Track B: GPLSIUA 1"]) == ("7.28", "25.36")
    why = {
        cell["row"]: cell["why"] for cell in [*tables["Table 2"]["cells"], *tables["Text"]["cells"]]
    }
    assert "7.85" in why["Track A: WHUNLP 1"]
    assert "7.28" in why["F1 of the best run of the main track (A)"]


def test_figure_1(corpora):
    found = cells("Figure 1")
    together = found["18315-7-fighting, 18355-4-fighting", "position"]
    assert (together.verdict, together.recomputed) == (AGREES, 1)
    for column in ("position", "anchor"):
        cell = found["18315-7-leave", column]
        assert (cell.verdict, cell.recomputed) == (DIFFERS, "not in the timeline")
    entries = next(
        r
        for r in read_gold(load_corpus(NAME), "default", "trial").records
        if r["id"] == "steve_jobs"
    )
    by_mention = {mention: entry for entry in entries["entries"] for mention in entry["mentions"]}
    assert by_mention["18315-8-leave"]["anchor"] == "2011-01-17"
    assert by_mention["18315-7-fighting"]["position"] == 8
