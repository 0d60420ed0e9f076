"""Every entry point gives the same scores and signature: files in all formats, records, evaluate, stored counts."""

import json
import pickle
from copy import deepcopy
from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest
from shared import json_lines
from shared.entry_points import (
    COREF_FORMATS,
    COREF_FORMS,
    CORPORA,
    KEY,
    NOTES_OF_SAMPLES,
    RESPONSE,
    TIMEML_FILES,
    flat,
    sample_gold,
    system_rows,
    with_heads,
    write_form,
    write_key,
)
from shared.late import datasets, evaluate

import closeread
from closeread.corpus.names import corpus_names, load_corpus
from closeread.corpus.submissions import dump_submission
from closeread.counts.counts import Counts, make_report
from closeread.counts.estimates import Resampling
from closeread.counts.report import Report
from closeread.exceptions import FormatError
from closeread.tasks import load_procedure, procedure_names

pytestmark = NOTES_OF_SAMPLES

QUICK = Resampling(n_resamples=0)


def essence(report):
    """What has to be the same whatever entry point a report came from."""
    return flat(report), report.provenance.signature


def nearly(scores):
    """Scores but for the last digits: the same counts may be added in another order."""
    return {name: None if value is None else round(value, 12) for name, value in scores.items()}


def values(part):
    return {name: score["value"] for name, score in part["scores"].items()}


@pytest.fixture(params=CORPORA, ids=lambda name: name)
def corpus(request, here):
    """A corpus, with its sample as gold.jsonl and a system's rows as system.jsonl."""
    gold = sample_gold(request.param)
    Path("gold.jsonl").write_text(json_lines.dump(gold), "utf-8")
    Path("system.jsonl").write_text(json_lines.dump(system_rows(request.param)), "utf-8")
    return request.param


@pytest.fixture
def expected(corpus):
    """What `closeread.score` says of the sample."""
    return essence(closeread.score(corpus, "system.jsonl", config="sample", resampling=QUICK))


def test_every_corpus_and_every_procedure_is_here():
    # Temporal links have no evaluate module; tests/tlinks/test_link_corpora.py scores their samples.
    of_links = {name for name in corpus_names() if load_corpus(name).family == "tlinks"}
    assert set(CORPORA) | of_links == set(corpus_names())
    assert {load_corpus(name).procedure for name in CORPORA} | {"tlinks"} == set(procedure_names())


def test_the_system_is_neither_perfect_nor_empty(expected):
    scores, _ = expected
    assert any(0 < value < 1 for value in scores.values() if value is not None)


def test_own_gold_in_parquet(corpus, expected, run):
    assert run("export", corpus, "exported", "--config", "sample").exit_code == 0
    (parquet,) = Path("exported/sample").glob("test-*.parquet")
    assert (
        essence(closeread.score(corpus, "system.jsonl", gold=parquet, resampling=QUICK)) == expected
    )


LEFT_OUT = {"domain", "forum", "anchor_kind", "lower", "upper", "open_start", "open_end"}
"""The fields that reading adds: TNE's from the source, those of WikiPossessions from the anchor."""


def leave_out(value):
    """The same without the fields that reading adds."""
    if isinstance(value, list):
        return list(map(leave_out, value))
    if isinstance(value, dict):
        return {name: leave_out(one) for name, one in value.items() if name not in LEFT_OUT}
    return value


FORMS = {
    "rows": lambda rows: rows,
    "pandas": lambda rows: pa.Table.from_pylist(rows).to_pandas(),
    "arrow": pa.Table.from_pylist,
    "dataset": lambda rows: datasets.Dataset.from_list(rows),
    "stream": lambda rows: datasets.Dataset.from_list(rows).to_iterable_dataset(),
    "columns": lambda rows: {name: [row.get(name) for row in rows] for name in rows[0]},
    "generator": lambda rows: (row for row in rows),
}


@pytest.mark.parametrize(
    "forms", [("rows", "arrow"), tuple(FORMS)], ids=["without derived fields", "whole"]
)
def test_both_sides_in_every_form(corpus, expected, forms):
    system = system_rows(corpus)
    gold = sample_gold(corpus) if len(forms) == len(FORMS) else leave_out(sample_gold(corpus))
    copy = deepcopy(gold)
    Path("gold.jsonl").write_text(json_lines.dump(gold), "utf-8")
    assert (
        essence(closeread.score(corpus, "system.jsonl", gold="gold.jsonl", resampling=QUICK))
        == expected
    )
    for name in forms:
        taken, key = FORMS[name](system), FORMS[name](gold)
        assert essence(closeread.score(corpus, taken, gold=key, resampling=QUICK)) == expected, name
    assert gold == copy


def test_gold_of_the_first_version_of_tne_in_memory(here):
    rows, first = leave_out(sample_gold("tne")), leave_out(sample_gold("tne"))
    for row in first:
        row["nps"] = {one["id"]: one for one in row["nps"]}
    system = system_rows("tne")
    found = [
        essence(closeread.score("tne", system, gold=gold, resampling=QUICK))
        for gold in (rows, first)
    ]
    assert found[0] == found[1]
    first[1]["nps"]["np0"]["id"] = "np1"
    with pytest.raises(FormatError, match="row 1: nps: noun phrase 'np0' has the id 'np1'"):
        closeread.score("tne", system, gold=first)


