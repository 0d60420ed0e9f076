"""ARRAU's columns: what is read, and what is refused."""

import pytest
from shared.coreference import report_files

from closeread.exceptions import FormatError, RequestError
from closeread.tasks.coref.files import read_documents
from closeread.tasks.coref.formats.arrau import read_records

FERRY = """TOKEN MARKABLE MIN COREF
the B-markable_1=set_1 word_2 referring
ferry I-markable_1=set_1 word_2 referring
to I-markable_1=set_1 word_2 referring
the I-markable_1=set_1@B-markable_2=set_2 word_2@word_4..word_5 referring@referring
island I-markable_1=set_1@I-markable_2=set_2 word_2@word_4..word_5 referring@referring
sank
it B-markable_3=set_3 word_7 non_referring
rained
there B-markable_4=set_2 referring
"""


def write(folder, text, name="ferry.CONLL"):
    path = folder / name
    path.write_text(text.replace(" ", "\t"), "utf-8")
    return path


def test_a_file(tmp_path):
    documents = read_documents(write(tmp_path, FERRY))
    assert list(documents) == [{"document": "ferry", "clusters": [[[0, 4]], [[3, 4], [8, 8]]]}]
    (document,) = documents.documents
    assert [mention.minimum for mention in document.mentions] == [(1,), (3, 4), ()]
    assert [entity.label for entity in document.entities] == ["1", "2"]
    assert document.n_tokens == 9
    assert " ".join(document.words.read()) == "the ferry to the island sank it rained there"
    assert document.line_of(2) == 4
    assert documents.notices == [
        f"{tmp_path / 'ferry.CONLL'}: 1 non-referring markable of 4 not scored"
    ]


def test_files_without_header_minimum_spans_or_kinds(tmp_path):
    documents = read_documents(
        write(tmp_path, "tea B-markable_1=set_1\nis\nhot B-markable_2=set_1 referring\n")
    )
    assert list(documents) == [{"document": "ferry", "clusters": [[[0, 0], [2, 2]]]}]
    assert not any(mention.minimum for mention in documents.documents[0].mentions)
    assert not documents.notices


def test_a_minimum_span_outside_its_markable_is_ignored(tmp_path):
    path = write(tmp_path, "tea B-markable_1=set_1 word_1..word_2 referring\nis\n")
    documents = read_documents(path)
    assert not any(mention.minimum for mention in documents.documents[0].mentions)
    assert documents.notices == [
        f"{path}: 1 minimum span ignored: not inside the markable (first: line 1)"
    ]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (
            "a x",
            "1: column 2: 'x' is not a markable (expected B-markable_ID=set_ID or I-markable_ID=set_ID, several ",
        ),
        (
            "a I-markable_1=set_1",
            "1: column 2: markable 1 has not begun (expected B-markable_1 before it)",
        ),
        (
            "a B-markable_1=set_1\nb B-markable_1=set_1",
            "2: column 2: markable 1 begins again (first on line 1)",
        ),
        (
            "a B-markable_1=set_1\nb I-markable_1=set_2",
            "2: column 2: markable 1 is in set_2, but in set_1 on line 1",
        ),
        (
            "a B-markable_1=set_1 word_2..word_1 referring",
            "1: column 3: 'word_2..word_1' is not a minimum span (expected word_FIRST..word_LAST, numbered from 1",
        ),
        ("a B-markable_1=set_1 word_0 referring", "1: column 3: 'word_0' is not a minimum span"),
        (
            "a B-markable_1=set_1 word_1@word_1 referring",
            "1: column 3: 'word_1@word_1' has 2 values separated by '@' (expected 1, one for each markable)",
        ),
        (
            "a B-markable_1=set_1@B-markable_2=set_1 word_1@word_1 referring",
            "1: column 4: 'referring' has 1 value separated by '@' (expected 2, one for each markable)",
        ),
    ],
)
def test_broken_files(rows, problem, tmp_path):
    path = write(tmp_path, f"{rows}\n")
    with pytest.raises(FormatError) as caught:
        read_records(path)
    assert str(caught.value).startswith(f"{path}:{problem}")


def test_a_file_without_tokens(tmp_path):
    path = write(tmp_path, "TOKEN MARKABLE\n\n")
    with pytest.raises(FormatError) as caught:
        read_documents(path)
    assert str(caught.value) == f"{path}: contains no token"


WORDS = ("the", "ferry", "to", "the", "island", "sank")


def text_of(first, last, minimum=""):
    """A sentence with a markable from one word to another, numbered from 1."""
    rows = [[word] for word in WORDS]
    for i in range(first - 1, last):
        rows[i] += [
            f"{'B' if i == first - 1 else 'I'}-markable_1=set_1",
            *filter(None, [minimum]),
            "referring",
        ]
    return "\n".join(map(" ".join, [["TOKEN"], *rows]))


@pytest.mark.parametrize(
    ("first", "last", "found"),
    [(1, 5, True), (2, 2, True), (1, 3, True), (2, 5, True), (3, 5, False), (1, 6, False)],
)
def test_a_response_matches_within_the_markable_and_around_its_minimum_span(
    first, last, found, tmp_path
):
    key, response = (tmp_path / side / "ferry.CONLL" for side in ("key", "response"))
    for path, text in ((key, text_of(1, 5, "word_2")), (response, text_of(first, last))):
        path.parent.mkdir()
        write(path.parent, text)
    report = report_files(key, response, matching="minimum")
    assert report.total.scores["mentions/f1"].value == found


def test_a_folder_of_files(tmp_path):
    for side, text in (("key", text_of(1, 5, "word_2")), ("response", text_of(1, 3))):
        for name in ("a/ferry.CONLL", "b/ferry.CONLL"):
            (tmp_path / side / name).parent.mkdir(parents=True)
            write(tmp_path / side, text, name)
    report = report_files(tmp_path / "key", tmp_path / "response", matching="minimum")
    assert report.total.scores["mentions/f1"].value == 1
    assert report.total.n_units == 2


def test_keys_without_mentions_and_without_minimum_spans(tmp_path):
    empty, other = (
        write(tmp_path, text, name) for text, name in (("TOKEN\na\n", "a"), (text_of(1, 1), "b"))
    )
    assert report_files(empty, empty, matching="minimum").total.scores["mentions/f1"].value == 0
    with pytest.raises(RequestError) as caught:
        report_files(other, other, matching="minimum")
    needed = "constituents in a CoNLL key, or a key with minimum spans (ARRAU, Universal Anaphora)"
    assert str(caught.value) == f"{other}: matching 'minimum' needs {needed}"


def test_minimum_spans_are_in_the_signature(tmp_path):
    signatures = [
        report_files(path, path, matching=matching).provenance.signature.rpartition("|")[2]
        for matching in ("minimum", "exact")
        for path in (
            write(tmp_path, text_of(1, 5, minimum), minimum) for minimum in ("word_1", "word_2")
        )
    ]
    assert len(set(signatures)) == 3
    assert signatures[2] == signatures[3]
