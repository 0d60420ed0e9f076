"""`closeread score`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from closeread.cli import options, printing
from closeread.cli.printing import tell
from closeread.cli.procedure_group import (
    ProcedureGroup,
    corpus_options,
    examples,
    given_options,
    gold_arguments,
    procedure_options,
    read_place,
)

if TYPE_CHECKING:
    from closeread.counts.counts import Counts
    from closeread.counts.procedure import Procedure
    from closeread.counts.report import Report
    from closeread.tables import Grid

ENDINGS = ("", "--json", "--counts counts.parquet")
CORPUS_ENDINGS = ("", "--config sample", "--gold my-gold.jsonl --json", "--counts counts.parquet")

SHOWN = 1000
"""The number of rows in the table of an explanation; drawing tens of thousands takes longer than computing them."""

result_options = options.together(
    click.option("--no-ci", is_flag=True, help="Skip confidence intervals."),
    options.resampling_options,
    options.style_options,
    click.option("--per-unit", is_flag=True, help="Also report each unit separately (in JSON: as 'units')."),
    click.option(
        "--with-counts",
        is_flag=True,
        help="Also show fields and counts in the table of --per-unit; JSON and CSV always have them.",
    ),
    options.result_output,
    options.digits,
)


def score_only(*, has_metrics: bool) -> Callable[[options.F], options.F]:
    """Return the option that prints scores alone.

    Args:
        has_metrics: whether the command also has the option that selects metrics.
    """
    several = ", or that of each of --metrics on a line of its own" if has_metrics else ""
    return click.option("--score-only", is_flag=True, help=f"Print only the main score (times 100){several}.")


def build(procedure: Procedure, corpus: str | None, name: str) -> click.Command:
    """Return the subcommand of a procedure."""
    shown = examples(
        procedure, corpus, f"score {name}", *(CORPUS_ENDINGS if corpus else ENDINGS), *procedure.help.flags
    )
    title = procedure.title[0].upper() + procedure.title[1:]
    summary = f"Score predictions ({procedure.title})."

    @click.command(
        cls=options.WritingCommand,
        name=procedure.name,
        help="\n\n".join(part for part in (summary, procedure.help.details, shown) if part),
        short_help=title,
    )
    @gold_arguments(corpus)
    @click.argument("predictions", type=options.FILE, metavar="PREDICTIONS" if corpus else "RESPONSE")
    @options.max_bytes
    @options.metrics(procedure)
    @options.by(procedure)
    @result_options
    @score_only(has_metrics=len(procedure.families) > 1)
    @click.option(
        "--counts",
        type=options.WRITTEN,
        metavar="FILE",
        help="Also write the counts to this Parquet file.",
    )
    def command(predictions: Path, **values: Any) -> None:
        run(procedure, name, predictions, values)

    if procedure.explanation is not None:
        about = f"Explain everything that is counted in each {procedure.unit} (in JSON: as 'explanations'); tables"
        about += f" show at most {SHOWN:,} rows per {procedure.unit}."
        command.params.append(click.Option(["--explain"], is_flag=True, help=about))
    command.params += [*corpus_options(corpus), *procedure_options(procedure, corpus)]
    return command


def run(procedure: Procedure, name: str, predictions: Path, values: dict[str, Any]) -> None:
    """Score a file and print the result."""
    from closeread.scoring import open_scorer

    check_score_only(values)
    scorer = open_scorer(name, read_place(values), given_options(procedure, values), values.get("metrics"))
    tell(scorer.gold.notices)
    system = scorer.read_source(predictions)
    fields = scorer.breakdowns_for(values.get("by", ()))
    if values["counts"] is not None:
        fields = list(dict.fromkeys([*fields, *scorer.available_breakdowns(system)]))
    counted = scorer.count(system, fields)
    show(counted, values, scorer.explain(system, counted.table.units) if values.get("explain") else None)


def show(counted: Counts, values: dict[str, Any], explanations: Mapping[str, list[Any]] | None = None) -> None:
    """Print a system's scores, and write its counts to a file if requested.

    Args:
        counted: the system's counts.
        values: the command's parameters.
        explanations: the explanations of each unit; None for none.
    """
    from closeread.counts.counts import make_report
    from closeread.counts.estimates import Resampling

    tell(counted.notices)
    n_resamples = 0 if values["no_ci"] or values["score_only"] else values["resamples"]
    resampling = Resampling(n_resamples, values["confidence"], values["seed"])
    report = make_report(counted, by=values.get("by", ()), resampling=resampling)
    units = list(report.units) if values["per_unit"] or values["with_counts"] else None
    with printing.writing_to(values["output"]):
        if values.get("counts") is not None:
            counted.save(values["counts"])
        if values["score_only"]:
            _print_scores(report, counted.procedure, values)
        else:
            printing.show(
                values["style"],
                value=lambda: _make_json(report, units, explanations),
                table=lambda: _make_csv(report, counted.procedure, units, explanations),
                grids=lambda: _make_grids(report, counted.procedure, units, explanations, values),
            )


def check_score_only(values: Mapping[str, Any]) -> None:
    """Check that nothing else is requested if only scores are to be printed.

    Raises:
        UsageError: something is.
    """
    if not values["score_only"]:
        return
    others = ("by", "per_unit", "with_counts", "explain")
    given = [f"--{name.replace('_', '-')}" for name in others if values.get(name)]
    if values["style"] != "table":
        given.append(f"--format {values['style']}")
    if given:
        raise click.UsageError(f"--score-only prints numbers alone; omit {' and '.join(given)}.")


def _print_scores(report: Report, procedure: Procedure, values: Mapping[str, Any]) -> None:
    """Print the main score, or that of each selected metric, one a line; nan if a score has no value."""
    scores = report.total.scores
    headline = procedure.headline if procedure.headline in scores else next(iter(scores))
    families = values.get("metrics") or [headline.partition("/")[0]]
    for family in families:
        found = scores.get(f"{family}/f1") or scores[family]
        click.echo("nan" if found.value is None else f"{100 * found.value:.{values['digits']}f}")


def _make_json(
    report: Report, units: Sequence[dict[str, Any]] | None, explanations: Mapping[str, list[Any]] | None
) -> dict[str, Any]:
    result = report.to_json()
    if units is not None:
        result["units"] = units
    if explanations is not None:
        result["explanations"] = [{report.unit: unit, "explained": rows} for unit, rows in explanations.items()]
    return result


def _make_grids(
    report: Report,
    procedure: Procedure,
    units: Sequence[dict[str, Any]] | None,
    explanations: Mapping[str, list[Any]] | None,
    values: Mapping[str, Any],
) -> Iterator[Grid]:
    from closeread.counts.report import report_grid, units_grid

    if explanations is not None:
        yield from _explain_in_grids(procedure, explanations)
    if units is not None:
        yield units_grid(units, procedure, with_counts=values["with_counts"], digits=values["digits"])
    yield report_grid(report, values["style"], digits=values["digits"])


def _make_csv(
    report: Report,
    procedure: Procedure,
    units: Sequence[dict[str, Any]] | None,
    explanations: Mapping[str, list[Any]] | None,
) -> printing.CsvTable:
    """Return the header and the rows of the requested table.

    Raises:
        RequestError: several tables are requested.
    """
    from closeread.exceptions import RequestError

    if units is not None and explanations is not None:
        raise RequestError("CSV has only one table; omit --per-unit or --explain")
    if units is not None:
        return list(units[0]), [list(unit.values()) for unit in units]
    if explanations is not None and procedure.explanation is not None:
        explanation = procedure.explanation()
        rows = [[unit, *explanation.row(one)] for unit, explained in explanations.items() for one in explained]
        return [report.unit, *explanation.header], rows
    return report.to_rows()


def _explain_in_grids(procedure: Procedure, explanations: Mapping[str, list[Any]]) -> Iterator[Grid]:
    """Yield a table for each unit, the last one with notes."""
    from closeread.exceptions import pluralize
    from closeread.tables import Grid

    if procedure.explanation is None:
        return
    explanation = procedure.explanation()
    for number, (unit, rows) in enumerate(explanations.items(), start=1):
        left = len(rows) - SHOWN
        notes = [f"{pluralize(left, 'more row')}: see --json and --format csv."] if left > 0 else []
        notes += explanation.notes if number == len(explanations) else ()
        cells = [explanation.row(one) for one in rows[:SHOWN]]
        prose = frozenset(explanation.prose)
        yield Grid(explanation.title(unit, rows), explanation.header, cells, notes, prose=prose)


@click.option(
    "--from-counts",
    type=options.NAMED,
    metavar="FILE",
    help="Score counts written by --counts or `closeread merge`, instead of predictions.",
)
@options.max_bytes
@options.by()
@result_options
@score_only(has_metrics=False)
@click.pass_context
def score_counts(ctx: click.Context, /, from_counts: Path | None, **values: Any) -> None:
    """Print the scores of stored counts, if no procedure is given.

    Raises:
        UsageError: there are options before the procedure, or there is neither a procedure nor a file of counts.
    """
    given = [name for name in ctx.params if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if ctx.invoked_subcommand is not None:
        if given:
            raise click.UsageError("Options go after the procedure; --from-counts takes no procedure.", ctx)
    elif from_counts is None:
        raise click.UsageError("Missing procedure or option '--from-counts'.", ctx)
    else:
        from closeread.counts.counts import Counts

        check_score_only(values)
        show(Counts.load(from_counts), values)


class WritingGroup(options.WritingCommand, ProcedureGroup):
    """The group, which writes too if it scores counts itself."""


command = WritingGroup(
    "score",
    build=build,
    callback=score_counts,
    params=score_counts.__click_params__[::-1],  # type: ignore[attr-defined]
    invoke_without_command=True,
    help="""Score a file of predictions.

    Print scores, confidence intervals, and a signature that identifies what was computed. Predictions are JSON Lines,
    or files in the format of the corpus's official evaluator.

    \b
    Examples:
      closeread score mctaco predictions.jsonl
      closeread score mctaco predictions.txt --by category
      closeread score coref key.conll response.conll
      closeread score --from-counts counts.parquet
    """,
    short_help="Score a file of predictions.",
    no_args_is_help=True,
)
