"""Mentions of timelines: where they are in the documents, and what is odd about a timeline."""

import pytest
from shared.timelines import entry

from closeread.tasks.timeline.rules import MAX_NAMED_ODDITIES, describe_oddities, inspect_timeline
from closeread.tasks.timeline.timeline_mentions import Oddity, as_texts, file_stem, locate_mention

FORMS = "2007 2007-03 2007-XX 2007-03-19 2008-02-29 2007-03-XX 2007-XX-XX XXXX-XX-XX XXXX-XX XXXX"
ODD_FORMS = "XXX-XX-XX 2007-XX-19 2007-13 2007-02-30 2007-3-19 19-03-2007 XXXX-03-XX XXXX-XX- XXXXX ZZZZ ٢٠٠٧ 0000"


@pytest.mark.parametrize("anchor", ["", *FORMS.split(), *ODD_FORMS.split()])
def test_anchors(anchor):
    found = list(
        inspect_timeline({"id": "ann", "entity": "Ann", "entries": [entry(1, anchor, "7-2-a")]})
    )
    what = f"the anchor {anchor!r} is not a date such as 2009-03-XX"
    assert found == ([("anchor", 0, what, repr(anchor))] if anchor in ODD_FORMS.split() else [])


@pytest.mark.parametrize(
    ("positions", "found"),
    [
        ([], None),
        ([0], None),
        ([0, 0, 1, 2, 2], None),
        ([3, 1, 2], None),
        (
            [2],
            "positions have gaps: 1 position up to 2 (released timelines count from 1 without gaps)",
        ),
        (
            [0, 1, 3, 3],
            "positions have gaps: 2 positions up to 3 (released timelines count from 1 without gaps)",
        ),
    ],
)
def test_odd_positions(positions, found):
    of = [entry(position, "", f"7-2-{number}") for number, position in enumerate(positions)]
    expected = [] if found is None else [Oddity("positions", None, found)]
    assert list(inspect_timeline({"id": "ann", "entity": "Ann", "entries": of})) == expected


def test_repeated_mentions():
    of = [entry(1, "", "7-2-a", "7-2-b", "7-2-a"), entry(1, "", "7-2-c"), entry(1, "", "7-2-b")]
    found = list(inspect_timeline({"id": "ann", "entity": "Ann", "entries": of}))
    assert [(oddity.entry, oddity.subject) for oddity in found] == [(0, "'7-2-a'"), (2, "'7-2-b'")]
    assert {oddity.kind for oddity in found} == {"repeated"}


@pytest.mark.parametrize(
    ("entity", "name", "is_odd"),
    [
        ("Airbus A380", "airbus_a380", False),
        ("S&P 500", "s_and_p_500", False),
        ("AC/DC", "ac_dc", False),
        ("Airbus A380", "airbus", True),
        ("United States Air Froce", "united_states_air_force", True),
    ],
)
def test_names(entity, name, is_odd):
    found = list(inspect_timeline({"id": name, "entity": entity, "entries": []}))
    what = (
        f"the timeline is named {name!r} (expected {file_stem(entity)!r} for the entity {entity!r})"
    )
    assert found == ([Oddity("name", None, what)] if is_odd else [])


def test_like_oddities_are_told_together():
    odd = [
        Oddity("a", 0, "first", "'x'"),
        Oddity("b", None, "whole"),
        Oddity("a", 2, "third", "'z'"),
    ]
    assert list(describe_oddities(odd, [2, 3, 5])) == [
        (2, "first; 1 more: 'z' (line 5)"),
        (None, "whole"),
    ]
    many = [Oddity("a", number, "is", "'x'") for number in range(MAX_NAMED_ODDITIES + 3)]
    ((place, what),) = describe_oddities(many, range(2, 100), "entry")
    assert place == 2
    assert what.startswith(f"is; {MAX_NAMED_ODDITIES + 2} more: 'x' (entry 3), ")
    assert what.endswith(f"'x' (entry {MAX_NAMED_ODDITIES + 2}), …")
    ((_, what),) = describe_oddities(many[: MAX_NAMED_ODDITIES + 1], range(2, 100), "entry")
    assert what.endswith(f"'x' (entry {MAX_NAMED_ODDITIES + 2})")


TEXTS = as_texts(
    [
        {
            "id": "7",
            "tokens": [
                "Rain",
                "stops",
                "It",
                "let",
                "us",
                "down",
                "and",
                "down",
                "it",
                "let",
                "us",
                "go",
                "-",
                "ed",
            ],
            "sentences": [0, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2],
            "events": [
                {"id": "12", "mention": "7-0-stops", "tokens": [1]},
                {"id": "4", "mention": "7-2-let_down", "tokens": [3, 5]},
                {"id": "5", "mention": "7-2-down", "tokens": [5]},
                {"id": "6", "mention": "7-2-down", "tokens": [7]},
            ],
        },
        {"id": "8", "tokens": ["a_b", "c"], "sentences": [0, 0], "events": []},
    ]
)


@pytest.mark.parametrize(
    ("mention", "span", "kind"),
    [
        ("7-0-stops", ("7", 0, 1, 1, ["12"]), None),
        ("7-2-let_down", ("7", 2, 3, 5, ["4"]), None),  # its tokens are no neighbours
        ("7-2-down", ("7", 2, None, None, ["5", "6"]), "ambiguous"),
        ("7-0-Rain", ("7", 0, 0, 0, []), "event"),
        ("7-2-It_let_us_down", ("7", 2, 2, 5, []), "event"),
        ("7-2-go_-_ed", ("7", 2, 11, 13, []), "event"),
        ("8-0-a_b", ("8", 0, 0, 0, []), "event"),
        ("8-0-a_b_c", ("8", 0, 0, 1, []), "event"),
        ("7-2-let_us", ("7", 2, None, None, []), "words"),  # twice
        ("7-0-rain", ("7", 0, None, None, []), "words"),  # case is kept
        ("7-2-let_dow", ("7", 2, None, None, []), "words"),
        ("7-0-stops_It", ("7", 0, None, None, []), "words"),  # over the end of the sentence
        ("7-1-stops", ("7", None, None, None, []), "sentence"),
        ("70-0-stops", (None, None, None, None, []), "document"),
        ("stops", (None, None, None, None, []), "form"),
        ("7-x-stops", (None, None, None, None, []), "form"),
        ("7-0-", (None, None, None, None, []), "form"),
        ("", (None, None, None, None, []), "form"),
        ("2007-03-19", (None, None, None, None, []), "date"),
    ],
)
def test_spans(mention, span, kind):
    found, oddity = locate_mention(mention, 0, TEXTS)
    assert tuple(found.values()) == span
    assert list(found) == ["document", "sentence", "start", "end", "events"]
    assert (None if oddity is None else oddity.kind) == kind
    assert oddity is None or oddity.message.startswith(f"mention {mention!r} ")
