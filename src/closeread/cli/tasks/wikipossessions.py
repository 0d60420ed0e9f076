"""Subcommands for WikiPossessions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands


@click.command(cls=options.WritingCommand)
@click.argument("article")
@options.gold_options
@click.option(
    "--predictions", type=options.FILE, metavar="FILE", help="Draw a system's predictions for the article below gold."
)
@options.output
def plot_possession(article: str, predictions: Path | None, output: Path, **places: Any) -> None:
    """Draw the possession timeline of a WikiPossessions article as .png or .svg.

    Possessors are drawn in order, with their anchors below: persons as rectangles, locations as rounded rectangles,
    organisations as ovals.  Dashed lines mean uncertain.  Predicted possessors that are not in gold are marked.

    \b
    Examples:
      closeread plot possession "The Blue Kettle (painting)" --config sample -o kettle.png
      closeread plot possession "The Night Café" --predictions mine.jsonl -o cafe.svg
    """
    from closeread.cli.predictions import read_prediction
    from closeread.drawing.pictures import check_suffix, write_picture
    from closeread.errors import escape, pluralize
    from closeread.tasks.wikipossessions.plots import draw_timeline, find_article

    check_suffix(output)
    gold = options.read_gold("wikipossessions", **places)
    possessions = find_article(gold.records, article)["possessions"]
    predicted = None if predictions is None else read_prediction(gold, predictions, article)["possessions"]
    write_picture(draw_timeline(article, possessions, predicted), output)
    drawn = pluralize(len(possessions), "possession") + ("" if predicted is None else f", {len(predicted):,} predicted")
    click.echo(escape(f"{output}: {drawn}"))


COMMANDS: Commands = {"plot": {"possession": plot_possession}}
