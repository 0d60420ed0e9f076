"""Subcommands that draw annotators' chains beside gold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from closeread.cli import options
from closeread.cli.annotators import name_file, name_files

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands


@click.command(cls=options.WritingCommand, short_help="Draw how many annotators draw each link.")
@click.argument("gold", type=options.FILE)
@options.files
@options.output
def link_support(gold: Path, files: tuple[Path, ...], output: Path) -> None:
    """Draw how many annotators draw each coreference link, as .png, .svg or .pdf (Schüller et al., 2018, Figure 7).

    A link is a pair of mentions that some annotator has in one chain.  Bars count links by the percentage of the
    document's annotators who draw them; links whose mentions are in one gold chain are apart.  Each file, or folder of
    files, is an annotator, in any format that `closeread score coref` reads.

    \b
    Examples:
      closeread plot link-support gold.conll anna.conll ben.conll cleo.conll \\
        -o support.png
      closeread plot link-support gold/ annotations/*.conll -o support.svg
    """
    from closeread.cli.pictures import draw
    from closeread.tasks.coref.figures import draw_link_support

    draw(output, lambda: draw_link_support(name_file(gold), name_files(files)))


@click.command(cls=options.WritingCommand, short_help="Draw the kinds of mistaken chains.")
@click.argument("gold", type=options.FILE)
@options.files
@options.output
def mistakes(gold: Path, files: tuple[Path, ...], output: Path) -> None:
    """Draw the kinds of mistaken chains of annotators or systems, as .png, .svg or .pdf
    (Schüller et al., 2018, Figure 8).

    The kinds are those of `closeread errors chains`.  Two more panels show how many mentions chains lack, and how many
    they have from other gold chains.

    \b
    Examples:
      closeread plot mistakes gold.conll anna.conll ben.conll cleo.conll \\
        -o mistakes.png
      closeread plot mistakes gold.conll response.conll -o mistakes.svg
    """
    from closeread.cli.pictures import draw
    from closeread.tasks.coref.figures import draw_mistakes

    draw(output, lambda: draw_mistakes(name_file(gold), name_files(files)))


COMMANDS: Commands = {"plot": {"link-support": link_support, "mistakes": mistakes}}
