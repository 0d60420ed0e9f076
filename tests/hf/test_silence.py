"""Sides that say nothing, or nothing that the other side says, are told wherever they are scored."""

import json
import re

import pytest
from shared.entry_points import sample_gold, system_rows

import closeread
from closeread.corpus import notices

pytestmark = [
    pytest.mark.usefixtures("offline"),
    pytest.mark.filterwarnings("ignore::closeread.CloseReadWarning"),
]

MODULES = {
    "tne": "tne_links",
    "wikipossessions": "possession",
    "semeval2015_timeline": "timeline_awareness",
}


def say_nothing(corpus):
    """Return predictions with empty lists."""
    rows = system_rows(corpus)
    for row in rows:
        for name, value in row.items():
            if isinstance(value, list):
                row[name] = []
    return rows


def say_something_else(corpus):
    """Return predictions of which none is in the gold."""
    rows = say_nothing(corpus)
    for row, record in zip(rows, sample_gold(corpus), strict=True):
        if corpus == "tne":
            linked = {(link["anchor"], link["complement"]) for link in record["np_relations"]}
            names = [phrase["id"] for phrase in record["nps"]]
            for name in names[1:]:
                if (names[0], name) not in linked:
                    link = {"anchor": names[0], "preposition": "of", "complement": name}
                    row["relations"].append(link)
        elif corpus == "wikipossessions":
            possession = {"possessor": "Nobody Ever", "certainty": "certain", "order": "1"}
            names = ("anchor", "relation", "relation_certainty")
            row["possessions"] = [possession | dict.fromkeys(names)]
        else:
            row["entries"] = [{"position": 1, "anchor": "2004", "mentions": ["999-1-nothing"]}]
    return rows


CASES = [
    ("tne", say_nothing, "no link is predicted at all"),
    ("tne", say_something_else, r"no link in common \(are the noun phrases numbered"),
    ("wikipossessions", say_nothing, "no possessor is predicted at all"),
    ("wikipossessions", say_something_else, r"no possessor in common \(are names"),
    ("semeval2015_timeline", say_nothing, "no event is predicted at all"),
    ("semeval2015_timeline", say_something_else, r"no event in common \(are documents"),
]


@pytest.mark.parametrize(("corpus", "predict", "words"), CASES)
def test_silence_is_told_in_python(corpus, predict, words, evaluate):
    gold, rows = sample_gold(corpus), predict(corpus)
    with pytest.warns(closeread.CloseReadWarning, match=words):
        closeread.score(corpus, rows, gold=gold, ci=False)
    assert any_matches(words, closeread.validate(corpus, rows, gold=gold).notices)
    assert any_matches(words, closeread.count(corpus, rows, gold=gold).notices)
    module = evaluate.load(MODULES[corpus])
    for compute in (module.compute, module.report):
        notices._shown.clear()
        with pytest.warns(closeread.CloseReadWarning, match=words):
            compute(predictions=rows, references=gold)


def any_matches(words, notices):
    return any(re.search(words, notice) for notice in notices)


@pytest.mark.parametrize(("corpus", "predict", "words"), CASES)
def test_silence_is_told_by_commands(corpus, predict, words, tmp_path, run):
    path = tmp_path / "silent.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in predict(corpus)))
    for command in ("score", "validate"):
        done = run(command, corpus, path, "--config", "sample")
        assert any_matches(words, [done.stderr])


@pytest.mark.parametrize("corpus", MODULES)
def test_a_system_with_something_in_common_is_not_silent(corpus):
    counted = closeread.count(corpus, system_rows(corpus), gold=sample_gold(corpus))
    assert not any_matches("in common|at all", counted.notices)


def test_a_gold_without_annotations_is_told():
    gold = sample_gold("tne")
    for record in gold:
        record["np_relations"] = []
    counted = closeread.count("tne", system_rows("tne"), gold=gold)
    assert any_matches("the gold has no link at all", counted.notices)


def test_words_of_names_are_in_common_only_in_the_partial_setting():
    gold = sample_gold("wikipossessions")
    rows = say_something_else("wikipossessions")
    word = gold[0]["possessions"][0]["possessor"].split()[0]
    rows[0]["possessions"][0]["possessor"] = f"{word} Everafter"
    for setting, is_silent in (("exact", True), ("partial", False)):
        counted = closeread.count("wikipossessions", rows, gold=gold, setting=setting)
        assert any_matches("no possessor in common", counted.notices) == is_silent


def test_a_table_says_which_system_is_silent(tmp_path, run):
    paths = []
    for name, make in (("mine", system_rows), ("silent", say_nothing)):
        paths.append(tmp_path / f"{name}.jsonl")
        paths[-1].write_text("".join(json.dumps(row) + "\n" for row in make("tne")))
    for command in ("compare", "table", "validate"):
        done = run(command, "tne", *paths, "--config", "sample")
        assert f"note: {paths[1]}: no link is predicted at all" in done.stderr
