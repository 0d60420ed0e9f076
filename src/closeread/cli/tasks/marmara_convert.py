"""Subcommands that convert files of the Marmara corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from closeread.cli import options
from closeread.cli.annotators import name_file
from closeread.cli.notes import tell

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands
    from closeread.corpus.conversions import Converted

treebank = click.option(
    "--treebank", type=options.NAMED, metavar="DIR", help="Read the METU-Sabanci Turkish Treebank from this folder."
)
place = options.together(options.data_dir, treebank)
anything = click.option(
    "-o",
    "--output",
    type=options.WRITTEN,
    required=True,
    metavar="PATH",
    help="Write to this file (.conll, .jsonl or .xml) or to this new folder of coreference files.",
)


@click.command(cls=options.WritingCommand, short_help="Convert the coreference of Marmara.")
@click.argument("source", type=options.NAMED)
@anything
@place
def convert(source: Path, output: Path, data_dir: Path | None, treebank: Path | None) -> None:
    """Convert the coreference of Marmara between XML, CoNLL (.conll) and JSON Lines (.jsonl).

    SOURCE is a coreference file, a folder of coreference files, a CoNLL file, or a file of records (.jsonl).  An output
    without a suffix is a folder with one coreference file for each document.  CoNLL has four columns: sentence number,
    word number, form and chains.  Spans, chains and words are checked against the treebank and kept; documents of CoNLL
    get its names.  Notes say what is renamed or lost.

    \b
    Examples:
      closeread convert marmara_coref coreference -o marmara.conll
      closeread convert marmara_coref coreference/00016112.xml \\
        --treebank treebank -o 00016112.conll
      closeread convert marmara_coref marmara.conll -o new_coreference
    """
    from closeread.tasks.coref.marmara import conversions

    _report(output, conversions.convert(name_file(source), output, data_dir=data_dir, treebank=treebank))


@click.command(cls=options.WritingCommand, short_help="Write all mentions of Marmara as CoNLL.")
@click.argument("source", type=options.NAMED)
@options.output
@place
def convert_given(source: Path, output: Path, data_dir: Path | None, treebank: Path | None) -> None:
    """Write all mentions of Marmara documents as CoNLL, each mention a chain of its own, as annotators get them.

    SOURCE is a coreference file, a folder of coreference files, a CoNLL file, or a file of records (.jsonl).  Mentions
    are numbered from 1 in each document, by their start, then the longer first.

    \b
    Examples:
      closeread convert given coreference/00016112.xml -o given.conll
      closeread convert given coreference -o given.conll --treebank treebank
    """
    from closeread.tasks.coref.marmara import conversions

    _report(output, conversions.convert_given(name_file(source), output, data_dir=data_dir, treebank=treebank))


@click.command(cls=options.WritingCommand, short_help="Convert equalities of mentions to chains.")
@click.argument("file", type=options.NAMED)
@click.option(
    "--given",
    type=options.NAMED,
    required=True,
    metavar="FILE",
    help="The mentions that the annotator was given: CoNLL, every mention a chain of its own.",
)
@options.output
def convert_equalities(file: Path, given: Path, output: Path) -> None:
    """Convert an annotation in equalities, such as 1 = 4 = 17, to chains: CoNLL (.conll) or JSON Lines (.jsonl).

    FILE has two or more ids of given mentions a line; lines that share an id join.  Lines that begin with # are
    comments.  Given mentions that no line names are in no chain, and are listed.

    \b
    Examples:
      closeread convert equalities anna.txt --given given.conll -o anna.conll
    """
    from closeread.tasks.coref.marmara import conversions

    _report(output, conversions.convert_equalities(name_file(file), output, given=given))


def _report(output: Path, converted: Converted) -> None:
    """Print what is converted, and notes about it."""
    from closeread.exceptions import escape_line

    tell(converted.notices)
    click.echo(escape_line(f"{output}: {converted.summary}"))


COMMANDS: Commands = {
    "convert": {"marmara_coref": convert, "given": convert_given, "equalities": convert_equalities},
}
