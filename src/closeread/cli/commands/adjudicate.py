"""`closeread adjudicate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from closeread.cli import options


@click.group()
def command() -> None:
    """Make gold of what several annotators say.

    \b
    Example:
      closeread adjudicate mctaco anna.jsonl ben.jsonl cleo.jsonl dan.jsonl -o kept.jsonl
    """


@command.command()
@click.argument("annotators", type=options.FILE, nargs=-1, required=True)
@click.option(
    "--candidates", type=options.FILE, metavar="FILE", help="What was annotated, to write whole gold records."
)
@click.option("--dropped", type=options.FILE, metavar="FILE", help="Where to write the others, with their labels.")
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
    from closeread.adjudication.unanimity import unanimous
    from closeread.files import replacing, write_text
    from closeread.formats.json_lines import dump_json_lines

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


def _labels(path: Path) -> Mapping[str, str]:
    from closeread.corpora import read_rows

    return {row["id"]: row["label"] for row in read_rows(path, "mctaco", "annotation")}


def _gold_rows(kept: Mapping[str, str], candidates: Path | None) -> Sequence[dict[str, str]]:
    from closeread.corpora import read_rows
    from closeread.errors import FormatError, Problem
    from closeread.schema import fields, load_schema

    if candidates is None:
        return [{"id": name, "label": label} for name, label in kept.items()]
    rows = {row["id"]: row for row in read_rows(candidates, "mctaco", "candidate")}
    absent = [name for name in kept if name not in rows]
    if absent:
        raise FormatError(candidates, [Problem(f"has no candidate '{name}', which was annotated") for name in absent])
    names = [field.name for field in fields(load_schema("mctaco"))]
    return [{field: {**rows[name], "label": label}[field] for field in names} for name, label in kept.items()]
