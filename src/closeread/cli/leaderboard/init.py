"""`closeread leaderboard init`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import names, options
from closeread.cli.options import GroupedCommand
from closeread.cli.printing import hush_libraries
from closeread.exceptions import FormatError, Problem, RequestError, escape_line, quote_json

if TYPE_CHECKING:
    from closeread.leaderboard.declaration import Leaderboard

COUNT = click.IntRange(min=1)


def name_results(store: str) -> str | None:
    """Return the dataset for the results of a store on the Hub; None if the store is a folder.

    >>> name_results("hf://datasets/org/times-submissions"), name_results("board")
    ('org/times-results', None)
    """
    from closeread.leaderboard.results import HUB

    is_on_hub = store.startswith(HUB)
    return f"{store.removeprefix(HUB).rstrip('/').removesuffix('-submissions')}-results" if is_on_hub else None


@click.command(cls=GroupedCommand, short_help="Create a leaderboard, or add a board.")
@click.argument("store")
@click.option("--corpus", type=names.CORPUS, metavar="NAME", help="Rank systems on this corpus.")
@click.option(
    "--procedure", type=names.SCORED, metavar="NAME", help="Rank systems by this procedure, on gold of your own."
)
@click.option("--gold", type=options.NAMED, metavar="FILE", help="Your own gold; it is never copied into the store.")
@options.config
@options.split
@click.option("--title", metavar="TEXT", help="Give the leaderboard this title.")
@click.option(
    "--metrics",
    multiple=True,
    callback=options.split_names,
    metavar="NAMES",
    help="Show these metrics; separate several by commas.",
)
@click.option("--headline", metavar="SCORE", help="Rank by this score, such as 'conll/f1'.")
@click.option("--preset", metavar="NAME", help="Use the options and metrics of an official score.")
@options.chosen
@click.option(
    "--private/--public",
    default=None,
    help="Publish nothing about single units of the gold.  [default: private with your own gold]",
)
@click.option(
    "--per-day", type=COUNT, default=5, show_default=True, help="Judge this many submissions of an author per day."
)
@click.option(
    "--max-bytes", type=COUNT, default=50_000_000, show_default=True, help="Refuse larger files of predictions."
)
@click.option(
    "--counting",
    type=click.Choice(["all", "best", "last"]),
    default="all",
    show_default=True,
    help="Which submissions of an author are ranked.",
)
@click.option("--opens", metavar="TIME", help="Refuse submissions before this date or time, by default in UTC.")
@click.option("--closes", metavar="TIME", help="Refuse submissions after this date or time, by default in UTC.")
@click.option(
    "--dataset", metavar="ORG/NAME", help="Propose results of models for the benchmark of this dataset on the Hub."
)
@click.option(
    "--results", metavar="ORG/NAME", help="Keep results in this dataset on the Hub.  [default: STORE with -results]"
)
@click.option("--replace", is_flag=True, help="Change a board that exists; everything is scored again.")
@hush_libraries
def command(store: str, **values: Any) -> None:
    """Create a leaderboard in STORE, or add a board to it.

    A board ranks systems on a part of a corpus, or on gold of your own, which stays where it is.

    \b
    Examples:
      closeread leaderboard init board --corpus mctaco --split test
      closeread leaderboard init board --procedure coref --gold key.conll
      closeread leaderboard init hf://datasets/ORG/NAME --corpus mctaco
    """
    from closeread.counts.procedure import GoldSpec
    from closeread.leaderboard.declaration import FILE, Leaderboard, Limits, make_board
    from closeread.leaderboard.store import open_store

    scored = values["corpus"] or values["procedure"]
    if scored is None or (values["corpus"] and values["procedure"]):
        raise RequestError("give either --corpus or --procedure")
    gold: Path | None = values["gold"]
    board = make_board(
        scored,
        GoldSpec(None, values["config"], values["split"], gold),
        options={**values["chosen"], **({"preset": values["preset"]} if values["preset"] else {})},
        metrics=values["metrics"] or None,
        headline=values["headline"],
        private=values["private"],
        limits=Limits(bytes=values["max_bytes"], per_day=values["per_day"]),
        counting=values["counting"],
        dataset=values["dataset"],
        opens=values["opens"],
        closes=values["closes"],
    )
    opened = open_store(store)
    results = values["results"] or name_results(store)
    before = opened.find_leaderboard()
    title = values["title"] or (before.title if before else board.title)
    leaderboard = Leaderboard(title, before.boards if before else {}, before.results if before else results)
    leaderboard = leaderboard.with_board(board)
    changes = list_changes(before, leaderboard, board.name) if before else []
    if before and values["results"] not in (None, before.results):
        raise FormatError(f"{store}/{FILE}", [Problem(f"results are in {before.results or store}, and can't be moved")])
    if changes and not values["replace"]:
        found = f"was not changed; use --replace to change it: {'; '.join(changes)}"
        raise FormatError(f"{store}/{FILE}", [Problem(found)])
    if leaderboard == before:
        click.echo(escape_line(f"{store}/{FILE}: nothing changed, it has this board {board.name} already"))
    else:
        opened.write_leaderboard(leaderboard)
        click.echo(escape_line(f"{store}/{FILE}: board {board.name}, ranked by {board.headline}"))
    click.echo(f"Signature: {board.signature}")


def list_changes(before: Leaderboard, after: Leaderboard, name: str) -> list[str]:
    """Say how the title of a leaderboard would change, and a board of it if it is there already."""
    changes = [] if before.title == after.title else [("title", before.title, after.title)]
    if name in before.boards:
        old, new = (asdict(one.boards[name]) for one in (before, after))
        old, new = ({**one.pop("limits"), **one} for one in (old, new))
        changes += [(f"{key} of {name}", old[key], new[key]) for key in old if old[key] != new[key]]
    return [f"{what} is {quote_json(one)}, not {quote_json(other)}" for what, one, other in changes]
