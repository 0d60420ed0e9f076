"""Score any procedure, through one `Scorer`, so that the same input always gives the same scores and signature."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from closeread.corpus.declaration import Corpus
from closeread.corpus.gold import Gold, GoldSource
from closeread.corpus.names import find_corpus, find_task, load_corpus
from closeread.corpus.objects import take_source
from closeread.corpus.submissions import name_fields
from closeread.counts.counts import Counts
from closeread.counts.estimates import Resampling
from closeread.counts.metrics import UNITS, by_name, describe_undefined
from closeread.counts.procedure import Options, Procedure, ScorableGold, System
from closeread.counts.report import Provenance
from closeread.counts.table import CountTable
from closeread.digests import combine_digests
from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    UnknownOptionError,
    advise,
    name_option,
    offering,
    pluralize,
)
from closeread.formats.folders import count_shared
from closeread.records import FileOrRows, IntervalKind, UserFiles
from closeread.tasks import load_procedure

ChosenOptions = Mapping[str, object]
"""Values of options that are not the defaults, as a user chooses them; `preset` names a preset."""


@dataclass(frozen=True)
class Scorer:
    """A procedure with all its options, and the gold to score against.

    Attributes:
        procedure: the procedure, with the metrics to compute.
        options: all its options with their values.
        gold: the gold.
        source: where the gold is; None if it was made in memory.
    """

    procedure: Procedure
    options: Options
    gold: ScorableGold
    source: GoldSource | None = None

    @property
    def gold_name(self) -> str:
        """What the gold is called in messages; empty for objects in memory."""
        own_gold = None if self.source is None else self.source.gold
        if own_gold is not None:
            return str(own_gold) if isinstance(own_gold, Path) else ""
        corpus, config, split, _ = self.gold.origin
        return f"{corpus} {split} ({config})"

    def read_source(self, predictions: FileOrRows) -> System:
        """Read a system's output from a file, a folder or any objects in memory."""
        if isinstance(predictions, str | Path):
            return self.read(Path(predictions))
        by_name = self.procedure.by_name
        if by_name is None and isinstance(self.gold, Gold):
            by_name = name_fields(self.gold.corpus)
        return self.read(take_source("predictions", predictions, by_name))

    def read(self, source: Path | Sequence[Any]) -> System:
        """Read a system's output (a file, a folder or records), validate it and align it with the gold."""
        system = self.procedure.reader.read_system(self.gold, source, self.options)
        if not isinstance(source, Path):
            return system
        # Files that are gold and a system's output.
        files = self.gold.files
        if len(files) == 1 and files[0].is_file() and source.is_file():
            n_shared = int(source.samefile(files[0]))
        else:
            n_shared = count_shared(files, source)
        if not n_shared:
            return system
        # The score then says nothing.
        if source.is_file():
            notice = f"{source} is the same file as the gold, {self.gold_name}"
        else:
            notice = f"{source} has {pluralize(n_shared, 'file')} of the gold, {self.gold_name}"
        return replace(system, notices=(*system.notices, notice))

    def remarks(self, system: System, table: CountTable | None = None) -> tuple[str, ...]:
        """Return notices about a system's output for the user."""
        notices = [
            *system.notices,
            *self.procedure.reader.remarks(self.gold, system, self.options, table),
        ]
        if table is not None and UNITS in table.names:
            notices += self._describe_undefined(table)
        return tuple(notices)

    def _describe_undefined(self, table: CountTable) -> Iterator[str]:
        """Say how undefined scores of units enter means over units."""
        columns = by_name(table.values, table.names)
        advice = ""
        if self.options.get("undefined") == "zero":
            advice = advise("; {undefined=skip} leaves it out")
        yield from describe_undefined(columns, self.procedure.metrics, self.procedure.unit, advice)

    def count(self, system: System, breakdowns: Sequence[str] = ()) -> Counts:
        """Count a system's output, and the procedure's breakdowns inside units."""
        table = self.tabulate(system.rows, breakdowns)
        table = replace(table, digests=[self.digests[unit] for unit in table.units])
        provenance = Provenance(
            self.procedure.name,
            self.procedure.version,
            self.procedure.keep_options(self.options, reading=True),
            self.procedure.signature(self.options, table.gold_digest),
            *self.gold.origin,
            len(system.missing),
        )
        return Counts(table, self.procedure, provenance, self.remarks(system, table))

    def tabulate(self, rows: Sequence[Any], breakdowns: Sequence[str] = ()) -> CountTable:
        """Return the counts of aligned rows, without provenance."""
        options: dict[str, Any] = self.procedure.keep_options(self.options, reading=False)
        if breakdowns:
            options["breakdowns"] = tuple(breakdowns)
        return self.procedure.count(gold=self.gold.records, system=rows, **options)

    def expected_signature(self) -> str:
        """Return the signature of a system that has predictions for all units."""
        return self.procedure.signature(self.options, combine_digests(self.digests.values()))

    @cached_property
    def digests(self) -> Mapping[str, bytes]:
        """The sha256 of each unit's gold, by the unit's name; it is the same for all systems."""
        return self.gold.digests(self.options)

    def breakdowns_for(self, fields: Sequence[str]) -> list[str]:
        """Return those of the fields to slice by that must be counted inside units."""
        return [name for name in fields if name in self.procedure.breakdowns]

    def available_breakdowns(self, system: System) -> list[str]:
        """Return the breakdowns for which neither side lacks anything."""
        find_lacking = self.procedure.find_lacking
        if find_lacking is None:
            return list(self.procedure.breakdowns)
        return [
            name
            for name in self.procedure.breakdowns
            if not find_lacking(self.gold.records, system.rows, self.options, name)
        ]

    def explain(self, system: System, units: Sequence[str]) -> dict[str, list[Any]]:
        """Explain the counts of some units, by the unit's name."""
        if self.procedure.explanation is None:
            raise RequestError(f"{self.procedure.name} can't explain its scores")
        explain = self.procedure.explanation().explain
        pairs = zip(self.gold.records, system.rows, strict=True)
        pair_of = dict(zip(self.gold.units, pairs, strict=True))
        return {unit: explain(*pair_of[unit], self.options) for unit in units}


