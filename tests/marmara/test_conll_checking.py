"""CoNLL files that are checked against the treebank: every kind of disagreement, by line."""

import re

import pytest
from shared.error_messages import check_message
from shared.marmara_sample import SAMPLE, treebank_files
from shared.marmara_xml import SENTENCES, put, write_treebank

from closeread.exceptions import FormatError
from closeread.tasks.marmara.conll import read_checked
from closeread.tasks.marmara.treebank import read_treebank

TREEBANK = read_treebank(treebank_files())
GOOD = (SAMPLE / "annotations" / "77000112" / "anna.conll").read_text("utf-8")
"""The first sentence is on lines 2 to 8, the last on lines 70 to 86."""


@pytest.fixture
def check(here):
    """Reads a CoNLL file and returns its problems."""

    def read(text):
        (here / "a.conll").write_text(text, "utf-8")
        with pytest.raises(FormatError) as caught:
            read_checked(here / "a.conll", TREEBANK)
        check_message(caught.value)
        return [f"{problem.line}: {problem.text}" for problem in caught.value.problems]

    return read


def change_lines(**lines):
    """The good file with other lines: `l3="…"`, or None to leave a line out."""
    found = GOOD.split("\n")
    for name, text in lines.items():
        found[int(name[1:]) - 1] = text
    return "\n".join(line for line in found if line is not None)


def test_a_good_file_is_a_record(tmp_path):
    (tmp_path / "a.conll").write_text(GOOD, "utf-8")
    ((record,), _) = read_checked(tmp_path / "a.conll", TREEBANK)
    assert (record["document"], record["n_tokens"]) == ("77000112", 78)
    assert record["sentences"] == TREEBANK.documents["77000112"]
    first = {"id": "0", "sentence": "77000112003.1", "from": 1, "to": 1, "start": 0, "end": 0}
    last = {"id": "19", "sentence": "77000112007.4", "from": 12, "to": 12, "start": 72, "end": 72}
    assert (record["mentions"][0], record["mentions"][-1], len(record["mentions"])) == (
        first,
        last,
        20,
    )
    assert record["clusters"][0] == [[0, 0], [42, 42]]  # Kıyıkent_Müzesi and Müze
    # buraya, which should be the museum
    assert record["clusters"][3] == [[8, 8], [28, 29], [33, 33], [64, 64]]


def test_sentences_may_have_more_columns(tmp_path):
    """As where annotators have added a column to some sentences; the first three columns stay."""
    first, *others = GOOD.split("\n\n")
    wider = [re.sub(r"\t(?=[^\t\n]*$)", "\tnote\t", text, flags=re.M) for text in others]
    texts = {"a": GOOD, "b": "\n\n".join([first, *wider[:2], *others[2:]])}
    assert "\tnote\t" in texts["b"]
    records = {}
    for name, text in texts.items():
        (tmp_path / f"{name}.conll").write_text(text, "utf-8")
        records[name] = read_checked(tmp_path / f"{name}.conll", TREEBANK)
    assert records["a"] == records["b"]


WORDS = "77000112003.1"
END = "77000112007.4"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            {"l3": f"{WORDS}\t2\tgelen\t-"},
            f"3: word 2 of sentence '{WORDS}' is 'gelen' (expected 'geçen', as in the treebank)",
        ),
        (
            {"l3": f"{WORDS}\t02\tgeçen\t-"},
            f"3: sentence '{WORDS}' has no word '02' in the treebank",
        ),
        ({"l3": None}, f"3: word 2 of sentence '{WORDS}' has no row (expected before this row)"),
        (
            {"l8": None, "l10": None},
            f"9: word 7 of sentence '{WORDS}' and 1 word after it have no row (expected before this row)",
        ),
        ({"l86": None}, f"85: word 17 of sentence '{END}' has no row (expected after this row)"),
        (
            {"l3": f"{WORDS}\t1\tKıyıkent_Müzesi\t-"},
            f"3: word 1 of sentence '{WORDS}' comes too late (expected the order of the treebank, each word once)",
        ),
        ({"l9": f"{WORDS}\t8\t!\t-\n"}, f"9: sentence '{WORDS}' has no word '8' in the treebank"),
        (
            {"l9": "77000112003.9\t1\tEvet\t-\n77000112003.9\t2\t.\t-\n"},
            "9: the treebank has no sentence '77000112003.9' (2 rows)",
        ),
        (
            {"l9": "770002089.1\t1\tSabah\t-\n"},
            "9: sentence '770002089.1' is in document '77000208', but earlier rows are in '77000112' (1 row)",
        ),
        (
            {"l8": f"{WORDS}\t7\t.\t(99", "l10": "77000112003.2\t1\tSergide\t99)|(2)"},
            f"10: the mention of chain '99' that begins on line 8 is over two sentences, '{WORDS}' and '77000112003.2' "
            "(expected one)",
        ),
        (
            {"l2": f"{WORDS}\t1\tKıyıkent_Müzesi\t(1)|(9)"},
            "2: the mention of chain '9' that begins on line 2 is already in chain '1' (expected one chain)",
        ),
        (
            {"l5": f"{WORDS}\t4\tilk\t(2|(2)"},
            "5: the mention that begins on line 5 overlaps another of its chain, on lines 5 to 6",
        ),
        ({"l6": f"{WORDS}\t5\tsergisini\t-"}, "5: column 4: entity 2 opens but never closes"),
    ],
)
def test_disagreement(check, lines, expected):
    assert expected in check(change_lines(**lines))


