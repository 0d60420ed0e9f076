"""`closeread table`."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing
from closeread.cli.completion import complete_list
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
from closeread.exceptions import RequestError, pluralize

if TYPE_CHECKING:
    from collections.abc import Callable

    from closeread.counts.procedure import Procedure
    from closeread.counts.systems import SystemsTable

    Decorator = Callable[[Callable[..., None]], Callable[..., None]]

DETAILS = """Each system is a file of predictions, a file of counts from `closeread score --counts`, or a report from
`closeread score --json`. Best scores are bold. Systems that are not significantly different from the best are marked
with †: by approximate randomization, corrected for all pairs of systems by Holm's method. Reports have no counts, so
they can't be tested."""
KEY = "The key is the first file; omit it if there are only counts and reports."
ENDINGS = ("another.jsonl", "report.json --intervals plus-minus", "another.jsonl --format latex")


def split_names(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names in options that separate them by commas."""
    try:
        return tuple(name.strip() for names in csv.reader(values, skipinitialspace=True) for name in names)
    except csv.Error as error:
        raise click.BadParameter(f"the names can't be separated: {error}.", ctx, param) from None


table_options = options.together(
    click.option(
        "--names",
        multiple=True,
        callback=split_names,
        metavar="NAMES",
        help="Call the systems by these names, separated by commas.  [default: names of the files]",
    ),
    click.option(
        "--intervals",
        type=click.Choice(["none", "range", "plus-minus"]),
        default="none",
        show_default=True,
        help="Show confidence intervals: both ends, or half of their width.",
    ),
    options.result_output,
    options.digits,
    click.option("--pairs", is_flag=True, help="Also show the tests of all pairs of systems (in CSV: only these)."),
    click.option(
        "--alpha",
        type=options.NumberRange(0, 1, min_open=True, max_open=True),
        default=0.05,
        show_default=True,
        help="Level of significance.",
    ),
    options.test_options,
    options.make_style_options("html"),
)


def scores_option(procedure: Procedure, verb: str = "Show") -> click.Option:
    """Return the option that selects scores, with an example of the procedure."""
    split = [metric.name.partition("/")[0] for metric in procedure.metrics if metric.name.endswith("/recall")]
    example = f"{split[0]}/f1, or {split[0]} for its precision, recall and F1" if split else procedure.headline
    default = "  [default: all but precision and recall]" if split else "  [default: all]"
    about = f"{verb} these scores, separated by commas, such as {example}.{default}"
    names = [*procedure.families, *(metric.name for metric in procedure.metrics)]
    return click.Option(
        ["--scores", "columns"],
        multiple=True,
        callback=split_names,
        shell_complete=complete_list(list(dict.fromkeys(names))),
        metavar="NAMES",
        help=about,
    )


def sort_option(procedure: Procedure) -> click.Option:
    """Return the option that selects the score to sort rows by."""
    return click.Option(
        ["--sort"],
        shell_complete=complete_list([metric.name for metric in procedure.metrics]),
        metavar="SCORE",
        default="none",
        show_default=True,
        help="Sort by this score, the best system first.",
    )


def build(procedure: Procedure, corpus: str | None, name: str) -> click.Command:
    """Return the subcommand of a procedure."""
    about = [f"Print a table of many systems ({procedure.title}).", DETAILS, *([] if corpus else [KEY])]

    gold_parameters: Decorator = options.gold_options if corpus else options.together()

    @click.command(
        cls=options.WritingCommand,
        name=procedure.name,
        help="\n\n".join([*about, examples(procedure, corpus, f"table {name}", *ENDINGS)]),
        short_help=procedure.title[0].upper() + procedure.title[1:],
    )
    @gold_parameters
    @click.argument(
        "systems", type=options.FILE, nargs=-1, required=True, metavar="SYSTEMS..." if corpus else "[KEY] SYSTEMS..."
    )
    @options.max_bytes
    @options.metrics(procedure)
    @table_options
    def command(systems: tuple[Path, ...], **values: Any) -> None:
        run(procedure, corpus, name, systems, values)

    place = next(i for i, param in enumerate(command.params) if param.name == "names")
    command.params[place : place + 1] = [scores_option(procedure), command.params[place], sort_option(procedure)]
    command.params += [*corpus_options(corpus), *procedure_options(procedure, corpus)]
    return command


def run(procedure: Procedure, corpus: str | None, name: str, files: tuple[Path, ...], values: dict[str, Any]) -> None:
    """Score the systems and print the table."""
    from closeread.counts.systems import make_names, make_systems_table
    from closeread.systems import read_systems

    key, systems = take_key(files) if corpus is None else (values["gold"], files)
    if not systems:
        raise RequestError("a table needs at least one system after the key")
    names = list(values["names"]) or make_names(systems)
    if len(names) != len(systems):
        raise RequestError(f"--names has {pluralize(len(names), 'name')} for {pluralize(len(systems), 'system')}")
    twice, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise RequestError(f"--names has '{twice}' twice; give each system its own name")
    found = read_systems(
        name,
        read_place({**values, "gold": key}),
        dict(zip(names, systems, strict=True)),
        options=given_options(procedure, values),
        metrics=values.get("metrics"),
        scores=values["columns"] or None,
    )
    tell(found.notices)
    table = make_systems_table(
        names,
        found.results,
        found.scores,
        sort=None if values["sort"] == "none" else values["sort"],
        resampling=options.read_resampling(values),
        lacking=found.lacking,
        **{name: values[name] for name in ("alpha", "digits", "intervals", "pairs")},
    )
    with printing.writing_to(values["output"]):
        show(table, values["style"])


def show(table: SystemsTable, style: Any) -> None:
    """Print the table."""
    if style in ("latex", "html"):
        printing.print_markup(table.to_latex() if style == "latex" else table.to_html(), style)
    else:
        printing.show(style, value=table.to_json, table=table.to_rows, grids=lambda: table.to_grids(style))


command = ProcedureGroup(
    "table",
    build=build,
    help="""Print a table of many systems, with tests against the best.

    \b
    Examples:
      closeread table mctaco baseline.jsonl mine.jsonl other.parquet
      closeread table coref key.conll baseline.conll mine.conll --format latex
    """,
    short_help="Print a table of many systems, with tests against the best.",
)
