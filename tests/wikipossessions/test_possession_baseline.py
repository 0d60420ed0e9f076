"""The WikiPossessions baseline, with a rule-based spaCy pipeline and invented articles."""

import json
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
from shared.possession_pipeline import make_pipeline, write_pipeline
from shared.possession_records import HEADER

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.tasks.wikipossessions.baselines import (
    _find_nearest,
    find_possessions,
    place_names,
)

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


def test_of_two_dates_that_touch_a_name_the_earlier_one_is_the_nearest():
    dates = [SimpleNamespace(start=start, end=start + 2, text=str(start)) for start in (6, 3, 0)]
    assert _find_nearest(SimpleNamespace(start=5, end=6), dates) == "3"


@pytest.mark.filterwarnings("ignore")  # warnings of spaCy itself
def test_every_entity_is_predicted_once_with_the_nearest_date(ran, pipeline, articles):
    command = [
        "baseline",
        "wikipossessions",
        "heuristics",
        "--config",
        "sample",
        "-o",
        "predictions.jsonl",
    ]
    ran(*command, "--spacy-model", pipeline, "--articles", articles)
    rows = [json.loads(line) for line in Path("predictions.jsonl").read_text("utf-8").splitlines()]
    found = [(p["type"], p["possessor"], p["order"], p["anchor"]) for p in rows[0]["possessions"]]
    assert found == [
        ("PER", "Ada Poe", "1", "1530"),
        ("ORG", "The Hall of Jars", "2", "the 1880s"),
        ("LOC", "Mill Town", "3", "the 1880s"),
        ("ORG", "Town Bank", "4", "last May"),
    ]
    assert {
        (p["relation"], p["certainty"], p["relation_certainty"]) for p in rows[0]["possessions"]
    } == {("during", "certain", "certain")}
    assert ran(
        "score",
        "wikipossessions",
        "predictions.jsonl",
        "--config",
        "sample",
        "--tolerance",
        "0.1",
        "--no-ci",
    )


COMMAND = [
    "baseline",
    "wikipossessions",
    "heuristics",
    "--config",
    "sample",
    "-o",
    "predictions.jsonl",
]


