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
from dataclasses import dataclass, replace
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
    "SIMULTANEOUS",
    "IDENTITY",
    "DURING",
    "DURING_INV",
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


class EmptyElement(NamedTuple):
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
class TimeMLDocument:
    """A TimeML file.

    Attributes:
        id: the text of its DOCID.
        passages: the parts that have text.
        instances: the MAKEINSTANCE elements.
        tlinks: the temporal links.
    """

    id: str | None
    passages: tuple[Passage, ...]
    instances: tuple[EmptyElement, ...] = ()
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
        spans: list[tuple[Passage, Span]] = []
        for passage in self.passages:
            spans += [(passage, span) for span in passage.spans if span.name == name]
        return spans

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
    def eids(self) -> dict[str, str]:
        """The eid of each instance's event, by the eiid of the instance."""
        return {
            instance.attributes["eiid"]: instance.attributes["eventID"]
            for instance in self.instances
        }

    @property
    def intervals(self) -> dict[str, tuple[Passage, Span]]:
        """The possible arguments of links, by id, with their spans: times, and events or their instances."""
        events = {event.id: (passage, event) for passage, event in self.spans(EVENT)}
        eids = self.eids
        intervals = {eiid: events[eid] for eiid, eid in eids.items()}
        with_instances = set(eids.values())
        intervals |= {eid: event for eid, event in events.items() if eid not in with_instances}
        return intervals | {time.id: (passage, time) for passage, time in self.spans(TIMEX)}


def read_timeml(path: Path) -> TimeMLDocument:
    """Read the document of a file."""
    root = read_xml(path)
    problems = ProblemList()
    if root.name != "TimeML":
        problems.add(f"the root element is {quote(root.name)} (expected TimeML)", root.line)
    passages: list[Passage] = []
    for name in (DCT, *TITLES):
        passages += [_read_passage(name, element) for element in root.below(name)]
    passages.append(_read_passage(TEXT, next(root.below(TEXT), root)))
    docid = next((element.text().strip() for element in root.below("DOCID")), None)
    instances = _read_entries(root, "MAKEINSTANCE")
    document = TimeMLDocument(docid, tuple(passages), instances)
    for element in _find_outside(root, document):
        expected = f"{', '.join((DCT, *TITLES))} and {TEXT}"
        problems.add(f"{element.name} is outside {expected}", element.line)
    for name in (EVENT, TIMEX):
        _check_ids([span for _, span in document.spans(name)], problems)
    _check_ids(instances, problems)
    _check_ids(_read_entries(root, "TLINK"), problems)
    intervals = _index_intervals(document, problems)
    tlinks = []
    for element in root.below("TLINK"):
        tlink = _read_tlink(element, intervals, problems)
        if tlink is not None:
            tlinks.append(tlink)
    problems.raise_any(path)
    return replace(document, tlinks=tuple(tlinks))


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


def _read_entries(root: Element, name: str) -> tuple[EmptyElement, ...]:
    return tuple(
        EmptyElement(name, element.attributes, element.line) for element in root.below(name)
    )


def _find_outside(root: Element, document: TimeMLDocument) -> Iterator[Element]:
    """Find the events and times that are in no passage, by counting elements per line."""
    for name in (EVENT, TIMEX):
        lines = Counter(span.line for _, span in document.spans(name))
        for element in root.below(name):
            lines[element.line] -= 1
            if lines[element.line] < 0:
                yield element


def _check_ids(entries: Iterable[Span | EmptyElement], problems: ProblemList) -> None:
    lines: dict[str, int | None] = {}
    for entry in entries:
        attribute = _IDS[entry.name]
        name = entry.attributes.get(attribute)
        if name is None and entry.name == "TLINK":
            continue
        if not name:
            problems.add(f"{entry.name} has no {attribute}", entry.line)
        elif name in lines:
            message = f"{attribute} {quote(name)} is already used on line {lines[name]}"
            problems.add(message, entry.line)
        else:
            lines[name] = entry.line


Intervals = Mapping[str, Mapping[str, Sequence[str]]]
"""The intervals that a link may mean, by an element's name and id."""


def _index_intervals(document: TimeMLDocument, problems: ProblemList) -> Intervals:
    """Return the intervals that a link may mean; errors of instances are problems."""
    events = [event for _, event in document.spans(EVENT)]
    eiids_of: dict[str, list[str]] = {event.attributes.get("eid", ""): [] for event in events}
    tids = {time.attributes.get("tid", "") for _, time in document.spans(TIMEX)}
    eiids = set()
    for instance in document.instances:
        eid = instance.attributes.get("eventID", "")
        eiid = instance.attributes.get("eiid", "")
        if eid in eiids_of:
            eiids_of[eid].append(eiid)
            eiids.add(eiid)
        else:
            message = f"MAKEINSTANCE {quote(eiid)}: no EVENT has the eid {quote(eid)}"
            problems.add(message, instance.line)
        if eiid and eiid in tids:
            message = f"eiid {quote(eiid)} is also the tid of a TIMEX3 (expected distinct ids)"
            problems.add(message, instance.line)
    for event in events:
        eid = event.attributes.get("eid", "")
        if eid and not eiids_of[eid] and eid in tids | eiids:
            message = f"eid {quote(eid)} is also the id of another interval (expected distinct ids)"
            problems.add(message, event.line)
    without_instances = [eid for eid in eiids_of if not eiids_of[eid]]
    return {
        TIMEX: {tid: [tid] for tid in tids},
        "MAKEINSTANCE": {name: [name] for name in (*without_instances, *eiids)},
        EVENT: {eid: of_event or [eid] for eid, of_event in eiids_of.items()},
    }


def _read_tlink(element: Element, intervals: Intervals, problems: ProblemList) -> Tlink | None:
    """Read a link; return None and report its problems if it is invalid."""
    attributes = element.attributes
    messages: list[str] = []
    source = _find_interval(attributes, _SOURCES, intervals, messages)
    target = _find_interval(attributes, _TARGETS, intervals, messages)
    relation = attributes.get("relType", "")
    is_misspelt = relation not in RELATION_TYPES and relation.upper() in RELATION_TYPES
    if not relation or is_misspelt:
        guess = suggest_choice(relation, RELATION_TYPES)
        messages.append(
            f"relType {quote(relation)} is not one of {', '.join(RELATION_TYPES)}{guess}"
        )
    name = f"TLINK {quote(attributes['lid'])}" if "lid" in attributes else "TLINK"
    for message in messages:
        problems.add(f"{name}: {message}", element.line)
    if messages:
        return None
    used = {*_SOURCES, *_TARGETS, "relType"}
    unused = {name: value for name, value in attributes.items() if name not in used}
    return Tlink(source, target, relation, unused, element.line)


def _find_interval(
    attributes: Mapping[str, str],
    alternatives: Mapping[str, str],
    intervals: Intervals,
    messages: list[str],
) -> str:
    """Return the interval at one end of a link, which is in one of several attributes; empty if it is unknown."""
    present = [attribute for attribute in alternatives if attribute in attributes]
    if len(present) != 1:
        messages.append(f"has {len(present)} of {', '.join(alternatives)} (expected exactly one)")
        return ""
    attribute = present[0]
    name = attributes[attribute]
    kind = alternatives[attribute]
    candidates = intervals[kind].get(name, ())
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        expected = "expected the eiid of one of them"
        messages.append(f"event {quote(name)} has {len(candidates)} instances ({expected})")
    else:
        messages.append(f"no {kind} has the {attribute} {quote(name)}")
    return ""
