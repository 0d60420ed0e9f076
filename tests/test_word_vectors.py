"""Files of word vectors in each format: read, refused, and written."""

import gzip
import struct
import tracemalloc
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twins.word_vectors import PACKERS, pack_binary, pack_lines, pack_original, pack_text

from closeread.exceptions import FormatError
from closeread.formats.word_vectors import BLOCK, read_vectors

ENTRIES = [
    (b"The", [1.0, 0.5]),
    (b"the", [-2.0, 0.25]),
    (b"caf\xc3\xa9", [0.0, 8.0]),
    (b"\xc3", [3.0, 4.0]),
]


def read(path, words):
    """The vectors of words, each as a list."""
    found = read_vectors(path, words)
    assert found.matrix.dtype == np.float32
    assert set(found.rows.values()) == set(range(len(found.matrix)))
    return {word: found.matrix[row].tolist() for word, row in found.rows.items()}


@pytest.mark.parametrize("pack", PACKERS)
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_formats_are_recognised_by_their_content(tmp_path, pack, compress):
    (tmp_path / "v").write_bytes(compress(pack(ENTRIES, 2)))
    found = read_vectors(tmp_path / "v", ["café", "the", "Thee", "THE"])
    assert found.matrix.tolist() == [[-2, 0.25], [0, 8]]  # in the order of the file
    assert found.rows == {"café": 1, "the": 0, "THE": 0}


def test_a_byte_order_mark_belongs_to_no_word(tmp_path):
    (tmp_path / "v").write_bytes(b"\xef\xbb\xbfev 1 2\n")
    assert read(tmp_path / "v", ["ev", "\ufeffev"]) == {"ev": [1, 2]}
    (tmp_path / "v").write_bytes(b"\xef\xbb\xbf1 2\nev 3 4")
    assert read(tmp_path / "v", ["ev", "1"]) == {"ev": [3, 4]}


def test_words_as_they_are_written_come_before_lower_case(tmp_path):
    (tmp_path / "v").write_bytes(
        pack_text([(b"apple", [1.0]), (b"Apple", [2.0]), (b"may", [3.0]), (b"US", [4.0])], 1)
    )
    asked = ["Apple", "apple", "APPLE", "May", "MAY", "us", "US", "none"]
    assert read(tmp_path / "v", asked) == {
        "Apple": [2],
        "apple": [1],
        "APPLE": [1],
        "May": [3],
        "MAY": [3],
        "US": [4],  # and "us" is not "US"
    }
    assert read_vectors(tmp_path / "v", []).matrix.shape == (0, 1)


def test_words_with_spaces_in_files_without_a_header(tmp_path):
    (tmp_path / "v").write_bytes(b"at a@b.c 0.5 1\n. . . 2 3\n1 4 5\n\xc2\xa0 6 7\n")
    assert read(tmp_path / "v", ["at a@b.c", ". . .", "1", "\xa0", "at", "."]) == {
        "at a@b.c": [0.5, 1],
        ". . .": [2, 3],
        "1": [4, 5],
        "\xa0": [6, 7],
    }


def test_numbers_in_all_spellings(tmp_path):
    (tmp_path / "v").write_bytes(
        b"1 9\r\na .5 +1 1. 1e-3 -0 007 2E2 1e-400 12345678901234567890e-19 \r\n"
    )
    (values,) = read(tmp_path / "v", ["a"]).values()
    assert values == [0.5, 1, 1, np.float32(0.001), 0, 7, 200, 0, np.float32(1.2345679)]


def test_the_first_vector_of_a_word_counts(tmp_path):
    for pack in PACKERS:
        (tmp_path / "v").write_bytes(
            pack([(b"a", [1.0, 2.0]), (b"b", [3.0, 4.0]), (b"a", [5.0, 6.0])], 2)
        )
        assert read(tmp_path / "v", ["b"]) == {"b": [3, 4]}  # nobody asks
        assert read(tmp_path / "v", ["a"]) == {"a": [1, 2]}


