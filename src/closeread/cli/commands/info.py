"""`closeread info`."""

from __future__ import annotations

import click

from closeread.corpora.gold import load_corpus


@click.command(short_help="Show the configs, splits, fields and baselines of a corpus.")
@click.argument("corpus")
def command(corpus: str) -> None:
    """Show the configs, splits, fields and baselines of a corpus, and where its files are searched.

    \b
    Example:
      closeread info mctaco
    """
    from closeread.corpora.baselines import load_baselines
    from closeread.corpora.schema import fields, load_schema
    from closeread.corpora.sources import DATA_VARIABLE, cache_folder, data_folder
    from closeread.counts.rendering import Grid, draw
    from closeread.tasks import load_procedure

    c = load_corpus(corpus)
    procedure = load_procedure(c.procedure)
    folders = [data_folder(c.name) or f"${DATA_VARIABLE}/{c.name} (not set)", cache_folder(c.name)]
    about = [
        ["title", c.title],
        ["language", c.language],
        ["homepage", c.homepage],
        ["licence", c.licence],
        ["files searched in", ", then ".join(str(folder) for folder in folders)],
        ["scored by", f"closeread score {c.name} ({procedure.title})"],
        ["evaluate modules", ", ".join(load_procedure(c.procedure).modules)],
        ["baselines", ", ".join(load_baselines(c.name))],
    ]
    splits = [
        [config, split, source.expected, "comes with the package" if source.url is None else source.url]
        for config, declared in c.configs.items()
        for split, source in declared.splits.items()
    ]
    splits += [
        [config, union, "", " + ".join(parts)]
        for config, declared in c.configs.items()
        for union, parts in declared.unions.items()
    ]
    definitions: dict[str, str] = {}
    for config, declared in c.configs.items():
        definitions.setdefault(declared.definition, config)
    columns = [
        Grid(
            f"config {config}" if len(definitions) > 1 else "",
            ["field", "type", "description"],
            [[f.name, f.type, f.description] for f in fields(load_schema(c.name), definition)],
        )
        for definition, config in definitions.items()
    ]
    click.echo(f"{c.description}\n")
    for grid in (
        Grid("", ["", ""], about),
        Grid("", ["config", "split", "file", "source"], splits),
        *columns,
    ):
        click.echo(draw(grid, "table"))