def test_submissions_in_every_format(corpus, expected):
    declared = load_corpus(corpus)
    rows = system_rows(corpus)
    for number, name in enumerate(declared.submission_formats):
        path = Path(f"other-{number}")
        if CORPORA[corpus].write is not None:
            CORPORA[corpus].write(rows, path, corpus)
            assert (
                essence(closeread.score(corpus, path, config="sample", resampling=QUICK))
                == expected
            ), name


def test_records_in_any_order(corpus, expected):
    gold, rows = sample_gold(corpus), system_rows(corpus)
    assert (
        essence(closeread.score(corpus, rows[::-1], config="sample", resampling=QUICK)) == expected
    )
    compared = closeread.compare(
        corpus, rows, "system.jsonl", gold=gold[::-1], resampling=Resampling(1)
    )
    first, second = compared.reports
    assert essence(first) == essence(second)
    scores, signature = essence(first)
    assert (nearly(scores), signature) == (nearly(expected[0]), expected[1])


def test_evaluate(corpus, expected):
    if "average:groups" in expected[1]:
        pytest.skip("a module of evaluate gets no groups")
    names = load_procedure(load_corpus(corpus).procedure).modules
    predictions = CORPORA[corpus].predictions(system_rows(corpus))
    test = closeread.load_dataset(corpus, "sample", split="test")
    # A module of a procedure does not know what is usual for a corpus.
    usual = {"preset": load_corpus(corpus).preset} if load_corpus(corpus).preset else {}
    for name, records in product(names, (sample_gold(corpus), test)):
        module, references = evaluate.load(name), CORPORA[corpus].references(records)
        scores, signature = essence(
            module.report(predictions=predictions, references=references, resampling=QUICK, **usual)
        )
        # Clusters alone have no empty nodes, which are a part of the gold if zeros are matched by dependencies.
        assert signature == expected[1] or "zeros:corefud" in expected[1]
        # A procedure may have a module for each of its metrics, of which a preset may leave some out.
        assert {**scores, **expected[0]} == {**expected[0], **scores}
        assert len(names) > 1 or scores.keys() == expected[0].keys()
        scored = module.compute(predictions=predictions, references=references, **usual)
        assert scored == scores


def test_the_command_line_and_stored_counts(corpus, expected, ran):
    said = ran(
        "score",
        corpus,
        "system.jsonl",
        "--config",
        "sample",
        "--no-ci",
        "--json",
        "--counts",
        "kept.parquet",
    )
    assert essence(Report.from_json(json.loads(said))) == expected
    kept = Counts.load("kept.parquet")
    for counts in (kept, pickle.loads(pickle.dumps(kept))):
        assert essence(make_report(counts, resampling=QUICK)) == expected
    again = ran("score", "--from-counts", "kept.parquet", "--no-ci", "--json")
    assert json.loads(again) == json.loads(said)


