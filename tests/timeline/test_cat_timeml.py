"""Documents in CAT as TimeML and back: by hand, as released in both, and on the command line."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.timelines import CORPUS, skip_unless_available

from closeread.corpus.gold import read_gold
from closeread.corpus.sources import locate
from closeread.formats.timeml import dump_timeml, read_timeml
from closeread.tasks.timeline.cat_timeml import as_cat, as_timeml, lost_in_cat, lost_in_timeml
from closeread.tasks.timeline.cat_xml import dump_document, read_document
from closeread.tasks.timeline.timeline_txt import read_folder

CAT = {
    "id": "7",
    "name": "7_Rain.txt",
    "url": "http://example.org/rain",
    "title": None,
    "creation_time": "2012-05-01",
    "creation_time_id": "9",
    "creation_time_tokens": [2, 3],
    "tokens": ["Rain", "stops", "May", "1", "It", "let", "us", "down", "A", "&", "B"],
    "sentences": [0, 0, 1, 1, 3, 3, 3, 3, 4, 4, 4],
    "events": [
        {"id": "12", "mention": "7-3-let_down", "tokens": [5, 7]},
        {"id": "4", "mention": "7-0-Rain_stops", "tokens": [0, 1]},
    ],
}
TIMEML = """<?xml version="1.0" encoding="UTF-8"?>
<TimeML>
<DOCID>7</DOCID>
<DCT><TIMEX3 functionInDocument="CREATION_TIME" tid="t0" type="DATE" value="2012-05-01">2012-05-01</TIMEX3></DCT>
<EXTRAINFO>Rain stops</EXTRAINFO>
<TEXT><s id="0"><EVENT eid="e4">Rain stops</EVENT></s><s id="1">May 1</s><s id="3">It <EVENT eid="e12">let</EVENT> \
us down</s><s id="4">A &amp; B</s></TEXT>
</TimeML>
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("documents") / "7"


def timeml(file, text):
    file.write_text(text, "utf-8")
    return read_timeml(file)


def test_a_document_by_hand(file):
    assert dump_timeml(as_timeml(CAT)) == TIMEML
    assert lost_in_timeml(CAT) == [
        "the tokens after a gap in 1 of 2 events",
        "the name",
        "the URL",
        "the tokens of the creation time",
    ]
    back = as_cat(timeml(file, TIMEML))
    assert back == {
        **CAT,
        "name": None,
        "url": None,
        "title": "Rain stops",
        "creation_time_id": "t0",
        "creation_time_tokens": [],
        "events": [CAT["events"][1], {"id": "12", "mention": "7-3-let", "tokens": [5]}],
    }
    assert lost_in_cat(timeml(file, TIMEML)) == []
    assert lost_in_timeml(back) == []


def test_what_a_document_need_not_have(file):
    bare = {
        **CAT,
        "creation_time": None,
        "creation_time_id": None,
        "creation_time_tokens": [],
        "title": "Rain",
        "events": [],
    }
    made = as_timeml(bare)
    assert [passage.name for passage in made.passages] == ["EXTRAINFO", "TEXT"]
    assert made.title == "Rain"
    back = as_cat(timeml(file, dump_timeml(made)))
    assert back == {**bare, "name": None, "url": None}


@st.composite
def documents(draw):
    """Documents of which TimeML holds everything."""
    words = draw(st.lists(st.text("ab<&_-'", min_size=1, max_size=3), min_size=1, max_size=12))
    steps = draw(st.lists(st.integers(0, 2), min_size=len(words), max_size=len(words)))
    sentences = [sum(steps[: number + 1]) for number in range(len(words))]
    cuts = sorted(draw(st.sets(st.integers(0, len(words)), max_size=6)))
    spans = [range(a, b) for a, b in pairwise(cuts) if sentences[a] == sentences[b - 1]]
    events = [
        {
            "id": str(50 - n),
            "mention": f"d-{sentences[of[0]]}-{'_'.join(words[of[0] : of[-1] + 1])}",
            "tokens": list(of),
        }
        for n, of in enumerate(draw(st.lists(st.sampled_from(spans), unique=True)) if spans else [])
    ]
    first = [
        word for word, sentence in zip(words, sentences, strict=True) if sentence == sentences[0]
    ]
    return {
        "id": "d", "name": None, "url": None, "title": " ".join(first), "creation_time": "2012-05-01",
        "creation_time_id": "t0", "creation_time_tokens": [], "tokens": words, "sentences": sentences,
        "events": sorted(events, key=lambda event: event["tokens"]),
    }  # fmt: skip


