"""CorefUD files beside CorefUD's scorer: `agreed/corefud_scorer.json` keeps two digits of its percentages."""

import importlib.util
import json
from pathlib import Path

import pytest

from closeread.counts.report import Resampling
from closeread.tasks.coref.sides import score

AGREED = Path(__file__).parent.parent / "agreed"
SAID = json.loads((AGREED / "corefud_scorer.json").read_text("utf-8"))["said"]
NAMES = {"muc": "muc", "bcub": "b3", "ceafe": "ceafe", "lea": "lea"}


def maker():
    spec = importlib.util.spec_from_file_location("corefud_scorer", AGREED / "corefud_scorer.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_pair_has_scores():
    assert len(SAID) == 240
    assert all(set(scores) == set(NAMES) for scores in SAID.values())
    # What the settings change is there to be seen.
    assert len({json.dumps(SAID[f"3 {match} true"]) for match in ("exact", "head", "partial")}) > 1
    assert SAID["3 head true"] != SAID["3 head false"]


@pytest.mark.parametrize("seed", range(40))
def test_scores(seed, tmp_path):
    for name, text in zip(("key", "response"), maker().random_pair(seed), strict=True):
        (tmp_path / f"{name}.conllu").write_text(text, "utf-8")
    for setting in (name for name in SAID if name.split()[0] == str(seed)):
        _, matching, keep_singletons = setting.split()
        report = score(
            tmp_path / "key.conllu",
            tmp_path / "response.conllu",
            metrics=tuple(NAMES.values()),
            resampling=Resampling(0),
            matching=matching,
            keep_singletons=keep_singletons,
        )
        for theirs, ours in NAMES.items():
            found = [100 * report.total.scores[f"{ours}/{part}"].value for part in ("precision", "recall", "f1")]
            assert found == pytest.approx(SAID[setting][theirs], abs=0.00501), (setting, theirs)
