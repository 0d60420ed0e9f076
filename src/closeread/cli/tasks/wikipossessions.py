"""Subcommands for WikiPossessions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands
    from closeread.records import Record


@click.command()
@click.argument("first", type=options.FILE)
@click.argument("second", type=options.FILE)
@click.option(
    "--setting",
    type=click.Choice(["exact", "partial"]),
    default="exact",
    show_default=True,
    help="How to match names: in full, or by a shared word that is not an article or a preposition.",
)
@options.style_options
def agreement(first: Path, second: Path, setting: str, style: Any) -> None:
    """Score the second annotator's possessors and ordered pairs against the first's; add Cohen's kappa of the labels.

    Files are in the corpus's format, JSON Lines or Parquet.

    \b
    Examples:
      closeread agreement wikipossessions anna.csv ben.csv
      closeread agreement wikipossessions anna.jsonl ben.jsonl --setting partial --json
    """
    from closeread.corpora.gold import load_corpus, read_own_gold
    from closeread.counts.rendering import Grid
    from closeread.tasks.wikipossessions.agreement import agreement as measure

    corpus = load_corpus("wikipossessions")

    def read(path: Path) -> Sequence[Record]:
        gold = read_own_gold(corpus, path)
        options.tell(f"{path}: {notice}" for notice in gold.notices)
        return gold.records

    one, two = options.read_all((first, second), read)
    found = measure(one, two, setting, (str(first), str(second)))
    header = ["", "precision", "recall", "same label", "kappa"]
    notes = [f"Labels are compared on the {found.shared:,} possessors that both annotators have."]
    printing.show(
        style,
        value=found.to_json,
        table=lambda: ([*header, "shared"], [[*row, found.shared] for row in found.rows()]),
        grids=lambda: [Grid("", header, [list(map(printing.format_cell, row)) for row in found.rows()], notes)],
    )


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


COMMANDS: Commands = {"agreement": {"wikipossessions": agreement}, "plot": {"possession": plot_possession}}
