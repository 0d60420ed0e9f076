"""The reader of the released file: what it keeps, what it refuses and in which words, and that it writes the same."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from closeread.corpora.gold import load_corpus, read_file, read_gold, read_own_gold
from closeread.errors import FormatError
from closeread.files import write_text
from closeread.formats.json_lines import dump_json_lines
from closeread.tasks.wikipossessions import possession_csv
from closeread.tasks.wikipossessions.possession_csv import HEADER, dump_records, read_records
from closeread.tasks.wikipossessions.rules import derive_anchor, find_inconsistencies, find_odd_rows, find_oddities

CORPUS = load_corpus("wikipossessions")
TOP = "#".join(HEADER)
GOOD = "A Vase#PER#Ann#PC#1#1888#Dur#C"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A file to write and read again and again."""
    return tmp_path_factory.mktemp("possessions") / "annotations.csv"


def read(file, *rows, header=TOP):
    file.write_text("\n".join((header, *rows)) + "\n", "utf-8", newline="")
    return read_records(file, "test")


def possessions(file, *rows):
    records, _, problems = read(file, *rows)
    assert problems == []
    return [possession for record in records for possession in record["possessions"]]


def test_a_row(file):
    records, lines, problems = read(file, "A Vase # GPE # Old Town # PUC #6.1# 1888-Now # Aft # UC ")
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
        (GOOD, {"type": "PER", "certainty": "certain", "relation": "during", "relation_certainty": "certain"}),
        (GOOD.replace("PER", "ORG"), {"type": "ORG"}),
        (GOOD.replace("Dur", "Bef"), {"relation": "before"}),
        (GOOD.replace("#Ann#", "#\xa0 Ann\xa0\u2003\t#"), {"possessor": "Ann"}),
        (GOOD.replace("#Ann#", "#Ann\xa0III#"), {"possessor": "Ann\xa0III"}),
        (GOOD.replace("#Ann#", "# Ann, #"), {"possessor": "Ann,"}),
        (GOOD.replace("#Ann#", '#"Old" Ann #'), {"possessor": '"Old" Ann'}),
        (GOOD.replace("#Ann#", "#Ann  Lee#"), {"possessor": "Ann  Lee"}),
        (GOOD.replace("#1#", "# 15.10\xa0#"), {"order": "15.10"}),
        (GOOD.replace("#1#", "#6.1.2#"), {"order": "6.1.2"}),
        (GOOD.replace("1888", " 16th Century "), {"anchor": "16th Century", "anchor_kind": "event"}),
        (GOOD.replace("1888", "1900-1888"), {"anchor": "1900-1888", "lower": 1888, "upper": 1900}),
        (GOOD.replace("1888#Dur#C", "Unknown##"), {"anchor": "Unknown", "anchor_kind": "unknown", "relation": None}),
        (GOOD.replace("1888#Dur#C", "Unknown # Dur # C"), {"anchor": "Unknown", "relation": "during"}),
        (GOOD.replace("1888#Dur#C", " # # "), {"anchor": None, "anchor_kind": "unknown", "relation_certainty": None}),
    ],
)
def test_cells(file, row, found):
    (possession,) = possessions(file, row)
    assert {name: possession[name] for name in found} == found


def test_rows_of_an_article_need_not_stand_together(file):
    rows = [GOOD.replace("Ann", "A"), GOOD.replace("A Vase", "B"), GOOD.replace("Ann", "C").replace("#1#", "#2#")]
    records, lines, problems = read(file, *rows)
    assert problems == []
    assert [(record["article"], len(record["possessions"])) for record in records] == [("A Vase", 2), ("B", 1)]
    assert lines == [2, 3]


def test_repeated_possessors_stay(file):
    assert len(possessions(file, GOOD, GOOD.replace("#1#", "#2#"), GOOD)) == 3


NEEDED = f"needed: 8 ({TOP})"


