"""The released TimeLine corpus: its files, its figures, and its oddities."""

import json
import re
import shutil
import warnings

import pytest
from shared.for_each import for_each
from shared.timelines import CORPUS, loader_folder, skip_unless_available

import closeread
from closeread.corpus import notices
from closeread.corpus.declaration import read_manifest
from closeread.corpus.facts import load_facts
from closeread.corpus.gold import available_splits, describe_known, read_gold, read_own_gold, splits_at_hand
from closeread.corpus.sources import locate
from closeread.exceptions import ChecksumError
from closeread.operations.score import score
from closeread.tasks.timeline.cat_xml import read_document
from closeread.tasks.timeline.timeline_mentions import split_mention
from closeread.tasks.timeline.timeline_txt import dump_timeline

pytestmark = pytest.mark.filterwarnings("ignore::closeread.CloseReadWarning")  # those of the samples are expected

NAME = "semeval2015_timeline"


SPLITS = ("trial", "corpus_1", "corpus_2", "corpus_3")


def test_the_manifest_lists_all_files_that_are_read():
    listed = [
        file.name
        for config in ("default", "documents")
        for source in CORPUS.configs[config].splits.values()
        for file in source.files
    ]
    manifest = read_manifest(loader_folder() / "released.sha256")
    assert set(listed) == set(manifest)
    sizes = {split: len(source.files) for split, source in CORPUS.configs["default"].splits.items()}
    assert sizes == {"trial": 36, "corpus_1": 44, "corpus_2": 43, "corpus_3": 45}  # corpus 3 has a timeline twice
    assert {len(source.files) for source in CORPUS.configs["documents"].splits.values()} == {60}


@for_each("config", ["default", "documents"])
@for_each("split", [*SPLITS, "evaluation"])
def test_facts_are_those_of_the_release(corpora, split, config):
    for part in CORPUS.configs[config].parts(split):
        skip_unless_available(part)
    gold = read_gold(CORPUS, config, split)
    assert gold.released
    found = load_facts(NAME, CORPUS.configs[config].definition)(gold.records)
    declared = {f.name: f.value for f in CORPUS.facts if f.split == split and (f.config or "default") == config}
    assert found == declared


ODD = {
    "trial": [
        ("iphone_3g.txt:4", "the anchor 'XXX-XX-XX' is not a date such as 2009-03-XX"),
        ("itunes_store.txt:11", "mention '9590-10-access' names document '9590', which is not available"),
        ("steve_jobs.txt:94", "mention '18315-9-appearance' is already in the timeline"),
    ],
    "corpus_1": [
        ("airbus_a380.txt:33", "mention '629292-7-travelling8' names document '629292', which is not available"),
        ("airbus_a380.txt:33", "mention '2007-03-19' looks like an anchor (two lines may have been joined)"),
        ("airbus_a380.txt:33", "mention '62929-2-land' is already in the timeline"),
        ("boeing.txt:57", "mention '738080-0-unveils' names document '738080', which is not available"),
        ("ryanair.txt:13", "mention '7142614-14-takeover' names document '7142614', which is not available"),
        (
            "united_states_air_force.txt:1",
            "the timeline is named 'united_states_air_force' (expected 'united_states_air_fr",
        ),
        (
            "list_target_entities_corpus_1.txt:13",
            "there is no timeline of the entity 'United States Air Force'",
        ),
    ],
    "corpus_2": [
        ("general_motors_creditors.txt:1", "has no entries, and is not scored"),
        (
            "120578_Automobile_sales_in_the_United_States_down_sharply.txt.xml:232",
            "the creation time '03-02-2009' is not a date such as 2009-03-02",
        ),
        ("general_motors.txt:66", "mention '127227-2-filed' is not an event mention of track B"),
    ],
    "corpus_3": [
        (
            "s&p_500.txt:1",
            "ignored, since it is identical to TimeLines_Gold_Standard/s_and_p_500.txt",
        ),
        ("list_target_entities_corpus_3.txt:8", "there is no timeline of the entity 'NASDAQ Composite'"),
        (
            "ftse_100_index.txt:13",
            "mention '115064-9-take_back' is not an event mention of track B, and its extent",
        ),
    ],
}


@for_each("split", SPLITS)
def test_oddities_are_told_with_file_and_line(corpora, split):
    skip_unless_available(split)
    gold = read_gold(CORPUS, "default", split)
    oddities = gold.known_oddities
    assert gold.notices == (describe_known(len(oddities), NAME),)
    for place, what in ODD[split]:
        assert sum(f"/{place}: {what}" in notice for notice in oddities) == 1, place
    for notice in oddities:
        place, line = re.match(r"(.*?):([0-9]+): ", notice).groups()
        with open(place, encoding="utf-8") as file:
            assert int(line) <= len(file.readlines())


CONTRADICTORY = {"corpus_1": 0, "corpus_2": 1, "corpus_3": 51}
"""Relations of gold that contradict earlier ones, as the organisers' tool has them."""


