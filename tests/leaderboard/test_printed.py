"""Rows of papers' tables: every value against the papers' printed figures, and bad files."""

import json

import pytest
from papers.figures import load_paper

from closeread.corpus.gold import read_gold
from closeread.corpus.names import corpus_names, load_corpus
from closeread.exceptions import RequestError
from closeread.files import package_folder
from closeread.json_schema import check_json
from closeread.leaderboard.index import PRINTED, read_printed_systems
from closeread.tasks import load_procedure
from closeread.tasks.mctaco.baselines import always_negative, always_positive
from closeread.tasks.tne.baselines import BASELINES

PRF = {"precision": "Precision", "recall": "Recall", "f1": "F1"}


def columns(*families, short=False):
    """The columns of precision, recall and F1 of families, each a name and a pattern of its columns."""
    return {
        f"{family}/{score}": pattern.format(title[0] if short and score != "f1" else title)
        for family, pattern in families
        for score, title in PRF.items()
    }


# The table, the row as printed (the system's name if None), and the column of each score.
CELLS = {
    "mctaco": {"Table 2": ("2", None, {"exact_match": "EM", "f1": "F1"})},
    "tne": {
        "Table 3": ("3", None, columns(("links", "{}"), ("unlabeled", "{}"))),
        "Tables 3 and 5": ("3", None, columns(("links", "{}"))),
        "Table 4": ("4", "by part", columns(("links", "{}"))),
    },
    "wikipossessions": {
        "Table 4 (ALL, exact match)": (
            "4",
            "by family",
            columns(("ALL", "ALL exact {}"), short=True),
        )
    },
    "semeval2015_timeline": {"section 7": ("2", "by track", {"awareness/f1": "Total F1"})},
}
FROM_TABLE_5 = {**columns(("unlabeled", "Links-{}"), short=True), "iprep": "IPrep-Acc"}
DOMAINS = {
    "ood": "OOD",
    "books": "Books",
    "imdb": "IMDB",
    "reddit": "r/",
    "asked_science": "r/askedscience",
}
SUBTASKS = {"possessor": "Poss.ID", "possessor_certainty": "Poss.Cert", "anchor": "Temp.Anch"}


def load_rows(corpus):
    return json.loads((package_folder(f"closeread.loaders.{corpus}") / PRINTED).read_text("utf-8"))


@pytest.mark.parametrize("corpus", CELLS)
def test_files_follow_the_schema_and_name_what_there_is(corpus):
    rows, declared = load_rows(corpus), load_corpus(corpus)
    check_json(rows, "closeread.leaderboard/printed.schema.json", corpus)
    metrics = {metric.name for metric in load_procedure(declared.procedure).metrics}
    for row in rows:
        assert row["split"] in declared.configs[row["config"]].split_names
        assert row["scores"].keys() <= metrics
        assert all(
            float(text) <= (100 if row["unit"] == "percent" else 1)
            for text in row["scores"].values()
        )
    assert len(
        {(row["system"], row["source"], row["config"], row["split"]) for row in rows}
    ) == len(rows)


def test_which_corpora_have_printed_systems():
    found = [
        name
        for name in corpus_names()
        if (package_folder(f"closeread.loaders.{name}") / PRINTED).exists()
    ]
    assert found == sorted(CELLS)


def find_cell(tables, table, row, column):
    """The value of a cell, as printed."""
    return tables[f"Table {table}"][row][column]


def find_text(tables, description):
    """The value of a figure of the running text, as printed."""
    (value,) = tables["Text"][description].values()
    return value


def look_up(tables, corpus, row, metric):
    """The value of a score in the rows of the tables that a paper prints, which are those of its transcription."""
    place = row["source"].partition(", ")[2].removeprefix("preprint), ").partition(";")[0]
    system, (family, _, score) = row["system"], metric.partition("/")
    if place == "footnote 9":
        return find_text(tables, f"{system}, {'EM' if metric == 'exact_match' else 'F1'}")
    if place == "Tables 3 and 5" and family != "links":
        return find_cell(tables, "5", system, FROM_TABLE_5[metric])
    table, name, names = CELLS[corpus][place]
    if name == "by part":
        name = DOMAINS.get(row["split"], f"r/{row['split']}")
    elif name == "by family":
        name, metric = SUBTASKS[family], f"ALL/{score}"
    elif name == "by track":
        run, _, track = system.partition(" (")
        name = f"{track.removesuffix(')')}: {run}"
        if row["split"] == "corpus_2":
            return find_cell(tables, "2, GM column", name, "GM F1")
    return find_cell(tables, table, name or system, names[metric])


@pytest.mark.parametrize("corpus", CELLS)
def test_values_are_as_printed(corpus):
    tables = {table["name"]: table["rows"] for table in load_paper(corpus)["tables"]}
    for row in load_rows(corpus):
        for metric, text in row["scores"].items():
            assert text == look_up(tables, corpus, row, metric), (row["system"], metric)


def test_rows_of_a_split():
    found = read_printed_systems("mctaco", "default", "test")
    assert [row["system"] for row in found][-3:] == ["BERT", "BERT + unit normalization", "RoBERTa"]
    bert = found[-3]
    assert bert["source"] == "Zhou et al. (2019), Table 2"
    assert bert["scores"] == {
        "exact_match": {"value": 0.396, "printed": "39.6"},
        "f1": {"value": 0.661, "printed": "66.1"},
    }
    assert read_printed_systems("mctaco", "default", "validation") == []
    assert read_printed_systems("mctaco") == found  # the default is the test split


def test_ratios_are_kept():
    (found,) = read_printed_systems("wikipossessions")
    assert found["scores"]["anchor/precision"] == {"value": 0.003, "printed": "0.003"}


def test_unknown_parts():
    with pytest.raises(RequestError, match="no such split of mctaco"):
        read_printed_systems("mctaco", "default", "tset")


@pytest.mark.parametrize("corpus", CELLS)
def test_every_headline_is_printed(corpus):
    headline = load_procedure(load_corpus(corpus).procedure).headline
    assert any(headline in row["scores"] for row in load_rows(corpus))


# What is printed is what we score: rows that can be recomputed.


def score(procedure, gold, system):
    table = procedure.count(gold=gold, system=system, missing="empty")
    return table.scores(procedure.metrics)


def assert_recomputed(rows, computed, tolerance):
    for name, scores in computed.items():
        (row,) = [row for row in rows if row["system"] == name]
        for metric, one in row["scores"].items():
            assert scores[metric] == pytest.approx(one["value"], abs=tolerance), (name, metric)


def test_mctaco_is_recomputed(corpora):
    gold, procedure = read_gold(load_corpus("mctaco")).records, load_procedure("mctaco")
    systems = {"Always Positive": always_positive(gold), "Always Negative": always_negative(gold)}
    computed = {name: score(procedure, gold, system) for name, system in systems.items()}
    # 12.16 is printed as 12.1.
    assert_recomputed(read_printed_systems("mctaco"), computed, 0.001)


def test_tne_is_recomputed(corpora):
    gold, procedure = read_gold(load_corpus("tne")).records, load_procedure("tne")
    baselines = {baseline.name: baseline for baseline in BASELINES}
    names = (
        "Title-First",
        "Title-Last",
        "Adj-Anaphora",
        "Adj-Cataphora",
        "Surface",
        "Surface-Extended",
        "Combined",
    )
    computed = {
        name: score(procedure, gold, baselines[name.lower()].predict(gold)) for name in names
    }
    # 37.76 is printed as 37.7.
    assert_recomputed(read_printed_systems("tne"), computed, 0.0007)
