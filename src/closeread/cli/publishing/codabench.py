"""`closeread publish codabench`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from closeread.cli import names, options
from closeread.cli.printing import tell
from closeread.exceptions import escape_line


@click.command(
    cls=options.WritingCommand, name="codabench", short_help="Write the bundle of a shared task on Codabench."
)
@click.argument("corpus", type=names.SCORED)
@click.argument("folder", type=options.WRITTEN, metavar="DIR")
@options.config
@options.split
@click.option(
    "--gold",
    type=options.NAMED,
    metavar="FILE",
    help="Use your own gold: a file in the corpus's format, .jsonl or .parquet; for coref and tlinks, the key.",
)
@options.data_dir
@click.option("--title", metavar="TEXT", help="Title of the competition.")
@click.option(
    "--start",
    metavar="DATE",
    help="First moment for submissions, 'YYYY-MM-DD HH:MM:SS' in UTC.  [default: open at once]",
)
@click.option(
    "--end", metavar="DATE", help="Last moment for submissions, 'YYYY-MM-DD HH:MM:SS' in UTC.  [default: none]"
)
@click.option(
    "--per-day", type=click.IntRange(min=1), default=5, show_default=True, help="Submissions per participant and day."
)
@click.option(
    "--max-submissions",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Submissions per participant in all.",
)
@options.chosen
@click.option(
    "--docker-image",
    metavar="NAME",
    help="Score submissions in this image.  [default: Codabench's image with Python 3.12]",
)
@click.option(
    "--wheel",
    "wheels",
    type=options.NAMED,
    multiple=True,
    metavar="FILE",
    help="Add this wheel, of closeread or of a library, to the scoring program; may be repeated.",
)
@click.option("--zip", "archive", is_flag=True, help="Also write the zip file to upload, DIR.zip.")
def command(corpus: str, folder: Path, chosen: dict[str, str], archive: bool, **values: Any) -> None:
    """Write the bundle of a shared task on Codabench: competition.yaml, pages, gold and a scoring program.

    CORPUS is a corpus; or coref or tlinks, with --gold KEY. The gold is part of the bundle, so publish it nowhere:
    upload it, and only the platform reads it.

    \b
    Examples:
      closeread publish codabench mctaco my-task --config sample --zip
      closeread publish codabench coref my-task --gold key.conll \\
        --start '2027-01-10 00:00:00'
    """
    from closeread.counts.procedure import GoldSpec
    from closeread.leaderboard.codabench.bundle import DOCKER_IMAGE, START, Settings, describe_licence, make_bundle

    settings = Settings(
        values["title"],
        values["start"] or START,
        values["end"],
        values["per_day"],
        values["max_submissions"],
        values["docker_image"] or DOCKER_IMAGE,
        values["wheels"],
    )
    place = GoldSpec(None, *(values[name] for name in ("config", "split", "gold", "data_dir")))
    written = make_bundle(corpus, place, folder, settings, options=chosen, archive=archive)
    for path in written:
        click.echo(escape_line(str(path)))
    tell(
        [
            f"{folder / 'reference_data'} is the gold: upload the bundle, but publish it nowhere.",
            *describe_licence(corpus, place),
            f"submissions are scored in {settings.docker_image}; {folder / 'README.md'} says which libraries it needs.",
        ]
    )
