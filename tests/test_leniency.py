"""Input that is not quite what a schema wants, and can mean only one thing, is accepted; near misses are explained."""

import copy
import json
import re
from pathlib import Path

import pytest
from shared.late import evaluate

import closeread
from closeread.corpus.gold import read_gold
from closeread.corpus.names import corpus_names, load_corpus
from closeread.corpus.schema import RowValidator, load_schema, resolve
from closeread.corpus.validation import fit_numbers
from closeread.exceptions import SubmissionError

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*1 possession has a relation to an unknown anchor:closeread.CloseReadWarning",
    "ignore:.*known odd:closeread.CloseReadWarning",
)  # those of the samples are expected

FIELDS = ("possessor", "certainty", "order", "anchor", "relation", "relation_certainty")


def possessions():
    """Perfect predictions for the sample, as their fields are printed."""
    gold = read_gold(load_corpus("wikipossessions"), "sample", "test").records
    return [
        {
            "article": one["article"],
            "possessions": [{name: p[name] for name in FIELDS} for p in one["possessions"]],
        }
        for one in gold
    ]


def unquote(rows, *names):
    """The rows with the integers among these fields as numbers; there are some."""
    rows = copy.deepcopy(rows)
    numbers = 0
    for possession in (one for row in rows for one in row["possessions"]):
        for name in names:
            if re.fullmatch(r"[0-9]+", possession[name] or ""):
                possession[name] = int(possession[name])
                numbers += 1
    assert numbers > 2
    return rows


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.mark.parametrize("names", [("order",), ("anchor",), ("order", "anchor")])
def test_an_integer_is_as_good_as_its_digits_through_every_door(names, tmp_path, ran):
    rows = possessions()
    loose = unquote(rows, *names)
    assert fit_numbers(RowValidator(load_schema("wikipossessions"), "submission"), loose) == rows
    given = copy.deepcopy(loose)
    wanted = closeread.score("wikipossessions", rows, config="sample").to_dict()
    assert wanted["scores"]["ordering/f1"]["value"] == 1  # or the order would be irrelevant
    assert closeread.score("wikipossessions", loose, config="sample").to_dict() == wanted
    path = write_lines(tmp_path / "loose.jsonl", loose)
    assert (
        json.loads(ran("score", "wikipossessions", path, "--config", "sample", "--json")) == wanted
    )
    assert ran("validate", "wikipossessions", path, "--config", "sample").startswith(
        f"{path}: valid"
    )
    module = evaluate.load("possession")
    assert module.compute(predictions=loose, references=rows) == module.compute(
        predictions=rows, references=rows
    )
    assert module.compute(predictions=rows, references=loose) == module.compute(
        predictions=rows, references=rows
    )
    own = closeread.score(
        "wikipossessions", rows, gold=write_lines(tmp_path / "gold.jsonl", complete(rows))
    )
    assert closeread.score("wikipossessions", rows, gold=complete(loose)).to_dict() == own.to_dict()
    bare = [
        {"article": row["article"], "possessions": row["possessions"]}
        for row in unquote(without_years(rows), *names)
    ]
    path = write_lines(tmp_path / "bare.jsonl", bare)
    assert closeread.score("wikipossessions", rows, gold=path).to_dict() == own.to_dict()
    assert loose == given, "what the caller passed has changed"


def without_years(rows):
    """Gold possessions without the fields that follow from the anchor."""
    kept = ("type", *FIELDS)
    return [
        {**row, "possessions": [{name: one[name] for name in kept} for one in row["possessions"]]}
        for row in complete(rows)
    ]


def complete(rows):
    """Gold records of these possessions, with the fields that follow from the anchor."""
    gold = read_gold(load_corpus("wikipossessions"), "sample", "test").records
    return [
        {
            **one,
            "possessions": [
                {**p, **q} for p, q in zip(one["possessions"], row["possessions"], strict=True)
            ],
        }
        for one, row in zip(gold, rows, strict=True)
    ]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            6.1,
            'order: 6.1 is a number (expected text: "6.1" in quotes, since 6.1 and 6.10 are one number)',
        ),
        (
            6.25,
            'order: 6.25 is a number (expected text: "6.25" in quotes, since 6.25 and 6.250 are one number)',
        ),
        (2.0, 'order: 2.0 is a number (expected text: "2" in quotes)'),
        (True, "order: expected text, found true"),
        (
            0,
            "order: '0' is not valid (expected positive integers separated by dots, such as 6 or 6.1)",
        ),
        (
            -2,
            "order: '-2' is not valid (expected positive integers separated by dots, such as 6 or 6.1)",
        ),
        (10**12, "order: expected text, found 1000000000000"),
        ([2], "order: expected text, found a list"),
    ],
)
def test_other_numbers_are_not(value, message):
    rows = possessions()
    rows[0]["possessions"][0]["order"] = value
    with pytest.raises(SubmissionError) as caught:
        closeread.score("wikipossessions", rows, config="sample")
    assert f"possessions[0].{message}" in str(caught.value)
    with pytest.raises(SubmissionError) as caught:
        evaluate.load("possession").compute(predictions=rows, references=possessions())
    assert f"possessions[0].{message}" in str(caught.value)


@pytest.mark.parametrize("name", corpus_names())
def test_only_text_that_is_no_name_accepts_integers(name):
    schema = load_schema(load_corpus(name).schema)
    nodes = [resolve(schema, node) for node in schema["$defs"].values()]
    accepting = [node for node in nodes if node.get("x-accepts-integer")]
    assert bool(accepting) == (load_corpus(name).procedure == "wikipossessions")
    assert all("string" in node["type"] and "enum" not in node for node in accepting)


CLUSTERS = [[[0, 0], [1, 1]], [[2, 2]]]


def test_the_rows_of_one_document_are_recognised_by_evaluate():
    what = "are the clusters of a single document (expected a list with one item per document; wrap them in a list"
    for side in ("predictions", "references"):
        for convert in (list, tuple):
            inputs = {"predictions": [CLUSTERS], "references": [CLUSTERS], side: convert(CLUSTERS)}
            with pytest.raises(SubmissionError) as caught:
                evaluate.load("coref_lea").compute(**inputs)
            assert str(caught.value) == f"{side}: {what}: [{side}])"
        rows = [{"document": "a", "clusters": CLUSTERS}]
        with pytest.raises(
            SubmissionError,
            match=rf"{side}: found rows of a dataset .*: {side}=dataset\['clusters'\]",
        ):
            evaluate.load("coref_lea").compute(
                **{"predictions": [CLUSTERS], "references": [CLUSTERS], side: rows}
            )
    with pytest.raises(SubmissionError, match="are the annotations of a single document"):
        evaluate.load("coref_alpha").compute(predictions=[CLUSTERS, CLUSTERS])
    with pytest.raises(SubmissionError, match=r"row 0: \[0\]\[0\]: expected a list, found 0"):
        evaluate.load("coref_lea").compute(
            predictions=[[[0, 0]], 3], references=[CLUSTERS, CLUSTERS]
        )


def test_a_json_list_of_coreference_is_not_taken_for_conll(run, here):
    Path("list.json").write_text('[{"document": "a", "clusters": [[[0, 1], [3, 3]]]}]', "utf-8")
    expected = (
        "(expected an array of documents with 'doc_id', 'tokens' and 'clusters_token_offsets')"
    )
    told = f"list.json:1: has no documents of coreference {expected}"
    result = run("score", "coref", "list.json", "list.json")
    assert (result.exit_code, result.stderr) == (1, f"Error: {told}\n")
