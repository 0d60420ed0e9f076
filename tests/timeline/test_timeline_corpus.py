"""TimeLine as a corpus: the release, the sample, the figures, and folders of the user's own."""

import hashlib
import json
import re
import shutil
import warnings

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import closeread
from closeread.corpora.declaration import read_manifest
from closeread.corpora.facts import load_facts
from closeread.corpora.gold import load_corpus, read_gold, read_own_gold, splits_at_hand
from closeread.corpora.schema import RowValidator, load_schema
from closeread.corpora.sources import locate
from closeread.errors import ChecksumError, FormatError, RequestError
from closeread.formats.json_lines import dump_json_lines
from closeread.hf.features import features
from closeread.scoring import gold_for, score
from closeread.tasks.timeline.cat_xml import dump_document, read_document
from closeread.tasks.timeline.facts import facts, text_facts
from closeread.tasks.timeline.timeline_mentions import split_mention
from closeread.tasks.timeline.timeline_txt import dump_timeline, write_folder

NAME = "semeval2015_timeline"
CORPUS = load_corpus(NAME)
SPLITS = ("trial", "corpus_1", "corpus_2", "corpus_3")
SAMPLE = {"timelines": "TimeLines_Gold_Standard", "documents": "corpus_trackB_CAT"}


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


@pytest.fixture
def offline(monkeypatch, tmp_path):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hf-datasets")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    datasets.disable_progress_bars()


def here(split, corpora):
    """Skip where the split's files are not at hand."""
    if split not in splits_at_hand(CORPUS, "default"):
        pytest.skip(f"{split} is not in {corpora}")


# The release.


def test_the_manifest_lists_all_files_that_are_read():
    listed = [
        file.name
        for config in ("default", "documents")
        for source in CORPUS.configs[config].splits.values()
        for file in source.files
    ]
    manifest = read_manifest(locate_loader() / "released.sha256")
    assert set(listed) == set(manifest)
    sizes = {split: len(source.files) for split, source in CORPUS.configs["default"].splits.items()}
    assert sizes == {"trial": 36, "corpus_1": 44, "corpus_2": 43, "corpus_3": 45}  # corpus 3 has a timeline twice
    assert {len(source.files) for source in CORPUS.configs["documents"].splits.values()} == {60}


def locate_loader():
    sample = CORPUS.configs["sample"].splits["test"]
    return locate(CORPUS, sample).path.parent


@pytest.mark.parametrize("config", ["default", "documents"])
@pytest.mark.parametrize("split", [*SPLITS, "+".join(SPLITS[1:])])
def test_facts_are_those_of_the_release(corpora, split, config):
    for part in split.split("+"):
        here(part, corpora)
    golds = [read_gold(CORPUS, config, part) for part in split.split("+")]
    assert all(gold.released for gold in golds)
    found = load_facts(NAME, CORPUS.configs[config].definition)([r for gold in golds for r in gold.records])
    declared = {f.name: f.value for f in CORPUS.facts if f.split == split and (f.config or "default") == config}
    assert found == declared


ODD = {
    "trial": [
        ("iphone_3g.txt:4", "the anchor 'XXX-XX-XX' is no date such as 2009-03-XX"),
        ("itunes_store.txt:11", "mention '9590-10-access' is of a document '9590', which is not there"),
        ("steve_jobs.txt:94", "mention '18315-9-appearance' is in the timeline already"),
    ],
    "corpus_1": [
        ("airbus_a380.txt:33", "mention '629292-7-travelling8' is of a document '629292', which is not there"),
        ("airbus_a380.txt:33", "mention '2007-03-19' has the form of an anchor, as where two lines run together"),
        ("airbus_a380.txt:33", "mention '62929-2-land' is in the timeline already"),
        ("boeing.txt:57", "mention '738080-0-unveils' is of a document '738080', which is not there"),
        ("ryanair.txt:13", "mention '7142614-14-takeover' is of a document '7142614', which is not there"),
        (
            "united_states_air_force.txt:1",
            "the timeline is named 'united_states_air_force' and not united_states_air_fr",
        ),
        (
            "list_target_entities_corpus_1.txt:13",
            "no timeline is about an entity of the name 'United States Air Force'",
        ),
    ],
    "corpus_2": [
        ("general_motors_creditors.txt:1", "has no entry after the entity, and is not scored"),
        (
            "120578_Automobile_sales_in_the_United_States_down_sharply.txt.xml:232",
            "the creation time is '03-02-2009', which is no date such as 2009-03-02",
        ),
        ("general_motors.txt:66", "mention '127227-2-filed' is no event mention of track B"),
    ],
    "corpus_3": [
        (
            "s&p_500.txt:1",
            "is the same timeline as TimeLines_Gold_Standard/s_and_p_500.txt, under whose name it is kept",
        ),
        ("list_target_entities_corpus_3.txt:8", "no timeline is about an entity of the name 'NASDAQ Composite'"),
        ("ftse_100_index.txt:13", "mention '115064-9-take_back' is no event mention of track B, and its sentence does"),
    ],
}


