"""The released format: what is read, the error messages, and round trips."""

import re

import pytest
from hypothesis import strategies as st
from shared import json_lines
from shared.possession_records import ROW, make_record, read_released

from closeread.corpus.gold import read_gold, read_own_gold
from closeread.corpus.names import load_corpus
from closeread.tasks.wikipossessions.possession_csv import dump_records
from closeread.tasks.wikipossessions.rules import (
    DERIVED,
    derive_anchor,
    find_inconsistencies,
    find_odd_rows,
    find_oddities,
    find_repairs,
)

CORPUS = load_corpus("wikipossessions")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A file to write and read again and again."""
    return tmp_path_factory.mktemp("possessions") / "annotations.csv"


def possessions(file, *rows):
    records, _, problems, *_ = read_released(file, *rows)
    assert problems == []
    return [possession for record in records for possession in record["possessions"]]


def test_a_row(file):
    records, lines, problems, *_ = read_released(
        file, "A Vase # GPE # Old Town # PUC #6.1# 1888-Now # Aft # UC "
    )
    assert problems == []
    assert lines == [2]
    assert records == [
        {
            "article": "A Vase",
            "possessions": [
                {
                    "type": "LOC",
                    "possessor": "Old Town",
                    "certainty": "uncertain",
                    "order": "6.1",
                    "anchor": "1888-Now",
                    "anchor_kind": "years",
                    "lower": 1888,
                    "upper": None,
                    "open_start": False,
                    "open_end": True,
                    "relation": "after",
                    "relation_certainty": "uncertain",
                }
            ],
            "text": None,
        }
    ]


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (
            ROW,
            {
                "type": "PER",
                "certainty": "certain",
                "relation": "during",
                "relation_certainty": "certain",
            },
        ),
        (ROW.replace("PER", "ORG"), {"type": "ORG"}),
        (ROW.replace("Dur", "Bef"), {"relation": "before"}),
        (ROW.replace("#Ann#", "#\xa0 Ann\xa0\u2003\t#"), {"possessor": "Ann"}),
        (ROW.replace("#Ann#", "#Ann\xa0III#"), {"possessor": "Ann\xa0III"}),
        (ROW.replace("#Ann#", "# Ann, #"), {"possessor": "Ann,"}),
        (ROW.replace("#Ann#", '#"Old" Ann #'), {"possessor": '"Old" Ann'}),
        (ROW.replace("#Ann#", "#Ann  Lee#"), {"possessor": "Ann  Lee"}),
        (ROW.replace("#1#", "# 15.10\xa0#"), {"order": "15.10"}),
        (ROW.replace("#1#", "#6.1.2#"), {"order": "6.1.2"}),
        (ROW.replace("1888", " 16th Century "), {"anchor": "16th Century", "anchor_kind": "event"}),
        (ROW.replace("1888", "1900-1888"), {"anchor": "1900-1888", "lower": 1888, "upper": 1900}),
        (
            ROW.replace("1888#Dur#C", "Unknown##"),
            {"anchor": "Unknown", "anchor_kind": "unknown", "relation": None},
        ),
        (
            ROW.replace("1888#Dur#C", "Unknown # Dur # C"),
            {"anchor": "Unknown", "relation": "during"},
        ),
        (
            ROW.replace("1888#Dur#C", " # # "),
            {"anchor": None, "anchor_kind": "unknown", "relation_certainty": None},
        ),
    ],
)
def test_cells(file, row, found):
    (possession,) = possessions(file, row)
    assert {name: possession[name] for name in found} == found


def test_rows_of_an_article_need_not_be_adjacent(file):
    rows = [
        ROW.replace("Ann", "A"),
        ROW.replace("A Vase", "B"),
        ROW.replace("Ann", "C").replace("#1#", "#2#"),
    ]
    records, lines, problems, *_ = read_released(file, *rows)
    assert problems == []
    assert [(record["article"], len(record["possessions"])) for record in records] == [
        ("A Vase", 2),
        ("B", 1),
    ]
    assert lines == [2, 3]


CELL = (
    st.text(
        st.sampled_from("ab,.\"'\xa0 é’\u202e") | st.characters(exclude_categories=["Cs", "Cc"]),
        min_size=1,
    )
    .map(lambda text: text.replace("#", "").strip())
    .filter(bool)
)
ANCHOR = (
    st.sampled_from(
        ["Unknown", "1888", "1888-Now", "Unknown-1930", "1900-1888", "44 BC", "the Flood"]
    )
    | CELL
)
RELATION = st.tuples(
    st.sampled_from(["before", "during", "after"]), st.sampled_from(["certain", "uncertain"])
)
NUMBER = st.integers(1, 999_999).map(str)


@st.composite
def possession_records(draw):
    """Draw a possession of a record."""
    anchor = draw(st.none() | ANCHOR)
    relation, certainty = (None, None) if anchor is None else draw(RELATION | st.just((None, None)))
    return {
        "type": draw(st.sampled_from(["PER", "ORG", "LOC"])),
        "possessor": draw(CELL),
        "certainty": draw(st.sampled_from(["certain", "uncertain"])),
        "order": ".".join(draw(st.lists(NUMBER, min_size=1, max_size=3))),
        "anchor": anchor,
        **derive_anchor(anchor),
        "relation": relation,
        "relation_certainty": certainty,
    }


@pytest.mark.parametrize(
    "changes", [{"possessor": "A#B"}, {"possessor": "A\nB"}, {"possessor": " A"}, {"anchor": "a#b"}]
)
def test_cells_that_the_format_can_not_represent(changes):
    with pytest.raises(ValueError, match=r"^'A Vase': this format can't represent the cell "):
        dump_records([make_record(**changes)])


def test_an_article_without_possessions_can_not_be_written():
    with pytest.raises(
        ValueError, match=r"^'A Vase': has no possessions, which this format can't represent$"
    ):
        dump_records([{**make_record(), "possessions": []}])


def test_padding_is_as_in_the_release(corpora):
    path = corpora / "wikipossessions" / "annotations.csv"
    released = path.read_text("utf-8").split("\n")
    written = dump_records(read_gold(CORPUS).records).split("\n")
    differing = [(a, b) for a, b in zip(released, written, strict=True) if a != b]
    # One cell of the release has an extra space.
    assert len(differing) == 1
    assert all(re.sub(" +", " ", a) == b for a, b in differing)


NONE = {"anchor": None, "anchor_kind": "unknown", "lower": None, "upper": None}
NONE |= {"relation": None, "relation_certainty": None}
NONE_GIVEN = {"anchor": None, "relation": None, "relation_certainty": None}


def test_references_may_omit_the_derived_fields():
    (possession,) = make_record()["possessions"]
    bare = {name: value for name, value in possession.items() if name not in DERIVED}
    for one in (bare, {**bare, **dict.fromkeys(DERIVED)}, {**bare, "lower": 1530}):
        assert list(find_inconsistencies([{"article": "A", "possessions": [one]}])) == []
    found = list(find_inconsistencies([{"article": "A", "possessions": [{**bare, "lower": 1531}]}]))
    assert found == [(0, "possessions[0]: lower is 1531 (expected 1530 for anchor '1530-1545')")]


def test_json_lines_may_omit_the_derived_fields(file):
    (whole,) = make_record()["possessions"]
    bare = {name: value for name, value in whole.items() if name not in DERIVED}
    own = file.with_suffix(".jsonl")
    for one in (bare, {**bare, **dict.fromkeys(DERIVED)}):
        own.write_text(
            json_lines.dump([{"article": "A Vase", "possessions": [one, {**one, **NONE_GIVEN}]}]),
            "utf-8",
        )
        (record,) = read_own_gold(CORPUS, own).records
        assert record["possessions"] == [whole, {**whole, **NONE}]


def test_a_padded_title():
    record = {**make_record(), "article": " A"}
    problem = "article ' A' has leading or trailing whitespace (expected none)"
    assert list(find_inconsistencies([record])) == [(0, problem)]


def test_oddities(file):
    records, *_ = read_released(file, ROW)
    assert list(find_repairs(records)) == list(find_oddities(records)) == []
    loose = ROW.replace("1888", "Unknown")
    records, *_ = read_released(
        file, ROW.replace("1888", "1900-1888"), loose, loose.replace("A Vase", "B")
    )
    assert list(find_repairs(records)) == [
        "1 possession has an anchor whose later year comes first, which is read in reverse order "
        "(first: '1900-1888' in 'A Vase')."
    ]
    assert list(find_oddities(records)) == [
        "2 possessions have a relation to an unknown anchor (first: in 'A Vase').",
    ]


def test_odd_rows():
    def make(anchor, relation="during"):
        return {"possessor": "Ann", "anchor": anchor, "relation": relation}

    rows = [
        {"article": "A", "possessions": [make("1888"), make("Unknown", None), make(None, None)]},
        {"article": "B", "possessions": [make("1888"), make("1931-1920"), make("Now-1888")]},
        {"article": "C", "possessions": [make("44-50 BC"), make("Unknown"), make("unknown")]},
    ]
    turned = "an anchor whose later year comes first, which is read in reverse order"
    assert list(find_odd_rows(rows, [])) == [
        (
            1,
            f"article 'B': 2 possessions have {turned} (first: possessions[1] ('Ann'), '1931-1920', read as 1920 to 1931)",
        ),
        (
            2,
            f"article 'C': 1 possession has {turned} (first: possessions[0] ('Ann'), '44-50 BC', read as -50 to -44)",
        ),
        (
            2,
            "article 'C': 2 possessions have a relation to an unknown anchor, which is kept "
            "(first: possessions[1] ('Ann'), 'Unknown')",
        ),
    ]
    dates = [
        "May 1705",
        "c. 1705",
        "1705?",
        "the 1700s",
        "1705/1706",
        "World War 2",
        "18th Century",
    ]
    rows = [
        {"article": "A", "possessions": [*map(make, dates)]},
        {"article": "B", "possessions": [make("1888"), make("1889"), make("1888")]},
    ]
    assert list(find_odd_rows(rows, [])) == [
        (1, "article 'B': 1 possession is predicted again (first: possessions[2] ('Ann'), '1888')"),
        (
            0,
            "article 'A': 5 possessions have an anchor that contains a year but is read as an event "
            "(expected years, such as 1888 or 1888-1890) (first: possessions[0] ('Ann'), 'May 1705')",
        ),
    ]
