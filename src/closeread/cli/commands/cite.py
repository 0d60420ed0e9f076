"""`closeread cite`."""

from __future__ import annotations

import click

from closeread.cli.completion import complete_cited
from closeread.cli.options import GroupedCommand


@click.command(cls=GroupedCommand, short_help="Print the BibTeX entries of corpora and metrics.")
@click.argument("names", nargs=-1, metavar="[CORPUS|METRIC|PRESET|OPTION|closeread]...", shell_complete=complete_cited)
def command(names: tuple[str, ...]) -> None:
    """Print the BibTeX entries of corpora, metrics, presets, options and closeread itself.

    Each entry is printed once. A corpus comes with the papers of the score that its systems are ranked by; a metric is
    named as in --metrics or in evaluate.load. Presets, and options that come from a paper, are named as in `closeread
    score`. Without a name, print how to cite closeread.

    \b
    Examples:
      closeread cite mctaco closeread >> references.bib
      closeread cite muc b3 ceafe lea
      closeread cite corefud blanc-edge
    """
    from closeread.corpus.citing import cite

    click.echo(cite(*names))