@pytest.mark.parametrize(
    ("row", "problems"),
    [
        ("", [f"the number of cells is 1; {NEEDED}"]),
        (GOOD + "#", [f"the number of cells is 9; {NEEDED}"]),
        (GOOD.removesuffix("#C"), [f"the number of cells is 7; {NEEDED}"]),
        (GOOD.replace("A Vase", " "), ["Article is empty; needed: a name"]),
        (GOOD.replace("Ann", "\xa0"), ["Possessor is empty; needed: a name"]),
        (GOOD.replace("PER", "LOC"), ["Type is 'LOC'; needed: PER or ORG or GPE"]),
        (GOOD.replace("PER", ""), ["Type is ''; needed: PER or ORG or GPE"]),
        (GOOD.replace("PC", "C"), ["psr_c is 'C'; needed: PC or PUC"]),
        (GOOD.replace("Dur", "During"), ["TP is 'During'; needed: Bef, Dur, Aft or nothing"]),
        (GOOD.replace("Dur#C", "Dur#c"), ["Dur_c is 'c'; needed: C, UC or nothing"]),
        (GOOD.replace("Dur#C", "Dur#"), ["TP is 'Dur' and Dur_c is empty; needed: both or neither"]),
        (GOOD.replace("1888", " "), ["TP is 'Dur' and Duration is empty; needed: a time, or no TP"]),
        (GOOD.replace("Dur#C", "#C"), ["Dur_c is 'C' and TP is empty; needed: both or neither"]),
        *(
            (
                GOOD.replace("#1#", f"#{order}#"),
                [f"order is '{order}'; needed: a number such as 6, or 6.1 for a possession inside possession 6"],
            )
            for order in ("", "6.", ".1", "6,1", "-1", "0", "01", "1.0", "first", "6..1", "٦", "1" * 7)
        ),
        (GOOD.replace("Ann", "An\x1bn"), ["Possessor 'An\\x1bn' holds the control character U+001B"]),
        (
            GOOD.replace("PER", "X").replace("#1#", "#x#").replace("Ann", ""),
            [
                "Possessor is empty; needed: a name",
                "Type is 'X'; needed: PER or ORG or GPE",
                "order is 'x'; needed: a number such as 6, or 6.1 for a possession inside possession 6",
            ],
        ),
    ],
)
def test_broken_rows(file, row, problems):
    records, lines, found = read(file, GOOD, row, GOOD.replace("A Vase", "B"))
    where = "article 'A Vase': " if row.startswith("A Vase") else ""
    assert [(problem.line, problem.what) for problem in found] == [(3, where + what) for what in problems]
    assert [record["article"] for record in records] == ["A Vase", "B"]
    assert lines == [2, 4]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"{GOOD}\n", f"1: the header is '{GOOD}'; needed: {TOP}"),
        (f"{TOP.lower()}\n{GOOD}\n", f"1: the header is '{TOP.lower()}'; needed: {TOP}"),
        ("a,b\n1,2\n", f"1: the header is 'a,b'; needed: {TOP}"),
        (f"{TOP}\n", "1: there is no row after the header; needed: one for every possession"),
        (f"{TOP}\n{GOOD}\n\n", f"3: the number of cells is 1; {NEEDED}"),
    ],
)
def test_broken_files(file, content, message):
    file.write_text(content, "utf-8")
    with pytest.raises(FormatError) as caught:
        read_file(CORPUS, file, "test")
    # A file whose only row is taken for the header has no other: a second problem.
    assert f"{file}:{message}" in str(caught.value).splitlines()


def test_all_problems_come_at_once(file):
    file.write_text("\n".join(("Title" + TOP, GOOD, GOOD + "#", GOOD.replace("#1#", "#?#"))), "utf-8")
    with pytest.raises(FormatError) as caught:
        read_file(CORPUS, file, "test")
    assert [problem.line for problem in caught.value.problems] == [1, 3, 4]


