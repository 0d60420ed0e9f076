"""`closeread compare`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing
from closeread.cli.procedure_group import PAIRED, ProcedureGroup, given_options, procedure_options
from closeread.errors import RequestError, escape

if TYPE_CHECKING:
    from closeread.counts.table import Procedure
    from closeread.scoring import Counted

PAIRED_EXAMPLES = {
    "coref": """Each response is a file of clusters, or a file of counts that `closeread score --counts` kept;
the first is the one that the others are compared with.

\b
Examples:
  closeread compare coref key.conll baseline.conll mine.conll --metrics conll,lea
  closeread compare coref key.conll baseline.counts.parquet mine.conll
""",
    "tlinks": """Each response is a folder of TimeML files, or a file of counts that `closeread score --counts` kept;
the first is the one that the others are compared with.

\b
Examples:
  closeread compare tlinks key/ baseline/ mine/
  closeread compare tlinks key/ baseline.counts.parquet mine/ --matching relaxed
""",
}
EXAMPLES = """Each system is a file of predictions, or a file of counts that `closeread score --counts` kept;
the first is the one that the others are compared with.

\b
Examples:
  closeread compare {name} baseline.jsonl mine.jsonl
  closeread compare {name} baseline.counts.parquet mine.counts.parquet --resamples 10000
"""


def build(procedure: Procedure, corpus: str) -> click.Command:
    """The subcommand of a procedure."""

    @click.command(
        name=procedure.name,
        help=f"Paired tests of systems by {procedure.title}.\n\n{EXAMPLES.format(name=procedure.name)}",
        short_help=procedure.title,
    )
    @click.argument("systems", type=options.FILE, nargs=-1, required=True)
    @options.gold_options
    @options.resampling_options
    @options.style_options
    def command(systems: tuple[Path, ...], **values: Any) -> None:
        run(procedure, corpus, systems, values)

    command.params += procedure_options(procedure, corpus)
    return command


def build_paired(procedure: Procedure) -> click.Command:
    """The subcommand of a procedure that is given key and responses."""

    @click.command(
        name=procedure.name,
        help=f"Paired tests of responses to a key.\n\n{PAIRED_EXAMPLES[procedure.name]}",
        short_help=procedure.title,
    )
    @options.key
    @click.argument("responses", type=options.FILE, nargs=-1, required=True)
    @options.metrics(procedure)
    @options.resampling_options
    @options.style_options
    def command(key: Path, responses: tuple[Path, ...], **values: Any) -> None:
        from closeread.counts.files import is_count_file, read_counts
        from closeread.paired import refuse_other_counts, refuse_other_documents

        _several(responses)
        paired = PAIRED[procedure.name]
        module, narrowed = paired.load(), {name: values[name] for name in paired.least}
        settled = procedure.resolve_options(given_options(procedure, values))
        files = {path for path in responses if not (path.is_file() and is_count_file(path))}
        gold = paired.read_key(key, settled)
        pairs = {path: paired.align(gold, path, settled) for path in files}
        if settled["missing"] == "skip":
            refuse_other_documents(list(pairs.values()), [escape(str(path)) for path in pairs])
        results = [
            module.count_pair(pairs[path], options=settled, **narrowed)
            if path in files
            else read_counts(path, module.with_metrics(**narrowed) if narrowed else procedure)
            for path in responses
        ]
        for path, result in zip(responses, results, strict=True):
            if path not in files:
                digest = module.key_digest(gold, settled["matching"])
                refuse_other_counts(escape(str(path)), result, digest, settled)
        # Kept counts may be of more metrics than are asked for.
        names = [name for name in results[0].table.names if all(name in r.table.names for r in results)]
        show(responses, [replace(result, table=result.table.with_counts(names)) for result in results], values)

    command.params += procedure_options(procedure)
    return command


def _several(systems: tuple[Path, ...]) -> None:
    if len(systems) < 2:
        raise RequestError("a comparison needs two systems or more")


def run(procedure: Procedure, corpus: str, systems: tuple[Path, ...], values: dict[str, Any]) -> None:
    """Compare the first system with each of the others and print the results."""
    from closeread.counts.files import is_count_file, read_counts
    from closeread.scoring import count_predictions, gold_for

    _several(systems)
    places = {name: values[name] for name in ("config", "split", "gold", "data_dir")}
    # Only regular files can be counts; looking into a pipe would wait for its writer.
    kept = [path.is_file() and is_count_file(path) for path in systems]
    if all(kept) and (any(places.values()) or given_options(procedure, values)):
        raise RequestError("kept counts know their gold and their options: give none")
    gold = None if all(kept) else options.tell_notices(gold_for(corpus, **places))

    def counted(path: Path, is_kept: bool) -> Counted:
        if is_kept or gold is None:
            return read_counts(path, procedure)
        return count_predictions(gold, path, given_options(procedure, values))

    show(systems, [counted(path, is_kept) for path, is_kept in zip(systems, kept, strict=True)], values)


def show(systems: tuple[Path, ...], results: list[Counted], values: dict[str, Any]) -> None:
    """Test the first result against each of the others and print what comes out."""
    from closeread.counts.rendering import comparison_grid, comparison_rows
    from closeread.counts.report import Resampling, make_comparison

    options.tell(notice for result in results for notice in result.notices)
    procedure = results[0].procedure
    resampling = Resampling(values["resamples"], values["confidence"], values["seed"])
    comparisons = [
        make_comparison(
            (escape(str(systems[0])), escape(str(path))),
            (results[0].table, other.table),
            (results[0].provenance, other.provenance),
            procedure,
            resampling,
        )
        for path, other in zip(systems[1:], results[1:], strict=True)
    ]
    tables = [comparison_rows(comparison) for comparison in comparisons]
    printing.show(
        values["style"],
        value=lambda: [comparison.to_json() for comparison in comparisons],
        table=lambda: (tables[0][0], [row for _, rows in tables for row in rows]),
        grids=lambda: [comparison_grid(comparison, procedure) for comparison in comparisons],
    )


command = ProcedureGroup(
    "compare",
    build=build,
    paired=build_paired,
    help="""Compare systems by paired tests: is the difference more than chance?

    \b
    Example:
      closeread compare mctaco baseline.jsonl mine.jsonl
    """,
    short_help="Compare systems by paired tests.",
)
