"""Declared facts are those of the files, and what McTaco's card says of its text is true."""

import pytest

from closeread.corpus.baselines import load_baselines
from closeread.corpus.facts import load_facts
from closeread.corpus.gold import read_gold, splits_at_hand
from closeread.corpus.names import corpus_names, load_corpus
from closeread.corpus.schema import load_schema
from closeread.exceptions import UnavailableError


@pytest.mark.parametrize("name", corpus_names())
def test_declared_facts_are_those_of_the_files(name, corpora):
    corpus, facts = load_corpus(name), load_facts(name)
    config = corpus.facts[0].config  # the sample of a corpus whose files nobody may pass on
    here = splits_at_hand(corpus, config)  # nobody may have all files of a corpus
    try:
        splits = {split: read_gold(corpus, config, split).records for split in here}
    except UnavailableError:
        pytest.skip(f"the files of {name} are not here, and can't be downloaded")
    if len(here) == len(corpus.configs[config].splits):
        splits["all"] = [record for records in splits.values() for record in records]
    found = {split: facts(records) for split, records in splits.items()}
    known = [fact for fact in corpus.facts if fact.config == config and fact.split in found]
    assert known
    for fact in known:
        assert found[fact.split][fact.name] == fact.value, fact


def test_no_sentence_is_in_both_splits(corpora):
    first, second = (
        {
            record["sentence"]
            for record in read_gold(load_corpus("mctaco"), "default", split).records
        }
        for split in ("validation", "test")
    )
    assert not first & second


def test_what_the_card_says_of_the_text(corpora):
    records = [
        r
        for s in ("validation", "test")
        for r in read_gold(load_corpus("mctaco"), "default", s).records
    ]
    fields = [record[name] for record in records for name in ("sentence", "question", "answer")]
    assert sum(field.count('"') % 2 for field in fields) == 257
    sentences = {}
    for record in records:
        sentences.setdefault(record["question"], set()).add(record["sentence"])
    assert sum(len(of_question) > 1 for of_question in sentences.values()) == 4
    assert any("  " in field for field in fields)
    assert any("\xad" in field for field in fields)
    assert any("\u2002" in field for field in fields)
    questions = list(dict.fromkeys(record["question_id"] for record in records))
    groups = [
        r["question_id"]
        for i, r in enumerate(records)
        if not i or records[i - 1]["question_id"] != r["question_id"]
    ]
    assert groups == questions  # the candidates of a question stand together


def test_the_sample_of_mctaco_shows_everything():
    records = read_gold(load_corpus("mctaco"), "sample").records
    assert {record["category"] for record in records} == set(
        load_schema("mctaco")["$defs"]["category"]["enum"]
    )
    figures = load_facts("mctaco")(records)
    assert 0 < figures["questions without a yes"] < figures["questions"]
    assert set(load_baselines("mctaco")) == {"always-positive", "always-negative", "random"}
