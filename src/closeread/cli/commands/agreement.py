"""`closeread agreement`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from closeread.cli import options


@click.group()
def command() -> None:
    """Measure how far two annotators agree.

    \b
    Example:
      closeread agreement wikipossessions anna.csv ben.csv
    """


@command.command()
@click.argument("first", type=options.FILE)
@click.argument("second", type=options.FILE)
@click.option(
    "--setting",
    type=click.Choice(["exact", "partial"]),
    default="exact",
    show_default=True,
    help="How names match: wholly, or in a word that is no article or preposition.",
)
@options.style_options
def wikipossessions(first: Path, second: Path, setting: str, style: Any) -> None:
    """Possessors and ordered pairs of the second annotator against the first's, and Cohen's kappa of the labels.

    Files are in the corpus's format, JSON Lines or Parquet.

    \b
    Examples:
      closeread agreement wikipossessions anna.csv ben.csv
      closeread agreement wikipossessions anna.jsonl ben.jsonl --setting partial --json
    """
    import json
    import math
    from dataclasses import asdict

    from closeread.agreement.possession import agreement
    from closeread.corpora import load_corpus, read_own_gold
    from closeread.render import NOTHING, Grid, draw

    corpus = load_corpus("wikipossessions")
    sides = [options.noted(read_own_gold(corpus, path)).records for path in (first, second)]
    found = agreement(sides[0], sides[1], setting)
    if style == "json":
        plain = {
            name: {k: None if math.isnan(v) else v for k, v in values.items()} if isinstance(values, dict) else values
            for name, values in asdict(found).items()
        }
        click.echo(json.dumps(plain, indent=2, allow_nan=False))
        return

    def shown(value: float) -> str:
        return NOTHING if math.isnan(value) else f"{value:.3f}"

    rows = [[name, shown(found.precision[name]), shown(found.recall[name]), "", ""] for name in found.precision]
    rows += [[name, "", "", f"{found.same[name]:,}", shown(found.kappa[name])] for name in found.kappa]
    notes = [f"Labels are compared where both have the possessor: {found.shared:,} times."]
    click.echo(draw(Grid("", ["", "precision", "recall", "same label", "kappa"], rows, notes), style), nl=False)
