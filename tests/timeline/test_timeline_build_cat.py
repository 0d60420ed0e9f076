"""Timelines made of annotated documents in CAT: entities, roles, times, and what can't be read."""

from pathlib import Path

import pytest
from shared.annotated_cat import mark, relate, write_document, write_voyage
from shared.for_each import for_each
from shared.timelines import CORPUS, lines, skip_unless_available

from closeread.corpus.sources import locate
from closeread.exceptions import FormatError
from closeread.tasks.timeline.annotated_cat import build_annotated_timelines

BO = [mark("ENTITY_MENTION", 1, 1), mark("EVENT_MENTION", 2, 2), mark("ENTITY", 20, TAG_DESCRIPTOR="Bo")]
TAKES_PART = [relate("REFERS_TO", 1, 20), relate("HAS_PARTICIPANT", 2, 1, sem_role="Arg0")]


def built(path, **options):
    return {one["entity"]: lines(one) for one in build_annotated_timelines(path, **options).timelines}


def build_one(tmp_path, markables=(), relations=(), **options):
    """The timelines of one document, 7: Bo sails somewhere, with more markables and relations."""
    path = write_document(tmp_path / "7.xml", "Bo sails far away", [*BO, *markables], [*TAKES_PART, *relations])
    return built(path, **options)


def test_entities_roles_and_times_by_hand(tmp_path):
    folder = write_voyage(tmp_path / "annotated")
    # The trip began on 3 May, which is more exact than May and 2010; Ann Lee came along, but neither as agent nor as
    # patient.  That it pleased Bo is cognitive, and that he may return uncertain.
    assert built(folder) == {
        "Bo": [(1, "2010-05", "7-0-met"), (2, "2010-05-03", "7-0-sailed", "8-0-trip")],
        "Ann Lee": [(1, "2010-05", "7-0-met")],
    }
    assert build_annotated_timelines(folder).notices == [
        f"{folder}: left out: links of the type 'BEFORE', which anchor no event to a time (1)",
        f"{folder}: left out: mentions of cognitive events (1)",
        f"{folder}: left out: mentions of uncertain events (1)",
        f"{folder}: left out: participants in the role 'Argm-COM' (1)",
    ]


def test_all_events_and_other_roles(tmp_path):
    folder = write_voyage(tmp_path / "annotated")
    assert built(folder, selection="all", roles=["arg1", "ARGM-com"]) == {
        "Bo": [(0, "XXXX-XX-XX", "8-0-pleased")],
        "Ann Lee": [(1, "2010-05", "7-0-met"), (2, "2010-05-03", "7-0-sailed", "8-0-trip")],
    }


def test_wanted_entities_have_a_timeline_even_without_events(tmp_path):
    folder = write_voyage(tmp_path / "annotated")
    found = build_annotated_timelines(folder, wanted=["Cy", "Ann Lee"])
    assert [(one["id"], lines(one)) for one in found.timelines] == [
        ("cy", []),
        ("ann_lee", [(1, "2010-05", "7-0-met")]),
    ]
    assert f"{folder}: no ENTITY is named 'Cy'" in found.notices
    with pytest.raises(FormatError, match="the timelines of 'CY' and 'Cy' would both be named 'cy'"):
        build_annotated_timelines(folder, wanted=["Cy", "CY"])


@for_each(
    ("value", "anchor"),
    [
        ("2010", "2010"),
        ("2010-07-XX", "2010-07-XX"),
        ("XXXX-XX", "XXXX-XX"),
        ("2010-07-01T10:00", "2010-07-01"),
        ("2010-07-01TMO", "2010-07-01"),
        ("2010-07-XXT10:00", "2010-07-XX"),
        ("PRESENT_REF", "PRESENT_REF"),  # kept, and reported as no date
    ],
)
def test_values_of_times(tmp_path, value, anchor):
    time = mark("TIMEX3", 3, type="DATE", value=value)
    found = build_one(tmp_path, [time], [relate("TLINK", 2, 3, relType="SIMULTANEOUS")])
    assert found == {"Bo": [(int(anchor.startswith("20")), anchor, "7-0-sails")]}


