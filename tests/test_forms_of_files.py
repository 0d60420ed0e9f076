"""Files of predictions have every form that objects in memory have: tables, lists, and values by id."""

import csv
import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import closeread

CORPORA = {
    "mctaco": ("id", "label"),
    "tne": ("id", "relations"),
    "wikipossessions": ("article", "possessions"),
    "semeval2015_timeline": ("id", "entries"),
}
pytestmark = [
    pytest.mark.usefixtures("chdir_tmp_path"),
    pytest.mark.filterwarnings("ignore::closeread.CloseReadWarning"),
]


@pytest.fixture
def chdir_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def make_rows(corpus):
    """Return some predictions: "yes" to every second candidate, or the first half of the gold."""
    gold = closeread.load_dataset(corpus, name="sample", split="test")
    rows = []
    for number, record in enumerate(gold):
        if corpus == "mctaco":
            rows.append({"id": record["id"], "label": ("no", "yes")[number % 2]})
        elif corpus == "tne":
            links = [
                {name: link[name] for name in ("anchor", "preposition", "complement")}
                for link in record["np_relations"][:5]
            ]
            rows.append({"id": record["id"], "relations": links})
        elif corpus == "wikipossessions":
            fields = ("possessor", "certainty", "order", "anchor", "relation", "relation_certainty")
            possessions = [{name: p[name] for name in fields} for p in record["possessions"][:2]]
            rows.append({"article": record["article"], "possessions": possessions})
        else:
            rows.append({**record, "entries": record["entries"][:2]})
    return rows


def write_table(path, rows, delimiter):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(rows[0])
        for row in rows:
            cells = row.values()
            writer.writerow([c if isinstance(c, str) else json.dumps(c) for c in cells])
    return path


def write(name, text):
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path


def values(corpus, source, **options):
    report = closeread.score(corpus, source, config="sample", ci=False, **options)
    return {name: score.value for name, score in report.total.scores.items()}


