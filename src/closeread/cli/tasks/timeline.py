"""Subcommands for TimeLine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options
from closeread.cli.notes import tell
from closeread.exceptions import escape_line

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands
    from closeread.tasks.timeline.cat_events import Built

CORPUS = "semeval2015_timeline"


@click.command(cls=options.WritingCommand, short_help="Build timelines from annotated events.")
@click.argument("events", type=options.FILE)
@click.option(
    "--documents", type=options.NAMED, metavar="DIR", help="Look up tokens in this folder of documents in CAT (.xml)."
)
@click.option(
    "--granularity",
    type=click.Choice(["merge", "keep"]),
    default="merge",
    show_default=True,
    help="How to treat dates that differ only in their granularity, such as the month 2010-07 and 2010-07-XX, a day in "
    "it: as the same time, or as two, the month first.",
)
@click.option(
    "--role",
    "roles",
    multiple=True,
    metavar="ROLE",
    help="In annotated documents, include the events in which the entity has this role; may be repeated.  "
    "[default: ARG0 and ARG1]",
)
@click.option(
    "--selection",
    type=click.Choice(["task", "all"]),
    help="In annotated documents, leave out adjectival, cognitive, counter-factual, grammatical and uncertain events, "
    "as TimeLine did, or include all events.  [default: task]",
)
@click.option(
    "--entities",
    type=options.NAMED,
    metavar="FILE",
    help="In annotated documents, build timelines only of the entities listed in this file, one per line.",
)
@options.output
def build(events: Path, documents: Path | None, granularity: str, output: Path, **annotated: Any) -> None:
    """Build timelines from annotated events, sorted by anchor; events without a date get position 0.

    EVENTS are annotated documents, a file of events, or a folder of timelines, whose positions are computed again.

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
    """
    from closeread.corpus.names import load_corpus
    from closeread.corpus.submissions import write_submission
    from closeread.exceptions import RequestError, escape_line, pluralize
    from closeread.tasks.timeline import building
    from closeread.tasks.timeline.cat_xml import holds_documents

    corpus = load_corpus(CORPUS)
    given = {name: value for name, value in annotated.items() if value}
    if holds_documents(events):
        if documents is not None:
            raise RequestError("--documents is for a file of events; these events are in annotated documents")
        timelines, texts, notices = _build_annotated(events, granularity, **given)
        tell(notices)
    elif given:
        flags = ", ".join(f"--{name.removesuffix('s') if name == 'roles' else name}" for name in given)
        raise RequestError(f"{flags}: {events} is not annotated documents (expected files in CAT, .xml)")
    else:
        texts = {} if documents is None else building.read_texts(documents, corpus)
        timelines = building.read_timelines(events, corpus, texts, granularity)
    write_submission(output, timelines, corpus)
    tell(building.find_oddities(timelines, texts))
    entries = sum(len(timeline["entries"]) for timeline in timelines)
    size = f"{pluralize(len(timelines), 'timeline')} of {entries:,} {'entry' if entries == 1 else 'entries'}"
    click.echo(escape_line(f"{output}: {size}"))


def _build_annotated(path: Path, granularity: str, **given: Any) -> Built:
    """Build the timelines of annotated documents, with the options that were given."""
    from closeread.tasks.timeline.cat_events import build_annotated_timelines
    from closeread.tasks.timeline.timeline_txt import read_entities

    wanted = list(read_entities(given.pop("entities"))) if "entities" in given else None
    return build_annotated_timelines(path, granularity=granularity, wanted=wanted, **given)


@click.command(cls=options.WritingCommand, short_help="Convert timelines, or a CAT or TimeML document.")
@click.argument("source", type=options.FILE)
@options.output
def convert(source: Path, output: Path) -> None:
    """Convert timelines between a folder and JSON Lines (.jsonl), or a document between CAT (.xml) and TimeML (.tml).

    Notes list what the other format can't hold.

    \b
    Examples:
      closeread convert timeline TimeLines_Gold_Standard -o timelines.jsonl
      closeread convert timeline timelines.jsonl -o timelines
      closeread convert timeline 7_Rain.xml -o 7_Rain.tml
    """
    from closeread.cli.annotators import name_files
    from closeread.tasks.timeline import conversions

    converted = conversions.convert(name_files([source])[0], output)
    tell(converted.notices)
    click.echo(escape_line(f"{output}: {converted.summary}"))


@click.command(cls=options.WritingCommand, short_help="Draw the events of an entity by date.")
@click.argument("entity")
@options.gold_options
@click.option(
    "--predictions",
    type=options.FILE,
    metavar="FILE",
    help="Draw a system's predictions for the entity (a folder or a file) below gold.",
)
@options.output
def plot_timeline(entity: str, predictions: Path | None, output: Path, **places: Any) -> None:
    """Draw the events of an entity of TimeLine by date, as .png, .svg or .pdf.

    ENTITY is the name of the entity or the id of its timeline.  Mentions are drawn below their anchors, each with its
    position in the timeline; mentions of one event are joined.  With --predictions, mentions are marked as matched,
    matched with another anchor, missed or spurious.

    \b
    Examples:
      closeread plot timeline "Mara Lindqvist" --config sample -o lindqvist.png
      closeread plot timeline airbus --predictions timelines/ -o airbus.svg
    """
    from closeread.cli.annotators import name_files
    from closeread.cli.pictures import draw
    from closeread.tasks.timeline.figures import draw_timeline

    place = options.take_place(CORPUS, **places)
    system = None if predictions is None else name_files([predictions])[0]
    draw(output, lambda: draw_timeline(place, entity, predictions=system))


@click.command(cls=options.WritingCommand, short_help="Draw the relations of a timeline.")
@click.argument("entity")
@options.gold_options
@click.option(
    "--track",
    type=click.Choice(["full", "ordering"]),
    default="full",
    show_default=True,
    help="Draw mentions and anchors (full), or only mentions (ordering).",
)
@click.option(
    "--positions", metavar="RANGE", help="Draw only the events at these positions of the timeline, such as 2-5."
)
@options.output
def plot_relations(entity: str, track: str, positions: str | None, output: Path, **places: Any) -> None:
    """Draw the explicit and entailed relations of a timeline (Minard et al., 2015, Figure 2) as .png, .svg or .pdf.

    ENTITY is the name of the entity or the id of its timeline.  Arrows mean BEFORE, lines without arrowheads
    SIMULTANEOUS.  Explicit relations are solid: those of mentions to their anchors, and to the next mention; thin ones
    follow from others, dash-dotted ones contradict others.  Entailed relations, which follow from the explicit ones,
    are dashed.  With --gold, the timelines may also be those of a system.

    \b
    Examples:
      closeread plot timeline-relations aurelia --config sample -o aurelia.svg
      closeread plot timeline-relations airbus --positions 1-5 -o airbus.png
    """
    from closeread.cli.pictures import draw
    from closeread.tasks.timeline.figures import draw_relations

    place = options.take_place(CORPUS, **places)
    draw(output, lambda: draw_relations(place, entity, track=track, positions=positions))


COMMANDS: Commands = {
    "build": {"timeline": build},
    "convert": {"timeline": convert},
    "plot": {"timeline": plot_timeline, "timeline-relations": plot_relations},
    "timeline": {"build": build},
}
