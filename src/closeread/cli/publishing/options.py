"""What the subcommands of `closeread publish` share: their options, and how they publish and report a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from closeread.cli import printing
from closeread.cli.options import together
from closeread.exceptions import RequestError, pluralize

if TYPE_CHECKING:
    from closeread.hub.client import Commit, Hub
    from closeread.hub.publishing import Change, Plan


def _check_repository(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Return the name of a repository.

    Raises:
        BadParameter: it is not one.
    """
    from closeread.hub.client import Repository

    try:
        return Repository(value, "dataset").id
    except RequestError as error:
        raise click.BadParameter(f"{error}.", ctx, param) from None


repository = click.argument("repository", metavar="ORG/NAME", callback=_check_repository)

publishing_options = together(
    click.option("--private", is_flag=True, help="Create a private repository; refuse one that is public."),
    click.option("--dry-run", is_flag=True, help="List the files, their sizes and what would change; publish nothing."),
    click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
)


def publish_plan(
    plan: Plan, *, message: str, private: bool, dry_run: bool, as_json: bool, about: Mapping[str, object]
) -> None:
    """Publish a plan, or with `dry_run` only compare it, and print the result.

    Args:
        plan: the plan.
        message: the first line of the commit's message.
        private: whether a new repository is private.
        dry_run: whether to publish nothing.
        as_json: whether to print JSON.
        about: more keys of the JSON.

    Raises:
        RequestError: the Hub refuses it, or can't be reached.
    """
    from closeread.hub.client import Hub
    from closeread.hub.publishing import publish

    hub = Hub()
    if dry_run:
        changes, commit = _try_to_compare(hub, plan), None
    else:
        changes, commit = publish(hub, plan, message=message, private=private)
    if as_json:
        _print_json(plan, changes, commit, dry_run, about)
    else:
        _print_table(plan, changes, commit, dry_run)


def _try_to_compare(hub: Hub, plan: Plan) -> list[Change]:
    """Compare a plan with the repository; if the Hub can't be asked, list its files without saying what changes."""
    from closeread.cli.printing import tell
    from closeread.hub.publishing import Change, compare

    try:
        return compare(hub, plan)
    except RequestError as error:
        tell([f"{plan.repository.id} can't be compared: {error}"])
        return [Change(path, size, "unknown") for path, size in plan.sizes().items()]


def _print_json(
    plan: Plan, changes: Sequence[Change], commit: Commit | None, dry_run: bool, about: Mapping[str, object]
) -> None:
    found = {
        "repository": plan.repository.id,
        "kind": plan.repository.kind,
        "url": plan.repository.url,
        "dry_run": dry_run,
        "files": [{"path": change.path, "size": change.size, "change": change.kind} for change in changes],
        "changed": commit is not None and commit.changed,
        "commit": None if commit is None else {"sha": commit.sha, "url": commit.url},
        **about,
    }
    printing.print_json(found)


def _print_table(plan: Plan, changes: Sequence[Change], commit: Commit | None, dry_run: bool) -> None:
    from closeread.tables import Grid, Whole

    kept = [change for change in changes if change.kind != "deleted"]
    total = f"{pluralize(len(kept), 'file')}, {sum(change.size for change in kept):,} bytes."
    if dry_run:
        ending = "Dry run: nothing was published."
    elif commit is None:
        ending = f"Nothing to publish: {plan.repository.url} has these files already."
    else:
        ending = f"Published: {commit.url}"
    rows = [[change.path, f"{change.size:,}", change.kind] for change in changes]
    title = f"{plan.repository.kind} {plan.repository.id}"
    printing.print_grids([Grid(title, ["file", "bytes", "change"], rows, [total, Whole(ending)])])
