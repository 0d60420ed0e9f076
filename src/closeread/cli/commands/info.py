"""`closeread info`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from closeread.cli import names, options, printing
from closeread.cli.options import GroupedCommand
from closeread.cli.printing import tell
from closeread.exceptions import RequestError, escape

if TYPE_CHECKING:
    from closeread.corpus.declaration import Corpus


@click.command(cls=GroupedCommand, short_help="Show the configs, splits, fields and baselines of a corpus.")
@names.corpus
@click.option("--oddities", is_flag=True, help="List what is unusual about the released files instead.")
@click.option("--json", "as_json", is_flag=True, help="With --oddities, list them as JSON.")
@options.data_dir
def command(corpus: str, oddities: bool, as_json: bool, data_dir: Path | None) -> None:
    """Show the configs, splits, fields and baselines of a corpus, and where its files are searched.

    Oddities of the released files are the same for everybody, so other commands only say how many there are.

    \b
    Examples:
      closeread info mctaco
      closeread info tne --oddities
    """
    if oddities:
        show_oddities(corpus, data_dir, as_json=as_json)
    elif as_json or data_dir is not None:
        raise RequestError("--json and --data-dir are for --oddities; add it")
    else:
        show_corpus(corpus)


def show_oddities(corpus: str, data_dir: Path | None, *, as_json: bool) -> None:
    """Print the oddities of a corpus's released files, split by split."""
    from closeread.corpus.gold import find_known_oddities
    from closeread.corpus.names import load_corpus

    found = find_known_oddities(load_corpus(corpus), data_dir)
    tell(found.notices)
    if as_json:
        rows = [
            {"config": config, "split": split, "oddity": text} for config, split, texts in found.parts for text in texts
        ]
        printing.print_json({"corpus": corpus, "oddities": rows})
        return
    if not found.parts:
        click.echo("no oddities")
    for config, split, texts in found.parts:
        noun = "oddity" if len(texts) == 1 else "oddities"
        click.echo(f"config {config}, split {split}: {len(texts):,} {noun}")
        for text in texts:
            click.echo(f"  {escape(text)}")


def show_corpus(corpus: str) -> None:
    """Print what is known of a corpus."""
    from closeread.corpus.baselines import load_baselines
    from closeread.corpus.names import load_corpus
    from closeread.corpus.schema import fields, load_schema
    from closeread.corpus.sources import DATA_VARIABLE, cache_folder, data_folder
    from closeread.tables import Grid, Whole, find_width
    from closeread.tasks import load_procedure

    c = load_corpus(corpus)
    procedure = load_procedure(c.procedure)
    folders = [str(data_folder(c.name) or f"${DATA_VARIABLE}/{c.name} (not set)"), str(cache_folder(c.name))]
    about = [
        ["title", c.title],
        ["language", c.language],
        ["homepage", c.homepage],
        ["licence", c.licence],
        *([name, Whole(folder)] for name, folder in zip(("files searched in", ""), folders, strict=True)),
        ["scored with", Whole(f"closeread score {c.name} FILE")],
        ["scores", procedure.title],
        ["evaluate modules", ", ".join(procedure.modules)],
        ["baselines", ", ".join(load_baselines(c.name))],
    ]
    splits = [
        [config, split, source.expected if source.url else f"{source.expected} (in the package)"]
        for config, declared in c.configs.items()
        for split, source in declared.splits.items()
    ]
    splits += [
        [config, union, " + ".join(parts)]
        for config, declared in c.configs.items()
        for union, parts in declared.unions.items()
    ]
    urls = [source.url for declared in c.configs.values() for source in declared.splits.values() if source.url]
    definitions: dict[str, str] = {}
    for config, declared in c.configs.items():
        definitions.setdefault(declared.definition, config)
    columns = [
        Grid(
            f"config {config}" if len(definitions) > 1 else "",
            ["field", "type", "description"],
            [[f.name, f.type, f.description] for f in fields(load_schema(c.schema), definition)],
            prose=frozenset({"type", "description"}),
        )
        for definition, config in definitions.items()
    ]
    click.echo(f"{click.wrap_text(c.description, find_width())}\n")
    printing.print_grids(
        [
            Grid("", ["", ""], [[Whole(name), value] for name, value in about], prose=frozenset({""})),
            Grid("", ["config", "split", "file"], splits),
            *([Grid("Sources", [""], [[url] for url in dict.fromkeys(urls)])] if urls else []),
            *columns,
        ]
    )
    _print_examples(c)


def _print_examples(corpus: Corpus) -> None:
    """Print a gold record and a line of a submission."""
    from closeread.corpus.showing import abridge, example_record, example_submission
    from closeread.tables import find_width, wrap_paragraph

    record = abridge(example_record(corpus)).splitlines()
    lines = [line for field in record for line in wrap_paragraph(field, find_width())]
    click.echo("\n".join(["", "A gold record of the sample, abridged", "", *lines]))
    # Whole, so that it can be copied.
    click.echo("\n".join(["", "A line of a submission (JSON Lines)", "", escape(example_submission(corpus))]))
