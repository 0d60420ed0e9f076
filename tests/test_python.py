"""The functions of `closeread`: objects score as files do, results are those of the command line, all are listed."""

import inspect
import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from shared import json_lines
from shared.entry_points import (
    KEY,
    NOTES_OF_SAMPLES,
    RESPONSE,
    TASKS,
    flat,
    sample_gold,
    system_rows,
)
from shared.late import pandas as pd

import closeread
from closeread.counts.estimates import Resampling
from closeread.exceptions import InputError, RequestError
from closeread.files import package_folder
from closeread.formats.json_lines import dump_json_lines

pytestmark = NOTES_OF_SAMPLES

QUICK = Resampling(n_resamples=0)
CLUSTERS = [{record["document"]: record["clusters"] for record in side} for side in (KEY, RESPONSE)]


def essence(report):
    return flat(report), report.provenance.signature


@pytest.fixture
def here(here):
    for name, rows in (("key", KEY), ("response", RESPONSE)):
        Path(f"{name}.jsonl").write_text(dump_json_lines(rows), "utf-8")
    return here


def test_parameters_of_intervals_are_keywords_as_on_the_command_line(here, run):
    rows = system_rows("mctaco")
    json_lines.write("a.jsonl", rows)
    place, few = {"config": "sample"}, {"resamples": 50, "confidence": 0.9, "seed": 7}
    flags = (
        "--config",
        "sample",
        "--resamples",
        "50",
        "--confidence",
        "0.9",
        "--seed",
        "7",
        "--json",
    )
    whole = Resampling(50, 0.9, 7)
    for call, command in (
        (lambda **given: closeread.score("mctaco", rows, **place, **given), ("score", "mctaco")),
        (lambda **given: closeread.errors("mctaco", rows, **place, **given), ("errors", "mctaco")),
        (
            lambda **given: closeread.table("mctaco", {"a": rows}, **place, **given),
            ("table", "mctaco"),
        ),
    ):
        found = call(**few).to_dict()
        assert found == call(resampling=whole).to_dict()
        assert json.loads(json.dumps(found)) == json.loads(run(*command, "a.jsonl", *flags).stdout)
        with pytest.raises(RequestError, match="resampling"):
            call(seed=7, resampling=whole)
    assert closeread.score("mctaco", rows, **place, ci=False).scores["f1"].low is None


def test_labels_that_are_stored_as_integers_have_their_names(here):
    gold, rows = sample_gold("mctaco"), system_rows("mctaco")
    expected = essence(closeread.score("mctaco", rows, gold=gold, resampling=QUICK))
    names = ["no", "yes"]
    numbered = [{**row, "label": names.index(row["label"])} for row in gold]
    pa.parquet.write_table(pa.Table.from_pylist(numbered), "gold.parquet")
    for source in (numbered, "gold.parquet"):
        system = [{**row, "label": names.index(row["label"])} for row in rows]
        assert essence(closeread.score("mctaco", system, gold=source, resampling=QUICK)) == expected


def test_clusters_score_as_files_do(here):
    expected = essence(
        closeread.score("coref", "response.jsonl", gold="key.jsonl", resampling=QUICK)
    )
    for form in (
        lambda side: side,
        lambda side: list(side.values()),
        lambda side: {
            name: [np.array(cluster) for cluster in clusters] for name, clusters in side.items()
        },
        lambda side: tuple(tuple(map(tuple, clusters)) for clusters in side.values()),
    ):
        key, response = map(form, CLUSTERS)
        assert essence(closeread.score("coref", response, gold=key, resampling=QUICK)) == expected


def test_baselines_are_those_of_the_command_line(here, run):
    run("baseline", "mctaco", "random", "--seed", "3", "--config", "sample", "-o", "rows.jsonl")
    rows = closeread.baseline("mctaco", "random", seed=3, config="sample", output="mine.jsonl")
    assert (
        Path("mine.jsonl").read_bytes()
        == Path("rows.jsonl").read_bytes()
        == dump_json_lines(rows).encode()
    )
    with pytest.raises(RequestError, match="option"):
        closeread.baseline("mctaco", "random", sed=3, config="sample")


def test_agreement_and_errors_are_those_of_the_command_line(here, run):
    for nouns, found in (
        # Tables name the annotators as they are given.
        (["agreement", "coref"], closeread.agreement("coref", "key.jsonl", "response.jsonl")),
        (["errors", "coref"], closeread.errors("coref", CLUSTERS[1], gold=CLUSTERS[0])),
        (["errors", "chains"], closeread.errors("chains", CLUSTERS[1], gold=CLUSTERS[0])),
    ):
        assert json.loads(
            run(*nouns, "key.jsonl", "response.jsonl", "--json").stdout
        ) == json.loads(json.dumps(found.to_dict()))
        assert (
            run(*nouns, "key.jsonl", "response.jsonl", "--format", "csv").stdout == found.to_csv()
        )
        assert run(*nouns, "key.jsonl", "response.jsonl").stdout == f"{found}\n"
        assert len(found.to_frame()) == len(found._to_rows()[1])


