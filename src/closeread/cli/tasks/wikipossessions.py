"""Subcommands for WikiPossessions."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options
from closeread.cli.notes import tell
from closeread.cli.printing import track

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands


@click.command(cls=options.WritingCommand, short_help="Draw the possession timeline of an article.")
@click.argument("article")
@options.gold_options
@click.option(
    "--predictions", type=options.FILE, metavar="FILE", help="Draw a system's predictions for the article below gold."
)
@options.output
def plot_possession(article: str, predictions: Path | None, output: Path, **places: Any) -> None:
    """Draw the possession timeline of a WikiPossessions article as .png, .svg or .pdf.

    Possessors are drawn in order, with their anchors below: persons as rectangles, locations as rounded rectangles,
    organisations as ovals.  Dashed lines mean uncertain.  Predicted possessors that are not in gold are marked.

    \b
    Examples:
      closeread plot possession "The Blue Kettle (painting)" --config sample \\
        -o kettle.png
      closeread plot possession "The Night Café" --predictions mine.jsonl \\
        -o cafe.svg
    """
    from closeread.cli.annotators import name_files
    from closeread.cli.pictures import draw
    from closeread.tasks.wikipossessions.figures import draw_article

    place = options.take_place("wikipossessions", **places)
    system = None if predictions is None else name_files([predictions])[0]
    draw(output, lambda: draw_article(place, article, predictions=system))


@click.command(cls=options.WritingCommand, short_help="Fetch the texts of articles from Wikipedia.")
@click.argument("folder", type=options.WRITTEN)
@click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d"]),
    required=True,
    metavar="DATE",
    help="Fetch the last revision of this day (UTC) of each article; the corpus was downloaded on 2017-06-12.",
)
@options.gold_options
@click.option("--api", metavar="URL", help="Use this MediaWiki API.  [default: English Wikipedia's]")
@click.option(
    "--contact",
    default="",
    metavar="TEXT",
    help="Your e-mail address or web page, sent with each request, as Wikimedia asks.",
)
@click.option(
    "--delay",
    type=options.NumberRange(min=0, max=3600),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="Wait at least this long between two requests.",
)
def articles(folder: Path, as_of: datetime, api: str | None, contact: str, delay: float, **places: Any) -> None:
    """Fetch the texts of the articles from Wikipedia into FOLDER, as <title>.txt.

    Texts are plain, with headings as `== History ==`.  The file manifest.jsonl in FOLDER lists their revisions and
    digests.  Articles that are already there are not fetched again, so that the same command continues an interrupted
    one.  Moved articles are found under their new titles.

    \b
    Examples:
      closeread articles wikipossessions texts --as-of 2017-06-12 \\
        --contact me@example.org
      closeread articles wikipossessions more --gold mine.csv --as-of 2017-06-12
    """
    from closeread.exceptions import RequestError, escape_line, pluralize
    from closeread.tasks.wikipossessions.articles import fetch_articles
    from closeread.tasks.wikipossessions.mediawiki import WIKIPEDIA, Wiki

    if as_of.date() >= datetime.now(UTC).date():
        raise RequestError(f"--as-of is {as_of:%Y-%m-%d} (expected a day that is over)")
    titles = [record["article"] for record in options.read_gold("wikipossessions", **places).records]
    with closing(Wiki(WIKIPEDIA if api is None else api, delay, contact)) as wiki:
        found = fetch_articles(
            titles, folder, as_of.date(), wiki, lambda missing: track(missing, "Fetching", len(missing))
        )
    tell(found.notes)
    there = len(found.rows) - found.new
    click.echo(escape_line(f"{folder}: {pluralize(found.new, 'article')} fetched, {there:,} already there"))


COMMANDS: Commands = {
    "articles": {"wikipossessions": articles},
    "plot": {"possession": plot_possession},
}
