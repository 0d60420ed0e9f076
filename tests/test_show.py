"""`closeread show`, `closeread schema` and the examples of `closeread info`, on the samples."""

import json

import jsonschema
import pytest
from shared import json_lines

import closeread
from closeread.corpus.gold import read_gold
from closeread.corpus.names import corpus_names, load_corpus
from closeread.corpus.schema import load_schema
from closeread.corpus.showing import example_record, example_submission
from closeread.counts.procedure import GoldSpec
from closeread.exceptions import RequestError
from closeread.scoring import open_scorer

CORPORA = corpus_names()
SAMPLE = ("--config", "sample")


@pytest.mark.parametrize("name", CORPORA)
def test_the_first_record_and_how_to_see_others(name, run):
    shown = run("show", name, *SAMPLE)
    assert shown.exit_code == 0, shown.stderr
    corpus = load_corpus(name)
    ids = run("show", name, *SAMPLE, "--ids").stdout.splitlines()
    assert f"The first of {len(ids)} in {corpus.title} (sample, test)." in shown.stdout
    assert f"All ids: closeread show {name} --config sample --ids\n" in shown.stdout
    second = run("show", name, ids[1], *SAMPLE)
    assert second.stdout != shown.stdout
    assert ids[1] in second.stdout
    assert "All ids" not in second.stdout


@pytest.mark.parametrize("name", CORPORA)
def test_json_is_the_record(name, run):
    corpus = load_corpus(name)
    record = list(read_gold(corpus, "sample").records)[-1]
    shown = run("show", name, record[corpus.key], *SAMPLE, "--json")
    assert json.loads(shown.stdout) == record


def test_an_article_with_its_possessions_in_order(run):
    lines = run("show", "wikipossessions", "The Blue Kettle (painting)", *SAMPLE).stdout.splitlines()
    assert lines[0] == "The Blue Kettle (painting)"
    # Orders are numbers between dots: 5.10 comes after 5.2.
    assert [line.split()[0] for line in lines if line[:1].isdigit()] == [
        "1",
        "2",
        "3",
        "4",
        "5",
        "5",
        "5.1",
        "5.2",
        "5.10",
    ]


def test_a_text_with_its_noun_phrases_and_links(run):
    shown = run("show", "tne", "s1", *SAMPLE).stdout
    # By hand: np3 is "Gannet", inside np4 "The ferry Gannet".
    assert "[The ferry [Gannet]np3]np4 hit [a sandbank]np5 outside [the harbour]np6" in shown
    assert "\nnp6 [the harbour] of np1 [Oldhaven]\n" in shown
    assert "\ncc0       np0 [Ferry], np4 [The ferry Gannet]\n" in shown


def test_withheld_links(ran, tmp_path):
    record = {**read_gold(load_corpus("tne"), "sample").records[0], "np_relations": None}
    (tmp_path / "own.jsonl").write_text(json.dumps(record), "utf-8")
    assert "Links: withheld" in ran("show", "tne", "--gold", "own.jsonl")


def test_a_question_with_its_answers(ran):
    ran("baseline", "mctaco", "always-positive", *SAMPLE, "-o", "yes.jsonl")
    shown = ran("show", "mctaco", "test-00001", *SAMPLE, "--predictions", "yes.jsonl")
    assert "How long did Marta wait in the café?" in shown
    assert ["test-00001", "two", "decades", "no", "yes"] in [line.split() for line in shown.splitlines()]
    assert len([line for line in shown.splitlines() if line.startswith("test-0")]) == 5
    assert json.loads(ran("show", "mctaco", "test-00001", *SAMPLE, "--predictions", "yes.jsonl", "--json")) == {
        "gold": read_gold(load_corpus("mctaco"), "sample").records[1],
        "system": {"id": "test-00001", "label": "yes"},
    }


