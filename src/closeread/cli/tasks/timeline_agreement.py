"""Subcommand for annotators of TimeLine: their agreement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing
from closeread.cli.notes import QuietCommand

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands
    from closeread.counts.rendering import Grid
    from closeread.tasks.timeline.agreement import Agreement

COUNTED = ("first", "second", "both", "Dice")


@click.command(cls=QuietCommand, short_help="Compute Dice's coefficient of mentions.")
@click.argument("files", type=options.FILE, nargs=-1, required=True)
@options.style_options
def agreement(files: tuple[Path, ...], style: Any) -> None:
    """Compute Dice's coefficient of annotators' mentions of events and of entities.

    Each file, or folder of files, is an annotator.  With more than two annotators, the coefficient is computed for
    every pair and averaged over pairs.

    Documents are files in CAT (.xml), or folders of them, with mentions of events (EVENT_MENTION), mentions of
    entities (ENTITY_MENTION) and entity coreference (REFERS_TO); entities are compared by name.  Timelines are folders
    of timelines, or JSON Lines.

    \b
    Examples:
      closeread agreement timeline anna/ ben/
      closeread agreement timeline anna/ ben/ cem/
      closeread agreement timeline anna/7_Rain.xml ben/7_Rain.xml --json
    """
    from closeread.cli.annotators import check_annotators
    from closeread.corpora.gold import load_corpus
    from closeread.tasks.timeline.agreement import choose_kind, measure_agreement

    check_annotators(files)
    kind = choose_kind(files)
    corpus = load_corpus("semeval2015_timeline")
    read = options.read_all(files, lambda path: kind.read(path, corpus))
    found = measure_agreement(read, [str(path) for path in files], kind)
    printing.show(
        style,
        value=found.to_json,
        table=lambda: _list_rows(found),
        grids=lambda: [_make_grid(found)],
    )


def _list_rows(found: Agreement) -> printing.CsvTable:
    """Return header and rows of all counts; of several pairs, every pair and then the means."""
    if len(found.pairs) == 1:
        return ["", *COUNTED], _list_overlaps(found)
    names = found.names
    rows: list[list[object]] = [
        [names[i], names[j], what, o.first, o.second, o.both, o.dice]
        for (i, j), overlaps in found.pairs.items()
        for what, o in overlaps.items()
    ]
    rows += [["mean", "", what, "", "", "", value] for what, value in found.mean.items()]
    return ["first annotator", "second annotator", "compared", *COUNTED], rows


def _list_overlaps(found: Agreement) -> list[list[str | float | None]]:
    """Return a row for everything that two annotators are compared on."""
    return [[what, o.first, o.second, o.both, o.dice] for what, o in found.pairs[0, 1].items()]


def _make_grid(found: Agreement) -> Grid:
    """Return the table: the counts of two annotators; of more, the coefficients of every pair, and their means."""
    from closeread.cli.annotators import make_pair_grid
    from closeread.counts.rendering import Grid

    if len(found.pairs) == 1:
        rows = [list(map(printing.format_percent, row)) for row in _list_overlaps(found)]
        return Grid("", ["", *COUNTED], rows)
    coefficients = {pair: [one.dice for one in overlaps.values()] for pair, overlaps in found.pairs.items()}
    notes = ["Dice's coefficient times 100.", *found.describe_left_out()]
    return make_pair_grid(found.names, list(found.mean), coefficients, list(found.mean.values()), notes)


COMMANDS: Commands = {"agreement": {"timeline": agreement}}
