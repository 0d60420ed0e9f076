"""TimeLine as a corpus: the sample, and folders of the user's own."""

import json

import pytest
from shared.timelines import CORPUS

from closeread.corpus.gold import read_gold
from closeread.corpus.sources import locate
from closeread.exceptions import RequestError
from closeread.records import UserFiles
from closeread.scoring import find_gold, open_scorer
from closeread.tasks.timeline.cat_xml import read_document
from closeread.tasks.timeline.records import facts, text_facts
from closeread.tasks.timeline.timeline_txt import dump_timeline

NAME = "semeval2015_timeline"


@pytest.fixture(scope="module")
def sample():
    """The files of the sample by their path below its folder."""
    return locate(CORPUS, CORPUS.configs["sample"].splits["test"]).files


@pytest.fixture
def own_folder(tmp_path, sample):
    """A folder with a corpus 1 of the user's own: the sample."""
    folder = tmp_path / "own" / "SemEval_Task4_data" / "corpus_1"
    for name, path in sample.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(path.read_bytes())
    return tmp_path / "own"


def test_the_sample_shows_everything(sample):
    gold = read_gold(CORPUS, "sample")
    assert gold.released
    assert gold.notices == ()
    found = facts(gold.records)
    nothing_of = {
        "timelines of fewer than 3 lines",
        "timelines of fewer than 2 documents",
        "mentions that are no event of track B",
        "mentions that may be several events",
    }
    assert {name for name, value in found.items() if value == 0} == nothing_of
    positions = [[entry["position"] for entry in record["entries"]] for record in gold.records]
    assert any(len(set(of)) < len(of) for of in positions)  # ties
    assert any(of != sorted(of) for of in positions)
    assert any(
        "_" in mention for r in gold.records for e in r["entries"] for mention in e["mentions"]
    )
    documents = [
        read_document(path).document for name, path in sample.items() if name.endswith(".xml")
    ]
    assert all(
        value > 0
        for name, value in text_facts(documents).items()
        if name != "names of several event mentions"
    )


def test_the_sample_is_written_as_we_write(sample):
    for record in read_gold(CORPUS, "sample").records:
        assert dump_timeline(record) == sample[
            f"TimeLines_Gold_Standard/{record['id']}.txt"
        ].read_text("utf-8")


def test_the_documents_are_no_gold():
    with pytest.raises(RequestError, match=f"config documents of {NAME} has no gold annotation"):
        open_scorer(find_gold(NAME, config="documents")[0])


# Folders of the user's own.


def test_a_folder_of_the_users_own(own_folder, run):
    gold = read_gold(CORPUS, "default", "corpus_1", UserFiles(own_folder))
    sampled = read_gold(CORPUS, "sample")
    assert list(gold.records) == list(sampled.records)
    assert gold.digest == sampled.digest
    assert not gold.released
    result = run("info", NAME, "--stats", "--data-dir", own_folder, "--json")
    assert list(json.loads(result.stdout)["splits"]) == ["corpus_1"]
    assert result.stderr.count("does not contain the released files") == 1
    documents = run(
        "info", NAME, "--stats", "--data-dir", own_folder, "--config", "documents", "--json"
    )
    assert json.loads(documents.stdout)["splits"]["corpus_1"]["documents"] == 3
