"""TimeML 1.2: a text with events, times, and links between them.

Sources: Saurí et al. (2006), TimeML Annotation Guidelines 1.2.1; the files of TempEval-3 (2013) and of SemEval-2015
Task 4, whose events have no instances.

Conventions: a document has passages: `DCT` with the creation time, `TITLE` or `EXTRAINFO`, and `TEXT`; without `TEXT`,
as in TimeBank 1.2, the rest of the file is the text.  Elements of a passage are character spans, from 0, the end
exclusive, in the order of their start tags.  The arguments of links are *intervals*: times by `tid`, event instances by
`eiid`, and events without an instance by `eid`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from closeread.exceptions import ProblemList, quote, suggest_choice
from closeread.formats.xml_tree import Element, read_xml

TEXT = "TEXT"
DCT = "DCT"
EVENT = "EVENT"
TIMEX = "TIMEX3"
TITLES = ("TITLE", "EXTRAINFO")
_IDS = {EVENT: "eid", TIMEX: "tid", "MAKEINSTANCE": "eiid", "TLINK": "lid"}
_OUTSIDE = ("DOCID", DCT, *TITLES, "MAKEINSTANCE", "TLINK", "SLINK", "ALINK")
"""Elements that are not part of the text, wherever they are."""

RELATION_TYPES = (
    *(
        "BEFORE",
        "AFTER",
        "IBEFORE",
        "IAFTER",
        "INCLUDES",
        "IS_INCLUDED",
        "BEGINS",
        "BEGUN_BY",
        "ENDS",
        "ENDED_BY",
    ),
    *("SIMULTANEOUS", "IDENTITY", "DURING", "DURING_INV"),
)
NO_RELATION = ("VAGUE", "NONE")
"""What TimeBank-Dense and its systems write for a pair of intervals that they have looked at and can't order."""
_SOURCES = {"eventInstanceID": "MAKEINSTANCE", "timeID": TIMEX, "eventID": EVENT}
_TARGETS = {
    "relatedToEventInstance": "MAKEINSTANCE",
    "relatedToTime": TIMEX,
    "relatedToEvent": EVENT,
}
"""Attributes of a TLINK, and the element whose id each holds."""


class Span(NamedTuple):
    """An element of a passage: its tag, characters, attributes, and line in the file, if it has one."""

    name: str
    start: int
    end: int
    attributes: Mapping[str, str]
    line: int | None = None

    @property
    def id(self) -> str:
        """The id of an event or a time."""
        return self.attributes[_IDS[self.name]]


class Passage(NamedTuple):
    """A part of a document that has text: its tag, text and elements."""

    name: str
    text: str
    spans: tuple[Span, ...] = ()

    def words(self, span: Span) -> str:
        """Return the text of a span."""
        return self.text[span.start : span.end]


class Entry(NamedTuple):
    """An element without text, such as MAKEINSTANCE; as a `Span`, without a place in the text."""

    name: str
    attributes: Mapping[str, str]
    line: int | None = None


class Tlink(NamedTuple):
    """A temporal link between two intervals, and other attributes.

    The relation is one of `RELATION_TYPES` or `NO_RELATION`, or of a scheme that TimeML does not know.
    """

    source: str
    target: str
    relation: str
    attributes: Mapping[str, str]
    line: int | None = None


@dataclass(frozen=True)
class Document:
    """A TimeML file."""

    id: str | None  # its DOCID
    passages: tuple[Passage, ...]
    instances: tuple[Entry, ...] = ()  # MAKEINSTANCEs
    tlinks: tuple[Tlink, ...] = ()

    @property
    def title(self) -> str | None:
        """The title; None if there is none."""
        return next((passage.text for passage in self.passages if passage.name in TITLES), None)

    @property
    def text(self) -> str:
        """The text; empty if there is none."""
        return next((passage.text for passage in self.passages if passage.name == TEXT), "")

    def spans(self, name: str) -> list[tuple[Passage, Span]]:
        """Return the elements with a given name in all passages."""
        return [
            (passage, span)
            for passage in self.passages
            for span in passage.spans
            if span.name == name
        ]

    @property
    def creation_time(self) -> Span | None:
        """The time marked as creation time, or else the first time in `DCT`; None if there is none."""
        times = self.spans(TIMEX)
        for _, time in times:
            if time.attributes.get("functionInDocument") == "CREATION_TIME":
                return time
        for passage, time in times:
            if passage.name == DCT:
                return time
        return None

    @property
    def intervals(self) -> dict[str, tuple[Passage, Span]]:
        """The possible arguments of links, by id, with their spans: times, and events or their instances."""
        events = {event.id: (passage, event) for passage, event in self.spans(EVENT)}
        instances = {
            instance.attributes["eiid"]: events[instance.attributes["eventID"]]
            for instance in self.instances
        }
        with_instances = {instance.attributes["eventID"] for instance in self.instances}
        alone = {eid: event for eid, event in events.items() if eid not in with_instances}
        times = {time.id: (passage, time) for passage, time in self.spans(TIMEX)}
        return instances | alone | times


