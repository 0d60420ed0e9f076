"""Explicit and entailed relations of a timeline: by hand, beside a twin, and as a picture."""

from collections import Counter
from pathlib import Path

import pytest
from shared.timeline_pictures import assert_readable, find_row
from shared.timelines import entry

from closeread.exceptions import RequestError
from closeread.tasks.timeline.graph import (
    ENTAILED,
    EXPLICIT,
    MAX_MENTIONS,
    REDUNDANT,
    build_graph,
    draw_relations,
    select_positions,
)

ABC = [entry(2, "2011", "1-2-b", "1-3-c"), entry(1, "2010", "1-1-a"), entry(0, "XXXX", "1-4-z")]
"""a at 2010, then b and c, which are one event, at 2011; z has no place."""


def named(graph):
    """The relations with the names of their nodes, by status."""
    names = [*graph.mentions, *graph.anchors]
    found = {}
    for edge in graph.edges:
        found.setdefault(edge.status, []).append(
            (names[edge.one], edge.relation, names[edge.other])
        )
    return found


def test_relations_by_hand():
    assert named(build_graph(ABC)) == {
        EXPLICIT: [
            ("1-1-a", "SIMULTANEOUS", "2010"),
            ("1-2-b", "SIMULTANEOUS", "2011"),
            ("1-3-c", "SIMULTANEOUS", "2011"),
            ("1-1-a", "BEFORE", "1-2-b"),
        ],
        REDUNDANT: [("1-2-b", "SIMULTANEOUS", "1-3-c")],  # since both are at 2011
        ENTAILED: [
            ("1-1-a", "BEFORE", "1-3-c"),
            ("1-1-a", "BEFORE", "2011"),
            ("2010", "BEFORE", "1-2-b"),
            ("2010", "BEFORE", "1-3-c"),
            ("2010", "BEFORE", "2011"),
        ],
    }


def test_nothing_is_entailed_without_relations():
    for nothing in ([], [entry(0, "2010", "1-1-a")]):
        graph = build_graph(nothing)
        assert (graph.mentions, graph.anchors, graph.edges) == ([], [], [])
    one = build_graph([entry(1, "2010", "1-1-a")])
    assert named(one) == {EXPLICIT: [("1-1-a", "SIMULTANEOUS", "2010")]}


def test_every_relation_is_drawn_and_readable():
    graph = build_graph(ABC)
    figure = draw_relations("T", graph)
    drawn = Counter(patch.get_label() for patch in find_row(figure, "relations").patches)
    assert drawn == {
        "explicit: SIMULTANEOUS": 3,
        "explicit: BEFORE": 1,
        "explicit, redundant: SIMULTANEOUS": 1,
        "entailed: BEFORE": 5,
    }
    texts = [text.get_text() for text in find_row(figure, "relations").texts]
    assert texts == ["1-1-a", "1-2-b", "1-3-c", "2010", "2011"]
    assert sorted(text.get_text() for text in find_row(figure, "legend").texts) == [
        "1 BEFORE, explicit",
        "1 SIMULTANEOUS, explicit, redundant",
        "3 SIMULTANEOUS, explicit",
        "5 BEFORE, entailed",
    ]
    assert_readable(figure)


def test_anchors_that_belong_at_one_height_do_not_overlap():
    # Anchors that come back are drawn at the mean height of their mentions, here all of them in the middle.
    back = [
        entry(i + 1, anchor, f"1-{i}-a") for i, anchor in enumerate(("A", "B", "C", "C", "B", "A"))
    ]
    assert_readable(draw_relations("$T_1$", build_graph(back)))
    assert_readable(draw_relations("T", build_graph([])))


def test_a_part_of_a_timeline():
    assert select_positions(ABC, None) == ABC
    assert select_positions(ABC, "2") == [ABC[0]]
    assert select_positions(ABC, "1-2") == ABC[:2]
    with pytest.raises(
        RequestError, match=r"positions 2-1 are in descending order \(expected 1-2\)"
    ):
        select_positions(ABC, "2-1")
    with pytest.raises(RequestError, match=r"there is no event at positions 3-9 \(the last is 2\)"):
        select_positions(ABC, "3-9")
    for text in ("", "x", "1-", "-1", "1-2-3", "1 - 2"):
        with pytest.raises(
            RequestError, match="are not valid \\(expected a position or a range such as 2-5\\)"
        ):
            select_positions(ABC, text)


def test_too_many_mentions():
    rows = [entry(1, "2010", *(f"1-{i}-a" for i in range(MAX_MENTIONS))), entry(0, "2010", "1-1-z")]
    assert select_positions(rows, None) == rows
    with pytest.raises(RequestError, match="has 31 mentions in order"):
        select_positions([*rows, entry(2, "2011", "1-1-b")], None)


def test_events_without_a_place_are_reported(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own").mkdir()
    Path("own/ann.txt").write_text("Ann\n0\tXXXX\t7-1-a\n1\t2010\t7-1-b\n", "utf-8")
    done = run("plot", "timeline-relations", "Ann", "--gold", "own", "-o", "ann.svg")
    assert done.stdout == "ann.svg: 1 mention and 1 anchor, 1 explicit and 0 entailed relations\n"
    assert done.stderr == "note: not drawn: 1 mention at position 0, without relations\n"
