"""Predictions that operations read and write, and gold that models learn from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from closeread.corpus.gold import Gold, GoldSource, read_corpus_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.notices import warn_all
from closeread.corpus.submissions import check_submission_path, write_submission
from closeread.counts.annotators import Annotator
from closeread.counts.procedure import System
from closeread.exceptions import RequestError, advising_only, fill_options, name_option, quote
from closeread.records import Record, UserFiles
from closeread.tasks import load_procedure


def read_noted_gold(source: GoldSource) -> Gold:
    """Read the gold records of a corpus, or the user's own, and warn of their oddities."""
    gold = read_corpus_gold(source)
    warn_all(gold.notices)
    return gold


def read_systems(gold: Gold, source: Path | Sequence[Any], missing: str | None = None) -> System:
    """Read predictions for gold, with the default options of the corpus, for a command without procedure options."""
    procedure = load_procedure(gold.corpus.procedure)
    chosen = {} if missing is None else {"missing": missing}
    options = procedure.resolve_options(chosen, gold.corpus.procedure_defaults)
    with advising_only(()):
        return procedure.reader.read_system(gold, source, options)


def name_systems(systems: Sequence[Annotator]) -> dict[str, Annotator]:
    """Return different systems by the names of their files without suffix, or by their paths if two are the same."""
    by_path = {system.name: system for system in systems}
    by_stem: dict[str, Annotator] = {}
    for system in by_path.values():
        source = system.source
        by_stem[source.stem if isinstance(source, Path) else system.name] = system
    return by_stem if len(by_stem) == len(by_path) else by_path


def read_prediction(gold: Gold, predictions: Annotator, unit: str) -> Record:
    """Return the prediction for a unit from predictions, which need not cover the other units."""
    key = gold.corpus.key
    rows = read_systems(gold, predictions.source, "empty").rows
    row: Record | None = None
    for record, predicted in zip(gold.records, rows, strict=True):
        if record[key] == unit:
            row = predicted
            break
    if row is None:
        raise RequestError(f"{predictions.name} has no prediction for {key} {quote(unit)}")
    return row


def read_golds(
    corpus: str,
    splits: Mapping[str, str],
    given: Mapping[str, tuple[Annotator | None, str | None]],
    config: str | None,
    data_dir: Path | None,
) -> dict[str, Gold]:
    """Read the data on which models are trained ("training"), selected ("validation") and scored ("test").

    By role, `given` has the user's own files or rows, and the name of a split; `splits` has the default splits.  A role
    without any of them has no data.
    """
    declared = load_corpus(corpus)
    procedure = load_procedure(declared.procedure)
    sources: dict[str, GoldSource] = {}
    for role, (annotator, name) in given.items():
        if annotator is not None and name is not None:
            raise RequestError(f"{role} is given twice: as data and as a split")
        split = name or splits.get(role)
        if annotator is not None:
            sources[role] = GoldSource(procedure, declared, gold=annotator.source)
        elif split is not None:
            files = UserFiles(data_dir)
            sources[role] = GoldSource(procedure, declared, config, split, files=files)
    if not any(source.split for source in sources.values()):
        for option, value in (("config", config), ("data_dir", data_dir)):
            if value is not None:
                reason = "has no effect: no split of the corpus is read"
                raise RequestError(f"{name_option(option)} {reason}")
    golds: dict[str, Gold] = {}
    notices: dict[str, None] = {}
    for role, source in sources.items():
        golds[role] = read_corpus_gold(source)
        notices |= dict.fromkeys(golds[role].notices)
    warn_all(list(notices))
    return golds


def check_place(option: str, source: GoldSource) -> GoldSource:
    """Check that gold to predict is not given both by an option and by arguments, and return where it is."""
    if any(part is not None for part in (source.config, source.split, source.gold)):
        raise RequestError(
            fill_options(f"{{{option}}} and {{config}}, {{split}} or {{gold}} exclude each other")
        )
    return source


@contextmanager
def write_predictions(
    corpus: str, output: Path | None
) -> Iterator[Callable[[Sequence[Record]], None]]:
    """Check that predictions can be written to a file before long computations; yield a function that writes them."""
    declared = load_corpus(corpus)
    if output is not None:
        check_submission_path(output, declared)
    yield lambda rows: None if output is None else write_submission(output, rows, declared)
