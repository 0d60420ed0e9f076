"""`closeread plot`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options
from closeread.errors import escape

if TYPE_CHECKING:
    from closeread.corpora.gold import Gold
    from closeread.records import Record


@click.group()
def command() -> None:
    """Draw a picture.

    \b
    Examples:
      closeread plot possession "The Blue Kettle (painting)" --config sample -o kettle.png
      closeread plot prepositions --config sample -o prepositions.png
      closeread plot timeline "Mara Lindqvist" --config sample -o lindqvist.png
    """


@command.command(cls=options.WritingCommand)
@click.argument("article")
@options.gold_options
@click.option(
    "--predictions", type=options.FILE, metavar="FILE", help="Draw what a system sent for the article below the gold."
)
@options.output
def possession(article: str, predictions: Path | None, output: Path, **places: Any) -> None:
    """The possession timeline of an article of WikiPossessions, as .png or .svg.

    Possessors stand by order: persons in rectangles, locations in rounded ones, organisations in ovals, with their
    anchors below; what is uncertain is dashed.  A predicted possessor that gold lacks is marked.

    \b
    Examples:
      closeread plot possession "The Blue Kettle (painting)" --config sample -o kettle.png
      closeread plot possession "The Night Café" --predictions mine.jsonl -o cafe.svg
    """
    from closeread.drawing.pictures import checked_suffix, write_picture
    from closeread.errors import RequestError, describe_unknown, shorten
    from closeread.scoring import gold_for
    from closeread.tasks.wikipossessions.plots import draw_timeline

    checked_suffix(output)
    gold = options.tell_notices(gold_for("wikipossessions", **places))
    records = {record["article"]: record for record in gold.records}
    if article not in records:
        raise RequestError(shorten(describe_unknown("article", article, list(records)), 600))
    predicted = None if predictions is None else _predicted(gold, predictions, article)["possessions"]
    possessions = records[article]["possessions"]
    write_picture(draw_timeline(article, possessions, predicted), output)
    told = f"{len(possessions):,} possessions" + ("" if predicted is None else f", {len(predicted):,} predicted")
    click.echo(f"{output}: {told}")


def _predicted(gold: Gold, predictions: Path, name: str) -> Record:
    """What predictions, which need not have the other units, say of the one of this name."""
    from closeread.errors import RequestError
    from closeread.scoring import submission_for
    from closeread.tasks import load_procedure

    key = gold.corpus.key
    chosen = load_procedure(gold.corpus.procedure).resolve_options(
        {**gold.corpus.procedure_defaults, "missing": "empty"}
    )
    rows = submission_for(gold, predictions, chosen).rows
    row = next(row for record, row in zip(gold.records, rows, strict=True) if record[key] == name)
    if row is None:
        raise RequestError(f"{predictions} has no row for {key} '{name}'")
    return row


@command.command(cls=options.WritingCommand)
@click.argument("entity")
@options.gold_options
@click.option(
    "--predictions",
    type=options.FILE,
    metavar="FILE",
    help="Draw what a system sent for the entity, a folder or a file, below the gold.",
)
@options.output
def timeline(entity: str, predictions: Path | None, output: Path, **places: Any) -> None:
    """The events of an entity of TimeLine by date, as .png or .svg.

    Mentions stand below their anchors, each with its position in the timeline; mentions of one event are joined.  With
    predictions it is marked what is matched, with another anchor or not, missed or spurious.  ENTITY is its name or the
    timeline's id.

    \b
    Examples:
      closeread plot timeline "Mara Lindqvist" --config sample -o lindqvist.png
      closeread plot timeline airbus --split corpus_1 --predictions timelines/ -o airbus.svg
    """
    from closeread.drawing.pictures import checked_suffix, write_picture
    from closeread.errors import RequestError, describe_unknown, pluralize, shorten
    from closeread.scoring import gold_for
    from closeread.tasks.timeline.plots import draw_timeline

    checked_suffix(output)
    gold = options.tell_notices(gold_for("semeval2015_timeline", **places))
    records = {record["id"]: record for record in gold.records}
    names = {record["entity"]: record["id"] for record in gold.records}
    name = names.get(entity, entity)
    if name not in records:
        raise RequestError(shorten(describe_unknown("entity", entity, list(names)), 600))
    record = records[name]
    system = None if predictions is None else _predicted(gold, predictions, name)["entries"]
    write_picture(draw_timeline(record["entity"], record["entries"], system), output)
    mentions, predicted = (sum(len(entry["mentions"]) for entry in side) for side in (record["entries"], system or ()))
    told = pluralize(mentions, "mention") + ("" if system is None else f", {predicted:,} predicted")
    click.echo(f"{output}: {told}")


@command.command(cls=options.WritingCommand)
@click.argument("predictions", type=options.FILE)
@options.gold_options
@click.option(
    "--labels",
    type=click.IntRange(1, 24),
    default=10,
    show_default=True,
    help="How many prepositions to show, the commonest of gold.",
)
@click.option(
    "--unlinked",
    type=click.Choice(["shown", "hidden"]),
    default="shown",
    show_default=True,
    help="Whether pairs without a link on one side have a row and a column.",
)
@options.output
def confusion(predictions: Path, labels: int, unlinked: str, output: Path, **places: Any) -> None:
    """Which prepositions of TNE a system takes for which, as .png or .svg (Elazar et al., 2022, Figure 5).

    Cells count pairs of noun phrases; colours are base 2 logarithms.  Of several gold prepositions for a pair the
    predicted one counts if it is among them, else the last.

    \b
    Examples:
      closeread plot confusion mine.jsonl -o confusion.png
      closeread plot confusion mine.jsonl --split validation --unlinked hidden -o confusion.svg
    """
    from closeread.drawing.pictures import checked_suffix, write_picture
    from closeread.errors import RequestError
    from closeread.scoring import gold_for, submission_for
    from closeread.tasks import load_procedure
    from closeread.tasks.tne.plots import NO_LINK, commonest, confusion_counts, draw_confusion

    checked_suffix(output)
    gold = _linked(options.tell_notices(gold_for("tne", **places)))
    settled = load_procedure(gold.corpus.procedure).resolve_options(gold.corpus.procedure_defaults)
    counts = confusion_counts(gold.records, submission_for(gold, predictions, settled).rows)
    shown = commonest(counts, labels)
    if not shown:
        raise RequestError("no document of the gold has a link; there is nothing to draw")
    write_picture(draw_confusion(counts, [*shown, NO_LINK] if unlinked == "shown" else shown), output)
    of_these, linked = int(counts[shown].sum()), int(counts[1:].sum())
    click.echo(escape(f"{output}: {len(shown)} prepositions, with {of_these:,} of {linked:,} gold pairs"))


@command.command(cls=options.WritingCommand)
@options.config
@click.option("--split", "splits", multiple=True, metavar="NAME", help="Split of the corpus; may be repeated.")
@options.gold
@options.data_dir
@options.output
def prepositions(splits: tuple[str, ...], output: Path, **places: Any) -> None:
    """How common each preposition of TNE is among the links, as .png or .svg (Elazar et al., 2022, Figure 4).

    \b
    Examples:
      closeread plot prepositions --split test -o prepositions.png
      closeread plot prepositions --split validation --split test --split ood -o prepositions.svg
    """
    from closeread.drawing.pictures import checked_suffix, write_picture
    from closeread.errors import RequestError
    from closeread.scoring import gold_for
    from closeread.tasks.tne.columns import documents_of
    from closeread.tasks.tne.plots import draw_prepositions, preposition_counts

    checked_suffix(output)
    counts = {}
    for split in dict.fromkeys(splits) or (None,):
        gold = _linked(options.tell_notices(gold_for("tne", split=split, **places)))
        name = gold.split or str(places["gold"])
        counts[name] = preposition_counts(documents_of(gold.records))
        if not counts[name].any():
            raise RequestError(f"no document of {name} has a link; there is nothing to draw")
    write_picture(draw_prepositions(counts), output)
    told = ", ".join(f"{links.sum():,} links of {name}" for name, links in counts.items())
    click.echo(escape(f"{output}: {told}"))


def _linked(gold: Gold) -> Gold:
    """The gold, which has to have its links.

    Raises:
        RequestError: they are withheld.
    """
    from closeread.errors import RequestError
    from closeread.tasks.tne.columns import documents_of

    if None in documents_of(gold.records).column("np_relations"):
        raise RequestError(f"config {gold.config} has no links; name another, or your own gold")
    return gold
