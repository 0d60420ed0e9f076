"""`closeread show`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import names, options, printing
from closeread.cli.printing import tell

if TYPE_CHECKING:
    from closeread.corpus.declaration import Corpus
    from closeread.corpus.gold import Gold
    from closeread.corpus.showing import Part
    from closeread.records import Record


@click.command(cls=options.CorpusCommand, short_help="Show a record of a corpus.")
@names.corpus
@click.argument("record_id", metavar="[ID]", required=False)
@options.gold_options
@click.option(
    "--predictions", type=options.FILE, metavar="FILE", help="Show the predictions of this file beside the gold record."
)
@click.option("--ids", is_flag=True, help="List the ids of all records instead.")
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON.")
def command(
    corpus: str, record_id: str | None, predictions: Path | None, ids: bool, as_json: bool, **place: Any
) -> None:
    """Show a record of a corpus as a reader would want it; without ID the first.

    \b
    Examples:
      closeread show wikipossessions "The Blue Kettle (painting)" --config sample
      closeread show tne s2 --config sample
      closeread show mctaco test-q0003 --config sample --predictions yes.jsonl
    """
    from closeread.corpus.names import load_corpus
    from closeread.corpus.showing import draw_parts, list_names, load_view, read_records, select_records

    declared = load_corpus(corpus)
    where = options.take_place(declared.name, **place)
    gold = read_records(declared, where)
    view = load_view(declared, gold.config)
    known = list_names(declared, view, gold.records)
    if ids:
        from closeread.exceptions import escape_line

        tell(gold.notices)
        click.echo("\n".join(map(escape_line, known)))
        return
    matching, shown = select_records(declared, view, gold.records, record_id)
    tell(_list_notices(gold, shown))
    system, rows = None, None
    if predictions is not None:
        from closeread.operations.show import read_predictions

        system, notices = read_predictions(declared, where, predictions)
        tell(notices)
        rows = [system[number] for number in shown]
    if as_json:
        printing.print_json(_make_json(gold.records, system, matching))
        return
    parts = [*view.draw([gold.records[number] for number in shown], rows)]
    parts += [] if record_id else [_tell_others(declared, gold, known, place)]
    click.echo(draw_parts(parts, coloured=printing.can_colour(sys.stdout)))


def _list_notices(gold: Gold, shown: Sequence[int]) -> Sequence[str]:
    """Return the notices about the records that are shown: if it is one, those about it."""
    name = gold.records[shown[0]].get(gold.corpus.key) if len(shown) == 1 else None
    return gold.notices if name is None else gold.notices_about(name)


def _make_json(records: Sequence[Record], system: Sequence[Record | None] | None, numbers: Sequence[int]) -> object:
    found = [
        records[number] if system is None else {"gold": records[number], "system": system[number]} for number in numbers
    ]
    return found[0] if len(found) == 1 else found


def _tell_others(corpus: Corpus, gold: Gold, known: Sequence[str], place: dict[str, Any]) -> Part:
    """Return a note that says how to show other records."""
    from closeread.tables import Grid, Whole

    where = [part for name in ("config", "split", "gold") if place[name] for part in (f"--{name}", str(place[name]))]
    count = f"The first of {len(known or gold.records):,} in {corpus.title}"
    notes = [f"{count} ({gold.config}, {gold.split})." if gold.config else f"{count}."]
    command = ["closeread", "show", corpus.name]
    notes += [Whole(f"The next: {shlex.join([*command, name, *where])}") for name in known[1:2]]
    notes += [Whole(f"All ids: {shlex.join([*command, *where, '--ids'])}")] if known else []
    return Grid("", [], [], notes)
