"""Coreference from one format to another, on the command line."""

import json
import pkgutil
import re
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest
from shared.conll_documents import as_ontonotes

from closeread.tasks.coref import formats
from closeread.tasks.coref.files import load_format, read_documents
from closeread.tasks.coref.formats import FORMATS, WrittenFormat

CONLL = """#begin document (ferry); part 000
ferry 0 0 Ida (0
ferry 0 1 Voss 0)
ferry 0 2 thanked -
ferry 0 3 her (1)|(0)

#end document
"""


@pytest.fixture(params=[str, as_ontonotes])
def source(tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    path = Path("key.conll")
    path.write_text(request.param(CONLL), "utf-8")
    return path


def clusters(path):
    """Of every document its name and its entities, as sets of spans."""
    return sorted(
        (document.name, sorted({(mention.start, mention.end) for mention in entity.mentions}))
        for document in read_documents(Path(path)).documents
        for entity in document.entities
    )


WANTED = [("ferry; part 000", [(0, 1), (3, 3)]), ("ferry; part 000", [(3, 3)])]


@pytest.mark.parametrize("suffix", [".conllu", ".jsonl", ".ndjson", ".CONLL"])
def test_there_and_back(ran, source, suffix):
    assert clusters(source) == WANTED
    assert ran("convert", "coref", source, "-o", f"other{suffix}") == f"other{suffix}: 1 document\n"
    assert clusters(f"other{suffix}") == WANTED
    ran(
        "convert",
        "coref",
        f"other{suffix}",
        "-o",
        "back.conllu" if suffix == ".jsonl" else "back.jsonl",
    )
    assert clusters("back.conllu" if suffix == ".jsonl" else "back.jsonl") == WANTED


def test_formats_have_one_name_each():
    """Modules say the names of the table first, and all that write have one to choose."""
    modules = {module.name for module in pkgutil.iter_modules(formats.__path__)}
    modules -= {"conllu_sentences", "lines", "reading", "standoff"}
    assert {form.module for form in FORMATS.values()} == modules
    written = {name for name in FORMATS if load_format(name).write is not None}
    # A file of WebAnno TSV has one document, so that a folder of them is written in another way.
    assert written == set(get_args(WrittenFormat)) - {"webanno-tsv"}
    for form in FORMATS.values():
        text = import_module(f"{formats.__name__}.{form.module}").__doc__
        assert re.match(rf"{form.title}[:,]", text), form.module


@pytest.mark.parametrize("suffix", [".txt", ".json"])
@pytest.mark.parametrize("options", [[], ["--blind"]])
def test_no_prompt_without_words(run, source, suffix, options):
    """Some files have `_` for every word, and others have no words."""
    source.write_text(re.sub("Ida|Voss|thanked|her", "_", CONLL), "utf-8")
    Path("bare.jsonl").write_text(
        '{"document": "ferry", "clusters": [[[0, 1]]], "n_tokens": 4}\n', "utf-8"
    )
    for key, name in ((source, "ferry; part 000"), ("bare.jsonl", "ferry")):
        result = run("convert", "coref", key, *options, "-o", f"out{suffix}")
        assert result.exit_code == 2
        assert f"document '{name}' has no words, which " in result.stderr
        assert not Path(f"out{suffix}").exists()


def test_what_has_no_entities_is_named_as_formats_are(run, source):
    result = run("convert", "coref", source, "--blind", "-o", "out.conll")
    expected = "only CRAC's text, CRAC's JSON, coref-data can be written"
    assert f"out.conll: without entities, {expected}" in result.stderr


def test_scores_stay(ran, source):
    Path("response.conll").write_text(CONLL.replace("(1)|(0)", "-"), "utf-8")
    Path("single.conll").write_text(CONLL.replace("(1)|(0)", "(0)"), "utf-8")
    wanted = json.loads(ran("score", "coref", "single.conll", "response.conll", "--json"))["scores"]
    assert 0 < wanted["b3/recall"]["value"] < 1
    for suffix in ("conllu", "jsonl"):
        for name in ("single", "response"):
            ran("convert", "coref", f"{name}.conll", "-o", f"{name}.{suffix}")
        scored = ran("score", "coref", f"single.{suffix}", f"response.{suffix}", "--json")
        assert json.loads(scored)["scores"] == wanted


def test_heads_are_kept(ran, here):
    rows = ["Ida\t_\t_\t_\t_\t0\t_\t_\tEntity=(e1--2-", "Voss\t_\t_\t_\t_\t0\t_\t_\tEntity=e1)"]
    text = "".join(f"{i}\t{row}\n" for i, row in enumerate(rows, start=1))
    Path("key.conllu").write_text(
        f"# newdoc id = a\n# global.Entity = eid-etype-head-other\n{text}\n", "utf-8"
    )
    ran("convert", "coref", "key.conllu", "-o", "key.jsonl")
    assert json.loads(Path("key.jsonl").read_text()) == {
        "document": "a",
        "clusters": [[[0, 1, 1]]],
        "n_tokens": 2,
    }
    ran("convert", "coref", "key.jsonl", "-o", "back.conllu")
    assert read_documents(Path("back.conllu"))[0]["clusters"] == [[[0, 1, 1]]]
    ran("convert", "coref", "key.jsonl", "-o", "key.conll")
    ran("convert", "coref", "key.conll", "-o", "bare.jsonl")
    assert json.loads(Path("bare.jsonl").read_text())["clusters"] == [[[0, 1]]]


def test_one_of_two_sides(run, here):
    row = {
        "doc_key": "a",
        "sentences": [["x", "y"]],
        "clusters": [[[0, 0]]],
        "predicted_clusters": [[[0, 1]]],
    }
    Path("both.jsonlines").write_text(json.dumps(row) + "\n")
    for side, clusters, unread in (
        ("key", [[[0, 0]]], "predicted_clusters"),
        ("response", [[[0, 1]]], "clusters"),
    ):
        done = run("convert", "coref", "both.jsonlines", "--side", side, "-o", f"{side}.jsonl")
        assert done.exit_code == 0
        assert f"'{unread}' is ignored" in done.stderr
        assert json.loads(Path(f"{side}.jsonl").read_text())["clusters"] == clusters


def test_documents_that_the_format_can_not_express(run, source):
    done = run("convert", "coref", source, "-o", "key.csv")
    assert done.exit_code == 2
    suffixes = ".conll, .conllu, .jsonl, .ndjson, .txt, .json, .tsv"
    assert f"key.csv: the suffix is '.csv' (expected one of {suffixes})" in done.stderr
    done = run("convert", "coref", source, "-o", "key.conllua")
    assert f"key.conllua: the suffix is '.conllua' (expected one of {suffixes})" in done.stderr
    Path("bare.jsonl").write_text('{"document": "a", "clusters": [[[0, 1]]]}\n', "utf-8")
    done = run("convert", "coref", "bare.jsonl", "-o", "bare.conll")
    assert done.exit_code == 2
    assert "cannot write bare.conll: a CoNLL file has a row for every token" in done.stderr
    assert not Path("bare.conll").exists()