def sample_record(**changes):
    possession = {
        "type": "PER",
        "possessor": "Ann",
        "certainty": "certain",
        "order": "1",
        "anchor": "1530-1545",
        "anchor_kind": "years",
        "lower": 1530,
        "upper": 1545,
        "open_start": False,
        "open_end": False,
        "relation": "during",
        "relation_certainty": "certain",
    }
    return {"article": "A Vase", "possessions": [{**possession, **changes}], "text": None}


NONE = {"anchor": None, "anchor_kind": "unknown", "lower": None, "upper": None}
NONE |= {"relation": None, "relation_certainty": None}
NONE_GIVEN = {"anchor": None, "relation": None, "relation_certainty": None}


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({}, []),
        (NONE, []),
        ({"lower": 1545, "upper": 1530}, [
            "lower is 1545; needed: 1530, as anchor '1530-1545' says",
            "upper is 1530; needed: 1545, as anchor '1530-1545' says",
        ]),
        ({"upper": None, "open_end": True}, [
            "upper is null; needed: 1545, as anchor '1530-1545' says",
            "open_end is true; needed: false, as anchor '1530-1545' says",
        ]),
        ({**NONE, "anchor_kind": "event"}, ["anchor_kind is 'event'; needed: 'unknown', as anchor null says"]),
        (
            {**NONE, "relation": "after", "relation_certainty": "certain"},
            ["relation is 'after' and anchor null; needed: an anchor, or no relation"],
        ),
        ({"relation": None}, ["relation is null and relation_certainty 'certain'; needed: both or neither"]),
        ({"relation_certainty": None}, ["relation is 'during' and relation_certainty null; needed: both or neither"]),
        ({"possessor": "Ann "}, ["possessor 'Ann ' is padded with white space; needed: the bare text"]),
        ({"anchor": " 1530-1545"}, ["anchor ' 1530-1545' is padded with white space; needed: the bare text"]),
    ],
)  # fmt: skip
def test_inconsistencies(file, changes, problems):
    records = [sample_record(), {**sample_record(**changes), "article": "B"}]
    assert list(find_inconsistencies(records)) == [(1, f"possessions[0]: {what}") for what in problems]
    own = file.with_suffix(".jsonl")
    own.write_text(dump_json_lines(records), "utf-8")
    if not problems:
        assert read_own_gold(CORPUS, own).records == records
    else:
        with pytest.raises(FormatError, match=re.escape(f"{own}:2: possessions[0]: {problems[0]}")):
            read_own_gold(CORPUS, own)


def test_references_may_leave_out_what_the_anchor_says():
    (possession,) = sample_record()["possessions"]
    bare = {name: value for name, value in possession.items() if name not in possession_csv.DERIVED}
    for one in (bare, {**bare, **dict.fromkeys(possession_csv.DERIVED)}, {**bare, "lower": 1530}):
        assert list(find_inconsistencies([{"article": "A", "possessions": [one]}])) == []
    found = list(find_inconsistencies([{"article": "A", "possessions": [{**bare, "lower": 1531}]}]))
    assert found == [(0, "possessions[0]: lower is 1531; needed: 1530, as anchor '1530-1545' says")]


def test_json_lines_may_leave_out_what_the_anchor_says(file):
    (whole,) = sample_record()["possessions"]
    bare = {name: value for name, value in whole.items() if name not in possession_csv.DERIVED}
    own = file.with_suffix(".jsonl")
    for one in (bare, {**bare, **dict.fromkeys(possession_csv.DERIVED)}):
        own.write_text(dump_json_lines([{"article": "A Vase", "possessions": [one, {**one, **NONE_GIVEN}]}]), "utf-8")
        (record,) = read_own_gold(CORPUS, own).records
        assert record["possessions"] == [whole, {**whole, **NONE}]


