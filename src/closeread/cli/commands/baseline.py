"""`closeread baseline`."""

from __future__ import annotations

from pathlib import Path

import click

from closeread.cli import options


@click.command(cls=options.WritingCommand)
@click.argument("corpus")
@click.argument("name")
@options.gold_options
@options.seed
@click.option(
    "--definition",
    metavar="NAME",
    help="What the paper calls so, where its table and its text differ: for tne printed, the default, or described.",
)
@click.option("--spacy-model", metavar="NAME", help="spaCy pipeline, by name or folder, for baselines that read texts.")
@click.option(
    "--articles",
    type=options.FILE,
    metavar="DIR",
    help="Folder of texts: <title>.txt for the same; documents in CAT (.xml) for timelines of your own gold.",
)
@options.output
def command(
    corpus: str,
    name: str,
    config: str | None,
    split: str | None,
    gold: Path | None,
    data_dir: Path | None,
    seed: int,
    definition: str | None,
    spacy_model: str | None,
    articles: Path | None,
    output: Path,
) -> None:
    """Write the predictions of a baseline: JSON Lines, or the official text format by its suffix (.txt).

    Timelines are written into a folder, a file each, where the name to write has no suffix.

    \b
    Examples:
      closeread baseline mctaco always-positive -o yes.jsonl
      closeread baseline mctaco random --seed 7 --split validation -o coin.txt
      closeread baseline tne surface --definition described -o surface.jsonl
      closeread baseline semeval2015_timeline creation-time --split corpus_2 -o said
      closeread baseline wikipossessions heuristics --spacy-model en_core_web_sm --articles texts -o said.jsonl
    """
    import numpy as np

    from closeread.corpora.baselines import Resources, load_baselines
    from closeread.corpora.gold import load_corpus
    from closeread.corpora.submissions import write_submission
    from closeread.errors import RequestError, describe_unknown, escape, pluralize
    from closeread.scoring import gold_for

    baselines = load_baselines(load_corpus(corpus).name, definition)
    if name not in baselines:
        raise RequestError(describe_unknown(f"baseline of {corpus}", name, list(baselines)))
    records = options.tell_notices(gold_for(corpus, config=config, split=split, gold=gold, data_dir=data_dir))
    resources = Resources(np.random.default_rng(seed), spacy_model, articles)
    with options.warnings_as_notes():
        rows = baselines[name](records.records, resources)
    write_submission(output, rows, records.corpus)
    click.echo(escape(f"{output}: {pluralize(len(rows), 'row')}"))
