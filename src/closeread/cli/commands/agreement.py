"""`closeread agreement`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing

if TYPE_CHECKING:
    from closeread.counts.metrics import Metric
    from closeread.records import Record


@click.group()
def command() -> None:
    """Measure how far two annotators agree.

    \b
    Examples:
      closeread agreement wikipossessions anna.csv ben.csv
      closeread agreement tne anna.jsonl ben.jsonl
      closeread agreement timeline anna/ ben/
    """


@command.command()
@click.argument("first", type=options.FILE)
@click.argument("second", type=options.FILE)
@click.option(
    "--setting",
    type=click.Choice(["exact", "partial"]),
    default="exact",
    show_default=True,
    help="How names match: wholly, or in a word that is no article or preposition.",
)
@options.style_options
def wikipossessions(first: Path, second: Path, setting: str, style: Any) -> None:
    """Possessors and ordered pairs of the second annotator against the first's, and Cohen's kappa of the labels.

    Files are in the corpus's format, JSON Lines or Parquet.

    \b
    Examples:
      closeread agreement wikipossessions anna.csv ben.csv
      closeread agreement wikipossessions anna.jsonl ben.jsonl --setting partial --json
    """
    import math
    from dataclasses import asdict

    from closeread.corpora.gold import load_corpus, read_own_gold
    from closeread.counts.rendering import Grid
    from closeread.tasks.wikipossessions.agreement import agreement

    corpus = load_corpus("wikipossessions")

    def read(path: Path) -> Sequence[Record]:
        gold = read_own_gold(corpus, path)
        options.tell(f"{path}: {notice}" for notice in gold.notices)
        return gold.records

    one, two = options.read_all((first, second), read)
    found = agreement(one, two, setting, (str(first), str(second)))
    plain = {
        name: {k: None if math.isnan(v) else v for k, v in values.items()} if isinstance(values, dict) else values
        for name, values in asdict(found).items()
    }
    header = ["", "precision", "recall", "same label", "kappa"]
    rows = [[name, plain["precision"][name], plain["recall"][name], "", ""] for name in found.precision]
    rows += [[name, "", "", found.same[name], plain["kappa"][name]] for name in found.kappa]
    notes = [f"Labels are compared where both have the possessor: {found.shared:,} times."]
    printing.show(
        style,
        value=lambda: plain,
        table=lambda: ([*header, "shared"], [[*row, found.shared] for row in rows]),
        grids=lambda: [Grid("", header, [[_shown(cell) for cell in row] for row in rows], notes)],
    )


def _shown(cell: str | float | None) -> str:
    """A cell of a table: a name, a count, a ratio, or None where that is undefined."""
    from closeread.counts.rendering import NOTHING

    if isinstance(cell, float):
        return f"{cell:.3f}"
    return NOTHING if cell is None else f"{cell:,}" if isinstance(cell, int) else cell


@command.command()
@click.argument("first", type=options.FILE)
@click.argument("second", type=options.FILE)
@options.style_options
def tne(first: Path, second: Path, style: Any) -> None:
    """Links and clusters of the second annotator against the first's: the metrics, on their files.

    Files are in the corpus's format, JSON Lines or Parquet; links may also be given as a system's, with the
    prepositions that unlinked pairs would have (fallback), which UPrep is about.  Clusters are compared without
    singletons.  What a file lacks is not compared.

    \b
    Examples:
      closeread agreement tne anna.jsonl ben.jsonl
      closeread agreement tne anna.jsonl.gz ben.jsonl.gz --json
    """
    from dataclasses import asdict

    from closeread.corpora.gold import load_corpus, read_file
    from closeread.counts.rendering import Grid
    from closeread.errors import pluralize
    from closeread.tasks.coref import procedure as coref
    from closeread.tasks.tne import procedure as links
    from closeread.tasks.tne.agreement import agreement

    corpus = load_corpus("tne")
    one, two = options.read_all(
        (first, second), lambda path: read_file(corpus, path, corpus.default_split, "annotation")
    )
    found = agreement(one, two, (str(first), str(second)))
    rows = [*_rows(found.links, links.PROCEDURE.metrics), *_rows(found.clusters, coref.PROCEDURE.metrics)]
    notes = [f"{second} against {first}, {pluralize(found.documents, 'document')}.", *found.lacking]
    notes += ["Clusters are compared without singletons."] if found.clusters is not None else []
    scores = [*(found.links or {}).items(), *(found.clusters or {}).items()]
    printing.show(
        style,
        value=lambda: asdict(found),
        table=lambda: (["metric", "value"], scores),
        grids=lambda: [Grid("", ["", "precision", "recall", "F1 or accuracy"], rows, notes)],
    )


@command.command()
@click.argument("first", type=options.FILE)
@click.argument("second", type=options.FILE)
@options.style_options
def timeline(first: Path, second: Path, style: Any) -> None:
    """Mentions of events, and mentions of entities, that both annotators have, by Dice's coefficient.

    Documents are files in CAT (.xml), or folders of them, with mentions of events (EVENT_MENTION), of entities
    (ENTITY_MENTION), and which of these refer to which entity (REFERS_TO): entity coreference, the entities compared by
    name.  Timelines are folders of them, or JSON Lines.

    \b
    Examples:
      closeread agreement timeline anna/ ben/
      closeread agreement timeline anna/7_Rain.xml ben/7_Rain.xml --json
    """
    from dataclasses import asdict

    from closeread.corpora.gold import load_corpus, read_own_gold
    from closeread.counts.rendering import Grid, percent
    from closeread.errors import RequestError
    from closeread.tasks.timeline.agreement import of_documents, of_timelines

    names = (str(first), str(second))
    documents = _holds_documents(first)
    if documents != _holds_documents(second):
        raise RequestError("one of the two has documents and the other timelines; name two of one kind")
    if documents:
        one, two = options.read_all((first, second), _annotations)
        found = of_documents(one, two, names)
    else:
        corpus = load_corpus("semeval2015_timeline")
        one, two = options.read_all((first, second), lambda path: read_own_gold(corpus, path).records)
        found = of_timelines(one, two, names)
    rows = [[what, *(f"{n:,}" for n in (o.first, o.second, o.both)), percent(o.dice)] for what, o in found.items()]
    header = ["", "first", "second", "both", "Dice"]
    printing.show(
        style,
        value=lambda: {what: asdict(overlap) for what, overlap in found.items()},
        table=lambda: (header, [[what, o.first, o.second, o.both, o.dice] for what, o in found.items()]),
        grids=lambda: [Grid("", header, rows)],
    )


def _holds_documents(path: Path) -> bool:
    """Whether a file is one in CAT, or a folder has such."""
    from closeread.tasks.timeline.cat_xml import SUFFIX

    return any(file.suffix == SUFFIX for file in (path.iterdir() if path.is_dir() else [path]))


def _annotations(path: Path) -> Sequence[Record]:
    """The documents of an annotator, with mentions of entities."""
    from closeread.errors import FormatError
    from closeread.records import find_repeated
    from closeread.tasks.timeline.cat_entities import read_annotations

    parsed = read_annotations(path)
    if problems := parsed.problems or find_repeated(parsed, "id"):
        raise FormatError(path, problems)
    return parsed.records


def _rows(scores: Mapping[str, float | None] | None, metrics: Sequence[Metric]) -> Iterator[list[str]]:
    """A line for every metric that was compared; precision, recall and F1 share one."""
    from closeread.counts.rendering import percent

    for metric in metrics:
        family, _, part = metric.name.rpartition("/")
        if scores is None or metric.name not in scores or part in ("precision", "recall"):
            continue
        parts = [f"{family}/{name}" for name in ("precision", "recall")]
        shown = [percent(scores[name]) if name in scores else "" for name in parts]
        yield [metric.title.removesuffix(" F1"), *shown, percent(scores[metric.name])]