@for_each("split", CONTRADICTORY)
def test_contradictory_gold_is_told(corpora, split):
    skip_unless_available(split)
    found = [
        re.search(r": ([0-9]+) relations? contradicts? earlier ones", n)
        for n in read_gold(CORPUS, "default", split).known_oddities
    ]
    assert sum(int(match[1]) for match in found if match) == CONTRADICTORY[split]


@for_each("split", SPLITS)
def test_every_mention_that_is_no_single_event_is_told(corpora, split):
    skip_unless_available(split)
    gold = read_gold(CORPUS, "default", split)
    told = "\n".join(gold.known_oddities)
    spans = [
        (mention, span)
        for record in gold.records
        for entry in record["entries"]
        for mention, span in zip(entry["mentions"], entry["spans"], strict=True)
    ]
    assert all((repr(mention) in told) for mention, span in spans if len(span["events"]) != 1)
    assert any(len(span["events"]) == 1 for _, span in spans)


@for_each("split", SPLITS)
def test_nothing_is_lost(corpora, split):
    """Every file is written again as it was released, but for the second one of a timeline."""
    skip_unless_available(split)
    records = {record["id"]: record for record in read_gold(CORPUS, "default", split).records}
    files = locate(CORPUS, CORPUS.configs["default"].splits[split]).files
    timelines = {path.stem: path for name, path in files.items() if name.startswith("TimeLines_")}
    assert timelines.keys() - records.keys() == ({"s&p_500"} if split == "corpus_3" else set())
    for name, path in timelines.items():
        assert dump_timeline(records[name.replace("&", "_and_")]) == path.read_text("utf-8")
    for name, path in locate(CORPUS, CORPUS.configs["documents"].splits[split]).files.items():
        if name.endswith(".xml"):
            document = read_document(path).document
            text = path.read_text("utf-8")
            assert len(re.findall("<token ", text)) == len(document["tokens"])
            assert len(re.findall("<EVENT_MENTION ", text)) == len(document["events"])


@for_each("split", SPLITS)
def test_spans_lead_to_the_words(corpora, split):
    skip_unless_available(split)
    documents = {document["id"]: document for document in read_gold(CORPUS, "documents", split).records}
    events = {(document["id"], event["id"]): event for document in documents.values() for event in document["events"]}
    apart = 0
    for record in read_gold(CORPUS, "default", split).records:
        for entry in record["entries"]:
            for mention, span in zip(entry["mentions"], entry["spans"], strict=True):
                if span["start"] is None:
                    continue
                document = documents[span["document"]]
                named = split_mention(mention)
                assert named[:2] == (span["document"], span["sentence"])
                places = range(span["start"], span["end"] + 1)
                assert {document["sentences"][place] for place in places} == {span["sentence"]}
                if span["events"]:
                    event = events[span["document"], span["events"][0]]
                    assert event["mention"] == mention
                    assert (event["tokens"][0], event["tokens"][-1]) == (span["start"], span["end"])
                    apart += len(places) > len(event["tokens"])
                else:
                    assert "_".join(document["tokens"][place] for place in places) == named[2]
    assert apart <= 2  # three event mentions are of tokens that are no neighbours


@for_each("split", SPLITS)
def test_what_the_card_says_of_the_documents(corpora, split):
    skip_unless_available(split)
    documents = read_gold(CORPUS, "documents", split).records
    for document in documents:
        title = [token for token, number in zip(document["tokens"], document["sentences"], strict=True) if number == 0]
        assert document["title"] == " ".join(title)
        assert sorted(set(document["sentences"])) == list(range(max(document["sentences"]) + 1))
        assert document["creation_time_tokens"] != []
        assert {document["sentences"][place] for place in document["creation_time_tokens"]} == {1}
    apart = [
        event["mention"]
        for document in documents
        for event in document["events"]
        if max(event["tokens"]) - min(event["tokens"]) >= len(event["tokens"])
    ]
    assert len(apart) == {"trial": 2, "corpus_1": 0, "corpus_2": 1, "corpus_3": 0}[split]
    odd = [d["id"] for d in documents if not re.fullmatch(r"\d{4}-\d\d-\d\d", d["creation_time"])]
    assert odd == (["120578"] if split == "corpus_2" else [])


@for_each(
    ("split", "folder", "n_events"),
    [
        ("trial", "Corpus-trial-data_task4", 944),
        ("corpus_1", "SemEval_Task4_data/corpus_1/corpus_trackA_CAT", 0),
        ("corpus_2", "SemEval_Task4_data/corpus_2/corpus_trackA_CAT", 0),
        ("corpus_3", "SemEval_Task4_data/corpus_3/corpus_trackA_CAT", 0),
    ],
)
def test_the_documents_that_are_not_read_have_the_same_texts(corpora, split, folder, n_events):
    skip_unless_available(split)
    read = {path.name: read_document(path) for path in (corpora / NAME / folder).glob("*.xml")}
    assert len(read) == 30
    assert all(one.problems == [] for one in read.values())
    theirs = {one.document["id"]: one.document for one in read.values()}
    for document in read_gold(CORPUS, "documents", split).records:
        for name in ("tokens", "sentences", "creation_time"):
            assert theirs[document["id"]][name] == document[name]
    assert sum(len(document["events"]) for document in theirs.values()) == n_events


