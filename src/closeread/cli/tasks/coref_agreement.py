"""Subcommands for annotators of coreference: their agreement, and the mistakes in their chains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing
from closeread.cli.help_groups import GroupedCommand
from closeread.cli.notes import QuietCommand, tell

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands
    from closeread.counts.rendering import Grid
    from closeread.tasks.coref.agreement import Agreement
    from closeread.tasks.coref.chain_errors import ChainErrors

FROM = 4
"""The number of mentions from which on chains are counted together in tables."""


class AgreementCommand(GroupedCommand):
    """A command with the options of the measure, which is imported only when they are needed."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return all parameters."""
        from closeread.tasks.coref.agreement import OPTIONS

        return [*options.declared_options(OPTIONS), *super().get_params(ctx)]


@click.command(cls=AgreementCommand, short_help="Measure agreement by Krippendorff's alpha.")
@click.argument("files", type=options.FILE, nargs=-1, required=True)
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
    from closeread.cli.annotators import fail, read_annotators
    from closeread.errors import FormatError, RequestError
    from closeread.tasks.coref.agreement import measure_agreement, resolve
    from closeread.tasks.coref.annotators import find_ungiven, gather_annotations, select_given

    chosen = resolve({name: value for name, value in values.items() if value is not None})
    read = read_annotators(files, given)
    found = gather_annotations([file.table for file in read])
    if given is not None:
        ungiven = ((file.name, find_ungiven(file.table, read[-1])) for file in read[:-1])
        fail(FormatError(name, problems) for name, problems in ungiven if problems)
        found = select_given(found, len(files))
    measured = measure_agreement(found, chosen)
    if not measured.compared:
        raise RequestError("no document has two annotators (expected two files or more with the same document)")
    tell(measured.describe())
    rows = [[one.document, one.annotators, one.mentions, *one.alpha.values()] for one in measured.documents]
    printing.show(
        style,
        value=measured.to_json,
        table=lambda: (
            ["document", "annotators", "mentions", *measured.alpha],
            [*rows, ["", "", "", *measured.alpha.values()]],
        ),
        grids=lambda: [_make_agreement_grid(measured, limit)],
    )


@click.command(cls=QuietCommand, short_help="Count the mistakes in chains.")
@click.argument("gold", type=options.FILE)
@click.argument("files", type=options.FILE, nargs=-1, required=True)
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
    from closeread.cli.annotators import read_beside_gold
    from closeread.tasks.coref.chain_errors import find_chain_errors

    key, read = read_beside_gold(gold, files)
    found = find_chain_errors(key.table, [file.table for file in read])
    printing.show(
        style,
        value=found.to_json,
        table=lambda: (["count", "value", "chains"], list(_list_counts(found))),
        grids=lambda: _make_error_grids(found),
    )


def _make_agreement_grid(measured: Agreement, limit: int) -> Grid:
    """Return the table of documents, with all of them together in the last row."""
    from closeread.counts.rendering import Grid
    from closeread.errors import pluralize

    chosen = measured.options
    shown = measured.documents[:limit]
    rows = [
        [one.document, f"{one.annotators:,}", f"{one.mentions:,}", *map(printing.format_percent, one.alpha.values())]
        for one in shown
    ]
    rows.append([f"{chosen['average']} average", "", "", *map(printing.format_percent, measured.alpha.values())])
    left = len(measured.documents) - len(shown)
    notes = [f"{pluralize(left, 'more document')}: see --limit, --json and --format csv."] if left else []
    notes += [
        "Krippendorff's alpha times 100."
        if chosen["form"] == "standard"
        else "Alpha times 100 as printed in Schüller et al. (2018), which is not Krippendorff's.",
        f"Options: {', '.join(f'{name} {value}' for name, value in chosen.items())}.",
    ]
    return Grid("", ["document", "annotators", "mentions", "nominal", "IAA1", "IAA2"], rows, notes)


def _list_counts(found: ChainErrors) -> Iterator[list[object]]:
    """Yield the counts as rows: what is counted, the kind or the number of mentions, and the number of chains."""
    yield from (["kind", kind, n] for kind, n in found.count_kinds().items())
    yield from (["missing mentions", mentions, n] for mentions, n in found.count_missing().items())
    yield from (["foreign mentions", mentions, n] for mentions, n in found.count_foreign().items())


def _make_error_grids(found: ChainErrors) -> Iterator[Grid]:
    """Yield the table of kinds, and that of missing and foreign mentions if there are any."""
    from closeread.arrays import ratio
    from closeread.counts.rendering import Grid, percent
    from closeread.errors import pluralize

    total, mistaken = len(found.kind), found.n_mistaken
    rows = [
        [
            kind,
            f"{n:,}",
            percent(float(ratio(n, total))) if total else printing.format_percent(None),
            "" if kind == "exact" else percent(float(ratio(n, mistaken)) if mistaken else None),
        ]
        for kind, n in found.count_kinds().items()
    ]
    size = f"{pluralize(total, 'chain')} of two or more mentions, {pluralize(int(found.size.sum()), 'mention')}."
    yield Grid("", ["kind", "chains", "% of chains", "% of mistaken chains"], rows, [size])
    counts = {"missing": found.count_missing(), "mixed": found.count_foreign()}
    if any(counts.values()):
        header = ["chains by number of mentions", *(str(n) for n in range(1, FROM)), f"{FROM} or more"]
        named = {"missing": "missing, by mentions that they lack", "mixed": "mixed, by mentions of other chains"}
        yield Grid("", header, [[named[kind], *_group_counts(of)] for kind, of in counts.items()])


def _group_counts(counts: Mapping[str, int]) -> list[str]:
    """Format counts by number of mentions, those from `FROM` on together."""
    few = [counts.get(str(n), 0) for n in range(1, FROM)]
    return [f"{n:,}" for n in (*few, sum(counts.values()) - sum(few))]


COMMANDS: Commands = {"agreement": {"coref": agreement}, "errors": {"chains": chains}}
