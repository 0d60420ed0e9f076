"""Files in which nothing is right take at most 20 times their size, and the message says how many lines are wrong."""

import gc
import tracemalloc

import pytest

from closeread.corpora.gold import load_corpus, read_file
from closeread.corpora.submissions import read_submission
from closeread.errors import InputError
from closeread.tasks.coref.document_files import Reading, read_document_file

SIZE = 2**15
MOST = 20
FIXED = 1_000_000
"""What schemas, kept problems and blocks of a fixed size take, in bytes, however large the file is."""


def repeat(line):
    return line * (SIZE // len(line.encode()))


def number(line):
    return "".join(line.replace("#", f"{i:05d}") for i in range(SIZE // len(line.replace("#", "00000"))))


JSON = {
    "letters": repeat("x\n"),
    "numbers": number("#\n"),
    "empty objects": repeat("{}\n"),
    "small objects": repeat('{"a":1}\n'),
    "unknown ids": number('{"id":"#","label":"no"}\n'),
    "one id": repeat('{"id":"test-00000","label":"no"}\n'),
    "control characters": repeat('"\\u0001"\n'),
}
CASES = [
    *[("mctaco", "gold.jsonl", name) for name in ("letters", "numbers", "small objects", "control characters")],
    *[("mctaco", "system.jsonl", name) for name in ("empty objects", "unknown ids", "one id")],
    ("coref", "key.jsonl", "empty objects"),
]


def read(task, path):
    if task == "coref":
        return read_document_file(path, Reading())
    corpus = load_corpus(task)
    if path.stem == "gold":
        return read_file(corpus, path, "test")
    return read_submission(path, corpus, [{"id": f"test-{i:05d}"} for i in range(100)])


def measure(task, path):
    """Return the error about a file, and the memory that it took at most."""
    gc.collect()
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as caught:
            read(task, path)
        return caught.value, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("task", "name", "content"), CASES)
def test_wrong_lines_of_json(task, name, content, tmp_path):
    path = tmp_path / name
    path.write_text("{}\n{\n")
    measure(task, path)  # imports what it needs
    path.write_text(JSON[content])
    error, peak = measure(task, path)
    assert peak < MOST * SIZE + FIXED
    lines = JSON[content].count("\n")
    assert sum(problem.times for problem in error.problems) >= lines - 1
    assert len(error.problems) < 2500
