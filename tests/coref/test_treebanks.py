"""The mean of the scores of treebanks, as CRAC reports it.

Gold and two systems of three invented treebanks are in `tests/cases/treebanks`.  The values of `expected.json` are those
of the official corefud-scorer 1.2 for each treebank alone, with its counts of documents summed and swapped by hand.
"""

import csv
import json
from itertools import chain
from pathlib import Path
from shutil import copytree, rmtree

import numpy as np
import pytest

import closeread
from closeread.counts.counts import Counts
from closeread.counts.estimates import Resampling
from closeread.counts.report import Report
from closeread.exceptions import RequestError, SubmissionError
from closeread.tasks.coref.crac import PRESETS

FOLDER = Path(__file__).parents[1] / "cases" / "treebanks"
EXPECTED = json.loads((FOLDER / "expected.json").read_text("utf-8"))
LISTED = pytest.mark.filterwarnings("ignore:.*datasets of crac2026:closeread.CloseReadWarning")
pytestmark = [
    LISTED,
    pytest.mark.filterwarnings("ignore:1 of . groups has no:closeread.CloseReadWarning"),
    pytest.mark.filterwarnings("ignore:the (key|response) has no:closeread.CloseReadWarning"),
]
TITLES = {"muc": "muc", "bcub": "b3", "ceafe": "ceafe"}
SETTINGS = {
    "head": {},
    "exact": {"matching": "exact"},
    "partial": {"matching": "partial"},
    "with_singletons": {"keep_singletons": True},
}


@pytest.fixture
def folders(tmp_path):
    """Key and systems as folders, without the treebank that has only singletons."""
    for name in ("gold", "a", "b"):
        copytree(FOLDER / name, tmp_path / name)
        (tmp_path / name / "en_lone-corefud-minidev.conllu").unlink()
    return tmp_path


def score(folder, system, **options):
    options = {"preset": "crac2026", "ci": False, **options}
    return closeread.score("coref", folder / system, gold=folder / "gold", **options)


