"""Timelines from annotated documents in CAT XML: who takes part in which event, in which role, and when.

Sources: Minard et al. (2015), section 3, as annotated for TimeLine; no release contains such documents.  Bartalesi
Lenzi, Moretti and Sprugnoli (2012); the format of the corpora that the same annotators made for NewsReader (Minard et
al., 2016).

`Markables` contains mentions, which have tokens, and what they refer to, which has none: ENTITYs, named by
TAG_DESCRIPTOR, and EVENTs; and TIMEX3s with a `value`.  `Relations` contains REFERS_TOs from one or more mentions
(`source`) to their referent (`target`), HAS_PARTICIPANTs from events to entities, with a `sem_role`, and TLINKs between
events and times, with a `relType` (or `reltype`).  Both ends of the last two may be mentions or what they refer to.
Other markables are read by `closeread.tasks.timeline.cat_xml`; other relations are ignored.

Timelines: mentions that refer to EVENTs with the same `instance_id`, in any document, are one event; EVENTs without it,
and mentions that refer to none, are events of their document.  An event involves the entities that take part in it in
one of the given roles, and all of its mentions are in their timelines.  Its anchor is the date on which it happens or
begins, the most exact one if there are several; times of a day are cut to the day.  Entities are the same if their
names are.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from closeread.corpus.notices import warn_all
from closeread.exceptions import (
    FormatError,
    Problem,
    ProblemList,
    describe_problems,
    join_names,
    pluralize,
    quote,
)
from closeread.formats.folders import list_files
from closeread.formats.xml_tree import Element, read_xml
from closeread.records import Parsed, Record, find_repeated
from closeread.tasks.timeline.building import UNKNOWN, build_timelines
from closeread.tasks.timeline.cat_xml import (
    ENTITY_MENTION,
    EVENT_MENTION,
    SUFFIX,
    TIME,
    TITLES_SUFFIX,
    find_tokens,
    list_markables,
    number_tokens,
    read_each,
    read_element,
)
from closeread.tasks.timeline.timeline_mentions import date_of, file_stem

ENTITY, EVENT = "ENTITY", "EVENT"
REFERENCE, PARTICIPANT, LINK = "REFERS_TO", "HAS_PARTICIPANT", "TLINK"

OF_EVENT = ("SIMULTANEOUS", "IS_INCLUDED", "BEGUN_BY")
OF_TIME = ("SIMULTANEOUS", "INCLUDES", "BEGINS")
"""Types of the links from an event to the time when it happens or begins, and from the time to the event."""

ROLES = ("ARG0", "ARG1")
"""The roles in which entities are involved in the events of their timelines, as in PropBank: agent and patient."""

DATES = ("DATE", "TIME")

UNCERTAIN = frozenset({"POSSIBLE", "PROBABLE", "UNCERTAIN"})
CONDITIONAL = frozenset({"COND_IF_CLAUSE", "COND_MAIN_CLAUSE"})
"""Values of `certainty` and `special_cases` of events that may not have happened."""

TIME_OF_DAY = re.compile("([0-9X]{4}-[0-9X]{2}-[0-9X]{2})T.*")


# Reading


class Relation(NamedTuple):
    """A relation of markables; one that is no reference has one source and one target."""

    element: Element
    sources: Sequence[Element]
    targets: Sequence[Element]

    @property
    def type(self) -> str:
        """The type of a TLINK in upper case; empty if it has none."""
        attributes = self.element.attributes
        return attributes.get("relType", attributes.get("reltype", "")).upper()

    def find_anchor(self) -> tuple[Element, Element] | None:
        """Return the event and the time at which a TLINK says that it happens or begins; None if it says neither."""
        source, target = self.sources[0], self.targets[0]
        for event, time, types in ((source, target, OF_EVENT), (target, source, OF_TIME)):
            if event.name in (EVENT_MENTION, EVENT) and time.name == TIME and self.type in types:
                return event, time
        return None


class Annotation(NamedTuple):
    """An annotated document."""

    record: Record  # the document, as `closeread.tasks.timeline.cat_xml` reads it
    marked: Sequence[Element]  # its markables
    # the referents of each mention, by the ids of both
    referents: Mapping[str, Mapping[str, Element]]
    relations: Sequence[Relation]  # its HAS_PARTICIPANTs and TLINKs, in order

    def find_entities(self, markable: Element) -> list[str]:
        """Return the names of the entities that a mention refers to, or that a markable is."""
        of = self.referents.get(markable.attributes["m_id"], {}).values()
        found = of if markable.name == ENTITY_MENTION else (markable,)
        return list(
            dict.fromkeys(one.attributes["TAG_DESCRIPTOR"] for one in found if one.name == ENTITY)
        )

    def name_event(self, markable: Element) -> str:
        """Return a name for the event that an EVENT is, or that a mention refers to; the same for the same event."""
        event = next(iter(self.referents.get(markable.attributes["m_id"], {}).values()), markable)
        instance = event.attributes.get("instance_id", "")
        return (
            f"instance {instance}"
            if instance
            else f"markable {event.attributes['m_id']} of {self.record['id']}"
        )


def read_annotations(
    path: Path, *, with_relations: bool = False
) -> tuple[dict[str, Annotation], list[Problem]]:
    """Read the documents of a CAT file, or of a folder of CAT files, by file, and find all errors.

    Each has its `entity_mentions`: their `tokens`, and the names of the `entities` that they refer to, possibly none.
    """
    if not path.is_dir():
        return {"": _read_annotation(path, with_relations=with_relations)}, []
    files, problems, others = list_files(path, "document", SUFFIX, TITLES_SUFFIX)
    warn_all(describe_problems(str(path), others))
    found, wrong = read_each(
        files, SUFFIX, lambda file: _read_annotation(file, with_relations=with_relations)
    )
    parsed = Parsed([one.record for one in found.values()], list(found), [], [])
    return found, problems + wrong + find_repeated(parsed, "id", "id")


def _read_annotation(file: Path, *, with_relations: bool) -> Annotation:
    root, problems = read_xml(file), ProblemList()
    marked = list_markables(root)
    record, _ = read_element(root, marked, problems)
    by_id = {element.attributes.get("m_id", ""): element for element in marked}
    for one in marked:
        if one.name == ENTITY and not one.attributes.get("TAG_DESCRIPTOR"):
            what = f"ENTITY {quote(one.attributes.get('m_id', ''))} has no TAG_DESCRIPTOR (expected its name)"
            problems.add(what, one.line)
    referents: dict[str, dict[str, Element]] = defaultdict(dict)
    relations = []
    for element in (one for every in root.elements("Relations") for one in every.elements()):
        if element.name == REFERENCE or (with_relations and element.name in (PARTICIPANT, LINK)):
            relation = _read_relation(element, by_id, problems)
            if relation and element.name == REFERENCE:
                for source in relation.sources:
                    target = relation.targets[0]
                    referents[source.attributes["m_id"]][target.attributes["m_id"]] = target
            elif relation:
                relations.append(relation)
    if with_relations:
        problems += (
            one
            for m_id, of in referents.items()
            for one in _check_referents(by_id[m_id], list(of.values()))
        )
    problems.raise_any(file)
    annotation, numbers = Annotation(record, marked, referents, relations), number_tokens(root)
    record["entity_mentions"] = [
        {
            "id": mention.attributes["m_id"],
            "tokens": find_tokens(mention, numbers),
            "entities": annotation.find_entities(mention),
        }
        for mention in marked
        if mention.name == ENTITY_MENTION
    ]
    return annotation


def _read_relation(
    element: Element, marked: Mapping[str, Element], problems: ProblemList
) -> Relation | None:
    """Read a relation, and find errors in its ends, its type and the value of a time; return None if ends are wrong."""
    name, line = element.name, element.line
    ends = [list(element.elements(side)) for side in ("source", "target")]
    if not ends[0] or len(ends[1]) != 1 or (name != REFERENCE and len(ends[0]) > 1):
        expected = (
            "at least one source and exactly one target"
            if name == REFERENCE
            else "exactly one of each"
        )
        found = f"{pluralize(len(ends[0]), 'source')} and {pluralize(len(ends[1]), 'target')}"
        problems.add(f"{name} has {found} (expected {expected})", line)
        return None
    unknown = [end for end in (*ends[0], *ends[1]) if end.attributes.get("m_id") not in marked]
    for end in unknown:
        what = f"{end.name}: no markable has the m_id {quote(end.attributes.get('m_id', ''))}"
        problems.add(what, end.line)
    if name == LINK and not Relation(element, (), ()).type:
        problems.add("TLINK has no relType (expected one such as IS_INCLUDED)", line)
    if name == PARTICIPANT and not element.attributes.get("sem_role"):
        problems.add("HAS_PARTICIPANT has no sem_role (expected one such as Arg0)", line)
    if unknown:
        return None
    sources, targets = ([marked[end.attributes["m_id"]] for end in side] for side in ends)
    relation = Relation(element, sources, targets)
    if name == REFERENCE and targets[0].name == ENTITY:
        for end, source in zip(ends[0], sources, strict=True):
            if source.name != ENTITY_MENTION:
                problems.add(
                    f"{quote(source.name)} refers to an ENTITY (expected {ENTITY_MENTION})",
                    end.line,
                )
    if name == PARTICIPANT and sources[0].name not in (EVENT_MENTION, EVENT):
        expected = f"{EVENT_MENTION} or {EVENT}"
        problems.add(
            f"the source of HAS_PARTICIPANT is {quote(sources[0].name)} (expected {expected})", line
        )
    if (
        name == LINK
        and (anchor := relation.find_anchor())
        and not anchor[1].attributes.get("value")
    ):
        m_id = quote(anchor[1].attributes["m_id"])
        problems.add(
            f"TIMEX3 {m_id} has no value (expected a date such as 2009-03-02)", anchor[1].line
        )
    return relation


def _check_referents(mention: Element, referents: Sequence[Element]) -> Iterator[Problem]:
    """Find event mentions that refer to several events or something else, and other markables that refer to events."""
    names, found = (
        {one.name for one in referents},
        f"{mention.name} {quote(mention.attributes['m_id'])} refers to",
    )
    if mention.name == EVENT_MENTION:
        if len(referents) > 1:
            yield Problem(f"{found} {len(referents)} events (expected at most one)", mention.line)
        for name in sorted(names - {EVENT}):
            yield Problem(f"{found} {quote(name)} (expected {EVENT})", mention.line)
    elif EVENT in names:
        yield Problem(f"{found} an EVENT (expected a reference from {EVENT_MENTION})", mention.line)


# Building


@dataclass
class AnnotatedEvent:
    """An event, with its annotation in all documents."""

    # its mentions, in the order of the documents and their texts: the document, the numbers of the tokens, and the kind
    # of event if TimeLine did not annotate it, empty otherwise
    mentions: list[tuple[str, list[int], str]] = field(default_factory=list)
    # the names of the entities that take part in it in one of the roles
    entities: dict[str, None] = field(default_factory=dict)
    # the dates that it is anchored to, with the places of the links, as problems without words
    anchors: list[tuple[str, Problem]] = field(default_factory=list)

    def choose_anchor(self) -> tuple[str, Problem]:
        """Return its most exact anchor: the day before the month, and of those the one with the most components."""
        given = self.anchors or [(UNKNOWN, Problem(""))]
        return max(
            given, key=lambda one: (len(date_of(one[0])), len(one[0]) if date_of(one[0]) else 0)
        )

    def check_anchors(self) -> Iterator[Problem]:
        """Find anchors that contradict the most exact one."""
        best, place = self.choose_anchor()
        known = date_of(best)
        for anchor, here in self.anchors:
            date = date_of(anchor)
            if date != known[: len(date)]:
                where = f"line {place.line}" + (
                    f" of {place.file}" if place.file != here.file else ""
                )
                expected = f"{quote(best)}, as on {where}, or less exactly"
                yield here._replace(
                    what=f"the event is anchored to {quote(anchor)} (expected {expected})"
                )


class TimelineCorpus(NamedTuple):
    """Timelines of annotated documents."""

    # the timelines by order of first appearance of their entities, or in the order of the wanted entities
    timelines: list[Record]
    documents: Mapping[str, Record]  # the documents by id
    notices: list[str]  # on events and mentions that were left out, and how many


def build_annotated_timelines(
    path: Path,
    roles: Sequence[str] = ROLES,
    selection: str = "task",
    granularity: str = "merge",
    wanted: Collection[str] | None = None,
) -> TimelineCorpus:
    """Build the timelines of the entities in a CAT file, or in a folder of CAT files."""
    annotations, problems = read_annotations(path, with_relations=True)
    if problems:
        raise FormatError(path, sorted(problems, key=lambda problem: problem.order))
    events: dict[str, AnnotatedEvent] = defaultdict(AnnotatedEvent)
    ignored: Counter[str] = Counter()
    places: dict[str, Problem] = {}  # of the first ENTITY of each name
    for file, one in annotations.items():
        for element in one.marked:
            if element.name == ENTITY:
                places.setdefault(
                    element.attributes["TAG_DESCRIPTOR"], Problem("", element.line, file or None)
                )
        _add_events(one, file, events, {role.casefold() for role in roles}, ignored)
    problems += (problem for event in events.values() for problem in event.check_anchors())
    rows = _make_rows(events, places if wanted is None else wanted, selection, ignored)
    first: dict[str, str] = {}
    for entity in dict.fromkeys(row["entity"] for row in rows) if wanted is None else wanted:
        stem = file_stem(entity)
        if (other := first.setdefault(stem, entity)) != entity:
            what = f"the timelines of {quote(entity)} and {quote(other)} would both be named {quote(stem)}"
            problems.append(places.get(entity, Problem(""))._replace(what=what))
    left_out = [f"{what} ({number:,})" for what, number in sorted(ignored.items())]
    if wanted is not None and not any(name in places for name in wanted):
        found = join_names(list(places)) or "no ENTITY"
        what = f"no ENTITY is named {join_names(list(wanted))} (found: {found})"
        problems.append(Problem(what if wanted else "the list of entities is empty"))
    elif not rows and wanted is None and not problems:
        asked, ignoring = " or ".join(roles), ", ".join(left_out)
        what = f"all events in which an entity has the role {asked} are left out: {ignoring}"
        if not any(event.entities for event in events.values()):
            expected = "expected HAS_PARTICIPANTs from events to mentions of ENTITYs"
            what = f"no entity takes part in an event in the role {asked} ({expected})"
            what += f"; left out: {ignoring}" if left_out else ""
        problems.append(Problem(what))
    if problems:
        raise FormatError(path, sorted(problems, key=lambda problem: problem.order))
    documents = {one.record["id"]: one.record for one in annotations.values()}
    timelines = {one["entity"]: one for one in build_timelines(rows, documents, granularity)}
    notices = [
        *(f"left out: {what}" for what in left_out),
        *_describe_instances(list(annotations.values())),
    ]
    if wanted is not None:
        if absent := [name for name in wanted if name not in places]:
            notices.append(f"no ENTITY is named {', '.join(map(quote, absent))}")
        empty = {name: {"id": file_stem(name), "entity": name, "entries": []} for name in wanted}
        timelines = {**empty, **timelines}
    return TimelineCorpus(
        list(timelines.values()), documents, [f"{path}: {notice}" for notice in notices]
    )


def _add_events(
    one: Annotation,
    file: str,
    events: dict[str, AnnotatedEvent],
    roles: set[str],
    ignored: Counter[str],
) -> None:
    """Add the mentions of a document to their events, in the order of the text, with participants and anchors."""
    by_id = {element.attributes["m_id"]: element for element in one.marked}
    for mention in sorted(one.record["events"], key=lambda mention: min(mention["tokens"])):
        element = by_id[mention["id"]]
        kind = _find_kind(
            [of.attributes for of in (element, *one.referents.get(mention["id"], {}).values())]
        )
        events[one.name_event(element)].mentions.append((one.record["id"], mention["tokens"], kind))
    for relation in one.relations:
        if relation.element.name == PARTICIPANT:
            role, names = (
                relation.element.attributes["sem_role"],
                one.find_entities(relation.targets[0]),
            )
            event = events[one.name_event(relation.sources[0])]
            if role.casefold() not in roles:
                ignored[f"participants in the role {quote(role)}"] += 1
            elif not names:
                ignored["participants that refer to no ENTITY"] += 1
            else:
                event.entities.update(dict.fromkeys(names))
        elif (anchor := relation.find_anchor()) is None:
            ignored[
                f"links of the type {quote(relation.type)}, which anchor no event to a time"
            ] += 1
        elif (kind := anchor[1].attributes.get("type", DATES[0])).upper() not in DATES:
            ignored[f"links to times of the type {quote(kind)}"] += 1
        else:
            date = TIME_OF_DAY.sub(r"\1", anchor[1].attributes["value"])
            events[one.name_event(anchor[0])].anchors.append(
                (date, Problem("", relation.element.line, file or None))
            )


def _find_kind(attributes: Sequence[Mapping[str, str]]) -> str:
    """Return the kind of an event if TimeLine did not annotate it, given the attributes of a mention and its EVENT."""

    def get_values(name: str) -> set[str]:
        return {of.get(name, "").upper() for of in attributes}

    for kind in ("GRAMMATICAL", "COGNITIVE"):
        if kind in get_values("class"):
            return kind.lower()
    if get_values("pos") & {"ADJ", "ADJECTIVE"}:
        return "adjectival"
    if get_values("certainty") & UNCERTAIN or get_values("special_cases") & CONDITIONAL:
        return "uncertain"
    return "counter-factual" if "NEG" in get_values("polarity") else ""


def _make_rows(
    events: Mapping[str, AnnotatedEvent],
    entities: Collection[str],
    selection: str,
    ignored: Counter[str],
) -> list[Record]:
    """Return the mentions of the entities' events by entity, as `closeread.tasks.timeline.building` takes them."""
    involved: dict[str, list[Record]] = {entity: [] for entity in entities}
    for name, event in events.items():
        concerned = [entity for entity in event.entities if entity in involved]
        if concerned and not event.mentions:
            ignored["events without a mention"] += 1
        anchor, _ = event.choose_anchor()
        for document, tokens, kind in event.mentions if concerned else ():
            if selection == "task" and kind:
                ignored[f"mentions of {kind} events"] += 1
                continue
            row = {"document": document, "tokens": list(tokens), "coreference": name}
            for entity in concerned:
                involved[entity].append({"entity": entity, "anchor": anchor, **row})
    return [row for rows in involved.values() for row in rows]


def _describe_instances(annotations: Sequence[Annotation]) -> Iterator[str]:
    """Describe ENTITYs that differ in their names but not in their `instance_id`, or the other way round."""
    marked = [
        element.attributes
        for one in annotations
        for element in one.marked
        if element.name == ENTITY
    ]
    pairs = [
        (one["TAG_DESCRIPTOR"], one["instance_id"]) for one in marked if one.get("instance_id")
    ]
    for key, value, text in (
        (1, 0, "ENTITYs with the instance_id {} are separate entities: {}"),
        (0, 1, "ENTITYs named {} are one entity, with the instance_ids {}"),
    ):
        groups: dict[str, dict[str, None]] = defaultdict(dict)
        for pair in pairs:
            groups[pair[key]][pair[value]] = None
        yield from (
            text.format(quote(one), join_names(list(of)))
            for one, of in groups.items()
            if len(of) > 1
        )
