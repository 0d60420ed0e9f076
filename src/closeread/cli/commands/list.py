"""`closeread list`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing
from closeread.cli.options import GroupedCommand
from closeread.corpus.names import corpus_names, load_corpus

if TYPE_CHECKING:
    from closeread.corpus.declaration import Corpus
    from closeread.counts.procedure import Procedure

HEADER = ("corpus", "title", "configs", "procedure", "modules", "licence")


@click.command(cls=GroupedCommand, short_help="List corpora, scoring procedures and evaluate modules.")
@options.style_options
def command(style: Any) -> None:
    """List corpora and procedures that score any gold, and how to score predictions.

    JSON and CSV also list the configs of a corpus, its licence and its evaluate modules, as `closeread info` does.

    \b
    Examples:
      closeread list
      closeread list --json
    """
    from closeread.tables import NOTHING, Grid
    from closeread.tasks import load_procedure, procedure_names

    corpora = [load_corpus(name) for name in corpus_names()]
    procedures = {name: load_procedure(name) for name in procedure_names()}
    scored = Counter(corpus.procedure for corpus in corpora)
    own_gold = [one for name, one in procedures.items() if one.sides.key_first or not scored[name]]
    rows: list[list[Any]] = [
        [c.name, c.title, list(c.configs), c.procedure, list(procedures[c.procedure].modules), c.licence]
        for c in corpora
    ]
    rows += [[None, p.title, [], p.name, list(p.modules), None] for p in own_gold]
    shown = [[c.name, c.title, _name_command(c, procedures, scored)] for c in corpora]
    shown += [
        [p.name, p.title, f"closeread score {p.name} {'KEY RESPONSE' if p.sides.key_first else 'FILE'}"]
        for p in own_gold
    ]
    printing.show(
        style,
        value=lambda: [dict(zip(HEADER, row, strict=True)) for row in rows],
        table=lambda: (
            HEADER,
            [[row[0] or NOTHING, *map(_join, row[1:])] for row in rows],
        ),
        grids=lambda: [
            Grid("", ["name", "what it is", "how to score it"], shown, prose=frozenset({"what it is"}), labels=1)
        ],
    )


def _name_command(corpus: Corpus, procedures: dict[str, Procedure], scored: Counter[str]) -> str:
    """Return the shortest command that scores predictions for a corpus."""
    alone = scored[corpus.procedure] == 1 and not procedures[corpus.procedure].sides.key_first
    return f"closeread score {corpus.procedure if alone else corpus.name} FILE"


def _join(cell: str | list[str] | None) -> str:
    return ", ".join(cell) if isinstance(cell, list) else cell or ""
