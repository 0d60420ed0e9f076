"""Timelines from annotated documents in CAT XML: who takes part in which event, in which role, and when.

Sources: Minard et al. (2015), section 3, as annotated for TimeLine; no release contains such documents.  Bartalesi
Lenzi, Moretti and Sprugnoli (2012); the format of the corpora that the same annotators made for NewsReader (Minard et
al., 2016).

Entity mentions: `Markables` contains ENTITY_MENTIONs, which have tokens, and ENTITYs, which have none and are named by
TAG_DESCRIPTOR; `Relations` contains REFERS_TOs, each from one or more mentions (`source`) to their referent
(`target`).  Other markables are read by `closeread.tasks.timeline.cat_xml`; other relations are ignored.

Relations of events: `Markables` contains EVENTs, which have no
tokens, and TIMEX3s with a `value`; `Relations` contains REFERS_TOs from event mentions to EVENTs, HAS_PARTICIPANTs from
events to entities, with a `sem_role`, and TLINKs between events and times, with a `relType` (or `reltype`).  Both ends
of a relation may be mentions or what they refer to.  Other relations are ignored.

Timelines: mentions that refer to EVENTs with the same
`instance_id`, in any document, are one event; EVENTs without it, and mentions that refer to none, are events of their
document.  An event involves the entities that take part in it in one of the given roles, and all of its mentions are in
their timelines.  Its anchor is the date on which it happens or begins, the most exact one if there are several; times
of a day are cut to the day.  Entities are the same if their names are.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from closeread.exceptions import FormatError, Problem, join_names, pluralize, quote
from closeread.formats.folders import list_files
from closeread.formats.xml_tree import Element, read_xml
from closeread.records import ParsedFolder, Record, find_repeated
from closeread.tasks.timeline.building import UNKNOWN, Date, build_timelines, date_of
from closeread.tasks.timeline.cat_xml import SUFFIX, TITLES_SUFFIX, check_mentions, number_tokens, read_element
from closeread.tasks.timeline.timeline_mentions import file_stem

ENTITY_MENTION, ENTITY = "ENTITY_MENTION", "ENTITY"
EVENT_MENTION, EVENT, TIME = "EVENT_MENTION", "EVENT", "TIMEX3"
PARTICIPANT, LINK = "HAS_PARTICIPANT", "TLINK"

OF_EVENT = ("SIMULTANEOUS", "IS_INCLUDED", "BEGUN_BY")
OF_TIME = ("SIMULTANEOUS", "INCLUDES", "BEGINS")
"""Types of the links from an event to the time when it happens or begins, and from the time to the event."""


class Annotation(NamedTuple):
    """An annotated document."""

    file: str  # the name of its file in the folder; empty if there is no folder
    record: Record  # the document, as `closeread.tasks.timeline.cat_xml` reads it
    marked: Mapping[str, Element]  # the markables by id
    referents: Mapping[str, Sequence[str]]  # the ids of the markables that each mention refers to
    # its HAS_PARTICIPANTs and TLINKs in order; each has one source and one target among the markables
    relations: Sequence[Element]

    def find_entities(self, m_id: str) -> list[str]:
        """Return the names of the entities that a mention refers to, or that a markable is."""
        is_mention = self.marked[m_id].name == ENTITY_MENTION
        marked = [self.marked[other] for other in (self.referents.get(m_id, ()) if is_mention else (m_id,))]
        return list(dict.fromkeys(one.attributes["TAG_DESCRIPTOR"] for one in marked if one.name == ENTITY))


def read_annotations(path: Path, *, with_relations: bool = False) -> tuple[list[Annotation], list[Problem]]:
    """Read the documents of a CAT file, or of a folder of CAT files, and find all errors.

    Each has its `entity_mentions`: their `tokens`, and the names of the `entities` that they refer to, possibly none.
    """
    files, problems = list_files(path, "document", SUFFIX, TITLES_SUFFIX) if path.is_dir() else ({"": path}, [])
    found: list[Annotation] = []
    for name, file in files.items():
        if name.endswith(TITLES_SUFFIX):
            continue  # needed only for titles
        try:
            annotation, wrong = _read_annotation(file, with_relations=with_relations)
            found.append(annotation._replace(file=name))
        except FormatError as error:
            wrong = list(error.problems)
        problems += [problem._replace(file=name or None) for problem in wrong]
    parsed = ParsedFolder([one.record for one in found], [one.file or path.name for one in found], [], [])
    problems += find_repeated(parsed, "id", "id")
    return found, sorted(problems, key=lambda problem: problem.order)


def _read_annotation(file: Path, *, with_relations: bool) -> tuple[Annotation, list[Problem]]:
    root = read_xml(file)
    record, problems, _ = read_element(root)
    numbers = number_tokens(list(root.elements("token")))
    marked = [element for markables in root.elements("Markables") for element in markables.elements()]
    by_id = {element.attributes.get("m_id", ""): element for element in marked}
    every = [one for relations in root.elements("Relations") for one in relations.elements()]
    references = [one for one in every if one.name == "REFERS_TO"]
    relations = [one for one in every if one.name in (PARTICIPANT, LINK)]
    referents: dict[str, dict[str, None]] = defaultdict(dict)
    for reference in references:
        targets = dict.fromkeys(target.attributes.get("m_id", "") for target in reference.elements("target"))
        for source in reference.elements("source"):
            referents[source.attributes.get("m_id", "")].update(targets)
    problems += check_mentions(marked, numbers)
    for one in marked:
        if one.name == ENTITY and not one.attributes.get("TAG_DESCRIPTOR"):
            what = f"ENTITY {quote(one.attributes.get('m_id', ''))} has no TAG_DESCRIPTOR (expected its name)"
            problems.append(Problem(what, one.line))
    problems += (problem for reference in references for problem in _check_reference(reference, by_id))
    annotation = Annotation("", record, by_id, {m_id: list(of) for m_id, of in referents.items()}, relations)
    if with_relations:
        problems += (problem for relation in relations for problem in _check_relation(relation, by_id))
        problems += _check_referents(annotation.referents, by_id)
    if not problems:
        record["entity_mentions"] = [
            {
                "id": m_id,
                "tokens": [numbers[anchor.attributes["t_id"]] for anchor in mention.elements("token_anchor")],
                "entities": annotation.find_entities(m_id),
            }
            for m_id, mention in by_id.items()
            if mention.name == ENTITY_MENTION
        ]
    return annotation, list(dict.fromkeys(problems))  # reading the document reports those of events, too


def _list_ends(relation: Element, marked: Mapping[str, Element]) -> tuple[list[Element], list[Element], list[Problem]]:
    """Return the sources and the targets of a relation, and which of them are no markables."""
    sources, targets = (list(relation.elements(name)) for name in ("source", "target"))
    unknown = [
        Problem(f"{end.name}: no markable has the m_id {quote(end.attributes.get('m_id', ''))}", end.line)
        for end in (*sources, *targets)
        if end.attributes.get("m_id") not in marked
    ]
    return sources, targets, unknown


def _check_reference(reference: Element, marked: Mapping[str, Element]) -> Iterator[Problem]:
    """Find errors in a relation from mentions to their referent."""
    sources, targets, unknown = _list_ends(reference, marked)
    if not sources or len(targets) != 1:
        found = f"has {pluralize(len(sources), 'source')} and {pluralize(len(targets), 'target')}"
        yield Problem(f"REFERS_TO {found} (expected at least one source and exactly one target)", reference.line)
        return
    yield from unknown
    if not unknown and marked[targets[0].attributes["m_id"]].name == ENTITY:
        for source in sources:
            name = marked[source.attributes["m_id"]].name
            if name != ENTITY_MENTION:
                yield Problem(f"{quote(name)} refers to an ENTITY (expected {ENTITY_MENTION})", source.line)


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


def _find_ends(relation: Element, marked: Mapping[str, Element]) -> tuple[Element, Element]:
    source, target = (marked[next(relation.elements(name)).attributes["m_id"]] for name in ("source", "target"))
    return source, target


def _check_relation(relation: Element, marked: Mapping[str, Element]) -> Iterator[Problem]:
    """Find errors in a participant or a link: its ends, its role or type, and the value of a time."""
    sources, targets, unknown = _list_ends(relation, marked)
    if len(sources) != 1 or len(targets) != 1:
        found = f"has {pluralize(len(sources), 'source')} and {pluralize(len(targets), 'target')}"
        yield Problem(f"{relation.name} {found} (expected exactly one of each)", relation.line)
        return
    yield from unknown
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


ROLES = ("ARG0", "ARG1")
"""The roles in which entities are involved in the events of their timelines, as in PropBank: agent and patient."""

DATES = ("DATE", "TIME")

UNCERTAIN = frozenset({"POSSIBLE", "PROBABLE", "UNCERTAIN"})
CONDITIONAL = frozenset({"COND_IF_CLAUSE", "COND_MAIN_CLAUSE"})
"""Values of `certainty` and `special_cases` of events that may not have happened."""

TIME_OF_DAY = re.compile("([0-9X]{4}-[0-9X]{2}-[0-9X]{2})T.*")


class Place(NamedTuple):
    """Where something stands: a file, empty if there is no folder, and a line."""

    file: str
    line: int


class Mention(NamedTuple):
    """A mention of an event."""

    document: str  # the id of its document
    tokens: Sequence[int]  # the numbers of its tokens
    kind: str  # the kind of event, if TimeLine did not annotate it; empty otherwise


@dataclass
class AnnotatedEvent:
    """An event with everything that documents say of it."""

    mentions: list[Mention] = field(default_factory=list)  # its mentions, in the order of the documents and their texts
    # the names of the entities that take part in it in one of the roles
    entities: dict[str, None] = field(default_factory=dict)
    # the dates that it is anchored to, with the places of the links
    anchors: list[tuple[str, Place]] = field(default_factory=list)

    def choose_anchor(self) -> tuple[str, Place]:
        """Return its most exact anchor: the day before the month, and of those the one with the most components."""
        given = self.anchors or [(UNKNOWN, Place("", 0))]
        return max(given, key=lambda one: (len(date_of(one[0])), len(one[0]) if date_of(one[0]) else 0))


class Built(NamedTuple):
    """Timelines of annotated documents."""

    # the timelines by order of first appearance of their entities, or in the order of the wanted entities
    timelines: list[Record]
    documents: Mapping[str, Record]  # the documents by id
    notices: list[str]  # what was left out, and how often


def build_annotated_timelines(
    path: Path,
    roles: Sequence[str] = ROLES,
    selection: str = "task",
    granularity: str = "merge",
    wanted: Collection[str] | None = None,
) -> Built:
    """Build the timelines of the entities in a CAT file, or in a folder of CAT files."""
    annotations, wrong = read_annotations(path, with_relations=True)
    if wrong:
        raise FormatError(path, wrong)
    events: dict[str, AnnotatedEvent] = defaultdict(AnnotatedEvent)
    ignored: Counter[str] = Counter()
    for one in annotations:
        _add_mentions(one, events)
        _add_relations(one, events, {role.casefold() for role in roles}, ignored)
    problems = [problem for event in events.values() for problem in _check_anchors(event)]
    places = _find_entities(annotations)
    rows = list(_make_rows(events, places if wanted is None else wanted, selection, ignored))
    problems += _check_names(dict.fromkeys(row["entity"] for row in rows) if wanted is None else wanted, places)
    if wanted is not None and not any(name in places for name in wanted):
        found = join_names(list(places)) or "no ENTITY"
        what = f"no ENTITY is named {join_names(list(wanted))} (found: {found})"
        problems.append(Problem(what if wanted else "the list of entities is empty"))
    elif not rows and wanted is None and not problems:
        involved = any(event.entities for event in events.values())
        problems = [Problem(_describe_lack(involved, roles, _list_ignored(ignored)))]
    if problems:
        raise FormatError(path, sorted(problems, key=lambda problem: problem.order))
    documents = {one.record["id"]: one.record for one in annotations}
    timelines = {one["entity"]: one for one in build_timelines(rows, documents, granularity)}
    notices = [f"{path}: left out: {what}" for what in _list_ignored(ignored)]
    notices += [f"{path}: {what}" for what in _describe_instances(annotations)]
    if wanted is not None:
        if absent := [name for name in wanted if name not in places]:
            notices.append(f"{path}: no ENTITY is named {', '.join(map(quote, absent))}")
        empty = {name: {"id": file_stem(name), "entity": name, "entries": []} for name in wanted}
        timelines = {**empty, **timelines}
    return Built(list(timelines.values()), documents, notices)


def _list_ignored(ignored: Counter[str]) -> list[str]:
    return [f"{what} ({number:,})" for what, number in sorted(ignored.items())]


def _describe_lack(involved: bool, roles: Sequence[str], ignored: Sequence[str]) -> str:
    """Return why there are no timelines, and what was left out."""
    asked = " or ".join(roles)
    if involved:
        return f"all events in which an entity has the role {asked} are left out: {', '.join(ignored)}"
    expected = "expected HAS_PARTICIPANTs from events to mentions of ENTITYs"
    found = f"no entity takes part in an event in the role {asked} ({expected})"
    return found + (f"; left out: {', '.join(ignored)}" if ignored else "")


def _describe_instances(annotations: Iterable[Annotation]) -> Iterator[str]:
    """Describe ENTITYs that differ in their names but not in their `instance_id`, or the other way round."""
    marked = [element for one in annotations for element in one.marked.values() if element.name == ENTITY]
    names: dict[str, dict[str, None]] = defaultdict(dict)
    instances: dict[str, dict[str, None]] = defaultdict(dict)
    for element in marked:
        name, instance = element.attributes["TAG_DESCRIPTOR"], element.attributes.get("instance_id")
        if instance:
            names[instance][name] = None
            instances[name][instance] = None
    for instance, of in names.items():
        if len(of) > 1:
            yield f"ENTITYs with the instance_id {quote(instance)} are separate entities: {join_names(list(of))}"
    for name, of in instances.items():
        if len(of) > 1:
            yield f"ENTITYs named {quote(name)} are one entity, with the instance_ids {join_names(list(of))}"


def _find_entities(annotations: Iterable[Annotation]) -> dict[str, Place]:
    """Return the names of all entities, with the places where they are first."""
    entities: dict[str, Place] = {}
    for one in annotations:
        for element in one.marked.values():
            if element.name == ENTITY:
                entities.setdefault(element.attributes["TAG_DESCRIPTOR"], Place(one.file, element.line))
    return entities


def _name_event(one: Annotation, m_id: str) -> str:
    """Return a name for the event that an EVENT is, or that a mention refers to; the same only for the same event."""
    element = one.marked[next(iter(one.referents.get(m_id, ())), m_id)]
    instance = element.attributes.get("instance_id", "")
    return f"instance {instance}" if instance else f"markable {element.attributes['m_id']} of {one.record['id']}"


def _add_mentions(one: Annotation, events: dict[str, AnnotatedEvent]) -> None:
    """Add the mentions of a document to their events, in the order of the text."""
    for mention in sorted(one.record["events"], key=lambda mention: min(mention["tokens"])):
        element = one.marked[mention["id"]]
        referents = [one.marked[m_id].attributes for m_id in one.referents.get(mention["id"], ())]
        kind = _find_kind([element.attributes, *referents])
        events[_name_event(one, mention["id"])].mentions.append(Mention(one.record["id"], mention["tokens"], kind))


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


def _add_relations(one: Annotation, events: dict[str, AnnotatedEvent], roles: set[str], ignored: Counter[str]) -> None:
    """Add the participants and anchors of a document to their events."""
    for relation in one.relations:
        source, target = _find_ends(relation, one.marked)
        if relation.name == PARTICIPANT:
            entities, reason = _find_participants(one, relation, target, roles)
            events[_name_event(one, source.attributes["m_id"])].entities.update(dict.fromkeys(entities))
        else:
            time = find_anchor(relation, source, target)
            anchor, reason = _find_date(relation, time)
            if time is not None and not reason:
                event = source if time is target else target
                place = Place(one.file, relation.line)
                events[_name_event(one, event.attributes["m_id"])].anchors.append((anchor, place))
        if reason:
            ignored[reason] += 1


def _find_participants(
    one: Annotation, relation: Element, target: Element, roles: set[str]
) -> tuple[Sequence[str], str]:
    """Return the names of the entities that a participant is, or why it is left out."""
    role, m_id = relation.attributes["sem_role"], target.attributes["m_id"]
    if role.casefold() not in roles:
        return (), f"participants in the role {quote(role)}"
    names = one.find_entities(m_id)
    return names, "" if names else "participants that refer to no ENTITY"


def _find_date(link: Element, time: Element | None) -> tuple[str, str]:
    """Return the date of the time to which a link anchors an event, or why it is left out."""
    if time is None:
        return "", f"links of the type {quote(get_type(link))}, which anchor no event to a time"
    kind = time.attributes.get("type", DATES[0])
    if kind.upper() not in DATES:
        return "", f"links to times of the type {quote(kind)}"
    return TIME_OF_DAY.sub(r"\1", time.attributes["value"]), ""


def _check_anchors(event: AnnotatedEvent) -> Iterator[Problem]:
    """Find anchors that contradict the most exact one."""
    best, place = event.choose_anchor()
    known: Date = date_of(best)
    for anchor, here in event.anchors:
        date = date_of(anchor)
        if date != known[: len(date)]:
            where = f"line {place.line}" + (f" of {place.file}" if place.file != here.file else "")
            what = f"the event is anchored to {quote(anchor)} (expected {quote(best)}, as on {where}, or less exactly)"
            yield Problem(what, here.line, here.file or None)


def _check_names(entities: Iterable[str], places: Mapping[str, Place]) -> Iterator[Problem]:
    """Find entities whose timelines would have the name of another one's."""
    first: dict[str, str] = {}
    for entity in entities:
        stem = file_stem(entity)
        other = first.setdefault(stem, entity)
        if other != entity:
            what = f"the timelines of {quote(entity)} and {quote(other)} would both be named {quote(stem)}"
            place = places.get(entity)
            yield Problem(what, place.line if place else None, (place.file or None) if place else None)


def _make_rows(
    events: Mapping[str, AnnotatedEvent], entities: Iterable[str], selection: str, ignored: Counter[str]
) -> Iterator[Record]:
    """Yield the mentions of the entities' events by entity, as `closeread.tasks.timeline.building` takes them."""
    involved: dict[str, list[Record]] = {entity: [] for entity in entities}
    for name, event in events.items():
        concerned = [entity for entity in event.entities if entity in involved]
        if concerned and not event.mentions:
            ignored["events without a mention"] += 1
        anchor, _ = event.choose_anchor()
        for mention in event.mentions if concerned else ():
            if selection == "task" and mention.kind:
                ignored[f"mentions of {mention.kind} events"] += 1
                continue
            row = {"document": mention.document, "tokens": list(mention.tokens), "coreference": name}
            for entity in concerned:
                involved[entity].append({"entity": entity, "anchor": anchor, **row})
    for rows in involved.values():
        yield from rows
