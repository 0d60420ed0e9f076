"""Subcommands for the errors of labels of McTaco."""

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
    procedure="mctaco",
    procedure_options=("missing",),
    short_help="Break down the errors of labels.",
)
@click.argument("predictions", type=options.FILE)
@error_options(
    fields="category, unit, question_size, gold_yes",
    default_fields="all",
    limit="List at most this many questions in tables; JSON and CSV list all.",
    default_limit=5,
)
def errors(predictions: Path, **values: Any) -> None:
    """Break down the scores of labels, and list the questions with the most errors.

    A candidate is falsely yes if only the system labels it yes, and falsely no if only gold does. CSV has a row for
    each wrong candidate, with the value of every field.

    \b
    category       the category of the question, as in
                   `closeread score mctaco --by category`
    unit           the unit of time that an answer names, from second to
                   century; several or none. For a unit, exact match and F1
                   consider only the candidates that name it
    question_size  how many candidates the question has: 1 to 4, 5 to 8,
                   9 to 12, over 12
    gold_yes       the share of the question's candidates that gold labels yes:
                   none, up to 25%, up to 50%, up to 75%, over 75%, all

    \b
    Examples:
      closeread errors mctaco mine.jsonl
      closeread errors mctaco mine.txt --by category,unit --limit 20
      closeread errors mctaco mine.jsonl --split validation \\
        --format csv > wrong.csv
    """
    print_errors("mctaco", predictions, values)


@click.command(cls=options.WritingCommand, short_help="Draw a score of labels by a field.")
@click.argument("predictions", type=options.FILE, nargs=-1, required=True)
@options.gold_options
@click.option(
    "--by",
    type=click.Choice(["category", "unit", "question_size", "gold_yes"]),
    default="unit",
    show_default=True,
    help="Draw a group of bars for each value of this field; see `closeread errors mctaco --help`.",
)
@click.option(
    "--score",
    type=click.Choice(["accuracy", "exact_match", "f1"]),
    default="accuracy",
    show_default=True,
    help="Draw this score.",
)
@options.output
def plot_scores(predictions: tuple[Path, ...], by: str, score: str, output: Path, **places: Any) -> None:
    """Draw a score of labels by a field, of one or several systems, with 95% intervals, as .png, .svg or .pdf.

    Numbers below are those of candidates, or of questions for exact match and F1. Systems are called by the names of
    their files.

    \b
    Examples:
      closeread plot label-scores mine.jsonl -o unit.png
      closeread plot label-scores mine.jsonl theirs.txt --by question_size \\
        --score exact_match -o sizes.svg
    """
    from closeread.cli.annotators import name_files
    from closeread.cli.pictures import draw
    from closeread.tasks.mctaco.figures import draw_label_scores

    place = options.take_place("mctaco", **places)
    draw(output, lambda: draw_label_scores(place, name_files(predictions), by=by, score=score))


COMMANDS: Commands = {"errors": {"mctaco": errors}, "plot": {"label-scores": plot_scores}}