def read_timeml(path: Path) -> Document:
    """Read the document of a file."""
    root = read_xml(path)
    problems = ProblemList()
    if root.name != "TimeML":
        problems.add(f"the root element is {quote(root.name)} (expected TimeML)", root.line)
    passages = [
        _read_passage(element.name, element)
        for name in (DCT, *TITLES)
        for element in root.below(name)
    ]
    passages.append(_read_passage(TEXT, next(root.below(TEXT), root)))
    spans = [span for passage in passages for span in passage.spans]
    events = [span for span in spans if span.name == EVENT]
    times = [span for span in spans if span.name == TIMEX]
    instances = _read_entries(root, "MAKEINSTANCE")
    for element in (*_find_outside(root, EVENT, events), *_find_outside(root, TIMEX, times)):
        problems.add(
            f"{element.name} is outside {', '.join((DCT, *TITLES))} and {TEXT}", element.line
        )
    for elements in (events, times, instances, _read_entries(root, "TLINK")):
        _check_ids(elements, problems)
    intervals = _index_intervals(events, times, instances, problems)
    tlinks = []
    for element in root.below("TLINK"):
        tlink = _read_tlink(element, intervals, problems)
        if tlink is not None:
            tlinks.append(tlink)
    problems.raise_any(path)
    docid = next((element.text().strip() for element in root.below("DOCID")), None)
    return Document(docid, tuple(passages), instances, tuple(tlinks))


def _read_passage(name: str, element: Element) -> Passage:
    parts: list[str] = []
    spans: list[Span] = []

    def walk(parent: Element, start: int) -> int:
        """Add the contents of an element, and return the offset of its end."""
        for child in parent.content:
            if isinstance(child, str):
                parts.append(child)
                start += len(child)
            elif child.name not in _OUTSIDE:
                place = len(spans)
                spans.append(Span(child.name, start, start, child.attributes, child.line))
                start = walk(child, start)
                spans[place] = spans[place]._replace(end=start)
        return start

    walk(element, 0)
    return Passage(name, "".join(parts), tuple(spans))


def _read_entries(root: Element, name: str) -> tuple[Entry, ...]:
    return tuple(Entry(name, element.attributes, element.line) for element in root.below(name))


def _find_outside(root: Element, name: str, known: Iterable[Span]) -> Iterator[Element]:
    """Find the elements with a given name that are in no passage, by counting elements per line."""
    lines = Counter(span.line for span in known)
    for element in root.below(name):
        lines[element.line] -= 1
        if lines[element.line] < 0:
            yield element


def _check_ids(elements: Iterable[Span | Entry], problems: ProblemList) -> None:
    lines: dict[str, int | None] = {}
    for element in elements:
        attribute = _IDS[element.name]
        name = element.attributes.get(attribute)
        if name is None and element.name == "TLINK":
            continue
        if not name:
            problems.add(f"{element.name} has no {attribute}", element.line)
        elif name in lines:
            problems.add(
                f"{attribute} {quote(name)} is already used on line {lines[name]}", element.line
            )
        else:
            lines[name] = element.line


def _index_intervals(
    events: Iterable[Span], times: Iterable[Span], instances: Iterable[Entry], problems: ProblemList
) -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the intervals that a link may mean, by an element's name and id; errors of instances are problems."""
    made: dict[str, list[str]] = {event.attributes.get("eid", ""): [] for event in events}
    tids = {time.attributes.get("tid", "") for time in times}
    for one in instances:
        eid, eiid = one.attributes.get("eventID", ""), one.attributes.get("eiid", "")
        if eid in made:
            made[eid].append(eiid)
        else:
            problems.add(f"MAKEINSTANCE {quote(eiid)}: no EVENT has the eid {quote(eid)}", one.line)
        if eiid and eiid in tids:
            problems.add(
                f"eiid {quote(eiid)} is also the tid of a TIMEX3 (expected distinct ids)", one.line
            )
    eiids = {eiid for some in made.values() for eiid in some}
    for event in events:
        eid = event.attributes.get("eid", "")
        if eid and not made[eid] and eid in tids | eiids:
            problems.add(
                f"eid {quote(eid)} is also the id of another interval (expected distinct ids)",
                event.line,
            )
    alone = (eid for eid, some in made.items() if not some)
    return {
        TIMEX: {tid: [tid] for tid in tids},
        "MAKEINSTANCE": {name: [name] for name in (*alone, *eiids)},
        EVENT: {eid: some or [eid] for eid, some in made.items()},
    }


def _read_tlink(
    element: Element, intervals: Mapping[str, Mapping[str, Sequence[str]]], problems: ProblemList
) -> Tlink | None:
    """Read a link; return None and report its problems if it is invalid."""
    given, wrong = element.attributes, []
    ends: list[str] = []
    for side in (_SOURCES, _TARGETS):
        named = [attribute for attribute in side if attribute in given]
        if len(named) != 1:
            wrong.append(f"has {len(named)} of {', '.join(side)} (expected exactly one)")
            continue
        name, value = side[named[0]], given[named[0]]
        ends += (found := intervals[name].get(value, ()))
        if not found:
            wrong.append(f"no {name} has the {named[0]} {quote(value)}")
        elif len(found) > 1:
            wrong.append(
                f"event {quote(value)} has {len(found)} instances (expected the eiid of one of them)"
            )
    relation = given.get("relType", "")
    is_misspelt = relation not in RELATION_TYPES and relation.upper() in RELATION_TYPES
    if not relation or is_misspelt:
        guess = suggest_choice(relation, RELATION_TYPES)
        wrong.append(f"relType {quote(relation)} is not one of {', '.join(RELATION_TYPES)}{guess}")
    for what in wrong:
        problems.add(
            f"TLINK {quote(given['lid'])}: {what}" if "lid" in given else f"TLINK: {what}",
            element.line,
        )
    if wrong:
        return None
    used = {*_SOURCES, *_TARGETS, "relType"}
    others = {name: value for name, value in given.items() if name not in used}
    return Tlink(ends[0], ends[1], relation, others, element.line)