def test_json_lines_that_leave_out_a_part_or_are_no_records(file):
    (whole,) = sample_record()["possessions"]
    bare = {name: value for name, value in whole.items() if name not in possession_csv.DERIVED}
    own = file.with_suffix(".jsonl")
    for possessions_given, problem in (
        ([{**bare, "lower": 1530}], "possessions[0]: 'anchor_kind' is a required property"),
        ([{**bare, "anchor": 1530}], "possessions[0].anchor: 1530 is not of type 'string', 'null'"),
        ([1], "possessions[0]: 1 is not of type 'object'"),
        ({}, "possessions: {} is not of type 'array'"),
    ):
        own.write_text(dump_json_lines([{"article": "A Vase", "possessions": possessions_given}]), "utf-8")
        with pytest.raises(FormatError) as caught:
            read_own_gold(CORPUS, own)
        assert f"{own}:1: article 'A Vase': {problem}" in str(caught.value)


def test_a_padded_title():
    record = {**sample_record(), "article": " A"}
    needed = "article ' A' is padded with white space; needed: the bare title"
    assert list(find_inconsistencies([record])) == [(0, needed)]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"type": "GPE"}, "possessions[0].type: 'GPE' is not one of ['PER', 'ORG', 'LOC']"),
        ({"order": 6.1}, "possessions[0].order: 6.1 is not of type 'string'"),
        ({"order": "6."}, "possessions[0].order: '6.' is of another form; needed: whole numbers from 1 "),
        ({"order": "6\n"}, "the text '6\\n' holds the control character U+000A"),
        ({"relation": "since"}, "possessions[0].relation: 'since' is of another form; needed: before, during or after"),
        ({"certainty": None}, "possessions[0].certainty: None is not one of ['certain', 'uncertain']"),
        ({"possessor": ""}, "possessions[0].possessor: '' should be non-empty"),
    ],
)
def test_the_schema_of_gold(file, changes, problem):
    own = file.with_suffix(".jsonl")
    own.write_text(dump_json_lines([sample_record(**changes)]), "utf-8")
    with pytest.raises(FormatError) as caught:
        read_own_gold(CORPUS, own)
    named = f"article {sample_record()['article']!r}: " if problem.startswith("possessions") else ""
    assert str(caught.value).startswith(f"{own}:1: {named}{problem}")


def test_notices(file):
    records, _, _ = read(file, GOOD)
    assert list(find_oddities(records)) == []
    loose = GOOD.replace("1888", "Unknown")
    records, _, _ = read(file, GOOD.replace("1888", "1900-1888"), loose, loose.replace("A Vase", "B"))
    assert list(find_oddities(records)) == [
        "1 possession has an anchor with the later side first, which is read the other way round "
        "(the first: '1900-1888' in 'A Vase').",
        "2 possessions have a relation to an unknown anchor (the first in 'A Vase').",
    ]


def test_odd_rows():
    def said(anchor, relation="during"):
        return {"possessor": "Ann", "anchor": anchor, "relation": relation}

    rows = [
        {"article": "A", "possessions": [said("1888"), said("Unknown", None), said(None, None)]},
        {"article": "B", "possessions": [said("1888"), said("1920-31"), said("Now-1888")]},
        {"article": "C", "possessions": [said("44-50 BC"), said("Unknown"), said("unknown")]},
    ]
    turned = "an anchor with the later side first, which is read the other way round"
    assert list(find_odd_rows(rows, [])) == [
        (1, f"article 'B': 2 possessions have {turned} (the first: possessions[1] ('Ann'), '1920-31')"),
        (2, f"article 'C': 1 possession has {turned} (the first: possessions[0] ('Ann'), '44-50 BC')"),
        (
            2,
            "article 'C': 2 possessions have a relation to an unknown anchor, which is kept "
            "(the first: possessions[1] ('Ann'), 'Unknown')",
        ),
    ]


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
    """A possession as a record holds it."""
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


PIECES = st.sampled_from(
    [b"#", b"##", b"\n", b"\r", b"\xc2\xa0", b"GPE", b"Unknown", b"-", b".", b"BC", b"\xff", b"\0", b"\x1b", b'"']
)


