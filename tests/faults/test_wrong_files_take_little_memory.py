"""Files in which much is wrong take at most 20 times their size, and the message says how many lines are wrong."""

import gc
import tracemalloc

import pytest
from shared.fuzzing.targets import RICH

from closeread.corpus.gold import read_own_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.submissions import read_submission
from closeread.exceptions import InputError
from closeread.tasks import find_format
from closeread.tasks.coref.document_fields import read_fields
from closeread.tasks.coref.files import read_documents
from closeread.tasks.timeline.timeline_txt import read_folder

pytestmark = pytest.mark.extended

SIZE = 2**18
SMALL = 2**16
"""The size of files whose lines are problems one by one, which takes long."""

MOST = 20


def repeat(line, size=SIZE):
    return line * (size // len(line.encode()))


def number(line, size=SIZE):
    return "".join(line.replace("#", f"{i:05d}") for i in range(size // len(line.replace("#", "00000"))))


def fill(start, item, end):
    """Return a line with a value that is repeated."""
    return f"{start}{item}{f',{item}' * (SIZE // (len(item) + 1))}{end}\n"


def nest(element, parent="Document"):
    return f"<{parent}>{repeat(element)}</{parent}>"


SHAPES = {
    "letters": repeat("x\n", SMALL),
    "tabs": repeat("\t\n"),
    "spaces": "Ada\n" + repeat("x \n", SMALL),
    "blank and not": "Ada\n" + repeat("\nx\n", SMALL),
    "empty cells": repeat("\t\t\t\t\n", SMALL),
    "a known document": "document,genre\n" + repeat("a,\n", SMALL),
    "unknown ids": number('{"id":"#","label":"no"}\n'),
    "wrong links": fill('{"id":"s1","relations":[', "1", "]}"),
    "no name": repeat('{"document":null,"clusters":[[[0,1],[2,3],[4,5]],[[6,7],[8,9]]]}\n'),
    "wrong ids": RICH + number("#\tx\t_\t_\t_\t_\t_\t_\t_\t_\n"),
    "tokens": nest('<token number="0" sentence="0" t_id="1">a</token>\n'),
}
COUNTED = [
    ("mctaco", "unknown ids"),
    ("mctaco", "empty cells"),
    ("timeline", "letters"),
]
"""Those in which every line is a problem, which is counted at least."""

CASES = [
    ("mctaco", "system.jsonl", "unknown ids"),
    ("mctaco", "gold.tsv", "empty cells"),
    ("tne", "system.jsonl", "wrong links"),
    ("coref", "key.jsonl", "no name"),
    ("coref", "key.conll", "tabs"),
    *[("coref", "key.conllu", name) for name in ("letters", "wrong ids")],
    *[("timeline", "a.txt", name) for name in ("letters", "spaces", "blank and not")],
    ("fields", "a.csv", "a known document"),
    ("wikipossessions", "gold.csv", "letters"),
    ("cat", "a.xml", "tokens"),
]


def read(task, path):
    if task == "coref":
        return read_documents(path)
    if task == "cat":
        return find_format("timeline", "cat_xml").read(path, "").problems
    if task == "timeline":
        return read_folder(path.parent).problems
    if task == "fields":
        return read_fields(path, ["a"])
    corpus = load_corpus(task)
    if path.stem == "gold":
        return read_own_gold(corpus, path)
    return read_submission(path, corpus, [{"id": f"test-{i:05d}", "nps": []} for i in range(100)])


def measure(task, path):
    """Return the problems of a file, and the memory that it took at most."""
    gc.collect()
    tracemalloc.start()
    try:
        found = read(task, path)
    except InputError as error:
        found = error.problems
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return found, peak


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """Import and cache what readers need."""
    folder = tmp_path_factory.mktemp("warm")
    for task, name in dict.fromkeys(case[:2] for case in CASES):
        (folder / task).mkdir(exist_ok=True)
        (folder / task / name).write_text('{"a":1}\nx\n' if name.endswith("jsonl") else "x\n{\n")
        measure(task, folder / task / name)


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize(("task", "name", "shape"), CASES)
def test_wrong_files(task, name, shape, tmp_path):
    path = tmp_path / name
    path.write_text(SHAPES[shape])
    problems, peak = measure(task, path)
    assert problems
    assert peak < MOST * path.stat().st_size
    assert len(problems) < 2500
    if (task, shape) in COUNTED:
        # The first line is the name of an entity.
        assert sum(problem.times for problem in problems) >= SHAPES[shape].count("\n") - 1
