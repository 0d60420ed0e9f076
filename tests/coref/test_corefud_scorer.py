"""Scores of CorefUD files next to those of CorefUD's scorer: its percentages in `agreed/corefud_scorer.json`."""

import json
from pathlib import Path

import pytest
from agreed import corefud_scorer as maker
from shared.coreference import score_files

AGREED = Path(__file__).parent.parent / "agreed"
FIGURES = json.loads((AGREED / "corefud_scorer.json").read_text("utf-8"))["said"]
NAMES = {"muc": "muc", "bcub": "b3", "ceafe": "ceafe", "lea": "lea"}


def test_every_pair_has_scores():
    assert len(FIGURES) == 240
    assert all(set(scores) == set(NAMES) for scores in FIGURES.values())
    # The settings change scores.
    assert (
        len({json.dumps(FIGURES[f"3 {match} true"]) for match in ("exact", "head", "partial")}) > 1
    )
    assert FIGURES["3 head true"] != FIGURES["3 head false"]


@pytest.mark.parametrize("seed", range(40))
def test_scores(seed, tmp_path):
    for name, text in zip(("key", "response"), maker.random_pair(seed), strict=True):
        (tmp_path / f"{name}.conllu").write_text(text, "utf-8")
    for setting in (name for name in FIGURES if name.split()[0] == str(seed)):
        _, matching, keep_singletons = setting.split()
        scores = score_files(
            tmp_path / "key.conllu",
            tmp_path / "response.conllu",
            metrics=tuple(NAMES.values()),
            matching=matching,
            keep_singletons=keep_singletons,
        )
        for theirs, ours in NAMES.items():
            found = [100 * scores[f"{ours}/{part}"] for part in ("precision", "recall", "f1")]
            assert found == pytest.approx(FIGURES[setting][theirs], abs=0.00501), (setting, theirs)
