"""`closeread cite`."""

from __future__ import annotations

import click

from closeread.corpora.gold import load_corpus
from closeread.tasks import load_procedure


@click.command(short_help="Print the BibTeX entries of a corpus.")
@click.argument("corpus")
def command(corpus: str) -> None:
    """Print the BibTeX entries of a corpus and of its scoring procedure.

    \b
    Example:
      closeread cite mctaco >> references.bib
    """
    declaration = load_corpus(corpus)
    entries = [declaration.citation, load_procedure(declaration.procedure).citation]
    click.echo("\n\n".join(entry for entry in entries if entry))