@cache
def find_procedure(name: str) -> tuple[Procedure, str | None]:
    """Find a procedure by a name, and the corpus that it scores; the corpus is None if gold is a key of the user's."""
    task, corpus = find_task(name)
    procedure = load_procedure(task)
    if corpus is None and not procedure.reader.key_first:
        corpus = find_corpus(task).name
    return procedure, corpus


def find_gold(
    name: str,
    /,
    *,
    gold: FileOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    **options: Any,
) -> tuple[GoldSource, dict[str, Any]]:
    """Find out where gold is, and return this with the options of the procedure.

    Args:
        name: the name of a corpus or a procedure.
        gold: the user's own gold, instead of a part of the corpus.
        config, split: the part of the corpus; None for the default.
        data_dir: a folder with the corpus's files.
        **options: the procedure's options; folders of the corpus and options of reading it.
    """
    procedure, corpus_name = find_procedure(name)
    own_gold = None if gold is None else take_source("gold", gold, procedure.by_name)
    if own_gold is not None and not isinstance(own_gold, Path) and not len(own_gold):
        raise FormatError("gold", [Problem("has no rows (expected at least one)")])
    if corpus_name is None:
        places = {"config": config, "split": split, "data_dir": data_dir}
        refused = [name_option(key) for key, place in places.items() if place is not None]
        if refused:
            keywords = " or ".join(refused)
            raise RequestError(f"{name} has no corpus of its own, so it takes no {keywords}")
        return GoldSource(procedure, gold=own_gold), options
    corpus = load_corpus(corpus_name)
    folders: dict[str, Path | None] = {}
    reading: dict[str, str] = {}
    for folder in corpus.user_folders:
        if folder.name in options:
            folders[folder.name] = Path(str(options.pop(folder.name)))
    for option in corpus.reading_options:
        if option.name in options:
            reading[option.name] = str(options.pop(option.name))
    files = UserFiles(None if data_dir is None else Path(data_dir), folders, reading)
    return GoldSource(procedure, corpus, config, split, own_gold, files), options


def find_part(corpus: Corpus, options: Mapping[str, Any], **places: Any) -> GoldSource:
    """Find out where the gold of a corpus is; options are folders of the corpus and options of reading it."""
    source, unknown = find_gold(corpus.name, **places, **options)
    if unknown:
        raise UnknownOptionError(corpus.name, next(iter(unknown)), corpus.reading_names)
    return source


def open_scorer(
    source: GoldSource,
    options: ChosenOptions | None = None,
    metrics: str | Sequence[str] | None = None,
) -> Scorer:
    """Read gold, and return a scorer for it.

    Without families of metrics, it has those of the preset, or the default.
    """
    chosen = choose_preset(source.corpus, options or {})
    procedure = source.procedure.select_metrics(metrics, chosen)
    resolved = resolve_options(procedure, source.corpus, chosen)
    return Scorer(procedure, resolved, procedure.reader.read_gold(source, resolved), source)


def choose_preset(corpus: Corpus | None, options: ChosenOptions) -> ChosenOptions:
    """Return the options with the usual preset of the corpus, unless they name another one, or "none"."""
    chosen = dict(options)
    if corpus is not None and corpus.preset:
        chosen["preset"] = chosen.get("preset") or corpus.preset
        if chosen["preset"] == "none":
            del chosen["preset"]
    return chosen


def resolve_options(
    procedure: Procedure, corpus: Corpus | None, options: ChosenOptions
) -> dict[str, str]:
    """Return every option with its value: given, of the preset, or the corpus's or procedure's default."""
    if corpus is None:
        return procedure.resolve_options(options)
    with offering(corpus.reading_names, options):
        return procedure.resolve_options(options, corpus.procedure_defaults)


def choose_resampling(
    resampling: Resampling | None,
    resamples: int | None,
    confidence: float,
    seed: int,
    interval: IntervalKind,
) -> Resampling:
    """Return the parameters of the bootstrap that are given in one, or each by itself."""
    parameters = Resampling(confidence=confidence, seed=seed, interval=interval)
    if resampling is not None:
        if parameters != Resampling() or resamples is not None:
            raise RequestError(
                "resampling has the number of resamples, confidence, seed and kind of interval; give one or the other"
            )
        return resampling
    if resamples is not None:
        parameters = replace(parameters, n_resamples=resamples)
    return parameters
