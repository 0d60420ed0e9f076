"""Counts of CorefUD files with empty nodes, next to those of CorefUD's scorer (`agreed/corefud_zeros.json`)."""

import json
from pathlib import Path

import pytest
from agreed.corefud_zeros import N_PAIRS, PAIRS, SETTINGS
from shared.corefud_counts import MATCHING, count_pair, read_pair, score_pair

SAID = json.loads(
    (Path(__file__).parent.parent / "agreed" / "corefud_zeros.json").read_text("utf-8")
)["said"]


def make_pair(kind, seed, folder):
    paths = [folder / f"{side}.conllu" for side in ("key", "response")]
    for path, text in zip(paths, PAIRS[kind](seed), strict=True):
        path.write_text(text, "utf-8")
    return read_pair(*paths)


def test_every_pair_has_counts():
    assert len(SAID) == N_PAIRS * sum(map(len, SETTINGS.values())) == 560
    linear, dependent = (
        [
            json.dumps(said)
            for name, said in SAID.items()
            if name.endswith(zeros) and name.startswith("zeros")
        ]
        for zeros in ("linear", "dependent")
    )
    assert sum(a != b for a, b in zip(linear, dependent, strict=True)) > 100


@pytest.mark.gate
@pytest.mark.parametrize("kind", PAIRS)
@pytest.mark.parametrize("seed", range(N_PAIRS))
def test_counts(kind, seed, tmp_path):
    pair = make_pair(kind, seed, tmp_path)
    for match, keep, zeros in SETTINGS[kind]:
        said = SAID[f"{kind} {seed} {match} {keep} {zeros}"]
        option = "corefud" if zeros == "dependent" else zeros
        found = count_pair(
            *pair, matching=MATCHING[match], keep_singletons=str(keep).lower(), zeros=option
        )
        for metric, counts in said.items():
            assert found[metric] == pytest.approx(counts, abs=1e-9), (match, keep, zeros, metric)


def test_scores_are_ratios_of_the_counts(tmp_path):
    for seed in range(N_PAIRS):
        said = SAID[f"zeros {seed} head True dependent"]
        found = score_pair(*make_pair("zeros", seed, tmp_path), matching="head", zeros="corefud")
        for metric in said.keys() - {"coreference", "other"}:
            right, response, of_key, key = said[metric]
            wanted = [right / response if response else 0, of_key / key if key else 0]
            assert [found[f"{metric}/{part}"] for part in ("precision", "recall")] == pytest.approx(
                wanted, abs=1e-9
            )


def test_its_lookups_differ_from_its_matches(tmp_path):
    # In some pairs it finds other mentions than those that it has matched; `dependent` counts the matches.
    differ = []
    for seed in range(N_PAIRS):
        pair = make_pair("zeros", seed, tmp_path)
        found = [
            count_pair(*pair, matching="head", zeros=zeros) for zeros in ("corefud", "dependent")
        ]
        differ.append(
            {name for name in found[0] if found[0][name] != pytest.approx(found[1][name], abs=1e-9)}
        )
        # The matches are the same, so their number is, and the overlap of tokens.
        assert found[0]["mor"] == found[1]["mor"]
    for metric in ("muc", "b3", "zeros"):
        assert 0 < sum(metric in names for names in differ) < N_PAIRS / 2
