"""`closeread list`."""

from __future__ import annotations

import click

from closeread.corpora import corpus_names, load_corpus


@click.command()
def command() -> None:
    """Show corpora, their procedures and their evaluate modules.

    \b
    Example:
      closeread list
    """
    from closeread.render import Grid, draw

    corpora = [load_corpus(name) for name in corpus_names()]
    rows = [[c.name, c.title, ", ".join(c.configs), c.procedure, ", ".join(c.modules), c.licence] for c in corpora]
    header = ["corpus", "title", "configs", "procedure", "modules", "licence"]
    click.echo(draw(Grid("", header, rows), "table"), nl=False)
