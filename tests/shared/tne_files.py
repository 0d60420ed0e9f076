"""Files of TNE that a test writes and reads as gold."""

import pytest

from closeread.corpus.gold import read_own_gold
from closeread.corpus.names import load_corpus
from closeread.exceptions import FormatError
from closeread.tasks.tne.tne_jsonl import read_records

TNE = load_corpus("tne")


def put(file, content):
    """Write a file, given its text or its bytes, and return its path."""
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def read(file, content):
    """Write a file and read it by its format alone, without the schema and the rules."""
    return read_records(put(file, content), "test")


def refuse(file, content):
    """Write a file that is no gold, and return the error's message without the file's name."""
    with pytest.raises(FormatError) as caught:
        read_own_gold(TNE, put(file, content))
    assert str(caught.value).replace("\n", "").isprintable()
    return str(caught.value).replace(f"{file}", "")