@pytest.mark.parametrize("split", SPLITS)
def test_oddities_are_told_with_file_and_line(corpora, split):
    here(split, corpora)
    notices = read_gold(CORPUS, "default", split).notices
    for place, what in ODD[split]:
        assert sum(f"/{place}: {what}" in notice for notice in notices) == 1, place
    for notice in notices:
        place, line = re.match(r"(.*?):([0-9]+): ", notice).groups()
        with open(place, encoding="utf-8") as file:
            assert int(line) <= len(file.readlines())


CONTRADICTORY = {"corpus_1": 0, "corpus_2": 1, "corpus_3": 51}
"""Relations of gold that contradict earlier ones, as the organisers' tool has them."""


@pytest.mark.parametrize("split", CONTRADICTORY)
def test_contradictory_gold_is_told(corpora, split):
    here(split, corpora)
    found = [
        re.search(r": ([0-9]+) relations? in contradiction", n) for n in read_gold(CORPUS, "default", split).notices
    ]
    assert sum(int(match[1]) for match in found if match) == CONTRADICTORY[split]


@pytest.mark.parametrize("split", SPLITS)
def test_every_mention_that_is_no_single_event_is_told(corpora, split):
    here(split, corpora)
    gold = read_gold(CORPUS, "default", split)
    told = "\n".join(gold.notices)
    spans = [
        (mention, span)
        for record in gold.records
        for entry in record["entries"]
        for mention, span in zip(entry["mentions"], entry["spans"], strict=True)
    ]
    assert all((repr(mention) in told) for mention, span in spans if len(span["events"]) != 1)
    assert any(len(span["events"]) == 1 for _, span in spans)


@pytest.mark.parametrize("split", SPLITS)
def test_nothing_is_lost(corpora, split):
    """Every file is written again as it was released, but for the second one of a timeline."""
    here(split, corpora)
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


@pytest.mark.parametrize("split", SPLITS)
def test_spans_lead_to_the_words(corpora, split):
    here(split, corpora)
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


@pytest.mark.parametrize("split", SPLITS)
def test_what_the_card_says_of_the_documents(corpora, split):
    here(split, corpora)
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


@pytest.mark.parametrize(
    ("split", "folder", "n_events"),
    [
        ("trial", "Corpus-trial-data_task4", 944),
        ("corpus_1", "SemEval_Task4_data/corpus_1/corpus_trackA_CAT", 0),
        ("corpus_2", "SemEval_Task4_data/corpus_2/corpus_trackA_CAT", 0),
        ("corpus_3", "SemEval_Task4_data/corpus_3/corpus_trackA_CAT", 0),
    ],
)
def test_the_documents_that_are_not_read_have_the_same_texts(corpora, split, folder, n_events):
    here(split, corpora)
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
        re.sub(r"^.*/", "", notice) for notice in released.notices
    }


@pytest.mark.parametrize("split", SPLITS)
def test_gold_is_a_perfect_submission(corpora, split):
    here(split, corpora)
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
    assert f"note: {place}:1: is not scored: gold's timeline has no entry\n" in result.stderr


