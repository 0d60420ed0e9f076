"""Article texts in a folder next to the released file."""

from hypothesis import example, given, settings
from hypothesis import strategies as st
from shared.possession_records import ROW, read_released

from closeread.tasks.wikipossessions.possession_csv import article_texts

TITLES = ["", ".", "..", "../secret", "/secret", "a/b", "a\\b", "~", "x" * 5000]


@example(title="..")
@example(title="a/../b")
@given(title=st.sampled_from(TITLES) | st.text(max_size=8).filter(str.isprintable))
@settings(max_examples=30)
def test_titles_can_not_lead_outside_the_folder(tmp_path_factory, title):
    folder = tmp_path_factory.mktemp("titles")
    (folder / "articles").mkdir()
    for place in (folder / "secret.txt", folder / "..txt", folder / ".txt"):
        place.write_text("Secret.", "utf-8")
    assert article_texts(folder / "articles", [title]) == ({}, [])


def write_articles(file, texts):
    folder = file.parent / "articles"
    folder.mkdir(exist_ok=True)
    for name, content in texts.items():
        (folder / f"{name}.txt").write_bytes(content)
    return folder


def test_texts(tmp_path):
    file = tmp_path / "annotations.csv"
    write_articles(file, {"Cafe\u0301": b"\xef\xbb\xbfIt is\r\nold.\n", "Other": b"x"})
    records, _, problems = read_released(file, ROW.replace("A Vase", "Caf\xe9"), ROW, ROW.replace("A Vase", "AC/DC"))
    assert problems == []
    assert [record["text"] for record in records] == ["It is\nold.\n", None, None]


def test_unreadable_texts(tmp_path):
    file = tmp_path / "annotations.csv"
    folder = write_articles(file, {"A": b"ab\xff", "B": b"a\x1bb", "C": b""})
    (folder / "D.txt").mkdir()
    _, _, problems = read_released(file, *(ROW.replace("A Vase", name) for name in "ABCDE"))
    assert [(problem.line, problem.message) for problem in problems] == [
        (2, f"{folder}/A.txt: byte 3 is not valid UTF-8 (expected UTF-8 text)"),
        (3, f"{folder}/B.txt: contains the control character U+001B"),
        (4, f"{folder}/C.txt: is empty"),
        (5, f"{folder}/D.txt: is a directory (expected a file)"),
    ]