def check_message(error):
    """It says something and is fit for a terminal."""
    assert error.problems
    assert str(error).replace("\n", "").isprintable()


@given(data=st.data())
@settings(max_examples=150)
def test_any_file_is_read_or_refused(file, data):
    whole = bytearray("\n".join((TOP, GOOD, "A Vase # GPE # Old Town # PUC #6.1# 1888-Now # Aft # UC ")).encode())
    for _ in range(data.draw(st.integers(1, 5))):
        start = data.draw(st.integers(0, len(whole)))
        end = data.draw(st.integers(start, min(len(whole), start + 5)))
        whole[start:end] = data.draw(PIECES | st.binary(max_size=4))
    file.write_bytes(whole)
    try:
        records = read_file(CORPUS, file, "test")
    except FormatError as error:
        check_message(error)
        return
    assert records
    write_text(file, dump_records(records))
    assert read_file(CORPUS, file, "test") == records


@example(title="..")
@example(title="a/../b")
@given(title=st.sampled_from(["", ".", "..", "../secret", "/secret", "a/b", "a\\b", "~", "x" * 5000]) | CELL)
@settings(max_examples=30)
def test_titles_lead_nowhere_else(tmp_path_factory, title):
    folder = tmp_path_factory.mktemp("titles")
    (folder / "articles").mkdir()
    for place in (folder / "secret.txt", folder / "..txt", folder / ".txt"):
        place.write_text("Secret.", "utf-8")
    assert possession_csv.article_texts(folder / "articles", [title]) == ({}, [])


def write_articles(file, texts):
    folder = file.parent / "articles"
    folder.mkdir(exist_ok=True)
    for name, content in texts.items():
        (folder / f"{name}.txt").write_bytes(content)
    return folder


def test_texts(tmp_path):
    file = tmp_path / "annotations.csv"
    write_articles(file, {"Cafe\u0301": b"\xef\xbb\xbfIt is\r\nold.\n", "Other": b"x"})
    records, _, problems = read(file, GOOD.replace("A Vase", "Caf\xe9"), GOOD, GOOD.replace("A Vase", "AC/DC"))
    assert problems == []
    assert [record["text"] for record in records] == ["It is\nold.\n", None, None]


def test_texts_that_can_not_be_read(tmp_path):
    file = tmp_path / "annotations.csv"
    folder = write_articles(file, {"A": b"ab\xff", "B": b"a\x1bb", "C": b""})
    (folder / "D.txt").mkdir()
    _, _, problems = read(file, *(GOOD.replace("A Vase", name) for name in "ABCDE"))
    assert [(problem.line, problem.what) for problem in problems] == [
        (2, f"{folder}/A.txt: byte 3 is not UTF-8; needed: UTF-8 text"),
        (3, f"{folder}/B.txt: holds the control character U+001B"),
        (4, f"{folder}/C.txt: is empty"),
        (5, f"{folder}/D.txt: is a directory; needed: a file"),
    ]


@pytest.mark.parametrize(
    "changes",
    [{"possessor": "A#B"}, {"possessor": "A\nB"}, {"possessor": " A"}, {"anchor": "a#b"}],
)
def test_what_can_not_be_read_is_not_written(changes):
    with pytest.raises(ValueError, match=r"^'A Vase': this format can't express the cell "):
        dump_records([sample_record(**changes)])


def test_an_article_without_possessions_is_not_written():
    with pytest.raises(ValueError, match=r"^'A Vase': there is no possession, which this format can't express$"):
        dump_records([{**sample_record(), "possessions": []}])


def test_it_is_padded_as_the_release(corpora):
    path = corpora / "wikipossessions" / "annotations.csv"
    released = path.read_text("utf-8").split("\n")
    written = dump_records(read_gold(CORPUS).records).split("\n")
    differing = [(a, b) for a, b in zip(released, written, strict=True) if a != b]
    # One cell has a blank too many.
    assert len(differing) == 1
    assert all(re.sub(" +", " ", a) == b for a, b in differing)
