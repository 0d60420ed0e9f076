"""Presets of official scores set options and metrics; options that are given override them."""

import json
from shutil import copyfile

import pytest
from shared.coreference import NO_INTERVALS, write_corefud

import closeread
from closeread.exceptions import RequestError
from closeread.tasks import load_procedure, procedure_names
from closeread.tasks.coref.metrics.scores import SELECTED, TITLES
from closeread.tasks.coref.procedure import PROCEDURE

COREFUD = {
    "duplicates": "last",
    "undefined": "zero",
    "keep_singletons": "false",
    "blanc_edge": "luo2014",
    "matching": "head",
    "zeros": "corefud",
}


@pytest.fixture
def pair(tmp_path):
    key = {"1": "(e1-x-2-", "2": "e1)", "3": "(e2-x-1-)", "4": "(e1-x-1-)"}
    response = {"1": "", "2": "(e1-x-1-)", "3": "", "4": "(e1-x-1-)"}
    return [
        write_corefud(tmp_path / f"{name}.conllu", cells)
        for name, cells in (("key", key), ("response", response))
    ]


def score(key, response, **options):
    return closeread.score("coref", response, gold=key, resampling=NO_INTERVALS, **options)


def test_every_preset_can_be_used():
    for name in procedure_names():
        procedure = load_procedure(name)
        for preset, found in procedure.presets.items():
            options = procedure.resolve_options({"preset": preset})
            assert found.options.items() <= options.items()
            # Those of some years of CRAC have equal options, and other datasets.
            assert procedure.name_preset(options, preset, n_groups=2) == preset
            selected = procedure.select_metrics(None, {"preset": preset})
            assert set(selected.families) == set(found.metrics) <= set(procedure.families)
    of_codi_crac = {f"codicrac_{name}" for name in ("anaphora", "bridging", "deixis")}
    of_crac = {f"crac{year}" for year in range(2023, 2027)}
    assert set(PROCEDURE.presets) == {"conll2012", "corefud", *of_crac, *of_codi_crac}


def test_a_preset_is_the_same_as_its_options(pair):
    for name, options in (
        ("corefud", COREFUD),
        ("conll2012", {"duplicates": "reference", "undefined": "zero", "extra": "skip"}),
    ):
        by_name, by_hand = score(*pair, preset=name), score(*pair, **options)
        assert by_name.provenance == by_hand.provenance
        families = (*TITLES, "mor", "zeros")
        assert (
            by_name.total.scores.items()
            <= score(*pair, **options, metrics=families).total.scores.items()
        )
    assert score(*pair, preset="corefud").total.scores["conll/f1"].value == 1
    assert score(*pair, preset="conll2012").total.scores["conll/f1"].value < 1


def test_its_metrics_are_those_of_the_official_scorer(pair):
    def families(**options):
        return list(
            dict.fromkeys(name.partition("/")[0] for name in score(*pair, **options).total.scores)
        )

    assert families(preset="corefud") == [
        "muc",
        "b3",
        "ceafm",
        "ceafe",
        "blanc",
        "lea",
        "conll",
        "mor",
        "zeros",
    ]
    assert families(preset="conll2012") == [
        "mentions",
        "muc",
        "b3",
        "ceafm",
        "ceafe",
        "blanc",
        "conll",
    ]
    assert families(preset="corefud", metrics="lea") == ["lea"]
    assert families() == [*TITLES]
    assert families(metrics=("zeros", "mor")) == list(SELECTED[:2])


def test_options_override_a_preset(pair):
    provenance = score(*pair, preset="corefud", keep_singletons=True).provenance
    expected = {**PROCEDURE.resolve_options(COREFUD), "keep_singletons": "true"}
    assert provenance.options == PROCEDURE.keep_options(expected, reading=True)
    assert PROCEDURE.name_preset(provenance.options) is None


def test_the_table_names_the_preset(ran, pair):
    printed = ran("score", "coref", *pair, "--preset", "corefud", "--no-ci").splitlines()
    assert printed[-2:] == [
        "Preset: corefud.",
        f"Signature: {score(*pair, preset='corefud').provenance.signature}",
    ]
    assert [line.split()[0] for line in printed[4:13]][-3:] == ["CoNLL", "MOR", "Zeros"]
    by_hand = [f"--{name.replace('_', '-')}={value}" for name, value in COREFUD.items()]
    assert "Preset: corefud." in ran("score", "coref", *pair, *by_hand, "--no-ci")
    other = ran("score", "coref", *pair, "--preset", "corefud", "--average", "documents", "--no-ci")
    assert "Preset" not in other
    assert "Preset" not in ran("score", "coref", *pair, "--no-ci")


