"""Texts that are read a part at a time."""

import gzip
import os
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from closeread import limits
from closeread.exceptions import FormatError
from closeread.formats import stored_text
from closeread.formats.stored_text import HeldText, iterate_lines, iterate_parts, open_large
from closeread.tasks.coref.files import Reading, read_document_file

LINES = st.lists(st.text("ab\r", max_size=9), max_size=8).map("\n".join).map(str.encode)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(stored_text, "PART", 8)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"a\n" * 5)
    return path


@given(data=LINES, part=st.integers(1, 12), window=st.integers(1, 5), is_stored=st.booleans())
def test_parts_and_lines_are_those_of_the_text(tmp_path_factory, data, part, window, is_stored):
    path = tmp_path_factory.getbasetemp() / "text"
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_text, "PART", part)
        patch.setattr(stored_text, "_FIRST_WINDOW", window)
        patch.setattr(stored_text, "_LAST_WINDOW", 2 * window)
        text = (open_large(path) if is_stored else None) or HeldText(data)
        for begin in [0, *(i + 1 for i, byte in enumerate(data) if byte == ord("\n"))]:
            *complete, last = data[begin:].split(b"\n")
            expected = [*(line + b"\n" for line in complete), *filter(None, [last])]
            assert list(iterate_lines(text, begin)) == expected
            for end in (begin + len(b"".join(expected[:2])), len(data)):
                check_parts(list(iterate_parts(text, begin, end)), data, begin, end, part)


def check_parts(parts, data, begin, end, size):
    assert b"".join(found for _, found in parts) == data[begin:end]
    for position, found in parts:
        assert position == begin
        assert data[position : position + len(found)] == found
        begin += len(found)
        assert found.endswith(b"\n") or begin == end
        # A part is no larger than needed for one line: what it has read to find its end is less than twice a line.
        assert len(found) <= max(size, 2 * max(len(line) + 1 for line in found.split(b"\n")))


def test_a_line_that_is_too_long_is_not_read_to_its_end(monkeypatch):
    monkeypatch.setattr(limits, "MAX_LINE_BYTES", 20)
    position, part = next(iterate_parts(HeldText(b"a\n" * 3 + b"b" * 10**4), 6, 10**4))
    assert (position, part[:21]) == (6, b"b" * 21)
    assert len(part) < 50


@pytest.mark.parametrize(("suffix", "line"), [(".conll", "#begin document (a)"), (".conllu", "# newdoc id = a")])
def test_a_long_line_is_refused_in_the_same_words(tmp_path, monkeypatch, suffix, line):
    path = tmp_path / f"file{suffix}"
    path.write_text(f"{line}\n" + "# x\n" * 9 + "b" * 2**20, "utf-8")
    monkeypatch.setattr(limits, "MAX_LINE_BYTES", 2**19 + 1)
    found = []
    for part in (2**22, 8):
        monkeypatch.setattr(stored_text, "PART", part)
        with pytest.raises(FormatError) as caught:
            read_document_file(path, Reading())
        found.append(str(caught.value))
    assert "1,048,576" in found[0]
    assert found[0] == found[1]


def test_only_large_plain_files_stay_where_they_are(file, tmp_path, monkeypatch):
    assert open_large(file).read(2, 10) == b"a\n" * 4
    with limits.keep_files_below(9):
        assert open_large(file) is None
    (tmp_path / "small").write_bytes(b"a\n" * 4)
    (tmp_path / "file.gz").write_bytes(gzip.compress(b"a\n" * 99))
    for path in (tmp_path / "small", tmp_path / "file.gz", tmp_path, tmp_path / "none"):
        assert open_large(path) is None
    monkeypatch.delattr(os, "pread")
    assert open_large(file) is None


@pytest.mark.parametrize("changed", [b"b\n" * 5, b"a\n", b"a\n" * 6])
def test_a_file_that_changes_is_not_read_on(file, changed):
    text = open_large(file)
    file.write_bytes(changed)
    os.utime(file, (0, 0))
    with pytest.raises(FormatError, match="file: has changed while it was used"):
        text.read(8, 10)


def test_a_file_can_be_deleted_and_pickled(file):
    text = open_large(file)
    file.unlink()
    again = pickle.loads(pickle.dumps(text))
    assert (again.size, again.read(0, 10)) == (10, b"a\n" * 5)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files can't be counted")
def test_the_file_is_closed_when_nobody_needs_it(file):
    before = len(os.listdir("/proc/self/fd"))
    text = open_large(file)
    assert len(os.listdir("/proc/self/fd")) == before + 1
    del text
    assert len(os.listdir("/proc/self/fd")) == before
