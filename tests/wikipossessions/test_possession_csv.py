"""The released format: what is read, the error messages, and round trips."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.for_each import for_each
from shared.possession_records import HEADER, ROW, make_record, read_released

from closeread.corpus.gold import read_file, read_gold
from closeread.corpus.names import load_corpus
from closeread.exceptions import FormatError
from closeread.files import write_text
from closeread.tasks.wikipossessions.possession_csv import dump_records
from closeread.tasks.wikipossessions.rules import derive_anchor

CORPUS = load_corpus("wikipossessions")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A file to write and read again and again."""
    return tmp_path_factory.mktemp("possessions") / "annotations.csv"


def possessions(file, *rows):
    records, _, problems = read_released(file, *rows)
    assert problems == []
    return [possession for record in records for possession in record["possessions"]]


def test_a_row(file):
    records, lines, problems = read_released(file, "A Vase # GPE # Old Town # PUC #6.1# 1888-Now # Aft # UC ")
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
        (ROW, {"type": "PER", "certainty": "certain", "relation": "during", "relation_certainty": "certain"}),
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
        (ROW.replace("1888#Dur#C", "Unknown##"), {"anchor": "Unknown", "anchor_kind": "unknown", "relation": None}),
        (ROW.replace("1888#Dur#C", "Unknown # Dur # C"), {"anchor": "Unknown", "relation": "during"}),
        (ROW.replace("1888#Dur#C", " # # "), {"anchor": None, "anchor_kind": "unknown", "relation_certainty": None}),
    ],
)
def test_cells(file, row, found):
    (possession,) = possessions(file, row)
    assert {name: possession[name] for name in found} == found


def test_rows_of_an_article_need_not_be_adjacent(file):
    rows = [ROW.replace("Ann", "A"), ROW.replace("A Vase", "B"), ROW.replace("Ann", "C").replace("#1#", "#2#")]
    records, lines, problems = read_released(file, *rows)
    assert problems == []
    assert [(record["article"], len(record["possessions"])) for record in records] == [("A Vase", 2), ("B", 1)]
    assert lines == [2, 3]


def test_repeated_possessors_are_kept(file):
    assert len(possessions(file, ROW, ROW.replace("#1#", "#2#"), ROW)) == 3


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
        (ROW.replace("Dur#C", "Dur#"), ["TP is 'Dur' but Dur_c is empty (expected both or neither)"]),
        (ROW.replace("1888", " "), ["TP is 'Dur' but Duration is empty (expected a time, or no TP)"]),
        (ROW.replace("Dur#C", "#C"), ["Dur_c is 'C' but TP is empty (expected both or neither)"]),
        *(
            (
                ROW.replace("#1#", f"#{order}#"),
                [f"order is '{order}' (expected a number such as 6, or 6.1 for a possession within possession 6)"],
            )
            for order in ("", "6.", ".1", "6,1", "-1", "0", "01", "1.0", "first", "6..1", "٦", "1" * 7)
        ),
        (ROW.replace("Ann", "An\x1bn"), ["Possessor 'An\\x1bn' contains the control character U+001B"]),
        (
            ROW.replace("PER", "X").replace("#1#", "#x#").replace("Ann", ""),
            [
                "Possessor is empty (expected a name)",
                "Type is 'X' (expected PER or ORG or GPE)",
                "order is 'x' (expected a number such as 6, or 6.1 for a possession within possession 6)",
            ],
        ),
    ],
)
def test_broken_rows(file, row, problems):
    records, lines, found = read_released(file, ROW, row, ROW.replace("A Vase", "B"))
    where = "article 'A Vase': " if row.startswith("A Vase") else ""
    assert [(problem.line, problem.message) for problem in found] == [(3, where + what) for what in problems]
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


def test_all_problems_are_reported_at_once(file):
    file.write_text("\n".join(("Title" + HEADER, ROW, ROW + "#", ROW.replace("#1#", "#?#"))), "utf-8")
    with pytest.raises(FormatError) as caught:
        read_file(CORPUS, file, "test")
    assert [problem.line for problem in caught.value.problems] == [1, 3, 4]


CELL = (
    st.text(st.sampled_from("ab,.\"'\xa0 é’\u202e") | st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)
    .map(lambda text: text.replace("#", "").strip())
    .filter(bool)
)
ANCHOR = st.sampled_from(["Unknown", "1888", "1888-Now", "Unknown-1930", "1900-1888", "44 BC", "the Flood"]) | CELL
RELATION = st.tuples(st.sampled_from(["before", "during", "after"]), st.sampled_from(["certain", "uncertain"]))
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
    st.fixed_dictionaries({"article": CELL, "possessions": st.lists(possession_records(), min_size=1, max_size=4)}),
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


@for_each("changes", [{"possessor": "A#B"}, {"possessor": "A\nB"}, {"possessor": " A"}, {"anchor": "a#b"}])
def test_cells_that_the_format_can_not_represent(changes):
    with pytest.raises(ValueError, match=r"^'A Vase': this format can't represent the cell "):
        dump_records([make_record(**changes)])


def test_an_article_without_possessions_can_not_be_written():
    with pytest.raises(ValueError, match=r"^'A Vase': has no possessions, which this format can't represent$"):
        dump_records([{**make_record(), "possessions": []}])


def test_padding_is_as_in_the_release(corpora):
    path = corpora / "wikipossessions" / "annotations.csv"
    released = path.read_text("utf-8").split("\n")
    written = dump_records(read_gold(CORPUS).records).split("\n")
    differing = [(a, b) for a, b in zip(released, written, strict=True) if a != b]
    # One cell of the release has an extra space.
    assert len(differing) == 1
    assert all(re.sub(" +", " ", a) == b for a, b in differing)
