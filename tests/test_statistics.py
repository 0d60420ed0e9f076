"""Figures of a corpus, split by split, and cells of printed tables."""

from pathlib import Path

import pytest

from closeread import tables as rendering
from closeread.corpus.facts import count_corpus, load_facts
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.exceptions import FormatError, RequestError
from closeread.records import UserFiles

SAMPLE = Path(__file__).parent.parent / "loaders" / "mctaco" / "sample.tsv"


def test_one_split_is_counted_alone():
    found = count_corpus("mctaco", "sample")
    records = read_gold(load_corpus("mctaco"), "sample").records
    assert (found.config, found.notices) == ("sample", [])
    assert found.splits == {"test": load_facts("mctaco")(records)}
    assert found.figures == list(found.splits["test"])


def test_several_splits_are_also_counted_together(tmp_path):
    for name in ("dev_3783.tsv", "test_9442.tsv"):
        (tmp_path / name).write_bytes(SAMPLE.read_bytes())
    found = count_corpus("mctaco", files=UserFiles(tmp_path))
    assert list(found.splits) == ["validation", "test", "all"]
    assert [split["candidates"] for split in found.splits.values()] == [103, 103, 206]
    assert [notice.split(":")[0] for notice in found.notices] == ["split validation", "split test"]


def test_what_can_not_be_counted(tmp_path):
    with pytest.raises(RequestError, match="no such config of mctaco: 'smaple'"):
        count_corpus("mctaco", "smaple")
    for name in ("dev_3783.tsv", "test_9442.tsv"):
        (tmp_path / name).write_text("x\n")
    with pytest.raises(FormatError, match=r"dev_3783\.tsv"):
        count_corpus("mctaco", files=UserFiles(tmp_path))
    with pytest.raises(
        RequestError, match="mctaco has no statistics for configs without gold annotation"
    ):
        load_facts("mctaco", "annotation")


@pytest.mark.parametrize(
    ("cell", "plain", "percent"),
    [
        ("links", "links", "links"),
        ("", "", ""),
        (1234, "1,234", "1,234"),
        (0.5, "0.500", "50.00"),
        (None, "–", "–"),
    ],
)
def test_cells(cell, plain, percent):
    assert (rendering.format_cell(cell), rendering.format_percent(cell)) == (plain, percent)
