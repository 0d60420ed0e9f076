"""`closeread score tne` and its kin, on the sample and on the release."""

import pytest
from shared import json_lines

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*known odd:closeread.CloseReadWarning", "ignore:2 linked noun phrases:closeread.CloseReadWarning"
)  # those of the samples are expected

TNE = load_corpus("tne")


@pytest.mark.gate
def test_the_unlabelled_files_can_be_validated_and_not_scored(run, ran, corpora, tmp_path):
    records = read_gold(TNE, "unlabeled", "test").records
    path = json_lines.write(tmp_path / "system.jsonl", ({"id": record["id"], "relations": []} for record in records))
    assert "valid; 500 of 500 gold records of tne test (unlabeled) have predictions" in ran(
        "validate", "tne", path, "--config", "unlabeled"
    )
    refused = run("score", "tne", path, "--config", "unlabeled")
    assert refused.exit_code == 2
    assert "500 of 500 documents have no gold links (first: 'r1491')" in refused.stderr
