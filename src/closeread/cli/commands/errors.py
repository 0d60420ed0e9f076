"""`closeread errors`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing

if TYPE_CHECKING:
    from closeread.tasks.coref.error_analysis import CorefError, Mention


@click.group()
def command() -> None:
    """Show what went wrong, beyond a number.

    \b
    Example:
      closeread errors coref key.conll response.conll
    """


@command.command()
@options.key
@options.response
@click.option(
    "--matching",
    type=click.Choice(["exact", "head", "partial"]),
    default="exact",
    show_default=True,
    help="Which mentions are the same.",
)
@click.option(
    "--duplicates",
    type=click.Choice(["error", "first"]),
    default="error",
    show_default=True,
    help="What a mention in several entities of a side is: an error, or in its first entity only.",
)
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="List errors of this kind only; may be repeated.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="How many errors of a kind to list; JSON and CSV hold all.",
)
@options.style_options
def coref(key: Path, response: Path, duplicates: str, kinds: tuple[str, ...], limit: int, **values: Any) -> None:
    """Entities that are split, merged, missing or spurious, and mentions that are missing or spurious.

    \b
    Examples:
      closeread errors coref key.conll response.conll
      closeread errors coref key.conll response.conll --kind "split entity" --limit 50
      closeread errors coref key.conll response.conll --format csv > errors.csv
    """
    from dataclasses import asdict

    from closeread.counts.rendering import Grid
    from closeread.counts.sides import Place
    from closeread.errors import RequestError, describe_unknown
    from closeread.scoring import open_scorer
    from closeread.tasks.coref.error_analysis import KINDS, find_errors
    from closeread.tasks.coref.matching import match_sides, table_of, without_repeats

    for kind in kinds:
        if kind not in KINDS:
            raise RequestError(describe_unknown("kind of error", kind, list(KINDS)))
    scorer = open_scorer("coref", Place(gold=key), {"matching": values["matching"], "duplicates": duplicates})
    own, other = (without_repeats(table_of(side)) for side in (scorer.gold.records, scorer.read(response).rows))
    found = find_errors(own, other, match_sides(own, other, matching=values["matching"]))
    listed = [error for error in found.errors if not kinds or error.kind in kinds]
    header = ["error", "document", "entity", "mentions"]
    counts = [[kind, f"{n:,}"] for kind, n in found.counts.items()]
    rows = [_row(error) for kind in KINDS for error in [e for e in listed if e.kind == kind][:limit]]
    left = len(listed) - len(rows)
    notes = ["A bar parts what the other side has in different entities, or lacks."]
    notes += [f"{left:,} more: see --limit, --json and --format csv."] if left else []
    printing.show(
        values["style"],
        value=lambda: {"counts": found.counts, "errors": [asdict(error) for error in listed]},
        table=lambda: (header, [_row(error) for error in listed]),
        grids=lambda: [Grid("", ["", "number"], counts), *([Grid("", header, rows, notes)] if rows else [])],
    )


def _row(error: CorefError) -> list[str]:
    pieces = (", ".join(map(_shown, piece)) for piece in error.pieces)
    return [error.kind, error.document, error.entity, " | ".join(pieces)]


def _shown(mention: Mention) -> str:
    from closeread.errors import shorten

    place = f"{mention.start}-{mention.end}"
    return place if mention.text is None else f"{shorten(mention.text, 60)} [{place}]"
