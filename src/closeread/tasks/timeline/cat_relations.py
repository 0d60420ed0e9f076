"""Annotated documents in CAT XML with the relations of events: to what they refer to, to participants, and to times.

Source: the format of the corpora that the annotators of TimeLine made for NewsReader (Minard et al., 2016).

Conventions: besides what `closeread.tasks.timeline.cat_entities` reads, `Markables` contains EVENTs, which have no
tokens, and TIMEX3s with a `value`; `Relations` contains REFERS_TOs from event mentions to EVENTs, HAS_PARTICIPANTs from
events to entities, with a `sem_role`, and TLINKs between events and times, with a `relType` (or `reltype`).  Both ends
of a relation may be mentions or what they refer to.  Other relations are ignored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from closeread.exceptions import FormatError, Problem, pluralize, quote
from closeread.formats.xml_tree import Element, read_xml
from closeread.records import ParsedFolder, Record, find_repeated
from closeread.tasks.timeline.cat_entities import check_entities, find_references, read_each
from closeread.tasks.timeline.cat_xml import number_tokens, read_element

EVENT_MENTION, EVENT, TIME = "EVENT_MENTION", "EVENT", "TIMEX3"
PARTICIPANT, LINK = "HAS_PARTICIPANT", "TLINK"

OF_EVENT = ("SIMULTANEOUS", "IS_INCLUDED", "BEGUN_BY")
OF_TIME = ("SIMULTANEOUS", "INCLUDES", "BEGINS")
"""Types of the links from an event to the time when it happens or begins, and from the time to the event."""


class Annotation(NamedTuple):
    """An annotated document.

    Attributes:
        file: the name of its file in the folder; empty if there is no folder.
        record: the document, as `closeread.tasks.timeline.cat_xml` reads it.
        marked: the markables by id.
        referents: the ids of the markables that each mention refers to.
        relations: its HAS_PARTICIPANTs and TLINKs in order; each has one source and one target among the markables.
    """

    file: str
    record: Record
    marked: Mapping[str, Element]
    referents: Mapping[str, Sequence[str]]
    relations: Sequence[Element]

    def ends(self, relation: Element) -> tuple[Element, Element]:
        """Return the source and the target of a relation."""
        return _find_ends(relation, self.marked)


def read_annotations(path: Path) -> list[Annotation]:
    """Read a CAT file, or all of a folder.

    Raises:
        FormatError: a file can't be read or is invalid, or two have the same document; all problems at once.
    """
    found, problems = read_each(path, _read_annotation)
    annotations = [one._replace(file=name) for name, one in found.items() if one is not None]
    parsed = ParsedFolder([one.record for one in annotations], [one.file for one in annotations], [], [])
    problems += find_repeated(parsed, "id", "id")
    if problems:
        raise FormatError(path, sorted(problems, key=lambda problem: problem.order))
    return annotations


def _read_annotation(file: Path) -> tuple[Annotation | None, list[Problem]]:
    root = read_xml(file)
    record, problems, _ = read_element(root)
    marked = [element for markables in root.elements("Markables") for element in markables.elements()]
    by_id = {element.attributes.get("m_id", ""): element for element in marked}
    relations = [one for of in root.elements("Relations") for one in of.elements() if one.name in (PARTICIPANT, LINK)]
    problems += check_entities(root, marked, number_tokens(list(root.elements("token"))))
    problems += [problem for relation in relations for problem in _check_relation(relation, by_id)]
    referents = _find_referents(root)
    problems += _check_referents(referents, by_id)
    unique = list(dict.fromkeys(problems))  # reading the document reports those of its events, too
    return None if unique else Annotation("", record, by_id, referents, relations), unique


def _check_referents(referents: Mapping[str, Sequence[str]], marked: Mapping[str, Element]) -> Iterator[Problem]:
    """Find event mentions that refer to several events or to something else, and what else refers to events."""
    for m_id, of in referents.items():
        if m_id not in marked:
            continue  # reported with the relation
        element, names = marked[m_id], {marked[other].name for other in of if other in marked}
        found = f"{element.name} {quote(m_id)} refers to"
        if element.name == EVENT_MENTION:
            if len(of) > 1:
                yield Problem(f"{found} {len(of)} events (expected at most one)", element.line)
            for name in sorted(names - {EVENT}):
                yield Problem(f"{found} {quote(name)} (expected {EVENT})", element.line)
        elif EVENT in names:
            yield Problem(f"{found} an EVENT (expected a reference from {EVENT_MENTION})", element.line)


def _find_referents(root: Element) -> Mapping[str, Sequence[str]]:
    referents: dict[str, dict[str, None]] = defaultdict(dict)
    for reference in find_references(root):
        targets = [target.attributes.get("m_id", "") for target in reference.elements("target")]
        for source in reference.elements("source"):
            referents[source.attributes.get("m_id", "")].update(dict.fromkeys(targets))
    return {m_id: list(of) for m_id, of in referents.items()}


def _find_ends(relation: Element, marked: Mapping[str, Element]) -> tuple[Element, Element]:
    source, target = (marked[next(relation.elements(name)).attributes["m_id"]] for name in ("source", "target"))
    return source, target


def _check_relation(relation: Element, marked: Mapping[str, Element]) -> Iterator[Problem]:
    """Find errors in a participant or a link: its ends, its role or type, and the value of a time."""
    sources, targets = (list(relation.elements(name)) for name in ("source", "target"))
    if len(sources) != 1 or len(targets) != 1:
        found = f"has {pluralize(len(sources), 'source')} and {pluralize(len(targets), 'target')}"
        yield Problem(f"{relation.name} {found} (expected exactly one of each)", relation.line)
        return
    unknown = [end for end in (*sources, *targets) if end.attributes.get("m_id") not in marked]
    for end in unknown:
        yield Problem(f"{end.name}: no markable has the m_id {quote(end.attributes.get('m_id', ''))}", end.line)
    what, name = ("relType", "IS_INCLUDED") if relation.name == LINK else ("sem_role", "Arg0")
    if not (get_type(relation) if relation.name == LINK else relation.attributes.get("sem_role")):
        yield Problem(f"{relation.name} has no {what} (expected one such as {name})", relation.line)
    if unknown:
        return
    source, target = _find_ends(relation, marked)
    if relation.name == LINK:
        time = find_anchor(relation, source, target)
        if time is not None and not time.attributes.get("value"):
            m_id = quote(time.attributes["m_id"])
            yield Problem(f"TIMEX3 {m_id} has no value (expected a date such as 2009-03-02)", time.line)
    elif source.name not in (EVENT_MENTION, EVENT):
        expected = f"{EVENT_MENTION} or {EVENT}"
        yield Problem(f"the source of HAS_PARTICIPANT is {quote(source.name)} (expected {expected})", relation.line)


def get_type(link: Element) -> str:
    """Return the type of a TLINK in upper case; empty if it has none."""
    return link.attributes.get("relType", link.attributes.get("reltype", "")).upper()


def find_anchor(link: Element, source: Element, target: Element) -> Element | None:
    """Return the time at which a TLINK says that an event happens or begins; None if it says something else."""
    events = (EVENT_MENTION, EVENT)
    if source.name in events and target.name == TIME and get_type(link) in OF_EVENT:
        return target
    if target.name in events and source.name == TIME and get_type(link) in OF_TIME:
        return source
    return None
