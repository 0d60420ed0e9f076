"""Operations on TimeLine: commands, and functions in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from closeread.parameters import (
    GoldSpec,
    Operations,
    Output,
    Param,
    Read,
    Source,
    Sources,
    Written,
    place_of,
)

if TYPE_CHECKING:
    from closeread.corpus.figures import Drawing
    from closeread.counts.results import Result

CORPUS = "semeval2015_timeline"


def timeline(
    entity: str,
    *,
    place: Annotated[GoldSpec, place_of(CORPUS)],
    predictions: Annotated[Source | None, Param(metavar="FILE")] = None,
) -> Drawing:
    """Draw the events of an entity by date.

    ENTITY is the name of the entity or the id of its timeline.  Mentions are drawn below their anchors, each with its
    position in the timeline; mentions of one event are joined.  With --predictions, mentions are marked as matched,
    matched with another anchor, missed or spurious.

    \b
    Examples:
      closeread plot timeline "Mara Lindqvist" --config sample -o lindqvist.png
      closeread plot timeline airbus --predictions timelines/ -o airbus.svg

    Args:
        entity: its name, or the id of its timeline.
        predictions: Draw a system's predictions for the entity (a folder or a file) below gold.
    """
    from closeread.corpus.figures import Drawing
    from closeread.corpus.gold import read_corpus_gold
    from closeread.corpus.notices import warn_all
    from closeread.corpus.predictions import read_prediction
    from closeread.exceptions import pluralize
    from closeread.tasks.timeline.plots import count_mentions, draw_timeline, find_timeline

    gold = read_corpus_gold(place)
    record = find_timeline(gold.records, entity)
    system = (
        None if predictions is None else read_prediction(gold, predictions, record["id"])["entries"]
    )
    figure = draw_timeline(record["entity"], record["entries"], system)
    warn_all(gold.notices_about(record["id"]))
    drawn = pluralize(count_mentions(record["entries"]), "mention")
    return Drawing(
        figure, drawn + ("" if system is None else f", {count_mentions(system):,} predicted")
    )


def agreement(annotators: Annotated[Sources, Param(metavar="FILES...")]) -> Result:
    """Compute Dice's coefficient of mentions.

    Mentions of events and of entities are compared.  Each file, or folder of files, is an annotator. With more than two
    annotators, the coefficient is computed for every pair and averaged over pairs.

    Documents are files in CAT (.xml), or folders of them, with mentions of events (EVENT_MENTION), mentions of
    entities (ENTITY_MENTION) and entity coreference (REFERS_TO); entities are compared by name.  Timelines are folders
    of timelines, or JSON Lines.

    \b
    Examples:
      closeread agreement timeline anna/ ben/
      closeread agreement timeline anna/ ben/ cem/
      closeread agreement timeline anna/7_Rain.xml ben/7_Rain.xml --json
    """
    from closeread.tasks.timeline.agreement import compare_annotators

    return compare_annotators(annotators)


def convert(source: Source, *, output: Output | None = None) -> Written:
    """Convert timelines, or a CAT or TimeML document.

    Timelines are converted between a folder and JSON Lines (.jsonl), a document between CAT (.xml) and TimeML (.tml).
    Notes list what the other format can't hold.

    \b
    Examples:
      closeread convert timeline TimeLines_Gold_Standard -o timelines.jsonl
      closeread convert timeline timelines.jsonl -o timelines
      closeread convert timeline 7_Rain.xml -o 7_Rain.tml
    """
    from closeread.corpus.gold import read_own_gold
    from closeread.corpus.names import load_corpus
    from closeread.corpus.notices import warn_all
    from closeread.corpus.submissions import write_submission
    from closeread.exceptions import pluralize
    from closeread.files import write_text
    from closeread.tasks.timeline.cat_timeml import convert_document, is_document

    if (
        output is not None
        and isinstance(source.source, Path)
        and is_document(source.source, output)
    ):
        text, notices = convert_document(source.source, output)
        write_text(output, text)
        warn_all(notices)
        return Written(output, "1 document")
    corpus = load_corpus(CORPUS)
    gold = read_own_gold(corpus, source.source, name=source.name)
    if output is not None:
        write_submission(output, gold.records, corpus)
    warn_all(gold.notices)
    return Written(output, pluralize(len(gold.records), "timeline"), gold.records)


def build(
    events: Annotated[Read, Param(metavar="EVENTS")],
    *,
    documents: Annotated[Path | None, Param(metavar="DIR")] = None,
    granularity: Literal["merge", "keep"] = "merge",
    roles: Annotated[Sequence[str], Param(flag="--role", metavar="ROLE")] = (),
    selection: Literal["task", "all"] | None = None,
    entities: Annotated[Path | None, Param(metavar="FILE")] = None,
    output: Output,
) -> Written:
    """Build timelines from annotated events.

    Events are sorted by anchor; those without a date get position 0.  EVENTS are annotated documents, a file of events,
    or a folder of timelines, whose positions are computed again.

    Annotated documents are files in CAT (.xml), or folders of them.  An entity (ENTITY, with its name as
    TAG_DESCRIPTOR) is involved in the events in which one of its mentions has a role (HAS_PARTICIPANT, with sem_role).
    Mentions that refer to one EVENT, or to EVENTs with the same instance_id, are one event.  Its anchor is the value of
    the time (TIMEX3) at which it happens or begins: the target of a TLINK with the relType SIMULTANEOUS, IS_INCLUDED or
    BEGUN_BY, or the source of one with SIMULTANEOUS, INCLUDES or BEGINS.  The released documents have no
    entities, roles or links.

    A file of events is JSON Lines: {"entity": "Ann", "mention": "7-2-flew", "anchor": "2007-03-19", "coreference":
    "flight"}.  Instead of its name, a mention may be given by its token numbers, from 0: "document": "7", "tokens": [4,
    5].  Mentions of an entity with the same "coreference" are one event; a mention without it is an event of its own.
    The anchor may be null.

    Events with the same date share a position; if the day or month is unknown (2007-03-XX, 2007-XX-XX), the event
    comes before the others of its month or year.  Timelines are written to a folder, one file each, or to a JSON Lines
    file (.jsonl).

    \b
    Examples:
      closeread build timeline annotated/ -o timelines
      closeread build timeline annotated/ --entities entities.txt -o timelines
      closeread build timeline annotated/ --granularity keep -o timelines.jsonl
      closeread build timeline events.jsonl -o timelines
      closeread build timeline events.jsonl --documents texts/ -o timelines

    Args:
        documents: Look up tokens in this folder of documents in CAT (.xml).
        granularity: How to treat dates that differ only in their granularity, such as the month 2010-07 and 2010-07-XX,
            a day in it: as the same time, or as two, the month first.
        roles: In annotated documents, include the events in which the entity has this role; may be repeated.
            [default: ARG0 and ARG1]
        selection: In annotated documents, leave out adjectival, cognitive, counter-factual, grammatical and uncertain
            events, as TimeLine did, or include all events.  [default: task]
        entities: In annotated documents, build timelines only for the entities listed in this file, one per line.
    """
    from closeread.corpus.names import load_corpus
    from closeread.corpus.notices import warn_all
    from closeread.corpus.submissions import write_submission
    from closeread.exceptions import RequestError, choose_words, name_option, pluralize
    from closeread.tasks.timeline import building
    from closeread.tasks.timeline.annotated_cat import build_annotated_timelines
    from closeread.tasks.timeline.cat_xml import holds_documents
    from closeread.tasks.timeline.timeline_txt import read_entities

    corpus = load_corpus(CORPUS)
    given = {"roles": roles, "selection": selection, "entities": entities}
    given = {name: value for name, value in given.items() if value}
    texts: Mapping[str, Any] = {}
    if holds_documents(events):
        if documents is not None:
            own = "is for a file of events; these events are in annotated documents"
            raise RequestError(f"{name_option('documents')} {own}")
        wanted = None if entities is None else list(read_entities(entities))
        chosen: dict[str, Any] = {
            name: value for name, value in given.items() if name != "entities"
        }
        timelines, texts, notices = build_annotated_timelines(
            events, granularity=granularity, wanted=wanted, **chosen
        )
        warn_all(notices)
    elif given:
        flags = ", ".join(
            choose_words("--role", "roles=") if name == "roles" else name_option(name)
            for name in given
        )
        raise RequestError(
            f"{flags}: {events} is not annotated documents (expected files in CAT, .xml)"
        )
    else:
        texts = {} if documents is None else building.read_texts(documents, corpus)
        timelines = building.read_timelines(events, corpus, texts, granularity)
    write_submission(output, timelines, corpus)
    warn_all(building.find_oddities(timelines, texts))
    entries = sum(len(timeline["entries"]) for timeline in timelines)
    size = f"{pluralize(len(timelines), 'timeline')} of {entries:,} {'entry' if entries == 1 else 'entries'}"
    return Written(output, size, timelines)


OPERATIONS: Operations = {
    "agreement": {"timeline": agreement},
    "build": {"timeline": build},
    "convert": {"timeline": convert},
    "plot": {"timeline": timeline},
    "timeline": {"build": build},
}
