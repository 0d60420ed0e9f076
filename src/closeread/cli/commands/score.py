"""`closeread score`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing
from closeread.cli.procedure_group import PAIRED, ProcedureGroup, given_options, procedure_options

if TYPE_CHECKING:
    from closeread.corpora.gold import Gold
    from closeread.corpora.submissions import Submission
    from closeread.counts.rendering import Grid
    from closeread.counts.report import Report
    from closeread.counts.table import Procedure
    from closeread.scoring import Counted

EXAMPLES = """\b
Examples:
  closeread score {name} predictions.jsonl
  closeread score {name} predictions.jsonl --config sample
  closeread score {name} predictions.jsonl --gold my-gold.jsonl --json
  closeread score {name} predictions.jsonl --counts predictions.counts.parquet
"""

EXPLAINED = {"timeline": "closeread.tasks.timeline.explain"}
"""Procedures that can tell what became of all that they count, and the modules that tell it: `explained` gives what
became of a unit as JSON can hold it, and `title`, `HEADER`, `row` and `NOTES` make a table of that."""

PAIRED_HELP = {
    "coref": """Files are CoNLL, CorefUD or JSON Lines, as their first line tells. Documents are matched by name;
that of '#begin document (a); part 000' is 'a; part 000'. Where both files have words, the words have to be the same: in
CoNLL they stand in the fourth of five or more columns, else in the last but one. Empty nodes of CorefUD count as
tokens.

\b
Examples:
  closeread score coref key.conll response.conll
  closeread score coref key.conll response.jsonl --metrics lea --per-unit
  closeread score coref key.conllu response.conllu --matching head --keep-singletons false
""",
    "tlinks": """Key and response are TimeML files, or folders of them whose documents are matched by the names of their
files. What a link contradicts is said on standard error; it counts, and nothing follows from it.

\b
Examples:
  closeread score tlinks key.tml response.tml
  closeread score tlinks key/ response/ --by type --per-unit
  closeread score tlinks key/ response/ --matching relaxed
