"""Subcommands for TimeLine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands

CORPUS = "semeval2015_timeline"


@click.command(cls=options.WritingCommand)
@click.argument("events", type=options.FILE)
@click.option(
    "--documents", type=options.NAMED, metavar="DIR", help="Look up tokens in this folder of documents in CAT (.xml)."
)
@options.output
def build(events: Path, documents: Path | None, output: Path) -> None:
    """Build timelines from annotated events, sorted by anchor; events without a date get position 0.

    Events are JSON Lines: {"entity": "Ann", "mention": "7-2-flew", "anchor": "2007-03-19", "coreference": "flight"}.
    Instead of its name, a mention may be given by its token numbers, from 0: "document": "7", "tokens": [4, 5].
    Mentions of an entity with the same "coreference" are one event; a mention without it is an event of its own.  The
    anchor may be null.  If EVENTS is a folder of timelines, their positions are computed again.

    Events with the same date share a position; if the day or month is unknown (2007-03-XX, 2007-XX-XX), the event
    comes before the others of its month or year.  Timelines are written to a folder, one file each, or to a JSON Lines
    file (.jsonl).

    \b
    Examples:
      closeread build timeline events.jsonl -o timelines
      closeread build timeline events.jsonl --documents corpus_trackB_CAT -o timelines.jsonl
      closeread timeline build events.jsonl -o timelines    # the same command
    """
    from closeread.corpora.gold import load_corpus
    from closeread.corpora.submissions import write_submission
    from closeread.errors import escape, pluralize
    from closeread.tasks.timeline import building

    corpus = load_corpus(CORPUS)
    texts = {} if documents is None else building.read_texts(documents, corpus)
    timelines = building.read_timelines(events, corpus, texts)
    write_submission(output, timelines, corpus)
    options.tell(building.find_oddities(timelines, texts))
    entries = sum(len(timeline["entries"]) for timeline in timelines)
    size = f"{pluralize(len(timelines), 'timeline')} of {entries:,} {'entry' if entries == 1 else 'entries'}"
    click.echo(escape(f"{output}: {size}"))


@click.command(cls=options.WritingCommand)
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
    from closeread.corpora.gold import load_corpus, read_own_gold
    from closeread.corpora.submissions import write_submission
    from closeread.errors import escape, pluralize
    from closeread.files import write_text
    from closeread.tasks.timeline.cat_timeml import convert_document, is_document

    if is_document(source, output):
        converted = convert_document(source, output)
        options.tell(converted.notices)
        write_text(output, converted.text)
        options.tell(f"lost: {what}." for what in converted.lost)
        click.echo(escape(f"{output}: 1 document"))
    else:
        corpus = load_corpus(CORPUS)
        gold = read_own_gold(corpus, source)
        options.tell(gold.notices)
        write_submission(output, gold.records, corpus)
        click.echo(escape(f"{output}: {pluralize(len(gold.records), 'timeline')}"))


@click.command(cls=options.WritingCommand)
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
    """Draw the events of an entity of TimeLine by date, as .png or .svg.

    ENTITY is the name of the entity or the id of its timeline.  Mentions are drawn below their anchors, each with its
    position in the timeline; mentions of one event are joined.  With --predictions, mentions are marked as matched,
    matched with another anchor, missed or spurious.

    \b
    Examples:
      closeread plot timeline "Mara Lindqvist" --config sample -o lindqvist.png
      closeread plot timeline airbus --split corpus_1 --predictions timelines/ -o airbus.svg
    """
    from closeread.cli.predictions import read_prediction
    from closeread.drawing.pictures import check_suffix, write_picture
    from closeread.errors import escape, pluralize
    from closeread.tasks.timeline.plot_events import count_mentions, find_timeline
    from closeread.tasks.timeline.plots import draw_timeline

    check_suffix(output)
    gold = options.read_gold(CORPUS, **places)
    record = find_timeline(gold.records, entity)
    system = None if predictions is None else read_prediction(gold, predictions, record["id"])["entries"]
    write_picture(draw_timeline(record["entity"], record["entries"], system), output)
    drawn = pluralize(count_mentions(record["entries"]), "mention")
    drawn += "" if system is None else f", {count_mentions(system):,} predicted"
    click.echo(escape(f"{output}: {drawn}"))


COMMANDS: Commands = {
    "build": {"timeline": build},
    "convert": {"timeline": convert},
    "plot": {"timeline": plot_timeline},
    "timeline": {"build": build},
}
