"""`closeread schema`."""

from __future__ import annotations

import click

from closeread.cli import names, printing
from closeread.cli.help_groups import GroupedCommand


@click.command(cls=GroupedCommand, short_help="Print the JSON Schema of a corpus.")
@names.corpus
@click.option("--submission", is_flag=True, help="Print the schema of a submission line instead of a gold record.")
@click.option("--config", metavar="NAME", help="Print the schema of the records of this config.")
def command(corpus: str, submission: bool, config: str | None) -> None:
    """Print the JSON Schema (2020-12) of a corpus's gold records, or of submissions: of one line of JSON Lines.

    \b
    Examples:
      closeread schema tne
      closeread schema tne --submission > submission.schema.json
    """
    from closeread.corpus.gold import select
    from closeread.corpus.names import load_corpus
    from closeread.corpus.schema import extract_definition, load_schema

    declared = load_corpus(corpus)
    if submission and config is not None:
        raise click.UsageError("--submission can't be combined with --config: all configs have the same submissions")
    definition = declared.configs[select(declared, config, None)[0]].definition
    found = extract_definition(load_schema(declared.name), "submission" if submission else definition)
    printing.print_json(found)
