"""Subcommands that convert files of the Marmara corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from closeread.cli import options
from closeread.cli.notes import tell

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands
    from closeread.tasks.coref.marmara.converting import Source

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
    from closeread.errors import escape, pluralize
    from closeread.tasks.coref.marmara.converting import find_losses, write_source

    found = _read(source, data_dir, treebank)
    write_source(found, output)
    tell(f"lost: {what}." for what in find_losses(found, output))
    click.echo(escape(f"{output}: {pluralize(len(found.documents), 'document')}"))


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
    from closeread.errors import RequestError, escape, pluralize
    from closeread.files import write_text
    from closeread.tasks.coref.marmara.converting import dump_given

    if output.suffix.lower() != ".conll":
        raise RequestError(f"cannot write {output}: the suffix is '{output.suffix}' (expected .conll)")
    found = _read(source, data_dir, treebank)
    try:
        text = dump_given(found)
    except ValueError as error:
        raise RequestError(f"cannot write {output}: {error}") from None
    write_text(output, text)
    mentions = sum(len(document["mentions"]) for document in found.documents)
    size = f"{pluralize(len(found.documents), 'document')}, {pluralize(mentions, 'mention')}"
    click.echo(escape(f"{output}: {size}"))


def _read(source: Path, data_dir: Path | None, treebank: Path | None) -> Source:
    """Read documents and print what is odd about them."""
    from closeread.tasks.coref.marmara.converting import locate_treebank, read_source

    found = read_source(source, lambda: locate_treebank(data_dir, treebank))
    tell(found.notices)
    return found


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
    from closeread.errors import SHOWN, RequestError, escape, pluralize
    from closeread.files import write_text
    from closeread.tasks.coref.marmara.equalities import describe_unused, dump_annotation, read_equalities, read_given

    mentions = read_given(given)
    annotation = read_equalities(file, mentions)
    try:
        text = dump_annotation(annotation, mentions, output.suffix.lower())
    except ValueError as error:
        raise RequestError(f"cannot write {output}: {error}") from None
    write_text(output, text)
    tell(describe_unused(annotation, mentions, SHOWN))
    used = sum(map(len, annotation.chains))
    size = f"{pluralize(len(annotation.chains), 'chain')}, {pluralize(used, 'mention')}"
    click.echo(escape(f"{output}: {size}"))


COMMANDS: Commands = {
    "convert": {"marmara_coref": convert, "given": convert_given, "equalities": convert_equalities},
}
