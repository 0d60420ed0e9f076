"""Predictions that operations read and write, and gold that models learn from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from closeread.corpus.gold import Gold, read_corpus_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.notices import warn_all
from closeread.corpus.submissions import check_submission_path, write_submission
from closeread.counts.annotators import Annotator
from closeread.counts.procedure import GoldSpec, System
from closeread.counts.table import CountTable
from closeread.exceptions import RequestError, advising_only, fill_options, name_option, quote
from closeread.records import Record
from closeread.tasks import load_procedure


def read_noted_gold(place: GoldSpec) -> Gold:
    """Read the gold records of a corpus, or the user's own, and warn of their oddities."""
    gold = read_corpus_gold(place)
    warn_all(gold.notices)
    return gold


def read_systems(gold: Gold, source: Path | Sequence[Any], missing: str | None = None) -> System:
    """Read predictions for gold, with the default options of the corpus, for a command without procedure options."""
    procedure = load_procedure(gold.corpus.procedure)
    chosen = {} if missing is None else {"missing": missing}
    resolved = procedure.resolve_options({**gold.corpus.procedure_defaults, **chosen})
    with advising_only(()):
        return procedure.sides.read_system(gold, source, resolved)


def count_rows(gold: Gold, rows: Sequence[Any], breakdowns: Sequence[str] = ()) -> CountTable:
    """Count aligned rows as `closeread score` does with default options, so that intervals are the same, too."""
    procedure = load_procedure(gold.corpus.procedure)
    resolved = procedure.resolve_options(gold.corpus.procedure_defaults)
    options = procedure.keep_options(resolved, reading=False)
    more = {"breakdowns": tuple(breakdowns)} if breakdowns else {}
    table = procedure.count(gold=gold.records, system=rows, **options, **more)
    digests = procedure.sides.digests(gold, resolved)
    return replace(table, digests=[digests[unit] for unit in table.units])


def name_systems(systems: Sequence[Annotator]) -> dict[str, Annotator]:
    """Return different systems by the names of their files without suffix, or by their paths if two are the same."""
    different = {one.name: one for one in systems}
    names = [
        one.source.stem if isinstance(one.source, Path) else one.name for one in different.values()
    ]
    return dict(
        zip(names if len(set(names)) == len(names) else different, different.values(), strict=True)
    )


def read_prediction(gold: Gold, predictions: Annotator, unit: str) -> Record:
    """Return the prediction for a unit from predictions, which need not cover the other units."""
    key, rows = gold.corpus.key, read_systems(gold, predictions.source, "empty").rows
    row: Record | None = next(
        row for record, row in zip(gold.records, rows, strict=True) if record[key] == unit
    )
    if row is None:
        raise RequestError(f"{predictions.name} has no prediction for {key} {quote(unit)}")
    return row


def read_golds(
    corpus: str,
    splits: Mapping[str, str | None],
    given: Mapping[str, tuple[Annotator | None, str | None]],
    config: str | None,
    data_dir: Path | None,
) -> dict[str, Gold | None]:
    """Read the data on which models are trained ("training"), selected ("validation") and scored ("test").

    By role, `given` has the user's own files or rows, and the name of a split; `splits` has the default splits.
    """
    places: dict[str, GoldSpec | None] = {}
    for role, (own, name) in given.items():
        if own is not None and name is not None:
            raise RequestError(f"{role} is given twice: as data and as a split")
        split = name or splits[role]
        if own is not None:
            places[role] = GoldSpec(corpus, gold=own.source)
        else:
            places[role] = (
                None if split is None else GoldSpec(corpus, config, split, None, data_dir)
            )
    if not any(place is not None and place.split for place in places.values()):
        for option, value in (("config", config), ("data_dir", data_dir)):
            if value is not None:
                raise RequestError(
                    f"{name_option(option)} has no effect: no split of the corpus is read"
                )
    golds = {
        role: None if place is None else read_corpus_gold(place) for role, place in places.items()
    }
    warn_all(
        list(
            dict.fromkeys(
                notice for gold in golds.values() if gold is not None for notice in gold.notices
            )
        )
    )
    return golds


def check_place(option: str, place: GoldSpec) -> GoldSpec:
    """Check that gold to predict is not given both by an option and by a place, and return the place."""
    if any(value is not None for value in (place.config, place.split, place.gold)):
        raise RequestError(
            fill_options(f"{{{option}}} and {{config}}, {{split}} or {{gold}} exclude each other")
        )
    return place


@contextmanager
def write_predictions(
    corpus: str, output: Path | None
) -> Iterator[Callable[[Sequence[Record]], None]]:
    """Check that predictions can be written to a file before long computations; yield a function that writes them."""
    declared = load_corpus(corpus)
    if output is not None:
        check_submission_path(output, declared)
    yield lambda rows: None if output is None else write_submission(output, rows, declared)
