"""`closeread reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from closeread.cli import options


@click.command()
@click.argument("corpus")
@click.argument("table", required=False)
@options.data_dir
@click.option(
    "--upstream",
    type=options.FILE,
    metavar="DIR",
    help="Checkout of the authors' repository, for the predictions that they released.",
)
@options.style_options
def command(corpus: str, table: str | None, data_dir: Path | None, upstream: Path | None, style: Any) -> None:
    """Recompute the tables of a corpus's paper and print both values side by side.

    \b
    Examples:
      closeread reproduce mctaco
      closeread reproduce mctaco 2 --upstream MCTACO
    """
    import json
    from dataclasses import asdict

    from closeread.corpora import data_notices, load_corpus
    from closeread.errors import printable
    from closeread.render import csv_text, draw, reproduction_grid
    from closeread.reproduction import Inputs, reproduce

    declaration = load_corpus(corpus)
    for notice in data_notices(declaration, declaration.default_config, data_dir):
        click.echo(f"note: {printable(notice)}", err=True)
    tables = reproduce(corpus, table, Inputs(data_dir, upstream))
    if style == "json":
        click.echo(json.dumps([asdict(t) for t in tables], indent=2, ensure_ascii=False, allow_nan=False))
    elif style == "csv":
        header = ["table", "row", "column", "printed", "recomputed", "agrees", "note"]
        rows = [[t.name, c.row, c.column, c.printed, c.recomputed, c.agrees, c.why] for t in tables for c in t.cells]
        click.echo(csv_text(header, rows), nl=False)
    else:
        click.echo("\n".join(draw(reproduction_grid(t), style) for t in tables), nl=False)