def test_shards_of_the_gold_merge_to_the_whole(corpus, expected, ran):
    declared = load_corpus(corpus)
    unit = getattr(load_procedure(declared.procedure).reader, "unit", "") or declared.key
    gold = sample_gold(corpus)
    first = {record[unit] for record in gold[: len(gold) // 3]}
    for number, in_first in enumerate((True, False)):
        shard = [record for record in gold if (record[unit] in first) == in_first]
        ids = {record[declared.key] for record in shard}
        Path(f"gold-{number}.jsonl").write_text(json_lines.dump(shard), "utf-8")
        rows = [row for row in system_rows(corpus) if row[declared.key] in ids]
        Path(f"system-{number}.jsonl").write_text(
            dump_submission(rows, declared, ".jsonl"), "utf-8"
        )
        options = ("--gold", f"gold-{number}.jsonl", "--no-ci", "--counts", f"{number}.parquet")
        # One treebank alone is averaged over groups only if that is asked for.
        options += ("--average", "groups") if "average:groups" in expected[1] else ()
        ran("score", corpus, f"system-{number}.jsonl", *options)
    ran("merge", "1.parquet", "0.parquet", "-o", "all.parquet")
    merged = json.loads(ran("score", "--from-counts", "all.parquet", "--no-ci", "--json"))
    scores, signature = essence(Report.from_json(merged))
    assert signature == expected[1]
    assert nearly(scores) == nearly(expected[0])
    whole = ("score", corpus, "system.jsonl", "--gold", "gold.jsonl", "--no-ci", "--json")
    stored = Counts.load("all.parquet")
    # Those that the command line offers, of which some are of files in folders only, and the group in a corpus.
    assert set(stored.table.fields) <= {*stored.procedure.fields, "group"}
    for field in (*stored.table.breakdowns, *CORPORA[corpus].fields):
        slices = json.loads(ran(*whole, "--by", field))["slices"][field]
        of_all = json.loads(
            ran("score", "--from-counts", "all.parquet", "--no-ci", "--json", "--by", field)
        )
        merged_slices = of_all["slices"][field]
        assert {name: nearly(values(one)) for name, one in merged_slices.items()} == {
            name: nearly(values(one)) for name, one in slices.items()
        }


@pytest.mark.parametrize("response", [*COREF_FORMATS, "records"])
@pytest.mark.parametrize("key", [*COREF_FORMATS, "records"])
def test_coreference(key, response, here, ran):
    key, response = write_key("key", key), write_key("response", response)
    expected = essence(closeread.score("coref", RESPONSE, gold=KEY, resampling=QUICK))
    assert essence(closeread.score("coref", response, gold=key, resampling=QUICK)) == expected
    for name in load_procedure("coref").modules:
        lists = [[record["clusters"] for record in side] for side in (KEY, RESPONSE)]
        report = evaluate.load(name).report(
            predictions=lists[1], references=lists[0], resampling=QUICK
        )
        scores, signature = essence(report)
        assert signature == expected[1]
        assert scores.items() <= expected[0].items()
    if isinstance(key, Path) and isinstance(response, Path):
        said = ran("score", "coref", key, response, "--no-ci", "--json", "--counts", "kept.parquet")
        assert essence(Report.from_json(json.loads(said))) == expected
        again = json.loads(ran("score", "--from-counts", "kept.parquet", "--no-ci", "--json"))
        assert again == json.loads(said)


@pytest.mark.parametrize("sides", [("key", "response"), ("response", "key")])
@pytest.mark.parametrize("form", COREF_FORMS)
def test_other_forms_of_coreference(form, sides, here, ran):
    key, response = write_key("key", "conllu"), write_key("response", "coref_json")
    expected = essence(closeread.score("coref", response, gold=key, resampling=QUICK))
    key, response = (
        write_form(side, form) if side == sides[0] else path
        for side, path in (("key", key), ("response", response))
    )
    assert essence(closeread.score("coref", response, gold=key, resampling=QUICK)) == expected
    if form != "e2e records":
        said = ran("score", "coref", key, response, "--no-ci", "--json", "--counts", "kept.parquet")
        assert essence(Report.from_json(json.loads(said))) == expected
        again = json.loads(ran("score", "--from-counts", "kept.parquet", "--no-ci", "--json"))
        assert again == json.loads(said)


@pytest.mark.parametrize("matching", ["head", "partial"])
def test_coreference_by_heads(matching, here, ran):
    sides = [with_heads(KEY), with_heads(RESPONSE)]
    expected = essence(
        closeread.score("coref", sides[1], gold=sides[0], resampling=QUICK, matching=matching)
    )
    bare = closeread.score("coref", RESPONSE, gold=KEY, resampling=QUICK)
    assert expected[1] != bare.provenance.signature
    for formats in product(("conllu", "coref_json"), repeat=2):
        paths = [
            write_key(*place) for place in zip(("key", "response"), formats, sides, strict=True)
        ]
        said = ran("score", "coref", *paths, "--no-ci", "--json", "--matching", matching)
        assert essence(Report.from_json(json.loads(said))) == expected
    lists = [[record["clusters"] for record in side] for side in sides]
    for name in load_procedure("coref").modules:
        module = evaluate.load(name)
        report = module.report(
            predictions=lists[1], references=lists[0], resampling=QUICK, matching=matching
        )
        scores, signature = essence(report)
        assert signature == expected[1]
        assert scores.items() <= expected[0].items()
        module.add_batch(predictions=lists[1], references=lists[0])
        assert module.compute(matching=matching) == scores
        exact = module.report(predictions=lists[1], references=lists[0], resampling=QUICK)
        assert essence(exact)[1] == bare.provenance.signature


def test_links_of_timeml(here, ran):
    for side, documents in TIMEML_FILES.items():
        Path(side).mkdir()
        for name, text in documents.items():
            Path(side, f"{name}.tml").write_text(text, "utf-8")
    expected = essence(
        closeread.score("tlinks", Path("response"), gold=Path("key"), resampling=QUICK)
    )
    said = ran(
        "score",
        "tlinks",
        "key",
        "response",
        "--no-ci",
        "--json",
        "--by",
        "type",
        "--counts",
        "kept.parquet",
    )
    assert essence(Report.from_json(json.loads(said))) == expected
    again = json.loads(
        ran("score", "--from-counts", "kept.parquet", "--no-ci", "--json", "--by", "type")
    )
    assert again == json.loads(said)
    for name in TIMEML_FILES["key"]:
        ran(
            "score",
            "tlinks",
            f"key/{name}.tml",
            f"response/{name}.tml",
            "--no-ci",
            "--counts",
            f"{name}.parquet",
        )
    ran("merge", *(f"{name}.parquet" for name in TIMEML_FILES["key"]), "-o", "all.parquet")
    merged = json.loads(ran("score", "--from-counts", "all.parquet", "--no-ci", "--json"))
    assert essence(Report.from_json(merged)) == expected
