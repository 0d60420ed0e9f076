"""`closeread plot`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options

if TYPE_CHECKING:
    from closeread.corpora import Gold
    from closeread.records import Record


@click.group()
def command() -> None:
    """Draw a picture.

    \b
    Example:
      closeread plot possession "The Blue Kettle (painting)" --config sample -o kettle.png
    """


@command.command()
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
    from closeread.errors import RequestError, shortened, unknown
    from closeread.plots.possession import checked_suffix, draw_timeline, write_timeline
    from closeread.scoring import gold_for

    checked_suffix(output)
    options.refuse_overwriting(output, places["gold"], predictions)
    gold = options.noted(gold_for("wikipossessions", **places))
    records = {record["article"]: record for record in gold.records}
    if article not in records:
        raise RequestError(shortened(unknown("article", article, list(records)), 600))
    predicted = None if predictions is None else _predicted(gold, predictions, article)
    possessions = records[article]["possessions"]
    write_timeline(draw_timeline(article, possessions, predicted), output)
    told = f"{len(possessions):,} possessions" + ("" if predicted is None else f", {len(predicted):,} predicted")
    click.echo(f"{output}: {told}")


def _predicted(gold: Gold, predictions: Path, article: str) -> list[Record]:
    """What a file of predictions, which need not have the other articles, says of this one."""
    from closeread.errors import RequestError
    from closeread.procedures import load_procedure
    from closeread.scoring import submission_for

    chosen = load_procedure(gold.corpus.procedure).settle({**gold.corpus.procedure_defaults, "missing": "empty"})
    rows = submission_for(gold, predictions, chosen).rows
    row = next(row for record, row in zip(gold.records, rows, strict=True) if record["article"] == article)
    if row is None:
        raise RequestError(f"{predictions} has no row for article '{article}'")
    possessions: list[Record] = row["possessions"]
    return possessions