@for_each(
    ("source", "target", "kind", "anchored"),
    [
        (2, 3, "SIMULTANEOUS", True), (2, 3, "IS_INCLUDED", True), (2, 3, "BEGUN_BY", True),
        (3, 2, "SIMULTANEOUS", True), (3, 2, "INCLUDES", True), (3, 2, "BEGINS", True),
        (2, 3, "INCLUDES", False), (2, 3, "BEGINS", False), (2, 3, "ENDED_BY", False), (2, 3, "BEFORE", False),
        (3, 2, "IS_INCLUDED", False), (3, 2, "BEGUN_BY", False),
    ],
)  # fmt: skip
def test_links_to_the_time_when_an_event_happens_or_begins(tmp_path, source, target, kind, anchored):
    time = mark("TIMEX3", 3, type="DATE", value="2010")
    found = build_one(tmp_path, [time], [relate("TLINK", source, target, relType=kind)])
    assert found == {"Bo": [(1, "2010", "7-0-sails") if anchored else (0, "XXXX-XX-XX", "7-0-sails")]}


def test_a_duration_is_no_anchor(tmp_path):
    time = mark("TIMEX3", 3, type="DURATION", value="2010")
    path = write_document(
        tmp_path / "7.xml", "Bo sails", [*BO, time], [*TAKES_PART, relate("TLINK", 2, 3, relType="SIMULTANEOUS")]
    )
    found = build_annotated_timelines(path)
    assert lines(found.timelines[0]) == [(0, "XXXX-XX-XX", "7-0-sails")]
    assert found.notices == [f"{path}: left out: links to times of the type 'DURATION' (1)"]


@for_each(
    ("attributes", "kind"),
    [
        ({"class": "GRAMMATICAL"}, "grammatical"),
        ({"class": "COGNITIVE"}, "cognitive"),
        ({"pos": "ADJECTIVE"}, "adjectival"),
        ({"certainty": "PROBABLE", "polarity": "NEG"}, "uncertain"),
        ({"certainty": "UNCERTAIN"}, "uncertain"),
        ({"certainty": "CERTAIN", "special_cases": "COND_IF_CLAUSE"}, "uncertain"),
        ({"certainty": "CERTAIN", "special_cases": "GEN"}, ""),
        ({"certainty": "CERTAIN", "polarity": "NEG"}, "counter-factual"),
        ({"class": "SPEECH_COGNITIVE", "pos": "NOUN", "certainty": "CERTAIN", "polarity": "POS"}, ""),
    ],
)
@for_each("on_mention", [True, False])
def test_events_that_timeline_did_not_annotate(tmp_path, attributes, kind, on_mention):
    of_mention, of_event = (attributes, {}) if on_mention else ({}, attributes)
    markables = [
        mark("EVENT_MENTION", 3, 3, **of_mention),
        mark("EVENT", 30, TAG_DESCRIPTOR="x", **of_event),
    ]
    relations = [relate("HAS_PARTICIPANT", 3, 1, sem_role="Arg1"), relate("REFERS_TO", 3, 30)]
    sails, far = (0, "XXXX-XX-XX", "7-0-sails"), (0, "XXXX-XX-XX", "7-0-far")
    assert build_one(tmp_path, markables, relations) == {"Bo": [sails] if kind else [sails, far]}
    assert build_one(tmp_path, markables, relations, selection="all") == {"Bo": [sails, far]}


def test_months_and_days_may_be_kept_apart(tmp_path):
    markables = [
        mark("EVENT_MENTION", 3, 3),
        mark("TIMEX3", 5, type="DATE", value="2010-07-XX"),
        mark("TIMEX3", 6, type="DATE", value="2010-07"),
    ]
    relations = [
        relate("HAS_PARTICIPANT", 3, 20, sem_role="Arg0"),
        relate("TLINK", 2, 5, relType="SIMULTANEOUS"),
        relate("TLINK", 3, 6, relType="SIMULTANEOUS"),
    ]
    sails, far = ("2010-07-XX", "7-0-sails"), ("2010-07", "7-0-far")
    assert build_one(tmp_path, markables, relations) == {"Bo": [(1, *sails), (1, *far)]}
    assert build_one(tmp_path, markables, relations, granularity="keep") == {"Bo": [(1, *far), (2, *sails)]}


