"""Agreement of two annotators of TimeLine: Dice's coefficient by hand, and files in CAT with mentions of entities."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from shared.timelines import entry

from closeread.counts.annotators import Annotator
from closeread.exceptions import FormatError
from closeread.tasks.timeline.agreement import (
    KINDS,
    dice,
    measure_agreement,
    read_documents,
    read_timelines,
)
from closeread.tasks.timeline.annotated_cat import read_annotations

TOKENS = "".join(
    f'<token number="{number}" sentence="{sentence}" t_id="{number + 1}">{word}</token>\n'
    for number, (word, sentence) in enumerate(
        [
            ("Bo", 0),
            ("sails", 0),
            ("Bo", 2),
            ("and", 2),
            ("Ann", 2),
            ("Lee", 2),
            ("set", 2),
            ("it", 2),
            ("off", 2),
        ]
    )
)


def mark(name, m_id, *tokens, **attributes):
    anchors = "".join(f'<token_anchor t_id="{token}"/>' for token in tokens)
    given = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f'<{name} m_id="{m_id}"{given}>{anchors}</{name}>\n'


def refers(*sources, to):
    ends = "".join(f'<source m_id="{one}"/>' for one in sources)
    return f'<REFERS_TO>{ends}<target m_id="{to}"/></REFERS_TO>\n'


def cat(markables, relations="", name="7", tokens=TOKENS):
    head = f'<Document doc_id="{name}">\n{tokens}'
    return f"{head}<Markables>\n{markables}</Markables>\n<Relations>\n{relations}</Relations>\n</Document>"


EVENTS = mark("EVENT_MENTION", 1, 2)
ENTITIES = mark("ENTITY", 20, TAG_DESCRIPTOR="Bo") + mark("ENTITY", 21, TAG_DESCRIPTOR="Ann Lee")
ANNA = cat(
    EVENTS
    + mark("EVENT_MENTION", 2, 7, 9)
    + mark("ENTITY_MENTION", 3, 1)
    + mark("ENTITY_MENTION", 4, 3)
    + mark("ENTITY_MENTION", 5, 5, 6)
    + ENTITIES
    + mark("EVENT", 30, TAG_DESCRIPTOR="trip"),
    refers(3, 4, to=20) + refers(5, to=21) + refers(1, 2, to=30),
)
BEN = cat(
    EVENTS
    + mark("EVENT_MENTION", 2, 7)
    + mark("EVENT_MENTION", 9, 8)
    + mark("ENTITY_MENTION", 3, 1)
    + mark("ENTITY_MENTION", 4, 3)
    + mark("ENTITY_MENTION", 5, 6)
    + mark("ENTITY_MENTION", 6, 8)
    + ENTITIES,
    refers(3, to=20) + refers(4, to=21) + refers(5, to=21),
)


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """Two annotators' documents."""
    monkeypatch.chdir(tmp_path)
    Path("anna.xml").write_text(ANNA, "utf-8")
    Path("ben.xml").write_text(BEN, "utf-8")


def overlap(first, second, both, coefficient):
    return {"first": first, "second": second, "both": both, "dice": coefficient}


DOCUMENTS = KINDS["documents"][1:]
TIMELINES = KINDS["timelines"][1:]


def compare(first, second, kind):
    """What two annotators share, by kind."""
    scores = measure_agreement([first, second], ("anna", "ben"), *kind).pairs[0, 1]
    found = {}
    for name, value in scores.items():
        kind, measure = name.split("/")
        found.setdefault(kind, {})[measure] = value
    return found


def of_documents(first, second):
    return compare(first, second, DOCUMENTS)


def of_timelines(first, second):
    sides = [read_timelines(Annotator("anna", timelines)) for timelines in (first, second)]
    return compare(*sides, TIMELINES)


def write(content):
    path = Path("one.xml")
    path.write_text(content, "utf-8")
    return path


def read(content):
    return read_documents(Annotator("anna", write(content)))


@pytest.mark.parametrize(
    ("first", "second", "both", "expected"),
    [
        ("abc", "abc", 3, Fraction(1)),
        ("abc", "bcd", 2, Fraction(2 * 2, 3 + 3)),
        ("ab", "cd", 0, Fraction(0)),
        ("a", "", 0, Fraction(0)),
        ("aab", "aaab", 3, Fraction(2 * 3, 3 + 4)),  # the k-th copy is that of the other side
        ("", "", 0, None),  # nothing to agree on
    ],
)
def test_dice_by_hand(first, second, both, expected):
    found = dice(first, second)
    assert found == overlap(
        len(first), len(second), both, None if expected is None else float(expected)
    )
    assert dice(second, first)["dice"] == found["dice"]


def test_an_entity_mention_of_several_entities_and_of_none():
    marked = mark("ENTITY_MENTION", 3, 1) + mark("ENTITY_MENTION", 4, 3) + ENTITIES
    path = write(cat(marked, refers(3, to=20) + refers(3, to=21) + refers(3, to=20)))
    ((document,), _) = read_annotations(path)
    found = document["entity_mentions"]
    assert [mention["entities"] for mention in found] == [["Bo", "Ann Lee"], []]


