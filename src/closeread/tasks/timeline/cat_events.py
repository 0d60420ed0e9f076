"""Build timelines from annotated documents in CAT XML: who takes part in which event, in which role, and when.

Source: Minard et al. (2015), section 3.

Conventions: documents are as in `closeread.tasks.timeline.cat_relations`.  Mentions that refer to EVENTs with the same
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

from closeread.exceptions import FormatError, Problem, join_names, quote
from closeread.formats.xml_tree import Element
from closeread.records import Record
from closeread.tasks.timeline.building import UNKNOWN, Date, build_timelines, date_of
from closeread.tasks.timeline.cat_entities import ENTITY
from closeread.tasks.timeline.cat_entities import MENTION as ENTITY_MENTION
from closeread.tasks.timeline.cat_relations import PARTICIPANT, Annotation, find_anchor, get_type, read_annotations
from closeread.tasks.timeline.timeline_mentions import file_stem

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
    """A mention of an event.

    Attributes:
        document: the id of its document.
        tokens: the numbers of its tokens.
        kind: the kind of event, if TimeLine did not annotate it; empty otherwise.
    """

    document: str
    tokens: Sequence[int]
    kind: str


@dataclass
class AnnotatedEvent:
    """An event with everything that documents say of it.

    Attributes:
        mentions: its mentions, in the order of the documents and their texts.
        entities: the names of the entities that take part in it in one of the roles.
        anchors: the dates that it is anchored to, with the places of the links.
    """

    mentions: list[Mention] = field(default_factory=list)
    entities: dict[str, None] = field(default_factory=dict)
    anchors: list[tuple[str, Place]] = field(default_factory=list)

    def choose_anchor(self) -> tuple[str, Place]:
        """Return its most exact anchor: the day before the month, and of those the one with the most components."""
        given = self.anchors or [(UNKNOWN, Place("", 0))]
        return max(given, key=lambda one: (len(date_of(one[0])), len(one[0]) if date_of(one[0]) else 0))


class Built(NamedTuple):
    """Timelines of annotated documents.

    Attributes:
        timelines: the timelines by order of first appearance of their entities, or in the order of the wanted entities.
        documents: the documents by id.
        notices: what was left out, and how often.
    """

    timelines: list[Record]
    documents: Mapping[str, Record]
    notices: list[str]


def build_annotated_timelines(
    path: Path,
    roles: Sequence[str] = ROLES,
    selection: str = "task",
    granularity: str = "merge",
    wanted: Collection[str] | None = None,
) -> Built:
    """Build the timelines of the entities in a CAT file, or in a folder of CAT files.

    Args:
        path: the file or folder.
        roles: the roles of participants; upper and lower case are the same.
        selection: "task" leaves out the events that TimeLine did not annotate, as far as attributes tell: adjectival,
            cognitive, counter-factual, grammatical and uncertain ones; "all" keeps them.
        granularity: one of `closeread.tasks.timeline.building.GRANULARITIES`.
        wanted: the names of the entities, each of which gets a timeline, even if empty; None for all that take part in
            an event.

    Raises:
        FormatError: a file is invalid, an event has contradictory anchors, two timelines would have the same name, or
            there are none; all problems at once.
    """
    annotations = read_annotations(path)
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
    """Return why there are no timelines, and what was left out.

    Args:
        involved: whether any entity has one of the roles.
        roles: the roles.
        ignored: what was left out.
    """
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
        source, target = one.ends(relation)
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
    referents = one.referents.get(m_id, ()) if target.name == ENTITY_MENTION else (m_id,)
    named = [one.marked[other] for other in referents]
    names = [element.attributes["TAG_DESCRIPTOR"] for element in named if element.name == ENTITY]
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
