"""The WikiPossessions baseline, with a rule-based spaCy pipeline and invented articles."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.for_each import for_each

from closeread.corpus import notices
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.exceptions import CloseReadWarning
from closeread.tasks.wikipossessions import baselines
from closeread.tasks.wikipossessions.dates import Anchor, date_to_anchor, parse_anchor

TEXT = (
    "In 1530 the jug was made for Ada Poe. The Hall of Jars bought it from Ada Poe in the 1880s, and it was shown in "
    "Mill Town. Nobody knows what the Town Bank paid last May."
)
PATTERNS = [
    {"label": "PERSON", "pattern": "Ada Poe"},
    {"label": "ORG", "pattern": "The Hall of Jars"},
    {"label": "ORG", "pattern": "Town Bank"},
    {"label": "GPE", "pattern": "Mill Town"},
    {"label": "DATE", "pattern": "1530"},
    {"label": "DATE", "pattern": "the 1880s"},
    {"label": "DATE", "pattern": "last May"},
]


@for_each(
    ("text", "year"),
    [
        ("1888", "1888"),
        ("12 May 1888", "1888"),
        ("March 3 to March 9, 1888", "1888"),
        ("1888-06-09", "1888"),
        ("1901-05-12", "1901"),
        ("12/05/1888", "1888"),
        ("c.1200", "1200"),
        ("between 1530 and 1545", "1530-1545"),
        ("June 1888 to 3 March 1890", "1888-1890"),
        ("1530–45", "1530-1545"),
        ("1990-5", "1990-1995"),
        ("800 to 1200", "800-1200"),
        ("from 1545 to 1530", None),
        ("the 1880s", "1880-1889"),
        ("the 1880s and 1890s", "1880-1899"),
        ("the 340s BC", "349-340 BC"),
        ("the early 18th century", "1701-1800"),
        ("the second half of the 15th century", "1401-1500"),
        ("16th to 18th centuries", "1501-1800"),
        ("late 5th to early 4th century BC", "500-301 BC"),
        ("5th century BC", "500-401 BC"),
        ("the fifth century", "401-500"),
        ("the twenty-first century", "2001-2100"),
        ("18th century to 1950", "1701-1950"),
        ("800 AD", "800"),
        ("AD 450", "450"),
        ("AD 15–20", "15-20"),
        ("1200 BC", "1200 BC"),
        ("about 2500 BCE", "2500 BC"),
        ("44 BC", "44 BC"),
        ("15 March 44 B.C.", "44 BC"),
        ("c. 1200–1000 BC", "1200-1000 BC"),
        ("44 BC to AD 12", "44 BC-12 AD"),
        ("1200 BC to 1000", None),
        ("last May", None),
        ("18 months", None),
        ("1000 years", None),
        ("100 to 200 years", None),
        ("5000 years ago", None),
        ("1345 days", None),
        ("a 1000-year-old jug", None),
        ("1,888", None),
        ("2500", None),
        ("3rd millennium BC", None),
        ("123456", None),
        ("", None),
    ],
)
def test_years(text, year):
    assert date_to_anchor(text) == year


ERAS = st.sampled_from(["", " BC", " AD"])


@given(st.integers(1000, 2099), st.integers(1000, 2099), ERAS)
def test_ranges_agree_with_their_anchors(first, last, era):
    low, high = sorted((first, last), reverse=era == " BC")
    anchor = parse_anchor(date_to_anchor(f"from {low} to {high}{era}"))
    signed = [-year if era == " BC" else year for year in (low, high)]
    assert (anchor.lower, anchor.upper, anchor.reversed) == (*signed, False)


@given(st.text() | st.from_regex(r"\A((AD )?[0-9]{1,5}(th|s| BC)?( century| years)?(-| to |, )?){1,4}\Z"))
def test_any_text_gives_years_or_none(text):
    anchor = date_to_anchor(text)
    assert anchor is None or parse_anchor(anchor)._replace(lower=None, upper=None) == Anchor("years")


@pytest.fixture
def pipeline(tmp_path):
    """A folder with a blank pipeline with rules."""
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(PATTERNS)
    nlp.to_disk(tmp_path / "pipeline")
    return tmp_path / "pipeline"


@pytest.fixture
def articles(tmp_path, pipeline):
    """A folder with a text for each article of the sample."""
    folder = tmp_path / "texts"
    folder.mkdir()
    for record in read_gold(load_corpus("wikipossessions"), "sample").records:
        (folder / f"{record['article']}.txt").write_text(TEXT, "utf-8")
    return folder


@pytest.mark.filterwarnings("ignore")  # warnings of spaCy itself
def test_every_entity_is_predicted_once_with_the_nearest_date(ran, pipeline, articles):
    command = ["baseline", "wikipossessions", "heuristics", "--config", "sample", "-o", "predictions.jsonl"]
    ran(*command, "--spacy-model", pipeline, "--articles", articles)
    rows = [json.loads(line) for line in Path("predictions.jsonl").read_text("utf-8").splitlines()]
    found = [(p["type"], p["possessor"], p["order"], p["anchor"]) for p in rows[0]["possessions"]]
    assert found == [
        ("PER", "Ada Poe", "1", "1530"),
        ("ORG", "The Hall of Jars", "2", "1880-1889"),
        ("LOC", "Mill Town", "3", "1880-1889"),
        ("ORG", "Town Bank", "4", "1880-1889"),
    ]
    assert {(p["relation"], p["certainty"], p["relation_certainty"]) for p in rows[0]["possessions"]} == {
        ("during", "certain", "certain")
    }
    assert ran("score", "wikipossessions", "predictions.jsonl", "--config", "sample", "--tolerance", "0.1", "--no-ci")


COMMAND = ["baseline", "wikipossessions", "heuristics", "--config", "sample", "-o", "predictions.jsonl"]


@pytest.mark.filterwarnings("ignore")
def test_articles_without_a_text_are_left_out_with_a_note(ran, run, pipeline, articles, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    titles = [record["article"] for record in read_gold(load_corpus("wikipossessions"), "sample").records]
    for title in titles[1:3]:
        (articles / f"{title}.txt").unlink()
    notes = run(*COMMAND, "--spacy-model", pipeline, "--articles", articles).stderr.splitlines()
    lacking = f"2 of 4 articles have no text and are left out: {titles[1]!r}, {titles[2]!r}"
    assert f"note: {lacking}; score the rest with --missing skip or --missing empty" in notes
    rows = [json.loads(line) for line in Path("predictions.jsonl").read_text("utf-8").splitlines()]
    assert [row["article"] for row in rows] == [titles[0], titles[3]]
    score = ["score", "wikipossessions", "predictions.jsonl", "--config", "sample", "--missing", "skip", "--json"]
    assert json.loads(ran(*score, "--no-ci"))["n_units"] == 2


def test_unreadable_folders_and_texts(run, articles, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*COMMAND, "--articles", tmp_path / "nowhere", "--spacy-model", "any")
    assert done.exit_code == 1
    assert f"{tmp_path}/nowhere: is not a folder (expected a folder of texts named <title>.txt)" in done.stderr
    one, two, *_ = sorted(articles.iterdir())
    one.write_bytes(b"ab\xff")
    two.write_bytes(b"")
    done = run(*COMMAND, "--articles", articles, "--spacy-model", "any")
    assert done.exit_code == 1
    assert f"{one}: byte 3 is not valid UTF-8 (expected UTF-8 text)" in done.stderr
    assert f"{two}: is empty" in done.stderr
    assert not (tmp_path / "predictions.jsonl").exists()


@pytest.mark.filterwarnings("ignore")
def test_pipelines_that_can_not_be_loaded(run, pipeline, articles, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = [*COMMAND, "--articles", articles]
    done = run(*command)
    assert done.exit_code == 2
    assert "choose one with --spacy-model" in done.stderr
    done = run(*command, "--spacy-model", "xx_no_such_pipeline")
    assert done.exit_code == 2
    assert (
        "spaCy pipeline 'xx_no_such_pipeline' does not exist (expected an installed pipeline or a folder)"
        in done.stderr
    )
    settings = pipeline / "config.cfg"
    whole = settings.read_text("utf-8")
    settings.write_text(whole.replace('factory = "entity_ruler"', 'factory = "entity_rule"'), "utf-8")
    done = run(*command, "--spacy-model", pipeline)
    assert done.exit_code == 2
    assert "can't be loaded: [E002] Can't find factory for 'entity_rule'" in done.stderr
    settings.write_text(whole, "utf-8")
    (pipeline / "meta.json").write_text("{")
    done = run(*command, "--spacy-model", pipeline)
    assert done.exit_code == 2
    assert "/pipeline' can't be loaded: " in done.stderr
    assert not (tmp_path / "predictions.jsonl").exists()


def test_without_texts_there_is_no_output(run, articles, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*COMMAND)
    assert done.exit_code == 1
    assert "the corpus's folder of articles: contains no text for any of 4 articles: " in done.stderr
    for path in articles.iterdir():
        path.unlink()
    done = run(*COMMAND, "--articles", articles)
    assert done.exit_code == 1
    assert f"{articles}: contains no text for any of 4 articles: " in done.stderr
    assert "(expected files named <title>.txt)" in done.stderr
    assert not (tmp_path / "predictions.jsonl").exists()


def test_articles_without_a_text_are_told_where_the_baseline_is_called(monkeypatch):
    monkeypatch.setattr(notices, "_shown", set())
    with pytest.warns(CloseReadWarning, match="^1 of 2 articles have no text and are left out: 'b'; ") as caught:
        baselines._warn_of_missing([{"article": "a"}, {"article": "b"}], {"a": None})
    assert [one.filename for one in caught] == [__file__]