@pytest.mark.filterwarnings("ignore")
def test_articles_without_a_text_are_left_out_with_a_note(
    ran, run, pipeline, articles, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    titles = [
        record["article"] for record in read_gold(load_corpus("wikipossessions"), "sample").records
    ]
    for title in titles[1:3]:
        (articles / f"{title}.txt").unlink()
    notes = run(*COMMAND, "--spacy-model", pipeline, "--articles", articles).stderr.splitlines()
    lacking = f"2 of 4 articles have no text and are left out: {titles[1]!r}, {titles[2]!r}"
    assert f"note: {lacking}; score the rest with --missing skip or --missing empty" in notes
    rows = [json.loads(line) for line in Path("predictions.jsonl").read_text("utf-8").splitlines()]
    assert [row["article"] for row in rows] == [titles[0], titles[3]]
    score = [
        "score",
        "wikipossessions",
        "predictions.jsonl",
        "--config",
        "sample",
        "--missing",
        "skip",
        "--json",
    ]
    assert json.loads(ran(*score, "--no-ci"))["n_units"] == 2


def test_unreadable_folders_and_texts(run, articles, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*COMMAND, "--articles", articles)
    assert done.exit_code == 2
    assert "choose one with --spacy-model" in done.stderr
    done = run(*COMMAND, "--articles", tmp_path / "nowhere", "--spacy-model", "any")
    assert done.exit_code == 1
    assert (
        f"{tmp_path}/nowhere: is not a folder (expected a folder of texts named <title>.txt)"
        in done.stderr
    )
    one, two, *_ = sorted(articles.iterdir())
    one.write_bytes(b"ab\xff")
    two.write_bytes(b"")
    done = run(*COMMAND, "--articles", articles, "--spacy-model", "any")
    assert done.exit_code == 1
    assert f"{one}: byte 3 is not valid UTF-8 (expected UTF-8 text)" in done.stderr
    assert f"{two}: is empty" in done.stderr
    assert not (tmp_path / "predictions.jsonl").exists()


JUG = "In 1530 the jug was made for Ada Poe's sister. The Museum of Jars bought it from Ada in the 1880s; last May, Mill "
JUG += "Town-on-Sea got it."
DATES = ["1530", "the 1880s", "last May"]


def place(text, *names, found=()):
    rows = [{"type": "PER", "possessor": name} for name in names]
    made = place_names(rows, make_pipeline(DATE=[*DATES, *found])(text))
    assert [row["order"] for row in made] == [str(number) for number in range(1, len(made) + 1)]
    assert {row["certainty"] for row in made} <= {"certain"}
    for row in made:
        related = ("during", "certain") if row["anchor"] else (None, None)
        assert (row["relation"], row["relation_certainty"]) == related
    return [(row["possessor"], row["anchor"]) for row in made]


def test_names_come_in_the_order_of_the_text_and_others_last():
    names = ("Zed", "Mill Town-on-Sea", "the Museum at Jars,", "ADA POE", "Bo", "Ada Poe")
    assert place(JUG, *names) == [
        ("ADA POE", "1530"),
        ("the Museum at Jars,", "the 1880s"),
        ("Mill Town-on-Sea", "last May"),
        ("Bo", None),
        ("Zed", None),
    ]


def test_the_nearest_date_of_any_kind():
    document = make_pipeline(DATE=DATES, PERSON=["Ada Poe"], GPE=["Mill Town"])(JUG)
    assert [row["anchor"] for row in find_possessions(document)] == ["1530", "last May"]
    assert place("Last\n week, Bo got it.", "Bo", found=["Last\n week"]) == [("Bo", "Last week")]
    assert place("Bo got it.", "Bo") == [("Bo", None)]


@pytest.mark.parametrize(
    ("text", "name", "is_there"),
    [
        ("It is in Poe's hands.", "Poe", True),
        ("It is in Poetry's hands.", "Poe", False),
        ("It is in Poe and Ada's hands.", "Ada Poe", False),
        ("It is Ada\n\nPoe's.", "Ada Poe", True),
        ("It is in the CAFÉ.", "café", True),
        ("It is in the Cafe\u0301.", "Caf\xe9", True),
        ("It is the artist\u2019s.", "artist's", True),
        ("It is of the.", "of the", False),  # no word to look for
        ("", "Poe", False),
    ],
)
def test_where_names_are(text, name, is_there):
    # A date at the end gives an anchor to names that are there.
    assert place(f"{text} In 1530.", name) == [(name, "1530" if is_there else None)]


def test_names_that_begin_at_one_place():
    assert [name for name, _ in place("Ada Poe sold it.", "Ada", "Ada Poe")] == ["Ada Poe", "Ada"]


GOLD = (
    "A Jug#PER#Ann#PC#1#1700#Dur#C",
    "A Jug#ORG#Mill Hall#PUC#2#1720#Bef#C",
    "A Jug#GPE#Riga#PC#3#Unknown##",
    "B Jug#PER#Ann#PC#1#1700#Dur#C",
)
MARKED = "== Makers ==\n\nAnn made it in 1700.\n\nThen Bo had it, and in 1725 Old Riga got it.\n"
NAMES = {"PERSON": ["Ann", "Bo"], "GPE": ["Old Riga"], "DATE": ["1700", "1725"]}

# Predicted are Ann (1700), Bo (1700) and Old Riga (1725), in this order; given the names, Ann (1700), Riga (1725) and
# Mill Hall. B Jug has no text. The tolerance makes 1699 to 1701 of the gold year, of which a third is predicted.
EXPECTED = {
    "Poss.ID": "1/3 1/3  2/3 2/3  1 1/3  1 2/3  1 1",
    "Poss.Cert": "1/3 1/3  2/3 2/3  1 1/3  1 2/3  2/3 2/3",  # Mill Hall is uncertain
    "Temp.Anch": "1/3 1/6  1/3 1/6  1 1/6  1/2 1/6  1/2 1/6",  # Ann's; of two in gold
    "Temp.Rel": "1/3 1/2  1/3 1/2  1 1/2  1/2 1/2  1/2 1/2",
    "TRel.Cert": "1/3 1/2  1/3 1/2  1 1/2  1/2 1/2  1/2 1/2",
    # Three gold pairs. Old Riga is not Riga exactly; of the right ones alone, one or no pair is left.
    "Ordering": "0 0  1/3 1/3  0 0  1 1/3  2/3 2/3",
}
FAMILIES = {
    "Poss.ID": "possessor",
    "Poss.Cert": "possessor_certainty",
    "Temp.Anch": "anchor",
    "Temp.Rel": "relation",
    "TRel.Cert": "relation_certainty",
    "Ordering": "ordering",
}
GROUPS = {
    "ALL exact": ("heuristics.jsonl",),
    "ALL partial": ("heuristics.jsonl", "--setting", "partial"),
    "ALLCORR exact": ("heuristics.jsonl", "--scenario", "all_correct"),
    "ALLCORR partial": ("heuristics.jsonl", "--scenario", "all_correct", "--setting", "partial"),
    "ORACLE": ("oracle.jsonl", "--scenario", "oracle"),
}


@pytest.fixture
def files(here):
    """A corpus, a text of one of its two articles, and a pipeline."""
    Path("annotations.csv").write_text("\n".join((HEADER, *GOLD)) + "\n", "utf-8")
    Path("texts").mkdir()
    Path("texts/A Jug.txt").write_text(MARKED, "utf-8")
    return (
        ("--data-dir", here),
        ("--articles", "texts"),
        ("--spacy-model", write_pipeline(here / "rules", **NAMES)),
    )


@pytest.mark.filterwarnings("ignore")  # warnings of spaCy itself
@pytest.mark.parametrize("row", EXPECTED)
def test_the_table_of_the_baseline_by_hand(ran, files, row):
    place, articles, model = files
    for baseline in ("heuristics", "oracle"):
        ran(
            "baseline",
            "wikipossessions",
            baseline,
            *place,
            *articles,
            *model,
            "-o",
            f"{baseline}.jsonl",
        )
    for group, pair in zip(GROUPS, EXPECTED[row].split("  "), strict=True):
        p, r = map(Fraction, pair.split())
        f1 = 2 * p * r / (p + r) if p + r else 0
        scores = json.loads(
            ran(
                *("score", "wikipossessions", *GROUPS[group], *place, "--missing", "skip"),
                *("--tolerance", "0.1", "--json", "--no-ci"),
            )
        )["scores"]
        found = [
            scores[f"{FAMILIES[row]}/{name}"]["value"] for name in ("precision", "recall", "f1")
        ]
        assert found == pytest.approx([float(p), float(r), float(f1)]), group


def test_statistics_of_texts(ran, files):
    command = ["info", "wikipossessions", "--stats", *files[0], "--json"]
    Path("texts").rename("articles")
    figures = json.loads(ran(*command))["splits"]["test"]
    assert not {"words per article", "sections per article"} & figures.keys()  # B Jug has no text
    Path("articles/B Jug.txt").write_text("== A B ==\n== C ==", "utf-8")
    figures = json.loads(ran(*command))["splits"]["test"]
    assert (figures["words per article"], figures["sections per article"]) == (
        (17 + 3) / 2,
        (1 + 2) / 2,
    )


def test_pipelines_that_find_no_names(run, files):
    place, articles, _ = files
    pytest.importorskip("spacy").blank("en").to_disk("bare")
    command = ("baseline", "wikipossessions", "oracle", *place, *articles, "-o", "named.jsonl")
    done = run(*command, "--spacy-model", "bare")
    assert done.exit_code == 2
    message = "spaCy pipeline 'en_pipeline' does not annotate named entities (expected a pipeline with an entity recog"
    assert message in done.stderr


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("changes", "code", "message"),
    [
        (
            {"--articles": "empty"},
            1,
            "empty: contains no text for any of 2 articles: 'A Jug', 'B Jug'",
        ),
        ({"--spacy-model": "no_such"}, 2, "spaCy pipeline 'no_such' does not exist (expected an"),
        (
            {"--articles": "long"},
            1,
            "long/A Jug.txt: has 1,000,001 characters (limit of spaCy: 1,000,000)",
        ),
    ],
)
def test_bad_articles_and_pipelines(run, files, changes, code, message):
    Path("empty").mkdir()
    Path("long").mkdir()
    Path("long/A Jug.txt").write_text("x" * 1_000_001)
    options = [word for pair in (dict(files) | changes).items() for word in pair]
    done = run("baseline", "wikipossessions", "oracle", *options, "-o", "named.jsonl")
    assert (done.exit_code, message in done.stderr) == (code, True), done.stderr


@pytest.mark.filterwarnings("ignore")
def test_the_command_makes_what_its_scenario_needs(ran, run, files):
    place, articles, model = files
    command = ["baseline", "wikipossessions", "oracle", *place, *articles, *model]
    made = run(*command, "-o", "named.jsonl")
    assert "1 of 2 articles have no text and are left out: 'B Jug'" in made.stderr
    score = [
        "score",
        "wikipossessions",
        "named.jsonl",
        *place,
        "--missing",
        "skip",
        "--json",
        "--no-ci",
    ]
    scores = json.loads(ran(*score, "--scenario", "oracle", "--tolerance", "0.1"))["scores"]
    assert scores["possessor/f1"]["value"] == 1
    assert scores["ordering/f1"]["value"] == pytest.approx(2 / 3)
    assert "Ann" in Path("named.jsonl").read_text()
