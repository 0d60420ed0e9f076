"""`closeread compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing
from closeread.cli.commands.table import scores_option
from closeread.cli.printing import tell
from closeread.cli.procedure_group import (
    ProcedureGroup,
    corpus_options,
    examples,
    given_options,
    procedure_options,
    read_place,
    take_key,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from closeread.counts.procedure import Procedure

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
    @options.test_options
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

    place = next(i for i, param in enumerate(command.params) if param.name == "resamples")
    command.params.insert(place, scores_option(procedure, "Compare"))
    command.params += [*corpus_options(corpus), *procedure_options(procedure, corpus)]
    return command


def run(procedure: Procedure, corpus: str | None, name: str, files: tuple[Path, ...], values: dict[str, Any]) -> None:
    """Compare the first system with each of the others and print the results."""
    from closeread.counts.systems import make_names
    from closeread.systems import compare_systems

    key, systems = take_key(files) if corpus is None else (values["gold"], files)
    comparisons, notices = compare_systems(
        name,
        read_place({**values, "gold": key}),
        dict(zip(make_names(systems), systems, strict=True)),
        options=given_options(procedure, values),
        metrics=values.get("metrics"),
        scores=values["columns"] or None,
        resampling=options.read_resampling(values),
        correction=values["correction"],
    )
    tell(notices)
    tables = [comparison.to_rows() for comparison in comparisons]
    with printing.writing_to(values["output"]):
        printing.show(
            values["style"],
            value=lambda: [comparison.to_json() for comparison in comparisons],
            table=lambda: (tables[0][0], [row for _, rows in tables for row in rows]),
            grids=lambda: [grid for comparison in comparisons for grid in comparison.to_grids()],
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