@pytest.mark.parametrize("corpus", CORPORA)
def test_all_forms_have_the_same_scores(corpus):
    rows = make_rows(corpus)
    key, field = CORPORA[corpus]
    expected = values(corpus, write("p.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    assert any(expected.values())
    by_id = {row[key]: row if "entity" in row else row[field] for row in rows}
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    files = [
        write_table(Path("p.csv"), rows, ","),
        write_table(Path("semicolons.csv"), rows, ";"),
        write_table(Path("p.tsv"), rows, "\t"),
        write_table(Path("p.data"), rows, ","),
        write("list.json", json.dumps(rows)),
        write("lines.json", "[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n"),
        write("map.json", json.dumps(by_id)),
        write("pretty.json", json.dumps(by_id, indent=2)),
        write("columns.json", json.dumps(columns)),
    ]
    for file in files:
        assert values(corpus, file) == expected, file


def test_classes_and_further_columns_of_a_table():
    rows = make_rows("mctaco")
    text = "".join(f"{i},{row['id']},{int(row['label'] == 'yes')}\n" for i, row in enumerate(rows))
    expected = values("mctaco", rows)
    with pytest.warns(closeread.CloseReadWarning, match="unknown field 'n' is ignored"):
        assert values("mctaco", write("p.csv", f"n,id,label\n{text}")) == expected


def test_problems_of_tables():
    rows = make_rows("mctaco")
    lines = ["id,label", *(f"{row['id']},{row['label']}" for row in rows)]
    lines[1] = lines[1].replace("no", "maybe")
    lines[2] += ",0.9"
    problems = closeread.validate(
        "mctaco", write("p.csv", "\n".join(lines)), config="sample"
    ).problems
    assert problems[0].startswith("p.csv:2: id 'test-00000': label: 'maybe' is not one of")
    assert problems[1] == "p.csv:3: has 3 cells (expected 2, as in the header)"
    for header in ("label", "name,label"):
        path = write("p.csv", "\n".join([header, *lines[1:]]))
        [problem] = closeread.validate("mctaco", path, config="sample").problems
        assert problem.startswith("p.csv:1: the columns are ")
        assert problem.endswith("(expected a header with distinct columns, one of them 'id')")


@pytest.mark.parametrize("corpus", CORPORA)
def test_null_is_a_missing_prediction(corpus):
    rows = make_rows(corpus)
    key, field = CORPORA[corpus]
    without = values(corpus, rows[1:], missing="empty")
    rows[0][field] = None
    files = [
        write("p.jsonl", "".join(json.dumps(row) + "\n" for row in rows)),
        write("list.json", json.dumps(rows)),
        write_table(Path("p.csv"), [{**rows[0], field: ""}, *rows[1:]], ","),
    ]
    for source in (*files, rows):
        assert values(corpus, source, missing="empty") == without
        problems = closeread.validate(corpus, source, config="sample", missing="error").problems
        assert f"1 of {len(rows):,} ids has no prediction: {rows[0][key]!r}" in problems[0]


def test_rows_after_a_null_keep_their_numbers():
    rows = make_rows("mctaco")
    rows[0]["label"] = None
    rows[2]["label"] = "maybe"
    problems = closeread.validate("mctaco", rows, config="sample", missing="empty").problems
    assert problems[0].startswith("predictions: row 2: id 'test-00002'")


def test_arrays_of_tne_may_have_other_attributes_and_nulls():
    rows = make_rows("tne")
    gold = closeread.load_dataset("tne", name="sample", split="test")
    arrays = [
        {"predicted_prepositions": [0] * len(record["nps"]) ** 2, "loss": 0.5} for record in gold
    ]
    file = write("arrays.jsonl", "".join(json.dumps(array) + "\n" for array in arrays))
    with pytest.warns(closeread.CloseReadWarning, match="unknown field 'loss' is ignored"):
        expected = values("tne", file)
    assert expected == values("tne", [{**row, "relations": []} for row in rows])
    arrays[0]["predicted_prepositions"] = None
    file = write("arrays.jsonl", "".join(json.dumps(array) + "\n" for array in arrays))
    assert values("tne", file, missing="empty") == expected
    [problem] = closeread.validate("tne", file, config="sample").problems
    assert "has no prediction: 's1'" in problem


def test_lists_of_clusters_are_as_many_as_the_documents():
    document = [[[0, 0], [2, 2]]]
    for n_predictions, n_gold in ((1, 2), (3, 2), (0, 1)):
        with pytest.raises(closeread.InputError, match="expected a list for each"):
            closeread.score("coref", [document] * n_predictions, gold=[document] * n_gold, ci=False)
    named = [{"document": "a", "clusters": document}, {"document": "b", "clusters": document}]
    report = closeread.score("coref", named[:1], gold=named, ci=False)
    assert report.provenance.missing == 1


@pytest.mark.parametrize("corpus", ["mctaco", "tne", "wikipossessions"])
def test_values_without_ids_are_those_of_the_gold_in_order(corpus):
    field = CORPORA[corpus][1]
    rows = make_rows(corpus)
    listed = [row[field] for row in rows]
    assert values(corpus, listed) == values(corpus, rows)
    assert closeread.validate(corpus, listed, config="sample")
    with pytest.raises(closeread.InputError, match=f"{len(rows) - 1} values? for {len(rows)} gold"):
        values(corpus, listed[1:])


def test_labels_as_compute_takes_them():
    rows = make_rows("mctaco")
    numbers = [("no", "yes").index(row["label"]) for row in rows]
    assert values("mctaco", numbers) == values("mctaco", rows)
    without = [None, *numbers[1:]]
    with pytest.raises(closeread.InputError, match="1 of 103 ids has no prediction"):
        values("mctaco", without)


@pytest.mark.parametrize("corpus", ["tne", "wikipossessions", "semeval2015_timeline"])
def test_predictions_of_nothing_are_told(corpus):
    field = CORPORA[corpus][1]
    rows = [{**row, field: []} for row in make_rows(corpus)]
    with pytest.warns(closeread.CloseReadWarning, match="is predicted at all"):
        values(corpus, rows)


@pytest.mark.parametrize("corpus", CORPORA)
def test_gold_may_have_unknown_fields(corpus):
    gold = [dict(row) for row in closeread.load_dataset(corpus, name="sample", split="test")]
    rows, more = make_rows(corpus), [{**row, "remark": 7} for row in gold]
    key = CORPORA[corpus][0]
    expected = str(closeread.score(corpus, rows, gold=gold, ci=False))
    file = write("gold.jsonl", "".join(json.dumps(row) + "\n" for row in more))
    sources = {"gold": more, f"{file}:1": Path(file)}
    for place, source in sources.items():
        named = f"{place}.*{key} '{re.escape(gold[0][key])}': unknown field 'remark' is ignored"
        with pytest.warns(closeread.CloseReadWarning, match=named):
            assert str(closeread.score(corpus, rows, gold=source, ci=False)) == expected
    del more[0][key]
    with pytest.raises(closeread.InputError, match="remark"):
        closeread.score(corpus, rows, gold=more, ci=False)


def test_gold_in_parquet_may_have_unknown_columns():
    gold = [dict(row) for row in closeread.load_dataset("mctaco", name="sample", split="test")]
    expected = str(closeread.score("mctaco", make_rows("mctaco"), gold=gold, ci=False))
    table = pa.Table.from_pylist([{**row, "n": 1} for row in gold])
    pq.write_table(table, "gold.parquet")
    with pytest.warns(closeread.CloseReadWarning, match="unknown field 'n' is ignored"):
        score = closeread.score("mctaco", make_rows("mctaco"), gold=Path("gold.parquet"), ci=False)
    assert str(score) == expected
