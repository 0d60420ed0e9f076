"""`closeread reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import names, options, printing
from closeread.cli.completion import complete_paper_tables
from closeread.cli.printing import tell, warnings_as_notes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from closeread.corpus.reproduction import Inputs, Reproduction
    from closeread.counts.printed_tables import Table

ALL = "all"


@click.command(cls=options.CorpusCommand, short_help="Recompute the tables of a corpus's paper.")
@click.argument("corpus", type=names.CorpusName(ALL))
@click.argument("table", required=False, shell_complete=complete_paper_tables)
@options.data_dir
@click.option(
    "--upstream",
    type=options.NAMED,
    metavar="DIR",
    help="Read the authors' released predictions from this checkout of their repository.",
)
@click.option(
    "--annotations",
    type=options.NAMED,
    metavar="DIR",
    help="Read annotators' files from this folder, as DOCUMENT/ANNOTATOR.conll or .txt.",
)
@click.option(
    "--articles",
    type=options.NAMED,
    metavar="DIR",
    help="Read the texts of the articles from this folder, one <title>.txt each (WikiPossessions).",
)
@click.option(
    "--spacy-model",
    metavar="NAME",
    help="Run the paper's baseline with this spaCy pipeline, installed or in a folder (WikiPossessions).",
)
@click.option(
    "--runs",
    type=options.NAMED,
    metavar="DIR",
    help="Score the trained models in this folder, as `closeread train` writes them (McTaco, TNE).",
)
@click.option(
    "--missing", "show_missing", is_flag=True, help="Also show the values that are not recomputed, and what they need."
)
@click.option(
    "--strict",
    is_flag=True,
    help="Exit with code 1 if a value differs, or is not recomputed, without a known reason.",
)
@options.style_options
def command(
    corpus: str,
    table: str | None,
    upstream: Path | None,
    annotations: Path | None,
    articles: Path | None,
    spacy_model: str | None,
    runs: Path | None,
    show_missing: bool,
    strict: bool,
    style: Any,
    **files: Any,
) -> None:
    """Recompute the figures that a corpus's paper prints, and show how many agree, and all of them side by side.

    CORPUS may be `all`: the corpora whose released files can be verified.  A recomputed value agrees if it is within
    half a unit of the last printed digit; printed values that were cut off instead of rounded, and random draws, have
    verdicts of their own.  What `holds without data` follows from a definition, from other printed figures, or from
    rules and examples of the paper that closeread implements.  Tables hide what is not recomputed, unless --missing is
    given; JSON and CSV have everything.

    \b
    Examples:
      closeread reproduce mctaco
      closeread reproduce mctaco 2 --upstream MCTACO
      closeread reproduce tne Text --missing
      closeread reproduce marmara_coref 1 --annotations annotations
      closeread reproduce tne 3 --runs runs
      closeread reproduce wikipossessions 4 --articles texts --spacy-model NAME
      closeread reproduce all --strict
    """
    from closeread.corpus.reproduction import Inputs
    from closeread.counts.printed_tables import make_count_grid, make_table_grids

    inputs = Inputs(options.take_files(files), upstream, annotations, articles, spacy_model, runs)
    papers = _reproduce_all(table, inputs) if corpus == ALL else {corpus: _reproduce_one(corpus, table, inputs)}
    rows = [one.to_rows() for one in papers.values()]
    printing.show(
        style,
        value=lambda: [table for one in papers.values() for table in one.to_json()],
        table=lambda: (rows[0][0], [row for _, of_paper in rows for row in of_paper]),
        grids=lambda: [
            *([make_count_grid(papers)] if corpus == ALL else []),
            *(
                grid
                for of_paper in papers.values()
                if corpus != ALL or show_missing
                for grid in make_table_grids(of_paper, missing=show_missing)
            ),
        ],
    )
    if strict:
        _check_differences(papers)


def _reproduce_one(corpus: str, table: str | None, inputs: Inputs) -> Reproduction:
    """Recompute the tables of a corpus's paper, or one of them."""
    from closeread.corpus.gold import data_notices
    from closeread.corpus.names import load_corpus
    from closeread.corpus.reproduction import reproduce

    declaration = load_corpus(corpus)
    tell(data_notices(declaration, declaration.default_config, inputs.data_dir))
    with warnings_as_notes():
        return reproduce(corpus, table, inputs)


def _reproduce_all(table: str | None, inputs: Inputs) -> dict[str, Reproduction]:
    """Recompute the tables of all papers whose corpora are here, by corpus; notes tell which are left out.

    Raises:
        RequestError: a table or files are given, or no corpus is here.
    """
    from closeread.corpus.names import load_corpus
    from closeread.corpus.reproduction import Inputs, reproduce, reproducible
    from closeread.corpus.sources import DATA_VARIABLE
    from closeread.exceptions import InputError, RequestError, pluralize

    if table is not None or inputs != Inputs():
        what = "all corpora are recomputed from the usual places"
        raise RequestError(f"{what}; choose one corpus for a table or files")
    papers: dict[str, Reproduction] = {}
    left_out: list[str] = []
    for name in reproducible():
        if load_corpus(name).user_folders:
            # Nobody knows whether a user's own folders hold the corpus of the paper.
            left_out.append(f"{name} is left out, since its files are your own: closeread reproduce {name}")
            continue
        try:
            papers[name] = reproduce(name)
        except InputError as error:
            first, *others = error.problems
            more = f", and {pluralize(len(others), 'more problem')}" if others else ""
            left_out.append(f"{name} is left out: {first.at(error.source)}{more}")
    if not papers:
        advice = (
            f"put the released files into ${DATA_VARIABLE}/CORPUS, or try closeread reproduce CORPUS --data-dir DIR"
        )
        raise RequestError("\n".join(["no corpus has its files here:", *left_out, advice]))
    tell(left_out)
    return papers


def _check_differences(papers: Mapping[str, Sequence[Table]]) -> None:
    """Check that no value differs, and none is not recomputed, without a known reason.

    Raises:
        ClickException: one does or is; the first is named.
    """
    from closeread.counts.printed_tables import format_like
    from closeread.exceptions import escape

    unexpected = [
        f"{corpus}: {table.name}: {cell.row}, {cell.column} is "
        f"{format_like(cell.printed, cell.recomputed) or cell.verdict} ({cell.printed} printed)"
        for corpus, tables in papers.items()
        for table in tables
        for cell in table.cells
        if not cell.is_expected
    ]
    if unexpected:
        more = f", and {len(unexpected) - 1:,} more" if len(unexpected) > 1 else ""
        raise click.ClickException(escape(f"{unexpected[0]}{more}"))
