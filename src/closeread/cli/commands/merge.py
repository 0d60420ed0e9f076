"""`closeread merge`."""

from __future__ import annotations

from pathlib import Path

import click

from closeread.cli import options
from closeread.cli.printing import tell


@click.command(cls=options.WritingCommand, short_help="Merge the counts of shards.")
@click.argument("counts", type=options.NAMED, nargs=-1, required=True)
@click.option("--expect", type=options.FILE, metavar="GOLD", help="Check that every unit of this gold was counted.")
@options.output
def command(counts: tuple[Path, ...], expect: Path | None, output: Path) -> None:
    """Merge the counts of shards, written by `closeread score --counts`.

    Shards are parts of the gold that were scored separately. The result has the same scores, intervals and signature as
    if the whole had been scored at once.

    \b
    Example:
      closeread merge a.parquet b.parquet -o all.parquet --expect gold.jsonl
      closeread score --from-counts all.parquet
    """
    from closeread.exceptions import escape_line, pluralize
    from closeread.operations.counting import merge_parts

    merged = merge_parts(counts, expect)
    merged.save(output)
    tell(merged.notices)
    units = pluralize(len(merged), merged.procedure.unit)
    click.echo(escape_line(f"{output}: {units} from {pluralize(len(counts), 'file')}"))