def test_systems_are_compared_with_a_preset(ran, pair, tmp_path):
    key, response = pair
    printed = ran("compare", "coref", key, response, key, "--preset", "corefud")
    assert "Preset: corefud." in printed.splitlines()
    stored = tmp_path / "counts.parquet"
    ran("score", "coref", key, key, "--preset", "corefud", "--counts", stored, "--no-ci")
    found = json.loads(
        ran("compare", "coref", key, response, stored, "--preset", "corefud", "--json")
    )
    scores = score(*pair, preset="corefud").total.scores
    assert list(found[0]["differences"]) == [
        name for name in scores if not name.endswith(("/precision", "/recall"))
    ]
    assert (
        closeread.compare("coref", response, key, gold=key, preset="corefud")
        .differences["conll/f1"]
        .value
        == 0
    )
    assert ran("validate", "coref", key, response, "--preset", "corefud").startswith(str(response))


def test_stored_counts_have_all_their_metrics(ran, pair, tmp_path):
    stored = tmp_path / "counts.parquet"
    direct = json.loads(
        ran("score", "coref", *pair, "--preset", "corefud", "--counts", stored, "--no-ci", "--json")
    )
    again = json.loads(ran("score", "--from-counts", stored, "--no-ci", "--json"))
    assert direct["scores"] == again["scores"]  # mentions are counted, but the preset has none
    assert "Preset: corefud." in ran("score", "--from-counts", stored, "--no-ci")


def test_presets_that_do_not_exist(run, pair):
    with pytest.raises(
        RequestError, match=r"no such coref preset: 'corefu'\. Did you mean 'corefud'\?"
    ):
        score(*pair, preset="corefu")
    with pytest.raises(RequestError, match=r"no such mctaco preset: 'x' \(choose from: none\)"):
        closeread.score("mctaco", [], config="sample", preset="x")
    result = run("score", "coref", *pair, "--preset", "conll")
    assert result.exit_code == 2
    assert "'conll' is not one of 'conll2012', 'corefud'" in result.stderr


def test_evaluate_modules_take_presets():
    module = closeread.load_metric("coref_conll")
    key = [[[0, 0], [1, 1]], [[2, 2]]]
    with_preset = module.compute(predictions=[key[:1]], references=[key], preset="conll2012")
    assert with_preset == module.compute(
        predictions=[key[:1]], references=[key], duplicates="reference"
    )
    with pytest.raises(RequestError, match="needs heads"):
        module.compute(predictions=[key], references=[key], preset="corefud")


def test_repeated_mentions_that_are_left_out_are_named(run, tmp_path):
    key = write_corefud(
        tmp_path / "k.conllu", {"1": "(e1-x-1-)(e2-x-1-)", "2": "(e1-x-1-)", "3": "(e2-x-1-)"}
    )
    response = copyfile(key, tmp_path / "r.conllu")
    result = run("score", "coref", key, response, "--preset", "corefud", "--no-ci")
    wanted = [
        f"note: the {side} repeats 1 mention; each counts in all of its entities, and its own is the last in the text"
        for side in ("key", "response")
    ]
    assert result.stderr.splitlines() == wanted


@pytest.mark.parametrize(
    ("files", "n_treebanks"),
    [
        (["en_ferry-corefud-dev", "de_markt-corefud-dev"], 2),
        (["en_ferry-corefud-dev", "en_ferry-corefud-test"], 1),
        (["en_ferry-corefud-dev"], 1),
        # These names do not tell the treebank.
        (["first", "second"], 1),
    ],
)
@pytest.mark.filterwarnings("ignore:pooled over:closeread.CloseReadWarning")
def test_treebanks_that_are_pooled_are_told(files, n_treebanks, tmp_path, run):
    for side in ("key", "response"):
        (tmp_path / side).mkdir()
        for number, name in enumerate(files):
            cells = {"1": "(e1-x-1-)", "2": "(e1-x-1-)"}
            path = write_corefud(tmp_path / side / f"{name}.conllu", cells)
            text = path.read_text("utf-8").replace("newdoc id = d", f"newdoc id = d{number}")
            path.write_text(text, "utf-8")
    key, response = tmp_path / "key", tmp_path / "response"
    note = "pooled over 2 treebanks; CRAC reports their mean"
    counted = closeread.count("coref", response, gold=key)
    assert any(note in notice for notice in counted.notices) == (n_treebanks == 2)
    done = run("score", "coref", key, response, "--no-ci")
    assert (f"note: {note}: --average groups" in done.stderr) == (n_treebanks == 2)
    # With the preset, they are not pooled.
    done = run("score", "coref", key, response, "--preset", "corefud", "--no-ci")
    assert note not in done.stderr
    assert ("average:groups|groups:2" in done.stdout) == (n_treebanks == 2)
    micro = ("--preset", "corefud", "--average", "micro", "--no-ci")
    done = run("score", "coref", key, response, *micro)
    assert ("Preset: corefud" in done.stdout) == (n_treebanks == 1)