@pytest.mark.parametrize("system", ["a", "b"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_every_score_is_that_of_the_official_scorer(setting, system):
    report = score(FOLDER, system, **SETTINGS[setting])
    expected = EXPECTED[system][setting]
    assert list(report.groups) == ["de_markt", "en_ferry", "en_lone"]
    for treebank, scores in report.groups.items():
        for official, metric in TITLES.items():
            for part, value in expected[treebank][official].items():
                assert scores.scores[f"{metric}/{part}"].value == pytest.approx(value, abs=1e-10)
        conll = scores.scores["conll/f1"].value
        assert conll == pytest.approx(expected[treebank]["conll"], abs=1e-10)
    mean = expected["macro of all three (undefined = 0)"]["conll"]
    assert report["conll/f1"].value == pytest.approx(mean, abs=1e-10)


@pytest.mark.parametrize("system", ["a", "b"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_mean_of_two_treebanks(setting, system, folders):
    report = score(folders, system, **SETTINGS[setting])
    expected = EXPECTED[system][setting]["macro of en_ferry, de_markt"]
    for official, value in expected.items():
        metric = TITLES.get(official, official)
        assert report[f"{metric}/f1"].value == pytest.approx(value, abs=1e-10)
    assert "|average:groups|groups:2|undefined:zero|" in report.provenance.signature
    # F1 is the mean of the F1 of treebanks, not of the mean precision and recall.
    recalls = [EXPECTED[system][setting][name]["muc"]["recall"] for name in report.groups]
    assert report["muc/recall"].value == pytest.approx(sum(recalls) / 2, abs=1e-10)


def test_undefined_scores_are_left_out_if_asked():
    for system, mean in (("a", 92.29), ("b", 71.57)):
        report = score(FOLDER, system, undefined="skip")
        assert round(100 * report["conll/f1"].value, 2) == mean
        assert report.groups["en_lone"].scores["conll/f1"].value is None
    # With singletons, B³ and CEAFe of the treebank are 1, MUC is 0/0, and so CoNLL F1 is undefined.
    report = score(FOLDER, "a", undefined="skip", keep_singletons=True)
    lone = report.groups["en_lone"].scores
    assert (lone["muc/f1"].value, lone["b3/f1"].value, lone["conll/f1"].value) == (None, 1, None)
    assert round(100 * report["conll/f1"].value, 2) == 91.65
    options = {"preset": "corefud", "metrics": ("muc", "conll"), "keep_singletons": True}
    gold = FOLDER / "gold"
    for undefined, how in (("skip", "left out of"), ("zero", "counted as 0 in")):
        counts = closeread.count("coref", FOLDER / "a", gold=gold, undefined=undefined, **options)
        assert (
            f"1 of 3 groups has no MUC F1{', CoNLL F1' if undefined == 'skip' else ''} (0/0): {how} the mean"
            in (counts.notices[-1])
        )


def test_blocks_are_resampled_inside_treebanks(folders):
    draws = EXPECTED["resampling"][
        "bootstrap within groups: macro of the 4 equally likely draws of (ferry, ferry), markt fixed"
    ]
    for system, values in draws.items():
        estimate = score(folders, system, ci=True)["conll/f1"]
        # Each of the four draws has a quarter of the resamples, so these are their extremes.
        assert estimate.low == pytest.approx(min(values), abs=1e-9)
        assert estimate.high == pytest.approx(max(values), abs=1e-9)


def compare(folders, **options):
    options = {"preset": "crac2026", "correction": "none", **options}
    systems = {name: folders / name for name in ("a", "b")}
    return closeread.compare("coref", systems, gold=folders / "gold", **options)


def test_systems_are_compared_by_the_difference_of_means(folders):
    resampling = EXPECTED["resampling"]
    found = compare(folders, resamples=20_000)["conll/f1"]
    assert found.value == pytest.approx(resampling["difference b - a"], abs=1e-10)
    # 6 of the 8 swaps are as large, and the sampled p-value varies with a standard deviation of 0.003.
    assert found.p_randomization == pytest.approx(0.75, abs=0.015)
    differences = resampling["differences of these draws"]
    assert found.low == pytest.approx(min(differences), abs=1e-9)
    assert found.high == pytest.approx(max(differences), abs=1e-9)


def test_each_treebank_is_tested_as_if_alone(folders):
    comparison = compare(folders)
    (pair,) = comparison
    ferry = pair.group_tests["en_ferry"][0].difference
    for name in ("gold", "a", "b"):
        (folders / name / "de_markt-corefud-minidev.conllu").unlink()
    assert ferry == compare(folders)["conll/f1"]
    # A single document can't be resampled.
    assert np.isnan(pair.group_tests["de_markt"][0].difference.p_randomization)


def test_one_treebank_is_the_mean_of_itself(folders):
    for name in ("gold", "a", "b"):
        (folders / name / "de_markt-corefud-minidev.conllu").unlink()
    mean = score(folders, "a", ci=True, average="groups")
    micro = score(folders, "a", ci=True, average="micro")
    assert mean.total == micro.total
    assert mean.groups["en_ferry"] == micro.total
    # A preset averages only if there are several.
    assert score(folders, "a", ci=True) == micro


def cut(folder, name, chosen):
    """Copy the documents of a side with some numbers, in the order of the text, to a folder of its own."""
    number = 0
    target = folder / f"{name}-{'-'.join(map(str, chosen))}"
    target.mkdir()
    for path in sorted((folder / name).iterdir()):
        kept = []
        for text in path.read_text("utf-8").split("# newdoc")[1:]:
            if number in chosen:
                kept.append(f"# newdoc{text}")
            number += 1
        if kept:
            (target / path.name).write_text("".join(kept), "utf-8")
    return target


@pytest.mark.parametrize("shards", [[[0], [1, 2]], [[0, 1], [2]], [[0], [1], [2]], [[0, 2], [1]]])
def test_shards_in_any_cut_give_the_same_bytes(shards, folders):
    """Shards may cut a treebank, and some have only one."""
    metrics = ("muc", "b3", "ceafe", "conll")
    options = {"preset": "corefud", "average": "groups", "metrics": metrics}

    def count(chosen):
        response = cut(folders, "a", chosen)
        return closeread.count("coref", response, gold=cut(folders, "gold", chosen), **options)

    whole = count([0, 1, 2])
    merged = closeread.merge(count(chosen) for chosen in shards)
    assert merged.report().to_json() == whole.report().to_json()
    assert sorted(merged.table.units) == [
        "de_markt/markt-1",
        "en_ferry/ferry-1",
        "en_ferry/ferry-2",
    ]
    if list(chain.from_iterable(shards)) == [0, 1, 2]:
        assert merged.to_bytes() == whole.to_bytes()
    again = Counts.from_bytes(whole.to_bytes())
    assert list(again.table.groups) == ["de_markt", "en_ferry", "en_ferry"]
    assert again.to_bytes() == whole.to_bytes()


def test_the_order_of_files_and_the_names_of_treebanks_do_not_matter(folders):
    before = score(folders, "a", ci=True)
    for side in ("gold", "a"):
        for path in sorted((folders / side).iterdir()):
            path.rename(path.with_name(path.name.replace("de_markt", "xx_last")))
    after = score(folders, "a", ci=True)
    assert list(after.groups) == ["en_ferry", "xx_last"]
    assert {name: estimate.value for name, estimate in after.scores.items()} == {
        name: estimate.value for name, estimate in before.scores.items()
    }
    # Its only document is always drawn, so even the interval is the same.
    assert after.scores["conll/f1"] == before.scores["conll/f1"]
    assert after.provenance.signature != before.provenance.signature


def test_a_treebank_without_response_is_an_error(folders):
    (folders / "a" / "de_markt-corefud-minidev.conllu").unlink()
    with pytest.raises(
        RequestError,
        match=r"no response for 'de_markt'; missing='empty' scores it as 0, missing='skip' leaves it out and says the "
        "mean is over 1 of 2",
    ):
        score(folders, "a")
    half = EXPECTED["a"]["head"]["en_ferry"]["conll"]
    assert score(folders, "a", missing="empty")["conll/f1"].value == pytest.approx(half / 2)
    with pytest.warns(
        closeread.CloseReadWarning,
        match="the mean is over 1 of 2 groups: no response for 'de_markt'",
    ):
        report = score(folders, "a", missing="skip")
    assert report["conll/f1"].value == pytest.approx(half)


def test_other_treebanks_of_a_response_are_left_out(folders):
    (folders / "gold" / "de_markt-corefud-minidev.conllu").unlink()
    with pytest.warns(
        closeread.CloseReadWarning, match="left out, since the key has no such treebank: 'de_markt'"
    ):
        report = score(folders, "a", average="groups")
    assert list(report.groups) == ["en_ferry"]


def join_files(folder, path):
    path.write_text("".join(file.read_text("utf-8") for file in sorted(folder.iterdir())), "utf-8")
    return path


def test_a_response_in_one_file_is_matched_by_the_names_of_documents(folders):
    joined = join_files(folders / "a", folders / "joined.conllu")
    with pytest.warns(closeread.CloseReadWarning, match="3 documents matched by name"):
        report = score(folders, "joined.conllu")
    assert report.total == score(folders, "a").total
    for side in ("gold", "a"):
        path = folders / side / "de_markt-corefud-minidev.conllu"
        path.write_text(path.read_text("utf-8").replace("= markt-1", "= ferry-1"), "utf-8")
    # Two treebanks have a document of this name, which is no duplicate.
    names = [row["document"] for row in score(folders, "a").units]
    assert names == ["de_markt/ferry-1", "en_ferry/ferry-1", "en_ferry/ferry-2"]
    (folders / "a" / "de_markt-corefud-minidev.conllu").unlink()
    join_files(folders / "a", joined)
    with pytest.raises(
        SubmissionError,
        match="'ferry-1' may be any of 'de_markt/ferry-1', 'en_ferry/ferry-1'; split the response",
    ):
        score(folders, "joined.conllu")


def test_lists_of_datasets_are_compared_with_those_of_the_year(folders):
    counted = {name: len(preset.groups) for name, preset in PRESETS.items()}
    assert counted == {"crac2023": 17, "crac2024": 21, "crac2025": 22, "crac2026": 27}
    for side in ("gold", "a"):
        for treebank in PRESETS["crac2026"].groups[2:]:
            source = folders / side / "de_markt-corefud-minidev.conllu"
            copy = source.with_name(f"{treebank}-corefud-minidev.conllu")
            copy.write_text(source.read_text("utf-8"), "utf-8")
        source.unlink()
        (folders / side / "en_ferry-corefud-minidev.conllu").unlink()
    with pytest.warns(
        closeread.CloseReadWarning,
        match="25 of the 27 datasets of crac2026; missing: 'ca_ancora', 'cs_pcedt'",
    ):
        report = score(folders, "a")
    assert report.preset == "crac2026, over 25 of 27 datasets"
    assert report["conll/f1"].value == 1
    assert score(folders, "a", preset="corefud").preset == "corefud"
    rmtree(folders / "gold")


def test_other_fields_are_groups(folders):
    by_language = score(folders, "a", group_by="language")
    assert list(by_language.groups) == ["de", "en"]
    fields = folders / "fields.csv"
    rows = "de_markt/markt-1,x\nen_ferry/ferry-1,x\nen_ferry/ferry-2,y\n"
    fields.write_text(f"document,half\n{rows}", "utf-8")
    by_half = closeread.score(
        "coref",
        folders / "a",
        gold=folders / "gold",
        group_by="half",
        fields=fields,
        resampling=Resampling(0),
    )
    assert {name: group.n_units for name, group in by_half.groups.items()} == {"x": 2, "y": 1}
    with pytest.raises(RequestError, match=r"no document has a genre to group by \(fields of doc"):
        score(folders, "a", group_by="genre")
    with pytest.raises(RequestError, match="group_by= goes with average='groups'"):
        score(folders, "a", group_by="language", average="micro")


def test_pooled_treebanks_of_a_language_are_told(tmp_path):
    with pytest.warns(
        closeread.CloseReadWarning, match="3 treebanks are pooled in 2 groups by language"
    ):
        report = score(FOLDER, "a", group_by="language")
    assert {name: group.n_units for name, group in report.groups.items()} == {"de": 1, "en": 3}


def test_secondary_scores_are_those_of_the_options(folders):
    report = score(folders, "b", secondary=True)
    assert list(report.secondary) == ["head", "partial", "exact", "singletons"]
    for way, setting in zip(
        report.secondary, ("head", "partial", "exact", "with_singletons"), strict=True
    ):
        expected = EXPECTED["b"][setting]["macro of en_ferry, de_markt"]["conll"]
        assert report.secondary[way]["conll/f1"].value == pytest.approx(expected, abs=1e-10)


def test_tables_have_a_row_for_each_treebank(folders, ran, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = ran(
        "score", "coref", folders / "gold", folders / "a", "--preset", "crac2026"
    ).splitlines()
    assert max(map(len, lines[:8])) <= 80
    assert [line.split() for line in lines[4:7]] == [
        ["de_markt", "100.00", "100.00", "100.00", "100.00", "1"],
        ["en_ferry", "85.71", "83.58", "84.44", "84.58", "2"],
        ["mean", "92.86", "91.79", "92.22", "92.29", "3", "86.94", "to", "95.10"],
    ]
    systems = (folders / "gold", folders / "a", folders / "b", "--preset", "crac2026")
    compared = ran("compare", "coref", *systems)
    assert "mean        92.29   71.57   -20.72   -27.53 to -9.92" in compared
    table = ran("table", "coref", *systems)
    # A treebank of two documents decides nothing, and one of one document is not tested.
    assert "a         100.00      84.58†   92.29" in table
    assert "b          54.05‡     89.09    71.57†" in table
    latex = ran("table", "coref", *systems, "--format", "latex")
    assert r"a & \textbf{100.00} & 84.58\rlap{$^\dagger$} & \textbf{92.29} \\" in latex
    rows = list(csv.DictReader(ran("compare", "coref", *systems, "--format", "csv").splitlines()))
    assert [(row["group"], row["metric"]) for row in rows[:3]] == [
        ("de_markt", "conll/f1"),
        ("en_ferry", "conll/f1"),
        ("mean", "muc/f1"),
    ]
    differences = [100 * float(row["difference"]) for row in rows]
    assert [round(difference, 2) for difference in (*differences[:2], differences[-1])] == [
        -45.95,
        4.51,
        -20.72,
    ]
    printed = json.loads(ran("score", "coref", *systems[:2], "--preset", "crac2026", "--json"))
    assert printed["groups"]["en_ferry"]["n_units"] == 2
    again = Report.from_json(printed)
    assert again.groups["en_ferry"].scores["muc/recall"].value == 0.75