def test_gold_folders_are_the_gold(corpora):
    """The timelines alone say what is scored: with and without documents the digest is the same."""
    folder = corpora / NAME / "SemEval_Task4_data" / "corpus_1" / "TimeLines_Gold_Standard"
    own, released = read_own_gold(CORPUS, folder), read_gold(CORPUS, "default", "corpus_1")
    assert own.digest == released.digest
    assert not own.released
    assert [record["id"] for record in own.records] == [record["id"] for record in released.records]
    # What documents tell is not told, everything else is.
    assert {re.sub(r"^.*/", "", notice) for notice in own.notices} <= {
        re.sub(r"^.*/", "", notice) for notice in released.known_oddities
    }


@for_each("split", SPLITS)
def test_gold_is_a_perfect_submission(corpora, split):
    skip_unless_available(split)
    names = {"trial": "TimeLines_trial_data_task4_v1.2"}
    folder = names.get(split, f"SemEval_Task4_data/{split}/TimeLines_Gold_Standard")
    for track in ("full", "ordering"):
        report = score(NAME, corpora / NAME / folder, split=split, track=track, missing="error")
        assert report.total.scores["awareness/f1"].value == 1
        assert report.total.scores["events/f1"].value == 1
        assert len(report.total.scores) == 7
    evaluated = next(f.value for f in CORPUS.facts if (f.name, f.split) == ("timelines evaluated", split))
    assert report.total.n_units == evaluated


def test_the_empty_timeline_is_not_missed(corpora, tmp_path, run):
    folder = corpora / NAME / "SemEval_Task4_data" / "corpus_2" / "TimeLines_Gold_Standard"
    shutil.copytree(folder, tmp_path / "system")
    (tmp_path / "system" / "general_motors_creditors.txt").unlink()
    arguments = (
        "score",
        "timeline",
        tmp_path / "system",
        "--split",
        "corpus_2",
        "--missing",
        "error",
        "--json",
        "--no-ci",
    )
    without = json.loads(run(*arguments).stdout)
    assert without["missing"] == 0
    text = "General Motors creditors\n1\tXXXX-XX-XX\t127226-2-agreed\n"
    (tmp_path / "system" / "general_motors_creditors.txt").write_text(text)
    result = run(*arguments)
    assert json.loads(result.stdout) == without
    place = tmp_path / "system" / "general_motors_creditors.txt"
    assert f"note: {place}:1: is not scored, because the gold timeline has no entries\n" in result.stderr


def test_the_release_loads(corpora, offline, monkeypatch):
    monkeypatch.setattr(notices, "_shown", set())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loaded = closeread.load_dataset(NAME)
        documents = closeread.load_dataset(NAME, "documents")
    at_hand = splits_at_hand(CORPUS, "default")
    expected = {"trial": 6, "corpus_1": 13, "corpus_2": 12, "corpus_3": 13, "evaluation": 38}
    available = available_splits(CORPUS, "default")
    assert {split: len(rows) for split, rows in loaded.items()} == {split: expected[split] for split in available}
    expected = {**dict.fromkeys(SPLITS, 30), "evaluation": 90}
    assert {split: len(rows) for split, rows in documents.items()} == {split: expected[split] for split in available}
    told = [str(warning.message) for warning in caught]
    known = f"the released files of {NAME} have known oddities: see `closeread info {NAME} --oddities`"
    assert told.count(known) == 1  # for all splits of both configs
    skipped = [message for message in told if message != known]
    assert len(skipped) == (len(at_hand) < len(SPLITS))
    for split in set(SPLITS) - set(at_hand):
        assert f"split {split} of {NAME} is skipped: " in skipped[0]
    assert {warning.filename for warning in caught} == {__file__}


def test_a_changed_file_is_refused(corpora, tmp_path, monkeypatch):
    folder = "SemEval_Task4_data/corpus_1"
    shutil.copytree(corpora / NAME / folder, tmp_path / NAME / folder)
    changed = tmp_path / NAME / folder / "TimeLines_Gold_Standard" / "eads.txt"
    changed.write_text(changed.read_text("utf-8").replace("EADS", "EAD", 1), "utf-8")
    monkeypatch.setenv("CLOSEREAD_DATA", str(tmp_path))
    with pytest.raises(ChecksumError, match=r"eads\.txt: is not the released file"):
        read_gold(CORPUS, "default", "corpus_1")
    gold = read_gold(CORPUS, "default", "corpus_1", tmp_path / NAME)
    assert not gold.released
    assert f"{tmp_path / NAME / folder} does not contain the released files" in gold.notices[0]
