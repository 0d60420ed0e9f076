"""Counts next to coval's, which are in `agreed/coval.json`: its own test files, and minimum spans in random trees."""

import json
from pathlib import Path

import pytest
from agreed import coval as maker
from shared.peers import find_peer

from closeread.scoring import find_gold, open_scorer
from closeread.tasks.coref.procedure import PROCEDURE

AGREEMENT = json.loads((Path(__file__).parent.parent / "agreed" / "coval.json").read_text("utf-8"))
SAID = AGREEMENT["said"]
RANDOM = [name for name in SAID if name.startswith("random ")]
ARRAU = [name for name in SAID if name.startswith("arrau ")]
NAMES = {"mentions": "mentions", "muc": "muc", "bcub": "b3", "ceafe": "ceafe", "lea": "lea"}


def figures(table):
    """Numerator and denominator of recall and of precision, by coval's name of the metric."""
    sums = dict(zip(table.names, table.values.sum(axis=0).tolist(), strict=True))
    found = {}
    for theirs, ours in NAMES.items():
        either = [f"{ours}/found_of_key", f"{ours}/found_of_response", f"{ours}/common"]
        recall, precision = (
            next(sums[name] for name in (either[i], either[2]) if name in sums) for i in range(2)
        )
        found[theirs] = [recall, sums[f"{ours}/key"], precision, sums[f"{ours}/response"]]
    return found


def assert_equal(table, name):
    found = figures(table)
    for metric, said in SAID[name].items():
        assert found[metric] == pytest.approx(said, rel=1e-12, abs=1e-9), metric


@pytest.mark.parametrize("name", AGREEMENT["pairs"])
def test_its_own_files(name):
    gold, system = (
        [{"document": "d", "clusters": AGREEMENT["files"][file]}]
        for file in AGREEMENT["pairs"][name]
    )
    # In one file an entity repeats a mention, which coval reads once.
    assert_equal(PROCEDURE.count(gold=gold, system=system, duplicates="first"), name)


@pytest.mark.parametrize("name", AGREEMENT["pairs"])
def test_its_own_files_as_they_are(name):
    folder = find_peer("coval") / "tests"
    key, response = (folder / file for file in AGREEMENT["pairs"][name])
    scorer = open_scorer(
        find_gold("coref", gold=key)[0], {"duplicates": "first", "words": "ignore"}
    )
    assert_equal(scorer.tabulate(scorer.read(response).rows), name)


@pytest.mark.parametrize("matching", maker.MATCHINGS)
def test_gum(matching, tmp_path):
    pair = maker.gum_pair(find_peer("gum"))
    for side, text in zip(("key", "response"), pair, strict=True):
        (tmp_path / f"{side}.conll").write_text(text, "utf-8")
    scorer = open_scorer(find_gold("coref", gold=tmp_path / "key.conll")[0], {"matching": matching})
    assert_equal(scorer.tabulate(scorer.read(tmp_path / "response.conll").rows), f"gum {matching}")


@pytest.mark.parametrize("name", RANDOM)
def test_minimum_spans(name, tmp_path):
    seed = int(name.split()[1])
    for side, text in zip(("key", "response"), maker.random_pair(seed), strict=True):
        (tmp_path / f"{side}.conll").write_text(text, "utf-8")
    options = {"matching": "minimum", "keep_singletons": seed % 5 > 0, "duplicates": "reference"}
    scorer = open_scorer(find_gold("coref", gold=tmp_path / "key.conll")[0], options)
    assert_equal(scorer.tabulate(scorer.read(tmp_path / "response.conll").rows), name)


@pytest.mark.parametrize("name", ARRAU)
def test_the_columns_of_arrau(name, tmp_path):
    _, seed, matching = name.split()
    paths = [tmp_path / side / "d.CONLL" for side in ("key", "response")]
    for path, text in zip(paths, maker.random_arrau_pair(int(seed)), strict=True):
        path.parent.mkdir()
        path.write_text(text, "utf-8")
    options = {"matching": matching, "keep_singletons": int(seed) % 5 > 0}
    scorer = open_scorer(find_gold("coref", gold=paths[0])[0], options)
    assert_equal(scorer.tabulate(scorer.read(paths[1]).rows), name)


def test_the_figures_cover_what_they_should():
    assert len(RANDOM) == 250
    assert len(ARRAU) == 120
    # Minimum spans match more mentions, but not all.
    found = [
        [SAID[f"arrau {seed} {how}"]["mentions"] for seed in range(60)] for how in maker.MATCHINGS
    ]
    assert sum(n[0] for n in found[0]) < sum(n[0] for n in found[1]) < sum(n[1] for n in found[1])
    # as many as coval's tests
    assert len([name for name in AGREEMENT["pairs"] if name.startswith("TC-")]) == 34
    assert len(AGREEMENT["pairs"]) == 111
    gum = [SAID[f"gum {how}"]["mentions"][0] for how in maker.MATCHINGS]
    assert gum[0] < gum[1]
