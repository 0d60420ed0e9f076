"""`closeread list`."""

from __future__ import annotations

import click

from closeread.corpora.gold import corpus_names, load_corpus


@click.command(short_help="List corpora, scoring procedures and evaluate modules.")
def command() -> None:
    """List corpora, their scoring procedures and their evaluate modules.

    \b
    Example:
      closeread list
    """
    from closeread.counts.rendering import NOTHING, Grid, draw
    from closeread.tasks import load_procedure, procedure_names

    corpora = [load_corpus(name) for name in corpus_names()]
    procedures = {name: load_procedure(name) for name in procedure_names()}
    rows = [
        [c.name, c.title, ", ".join(c.configs), c.procedure, ", ".join(procedures[c.procedure].modules), c.licence]
        for c in corpora
    ]
    scored = {c.procedure for c in corpora}
    with_own_gold = [p for name, p in procedures.items() if p.sides.key_first or name not in scored]
    rows += [[NOTHING, p.title, "", p.name, ", ".join(p.modules), ""] for p in with_own_gold]
    header = ["corpus", "title", "configs", "procedure", "modules", "licence"]
    click.echo(draw(Grid("", header, rows), "table"), nl=False)
