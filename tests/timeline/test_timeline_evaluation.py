"""The evaluation corpora of TimeLine together, `--split evaluation`: three corpora of the tests' own, two of which have
a timeline of the same entity."""

import json
import shutil
from pathlib import Path

import pytest
from shared.timelines import CORPUS, GOLD, entry, write_texts

import closeread
from closeread.corpus.gold import read_gold, read_own_gold
from closeread.corpus.submissions import read_submission
from closeread.exceptions import FormatError, SubmissionError, UnavailableError
from closeread.formats.json_lines import dump_json_lines
from closeread.operations.score import score
from closeread.records import UserFiles
from closeread.tasks.timeline.rules import find_odd_rows
from closeread.tasks.timeline.timeline_mentions import merge_splits

# those of the samples are expected
pytestmark = pytest.mark.filterwarnings("ignore::closeread.CloseReadWarning")

NAME = "semeval2015_timeline"
WRONG = f"the position is 'x' (expected a whole number from 0 to {2**53 - 1})"
# what is odd about files and mentions
ANY_FILES = pytest.mark.filterwarnings("ignore::UserWarning")
PARTS = ("corpus_1", "corpus_2", "corpus_3")
DOCUMENT = """<Document doc_id="{id}" doc_name="x" src_url="http://x/">
<token number="0" sentence="1" t_id="1">{entity}</token><token number="1" sentence="1" t_id="2">{word}</token>
<Markables><TIMEX3 functionInDocument="CREATION_TIME" type="DATE" value="{date}" m_id="0"/>
<EVENT_MENTION m_id="1"><token_anchor t_id="2"/></EVENT_MENTION></Markables></Document>"""
TITLE = """<TimeML><DOCID>{id}</DOCID><DCT><TIMEX3 tid="t0" type="DATE">x</TIMEX3></DCT><EXTRAINFO>Title</EXTRAINFO>
<TEXT></TEXT></TimeML>"""


