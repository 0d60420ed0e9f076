"""`closeread stats`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from closeread.cli import options, printing


@click.command()
@click.argument("corpus")
@options.config
@options.data_dir
@options.style_options
def command(corpus: str, config: str | None, data_dir: Path | None, style: Any) -> None:
    """Count what the files of a corpus hold, split by split.

    \b
    Examples:
      closeread stats mctaco
      closeread stats mctaco --config sample --json
    """
    from closeread.corpora.facts import load_facts
    from closeread.corpora.gold import left_out, load_corpus, read_gold, select, splits_at_hand
    from closeread.counts.rendering import Grid, number

    declaration = load_corpus(corpus)
    name, _, _ = select(declaration, config, None)
    facts = load_facts(declaration.name, declaration.configs[name].definition)
    options.tell(() if data_dir else left_out(declaration, name))
    # Where none is at hand, reading says so.
    here = splits_at_hand(declaration, name, data_dir) or declaration.configs[name].splits
    golds = [read_gold(declaration, name, split, data_dir) for split in here]
    options.tell(f"split {gold.split}: {notice}" for gold in golds for notice in gold.notices)
    splits = {str(gold.split): gold.records for gold in golds}
    if len(splits) > 1:
        splits["all"] = [record for records in splits.values() for record in records]
    found = {split: facts(records) for split, records in splits.items()}
    figures = list(dict.fromkeys(figure for values in found.values() for figure in values))
    header = ["figure", *found]
    shown = [[figure, *(number(values.get(figure)) for values in found.values())] for figure in figures]
    printing.show(
        style,
        value=lambda: {"corpus": corpus, "config": name, "splits": found},
        table=lambda: (header, [[figure, *(values.get(figure) for values in found.values())] for figure in figures]),
        grids=lambda: [Grid(f"{declaration.title} ({name})", header, shown)],
    )
