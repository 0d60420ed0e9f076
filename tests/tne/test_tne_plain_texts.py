"""Plain texts in parts, and laid out as in the corpus."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from closeread.exceptions import CloseReadWarning, FormatError, InputError
from closeread.tasks.tne.building import PlainText, read_texts, split_parts

PART = st.text(st.sampled_from("ab .,"), min_size=1).map(str.strip).filter(bool)


def read(text, separator="line", n_subtitles=1, name="x.txt"):
    """The text of a file with this content."""
    Path(name).write_text(text, "utf-8", newline="")
    return read_texts([Path(name)], separator, n_subtitles)[0]


@pytest.mark.parametrize(
    ("text", "separator", "n_subtitles", "laid_out"),
    [
        # As the corpus writes a news story, and what it looks like elsewhere.
        ("T\n\nS \n\nOne. \nTwo.", "line", 1, "T\n\nS \n\nOne. \nTwo."),
        ("T\nS\nOne.\nTwo.\n", "line", 1, "T\n\nS \n\nOne. \nTwo."),
        ("\ufeff\n  T\r\n\r\n\r\nS\t\r\n \t\nOne.\n\n\nTwo.", "line", 1, "T\n\nS \n\nOne. \nTwo."),
        # Its reviews have an empty subtitle, its books several.
        ("T\nOne.\nTwo.\n", "line", 0, "T\n\n \n\nOne. \nTwo."),
        ("T\nS\nR\nOne.\n", "line", 2, "T\n\nS \n\nR \n\nOne."),
        # Broken lines.
        (
            "T\nU\n\nS\n\nOne,\n  and \none.\n\nTwo.\n",
            "blank-line",
            1,
            "T U\n\nS \n\nOne, and one. \nTwo.",
        ),
        ("T\n \nOne.\nTwo.\n", "blank-line", 0, "T\n\n \n\nOne. Two."),
        # White space inside a line is the text's own.
        ("T\nS\nOne,  and\tone.\u2028Two.", "line", 1, "T\n\nS \n\nOne,  and\tone.\u2028Two."),
    ],
)
def test_layout(here, text, separator, n_subtitles, laid_out):
    assert read(text, separator, n_subtitles).lay_out() == laid_out


def test_first_paragraphs(here):
    text = read("T\nS\nOne.\nTwo.\nThree.\nFour.\n")
    assert text.lay_out(3) == "T\n\nS \n\nOne. \nTwo. \nThree."
    assert text.lay_out(1) == "T\n\nS \n\nOne."
    assert text.lay_out(9) == text.lay_out()


@given(
    parts=st.lists(PART, min_size=3, max_size=6), separator=st.sampled_from(["line", "blank-line"])
)
def test_what_is_laid_out_reads_as_the_same_parts(parts, separator):
    text = PlainText("x", "x.txt", parts[0], (parts[1],), tuple(parts[2:]))
    assert split_parts(text.lay_out().split("\n"), "line") == parts
    assert split_parts("\n\n".join(parts).split("\n"), separator) == parts


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


@pytest.mark.parametrize(
    ("text", "separator", "n_subtitles", "problem"),
    [
        (
            "\n \n",
            "line",
            1,
            "has 0 non-blank lines (expected a title, 1 subtitle and at least one paragraph)",
        ),
        (
            "T\nS\n",
            "line",
            1,
            "has 2 non-blank lines (expected a title, 1 subtitle and at least one paragraph)",
        ),
        ("T\n", "line", 0, "has 1 non-blank line (expected a title and at least one paragraph)"),
        (
            "T\nS\nOne.\n",
            "blank-line",
            2,
            "has 1 block (expected a title, 2 subtitles and at least one paragraph)",
        ),
        ("", "line", 1, "is empty"),
    ],
)
def test_missing_parts(here, text, separator, n_subtitles, problem):
    with pytest.raises(FormatError) as error:
        read(text, separator, n_subtitles)
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
        "more/x.txt: has 2 non-blank lines (expected a title, 1 subtitle and at least one paragraph)",
        "x.txt: is given twice (expected files with distinct names)",
        "y.txt:3: byte 1 (0xff) is not valid UTF-8",
    ]


def test_problems_of_a_folder_are_told_beside_those_of_its_texts(here):
    Path("texts").mkdir()
    Path("texts/a.txt").write_text("T\n", "utf-8")
    Path("texts/b.txt").mkdir()
    with pytest.raises(InputError, match=r"(?s)a\.txt: has 1 non-blank line.*b\.txt") as caught:
        read_texts([Path("texts")])
    assert len(caught.value.problems) == 2
