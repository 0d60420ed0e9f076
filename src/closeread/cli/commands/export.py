"""`closeread export`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from closeread.cli import names, options
from closeread.cli.notes import hush_libraries, tell, warnings_as_notes
from closeread.exceptions import escape_line


@click.command(cls=options.CorpusCommand, short_help="Export a corpus as a dataset repository.")
@names.corpus
@click.argument("folder", type=options.WRITTEN)
@click.option(
    "--config", "configs", multiple=True, metavar="NAME", help="Export this config; may be repeated.  [default: all]"
)
@options.data_dir
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["parquet", "jsonl", "csv"]),
    default="parquet",
    show_default=True,
    help="How to write the rows; csv takes flat configs only, and has no types: read ids and order as text, and words "
    "such as NA as they are.",
)
@hush_libraries
def command(corpus: str, folder: Path, configs: tuple[str, ...], file_format: str, **files: Any) -> None:
    """Export a corpus as a dataset repository (rows and a dataset card) that `datasets` loads without closeread.

    The config `flat` has a row for each annotation (a possession, a link, an answer, a mention), for data frames and
    SQL.  Splits and configs without files are left out.

    \b
    Examples:
      closeread export mctaco my-mctaco
      closeread export wikipossessions tables --config sample_flat --format csv
      python -c "import datasets; print(datasets.load_dataset('./my-mctaco'))"
    """
    from closeread.corpus.names import load_corpus
    from closeread.hf.export import export, hiding_progress_in_pipes

    with hiding_progress_in_pipes(), warnings_as_notes():
        written = export(
            corpus, folder, configs=configs or None, data_dir=options.take_files(files), format=file_format
        )
    declared = load_corpus(corpus)
    exported = {path.relative_to(folder).parts[0] for path in written} & declared.configs.keys()
    if declared.redistribution and not all(declared.configs[name].is_bundled for name in exported):
        tell([f"{declared.title} may not be redistributed ({declared.redistribution}): keep the export private."])
    for path in written:
        click.echo(escape_line(str(path)))
