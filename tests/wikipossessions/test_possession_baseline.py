"""The baseline of WikiPossessions, on a pipeline of rules and invented articles."""

import json
from pathlib import Path

import pytest

from closeread.baselines.wikipossessions import year_of
from closeread.corpora import load_corpus, read_gold

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


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("1888", "1888"),
        ("12 May 1888", "1888"),
        ("between 1530 and 1545", "1530-1545"),
        ("1530–45", "1530-1545"),
        ("from 1545 to 1530", "1545"),
        ("the 1880s", "1880-1889"),
        ("the early 18th century", "1701-1800"),
        ("800 AD", "800"),
        ("last May", None),
        ("18 months", None),
        ("123456", None),
    ],
)
def test_years(text, year):
    assert year_of(text) == year


@pytest.fixture
def pipeline(tmp_path):
    """The folder of a blank pipeline with rules."""
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(PATTERNS)
    nlp.to_disk(tmp_path / "pipeline")
    return tmp_path / "pipeline"


@pytest.fixture
def articles(tmp_path, pipeline):
    """A folder with a text for every article of the sample."""
    folder = tmp_path / "texts"
    folder.mkdir()
    for record in read_gold(load_corpus("wikipossessions"), "sample").records:
        (folder / f"{record['article']}.txt").write_text(TEXT, "utf-8")
    return folder


@pytest.mark.filterwarnings("ignore")  # spaCy's own
def test_every_entity_once_with_the_nearest_date(ran, pipeline, articles):
    command = ["baseline", "wikipossessions", "heuristics", "--config", "sample", "-o", "said.jsonl"]
    ran(*command, "--spacy-model", pipeline, "--articles", articles)
    rows = [json.loads(line) for line in Path("said.jsonl").read_text("utf-8").splitlines()]
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
    assert ran("score", "wikipossessions", "said.jsonl", "--config", "sample", "--tolerance", "0.1", "--no-ci")


@pytest.mark.filterwarnings("ignore")
def test_what_is_lacking_is_named(run, pipeline, articles, tmp_path):
    command = ["baseline", "wikipossessions", "heuristics", "--config", "sample", "-o", tmp_path / "said.jsonl"]
    titles = sorted(path.stem for path in articles.iterdir())
    for title in titles[:2]:
        (articles / f"{title}.txt").unlink()
    done = run(*command, "--spacy-model", pipeline, "--articles", articles)
    assert done.exit_code == 1
    assert all(f"has no text of '{title}'; needed: a file '{title}.txt'" in done.stderr for title in titles[:2])
    (articles / f"{titles[0]}.txt").write_text(TEXT)
    (articles / f"{titles[1]}.txt").write_text(TEXT)
    done = run(*command, "--articles", articles)
    assert done.exit_code == 2
    assert "name one with --spacy-model" in done.stderr
    done = run(*command, "--articles", articles, "--spacy-model", "xx_no_such_pipeline")
    assert done.exit_code == 2
    assert "there is no spaCy pipeline 'xx_no_such_pipeline'" in done.stderr
    assert not (tmp_path / "said.jsonl").exists()


def test_without_texts_nothing_is_made(run, tmp_path):
    done = run("baseline", "wikipossessions", "heuristics", "--config", "sample", "-o", tmp_path / "said.jsonl")
    assert done.exit_code == 1
    assert "the corpus's folder of articles: has no text of" in done.stderr
