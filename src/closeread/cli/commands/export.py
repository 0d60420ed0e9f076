"""`closeread export`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from closeread.cli import options
from closeread.cli.notes import tell, warnings_as_notes


@click.command(cls=options.CorpusCommand, short_help="Export a corpus as a dataset repository.")
@click.argument("corpus")
@click.argument("folder", type=options.NAMED)
@click.option(
    "--config", "configs", multiple=True, metavar="NAME", help="Export this config; may be repeated.  [default: all]"
)
@options.data_dir
def command(corpus: str, folder: Path, configs: tuple[str, ...], **files: Any) -> None:
    """Export a corpus as a dataset repository (Parquet and a dataset card) that `datasets` loads without closeread.

    \b
    Examples:
      closeread export mctaco my-mctaco
      python -c "import datasets; print(datasets.load_dataset('./my-mctaco'))"
    """
    from closeread.corpora.gold import load_corpus
    from closeread.hf.export import export, hide_progress_in_pipes

    hide_progress_in_pipes()
    with warnings_as_notes():
        written = export(corpus, folder, configs=configs or None, data_dir=options.take_files(files))
    declared = load_corpus(corpus)
    if declared.redistribution and not all(declared.configs[name].is_bundled for name in configs or declared.configs):
        tell([f"{declared.title} may not be redistributed ({declared.redistribution}): keep the export private."])
    for path in written:
        click.echo(path)
