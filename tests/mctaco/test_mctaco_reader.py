"""The reader of McTaco's files, compared with a slow twin."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import mctaco_tsv as twin

import closeread
from closeread.counts.estimates import Resampling
from closeread.formats import text
from closeread.tasks.mctaco.mctaco_labels import parse_submission
from closeread.tasks.mctaco.mctaco_tsv import COLUMNS, read_records

cells = st.text(st.sampled_from("aé€😀 \r\x01\x7f\x85\xa0\u2028{}\ufeff"), max_size=3)
good_cells = st.text(st.sampled_from("aé€😀 \xa0{}\ufeff"), min_size=3, max_size=6)
rows = st.lists(good_cells, min_size=5, max_size=5) | st.lists(cells, min_size=3, max_size=7)
lines = st.lists(st.tuples(rows, st.sampled_from(["\n", "\n", "\r\n"])), min_size=1, max_size=12)


@settings(max_examples=300)
@given(lines=lines, cut=st.booleans(), split=st.sampled_from(["test", "{0}", "a{b"]))
def test_equals_the_twin(tmp_path_factory, lines, cut, split):
    whole = "".join("\t".join(row) + end for row, end in lines)
    whole = whole.removesuffix("\n") if cut else whole
    path = tmp_path_factory.mktemp("files") / "a.tsv"
    path.write_bytes(("x" + whole).encode())
    parsed = read_records(path, split)
    expected, numbers, wrong = twin.read("x" + whole, split)
    assert list(parsed.records) == expected
    assert list(parsed.lines) == numbers
    found = [(problem.line, re.match(r"\w+", problem.what)[0]) for problem in parsed.problems]
    assert [(line, name if name in COLUMNS else None) for line, name in found] == wrong


SENTENCES, QUESTIONS = st.sampled_from(["Ann slept.", "Bob — left."]), st.sampled_from(["How long?", "When “was” it?"])
candidates = st.lists(
    st.tuples(SENTENCES, QUESTIONS, st.sampled_from(["a", 'b "c', "d"]), st.sampled_from(["no", "yes"])),
    min_size=1,
    max_size=12,
)
labels = st.sampled_from([b"yes", b"no", b" yes\t", b"yes\r", b"\xc2\xa0no", b"maybe", b"", b"\xe2\x80\xa8yes"])


@pytest.mark.gate
@settings(max_examples=60, deadline=None)
@given(
    rows=candidates, coins=st.lists(st.booleans(), min_size=12, max_size=12), missing=st.sampled_from(["error", "skip"])
)
def test_scores_and_signature_are_those_of_records(tmp_path_factory, rows, coins, missing):
    folder = tmp_path_factory.mktemp("scores")
    gold, said, lines = folder / "gold.tsv", folder / "said.txt", folder / "gold.jsonl"
    gold.write_text("".join("\t".join((*row, "Frequency")) + "\n" for row in rows), "utf-8")
    said.write_text("".join("yes\n" if coin else "no\n" for coin in coins[: len(rows)]), "utf-8")
    lines.write_text("".join(json.dumps(row) + "\n" for row in twin.read(gold.read_text("utf-8"), "test")[0]), "utf-8")
    found, expected = (
        closeread.score("mctaco", said, gold=path, missing=missing, resampling=Resampling(5)).to_json()
        for path in (gold, lines)
    )
    assert found == expected


@given(texts=st.lists(labels, min_size=1, max_size=9).filter(any), n_gold=st.integers(1, 10))
def test_labels_are_those_of_single_lines(texts, n_gold):
    data = b"\n".join(texts)
    gold = [{"id": f"test-{number:05d}"} for number in range(n_gold)]
    lines = text.Lines(data)
    columns, singly = parse_submission(lines, gold), parse_submission(list(lines), gold)
    expected = [line.decode().removesuffix("\r").strip() for line in data.removesuffix(b"\n").split(b"\n")][:n_gold]
    assert [row["label"] for row in columns.records] == expected
    assert columns.records == singly.records
    assert columns.problems == singly.problems
