"""The released TimeLine corpus: its files, its figures, and its oddities."""

import json
import re
import shutil
from dataclasses import replace

import pytest
from shared.timelines import CORPUS, loader_folder, skip_unless_available

from closeread.corpus import gold
from closeread.corpus.declaration import read_manifest
from closeread.corpus.facts import load_facts
from closeread.corpus.gold import read_gold
from closeread.corpus.sources import locate
from closeread.tasks.timeline.cat_xml import read_document
from closeread.tasks.timeline.timeline_txt import dump_timeline

# those of the samples are expected
pytestmark = pytest.mark.filterwarnings("ignore::closeread.CloseReadWarning")

NAME = "semeval2015_timeline"


SPLITS = ("trial", "corpus_1", "corpus_2", "corpus_3")


def read_as_own(monkeypatch, split):
    """Gold of the released files, as if they were not known."""
    monkeypatch.setattr(
        gold, "locate", lambda *arguments: replace(locate(*arguments), released=None)
    )
    return read_gold(CORPUS, "default", split)


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
    # corpus 3 has a timeline twice
    assert sizes == {"trial": 36, "corpus_1": 44, "corpus_2": 43, "corpus_3": 45}
    assert {len(source.files) for source in CORPUS.configs["documents"].splits.values()} == {60}


@pytest.mark.parametrize("config", ["default", "documents"])
@pytest.mark.parametrize("split", [*SPLITS, "evaluation"])
def test_facts_are_those_of_the_release(corpora, split, config):
    for part in CORPUS.configs[config].parts[split]:
        skip_unless_available(part)
    gold = read_gold(CORPUS, config, split)
    assert gold.released
    found = load_facts(NAME, CORPUS.configs[config].definition)(gold.records)
    declared = {
        f.name: f.value
        for f in CORPUS.facts
        if f.split == split and (f.config or "default") == config
    }
    assert found == declared


ODD = {
    "trial": [
        ("iphone_3g.txt:4", "the anchor 'XXX-XX-XX' is not a date such as 2009-03-XX"),
        (
            "itunes_store.txt:11",
            "mention '9590-10-access' names document '9590', which is not available",
        ),
        ("steve_jobs.txt:94", "mention '18315-9-appearance' is already in the timeline"),
    ],
    "corpus_1": [
        (
            "airbus_a380.txt:33",
            "mention '629292-7-travelling8' names document '629292', which is not available",
        ),
        (
            "airbus_a380.txt:33",
            "mention '2007-03-19' looks like an anchor (two lines may have been joined)",
        ),
        ("airbus_a380.txt:33", "mention '62929-2-land' is already in the timeline"),
        (
            "boeing.txt:57",
            "mention '738080-0-unveils' names document '738080', which is not available",
        ),
        (
            "ryanair.txt:13",
            "mention '7142614-14-takeover' names document '7142614', which is not available",
        ),
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
        (
            "list_target_entities_corpus_3.txt:8",
            "there is no timeline of the entity 'NASDAQ Composite'",
        ),
        (
            "ftse_100_index.txt:13",
            "mention '115064-9-take_back' is not an event mention of track B, and its extent",
        ),
    ],
}


@pytest.mark.parametrize("split", SPLITS)
def test_oddities_of_own_files_are_told_with_file_and_line(corpora, monkeypatch, split):
    skip_unless_available(split)
    told = read_gold(CORPUS, "default", split).notices
    own = read_as_own(monkeypatch, split).notices
    # What is left out is told in any case.
    left_out = [notice for notice in own if re.search("is not scored|ignored, since", notice)]
    assert list(told) == left_out
    assert len(left_out) == (split in ("corpus_2", "corpus_3"))
    for place, what in ODD[split]:
        assert sum(f"/{place}: {what}" in notice for notice in own) == 1, place
    for notice in own:
        place, line = re.match(r"(.*?):([0-9]+): ", notice).groups()
        with open(place, encoding="utf-8") as file:
            assert int(line) <= len(file.readlines())


CONTRADICTORY = {"corpus_1": 0, "corpus_2": 1, "corpus_3": 51}
"""Relations of gold that contradict earlier ones, as the organisers' tool has them."""


@pytest.mark.parametrize("split", CONTRADICTORY)
def test_contradictory_gold_is_told(corpora, monkeypatch, split):
    skip_unless_available(split)
    found = [
        re.search(r": ([0-9]+) relations? contradicts? earlier ones", n)
        for n in read_as_own(monkeypatch, split).notices
    ]
    assert sum(int(match[1]) for match in found if match) == CONTRADICTORY[split]


@pytest.mark.parametrize("split", SPLITS)
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
    assert (
        f"note: {place}:1: is not scored, because the gold timeline has no entries\n"
        in result.stderr
    )
