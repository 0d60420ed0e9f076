"""`closeread convert`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options

if TYPE_CHECKING:
    from closeread.records import Record


@click.group()
def command() -> None:
    """Write a file in another format.

    \b
    Example:
      closeread convert tne mine.jsonl --to arrays -o for_the_leaderboard.jsonl
    """


@command.command()
@click.argument("predictions", type=options.FILE)
@click.option(
    "--to",
    "form",
    type=click.Choice(["arrays", "jsonl"]),
    required=True,
    help="The leaderboard's arrays, or JSON Lines of links.",
)
@options.gold_options
@options.output
def tne(predictions: Path, form: str, output: Path, **places: Any) -> None:
    """Predictions for TNE, from JSON Lines to the arrays of the leaderboard or back.

    The file is checked as by `closeread validate`.  An array holds one preposition for every pair of noun phrases and
    no fallbacks; what is lost is said.

    \b
    Examples:
      closeread convert tne mine.jsonl --to arrays --config unlabeled -o for_the_leaderboard.jsonl
      closeread convert tne arrays.jsonl --to jsonl --config sample -o links.jsonl
    """
    from closeread.errors import printable
    from closeread.files import write_text
    from closeread.formats import tne_arrays
    from closeread.formats.json_lines import dump_json_lines
    from closeread.procedures import load_procedure
    from closeread.scoring import gold_for, submission_for

    options.refuse_overwriting(output, places["gold"], predictions)
    gold = options.noted(gold_for("tne", **places))
    settled = load_procedure(gold.corpus.procedure).settle(gold.corpus.procedure_defaults)
    rows = [row for row in submission_for(gold, predictions, {**settled, "missing": "error"}).rows if row is not None]
    if form == "arrays":
        write_text(output, tne_arrays.dump_submission(rows, gold.records))
        options.tell(_lost(rows))
    else:
        write_text(output, dump_json_lines(rows))
    click.echo(printable(f"{output}: {len(rows):,} documents"))


def _lost(rows: Sequence[Record]) -> Iterator[str]:
    """What arrays can't hold of some rows, a sentence a kind."""
    links = sum(len(row["relations"]) for row in rows)
    pairs = sum(len({(link["anchor"], link["complement"]) for link in row["relations"]}) for row in rows)
    if links > pairs:
        why = "of several prepositions for a pair an array holds the first"
        yield f"{links - pairs:,} of {links:,} links are lost: {why}."
    fallbacks = sum(len(row.get("fallback") or ()) for row in rows)
    if fallbacks:
        yield f"{fallbacks:,} fallbacks are lost: an array holds none."
