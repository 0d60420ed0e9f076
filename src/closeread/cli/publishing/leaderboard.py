"""`closeread publish leaderboard`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from closeread.cli.options import GroupedCommand
from closeread.cli.printing import hush_libraries
from closeread.cli.publishing.options import publish_plan, publishing_options, repository


@click.command(cls=GroupedCommand, name="leaderboard", short_help="Publish a leaderboard as a static Space.")
@click.argument("store")
@repository
@publishing_options
@hush_libraries
def command(store: str, repository: str, private: bool, dry_run: bool, as_json: bool) -> None:
    """Publish a leaderboard as a static Space, which is free: its page, and its results as JSON and CSV.

    STORE is a folder or a dataset of the Hub, hf://datasets/ORG/NAME. Publish again whenever it has been judged.

    \b
    Example:
      closeread publish leaderboard my-board my-org/my-board --dry-run
    """
    from closeread.hub.client import Repository
    from closeread.hub.publishing import Plan
    from closeread.hub.spaces import leaderboard_files
    from closeread.leaderboard.canonical import write_json
    from closeread.leaderboard.page import render_page
    from closeread.leaderboard.results import HUB
    from closeread.leaderboard.store import open_store
    from closeread.leaderboard.tables import csv

    opened = open_store(store)
    index = opened.read_index()
    datasets = [store.removeprefix(HUB).strip("/"), opened.read_leaderboard().results] if store.startswith(HUB) else []
    files = leaderboard_files(
        index,
        board=write_json(index),
        page=render_page(index).encode(),
        table=csv(index).encode(),
        datasets=[name for name in datasets if name],
        languages=_find_languages(index),
    )
    publish_plan(
        Plan(Repository(repository, "space"), files),
        message="Publish the leaderboard with closeread",
        private=private,
        dry_run=dry_run,
        as_json=as_json,
        about={},
    )


def _find_languages(index: Mapping[str, Any]) -> list[str]:
    """Return the languages of the corpora of a leaderboard, sorted."""
    from closeread.corpus.names import load_corpus

    return sorted({load_corpus(board["corpus"]).language for board in index["boards"] if board["corpus"]})