@pytest.mark.parametrize("corpus", ["tne", "semeval2015_timeline", "wikipossessions"])
def test_annotators_may_be_objects(corpus, here):
    gold = sample_gold(corpus)
    json_lines.write("anna.jsonl", gold)
    of_files, of_objects = (
        closeread.agreement(corpus, one, gold) for one in ("anna.jsonl", pd.DataFrame(gold))
    )
    assert of_files.mean == of_objects.mean
    assert set(of_files.mean.values()) - {None} == {1.0}


@pytest.mark.gate
def test_figures_are_those_of_the_command_line(here, run):
    entity = sample_gold("semeval2015_timeline")[0]["entity"]
    run("plot", "timeline", entity, "--config", "sample", "-o", "theirs.svg")
    closeread.plot("timeline", entity, gold=sample_gold("semeval2015_timeline"), output="mine.svg")
    assert Path("mine.svg").read_bytes() == Path("theirs.svg").read_bytes()
    figure = closeread.plot("mistakes", *CLUSTERS)
    assert figure.axes[0].get_title() == "kind of mistaken chain"


def test_convert_writes_what_the_command_line_writes(here, run):
    run("convert", "coref", "key.jsonl", "-o", "theirs.jsonl")
    records = closeread.convert("coref", CLUSTERS[0], "mine.jsonl")
    assert Path("mine.jsonl").read_bytes() == Path("theirs.jsonl").read_bytes()
    assert [dict(record) for record in records] == KEY


def test_corpora_and_metrics_are_listed():
    assert list(closeread.corpora()) == sorted(TASKS)
    mctaco = closeread.corpora()["mctaco"]
    assert (mctaco.procedure, mctaco.metrics, "sample" in mctaco.configs) == (
        "mctaco",
        ("mctaco",),
        True,
    )
    assert "always-positive" in mctaco.baselines
    home = package_folder("closeread.evaluate_modules")
    folders = {path.name for path in home.iterdir() if (path / "__init__.py").is_file()}
    assert closeread.metrics().keys() == folders
    assert str(closeread.metrics()["coref_lea"]).startswith("LEA")


def test_problems_beyond_those_that_are_listed_are_counted():
    rows = [{"id": f"unknown-{number}", "label": "yes"} for number in range(500)]
    rows.append({"id": "test-00000", "label": "yes"})
    verdict = closeread.validate("mctaco", rows, config="sample", missing="empty")
    times = [
        int(found[1]) for one in verdict.problems if (found := re.search(r" \((\d+) times\)$", one))
    ]
    assert len(verdict.problems) - len(times) + sum(times) == 500


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda frame: closeread.score("mctaco", frame, config="sample"),
            "predictions: has no column 'id' (columns: 'label')",
        ),
    ],
)
def test_what_a_notebook_gets_wrong_is_one_sentence(call, message):
    with pytest.raises((RequestError, InputError)) as error:
        call(pd.DataFrame({"label": ["yes"]}))
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


SPLIT_KEY = {
    "letter": [[[0, 0], [1, 1], [2, 2]], [[4, 4], [5, 5]]],
    "note": [[[0, 0], [1, 1]]],
}
SPLIT_RESPONSE = {
    "letter": [[[0, 0], [1, 1]], [[2, 2], [4, 4], [5, 5]]],
    "note": [[[0, 0], [1, 1]]],
}


def test_a_family_of_one_score_and_a_title_are_names_of_it():
    report = closeread.score("coref", SPLIT_RESPONSE, gold=SPLIT_KEY, ci=False)
    assert report["conll"] == report["CoNLL F1"] == report["conll/f1"]
    assert report["MUC recall"] == report["muc/recall"]
    with pytest.raises(RequestError, match="no such score: 'muc'"):
        report["muc"]
    comparison = closeread.compare("coref", SPLIT_RESPONSE, SPLIT_KEY, gold=SPLIT_KEY)
    assert comparison["conll"] == comparison["CoNLL F1"] == comparison["conll/f1"]


def test_a_figure_shows_itself_in_a_notebook():
    pytest.importorskip("matplotlib")
    figure = closeread.plot("timeline", "Mara Lindqvist", config="sample")
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_signatures_show_types_alone():
    texts = {
        name: str(inspect.signature(getattr(closeread, name)))
        for name in closeread.__all__
        if inspect.isfunction(getattr(closeread, name))
    }
    assert [
        name for name, text in texts.items() if re.search(r"Annotated|Param\(|arg\.|: '", text)
    ] == []
    assert "counts: str | Path | None = None" in texts["score"]
    assert texts["score"].endswith("-> Report")
    place = "config: str | None = None, split: str | None = None"
    assert place in texts["score"]
    assert place in texts["errors"]
