"""The subcommand that extracts the treebank of the Marmara corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from closeread.cli import options
from closeread.cli.notes import tell
from closeread.exceptions import escape_line

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands


def check_encoding(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Return the name of an encoding.

    Raises:
        BadParameter: there is none of that name.
    """
    from closeread.exceptions import escape
    from closeread.tasks.coref.marmara.fragment_text import AUTO, is_encoding

    if value != AUTO and not is_encoding(value):
        found = f"'{escape(value)}' is not an encoding of text (expected {AUTO}, utf-8, windows-1254 or another)."
        raise click.BadParameter(found, ctx, param)
    return value


@click.command(cls=options.WritingCommand, short_help="Extract the documents of the METU-Sabanci treebank.")
@click.argument("fragments", type=options.NAMED)
@click.option(
    "-o",
    "--output",
    type=options.WRITTEN,
    required=True,
    metavar="DIR",
    help="Write to this folder, which must be new or empty.",
)
@click.option(
    "--encoding",
    default="auto",
    show_default=True,
    callback=check_encoding,
    metavar="NAME",
    help="Read the fragments in this encoding; 'auto' reads UTF-8 where a file is valid UTF-8, else windows-1254.",
)
@click.option(
    "--split",
    "splits",
    multiple=True,
    metavar="SENTENCE",
    help="Begin a new document, ID_2, with this sentence, such as 77000112003.5; may be repeated.",
)
@click.option(
    "--map",
    "map_file",
    type=options.NAMED,
    metavar="FILE",
    help="Name documents by this file, which has a fragment and its document on each line, separated by a tab.",
)
def extract(fragments: Path, output: Path, encoding: str, splits: tuple[str, ...], map_file: Path | None) -> None:
    """Extract the documents of the METU-Sabanci treebank, a well-formed XML file each, for the Marmara corpus.

    FRAGMENTS is the folder with the treebank's .xml files as they are distributed, in windows-1254, each named by its
    document (8 digits) and a number.  Quotation marks, <, > and & inside words are escaped; any other error in a file
    is reported, and then nothing is written.  Notes list odd attributes, which are copied as they are.

    \b
    Examples:
      closeread extract marmara_coref fragments/ -o treebank
      closeread extract marmara_coref fragments/ -o treebank \\
        --split 77000112003.5
      closeread extract marmara_coref fragments/ -o treebank --map documents.tsv
    """
    from closeread.exceptions import describe_problems, pluralize
    from closeread.tasks.coref.marmara import extraction

    documents = None if map_file is None else extraction.read_map(map_file)
    found = extraction.extract(fragments, encoding=encoding, splits=splits, documents=documents)
    tell(describe_problems(str(fragments), found.notices))
    extraction.write_documents(output, found)
    sizes = ((len(found.documents), "document"), (found.n_sentences, "sentence"), (found.n_tokens, "token"))
    click.echo(escape_line(f"{output}: {', '.join(pluralize(number, noun) for number, noun in sizes)}"))


COMMANDS: Commands = {"extract": {"marmara_coref": extract}}
