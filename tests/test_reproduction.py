"""The paper's tables, recomputed; printed values apart from code."""

import shutil

import pytest

from closeread.corpora.baselines import load_baselines
from closeread.corpora.facts import load_facts
from closeread.corpora.gold import corpus_names, load_corpus, read_gold, splits_at_hand
from closeread.corpora.reproduction import Inputs, reproduce
from closeread.corpora.schema import load_schema


def test_every_cell_agrees_or_says_why_not(corpora):
    cells = [cell for table in reproduce("mctaco") for cell in table.cells]
    assert len(cells) == 33
    assert all(cell.agrees or (cell.recomputed is None and cell.why) for cell in cells)
    assert {cell.row for cell in cells if cell.agrees} >= {"Random", "Always Positive", "Always Negative", "Frequency"}


def test_table_1_to_the_printed_digit(corpora):
    for cell in reproduce("mctaco", "1")[0].cells:
        digits = 1 if isinstance(cell.printed, float) else 0
        assert round(cell.recomputed, digits) == cell.printed, cell


@pytest.fixture
def spoiled(corpora, tmp_path):
    """A copy of the corpus where the first test question's first label and category are changed."""
    shutil.copytree(corpora / "mctaco", tmp_path / "mctaco")
    path = tmp_path / "mctaco" / "test_9442.tsv"
    first, rest = path.read_text("utf-8").split("\n", 1)
    sentence, question, answer, label, category = first.split("\t")
    turned = "no" if label == "yes" else "yes"
    row = "\t".join((sentence, question + " Really?", answer, turned, category))
    path.write_text(f"{row}\n{rest}", "utf-8")
    return tmp_path / "mctaco"


def test_a_changed_record_changes_the_cells(spoiled):
    honest = {(c.row, c.column): c.recomputed for t in reproduce("mctaco") for c in t.cells}
    changed = {
        (c.row, c.column): c.recomputed for t in reproduce("mctaco", inputs=Inputs(data_dir=spoiled)) for c in t.cells
    }
    different = {cell for cell, value in honest.items() if value != changed[cell]}
    assert {("all", "questions"), ("question", "tokens")} <= different
    assert {("Always Positive", "F1"), ("Always Negative", "EM"), ("Random", "EM"), ("Random", "F1")} <= different
    assert ("answer", "tokens") not in different


def test_released_predictions_fill_their_rows(corpora, tmp_path):
    # Anybody's files at the upstream paths do: here gold itself, which scores 100.
    from closeread.tasks.mctaco.reproduction import RELEASED_PREDICTIONS

    gold = read_gold(load_corpus("mctaco")).records
    for path in RELEASED_PREDICTIONS.values():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("".join(f"{record['label']}\n" for record in gold), "utf-8")
    table = reproduce("mctaco", "Table 2", Inputs(upstream=tmp_path))[0]
    filled = {cell.row: cell.recomputed for cell in table.cells if cell.row in RELEASED_PREDICTIONS}
    assert filled == dict.fromkeys(RELEASED_PREDICTIONS, 100)


@pytest.mark.parametrize("name", corpus_names())
def test_declared_facts_are_those_of_the_files(name, corpora):
    corpus, facts = load_corpus(name), load_facts(name)
    config = corpus.facts[0].config  # the sample of a corpus whose files nobody may pass on
    here = splits_at_hand(corpus, config)  # nobody may have all files of a corpus
    splits = {split: read_gold(corpus, config, split).records for split in here}
    if len(here) == len(corpus.configs[config].splits):
        splits["all"] = [record for records in splits.values() for record in records]
    found = {split: facts(records) for split, records in splits.items()}
    known = [fact for fact in corpus.facts if fact.config == config and fact.split in found]
    assert known
    for fact in known:
        assert found[fact.split][fact.name] == fact.value, fact


def test_no_sentence_is_in_both_splits(corpora):
    first, second = (
        {record["sentence"] for record in read_gold(load_corpus("mctaco"), "default", split).records}
        for split in ("validation", "test")
    )
    assert not first & second


def test_what_the_card_says_of_the_text(corpora):
    records = [r for s in ("validation", "test") for r in read_gold(load_corpus("mctaco"), "default", s).records]
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
        r["question_id"] for i, r in enumerate(records) if not i or records[i - 1]["question_id"] != r["question_id"]
    ]
    assert groups == questions  # the candidates of a question stand together


def test_the_sample_of_mctaco_shows_everything():
    records = read_gold(load_corpus("mctaco"), "sample").records
    assert {record["category"] for record in records} == set(load_schema("mctaco")["$defs"]["category"]["enum"])
    figures = load_facts("mctaco")(records)
    assert 0 < figures["questions without a yes"] < figures["questions"]
    assert set(load_baselines("mctaco")) == {"always-positive", "always-negative", "random"}
