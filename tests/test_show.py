"""`closeread show`, the schemas and the examples of `closeread info`, on the samples."""

import json

import jsonschema
import pytest
from shared import json_lines

import closeread
from closeread.corpus.gold import read_gold
from closeread.corpus.names import corpus_names, load_corpus
from closeread.corpus.schema import load_schema
from closeread.corpus.showing import example_record, example_submission
from closeread.scoring import find_gold, open_scorer
from closeread.tasks.tne.records import draw

CORPORA = corpus_names()
SAMPLE = ("--config", "sample")


@pytest.mark.parametrize("name", CORPORA)
def test_json_is_the_record(name, run):
    corpus = load_corpus(name)
    record = list(read_gold(corpus, "sample").records)[-1]
    shown = run("show", name, record[corpus.key], *SAMPLE, "--json")
    assert json.loads(shown.stdout) == record


def test_withheld_links(ran, tmp_path):
    record = {**read_gold(load_corpus("tne"), "sample").records[0], "np_relations": None}
    (tmp_path / "own.jsonl").write_text(json.dumps(record), "utf-8")
    assert "Links: withheld" in ran("show", "tne", "--gold", "own.jsonl")


@pytest.mark.parametrize(("length", "is_cut"), [(200, False), (201, True)])
def test_long_noun_phrases_are_cut(length, is_cut):
    phrase = {"id": "np0", "text": "x" * length, "first_char": 0, "last_char": length}
    link = {"anchor": "np0", "preposition": "of", "complement": "np0"}
    record = {"id": "d", "text": "x" * length, "nps": [phrase], "coref": [], "np_relations": [link]}
    *_, links = draw([record], None)
    assert ("…" in links.rows[0][0]) == is_cut


def test_an_article_with_its_event_mentions(corpora, run):
    shown = run("show", "semeval2015_timeline", "--config", "documents")
    assert shown.exit_code == 0, shown.stderr
    event = json.loads(
        run("show", "semeval2015_timeline", "--config", "documents", "--json").stdout
    )["events"][0]
    assert f"]{event['id']}" in shown.stdout
    assert event["mention"] in shown.stdout


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("name", CORPORA)
def test_text_fits_the_terminal(name, columns, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = run("show", name, *SAMPLE).stdout.splitlines()
    assert max(len(line) for line in lines if " closeread show " not in f" {line}") <= columns


def test_hostile_text_is_escaped(ran, tmp_path):
    record = {
        **read_gold(load_corpus("mctaco"), "sample").records[0],
        "sentence": "a\u202eb",
        "answer": "c\u200bd",
    }
    (tmp_path / "own.jsonl").write_text(json.dumps(record), "utf-8")
    for arguments in ((), ("--json",), ("--ids",)):
        shown = ran("show", "mctaco", "--gold", "own.jsonl", *arguments)
        assert all(char.isprintable() or char == "\n" for char in shown)


@pytest.mark.parametrize("name", CORPORA)
def test_schemas_accept_the_examples(name, run):
    corpus = load_corpus(name)
    examples = {
        (): example_record(corpus),
        ("--submission",): json.loads(example_submission(corpus)),
    }
    if "sample_flat" in corpus.configs:
        examples[("--config", "sample_flat")] = read_gold(corpus, "sample_flat").records[0]
    for arguments, example in examples.items():
        schema = json.loads(run("info", name, "--schema", *arguments).stdout)
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(example, schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**example, "no such field": 1}, schema)
        assert set(schema["$defs"]) <= set(load_schema(corpus.schema)["$defs"])


@pytest.mark.parametrize("name", CORPORA)
def test_the_example_of_a_submission_is_one(name, run, tmp_path):
    corpus = load_corpus(name)
    line = example_submission(corpus)
    (tmp_path / "sent.jsonl").write_text(f"{line}\n", "utf-8")
    scorer = open_scorer(find_gold(name, config="sample")[0], {"missing": "empty"})
    system = scorer.read(tmp_path / "sent.jsonl")
    assert len(system.missing) == len(scorer.gold.records) - 1
    assert line in run("info", name).stdout.splitlines()


@pytest.mark.filterwarnings("ignore::closeread.CloseReadWarning")
@pytest.mark.parametrize("name", CORPORA)
def test_python_shows_what_the_command_shows(name, run, here):
    corpus = load_corpus(name)
    rows = [json.loads(example_submission(corpus))]
    key = rows[0][corpus.key]
    page = closeread.show(name, key, config="sample")
    assert f"{page}\n" == run("show", name, key, *SAMPLE).stdout
    assert key in [record[corpus.key] for record in page.records]
    assert page.predictions is None
    (here / "rows.jsonl").write_text(json_lines.dump(rows), "utf-8")
    beside = closeread.show(name, key, config="sample", predictions=rows)
    assert f"{beside}\n" == run("show", name, key, *SAMPLE, "--predictions", "rows.jsonl").stdout
    assert key in [row[corpus.key] for row in beside.predictions if row is not None]