def test_all_problems_are_reported_at_once_in_the_order_of_the_file(check):
    lines = {"l3": "77000112003.1\t2\tgelen\t-", "l13": None, "l86": "77000112007.4\t99\t.\t-"}
    found = [problem.partition(":")[0] for problem in check(change_lines(**lines))]
    assert found == ["3", "13", "84", "85"]  # two lines are one higher now that line 13 is gone


def test_columns_and_rows_are_needed(check):
    expected = "(expected sentence number, word number, form and mentions)"
    too_few = "#begin document (a);\n1\tKar\t-\n#end document\n"
    assert check(too_few) == [f"None: document 'a' has too few columns {expected}"]
    no_rows = "#begin document (a);\n#end document\n"
    assert check(no_rows + GOOD) == [f"None: document 'a' has no rows {expected}"]


def test_a_document_twice(check):
    second = GOOD.replace("(77000112)", "(b)")
    first_line = len(GOOD.split("\n")) + 1
    assert check(GOOD + second)[0].startswith(
        f"{first_line}: documents '77000112' and 'b' have words of the same sentences"
    )


def split_good(line):
    """The good file as two documents, the second from this line on."""
    lines = GOOD.split("\n")
    return "\n".join(
        [*lines[: line - 1], "#end document", "#begin document (second);", *lines[line - 1 :]]
    )


def test_two_documents_may_be_parts_of_one(tmp_path):
    # Chains over both parts are two now, and those of one mention are no chains any more.
    (tmp_path / "a.conll").write_text(split_good(38), "utf-8")
    (one, other), _ = read_checked(tmp_path / "a.conll", TREEBANK)
    assert (one["document"], other["document"]) == ("77000112", "77000112_2")
    assert one["sentences"] + other["sentences"] == TREEBANK.documents["77000112"]
    assert [one["n_tokens"], other["n_tokens"]] == [32, 46]
    assert other["mentions"][0]["start"] == 1  # Burayı, after a quotation mark
    assert all(len(cluster) > 1 for record in (one, other) for cluster in record["clusters"])


@pytest.mark.parametrize(
    ("begin", "expected"),
    [
        ("(77000112)", []),
        ("77000112", []),
        ("(77000112); part 000", []),
        ("", []),  # a document without a name has none to lose
        ("(anna)", ["2: document 'anna' is now '77000112', as in the treebank"]),
        (
            "(anna); part 003",
            ["2: document 'anna; part 003' is now '77000112', as in the treebank"],
        ),
        ("(77000112_2)", ["2: document '77000112_2' is now '77000112', as in the treebank"]),
    ],
)
def test_other_names_than_in_the_treebank(tmp_path, begin, expected):
    (tmp_path / "a.conll").write_text(GOOD.replace("(77000112);", begin, 1), "utf-8")
    documents, notices = read_checked(tmp_path / "a.conll", TREEBANK)
    assert [record["document"] for record in documents] == ["77000112"]
    assert [f"{notice.line}: {notice.message}" for notice in notices] == expected


@pytest.mark.parametrize(
    ("second", "expected"),
    [("77000112_2", []), ("second", ["document 'second' is now '77000112_2', as in the treebank"])],
)
def test_names_of_parts(tmp_path, second, expected):
    (tmp_path / "a.conll").write_text(split_good(38).replace("second", second), "utf-8")
    assert [
        notice.message for notice in read_checked(tmp_path / "a.conll", TREEBANK)[1]
    ] == expected


def test_a_document_is_numbered_whichever_others_of_its_id_are_there(tmp_path):
    numbers = ("77000112003.1", "77000112009.1", "77000112010.1")
    files = zip(("a.xml", "b.xml", "c.xml"), numbers, strict=True)
    texts = {name: write_treebank({number: SENTENCES["77000112003.1"]}) for name, number in files}
    treebank = read_treebank(put(tmp_path, texts))
    assert list(treebank.documents) == ["77000112", "77000112_2", "77000112_3"]
    tokens = treebank.documents["77000112"][0]["tokens"]
    rows = "".join(
        f"77000112009.1\t{ix}\t{token['form']}\t-\n" for ix, token in enumerate(tokens, 1)
    )
    (tmp_path / "a.conll").write_text(
        f"#begin document (77000112_2);\n{rows}#end document\n", "utf-8"
    )
    documents, notices = read_checked(tmp_path / "a.conll", treebank)
    assert ([record["document"] for record in documents], notices) == (["77000112_2"], [])


def test_a_document_must_not_end_inside_a_sentence(check):
    assert check(split_good(42)) == [
        "44: documents '77000112' and 'second' have words of the same sentences (expected all words of a sentence in "
        "one document)"
    ]


def test_a_mention_that_stands_twice_is_one_problem(check):
    found = check(change_lines(l2=f"{WORDS}\t1\tKıyıkent_Müzesi\t(1)|(1)"))
    assert found == [
        "2: the mention of chain '1' that begins on line 2 is already in chain '1' (expected one chain)"
    ]