def test_the_release_loads(corpora, offline):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loaded = closeread.load_dataset(NAME)
        documents = closeread.load_dataset(NAME, "documents")
    at_hand = splits_at_hand(CORPUS, "default")
    expected = {"trial": 6, "corpus_1": 13, "corpus_2": 12, "corpus_3": 13}
    assert {split: len(rows) for split, rows in loaded.items()} == {split: expected[split] for split in at_hand}
    assert {split: len(rows) for split, rows in documents.items()} == dict.fromkeys(at_hand, 30)
    told = [str(warning.message) for warning in caught]
    for split in at_hand:
        for place, what in ODD[split]:
            assert any(f"/{place}: {what}" in message for message in told), place
    for split in set(SPLITS) - set(at_hand):
        assert any(message.startswith(f"{split} of {NAME} is left out: ") for message in told)
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
    assert f"{tmp_path / NAME / folder} does not hold the released files" in gold.notices[0]


# The sample.


def test_the_sample_shows_everything(sample):
    gold = read_gold(CORPUS, "sample")
    assert gold.released
    assert gold.notices == ()
    found = facts(gold.records)
    nothing_of = {"mentions that are no event of track B", "mentions that may be several events"}
    assert {name for name, value in found.items() if value == 0} == nothing_of
    positions = [[entry["position"] for entry in record["entries"]] for record in gold.records]
    assert any(len(set(of)) < len(of) for of in positions)  # ties
    assert any(of != sorted(of) for of in positions)
    assert any("_" in mention for r in gold.records for e in r["entries"] for mention in e["mentions"])
    documents = [read_document(path).document for name, path in sample.items() if name.endswith(".xml")]
    assert all(value > 0 for name, value in text_facts(documents).items() if name != "names of several event mentions")


def test_the_sample_is_written_as_we_write(sample):
    for record in read_gold(CORPUS, "sample").records:
        assert dump_timeline(record) == sample[f"TimeLines_Gold_Standard/{record['id']}.txt"].read_text("utf-8")
    for name, path in sample.items():
        if name.endswith(".xml"):
            assert dump_document(read_document(path).document) == path.read_text("utf-8")


def test_the_manifest_of_the_sample(sample):
    found = {f"sample/{name}": hashlib.sha256(path.read_bytes()).hexdigest() for name, path in sample.items()}
    assert found == read_manifest(locate_loader() / "sample.sha256")


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet", ""])
def test_every_form_of_gold_is_the_same(tmp_path, suffix):
    gold, path = read_gold(CORPUS, "sample"), tmp_path / f"gold{suffix}"
    records = list(gold.records)
    if suffix == ".parquet":
        schema = features(load_schema(NAME)).arrow_schema
        pq.write_table(pa.Table.from_pylist(records, schema=schema), path)
    elif suffix == ".jsonl":
        path.write_text(dump_json_lines(records), "utf-8")
    else:
        write_folder(records, path)
    own = read_own_gold(CORPUS, path)
    assert own.digest == gold.digest
    if suffix:
        assert list(own.records) == records


def test_the_sample_is_scored(tmp_path, ran):
    records = read_gold(CORPUS, "sample").records
    write_folder(records[:2], tmp_path / "system")
    rows = [
        {**r, "entries": [{name: e[name] for name in ("position", "anchor", "mentions")} for e in r["entries"]]}
        for r in records[:2]
    ]
    assert RowValidator(load_schema(NAME), "submission").problems(rows, range(2)) == []
    (tmp_path / "system.jsonl").write_text(dump_json_lines(rows), "utf-8")
    (tmp_path / "gold.jsonl").write_text(dump_json_lines(records), "utf-8")
    shown = {
        ran("score", "timeline", name, *gold, "--json", "--no-ci").replace(NAME, "")
        for name in ("system", "system.jsonl")
        for gold in (["--config", "sample"],)
    }
    (text,) = shown
    counts = json.loads(text)["counts"]
    # 7 + 8 + 6 mentions, of which the third timeline's 6 are not found.
    mentions = [sum(len(entry["mentions"]) for entry in record["entries"]) for record in records]
    assert counts["events/gold"] == sum(mentions)
    assert counts["events/shared"] == counts["events/system"] == sum(mentions[:2])
    own = json.loads(ran("score", "timeline", "system", "--gold", "gold.jsonl", "--json", "--no-ci"))
    assert own["counts"] == counts
    assert own["signature"] == json.loads(text)["signature"]
    assert "valid; 2 rows for the 3" in ran("validate", "timeline", "system", "--config", "sample")


