"""Timelines made of annotated events: by hand, beside a twin, as the released ones are, and on the command line."""

from pathlib import Path

import pytest
from shared.timelines import CORPUS, lines, skip_unless_available

from closeread.corpus.gold import read_gold
from closeread.corpus.schema import RowValidator, load_schema
from closeread.exceptions import CloseReadWarning, FormatError
from closeread.formats.json_lines import dump_json_lines
from closeread.limits import MAX_PROBLEMS
from closeread.tasks.timeline.building import (
    build_timelines,
    find_inconsistencies,
    order_events,
    read_events,
    recompute_positions,
)
from closeread.tasks.timeline.timeline_txt import write_folder


def event(entity, mention, anchor, coreference=None):
    return {"entity": entity, "mention": mention, "anchor": anchor, "coreference": coreference}


def placed(*anchors, granularity="merge"):
    """The positions of events with these anchors, in the order given."""
    entries = order_events(
        ((anchor, [str(number)]) for number, anchor in enumerate(anchors)), granularity
    )
    return [
        entry["position"] for entry in sorted(entries, key=lambda entry: int(entry["mentions"][0]))
    ]


def built(events, documents=()):
    named = {document["id"]: document for document in documents}
    assert (
        RowValidator(load_schema(CORPUS.name), "event").problems(events, range(len(events))) == []
    )
    assert list(find_inconsistencies(events, named)) == []
    timelines = build_timelines(events, named)
    assert (
        RowValidator(load_schema(CORPUS.name), "submission").problems(
            timelines, range(len(timelines))
        )
        == []
    )
    return {timeline["entity"]: lines(timeline) for timeline in timelines}


@pytest.mark.parametrize(
    ("anchors", "positions"),
    [
        ((), []),
        # by anchor; the same anchor, the same position
        (("2007-03-19", "2007-03-18", "2007-03-19"), [2, 1, 2]),
        # none that is known: position 0
        (("XXXX-XX-XX", "2007-03-19", "", "2007-XX-XX"), [0, 2, 0, 1]),
        (("2007-04-01", "2007-03-XX", "2007-03-01", "2007-XX-XX", "2007-01-01"), [5, 3, 4, 1, 2]),
        # written otherwise
        (("2007-03", "2007-03-XX", "2007", "2007-XX", "2007-XX-XX"), [2, 2, 1, 1, 1]),
        (("2006-12-31", "2007-XX-XX"), [1, 2]),
        (("2007-XX-19", "2007-01-01"), [1, 2]),  # without a month the day says nothing
        (("0999-01-01", "1000-01-01"), [1, 2]),
        (("XXXX-XX-XX", "XXXX-XX", "XXXX", "2007"), [0, 0, 0, 1]),
        (
            (
                "XXX-XX-XX",
                "in May",
                "03-02-2009",
                "2009-3-2",
                "2009-03-02T10:00",
                "20090302",
                "-2009",
            ),
            [0] * 7,
        ),
        # impossible
        (
            ("2007-13-45", "2007-02-30", "2007-13", "2007-00-XX", "0000", "2007-02-28"),
            [0, 0, 0, 0, 0, 1],
        ),
        (("２００９-03-02", "2009-03-02 ", "2009-03-02\n"), [0] * 3),
    ],
)
def test_positions(anchors, positions):
    assert placed(*anchors) == positions


@pytest.mark.parametrize(
    ("anchors", "positions"),
    [
        (("2010-07", "2010-07-XX"), [1, 2]),  # a month, then an unknown day of it
        (("2010-07-XX", "2010-07", "2010-07-XX", "2010-07"), [2, 1, 2, 1]),
        (
            ("2010-07-01", "2010-07-XX", "2010-07", "2010", "2010-XX-XX", "2010-XX", "2011"),
            [6, 5, 4, 1, 3, 2, 7],
        ),
        (("XXXX-XX-XX", "XXXX-XX", "XXXX", "2007"), [0, 0, 0, 1]),
        (("2007-02-30", "2007-13", "in-May"), [0, 0, 0]),
    ],
)
def test_positions_where_granularities_are_kept(anchors, positions):
    assert placed(*anchors, granularity="keep") == positions


