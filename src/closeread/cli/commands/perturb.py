"""`closeread perturb`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from closeread.cli import options


@click.group()
def command() -> None:
    """Rewrite a corpus's records: normal units, more candidate answers.

    \b
    Examples:
      closeread perturb mctaco units --config sample -o normal.jsonl
      closeread perturb mctaco candidates --config sample -o candidates.jsonl
    """


@command.group()
def mctaco() -> None:
    """The tools of Zhou et al. (2019) for McTaco.

    \b
    Example:
      closeread perturb mctaco units --config sample -o normal.jsonl
    """


@mctaco.command(cls=options.WritingCommand)
@options.gold_options
@click.option(
    "--rule",
    type=click.Choice(["proper", "official"]),
    default="proper",
    show_default=True,
    help="The largest unit of at least 1; or as the authors' script (0.5, months of 30 days).",
)
@options.output
def units(rule: Any, output: Path, **places: Any) -> None:
    """Rewrite temporal expressions in their most proper unit: "30 months" becomes "2.5 years".

    Writes JSON Lines, or the released format by its suffix (.tsv); a file that is read back with --gold.

    \b
    Examples:
      closeread perturb mctaco units --split validation -o normal.jsonl
      closeread perturb mctaco units --rule official -o normal.tsv
    """
    from closeread.files import write_text
    from closeread.formats.json_lines import dump_json_lines
    from closeread.scoring import gold_for
    from closeread.tasks.mctaco.mctaco_tsv import dump_records
    from closeread.tasks.mctaco.perturbation.units import normalize_units

    gold = options.tell_notices(gold_for("mctaco", **places))
    rows = [{**record, "answer": normalize_units(record["answer"], rule=rule)} for record in gold.records]
    changed = sum(row["answer"] != record["answer"] for row, record in zip(rows, gold.records, strict=True))
    write_text(output, (dump_records if output.suffix == ".tsv" else dump_json_lines)(rows))
    click.echo(f"{output}: {len(rows):,} rows, {changed:,} answers rewritten")


@mctaco.command(cls=options.WritingCommand)
@options.gold_options
@click.option(
    "--number-rule",
    type=click.Choice(["off", "plus_one", "times_ten"]),
    default="off",
    show_default=True,
    help="What the rules do to numbers.",
)
@click.option("--fill-mask", metavar="MODEL", help="Mask words and have this Hugging Face model or folder fill them.")
@click.option("--device", metavar="NAME", help="Where the model runs, such as 'cuda:0'; the first GPU if there is one.")
@click.option("--phrases", type=options.FILE, metavar="FILE", help="Retrieve from this file of phrases, one a line.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Candidates a question.")
@options.seed
@options.output
def candidates(
    number_rule: Any,
    fill_mask: str | None,
    device: str | None,
    phrases: Path | None,
    limit: int,
    seed: int,
    output: Path,
    **places: Any,
) -> None:
    """Add candidate answers to every question: rules, then masked words, then retrieved phrases.

    Each technique is used while a question has fewer than --limit candidates.  The new ones have no label: let
    annotators judge them, and `closeread adjudicate mctaco` keeps what they agree on.

    \b
    Examples:
      closeread perturb mctaco candidates --config sample -o candidates.jsonl
      closeread perturb mctaco candidates --number-rule plus_one --phrases events.txt -o candidates.jsonl
      closeread perturb mctaco candidates --fill-mask bert-base-uncased -o candidates.jsonl
    """
    from collections import Counter

    from closeread.files import write_text
    from closeread.formats.json_lines import dump_json_lines
    from closeread.scoring import gold_for
    from closeread.tasks.mctaco.perturbation.candidates import expand

    gold = options.tell_notices(gold_for("mctaco", **places))
    techniques = _techniques(number_rule, fill_mask, device, phrases)
    rows = expand(gold.records, techniques, limit=limit, seed=seed)
    write_text(output, dump_json_lines(rows))
    made = Counter(row["technique"] for row in rows)
    click.echo(f"{output}: {len(rows):,} rows ({', '.join(f'{n:,} {name}' for name, n in made.items())})")


def _techniques(number_rule: Any, fill_mask: str | None, device: str | None, phrases: Path | None) -> Sequence[Any]:
    from closeread.tasks.mctaco.perturbation.candidates import by_masking, by_retrieval, by_rules

    techniques = [by_rules(number_rule=number_rule)]
    if fill_mask is not None:
        from closeread.neural.fill_mask import FillMask

        model = FillMask(fill_mask, device=device)
        techniques.append(by_masking(model, mask_token=model.mask_token))
    if phrases is not None:
        from closeread.formats.text import read_lines
        from closeread.tasks.mctaco.perturbation.retrieval import PhraseIndex

        techniques.append(by_retrieval(PhraseIndex(read_lines(phrases))))
    return techniques
