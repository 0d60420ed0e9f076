"""Subcommand for annotators of WikiPossessions: their agreement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing
from closeread.cli.help_groups import GroupedCommand
from closeread.cli.notes import tell

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands
    from closeread.counts.rendering import Grid
    from closeread.tasks.wikipossessions.agreement import PairedAgreement

COLUMNS = ("precision", "recall", "F1", "same label", "kappa")


class AgreementCommand(GroupedCommand):
    """A command with the options of the measure, which is imported only when they are needed."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return all parameters."""
        from closeread.tasks.wikipossessions.agreement import OPTIONS

        return [*options.declared_options(OPTIONS), *super().get_params(ctx)]


@click.command(cls=AgreementCommand, short_help="Score the second annotator against the first.")
@click.argument("files", type=options.FILE, nargs=-1, required=True)
@options.style_options
def agreement(files: tuple[Path, ...], style: Any, **values: Any) -> None:
    """Score the second annotator's possessors and ordered pairs against the first's; add Cohen's kappa of the labels.

    Each file is an annotator.  Of more than two, each is scored against all before, and F1 scores and kappas are
    averaged over pairs.

    Files are in the corpus's format, JSON Lines or Parquet.  Labels and ordered pairs are compared on the possessors
    that both annotators have, as in the paper; --pairs all compares the ordered pairs of all possessors.

    \b
    Examples:
      closeread agreement wikipossessions anna.csv ben.csv
      closeread agreement wikipossessions anna.csv ben.csv cem.csv --pairs all
      closeread agreement wikipossessions anna.csv ben.csv --setting partial \\
        --json
    """
    from closeread.cli.annotators import check_annotators
    from closeread.corpora.gold import load_corpus, read_own_gold
    from closeread.tasks.wikipossessions.agreement import measure_agreement

    check_annotators(files)
    corpus = load_corpus("wikipossessions")
    read = options.read_all(files, lambda path: read_own_gold(corpus, path))
    noted = {path: gold.notices for path, gold in zip(files, read, strict=True)}
    tell(f"{path}: {notice}" for path, notices in noted.items() for notice in notices)
    given = {name: value for name, value in values.items() if value is not None}
    found = measure_agreement([gold.records for gold in read], [str(path) for path in files], **given)
    printing.show(
        style,
        value=found.to_json,
        table=lambda: _make_table(found),
        grids=lambda: [_make_grid(found)],
    )


def _make_table(found: PairedAgreement) -> printing.CsvTable:
    """Return header and rows of all scores; of several pairs, every pair and then the means."""
    if len(found.pairs) == 1:
        one = found.pairs[0, 1]
        return ["", *COLUMNS, "shared"], [[*row, one.shared] for row in one.rows()]
    rows: list[list[object]] = [
        [found.names[i], found.names[j], *row, one.shared] for (i, j), one in found.pairs.items() for row in one.rows()
    ]
    for name, value in found.mean.items():
        what, _, score = name.rpartition("/")
        rows.append(["mean", "", what, "", "", *([value, "", ""] if score == "f1" else ["", "", value]), ""])
    return ["first annotator", "second annotator", "compared", *COLUMNS, "shared"], rows


def _make_grid(found: PairedAgreement) -> Grid:
    """Return the table: all scores of two annotators; of more, F1 scores and kappas of every pair, and their means."""
    from closeread.cli.annotators import make_pair_grid
    from closeread.counts.rendering import Grid
    from closeread.errors import pluralize
    from closeread.tasks.wikipossessions.agreement import TITLES

    several = len(found.pairs) > 1
    shared = "possessors" if several else pluralize(found.pairs[0, 1].shared, "possessor")
    pairs = "these" if found.options["pairs"] == "shared" else "all"
    notes = [
        f"Labels are compared on the {shared} that both annotators have.",
        f"Ordered pairs are those of {pairs} possessors.",
        f"Options: {', '.join(f'{name} {value}' for name, value in found.options.items())}.",
    ]
    if not several:
        rows = [list(map(printing.format_cell, row)) for row in found.pairs[0, 1].rows()]
        return Grid("", ["", *COLUMNS], rows, [f"{found.names[1]} against {found.names[0]}.", *notes])
    mean = found.mean
    scores = {pair: list(one.summarize().values()) for pair, one in found.pairs.items()}
    notes += found.describe_left_out()
    titles = [TITLES[name] for name in mean]
    return make_pair_grid(found.names, titles, scores, list(mean.values()), notes, printing.format_cell)


COMMANDS: Commands = {"agreement": {"wikipossessions": agreement}}