@pytest.mark.parametrize(("granularity", "positions"), [("merge", "1 1 2"), ("keep", "2 1 3")])
def test_granularity_in_files_of_events_and_in_folders(ran, granularity, positions):
    events = [
        event("Bo", f"7-{i}-a", anchor)
        for i, anchor in enumerate(("2010-07-XX", "2010-07", "2010-08"))
    ]
    Path("events.jsonl").write_text(dump_json_lines(events), "utf-8")
    made, anew = f"made-{granularity}", f"anew-{granularity}"
    ran("prepare", "timeline", "gold", "events.jsonl", "--granularity", granularity, "-o", made)
    ran("prepare", "timeline", "gold", made, "--granularity", granularity, "-o", anew)
    assert Path(anew, "bo.txt").read_text("utf-8") == Path(made, "bo.txt").read_text("utf-8")
    found = {
        line.split("\t")[2]: line[0]
        for line in Path(made, "bo.txt").read_text("utf-8").splitlines()[1:]
    }
    assert " ".join(found[f"7-{i}-a"] for i in range(3)) == positions


def test_timelines_by_hand():
    assert built(
        [
            event("Ann Lee", "7-2-took_off", "2007-03-19", "flight"),
            event("Bo", "7-2-took_off", "2007-03-19"),
            event("Ann Lee", "7-0-flight", None, "flight"),
            event("Bo", "9-3-trip", None, "trip"),
            event("Bo", "9-4-trip", "2006-05-XX", "trip"),
            event("Ann Lee", "8-1-said", "2007-03-18"),
            # a second one, which does not corefer with the first
            event("Ann Lee", "8-1-said", "2007-03-18"),
            event("Ann Lee", "8-2-hoped", "XXXX-XX-XX"),
            event("Bo", "9-2-flight", "2006-XX-XX", "flight"),  # names are an entity's own
        ]
    ) == {
        "Ann Lee": [
            (0, "XXXX-XX-XX", "8-2-hoped"),
            (1, "2007-03-18", "8-1-said"),
            (1, "2007-03-18", "8-1-said"),
            (2, "2007-03-19", "7-2-took_off", "7-0-flight"),
        ],
        "Bo": [
            (1, "2006-XX-XX", "9-2-flight"),
            (2, "2006-05-XX", "9-3-trip", "9-4-trip"),
            (3, "2007-03-19", "7-2-took_off"),
        ],
    }


def test_unknown_fields_of_events_are_ignored_with_a_note(tmp_path):
    found = event("ship", "d1-1-sailed", "1888-01-02")
    path = tmp_path / "events.jsonl"
    path.write_text(dump_json_lines([found, {**found, "remark": "x"}]), "utf-8")
    with pytest.warns(
        CloseReadWarning, match=r"events\.jsonl:2: unknown field 'remark' is ignored"
    ):
        assert read_events(path, CORPUS, {}) == [found, found]


def test_where_no_anchor_is_known_the_first_is_written():
    assert built([event("Bo", "1-1-a", "soon", "x"), event("Bo", "1-2-b", None, "x")]) == {
        "Bo": [(0, "soon", "1-1-a", "1-2-b")]
    }
    assert built([event("Bo", "1-1-a", None), event("Bo", "1-2-b", "")]) == {
        "Bo": [(0, "XXXX-XX-XX", "1-1-a"), (0, "", "1-2-b")]
    }


TEXT = {
    "id": "7",
    "tokens": ["It", "rains", ".", "They", "let", "us", "down"],
    "sentences": [0, 0, 0, 2, 2, 2, 2],
}


