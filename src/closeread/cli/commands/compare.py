"""`closeread compare`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing
from closeread.cli.notes import tell
from closeread.cli.procedure_group import (
    ProcedureGroup,
    corpus_options,
    examples,
    find_kinds,
    given_options,
    procedure_options,
    read_place,
    take_key,
)
from closeread.errors import RequestError, escape, join_names, read_all

if TYPE_CHECKING:
    from collections.abc import Callable

    from closeread.counts.procedure import Procedure
    from closeread.counts.report import Counted
    from closeread.scoring import Scorer

    Decorator = Callable[[Callable[..., None]], Callable[..., None]]

DETAILS = """Each system is a file of predictions, or a file of counts from `closeread score --counts`. The first
system is compared with each of the others."""
KEY = "The key is the first file; omit it if there are only counts."
ENDINGS = ("another.jsonl", "counts.parquet --resamples 10000")


def build(procedure: Procedure, corpus: str | None, name: str) -> click.Command:
    """Return the subcommand of a procedure."""
    about = [f"Compare systems by paired tests ({procedure.title}).", DETAILS, *([] if corpus else [KEY])]

    gold_parameters: Decorator = options.gold_options if corpus else options.together()

    @click.command(
        cls=options.WritingCommand,
        name=procedure.name,
        help="\n\n".join([*about, examples(procedure, corpus, f"compare {name}", *ENDINGS)]),
        short_help=procedure.title[0].upper() + procedure.title[1:],
    )
    @gold_parameters
    @click.argument(
        "systems", type=options.FILE, nargs=-1, required=True, metavar="SYSTEMS..." if corpus else "[KEY] SYSTEMS..."
    )
    @options.max_bytes
    @options.metrics(procedure)
    @options.resampling_options
    @click.option(
        "--correction",
        type=click.Choice(["holm", "none"]),
        default="holm",
        show_default=True,
        help="How to correct p-values for the number of comparisons: all scores of all systems.",
    )
    @options.style_options
    @options.result_output
    def command(systems: tuple[Path, ...], **values: Any) -> None:
        run(procedure, corpus, name, systems, values)

    command.params += [*corpus_options(corpus), *procedure_options(procedure, corpus)]
    return command


def run(procedure: Procedure, corpus: str | None, name: str, files: tuple[Path, ...], values: dict[str, Any]) -> None:
    """Compare the first system with each of the others and print the results.

    Raises:
        RequestError: there are fewer than two systems, reports, or counts with gold or options that are not theirs.
    """
    from closeread.counts.files import read_counts
    from closeread.scoring import open_scorer

    key, systems = take_key(files) if corpus is None else (values["gold"], files)
    if len(systems) < 2:
        raise RequestError("a comparison needs at least two systems")
    kinds = find_kinds(systems)
    if reports := [str(path) for path, kind in zip(systems, kinds, strict=True) if kind == "report"]:
        have = "is a report, which has" if len(reports) == 1 else "are reports, which have"
        raise RequestError(f"{escape(join_names(reports))} {have} no counts to test (expected predictions or counts)")
    metrics, given = values.get("metrics"), given_options(procedure, values)
    selected = procedure.select_metrics(metrics, given)
    stored = [kind == "counts" for kind in kinds]
    place = read_place({**values, "gold": key})
    scorer = None
    if (corpus is None and key is not None) or not all(stored):
        scorer = open_scorer(name, place, given, metrics)
        tell(scorer.gold.notices)
    elif any(part is not None for part in place) or given:
        raise RequestError("files of counts include their gold and options; omit the options for these")

    def read(path: Path, is_stored: bool) -> Counted:
        if scorer is None or is_stored:
            counted = read_counts(path, selected)
            # Breakdowns, which nothing is compared by, may be most of a file.
            return replace(counted, table=replace(counted.table, breakdowns={}))
        return scorer.count(scorer.read(path))

    results = read_all(zip(systems, stored, strict=True), lambda one: read(*one))
    for path, is_stored, result in zip(systems, stored, results, strict=True):
        if scorer is not None and is_stored:
            check_signature(escape(str(path)), result, scorer)
    show(systems, results, values)


def check_signature(name: str, stored: Counted, scorer: Scorer) -> None:
    """Check that stored counts are of the requested gold and options.

    Raises:
        RequestError: the signatures differ.
    """
    expected, found = scorer.expected_signature(), stored.provenance.signature
    if (
        scorer.options["missing"] == "skip" and stored.provenance.missing
    ):  # the digest covers only the units with a prediction
        expected, found = (signature.rpartition("|gold:")[0] for signature in (expected, found))
    if found != expected:
        raise RequestError(f"{name} contains counts of {found} (expected {expected})")


def show(systems: tuple[Path, ...], results: list[Counted], values: dict[str, Any]) -> None:
    """Compare the first result with each of the others and print the results."""
    from closeread.counts.comparison import correct_comparisons, make_comparisons
    from closeread.counts.estimates import Resampling
    from closeread.counts.grids import comparison_grid, comparison_rows

    tell(notice for result in results for notice in result.notices)
    resampling = Resampling(values["resamples"], values["confidence"], values["seed"])
    names = [escape(str(path)) for path in systems]
    comparisons = correct_comparisons(make_comparisons(names, results, resampling), values["correction"])
    tables = [comparison_rows(comparison) for comparison in comparisons]
    with printing.writing_to(values["output"]):
        printing.show(
            values["style"],
            value=lambda: [comparison.to_json() for comparison in comparisons],
            table=lambda: (tables[0][0], [row for _, rows in tables for row in rows]),
            grids=lambda: [comparison_grid(comparison) for comparison in comparisons],
        )


command = ProcedureGroup(
    "compare",
    build=build,
    help="""Compare systems by paired tests: bootstrap and approximate randomization.

    \b
    Examples:
      closeread compare mctaco baseline.jsonl mine.jsonl
      closeread compare coref key.conll baseline.conll mine.conll
    """,
    short_help="Compare systems by paired tests.",
)