def test_a_reference_to_a_mention_without_an_id():
    nameless = mark("ENTITY_MENTION", 3, 1).replace(' m_id="3"', "")
    with pytest.raises(FormatError) as caught:
        read(cat(nameless + ENTITIES, refers("", to=20)))
    assert [problem.message for problem in caught.value.problems] == [
        "ENTITY_MENTION has no m_id",
        "source: no markable has the m_id ''",
    ]


def test_by_hand():
    found = of_documents(read(ANNA), read(BEN))
    assert found == {
        # Both have sails; set off is not set.
        "event mentions": overlap(2, 3, 1, 2 / 5),
        # Both have the first two; Ann Lee is not Lee.
        "entity mentions": overlap(3, 4, 2, 4 / 7),
        # The second Bo is Ann Lee to Ben.
        "entity coreference": overlap(3, 3, 1, 2 / 6),
    }


def test_tokens_of_a_mention_have_no_order():
    turned = cat(EVENTS + mark("EVENT_MENTION", 2, 9, 7))
    found = of_documents(read(ANNA), read(turned))
    assert found["event mentions"]["dice"] == 1
    assert found["entity coreference"] == overlap(3, 0, 0, 0)


def test_units_have_to_be_the_same():
    one, other = read(ANNA), read(cat(EVENTS, name="8"))
    with pytest.raises(FormatError) as caught:
        of_documents(one, other)
    assert str(caught.value).splitlines()[1:] == [
        "annotations: ben lacks 1 of the 1 document of anna: '7' (expected the same documents)",
        "annotations: anna lacks 1 of the 1 document of ben: '8' (expected the same documents)",
    ]
    other = read(cat(EVENTS, tokens=TOKENS.replace("sails", "sailed")))
    with pytest.raises(
        FormatError, match="document '7': anna and ben have different tokens or sentences"
    ):
        of_documents(one, other)
    with pytest.raises(
        FormatError, match="timeline 'b': anna and ben are about different entities"
    ):
        of_timelines([timeline("b")], [{**timeline("b"), "entity": "Bea"}])


def timeline(name, *entries):
    return {"id": name, "entity": name.title(), "entries": [entry(1, *one) for one in entries]}


def test_timelines_by_hand():
    first = [
        timeline("ann", ("2007", "7-2-a", "7-3-b"), ("2008", "7-2-a")),
        timeline("bo", ("2007", "7-2-a")),
    ]
    second = [
        timeline("bo", ("2007", "7-3-b")),
        timeline("ann", ("2008", "7-2-a"), ("2008", "7-2-a"), ("2007", "8-0-c")),
    ]
    assert of_timelines(first, second) == {
        # The two 7-2-a of Ann; Bo's 7-3-b is not Ann's.
        "event mentions": overlap(4, 4, 2, 1 / 2),
        "event mentions with their anchors": overlap(4, 4, 1, 2 / 8),
    }


CEM = cat(EVENTS)


def test_three_annotators_by_hand():
    annotators = [read(content) for content in (ANNA, BEN, CEM)]
    found = measure_agreement(annotators, ("anna", "ben", "cem"), *DOCUMENTS)
    assert {
        pair: [value for name, value in scores.items() if name.endswith("/dice")]
        for pair, scores in found.pairs.items()
    } == {
        (0, 1): [2 / 5, 4 / 7, 2 / 6],
        # Cem has sails only.
        (0, 2): [2 / 3, 0, 0],
        (1, 2): [2 / 4, 0, 0],
    }
    assert found.mean == pytest.approx(
        {
            "event mentions/dice": float(Fraction(2 * 6 + 2 * 10 + 15, 30) / 3),
            "entity mentions/dice": 4 / 21,
            "entity coreference/dice": 1 / 9,
        }
    )
    assert "leave" not in str(found)


def test_the_mean_leaves_out_pairs_without_annotation():
    annotators = [read(content) for content in (ANNA, CEM, CEM)]
    found = measure_agreement(annotators, ("anna", "ben", "cem"), *DOCUMENTS)
    assert found.mean == {
        "event mentions/dice": (2 / 3 + 2 / 3 + 1) / 3,
        "entity mentions/dice": 0,
        "entity coreference/dice": 0,
    }
    left_out = (
        "entity mentions, entity coreference: the means leave out 1 of 3 pairs, without a value."
    )
    assert left_out in found._to_grids()[0].notes
    assert (
        measure_agreement([read(CEM)] * 3, "abc", *DOCUMENTS).mean["entity mentions/dice"] is None
    )


def test_the_command_on_timelines(ran, run):
    Path("anna").mkdir()
    Path("anna/bo.txt").write_text("Bo\n1\t2007\t7-2-a\t7-3-b\n", "utf-8")
    Path("ben.jsonl").write_text(
        json.dumps({"id": "bo", "entity": "Bo", "entries": []}) + "\n", "utf-8"
    )
    found = json.loads(ran("agreement", "timeline", "anna", "ben.jsonl", "--json"))
    scores = found["pairs"][0]["scores"]
    assert [scores[f"event mentions/{name}"] for name in ("first", "second", "both", "dice")] == [
        2,
        0,
        0,
        0,
    ]
    mixed = run("agreement", "timeline", "anna", "ben.xml")
    assert mixed.exit_code == 2
    assert "anna has timelines and ben.xml has documents (expected the same kind)" in mixed.stderr