def test_mentions_by_their_tokens():
    named = {"entity": "Bo", "anchor": "2007-03-19", "document": "7"}
    assert built([{**named, "tokens": tokens} for tokens in ([1], [4, 6], [1, 3])], [TEXT]) == {
        "Bo": [
            (1, "2007-03-19", "7-0-rains"),
            (1, "2007-03-19", "7-2-let_down"),
            (1, "2007-03-19", "7-0-rains_They"),  # the sentence is that of the first token
        ]
    }


@pytest.mark.parametrize(
    ("rows", "problems"),
    [
        ([{}], ["has no mention (expected either mention, or document and tokens)"]),
        ([{"document": "7"}], ["has document (expected either mention, or document and tokens)"]),
        (
            [{"mention": "7-0-a", "tokens": [0], "document": "7"}],
            [
                "has mention and document and tokens (expected either mention, or document and tokens)"
            ],
        ),
        ([{"document": "8", "tokens": [0]}], ["document '8' is not among the documents"]),
        ([{"document": "7", "tokens": [0, 7]}], ["document '7' has no token 7 (the last is 6)"]),
        (
            [
                {"mention": "7-0-a", "anchor": "2007-XX-XX", "coreference": "x"},
                {"mention": "7-0-b", "anchor": "2007-03-19", "coreference": "x"},
            ],
            [
                None,
                "the anchor is '2007-03-19' (expected '2007-XX-XX', as an earlier mention of 'x' has it)",
            ],
        ),
        (
            [{"mention": "7-0-a"}, {"mention": "7-0-a", "entity": "bo"}],
            [None, "the timelines of 'bo' and 'Bo' would both be named 'bo'"],
        ),
    ],
)
def test_what_no_timeline_can_be_made_of(run, tmp_path, monkeypatch, rows, problems):
    monkeypatch.chdir(tmp_path)
    events = [{"entity": "Bo", "anchor": None, **row} for row in rows]
    expected = [(index, what) for index, what in enumerate(problems) if what is not None]
    assert list(find_inconsistencies(events, {"7": TEXT})) == expected
    Path("events.jsonl").write_text(dump_json_lines(events), "utf-8")
    if "among" not in str(problems) and "token 7" not in str(problems):
        done = run("prepare", "timeline", "gold", "events.jsonl", "-o", "made")
        assert done.exit_code == 1
        assert done.stderr == "".join(
            f"Error: events.jsonl:{index + 1}: {what}\n" for index, what in expected
        )
        assert not Path("made").exists()