ROW = struct.pack("<2f", 1, 2)
NAN = struct.pack("<2f", 1, np.nan)
INFINITE = struct.pack("<2f", -np.inf, 1)
PACKED = gzip.compress(pack_binary(ENTRIES, 2), mtime=0)
FIRST = (
    "v:1: is not the first line of word vectors (expected a word and its numbers, or the numbers of words and of "
    "dimensions, at least 1)"
)
INVALID = {
    "empty": (b"", FIRST),
    "nothing inside": (gzip.compress(b"", mtime=0), FIRST),
    "other text": (b"Dear reader,\n", FIRST),
    "no dimensions": (b"1 0\nev\n", "v:1: is not the first line of word vectors (expected the numbers of words and of "
        "dimensions, at least 1)"),
    "a huge header": (b"999999999999 999999999999\n", "v: has 0 words (expected 999,999,999,999, as line 1 says)"),
    "many words": (b"999999999999 2\n", "v: has 0 words (expected 999,999,999,999, as line 1 says)"),
    "wrong lines": (b"an 1 2\nev 1\n\n 1 2\n", "v: 3 problems of 2 kinds:\nv:2: 'ev' has 1 number (expected 2)\n"
        "v:3: has no word (expected a word, then numbers) (2 times; also line 4)"),
    "spaces after a header": (b"1 2\nat a@b.c 1 2\n", "v:2: 'at' has 3 numbers (expected 2)"),
    "no numbers": (b"an 1 2\nev nan 1\nof 1 x\nat 1 1e999\n", "v: 3 problems:\n"
        "v:2: 'ev' has a number that is not finite\n"
        "v:3: 'of': 'x' is not a number\n"
        "v:4: 'at' has a number that is not finite"),
    "lacking lines": (b"3 1\nev 1\n", "v: has 1 word (expected 3, as line 1 says)"),
    "more lines": (b"1 1\nev 1\nof 2\n", "v: has 2 words (expected 1, as line 1 says)"),
    "a header alone": (b"2 2\n\0", "v: is truncated or damaged: has 0 words (expected 2, as line 1 says)"),
    "half an entry": (b"3 2\nev " + ROW + b"of " + ROW[:7], "v: is truncated or damaged: has 1 word (expected 3, as "
        "line 1 says)"),
    "lacking entries": (b"3 2\nev " + ROW + b"\nof " + ROW + b"\n", "v: is truncated or damaged: has 2 words (expected "
        "3, as line 1 says)"),
    "wrong floats": (b"2 2\nev " + NAN + b"of " + INFINITE, "v: 2 problems:\n"
        "v: 'ev' has a number that is not finite\n"
        "v: 'of' has a number that is not finite"),
    "half a gzip file": (PACKED[:-9], "v: is not a valid gzip file: it is truncated"),
    "a damaged gzip file": (PACKED[:14] + b"x" * 8 + PACKED[22:], "v: is not a valid gzip file: its data is corrupt"),
}  # fmt: skip


@pytest.mark.parametrize("name", INVALID)
def test_invalid_files(here, name):
    data, message = INVALID[name]
    (here / "v").write_bytes(data)
    with pytest.raises(FormatError) as error:
        read_vectors(here / "v", ["ev", "of", "to", "at"])
    assert str(error.value).replace(f"{here}/", "") == message


def test_what_is_no_file(tmp_path):
    with pytest.raises(FormatError, match="none: can't be read: No such file or directory"):
        read_vectors(tmp_path / "none", ["a"])
    with pytest.raises(FormatError, match="can't be read: Is a directory"):
        read_vectors(tmp_path, ["a"])


def test_numbers_of_other_words_are_not_parsed(tmp_path):
    (tmp_path / "v").write_bytes(b"ev 1 2\nof x nan\n")
    assert read(tmp_path / "v", ["ev"]) == {"ev": [1, 2]}


@given(
    st.binary(max_size=60)
    | st.builds(
        bytes.__add__, st.sampled_from([b"2 2\n", b"1 1\nev ", b"ev 1 2\n"]), st.binary(max_size=40)
    )
)
@settings(max_examples=100)
def test_any_bytes_are_vectors_or_an_error(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("vectors") / "v"
    path.write_bytes(data)
    with suppress(FormatError):
        assert read(path, ["ev"]).keys() <= {"ev"}


@pytest.mark.extended
@pytest.mark.parametrize("pack", [pack_lines, pack_original])
def test_memory_is_bounded_by_the_words_that_are_asked_for(tmp_path, pack):
    entries = [(b"word%d" % i, [0.25] * 100) for i in range(10_000)]
    (tmp_path / "v").write_bytes(data := pack(entries, 100))
    del entries
    assert len(data) > 4 * 10**6
    del data
    tracemalloc.start()
    try:
        read_vectors(tmp_path / "v", ["word7", "word9999"])
        assert tracemalloc.get_traced_memory()[1] < 2 * 10**6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("pack", PACKERS)
def test_files_of_several_blocks(tmp_path, pack):
    rng = np.random.default_rng(5)
    matrix = rng.normal(size=(1000, 300)).astype(np.float32)
    entries = [(b"w%d" % i, row) for i, row in enumerate(matrix.tolist())]
    (tmp_path / "v").write_bytes(data := pack(entries, 300))
    assert len(data) > 4 * BLOCK
    asked = [f"w{i}" for i in range(0, 1000, 3)]
    found = read_vectors(tmp_path / "v", asked)
    assert (
        found.matrix[list(found.rows.values())] == matrix[[int(word[1:]) for word in found.rows]]
    ).all()
    assert sorted(found.rows) == sorted(asked)
