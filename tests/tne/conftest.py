"""What the tests of TNE share."""

import pytest


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A file to write and read again and again."""
    return tmp_path_factory.mktemp("tne") / "file.jsonl"
