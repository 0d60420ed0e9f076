"""The reader of McTaco's files, compared with a slow twin."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import mctaco_tsv as twin

from closeread.formats import text
from closeread.tasks.mctaco.mctaco_tsv import COLUMNS, read_records

cells = st.text(st.sampled_from("aé€😀 \r\x01\x7f\x85\xa0\u2028{}"), max_size=3)
good_cells = st.text(st.sampled_from("aé€😀 \xa0{}"), min_size=3, max_size=6)
rows = st.lists(good_cells, min_size=5, max_size=5) | st.lists(cells, min_size=3, max_size=7)
lines = st.lists(st.tuples(rows, st.sampled_from(["\n", "\n", "\r\n"])), min_size=1, max_size=12)


@settings(max_examples=300)
@given(lines=lines, cut=st.booleans(), block=st.integers(1, 200), split=st.sampled_from(["test", "{0}", "a{b"]))
def test_equals_the_twin(tmp_path_factory, lines, cut, block, split):
    whole = "".join("\t".join(row) + end for row, end in lines)
    whole = whole.removesuffix("\n") if cut else whole
    path = tmp_path_factory.mktemp("files") / "a.tsv"
    path.write_bytes(("x" + whole).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "BLOCK", block)
        parsed = read_records(path, split)
    expected, numbers, wrong = twin.read("x" + whole, split)
    assert list(parsed.records) == expected
    assert list(parsed.lines) == numbers
    found = [(problem.line, re.match(r"\w+", problem.what)[0]) for problem in parsed.problems]
    assert [(line, name if name in COLUMNS else None) for line, name in found] == wrong
