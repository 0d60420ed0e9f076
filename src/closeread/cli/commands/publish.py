"""`closeread publish`."""

from __future__ import annotations

import click

from closeread.cli.printing import QuietGroup
from closeread.cli.publishing import codabench, dataset, leaderboard, metric


@click.group(
    cls=QuietGroup, name="publish", short_help="Publish a corpus, a metric or a leaderboard on the Hugging Face Hub."
)
def command() -> None:
    """Publish a corpus, a metric or a leaderboard on the Hugging Face Hub.

    Everything goes in one commit, so that nothing is published by halves, and publishing twice changes nothing. The
    token is read from HF_TOKEN, or is the one that `hf auth login` saved. For Codabench, a bundle is written to upload.

    \b
    Examples:
      closeread publish dataset tne my-org/tne --dry-run
      closeread publish metric coref_lea my-org/coref_lea
      closeread publish leaderboard my-board my-org/my-board
      closeread publish codabench mctaco my-task --config sample --zip
    """


for module in (codabench, dataset, leaderboard, metric):
    command.add_command(module.command)