@for_each(
    ("markables", "relations", "problems"),
    [
        ([], [relate("HAS_PARTICIPANT", 9, 1, sem_role="Arg0")], ["14: source: no markable has the m_id '9'"]),
        (
            [],
            [relate("TLINK", 2, 9), relate("REFERS_TO", 8, 20)],
            [
                "14: target: no markable has the m_id '9'",
                "14: TLINK has no relType (expected one such as IS_INCLUDED)",
                "15: source: no markable has the m_id '8'",
            ],
        ),
        (
            [],
            ["<TLINK relType='BEFORE'><source m_id='2'/></TLINK>", relate("HAS_PARTICIPANT", 1, 20)],
            [
                "14: TLINK has 1 source and 0 targets (expected exactly one of each)",
                "15: HAS_PARTICIPANT has no sem_role (expected one such as Arg0)",
                "15: the source of HAS_PARTICIPANT is 'ENTITY_MENTION' (expected EVENT_MENTION or EVENT)",
            ],
        ),
        (
            [mark("TIMEX3", 3), mark("EVENT", 30), mark("EVENT", 31)],
            [
                relate("TLINK", 2, 3, relType="IS_INCLUDED"),
                relate("REFERS_TO", 2, 30),
                relate("REFERS_TO", 2, 31),
            ],
            [
                "8: EVENT_MENTION '2' refers to 2 events (expected at most one)",
                "10: TIMEX3 '3' has no value (expected a date such as 2009-03-02)",
            ],
        ),
        (
            [mark("EVENT", 30), mark("EVENT", 31)],
            [relate("REFERS_TO", 2, 30), relate("REFERS_TO", 2, 31), relate("REFERS_TO", 2, 31)],
            ["8: EVENT_MENTION '2' refers to 2 events (expected at most one)"],
        ),
        (
            [mark("EVENT", 30), mark("TIMEX3", 3, value="2010")],
            [relate("REFERS_TO", 2, 3), relate("REFERS_TO", 1, 30)],
            [
                "7: ENTITY_MENTION '1' refers to an EVENT (expected a reference from EVENT_MENTION)",
                "8: EVENT_MENTION '2' refers to 'TIMEX3' (expected EVENT)",
            ],
        ),
        (
            [
                mark("TIMEX3", 3, value="2010-07"),
                mark("TIMEX3", 4, value="2009"),
                mark("TIMEX3", 5, value="2010-07-XX"),
            ],
            [relate("TLINK", 2, time, relType="SIMULTANEOUS") for time in (3, 4, 5)],
            ["18: the event is anchored to '2009' (expected '2010-07-XX', as on line 19, or less exactly)"],
        ),
    ],
)
def test_dangling_references_and_contradictions(tmp_path, markables, relations, problems):
    # Lines: the head, four tokens, <Markables>, three markables (7 to 9) and those given, </Markables>, <Relations>,
    # two relations and those given (from line 14 without further markables).
    with pytest.raises(FormatError) as caught:
        build_one(tmp_path, markables, relations)
    path = tmp_path / "7.xml"
    assert str(caught.value).splitlines()[len(problems) > 1 :] == [f"{path}:{what}" for what in problems]


def test_problems_of_all_files_are_told_at_once(tmp_path):
    folder = write_voyage(tmp_path / "annotated")
    write_document(folder / "9.xml", "Bo rests", BO, [relate("REFERS_TO", 1, 77)])
    (folder / "a.xml").write_text("<Document", "utf-8")
    (folder / "b.xml").write_text((folder / "7.xml").read_text("utf-8"), "utf-8")
    (folder / "c.doc").write_text("", "utf-8")
    with pytest.raises(FormatError) as caught:
        build_annotated_timelines(folder)
    told = str(caught.value)
    assert told.startswith(f"{folder}: 4 problems:\n")
    for what in (
        "9.xml:10: target: no markable has the m_id '77'",
        "a.xml:1: is not well-formed XML",
        "b.xml: duplicate id '7' (first",
        "c.doc: is not a document (expected a name ending in .xml or .tml)",
    ):
        assert f"{folder}/{what}" in told


def test_contradictions_between_documents_name_both(tmp_path):
    folder = write_voyage(tmp_path / "annotated")
    text = (folder / "8.xml").read_text("utf-8")
    (folder / "8.xml").write_text(text.replace('value="2010"', 'value="2011"'), "utf-8")
    with pytest.raises(FormatError) as caught:
        build_annotated_timelines(folder)
    assert str(caught.value) == (
        f"{folder}/8.xml:24: the event is anchored to '2011' (expected '2010-05-03', as on line 31 of 7.xml, or less"
        " exactly)"
    )


def test_entities_whose_files_would_have_one_name(tmp_path):
    other = [mark("ENTITY_MENTION", 3, 3), mark("ENTITY", 21, TAG_DESCRIPTOR="BO")]
    relations = [relate("REFERS_TO", 3, 21), relate("HAS_PARTICIPANT", 2, 3, sem_role="Arg1")]
    with pytest.raises(FormatError, match=r"7\.xml:11: the timelines of 'BO' and 'Bo' would both be named 'bo'"):
        build_one(tmp_path, other, relations)
    assert build_one(tmp_path, other, relations, wanted=["BO"]) == {"BO": [(0, "XXXX-XX-XX", "7-0-sails")]}