def write_corpus(folder, number, word, **texts):
    """Write an evaluation corpus with a document about Ann."""
    below = folder / "SemEval_Task4_data" / f"corpus_{number}"
    for name in ("TimeLines_Gold_Standard", "corpus_trackB_CAT", "corpus_trackB_TimeML"):
        (below / name).mkdir(parents=True, exist_ok=True)
    write_texts(below / "TimeLines_Gold_Standard", **texts)
    about = {"id": number, "entity": "Ann", "word": word, "date": f"201{number}-01-02"}
    (below / "corpus_trackB_CAT" / f"{number}.xml").write_text(DOCUMENT.format(**about))
    (below / "corpus_trackB_TimeML" / f"{number}.tml").write_text(TITLE.format(**about))


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder with three corpora: Ann is in the first two."""
    monkeypatch.chdir(tmp_path)
    write_corpus(Path("own"), 1, "left", ann="Ann\n1\t2011-01-02\t1-1-left\n2\t2012-XX-XX\t1-1-x\n")
    write_corpus(Path("own"), 2, "ate", ann="Ann\n1\t2012-01-02\t2-1-ate\n", bea="Bea\n")
    write_corpus(
        Path("own"), 3, "slept", cy="Cy\n1\t2013-01-02\t3-1-slept\n2\t2014\t3-1-y\n3\t2015\t3-1-z\n"
    )
    return Path("own")


@pytest.fixture
def system(own):
    """Predictions: one mention of two of corpus 1, that of corpus 2 with another anchor, and all of corpus 3."""
    write_texts(Path("system"))
    write_texts(Path("system/corpus_1"), ann="Ann\n1\t2011-01-02\t1-1-left\n")
    write_texts(Path("system/corpus_2"), ann="Ann\n1\t2019\t2-1-ate\n", bea="Bea\n")
    write_texts(
        Path("system/corpus_3"), cy="Cy\n1\t2013-01-02\t3-1-slept\n2\t2014\t3-1-y\n3\t2015\t3-1-z\n"
    )
    return Path("system")


def by_hand(report):
    scores = report.total.scores
    return [scores[f"awareness/{name}"].value for name in ("precision", "recall", "f1")]


def test_counts_of_all_corpora_are_summed(own, system):
    """Relations: with the anchor of each mention, and between neighbours, so 2 n - 1 for n mentions.

    Of the system's 1 + 1 + 5, 1 + 0 + 5 are verified, and of gold's 3 + 1 + 5 the same: no mean of corpora.
    """
    report = score("timeline", system, split="evaluation", data_dir=own)
    assert by_hand(report) == pytest.approx([6 / 7, 6 / 9, 3 / 4])
    assert (report.provenance.split, report.total.n_units) == ("evaluation", 3)
    parts = [score("timeline", system / part, split=part, data_dir=own) for part in PARTS]
    assert [by_hand(part)[1] for part in parts] == [1 / 3, 0, 1]


def test_from_the_command_line(ran, own, system):
    where = ("--split", "evaluation", "--data-dir", own.resolve())
    found = json.loads(ran("score", "timeline", system, *where, "--json", "--no-ci", "--per-unit"))
    assert found["scores"]["awareness/recall"]["value"] == 6 / 9
    assert [unit["timeline"] for unit in found["units"]] == [
        "corpus_1/ann",
        "corpus_2/ann",
        "corpus_3/cy",
    ]
    compared = json.loads(ran("compare", "timeline", system, system, *where, "--json"))
    assert compared[0]["differences"]["awareness/f1"]["value"] == 0
    printed = ran("validate", NAME, system, *where)
    assert printed.startswith("system: valid; 4 of 4 gold records")
    assert "corpus_1 + corpus_2 + corpus_3" in ran("info", NAME)
    drawn = ran(
        "plot", "timeline", "corpus_2/ann", *where, "--predictions", system, "-o", "ann.svg"
    )
    assert drawn == "ann.svg: 1 mention, 1 predicted\n"


def test_a_baseline_reads_the_documents_of_each_corpus(ran, own):
    """Ann of corpus 1 takes part in no event of corpus 2."""
    where = ("--data-dir", own.resolve())
    ran("baseline", NAME, "creation-time", "--split", "evaluation", *where, "-o", "all")
    for part in PARTS:
        ran("baseline", NAME, "creation-time", "--split", part, *where, "-o", part)
        assert {p.name: p.read_text() for p in Path(part).iterdir()} == {
            p.name: p.read_text() for p in Path("all", part).iterdir()
        }
    assert Path("all/corpus_2/ann.txt").read_text() == "Ann\n1\t2012-01-02\t2-1-ate\n"
    for part in PARTS:
        shutil.copytree(
            own / "SemEval_Task4_data" / part / "corpus_trackB_CAT", Path("articles", part)
        )
    ran(
        "baseline",
        NAME,
        "creation-time",
        "--split",
        "evaluation",
        *where,
        "--articles",
        "articles",
        "-o",
        "again",
    )
    assert Path("again/corpus_2/ann.txt").read_text() == "Ann\n1\t2012-01-02\t2-1-ate\n"


@ANY_FILES
def test_loading(own, offline, datasets):
    gold = read_gold(CORPUS, split="evaluation", files=UserFiles(own))
    everything = closeread.load_dataset(NAME, data_dir=own)
    assert list(everything) == [*PARTS, "evaluation"]
    loaded = closeread.load_dataset(NAME, split="evaluation", data_dir=own)
    assert list(loaded) == list(gold.records)
    assert len(set(loaded["id"])) == 4
    stream = closeread.load_dataset(NAME, split="evaluation", data_dir=own, streaming=True)
    assert list(stream) == list(gold.records)
    by_name = datasets.load_dataset(NAME, split="evaluation[:2]", data_dir=str(own))
    assert by_name["id"] == ["corpus_1/ann", "corpus_2/ann"]
    documents = closeread.load_dataset(NAME, "documents", split="evaluation", data_dir=own)
    assert documents["id"] == ["1", "2", "3"]


@ANY_FILES
def test_without_one_of_the_corpora(own, system, offline):
    shutil.rmtree(own / "SemEval_Task4_data" / "corpus_3")
    with pytest.raises(
        UnavailableError,
        match="contains no file SemEval_Task4_data/corpus_3/TimeLines_Gold_Standard",
    ):
        score("timeline", system, split="evaluation", data_dir=own)
    assert list(closeread.load_dataset(NAME, data_dir=own)) == ["corpus_1", "corpus_2"]
    with pytest.raises(ValueError, match="evaluation"):
        closeread.load_dataset(NAME, split="evaluation", data_dir=own)


def test_all_problems_of_gold_at_once(own):
    for number in (1, 3):
        write_corpus(own, number, "x", zoe="Zoe\nx\t2011\t1-1-x\n")
    with pytest.raises(FormatError) as caught:
        read_gold(CORPUS, split="evaluation", files=UserFiles(own))
    file = "TimeLines_Gold_Standard/zoe.txt:2"
    told = f"own/SemEval_Task4_data/corpus_1/{file}: {WRONG} (2 times; also corpus_3/{file})"
    assert str(caught.value) == told


def test_a_document_of_two_corpora(own):
    write_corpus(own, 2, "ate")
    shutil.copy(
        own / "SemEval_Task4_data/corpus_1/corpus_trackB_CAT/1.xml",
        own / "SemEval_Task4_data/corpus_2/corpus_trackB_CAT/1.xml",
    )
    shutil.copy(
        own / "SemEval_Task4_data/corpus_1/corpus_trackB_TimeML/1.tml",
        own / "SemEval_Task4_data/corpus_2/corpus_trackB_TimeML/1.tml",
    )
    with pytest.raises(FormatError) as caught:
        read_gold(CORPUS, "documents", "evaluation", UserFiles(own))
    assert (
        str(caught.value)
        == f"{NAME}: id '1' is in split corpus_1 and in split corpus_2 (expected distinct ids)"
    )


def refused(own, folder="system"):
    gold = read_gold(CORPUS, split="evaluation", files=UserFiles(own))
    with pytest.raises(SubmissionError) as caught:
        read_submission(Path(folder), CORPUS, gold.records)
    return str(caught.value)


def test_predictions_without_folders(own, system):
    named = (
        "contains none of the folders corpus_1, corpus_2, corpus_3 (expected one for each split)"
    )
    assert refused(own, "system/corpus_1") == f"system/corpus_1: {named}"
    assert refused(own, "nowhere").startswith("nowhere: ")


def test_all_problems_of_predictions_at_once(own, system):
    write_texts(system, ann="Ann\n")
    (system / "trial").mkdir()
    (system / ".DS_Store").write_text("x")
    shutil.rmtree(system / "corpus_3")
    (system / "corpus_3").mkdir()
    write_texts(system / "corpus_2", ann="Ann\nx\t2012\t2-1-ate\n", dee="Dee\n", eve="Bea\n")
    assert refused(own) == "\n".join(
        [
            "system: 7 problems of 6 kinds:",
            "system/ann.txt: is not one of the folders corpus_1, corpus_2, corpus_3 (2 times; also trial)",
            f"system/corpus_2/ann.txt:2: {WRONG}",
            "system/corpus_2/dee.txt: id 'corpus_2/dee' is not in the gold",
            "system/corpus_2/eve.txt: duplicate entity 'Bea' (first in corpus_2/bea.txt)",
            "system/corpus_2/eve.txt: id 'corpus_2/eve' is not in the gold",
            "system/corpus_3: contains no timeline (expected files ending in .txt)",
        ]
    )


def test_a_corpus_without_predictions_is_missing(own, system, run):
    shutil.rmtree(system / "corpus_3")
    assert by_hand(score("timeline", system, split="evaluation", data_dir=own)) == pytest.approx(
        [1 / 2, 1 / 9, 2 / 11]
    )
    done = run(
        "score",
        "timeline",
        system,
        "--split",
        "evaluation",
        "--data-dir",
        own,
        "--missing",
        "error",
    )
    assert done.exit_code == 1
    assert "1 of 4 ids has no prediction: 'corpus_3/cy'" in done.stderr


def test_mentions_are_looked_up_in_their_own_corpus():
    known = merge_splits({"a": unite_documents(["7"]), "b": unite_documents(["8"])})
    row = {
        "id": "b/ann",
        "entity": "Ann",
        "entries": [entry(1, "2007", "7-0-x"), entry(2, "2008", "8-0-x")],
    }
    assert [what for _, what in find_odd_rows([row], known)] == [
        "entry 1: mention '7-0-x' names document '7', which is not available"
    ]


def unite_documents(ids):
    """The timeline of Ann with documents of one sentence."""
    from closeread.tasks.timeline.timeline_mentions import Timelines

    return Timelines(GOLD[:1], [{"id": name, "sentences": [0]} for name in ids])


def test_own_gold_may_have_an_entity_in_two_splits_but_not_twice_in_one(tmp_path):
    path = tmp_path / "gold.jsonl"
    rows = [{**GOLD[0], "id": name} for name in ("a/ann", "b/ann")]
    path.write_text(dump_json_lines(rows), "utf-8")
    assert len(read_own_gold(CORPUS, path).records) == 2
    path.write_text(dump_json_lines([*rows, {**GOLD[0], "id": "b/other"}]), "utf-8")
    with pytest.raises(FormatError, match="3: duplicate entity 'Ann' \\(first on line 2\\)"):
        read_own_gold(CORPUS, path)