""",
}


SHOWN = 1000
"""Rows of an explanation that a table shows of a unit; to lay out tens of thousands takes longer than to find them."""


def build(procedure: Procedure, corpus: str) -> click.Command:
    """The subcommand of a procedure."""

    @click.command(
        cls=options.WritingCommand,
        name=procedure.name,
        help=f"{procedure.title}, of a file of predictions.\n\n{EXAMPLES.format(name=procedure.name)}",
        short_help=procedure.title,
    )
    @click.argument("predictions", type=options.FILE)
    @options.gold_options
    @options.by
    @click.option("--no-ci", is_flag=True, help="Draw no intervals.")
    @options.resampling_options
    @options.style_options
    @click.option("--per-unit", is_flag=True, help=f"Show a row for every {procedure.unit} (in JSON: as 'units').")
    @click.option("--counts", type=options.WRITTEN, metavar="FILE", help="Keep the counts in a Parquet file.")
    def command(predictions: Path, **values: Any) -> None:
        run(procedure, corpus, predictions, values)

    if procedure.name in EXPLAINED:
        told = f"Tell what became of all that is counted of every {procedure.unit} (in JSON: as 'explanations'); "
        told += f"a table shows {SHOWN:,} rows of each."
        command.params.append(click.Option(["--explain"], is_flag=True, help=told))
    command.params += procedure_options(procedure, corpus)
    return command


def build_paired(procedure: Procedure) -> click.Command:
    """The subcommand of a procedure that is given key and response."""

    @click.command(
        cls=options.WritingCommand,
        name=procedure.name,
        help=f"{procedure.title[0].upper()}{procedure.title[1:]}, of a response.\n\n{PAIRED_HELP[procedure.name]}",
        short_help=procedure.title,
    )
    @options.key
    @options.response
    @options.metrics(procedure)
    @options.by
    @click.option("--no-ci", is_flag=True, help="Draw no intervals.")
    @options.resampling_options
    @options.style_options
    @click.option("--per-unit", is_flag=True, help=f"Show a row for every {procedure.unit} (in JSON: as 'units').")
    @click.option("--counts", type=options.WRITTEN, metavar="FILE", help="Keep the counts in a Parquet file.")
    def command(key: Path, response: Path, **values: Any) -> None:
        paired = PAIRED[procedure.name]
        settled = procedure.resolve_options(given_options(procedure, values))
        pair = paired.align(paired.read_key(key, settled), response, settled)
        narrowed = {name: values[name] for name in paired.least}
        show(paired.load().count_pair(pair, options=settled, **narrowed), values)

    command.params += procedure_options(procedure)
    return command


def run(procedure: Procedure, corpus: str, predictions: Path, values: dict[str, Any]) -> None:
    """Score a file and print the result."""
    from closeread.scoring import count_submission, gold_for, submission_for

    places = {name: values[name] for name in ("config", "split", "gold", "data_dir")}
    gold = options.tell_notices(gold_for(corpus, **places))
    settled = procedure.resolve_options({**gold.corpus.procedure_defaults, **given_options(procedure, values)})
    submission = submission_for(gold, predictions, settled)
    counted = count_submission(gold, submission, settled)
    show(counted, values, _explanations(gold, submission, counted) if values.get("explain") else None)


def _explanations(gold: Gold, submission: Submission, counted: Counted) -> dict[str, list[Any]]:
    """What became of every unit that is counted."""
    explained = import_module(EXPLAINED[counted.procedure.name]).explained
    sides = {record[gold.corpus.key]: (record, row) for record, row in zip(gold.records, submission.rows, strict=True)}
    return {unit: explained(*sides[unit], counted.provenance.options) for unit in counted.table.units}


def show(counted: Counted, values: dict[str, Any], explanations: Mapping[str, list[Any]] | None = None) -> None:
    """Print what was counted, and keep it where that is asked for.

    Args:
        counted: what was counted.
        values: the command's parameters.
        explanations: what became of every unit, where that is asked for.
    """
    from closeread.counts.report import Resampling, make_report, per_unit

    options.tell(counted.notices)
    procedure = counted.procedure
    n_resamples = 0 if values["no_ci"] else values["resamples"]
    report = make_report(
        counted.table,
        procedure,
        counted.provenance,
        by=values["by"],
        resampling=Resampling(n_resamples, values["confidence"], values["seed"]),
    )
    if values["counts"] is not None:
        from closeread.counts.files import write_counts

        write_counts(values["counts"], counted.table, counted.provenance)
    units = per_unit(counted.table, procedure) if values["per_unit"] else None
    printing.show(
        values["style"],
        value=lambda: _json(report, units, explanations),
        table=lambda: _csv(report, units, explanations),
        grids=lambda: _grids(report, procedure, units, explanations),
    )


def _json(
    report: Report, units: Sequence[dict[str, Any]] | None, explanations: Mapping[str, list[Any]] | None
) -> dict[str, Any]:
    result = report.to_json()
    if units is not None:
        result["units"] = units
    if explanations is not None:
        result["explanations"] = [{report.unit: unit, "explained": told} for unit, told in explanations.items()]
    return result


def _grids(
    report: Report,
    procedure: Procedure,
    units: Sequence[dict[str, Any]] | None,
    explanations: Mapping[str, list[Any]] | None,
) -> Iterator[Grid]:
    from closeread.counts.rendering import report_grid, units_grid

    if explanations is not None:
        yield from _explanation_grids(procedure, explanations)
    if units is not None:
        yield units_grid(units)
    yield report_grid(report, procedure)


def _csv(
    report: Report, units: Sequence[dict[str, Any]] | None, explanations: Mapping[str, list[Any]] | None
) -> printing.CsvTable:
    """Header and rows of what is asked for.

    Raises:
        RequestError: that are several tables.
    """
    from closeread.counts.rendering import report_rows
    from closeread.errors import RequestError

    if units is not None and explanations is not None:
        raise RequestError("CSV is one table: leave out --per-unit or --explain")
    if units is not None:
        return list(units[0]), [list(unit.values()) for unit in units]
    if explanations is not None:
        words = import_module(EXPLAINED[report.provenance.procedure])
        rows = [[unit, *words.row(one)] for unit, told in explanations.items() for one in told]
        return [report.unit, *words.HEADER], rows
    return report_rows(report)


def _explanation_grids(procedure: Procedure, explanations: Mapping[str, list[Any]]) -> Iterator[Grid]:
    """A table for every unit, the last one with what the words mean."""
    from closeread.counts.rendering import Grid

    words = import_module(EXPLAINED[procedure.name])
    for number, (unit, told) in enumerate(explanations.items(), start=1):
        left = len(told) - SHOWN
        notes = [f"{left:,} more: see --json and --format csv."] if left > 0 else []
        notes += words.NOTES if number == len(explanations) else ()
        yield Grid(words.title(unit, told), words.HEADER, [words.row(one) for one in told[:SHOWN]], notes)


command = ProcedureGroup(
    "score",
    build=build,
    paired=build_paired,
    help="""Score a file of predictions: scores, intervals, and a signature that says what was computed.

    Predictions are JSON Lines, or the format of the corpus's official evaluator.

    \b
    Examples:
      closeread score mctaco predictions.jsonl
      closeread score mctaco predictions.txt --by category
    """,
    short_help="Score a file of predictions.",
)