def test_entities_are_named_by_their_names_not_by_their_instances(tmp_path):
    folder = write_voyage(tmp_path / "annotated")
    for name, old, new in (
        ("7", '"Bo"', '"Bo" instance_id="P1"'),
        ("7", '"Ann Lee"', '"Ann Lee" instance_id="P2"'),
        ("8", '"Bo"', '"Bo" instance_id="P2"'),
    ):
        path = folder / f"{name}.xml"
        path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
    found = build_annotated_timelines(folder)
    assert [one["entity"] for one in found.timelines] == ["Bo", "Ann Lee"]
    assert found.notices[-2:] == [
        f"{folder}: ENTITYs with the instance_id 'P2' are separate entities: 'Ann Lee', 'Bo'",
        f"{folder}: ENTITYs named 'Bo' are one entity, with the instance_ids 'P1', 'P2'",
    ]


@for_each(
    ("attributes", "options", "found"),
    [
        ({}, {"roles": ["ARG2"]}, "takes part in an event in the role ARG2 (expected HAS_PARTICIPANTs from events to"),
        ({}, {"roles": ["ARG2"]}, "ENTITYs); left out: participants in the role 'Arg0' (1)"),
        (
            {"certainty": "POSSIBLE"},
            {},
            "all events in which an entity has the role ARG0 or ARG1 are left out: mentions of uncertain events (1)",
        ),
        ({}, {"wanted": ["Cy", "Di"]}, "no ENTITY is named 'Cy', 'Di' (found: 'Bo')"),
        ({}, {"wanted": []}, "the list of entities is empty"),
    ],
)
def test_why_there_are_no_timelines(tmp_path, attributes, options, found):
    marks = [BO[0], mark("EVENT_MENTION", 2, 2, **attributes), BO[2]]
    path = write_document(tmp_path / "7.xml", "Bo sails", marks, TAKES_PART)
    with pytest.raises(FormatError) as caught:
        build_annotated_timelines(path, **options)
    assert found in str(caught.value)


def test_released_documents_have_neither_entities_nor_roles(corpora):
    skip_unless_available("corpus_1")
    folder = locate(CORPUS, CORPUS.configs["default"].splits["corpus_1"]).path / "corpus_trackB_CAT"
    with pytest.raises(FormatError, match="no entity takes part in an event in the role ARG0 or ARG1"):
        build_annotated_timelines(folder)
    with pytest.raises(FormatError, match=r"no ENTITY is named 'Airbus' \(found: no ENTITY\)"):
        build_annotated_timelines(folder, wanted=["Airbus"])


def test_the_command(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_voyage(Path("annotated"))
    done = run("build", "timeline", "annotated", "--granularity", "keep", "-o", "made")
    assert done.exit_code == 0
    assert done.stdout == "made: 2 timelines of 3 entries\n"
    assert "note: annotated: left out: mentions of uncertain events (1)\n" in done.stderr
    assert Path("made/ann_lee.txt").read_text("utf-8") == "Ann Lee\n1\t2010-05\t7-0-met\n"
    Path("list.txt").write_text("\nAnn Lee\nCy\n", "utf-8")
    assert run("build", "timeline", "annotated", "--entities", "list.txt", "-o", "some").exit_code == 0
    assert sorted(path.name for path in Path("some").iterdir()) == ["ann_lee.txt", "cy.txt"]
    one = run("build", "timeline", "annotated/7.xml", "--role", "Argm-COM", "--selection", "all", "-o", "one.jsonl")
    assert one.stdout == "one.jsonl: 1 timeline of 1 entry\n"


def test_what_is_refused(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_document(tmp_path / "plain" / "7.xml", "Bo sails", BO)
    done = run("build", "timeline", "plain", "-o", "made")
    assert done.exit_code == 1
    assert "plain: no entity takes part in an event in the role ARG0 or ARG1 (expected HAS_PARTICIPANTs" in done.stderr
    Path("events.jsonl").write_text('{"entity": "Bo", "mention": "7-0-a", "anchor": null}\n', "utf-8")
    done = run("build", "timeline", "events.jsonl", "--role", "ARG0", "--selection", "all", "-o", "made")
    assert done.exit_code == 2
    assert "--role, --selection: events.jsonl is not annotated documents (expected files in CAT, .xml)" in done.stderr
    Path("texts").mkdir()
    Path("texts/7.tml").write_text("<TimeML/>", "utf-8")
    done = run("build", "timeline", "texts", "-o", "made")
    expected = "contains no documents and no timelines (expected files ending in .xml or .txt)"
    assert (done.exit_code, done.stderr) == (1, f"Error: texts: {expected}\n")
    done = run("build", "timeline", "plain", "--documents", "plain", "-o", "made")
    assert "--documents is for a file of events; these events are in annotated documents" in done.stderr
    assert not Path("made").exists()
