"""`closeread export`."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

import click

from closeread.cli import options
from closeread.errors import printable


@click.command()
@click.argument("corpus")
@click.argument("folder", type=options.FILE)
@click.option("--config", "configs", multiple=True, metavar="NAME", help="Config to write; all of them by default.")
@options.data_dir
def command(corpus: str, folder: Path, configs: tuple[str, ...], data_dir: Path | None) -> None:
    """Write a corpus as a dataset repository: Parquet and a card, to be read by `datasets` without closeread.

    \b
    Examples:
      closeread export mctaco my-mctaco
      python -c "import datasets; print(datasets.load_dataset('./my-mctaco'))"
    """
    import warnings

    from closeread.hf.export import export, hide_progress_in_pipes

    hide_progress_in_pipes()
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _note
        written = export(corpus, folder, configs=configs or None, data_dir=data_dir)
    for path in written:
        click.echo(path)


def _note(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """As `warnings.showwarning`, in the words of the other commands."""
    click.echo(f"note: {printable(str(message))}", err=True)
