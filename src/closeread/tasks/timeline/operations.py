"""Operations on TimeLine: commands, and functions in Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from closeread.corpus.figures import Drawing
from closeread.corpus.names import load_corpus
from closeread.corpus.notices import warn_all
from closeread.exceptions import pluralize
from closeread.parameters import (
    GoldSource,
    Operations,
    Output,
    Param,
    Read,
    Source,
    Sources,
    Written,
)

if TYPE_CHECKING:
    from closeread.counts.results import Result

CORPUS = "semeval2015_timeline"


def timeline(
    entity: str,
    *,
    place: Annotated[GoldSource, Param(corpus=CORPUS)],
    predictions: Annotated[Source | None, Param(metavar="FILE")] = None,
) -> Drawing:
    """Draw the events of an entity by date.

    ENTITY is the name of the entity or the id of its timeline.  Each mention has a row, in the order of the timeline.
    Partial dates are drawn in the middle of the days that they may mean.

    \b
    Examples:
      closeread plot timeline "Mara Lindqvist" --config sample -o lindqvist.png
      closeread plot timeline airbus --predictions timelines/ -o airbus.svg

    Args:
        entity: its name, or the id of its timeline.
        predictions: Draw a system's predictions for the entity, too (a folder or a file).
    """
    from closeread.corpus.gold import read_corpus_gold
    from closeread.corpus.predictions import read_prediction
    from closeread.tasks.timeline.plots import draw_timeline, find_timeline
    from closeread.tasks.timeline.timeline_mentions import list_texts

    gold = read_corpus_gold(place)
    record = find_timeline(gold.records, entity)
    system = None
    if predictions is not None:
        system = read_prediction(gold, predictions, record["id"])["entries"]
    figure = draw_timeline(record["entity"], record["entries"], system)
    warn_all(gold.notices_about(record["id"]))
    size = pluralize(len(list_texts(record["entries"])), "mention")
    if system is not None:
        size += f", {len(list_texts(system)):,} predicted"
    return Drawing(figure, size)


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
    """Convert timelines between a folder and JSON Lines (.jsonl).

    \b
    Examples:
      closeread convert timeline TimeLines_Gold_Standard -o timelines.jsonl
      closeread convert timeline timelines.jsonl -o timelines
    """
    from closeread.corpus.gold import read_own_gold
    from closeread.corpus.submissions import write_submission

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
    output: Output,
) -> Written:
    """Build timelines from annotated events.

    Events are sorted by anchor; those without a date get position 0.  EVENTS is a file of events, or a folder of
    timelines, whose positions are computed again.

    A file of events is JSON Lines: {"entity": "Ann", "mention": "7-2-flew", "anchor": "2007-03-19", "coreference":
    "flight"}.  Instead of its name, a mention may be given by its token numbers, from 0: "document": "7", "tokens": [4,
    5].  Mentions of an entity with the same "coreference" are one event; a mention without it is an event of its own.
    The anchor may be null.

    Events with the same date share a position; if the day or month is unknown (2007-03-XX, 2007-XX-XX), the event
    comes before the others of its month or year.  Timelines are written to a folder, one file each, or to a JSON Lines
    file (.jsonl).

    \b
    Examples:
      closeread prepare semeval2015_timeline gold events.jsonl -o timelines
      closeread prepare semeval2015_timeline gold events.jsonl \\
        --documents texts/ -o timelines
      closeread prepare semeval2015_timeline gold timelines/ \\
        --granularity keep -o anew.jsonl

    Args:
        documents: Look up tokens in this folder of documents in CAT (.xml).
        granularity: How to treat dates that differ only in their granularity, such as the month 2010-07 and 2010-07-XX,
            a day in it: as the same time, or as two, the month first.
    """
    from closeread.corpus.submissions import write_submission
    from closeread.tasks.timeline import building

    corpus = load_corpus(CORPUS)
    texts = {} if documents is None else building.read_texts(documents, corpus)
    timelines = building.read_timelines(events, corpus, texts, granularity)
    write_submission(output, timelines, corpus)
    warn_all(building.find_oddities(timelines, texts))
    entries = sum(len(timeline["entries"]) for timeline in timelines)
    noun = "entry" if entries == 1 else "entries"
    size = f"{pluralize(len(timelines), 'timeline')} of {entries:,} {noun}"
    return Written(output, size, timelines)


OPERATIONS: Operations = {
    "agreement": {"timeline": agreement},
    "convert": {"timeline": convert},
    "plot": {"timeline": timeline},
    "prepare semeval2015_timeline": {"gold": build},
}
