"""A whole number is the number that it is, however it is written: the same records, scores and signature."""

import json
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from shared import json_lines
from shared.entry_points import CORPORA, sample_gold, system_rows
from shared.late import evaluate

import closeread
from closeread.corpus.gold import read_own_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.schema import RowValidator, load_schema
from closeread.corpus.validation import accept_rows
from closeread.exceptions import SubmissionError
from closeread.formats.json_lines import dump_json_lines

pytestmark = pytest.mark.filterwarnings("ignore::closeread.CloseReadWarning")

WRITTEN = {
    "float": float,
    "numpy": np.float64,
    "decimal": lambda n: Decimal(n) * Decimal("1.0"),
    "numpy int": np.int64,
}


def written(value, convert):
    """The value with every integer written in another way."""
    if isinstance(value, dict):
        return {name: written(child, convert) for name, child in value.items()}
    if isinstance(value, list):
        return [written(child, convert) for child in value]
    return convert(value) if type(value) is int else value


def has_integers(value):
    if isinstance(value, list | dict):
        return any(map(has_integers, value.values() if isinstance(value, dict) else value))
    return type(value) is int


def as_text(value):
    """JSON Lines in which every integer is written with an exponent."""
    return "".join(json.dumps(row).replace(".0", "e0") + "\n" for row in written(value, float))


@pytest.mark.parametrize("corpus", CORPORA)
def test_gold_and_predictions(corpus, tmp_path):
    gold, rows = sample_gold(corpus), system_rows(corpus)
    wanted = closeread.score(corpus, rows, gold=gold).to_dict()
    files = {name: tmp_path / f"{name}.jsonl" for name in ("gold", "gold1", "rows1")}
    json_lines.write(files["gold"], gold)
    json_lines.write(files["gold1"], written(gold, float))
    files["rows1"].write_text(dump_json_lines(written(rows, float)), "utf-8")
    own = load_corpus(corpus)
    records = list(read_own_gold(own, files["gold1"]).records)
    assert repr(records) == repr(list(read_own_gold(own, files["gold"]).records))  # 1 == 1.0
    assert repr(list(read_own_gold(own, written(gold, float)).records)) == repr(gold)
    if has_integers(gold):
        assert files["gold1"].read_text("utf-8") != files["gold"].read_text("utf-8")
    for given in (files["gold1"], records, written(gold, float)):
        assert closeread.score(corpus, files["rows1"], gold=given).to_dict() == wanted
    for convert in WRITTEN.values():
        assert (
            closeread.score(corpus, written(rows, convert), gold=written(gold, convert)).to_dict()
            == wanted
        )


MODULES = {
    "mctaco": "mctaco",
    "tne_links": "tne",
    "timeline_awareness": "semeval2015_timeline",
    "possession": "wikipossessions",
}


@pytest.mark.parametrize("name", MODULES)
def test_evaluate(name):
    gold, rows, case = (
        sample_gold(MODULES[name]),
        system_rows(MODULES[name]),
        CORPORA[MODULES[name]],
    )
    module = evaluate.load(name)
    wanted = module.compute(predictions=case.predictions(rows), references=case.references(gold))
    for convert in WRITTEN.values():
        predictions, references = (
            case.predictions(written(rows, convert)),
            case.references(written(gold, convert)),
        )
        assert module.compute(predictions=predictions, references=references) == wanted


KEY = [{"document": "a", "clusters": [[[0, 0], [1, 1]], [[2, 2], [3, 3]]], "n_tokens": 4}]


@pytest.mark.parametrize("convert", WRITTEN.values(), ids=WRITTEN)
def test_coreference(convert, tmp_path):
    wanted = closeread.score("coref", KEY, gold=KEY).to_dict()
    assert (
        closeread.score("coref", written(KEY, convert), gold=written(KEY, convert)).to_dict()
        == wanted
    )
    path = tmp_path / "key.jsonl"
    path.write_text(as_text(KEY), "utf-8")
    assert closeread.score("coref", path, gold=path).to_dict()["signature"] == wanted["signature"]
    module = evaluate.load("coref_lea")
    clusters = [KEY[0]["clusters"]]
    assert (
        module.compute(predictions=written(clusters, convert), references=clusters)["lea/f1"] == 1
    )


def test_tables(tmp_path):
    """Columns of floats: of pandas, because a value is missing, and of Arrow."""
    corpus = load_corpus("semeval2015_timeline")
    gold = sample_gold("semeval2015_timeline")
    wanted = closeread.score("semeval2015_timeline", gold, gold=gold).to_dict()
    table = pa.Table.from_pylist(written(gold, float))
    pq.write_table(table, tmp_path / "gold.parquet")
    for given in (table, table.to_pandas(), tmp_path / "gold.parquet"):
        assert closeread.score("semeval2015_timeline", gold, gold=given).to_dict() == wanted
    # As JSON, since 1 == 1.0; older versions of pyarrow sort the fields of objects.
    read = list(read_own_gold(corpus, tmp_path / "gold.parquet").records)
    assert json.dumps(read, sort_keys=True) == json.dumps(gold, sort_keys=True)


def test_integers():
    for value, read in ((1.0, 1), (-0.0, 0), (2.0**31 - 1, 2**31 - 1)):
        given = [{"document": "a", "clusters": [[[0, value]]]}]
        rows, problems = accept_rows(RowValidator(load_schema("coref"), "document"), given)
        assert not problems
        assert repr(rows[0]["clusters"]) == repr([[[0, read]]])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1.5, "expected a whole number, found 1.5"),
        (-1.0, "-1 is less than the minimum of 0"),
        (2.0**31, f"{2**31} is greater than the maximum of {2**31 - 1}"),
        (1e300, f"1e+300 is greater than the maximum of {2**31 - 1}"),
        ("1.0", "expected a whole number, found '1.0'"),
        (True, "expected a whole number, found true"),
    ],
)
def test_other_numbers(value, said):
    with pytest.raises(SubmissionError) as caught:
        closeread.score("coref", [{"document": "a", "clusters": [[[0, value]]]}], gold=KEY)
    assert f"row 0: document 'a': clusters[0][0][1]: {said}" in str(caught.value)


def test_options():
    signatures = {
        closeread.score("coref", KEY, gold=KEY, word_column=value).to_dict()["signature"]
        for value in (4, 4.0, "4", np.float64(4))
    }
    assert len(signatures) == 1
    with pytest.raises(closeread.exceptions.RequestError, match=r"'4\.0' is not valid"):
        closeread.score("coref", KEY, gold=KEY, word_column="4.0")
