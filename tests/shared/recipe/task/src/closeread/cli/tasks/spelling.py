"""Subcommands for spelling."""

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
    """Convert misspelt words with their corrections to JSON Lines.

    \b
    Example:
      closeread convert spelling words.txt -o words.jsonl
    """
    from closeread.corpus.gold import read_file
    from closeread.corpus.names import load_corpus
    from closeread.exceptions import escape_line, pluralize
    from closeread.files import write_text
    from closeread.formats.json_lines import dump_json_lines

    corpus = load_corpus("shipwords")
    records = read_file(corpus, source, corpus.default_split)
    write_text(output, dump_json_lines(records))
    click.echo(escape_line(f"{output}: {pluralize(len(records), 'word')}"))


COMMANDS: Commands = {"convert": {"spelling": convert}}