def test_commands(ran):
    shown = ran("info", NAME)
    assert "config documents" in shown
    assert "sample/TimeLines_Gold_Standard/*.txt" in shown
    figures = json.loads(ran("stats", NAME, "--config", "sample", "--json"))["splits"]["test"]
    assert (figures["target entities"], figures["lines"]) == (3, 17)
    assert "@inproceedings" in ran("cite", NAME)


def test_the_documents_are_no_gold():
    with pytest.raises(RequestError, match=f"config documents of {NAME} holds no gold to score against"):
        gold_for(NAME, config="documents")


# Folders of the user's own.


def test_a_folder_of_the_users_own(own_folder, run):
    gold = read_gold(CORPUS, "default", "corpus_1", own_folder)
    sampled = read_gold(CORPUS, "sample")
    assert list(gold.records) == list(sampled.records)
    assert gold.digest == sampled.digest
    assert not gold.released
    result = run("stats", NAME, "--data-dir", own_folder, "--json")
    assert list(json.loads(result.stdout)["splits"]) == ["corpus_1"]
    assert result.stderr.count("does not hold the released files") == 1
    documents = run("stats", NAME, "--data-dir", own_folder, "--config", "documents", "--json")
    assert json.loads(documents.stdout)["splits"]["corpus_1"]["documents"] == 3


def test_a_folder_without_any_split(tmp_path, run):
    result = run("stats", NAME, "--data-dir", tmp_path)
    assert result.exit_code == 1
    assert "has no file TimeLines_trial_data_task4_v1.2/*.txt" in result.stderr


@pytest.mark.filterwarnings("ignore:.*does not hold the released files")
@pytest.mark.parametrize("config", ["default", "documents"])
def test_every_changed_file_is_seen(own_folder, offline, config):
    def loaded():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return closeread.load_dataset(NAME, config, data_dir=own_folder)

    first = loaded()
    assert {split: len(rows) for split, rows in first.items()} == {"corpus_1": 3}
    document = next((own_folder / "SemEval_Task4_data/corpus_1/corpus_trackB_CAT").glob("102*"))
    text = document.read_text("utf-8")
    changed = text.replace(">began<", ">begun<")
    assert changed != text
    document.write_text(changed, "utf-8")
    second = loaded()
    assert list(second["corpus_1"]) != list(first["corpus_1"])
    document.write_text(text, "utf-8")
    assert list(loaded()["corpus_1"]) == list(first["corpus_1"])
    (document.parent / ".DS_Store").write_bytes(b"stray")
    assert closeread.load_dataset_builder(NAME, config, data_dir=own_folder).cache_dir == cache_dir(own_folder, config)


def cache_dir(folder, config):
    (folder / "SemEval_Task4_data/corpus_1/corpus_trackB_CAT/.DS_Store").unlink()
    return closeread.load_dataset_builder(NAME, config, data_dir=folder).cache_dir


def test_oddities_are_warnings(own_folder, offline):
    path = own_folder / "SemEval_Task4_data/corpus_1/TimeLines_Gold_Standard/aurelia.txt"
    path.write_text(path.read_text("utf-8").replace("2014-03-03", "03-03-2014"), "utf-8")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        closeread.load_dataset(NAME, data_dir=own_folder)
    folder = own_folder / "SemEval_Task4_data/corpus_1"
    assert [(str(warning.message).split(" (sha256")[0], warning.filename) for warning in caught] == [
        (f"{folder} does not hold the released files", __file__),
        (f"{path}:3: the anchor '03-03-2014' is no date such as 2009-03-XX", __file__),
    ]


def test_broken_files_get_our_own_words(own_folder, offline):
    folder = own_folder / "SemEval_Task4_data/corpus_1"
    (folder / "TimeLines_Gold_Standard/aurelia.txt").write_text("Aurelia\n-1\tX\ta-1-b\n")
    document = next((folder / "corpus_trackB_CAT").glob("103*"))
    document.write_text('<!DOCTYPE a [<!ENTITY b "c">]><Document/>')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(FormatError) as caught:
            closeread.load_dataset(NAME, data_dir=own_folder)
    assert str(caught.value) == (
        f"{folder}: 2 problems:\n"
        f"{folder}/TimeLines_Gold_Standard/aurelia.txt:2: the position is '-1'; needed: a whole number from 0 to "
        f"{2**53 - 1}\n"
        f"{document}:1: declares 'b' in its document type; needed: XML without declarations"
    )
