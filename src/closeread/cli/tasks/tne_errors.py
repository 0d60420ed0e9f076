"""Subcommands for the errors of links of TNE."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options
from closeread.cli.prediction_errors import error_options, print_errors
from closeread.cli.procedure_group import ProcedureCommand

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands


@click.command(
    cls=ProcedureCommand,
    procedure="tne",
    procedure_options=("uprep", "missing"),
    short_help="Break down the errors of links.",
)
@click.argument("predictions", type=options.FILE)
@error_options(
    fields="distance, direction, sentence, expressed, mention, preposition, domain, forum",
    default_fields="all but domain and forum",
    limit="List at most this many confusions, triplets and documents; JSON lists all but triplets, CSV all pairs.",
    default_limit=10,
)
def errors(predictions: Path, **values: Any) -> None:
    """Break down the scores of links, and list missing, spurious and confused ones.

    Precision, recall and F1 are those of `closeread score tne --by FIELD`. A pair of noun phrases is missing if only
    gold links it, spurious if only the system does, and confused if both do by different prepositions. CSV has a row
    for each such pair, with the value of every field.

    \b
    distance    tokens from where the anchor begins to where the complement
                does, before or after it: 0 to 5, 6 to 10, 11 to 20, 21 to 50,
                51 to 100, over 100
    direction   the complement begins before the anchor, after it, or at the
                same token
    sentence    both begin in the same sentence or not; sentences end at the
                tokens . ! ? and at line ends
    expressed   explicit if the anchor, a preposition and the complement follow
                each other in the text, otherwise implicit
    mention     the complement is the only mention of its coreference cluster,
                the first, or a further one

    \b
    Examples:
      closeread errors tne mine.jsonl
      closeread errors tne mine.jsonl --by distance,mention --limit 20
      closeread errors tne mine.jsonl --split validation \\
        --format csv > pairs.csv
    """
    print_errors("tne", predictions, values)


@click.command(cls=options.WritingCommand, short_help="Draw a score of links by a field.")
@click.argument("predictions", type=options.FILE, nargs=-1, required=True)
@options.gold_options
@click.option(
    "--by",
    type=click.Choice(["distance", "direction", "sentence", "expressed", "mention", "preposition", "domain", "forum"]),
    default="distance",
    show_default=True,
    help="Draw a group of bars for each value of this field; see `closeread errors tne --help`.",
)
@click.option(
    "--score",
    type=click.Choice(["precision", "recall", "f1"]),
    default="recall",
    show_default=True,
    help="Draw this score.",
)
@options.output
def plot_scores(predictions: tuple[Path, ...], by: str, score: str, output: Path, **places: Any) -> None:
    """Draw a score of links by a field, of one or several systems, with 95% intervals, as .png, .svg or .pdf.

    Light bars behind are those of unlabelled links, and numbers below those of gold links. Systems are called by the
    names of their files.

    \b
    Examples:
      closeread plot link-scores mine.jsonl -o distance.png
      closeread plot link-scores mine.jsonl theirs.jsonl --by mention \\
        --score precision -o mentions.svg
    """
    from closeread.cli.annotators import name_files
    from closeread.cli.pictures import draw
    from closeread.tasks.tne.figures import draw_link_scores

    place = options.take_place("tne", **places)
    draw(output, lambda: draw_link_scores(place, name_files(predictions), by=by, score=score))


COMMANDS: Commands = {"errors": {"tne": errors}, "plot": {"link-scores": plot_scores}}