@given(document=documents())
def test_there_and_back(file, document):
    made = as_timeml(document)
    assert lost_in_timeml(document) == []
    assert as_cat(made) == document
    read = timeml(file, dump_timeml(made))
    assert as_cat(read) == document
    assert dump_timeml(as_timeml(as_cat(read))) == dump_timeml(made)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"tokens": ["New York", *CAT["tokens"][1:]]},
            "a token contains white space, which TimeML can't represent",
        ),
        (
            {
                "events": [
                    {"id": "1", "mention": "", "tokens": [0, 1]},
                    {"id": "2", "mention": "", "tokens": [1]},
                ]
            },
            "two events share a token, which TimeML can't represent",
        ),
    ],
)
def test_what_timeml_can_not_express(changes, problem):
    with pytest.raises(ValueError, match=f"^{problem}$"):
        as_timeml({**CAT, **changes})


@pytest.mark.parametrize(
    ("events", "ids"),
    [
        (("e1", "e2"), ["1", "2"]),
        (("e1", "2"), ["e1", "2"]),  # not all begin so
        (("e1", "et0"), ["e1", "et0"]),  # t0 is the creation time
        (("e", "e1"), ["e", "e1"]),
        (("ee1", "e1"), ["e1", "1"]),
    ],
)
def test_ids_of_events(file, events, ids):
    words = " ".join(f"<EVENT eid='{eid}'>w</EVENT>" for eid in events)
    dct = "<DCT><TIMEX3 tid='t0' value='2012'/></DCT>"
    found = as_cat(
        timeml(file, f"<TimeML><DOCID>1</DOCID>{dct}<TEXT><s id='0'>{words}</s></TEXT></TimeML>")
    )
    assert [event["id"] for event in found["events"]] == ids


@pytest.mark.extended
@pytest.mark.parametrize("split", ["trial", "corpus_1", "corpus_2", "corpus_3"])
def test_released_documents_in_both_formats(corpora, file, split):
    skip_unless_available(split, "documents")
    released = locate(CORPUS, CORPUS.configs["documents"].splits[split]).files
    theirs = {
        one.id: one
        for one in (read_timeml(path) for name, path in released.items() if name.endswith(".tml"))
    }
    for document in read_gold(CORPUS, "documents", split).records:
        ours = as_cat(timeml(file, dump_timeml(as_timeml(document))))
        other = as_cat(theirs[document["id"]])
        # The release marks the first token of every event.
        for record in (ours, other):
            record["events"] = {event["id"]: event["tokens"][0] for event in record["events"]}
        assert ours == other
        assert ours["events"] == {event["id"]: event["tokens"][0] for event in document["events"]}
        assert (ours["tokens"], ours["sentences"]) == (document["tokens"], document["sentences"])


def test_documents_on_the_command_line(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("7.xml").write_text(dump_document(CAT), "utf-8")
    done = run("convert", "timeline", "7.xml", "-o", "7.tml")
    assert (done.exit_code, done.stdout) == (0, "7.tml: 1 document\n")
    assert done.stderr.splitlines()[0] == "note: lost: the tokens after a gap in 1 of 2 events."
    assert Path("7.tml").read_text("utf-8") == TIMEML
    done = run("convert", "timeline", "7.tml", "-o", "back.xml")
    assert (done.exit_code, done.stderr) == (0, "")
    assert read_document(Path("back.xml")).document["tokens"] == CAT["tokens"]
    for output in ("7.jsonl", "folder", "8.xml"):
        wrong = run("convert", "timeline", "7.xml", "-o", output)
        assert wrong.exit_code == 2
        assert (
            f"can't convert 7.xml to {output} (expected a document in CAT, .xml, and one in TimeML, .tml)"
            in wrong.stderr
        )
    assert run("convert", "timeline", "7.xml", "-o", "7.xml").exit_code == 2
    Path("bad.xml").write_text("<Document/>")
    assert run("convert", "timeline", "bad.xml", "-o", "bad.tml").stderr.startswith(
        "Error: bad.xml"
    )


def test_timelines_on_the_command_line(ran, run):
    Path("given").mkdir()
    Path("given/ann.txt").write_text("Ann\n2\t2008\t7-2-b\n1\t2007\t7-2-a\t7-3-a\n", "utf-8")
    Path("given/bo.txt").write_text("Bo\n", "utf-8")
    assert ran("convert", "timeline", "given", "-o", "made.jsonl") == "made.jsonl: 2 timelines\n"
    ran("convert", "timeline", "made.jsonl", "-o", "back")
    for name in ("ann.txt", "bo.txt"):
        assert Path("back", name).read_bytes() == Path("given", name).read_bytes()
    assert read_folder(Path("back")).records == read_folder(Path("given")).records
    assert run("convert", "timeline", "given", "-o", "back").exit_code == 2
