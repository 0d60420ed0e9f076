"""Fixtures of the coreference tests."""

import pytest
from shared.coref_readers import read_conll


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A file that is overwritten and read many times."""
    return tmp_path_factory.mktemp("coref") / "file"


@pytest.fixture
def read(file):
    """A function that reads CoNLL text, given as a string or as bytes."""

    def call(text, word_column=None):
        file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
        return read_conll(file, word_column)

    return call
