"""`closeread merge`."""

from __future__ import annotations

from pathlib import Path

import click

from closeread.cli import options
from closeread.cli.notes import tell


@click.command(cls=options.WritingCommand, short_help="Merge the counts of shards.")
@click.argument("counts", type=options.NAMED, nargs=-1, required=True)
@options.output
def command(counts: tuple[Path, ...], output: Path) -> None:
    """Merge the counts of shards, written by `closeread score --counts`.

    Shards are parts of the gold that were scored separately. Units that are resampled together must be in the same
    shard. The result has the same signature as if the whole had been scored at once.

    \b
    Example:
      closeread merge a.parquet b.parquet -o all.parquet
      closeread score --from-counts all.parquet
    """
    from closeread.counts.counted import merge_counts
    from closeread.counts.storage import read_any_counts, write_counts
    from closeread.exceptions import escape, escape_line, pluralize, read_all
    from closeread.tasks import load_procedure

    parts = read_all(counts, lambda path: read_any_counts(path, load_procedure))
    merged = merge_counts(parts, [escape(str(path)) for path in counts])
    write_counts(output, merged)
    tell(merged.notices)
    units = pluralize(len(merged.table.units), merged.procedure.unit)
    click.echo(escape_line(f"{output}: {units} from {pluralize(len(parts), 'file')}"))
