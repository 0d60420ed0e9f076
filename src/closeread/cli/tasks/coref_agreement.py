"""Subcommands for annotators of coreference: their agreement, and the mistakes in their chains."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing
from closeread.cli.annotators import AgreementCommand, name_file, name_files
from closeread.cli.help_groups import GroupedCommand
from closeread.cli.notes import tell

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands


@click.command(cls=AgreementCommand, task="coref", short_help="Measure agreement by Krippendorff's alpha.")
@options.files
@click.option(
    "--given",
    type=options.FILE,
    metavar="FILE",
    help="Measure agreement about the mentions of this file, those that annotators were given, instead of about all "
    "mentions of any annotator.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=50,
    show_default=True,
    help="List at most this many documents in tables; JSON and CSV list all.",
)
@options.style_options
def agreement(files: tuple[Path, ...], given: Path | None, limit: int, style: Any, **values: Any) -> None:
    """Measure the agreement of annotators by Krippendorff's alpha, with chains as values of mentions.

    Each file, or folder of files, is an annotator, in any format that `closeread score coref` reads.  Annotators may
    have some of the documents, which are matched by name.  Distances between chains are nominal, IAA1 (Passonneau,
    2004) and IAA2 (Passonneau et al., 2006, or as --iaa2 says).

    \b
    Examples:
      closeread agreement coref anna.conll ben.conll cem.conll
      closeread agreement coref annotations/*.conll --given given.conll --json
      closeread agreement coref anna.jsonl ben.jsonl --iaa2 distance_product
    """
    from closeread.tasks.coref.agreement import compare_annotators
    from closeread.tasks.coref.agreement_tables import make_grid

    chosen = {name: value for name, value in values.items() if value is not None}
    mentions = None if given is None else name_file(given)
    measured = compare_annotators(name_files(files), given=mentions, **chosen)
    tell(measured.notices)
    printing.show(style, value=measured.to_json, table=measured.to_rows, grids=lambda: [make_grid(measured, limit)])


@click.command(cls=GroupedCommand, short_help="Count the mistakes in chains.")
@click.argument("gold", type=options.FILE)
@options.files
@options.max_bytes
@options.style_options
def chains(gold: Path, files: tuple[Path, ...], style: Any) -> None:
    """Count the mistakes in chains of annotators, or of systems.

    Each chain of two or more mentions is compared with one gold chain of two or more: its match in the best one-to-one
    matching by common links, else the one with which it shares most.  It is exact, or else spurious (no mention is in
    a gold chain), mixed (some mentions are in other gold chains), missing (it lacks mentions) or extra (it has more
    mentions).  Files are in any format that `closeread score coref` reads, and may have some of the documents.

    \b
    Examples:
      closeread errors chains gold.conll anna.conll ben.conll
      closeread errors chains gold.conll response.conll --json
    """
    from closeread.tasks.coref.chain_errors import count_chain_errors

    found = count_chain_errors(name_file(gold), name_files(files))
    tell(found.notices)
    printing.show_result(style, found)


COMMANDS: Commands = {"agreement": {"coref": agreement}, "errors": {"chains": chains}}
