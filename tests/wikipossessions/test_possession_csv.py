"""The released format: what is read, the error messages, and round trips."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import json_lines
from shared.for_each import for_each
from shared.possession_records import HEADER, ROW, make_record, read_released

from closeread.corpus.gold import read_file, read_gold, read_own_gold
from closeread.corpus.names import load_corpus
from closeread.exceptions import FormatError
from closeread.files import write_text
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


@for_each(
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


EXPECTED = f"(expected 8: {HEADER})"


@for_each(
    ("row", "problems"),
    [
        ("", [f"the number of cells is 1 {EXPECTED}"]),
        (ROW + "#", [f"the number of cells is 9 {EXPECTED}"]),
        (ROW.removesuffix("#C"), [f"the number of cells is 7 {EXPECTED}"]),
        (ROW.replace("A Vase", " "), ["Article is empty (expected a name)"]),
        (ROW.replace("Ann", "\xa0"), ["Possessor is empty (expected a name)"]),
        (ROW.replace("PER", "LOC"), ["Type is 'LOC' (expected PER or ORG or GPE)"]),
        (ROW.replace("PER", ""), ["Type is '' (expected PER or ORG or GPE)"]),
        (ROW.replace("PC", "C"), ["psr_c is 'C' (expected PC or PUC)"]),
        (ROW.replace("Dur", "During"), ["TP is 'During' (expected Bef, Dur, Aft or nothing)"]),
        (ROW.replace("Dur#C", "Dur#c"), ["Dur_c is 'c' (expected C, UC or nothing)"]),
        (
            ROW.replace("Dur#C", "Dur#"),
            ["TP is 'Dur' but Dur_c is empty (expected both or neither)"],
        ),
        (
            ROW.replace("1888", " "),
            ["TP is 'Dur' but Duration is empty (expected a time, or no TP)"],
        ),
        (ROW.replace("Dur#C", "#C"), ["Dur_c is 'C' but TP is empty (expected both or neither)"]),
        *(
            (
                ROW.replace("#1#", f"#{order}#"),
                [
                    f"order is '{order}' (expected a number such as 6, or 6.1 for a possession within possession 6)"
                ],
            )
            for order in (
                "",
                "6.",
                ".1",
                "6,1",
                "-1",
                "0",
                "01",
                "1.0",
                "first",
                "6..1",
                "٦",
                "1" * 7,
            )
        ),
        (
            ROW.replace("Ann", "An\x1bn"),
            ["Possessor 'An\\x1bn' contains the control character U+001B"],
        ),
        (
            ROW.replace("PER", "X").replace("#1#", "#x#").replace("Ann", ""),
            [
                "Possessor is empty (expected a name)",
                "order is 'x' (expected a number such as 6, or 6.1 for a possession within possession 6)",
                "Type is 'X' (expected PER or ORG or GPE)",
            ],
        ),
    ],
)
def test_broken_rows(file, row, problems):
    records, lines, found, *_ = read_released(file, ROW, row, ROW.replace("A Vase", "B"))
    where = "article 'A Vase': " if row.startswith("A Vase") else ""
    assert [(problem.line, problem.message) for problem in found] == [
        (3, where + what) for what in problems
    ]
    assert [record["article"] for record in records] == ["A Vase", "B"]
    assert lines == [2, 4]


@for_each(
    ("content", "message"),
    [
        (f"{ROW}\n", f"1: the header is '{ROW}' (expected {HEADER})"),
        (f"{HEADER.lower()}\n{ROW}\n", f"1: the header is '{HEADER.lower()}' (expected {HEADER})"),
        ("a,b\n1,2\n", f"1: the header is 'a,b' (expected {HEADER})"),
        (f"{HEADER}\n", "1: there are no rows after the header (expected one per possession)"),
        (f"{HEADER}\n{ROW}\n\n", f"3: the number of cells is 1 {EXPECTED}"),
    ],
)
def test_broken_files(file, content, message):
    file.write_text(content, "utf-8")
    with pytest.raises(FormatError) as caught:
        read_file(CORPUS, file, "test")
    # If the header is missing, the only row is read as the header, which is a second problem.
    assert f"{file}:{message}" in str(caught.value).splitlines()


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


RECORDS = st.lists(
    st.fixed_dictionaries(
        {"article": CELL, "possessions": st.lists(possession_records(), min_size=1, max_size=4)}
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda record: record["article"],
)


@given(records=RECORDS)
@settings(max_examples=60)
def test_round_trip(file, records):
    records = [{**record, "text": None} for record in records]
    write_text(file, dump_records(records))
    assert read_file(CORPUS, file, "test") == records


@for_each(
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


@for_each(
    ("changes", "problems"),
    [
        ({}, []),
        (NONE, []),
        ({"lower": 1545, "upper": 1530}, [
            "lower is 1545 (expected 1530 for anchor '1530-1545')",
            "upper is 1530 (expected 1545 for anchor '1530-1545')",
        ]),
        ({"upper": None, "open_end": True}, [
            "upper is null (expected 1545 for anchor '1530-1545')",
            "open_end is true (expected false for anchor '1530-1545')",
        ]),
        ({**NONE, "anchor_kind": "event"}, ["anchor_kind is 'event' (expected 'unknown' for anchor null)"]),
        (
            {**NONE, "relation": "after", "relation_certainty": "certain"},
            ["relation is 'after' but anchor is null (expected an anchor, or no relation)"],
        ),
        ({"relation": None}, ["relation is null but relation_certainty is 'certain' (expected both or neither)"]),
        (
            {"relation_certainty": None},
            ["relation is 'during' but relation_certainty is null (expected both or neither)"],
        ),
        ({"possessor": "Ann "}, ["possessor 'Ann ' has leading or trailing whitespace (expected none)"]),
        ({"anchor": " 1530-1545"}, ["anchor ' 1530-1545' has leading or trailing whitespace (expected none)"]),
    ],
)  # fmt: skip
def test_inconsistencies(file, changes, problems):
    records = [make_record(), {**make_record(**changes), "article": "B"}]
    assert list(find_inconsistencies(records)) == [
        (1, f"possessions[0]: {what}") for what in problems
    ]
    own = file.with_suffix(".jsonl")
    own.write_text(json_lines.dump(records), "utf-8")
    if not problems:
        assert read_own_gold(CORPUS, own).records == records
    else:
        with pytest.raises(FormatError, match=re.escape(f"{own}:2: possessions[0]: {problems[0]}")):
            read_own_gold(CORPUS, own)


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


def test_json_lines_with_some_derived_fields_or_without_records(file):
    (whole,) = make_record()["possessions"]
    bare = {name: value for name, value in whole.items() if name not in DERIVED}
    own = file.with_suffix(".jsonl")
    for possessions_given, problem in (
        ([{**bare, "lower": 1530}], "possessions[0]: field 'anchor_kind' is missing"),
        (
            [{**bare, "anchor": [1530]}],
            "possessions[0].anchor: expected text or null, found a list",
        ),
        ([1], 'possessions[0]: expected an object such as {"type": …, "possessor": …, …}, found 1'),
        ({}, "possessions: expected a list, found an object"),
    ):
        own.write_text(
            json_lines.dump([{"article": "A Vase", "possessions": possessions_given}]), "utf-8"
        )
        with pytest.raises(FormatError) as caught:
            read_own_gold(CORPUS, own)
        assert f"{own}:1: article 'A Vase': {problem}" in str(caught.value)


def test_a_padded_title():
    record = {**make_record(), "article": " A"}
    problem = "article ' A' has leading or trailing whitespace (expected none)"
    assert list(find_inconsistencies([record])) == [(0, problem)]


@for_each(
    ("changes", "problem"),
    [
        ({"type": "GPE"}, "possessions[0].type: 'GPE' is not one of 'PER', 'ORG', 'LOC'"),
        ({"order": 6.1}, 'possessions[0].order: 6.1 is a number (expected text: "6.1" in quotes'),
        ({"order": "6."}, "possessions[0].order: '6.' is not valid (expected positive integers "),
        (
            {"order": "6\n"},
            "possessions[0].order: '6\\n' is not valid (expected positive integers ",
        ),
        (
            {"possessor": "An\nn"},
            "possessions[0]: possessor 'An\\nn' contains the control character U+000A",
        ),
        ({"possessor": "An\0n"}, "the string 'An\\x00n' contains the control character U+0000"),
        (
            {"relation": "since"},
            "possessions[0].relation: 'since' is not valid (expected before, during or after)",
        ),
        (
            {"certainty": None},
            "possessions[0].certainty: null is not one of 'certain', 'uncertain'",
        ),
        ({"possessor": ""}, "possessions[0].possessor: is empty"),
    ],
)
def test_the_schema_of_gold(file, changes, problem):
    own = file.with_suffix(".jsonl")
    own.write_text(json_lines.dump([make_record(**changes)]), "utf-8")
    with pytest.raises(FormatError) as caught:
        read_own_gold(CORPUS, own)
    named = (
        f"article {make_record()['article']!r}: " if problem.startswith("possessions[0].") else ""
    )
    assert str(caught.value).startswith(f"{own}:1: {named}{problem}")


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
