"""Subcommands for coreference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from closeread.cli import options

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands


@click.command(cls=options.WritingCommand)
@click.argument("source", type=options.FILE)
@options.output
def convert(source: Path, output: Path) -> None:
    """Convert coreference annotation to CoNLL (.conll), CorefUD (.conllu) or JSON Lines (.jsonl).

    The suffix of the output file decides its format.  Mentions and entities are kept, and so are heads and words if
    both formats have them; sentences and all other annotation are lost.

    \b
    Examples:
      closeread convert coref key.conllu -o key.conll
      closeread convert coref response.conll -o response.jsonl
    """
    from closeread.errors import escape, pluralize
    from closeread.tasks.coref.sides import read_documents, write_documents

    documents = read_documents(source)
    write_documents(documents, output)
    click.echo(escape(f"{output}: {pluralize(len(documents), 'document')}"))


COMMANDS: Commands = {"convert": {"coref": convert}}
