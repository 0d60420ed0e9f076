"""The cases of CorefUD's scorer's own tests, next to the counts that it has for them (`agreed/corefud_tests.json`).

Its files are not ours to keep: the test reads them in a checkout of corefud-scorer (see `shared.peers`).
"""

import json
from pathlib import Path

import pytest
from shared.corefud_counts import MATCHING, count_pair, read_pair
from shared.peers import find_peer

SAID = json.loads(
    (Path(__file__).parent.parent / "agreed" / "corefud_tests.json").read_text("utf-8")
)["said"]
ZEROS = {"linear": ("linear",), "dependent": ("dependent", "corefud"), "exclude": ("exclude",)}


def test_every_case_is_there():
    assert len(SAID) == 111
    skipped = {name: said["skipped"] for name, said in SAID.items() if said["skipped"]}
    assert skipped == dict.fromkeys(
        ["test_OLMC5", "test_OLMC6", "test_OLMC7"], "errors in the test"
    )
    assert {said["zeros"] for said in SAID.values()} == {*ZEROS}
    assert {said["match"] for said in SAID.values()} == {*MATCHING}
    assert all(len(said["counts"]) == 9 for said in SAID.values())
    assert len({json.dumps(said["counts"]) for said in SAID.values()}) > 60


@pytest.mark.parametrize("name", SAID)
def test_counts(name):
    said = SAID[name]
    files = find_peer("corefud-scorer") / "tests" / "tests-corefud"
    pair = read_pair(*(files / said[side] for side in ("key", "response")))
    for zeros in ZEROS[said["zeros"]]:
        found = count_pair(*pair, matching=MATCHING[said["match"]], zeros=zeros)
        for metric, counts in said["counts"].items():
            # Its score of zeros does not look for the matches first, but at the same place.
            if (metric, zeros) != ("zeros", "dependent"):
                assert found[metric] == pytest.approx(counts, abs=1e-9), (metric, zeros)
