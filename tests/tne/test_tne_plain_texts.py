"""Plain texts in parts, and laid out as in the corpus."""

from pathlib import Path

import pytest

from closeread.exceptions import CloseReadWarning, FormatError, InputError
from closeread.tasks.tne.building import PlainText, read_texts


def read(text, name="x.txt"):
    """The text of a file with this content."""
    Path(name).write_text(text, "utf-8", newline="")
    return read_texts([Path(name)])[0]


@pytest.mark.parametrize(
    ("text", "laid_out"),
    [
        # As the corpus writes a news story, and what it looks like elsewhere.
        ("T\n\nS \n\nOne. \nTwo.", "T\n\nS \n\nOne. \nTwo."),
        ("T\nS\nOne.\nTwo.\n", "T\n\nS \n\nOne. \nTwo."),
        ("\ufeff\n  T\r\n\r\n\r\nS\t\r\n \t\nOne.\n\n\nTwo.", "T\n\nS \n\nOne. \nTwo."),
        # White space inside a line is the text's own.
        ("T\nS\nOne,  and\tone.\u2028Two.", "T\n\nS \n\nOne,  and\tone.\u2028Two."),
    ],
)
def test_layout(here, text, laid_out):
    assert read(text).lay_out() == laid_out


def test_first_paragraphs(here):
    text = read("T\nS\nOne.\nTwo.\nThree.\nFour.\n")
    assert text.lay_out(3) == "T\n\nS \n\nOne. \nTwo. \nThree."
    assert text.lay_out(1) == "T\n\nS \n\nOne."
    assert text.lay_out(9) == text.lay_out()


def test_what_is_laid_out_reads_as_the_same_parts(here):
    text = PlainText("x", "x.txt", "a. b", ",", ("b", "a  b.", "."))
    assert read(text.lay_out()) == text


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("ferry.txt", "ferry"),
        ("a.b.TXT", "a.b"),
        ("ferry", "ferry"),
        (".txt", ".txt"),
        ("notes.md", "notes.md"),
    ],
)
def test_the_id_is_the_name_of_the_file(here, name, own):
    text = read("T\nS\nOne.", name=name)
    assert (text.id, text.source) == (own, name)


def test_a_folder_stands_for_its_texts(here):
    (here / "texts").mkdir()
    for name in ("x.txt", "texts/b.txt", "texts/a.txt", "texts/.hidden"):
        Path(name).write_text("T\nS\nOne.")
    assert [text.id for text in read_texts([Path("x.txt"), Path("texts")])] == ["x", "a", "b"]
    (here / "texts" / "notes.md").write_text("no text")
    (here / "texts" / "more").mkdir()
    (here / "texts" / "README.txt").write_text("no text")
    with (
        pytest.warns(CloseReadWarning, match=r"2 files are left out: 'README\.txt', 'notes\.md'"),
        pytest.raises(FormatError, match="texts/more: is a folder") as error,
    ):
        read_texts([Path("texts"), Path("x.txt")])
    assert len(error.value.problems) == 1
    with pytest.raises(
        FormatError, match=r"contains no plain text \(expected files ending in .txt\)"
    ):
        read_texts([Path("texts/more")])


@pytest.mark.parametrize("name", ["a\nb.txt", "a\tb.txt", "a\udc80.txt", "a\x85.txt"])
def test_names_that_ids_can_not_be(here, name):
    with pytest.raises(FormatError, match="has control characters or invalid bytes in its name"):
        read("T\nS\nOne.", name=name)


EXPECTED = "(expected a title, a subtitle and at least one paragraph, each on a line)"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("\n \n", f"has 0 non-blank lines {EXPECTED}"),
        ("T\nS\n", f"has 2 non-blank lines {EXPECTED}"),
        ("", "is empty"),
    ],
)
def test_missing_parts(here, text, problem):
    with pytest.raises(FormatError) as error:
        read(text)
    assert str(error.value) == f"x.txt: {problem}"


def test_all_problems_of_all_texts_at_once(here):
    (here / "more").mkdir()
    Path("more/x.txt").write_text("T\x0b\nS \x7f\n")
    Path("x.txt").write_text("T\nS\nOne.\n")
    Path("y.txt").write_bytes(b"T\nS\n\xff")
    with pytest.raises(InputError) as error:
        read_texts([Path(name) for name in ("x.txt", "more/x.txt", "x.txt", "y.txt")])
    assert str(error.value).splitlines() == [
        "more/x.txt: 4 problems:",
        "more/x.txt: gives its document the same id as x.txt (expected files with distinct names)",
        "more/x.txt:1: character 2 is the control character U+000B (expected plain text)",
        "more/x.txt:2: character 3 is the control character U+007F (expected plain text)",
        f"more/x.txt: has 2 non-blank lines {EXPECTED}",
        "x.txt: is given twice (expected files with distinct names)",
        "y.txt:3: is not UTF-8 from column 1 (byte 0xff); convert the file to UTF-8",
    ]


def test_problems_of_a_folder_are_told_beside_those_of_its_texts(here):
    Path("texts").mkdir()
    Path("texts/a.txt").write_text("T\n", "utf-8")
    Path("texts/b.txt").mkdir()
    with pytest.raises(InputError, match=r"(?s)a\.txt: has 1 non-blank line.*b\.txt") as caught:
        read_texts([Path("texts")])
    assert len(caught.value.problems) == 2
