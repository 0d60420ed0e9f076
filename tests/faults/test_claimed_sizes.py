"""Sizes that data only claim are refused before anything is made of that size."""

import json

import pytest

import closeread
from closeread import limits
from closeread.formats.json_lines import parse_json_lines

pytestmark = pytest.mark.extended


@pytest.mark.parametrize("suffix", ["conll", "conllu", "conllua"])
def test_a_document_that_claims_billions_of_tokens_is_not_written(suffix, tmp_path):
    path = tmp_path / "key.jsonl"
    rows = [{"document": "a", "clusters": [], "n_tokens": 3}, {"document": "b", "clusters": [], "n_tokens": 2**31 - 1}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(ValueError, match=r"2,147,483,650 tokens \(most: 'b', 2,147,483,647\)") as caught:
        closeread.convert("coref", path, to=tmp_path / f"out.{suffix}")
    assert f"limit: {limits.MAX_TOKENS:,}" in str(caught.value)
    assert not (tmp_path / f"out.{suffix}").exists()


def test_a_repeated_key_among_many():
    keys = [f"k{i}" for i in range(40_000)]
    line = "{" + ", ".join(f'"{key}": 1' for key in [*keys, keys[-1]]) + "}"
    (problem,) = parse_json_lines([line]).problems
    assert problem.what == "duplicate key 'k39999'"
