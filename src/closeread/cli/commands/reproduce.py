"""`closeread reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from closeread.cli import options, printing


@click.command(cls=options.CorpusCommand, short_help="Recompute the tables of a corpus's paper.")
@click.argument("corpus")
@click.argument("table", required=False)
@options.data_dir
@click.option(
    "--upstream",
    type=options.NAMED,
    metavar="DIR",
    help="Read the authors' released predictions from this checkout of their repository.",
)
@click.option(
    "--annotations",
    type=options.NAMED,
    metavar="DIR",
    help="Read annotators' files from this folder, DOCUMENT/ANNOTATOR.",
)
@options.style_options
def command(
    corpus: str, table: str | None, upstream: Path | None, annotations: Path | None, style: Any, **files: Any
) -> None:
    """Recompute the tables of a corpus's paper and print published and recomputed values side by side.

    \b
    Examples:
      closeread reproduce mctaco
      closeread reproduce mctaco 2 --upstream MCTACO
      closeread reproduce marmara_coref 1 --annotations annotations
    """
    from dataclasses import asdict

    from closeread.corpora.gold import data_notices, load_corpus
    from closeread.corpora.reproduction import Inputs, reproduce
    from closeread.counts.rendering import reproduction_grid

    declaration = load_corpus(corpus)
    data_dir = options.take_files(files)
    options.tell(data_notices(declaration, declaration.default_config, data_dir))
    tables = reproduce(corpus, table, Inputs(data_dir, upstream, annotations))
    header = ["table", "row", "column", "printed", "recomputed", "agrees", "note"]
    rows = [[t.name, c.row, c.column, c.printed, c.recomputed, c.agrees, c.why] for t in tables for c in t.cells]
    printing.show(
        style,
        value=lambda: [asdict(table) for table in tables],
        table=lambda: (header, rows),
        grids=lambda: map(reproduction_grid, tables),
    )