def test_valid_rows_are_checked_despite_invalid_ones(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        '{"entity": "Bo", "mention": "7-0-a", "anchor": "2007", "coreference": "x"}',
        "no JSON",
        '{"entity": "Bo", "mention": "7-0-b", "anchor": 2008, "coreference": "x"}',
        '{"entity": "Bo", "mention": "7-0-c", "anchor": "2009", "coreference": "x"}',
        '{"entity": "bo", "mention": "7-0-d", "anchor": null}',
    ]
    Path("events.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
    done = run("prepare", "timeline", "gold", "events.jsonl", "-o", "made")
    assert done.exit_code == 1
    first, *others = done.stderr.splitlines()
    assert first == "Error: events.jsonl: 4 problems:"
    assert others[0].startswith("events.jsonl:2: ")
    assert others[1:] == [
        "events.jsonl:3: anchor: expected text or null, found 2008",
        "events.jsonl:4: the anchor is '2009' (expected '2007', as an earlier mention of 'x' has it)",
        "events.jsonl:5: the timelines of 'bo' and 'Bo' would both be named 'bo'",
    ]


def test_mentions_are_looked_up_in_documents(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = (
        Path(__file__).parent.parent.parent
        / "loaders"
        / CORPUS.name
        / "sample"
        / "corpus_trackB_CAT"
    )
    events = [
        {"entity": "Aurelia", "anchor": "2014-03-03", "document": "101", "tokens": [45, 46]},
        event("Aurelia", "101-9-no", "2014-3-3"),
        event("Aurelia", "104-0-no", None),
    ]
    Path("events.jsonl").write_text(dump_json_lines(events), "utf-8")
    done = run("prepare", "timeline", "gold", "events.jsonl", "--documents", folder, "-o", "made")
    assert done.exit_code == 0
    assert (
        Path("made/aurelia.txt").read_text("utf-8").splitlines()[-1]
        == "1\t2014-03-03\t101-4-take_over"
    )
    assert done.stderr.splitlines() == [
        "note: timeline 'aurelia': entry 1: the anchor '2014-3-3' is not a date such as 2009-03-XX",
        "note: timeline 'aurelia': entry 1: mention '101-9-no' names sentence 9, which its document does not have",
        "note: timeline 'aurelia': entry 2: mention '104-0-no' names document '104', which is not available",
    ]


def test_a_mention_that_a_file_can_not_hold(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("events.jsonl").write_text(dump_json_lines([event("Bo", "7-2-took ", None)]), "utf-8")
    done = run("prepare", "timeline", "gold", "events.jsonl", "-o", "made")
    assert done.exit_code == 2
    what = "'bo': this format can't represent the entry '0\\tXXXX-XX-XX\\t7-2-took '; choose a file name"
    assert what in done.stderr
    assert not Path("made").exists()
    assert run("prepare", "timeline", "gold", "events.jsonl", "-o", "made.jsonl").exit_code == 0


def test_positions_made_anew(ran):
    write_folder([{"id": "b", "entity": "Bo", "entries": []}], Path("given"))
    Path("given/ann.txt").write_text(
        "Ann\n9\t2008\t7-2-b\n9\t2007\t7-2-a\t7-3-a\n4\t\t7-2-c\n", "utf-8"
    )
    assert (
        ran("prepare", "timeline", "gold", "given", "-o", "made")
        == "made: 2 timelines of 3 entries\n"
    )
    assert (
        Path("made/ann.txt").read_text("utf-8")
        == "Ann\n0\t\t7-2-c\n1\t2007\t7-2-a\t7-3-a\n2\t2008\t7-2-b\n"
    )
    # by its own name, which is not that of the entity
    assert Path("made/b.txt").read_text("utf-8") == "Bo\n"


KEPT = {"trial": (44, 176), "corpus_1": (275, 275), "corpus_2": (194, 246), "corpus_3": (73, 220)}
"""How many of the released lines keep their positions, and how many there are, as counted by other code."""


@pytest.mark.parametrize("split", KEPT)
def test_released_timelines_made_anew(corpora, split):
    skip_unless_available(split)
    found = total = 0
    for timeline in read_gold(CORPUS, "default", split).records:
        own = lines(timeline)
        anew = lines(recompute_positions(timeline))
        assert sorted(line[1:] for line in own) == sorted(line[1:] for line in anew)
        found += sum(min(own.count(line), anew.count(line)) for line in set(own))
        total += len(own)
    assert (found, total) == KEPT[split]


def test_more_wrong_events_than_are_kept(tmp_path):
    (tmp_path / "events.jsonl").write_text(
        dump_json_lines([{"name": n} for n in range(MAX_PROBLEMS + 2)]), "utf-8"
    )
    with pytest.raises(FormatError, match="entity"):
        read_events(tmp_path / "events.jsonl", CORPUS, {})


def test_what_is_refused(run, here):
    Path("texts").mkdir()
    Path("texts/7.xml").write_text("<Document/>", "utf-8")
    done = run("prepare", "timeline", "gold", "texts", "-o", "made")
    expected = "contains no timelines (expected files ending in .txt)"
    assert (done.exit_code, done.stderr) == (1, f"Error: texts: {expected}\n")
    Path("texts/bo.txt").write_text("Bo\n", "utf-8")
    done = run("prepare", "timeline", "gold", "texts", "-o", "others")
    assert (done.exit_code, "1 file is left out: '7.xml'" in done.stderr) == (0, True)
