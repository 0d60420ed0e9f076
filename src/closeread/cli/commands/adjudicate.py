"""`closeread adjudicate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from closeread.cli import options
from closeread.errors import escape, pluralize

if TYPE_CHECKING:
    from closeread.records import Record
    from closeread.tasks.tne.adjudication import Consolidation


@click.group()
def command() -> None:
    """Make gold of what several annotators say.

    \b
    Examples:
      closeread adjudicate mctaco anna.jsonl ben.jsonl cleo.jsonl dan.jsonl -o kept.jsonl
      closeread adjudicate tne anna.jsonl ben.jsonl --conflicts conflicts.jsonl -o agreed.jsonl
    """


@command.command(cls=options.WritingCommand)
@click.argument("annotators", type=options.FILE, nargs=-1, required=True)
@click.option(
    "--candidates", type=options.FILE, metavar="FILE", help="What was annotated, to write whole gold records."
)
@click.option("--dropped", type=options.WRITTEN, metavar="FILE", help="Where to write the others, with their labels.")
@options.output
def mctaco(annotators: tuple[Path, ...], candidates: Path | None, dropped: Path | None, output: Path) -> None:
    """Keep the candidates that all annotators call likely, or all unlikely (Zhou et al., 2019, step 4).

    Each annotator's file is JSON Lines: {"id": ..., "label": "likely" | "unlikely" | "invalid"}.  The paper has
    four annotators.  With --candidates, the file that `closeread perturb mctaco candidates` wrote, the result is
    a gold file; without, it holds ids and labels.

    \b
    Example:
      closeread adjudicate mctaco anna.jsonl ben.jsonl cleo.jsonl dan.jsonl
          --candidates candidates.jsonl -o gold.jsonl
    """
    from closeread.files import replacing, write_text
    from closeread.formats.json_lines import dump_json_lines
    from closeread.tasks.mctaco.adjudication import unanimous

    result = unanimous([_labels(path) for path in annotators], [str(path) for path in annotators])
    kept = dump_json_lines(_gold_rows(result.kept, candidates))
    others = dump_json_lines({"id": name, "labels": list(labels)} for name, labels in result.dropped.items())
    with replacing(output) as partial:
        partial.write_text(kept, "utf-8")
        if dropped is not None:
            write_text(dropped, others)
    yes = sum(label == "yes" for label in result.kept.values())
    agreement = "" if result.observed_agreement is None else f"; observed agreement {result.observed_agreement:.3f}"
    click.echo(
        f"{output}: {len(result.kept):,} kept ({yes:,} yes, {len(result.kept) - yes:,} no), "
        f"{len(result.dropped):,} dropped{agreement}"
    )


@command.command(cls=options.WritingCommand)
@click.argument("annotators", type=options.FILE, nargs=-1, required=True)
@click.option("--conflicts", type=options.WRITTEN, metavar="FILE", help="Where to write what is still to be decided.")
@click.option("--decisions", type=options.FILE, metavar="FILE", help="The conflicts once a person has decided on them.")
@options.output
def tne(annotators: tuple[Path, ...], conflicts: Path | None, decisions: Path | None, output: Path) -> None:
    """Keep the links that all annotators have, and let a person decide on the others (Elazar et al., 2022).

    Annotators' files are in the corpus's format, JSON Lines or Parquet, with the same clusters.  A conflict is an
    anchor and a cluster that are not linked alike: a JSON line with their words, what every annotator says (A, B and so
    on, in the order of the files), and a decision, null at first, which is to become all the prepositions that hold, or
    [] for no link.

    With --decisions, the result is final, and open conflicts are refused; with --conflicts beside it, those that are
    still open are written there once more.

    \b
    Examples:
      closeread adjudicate tne anna.jsonl ben.jsonl --conflicts conflicts.jsonl -o agreed.jsonl
      closeread adjudicate tne anna.jsonl ben.jsonl --decisions conflicts.jsonl -o gold.jsonl
    """
    from closeread.files import replacing, write_text
    from closeread.formats.json_lines import dump_json_lines
    from closeread.tasks.tne.adjudication import conflicts as find_conflicts
    from closeread.tasks.tne.adjudication import consolidated, consolidation
    from closeread.tasks.tne.tne_jsonl import dump_records

    found = consolidation(_documents(annotators), [str(path) for path in annotators])
    decided = {} if decisions is None else _decided(found, decisions, conflicts)
    gold = consolidated(found, decided)
    rows = find_conflicts(found, decided)
    with replacing(output) as partial:
        partial.write_text(dump_records(gold), "utf-8", newline="")
        if conflicts is not None:
            write_text(conflicts, dump_json_lines(rows))
    links = sum(len(record["np_relations"]) for record in gold)
    told = f"{pluralize(len(gold), 'document')}, {pluralize(links, 'link')}"
    told += f"; {pluralize(len(decided), 'conflict')} decided, {len(rows):,} open"
    click.echo(escape(f"{output}: {told}" + (f" (in {conflicts})" if conflicts is not None else "")))


def _documents(annotators: Sequence[Path]) -> list[Sequence[Record]]:
    """The documents of every annotator, or the problems of all files."""
    from closeread.corpora.gold import load_corpus, read_file

    corpus = load_corpus("tne")
    return options.read_all(annotators, lambda path: read_file(corpus, path, corpus.default_split))


def _decided(found: Consolidation, path: Path, conflicts: Path | None) -> Mapping[int, Sequence[int]]:
    """The decisions of a file, which may leave conflicts open where there is a file for these."""
    from closeread.corpora.schema import RowValidator, load_schema
    from closeread.errors import FormatError
    from closeread.formats.json_lines import parse_json_lines
    from closeread.formats.text import read_lines
    from closeread.records import Parsed, name_problem
    from closeread.tasks.tne.adjudication import decisions
    from closeread.tasks.tne.tne_jsonl import UNSAFE

    # Where all agree there is nothing to decide; the words of the corpus hold what is unsafe elsewhere.
    is_empty = path.is_file() and not path.stat().st_size
    parsed = parse_json_lines([] if is_empty else read_lines(path), UNSAFE)
    unfit = RowValidator(load_schema("tne"), "decision").problems(parsed.records, range(len(parsed.records)))
    rejected = {problem.line for problem in unfit}
    fit = [number for number in range(len(parsed.records)) if number not in rejected]
    read = decisions(found, Parsed([parsed.records[n] for n in fit], [parsed.lines[n] for n in fit], []))
    unread = parsed.problems + [name_problem(parsed, "id", problem) for problem in unfit]
    problems = unread + read.problems
    if conflicts is None:
        # The conflicts of rows that could not be read are missing, too: no news.
        problems += [problem for problem in read.open if problem.line is not None or not unread]
    if problems:
        raise FormatError(path, sorted(problems, key=lambda problem: problem.order))
    return read.labels


def _labels(path: Path) -> Mapping[str, str]:
    from closeread.corpora.gold import read_rows

    return {row["id"]: row["label"] for row in read_rows(path, "mctaco", "annotation")}


def _gold_rows(kept: Mapping[str, str], candidates: Path | None) -> Sequence[dict[str, str]]:
    from closeread.corpora.gold import read_rows
    from closeread.corpora.schema import fields, load_schema
    from closeread.errors import FormatError, Problem

    if candidates is None:
        return [{"id": name, "label": label} for name, label in kept.items()]
    rows = {row["id"]: row for row in read_rows(candidates, "mctaco", "candidate")}
    absent = [name for name in kept if name not in rows]
    if absent:
        raise FormatError(candidates, [Problem(f"has no candidate '{name}', which was annotated") for name in absent])
    names = [field.name for field in fields(load_schema("mctaco"))]
    return [{field: {**rows[name], "label": label}[field] for field in names} for name, label in kept.items()]