def test_predicted_links_beside_gold(ran, tmp_path):
    near = {"anchor": "np0", "complement": "np1", "preposition": "near"}
    rows = [{"id": "s1", "relations": [near, {**near, "anchor": "np8"}]}]
    (tmp_path / "sent.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    lines = ran("show", "tne", "s1", *SAMPLE, "--predictions", "sent.jsonl").splitlines()
    assert "both          np0 [Ferry] near np1 [Oldhaven]" in lines
    assert "system only   np8 [The crew] near np1 [Oldhaven]" in lines
    assert "gold only     np5 [a sandbank] outside np6 [the harbour]" in lines


@pytest.mark.parametrize("name", ["wikipossessions", "semeval2015_timeline", "marmara_coref"])
def test_predictions_of_other_corpora(name, ran, tmp_path):
    corpus = load_corpus(name)
    (tmp_path / "sent.jsonl").write_text(example_submission(corpus), "utf-8")
    key = example_record(corpus)[corpus.key]
    shown = ran("show", name, key, *SAMPLE, "--predictions", "sent.jsonl")
    gold, predicted = shown.split("\nGold\n")[1].split("\nPredictions\n")
    assert 0 < len(predicted.splitlines()) < len(gold.splitlines())  # the example has a part of gold


def test_a_timeline_by_its_entity(run):
    assert run("show", "semeval2015_timeline", "Mara Lindqvist", *SAMPLE).stdout.startswith(
        "Mara Lindqvist (mara_lindqvist)\n"
    )


def test_an_article_with_its_event_mentions(corpora, run):
    shown = run("show", "semeval2015_timeline", "--config", "documents")
    assert shown.exit_code == 0, shown.stderr
    event = json.loads(run("show", "semeval2015_timeline", "--config", "documents", "--json").stdout)["events"][0]
    assert f"]{event['id']}" in shown.stdout
    assert event["mention"] in shown.stdout


def test_chains_number_mentions(run):
    shown = run("show", "marmara_coref", *SAMPLE).stdout
    assert "[Kıyıkent_Müzesi]0 geçen ay [ilk sergisini]1 açtı ." in shown
    assert "[Kıyıkent_Müzesi] 0-0, [Müze] 42-42, [buraya] 64-64" in shown


def test_a_row_of_a_flat_config(run):
    shown = run("show", "tne", "--config", "sample_flat").stdout
    assert "\nanchor_text                   Ferry\n" in shown


def test_a_mistyped_id(run):
    done = run("show", "tne", "s22", *SAMPLE)
    assert done.exit_code == 2
    assert "Error: 's22' is not the id of a record. Did you mean 's2'? See `--ids`." in done.stderr


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("name", CORPORA)
def test_text_fits_the_terminal(name, columns, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = run("show", name, *SAMPLE).stdout.splitlines()
    assert max(len(line) for line in lines if " closeread show " not in f" {line}") <= columns


def test_hostile_text_is_escaped(ran, tmp_path):
    record = {**read_gold(load_corpus("mctaco"), "sample").records[0], "sentence": "a\u202eb", "answer": "c\u200bd"}
    (tmp_path / "own.jsonl").write_text(json.dumps(record), "utf-8")
    for arguments in ((), ("--json",), ("--ids",)):
        shown = ran("show", "mctaco", "--gold", "own.jsonl", *arguments)
        assert all(char.isprintable() or char == "\n" for char in shown)


@pytest.mark.parametrize("name", CORPORA)
def test_schemas_accept_the_examples(name, run):
    corpus = load_corpus(name)
    examples = {(): example_record(corpus), ("--submission",): json.loads(example_submission(corpus))}
    if "sample_flat" in corpus.configs:
        examples[("--config", "sample_flat")] = read_gold(corpus, "sample_flat").records[0]
    for arguments, example in examples.items():
        schema = json.loads(run("schema", name, *arguments).stdout)
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(example, schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**example, "no such field": 1}, schema)
        assert set(schema["$defs"]) <= set(load_schema(name)["$defs"])


def test_a_schema_of_submissions_has_no_config(run):
    done = run("schema", "tne", "--submission", "--config", "flat")
    assert done.exit_code == 2
    assert "--submission can't be combined with --config" in done.stderr


@pytest.mark.parametrize("name", CORPORA)
def test_the_example_of_a_submission_is_one(name, run, tmp_path):
    corpus = load_corpus(name)
    line = example_submission(corpus)
    (tmp_path / "sent.jsonl").write_text(f"{line}\n", "utf-8")
    scorer = open_scorer(name, GoldSpec(corpus=None, config="sample"), {"missing": "empty"})
    system = scorer.read(tmp_path / "sent.jsonl")
    assert len(system.missing) == len(scorer.gold.records) - 1
    assert line in run("info", name).stdout.splitlines()


@pytest.mark.parametrize(("words", "about"), [
    (["The Blue Kettle (painting)"], ""), (["--ids"], "of the"),
    (["The Lighthouse Clock"], "of 'The Lighthouse Clock'"),
])  # fmt: skip
def test_notes_are_about_the_record_that_is_shown(run, words, about):
    told = run("show", "wikipossessions", *words, *SAMPLE).stderr
    assert told.startswith(f"note: 1 known oddity {about}") if about else told == ""


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


@pytest.mark.parametrize("place", [{"record_id": "test-0"}, {"config": "smple"}, {"treebank": "x"}])
def test_python_refuses_what_can_not_be_shown(place):
    with pytest.raises(RequestError):
        closeread.show("mctaco", **{"config": "sample", **place})
