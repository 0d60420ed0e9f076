"""Recompute the tables of papers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from closeread import parameters as arg
from closeread.corpus.gold import data_notices
from closeread.corpus.names import find_corpus, load_corpus
from closeread.corpus.notices import warn_all
from closeread.corpus.reproduction import Inputs, Reproduction, reproducible
from closeread.corpus.reproduction import reproduce as recompute
from closeread.corpus.sources import DATA_VARIABLE
from closeread.counts.printed_tables import format_like, make_count_grid, make_table_grids
from closeread.counts.results import Several
from closeread.exceptions import InputError, RequestError, advising_only, pluralize
from closeread.operations.calling import take_path, take_place
from closeread.parameters import Operations, Param
from closeread.public_names import AnyCorpus
from closeread.tables import Grid, Style

ALL = "all"
TableName = Annotated[str | None, Param(metavar="[TABLE]")]
Pipeline = Annotated[str | None, Param(metavar="NAME")]


def reproduce(
    corpus: AnyCorpus,
    table: str | int | None = None,
    *,
    data_dir: arg.Folder = None,
    upstream: arg.Folder = None,
    annotations: arg.Folder = None,
    articles: arg.Folder = None,
    spacy_model: Pipeline = None,
    runs: arg.Folder = None,
    **options: arg.FileOptions,
) -> Reproduction:
    """Recompute the tables of a corpus's paper, and compare them with what it prints.

    Args:
        table: one table, by number or name (1, "Table 1", "Text"); None for all.
        upstream: Read the authors' released predictions from this checkout of their repository.
        annotations: Read annotators' files from this folder, as DOCUMENT/ANNOTATOR.conll or .txt.
        articles: Read the texts of the articles from this folder, one <title>.txt each (WikiPossessions).
        spacy_model: Run the paper's baseline with this spaCy pipeline, installed or in a folder (WikiPossessions).
        runs: Score the trained models in this folder, as `closeread train` writes them (McTaco, TNE).
    """
    checkout, notes, texts, trained = map(take_path, (upstream, annotations, articles, runs))
    declared = find_corpus(corpus)
    files = take_place(declared, options, data_dir=data_dir).data_dir
    inputs = Inputs(files, checkout, notes, texts, spacy_model, trained)
    warn_all(data_notices(declared, declared.default_config, inputs.data_dir))
    with advising_only(("data_dir", *declared.reading_names)):
        return recompute(declared.name, None if table is None else str(table), inputs)


class Papers(Several):
    """The tables of one or all papers, by corpus: all papers with the number of their figures that agree."""

    def __init__(
        self, papers: Mapping[str, Reproduction], failure: str, *, missing: bool, together: bool
    ) -> None:
        super().__init__(list(papers.values()))
        self.papers, self.missing, self.together = papers, missing, together
        self.failure = failure  # what differs without a known reason, if that is to be an error

    def to_grids(self, style: Style = "table") -> Iterator[Grid]:
        if self.together:
            yield make_count_grid(self.papers)
        for tables in self.papers.values() if self.missing or not self.together else ():
            yield from make_table_grids(tables, missing=self.missing)


def reproduce_papers(
    corpus: Annotated[arg.CorpusName, Param(others=(ALL,))],
    table: TableName = None,
    *,
    show_missing: Annotated[bool, Param(flag="--missing")] = False,
    strict: bool = False,
    **inputs: Annotated[Any, Param(rest=reproduce)],
) -> Papers:
    """Recompute the figures that a corpus's paper prints, and show how many agree, and all of them side by side.

    CORPUS may be `all`: the corpora whose released files can be verified.  A recomputed value agrees if it is within
    half a unit of the last printed digit; printed values that were cut off instead of rounded, and random draws, have
    verdicts of their own.  What `holds without data` follows from a definition, from other printed figures, or from
    rules and examples of the paper that closeread implements.  Tables hide values that are not recomputed, unless
    --missing is given; JSON and CSV have everything.

    \b
    Examples:
      closeread reproduce mctaco
      closeread reproduce mctaco 2 --upstream MCTACO
      closeread reproduce tne Text --missing
      closeread reproduce marmara_coref 1 --annotations annotations
      closeread reproduce tne 3 --runs runs
      closeread reproduce wikipossessions 4 --articles texts --spacy-model NAME
      closeread reproduce all --strict

    Args:
        show_missing: Also show the values that are not recomputed, and what they need.
        strict: Exit with code 1 if a value differs, or is not recomputed, without a known reason.
    """
    if corpus != ALL:
        papers = {corpus: reproduce(corpus, table, **inputs)}
    elif table is not None or inputs:
        what = "all corpora are recomputed from the usual places"
        raise RequestError(f"{what}; choose one corpus for a table or files")
    else:
        papers = _reproduce_all()
    unexpected = [
        f"{name}: {one.name}: {cell.row}, {cell.column} is "
        f"{format_like(cell.printed, cell.recomputed) or cell.verdict} ({cell.printed} printed)"
        for name, tables in (papers.items() if strict else ())
        for one in tables
        for cell in one.cells
        if not cell.is_expected
    ]
    failure = (
        f"{unexpected[0]}, and {len(unexpected) - 1:,} more"
        if unexpected[1:]
        else "".join(unexpected)
    )
    return Papers(papers, failure, missing=show_missing, together=corpus == ALL)


def _reproduce_all() -> dict[str, Reproduction]:
    """Recompute the tables of all papers whose corpora are here, by corpus; notes tell which are left out."""
    papers: dict[str, Reproduction] = {}
    left_out: list[str] = []
    for name in reproducible():
        if load_corpus(name).user_folders:
            # Nobody knows whether a user's own folders hold the corpus of the paper.
            left_out.append(
                f"{name} is left out, since its files are your own: closeread reproduce {name}"
            )
            continue
        try:
            papers[name] = recompute(name)
        except InputError as error:
            first, *others = error.problems
            more = f", and {pluralize(len(others), 'more problem')}" if others else ""
            left_out.append(f"{name} is left out: {first.at(error.source)}{more}")
    if not papers:
        put = f"put the released files into ${DATA_VARIABLE}/CORPUS"
        advice = f"{put}, or try closeread reproduce CORPUS --data-dir DIR"
        raise RequestError("\n".join(["no corpus has its files here:", *left_out, advice]))
    warn_all(left_out)
    return papers


OPERATIONS: Operations = {"": {"reproduce": reproduce_papers}}
