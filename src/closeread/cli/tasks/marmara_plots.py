"""Subcommands that draw figures of the Marmara corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands

CORPUS = "marmara_coref"


class MarmaraCommand(options.WritingCommand):
    """A command that reads the corpus, with options for its folders."""

    corpus = CORPUS
    """What configs and splits are completed for."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return all parameters."""
        from closeread.corpus.names import load_corpus

        return [*super().get_params(ctx), *options.file_options([load_corpus(CORPUS)])]


def draw_kind(kind: str, output: Path, places: dict[str, Any]) -> None:
    """Draw a figure of the corpus's documents, and write it."""
    from closeread.cli.pictures import draw
    from closeread.tasks.coref.marmara.figures import FIGURES

    draw(output, lambda: FIGURES[kind].draw(options.take_place(CORPUS, **places)))


@click.command(cls=MarmaraCommand, short_help="Draw the types of mentions of marmara_coref.")
@options.gold_options
@options.output
def mention_types(output: Path, **places: Any) -> None:
    """Draw the shares of types of mentions of marmara_coref, as .png, .svg or .pdf (Schüller et al., 2018, Figure 4).

    Mentions of one token are pronouns, proper nouns or others; the rest has several tokens.

    \b
    Example:
      closeread plot mention-types --config sample -o types.png
    """
    draw_kind("mention-types", output, places)


@click.command(cls=MarmaraCommand, short_help="Draw the lengths of mentions of marmara_coref.")
@options.gold_options
@options.output
def mention_lengths(output: Path, **places: Any) -> None:
    """Draw the lengths of mentions of marmara_coref, from 2 tokens, as .png, .svg or .pdf
    (Schüller et al., 2018, Figure 5).

    \b
    Example:
      closeread plot mention-lengths --config sample -o lengths.png
    """
    draw_kind("mention-lengths", output, places)


@click.command(cls=MarmaraCommand, short_help="Draw the lengths of chains of marmara_coref.")
@options.gold_options
@options.output
def chain_lengths(output: Path, **places: Any) -> None:
    """Draw the lengths of chains of marmara_coref, in mentions, as .png, .svg or .pdf
    (Schüller et al., 2018, Figure 6).

    \b
    Example:
      closeread plot chain-lengths --config sample -o chains.png
    """
    draw_kind("chain-lengths", output, places)


COMMANDS: Commands = {
    "plot": {"chain-lengths": chain_lengths, "mention-lengths": mention_lengths, "mention-types": mention_types}
}
