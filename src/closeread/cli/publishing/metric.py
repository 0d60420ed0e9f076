"""`closeread publish metric`."""

from __future__ import annotations

import click

from closeread.cli import completion
from closeread.cli.options import GroupedCommand
from closeread.cli.printing import hush_libraries
from closeread.cli.publishing.options import publish_plan, publishing_options, repository


@click.command(cls=GroupedCommand, name="metric", short_help="Publish a metric as a static Space.")
@click.argument("name", shell_complete=completion.complete_modules)
@repository
@publishing_options
@hush_libraries
def command(name: str, repository: str, private: bool, dry_run: bool, as_json: bool) -> None:
    """Publish a metric as a static Space, which is free, for evaluate.load("ORG/NAME").

    The Space shows the metric card. It contains no arithmetic: who loads the metric needs closeread.

    \b
    Examples:
      closeread publish metric coref_lea my-org/coref_lea --dry-run
      python -c "import evaluate; print(evaluate.load('my-org/coref_lea'))"
    """
    from closeread.hf.modules import class_name, find_module
    from closeread.hub.client import Repository
    from closeread.hub.publishing import Plan
    from closeread.hub.spaces import metric_files
    from closeread.packages import package_folder

    name = find_module(name)
    folder = package_folder(f"closeread.evaluate_modules.{name}")
    files = metric_files(
        name,
        class_name(name),
        (folder / "README.md").read_text("utf-8"),
        (folder / "requirements.txt").read_bytes(),
        repository,
    )
    publish_plan(
        Plan(Repository(repository, "space"), files),
        message=f"Publish {name} with closeread",
        private=private,
        dry_run=dry_run,
        as_json=as_json,
        about={},
    )
