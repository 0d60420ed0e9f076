"""Score any procedure, through one `Scorer`, so that the same input always gives the same scores and signature."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from closeread.corpus.declaration import Corpus
from closeread.corpus.gold import Gold as CorpusGold
from closeread.corpus.names import find_corpus, find_task, load_corpus
from closeread.corpus.objects import take_source
from closeread.corpus.submissions import name_fields
from closeread.counts.counts import Counts
from closeread.counts.estimates import Resampling
from closeread.counts.metrics import UNITS, by_name, describe_undefined
from closeread.counts.procedure import Gold, GoldSpec, Options, Procedure, System
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
from closeread.records import FileOrRows, IntervalKind, OptionValue, UserFiles
from closeread.tasks import load_procedure


@dataclass(frozen=True)
class Scorer:
    """A procedure with all its options, and the gold to score against."""

    procedure: Procedure
    options: Options
    gold: Gold
    gold_name: str = "gold"
    gold_files: Sequence[Path] = ()  # none for objects in memory

    def read(self, source: Path | Sequence[Any]) -> System:
        """Read a system's output (a file, a folder or records), validate it and align it with the gold."""
        system = self.procedure.sides.read_system(self.gold, source, self.options)
        if not isinstance(source, Path) or not (shared := count_shared(self.gold_files, source)):
            return system
        # The score then says nothing.
        if source.is_file():
            notice = f"{source} is the same file as the gold, {self.gold_name}"
        else:
            notice = f"{source} has {pluralize(shared, 'file')} of the gold, {self.gold_name}"
        return replace(system, notices=(*system.notices, notice))

    def read_source(self, source: FileOrRows) -> System:
        """Read a system's output from a file, a folder or any objects in memory."""
        by_name, gold = self.procedure.by_name, self.gold
        if by_name is None and isinstance(gold, CorpusGold):
            by_name = name_fields(gold.corpus)
        taken = take_source("predictions", source, by_name)
        return self.read(taken)

    def remarks(self, system: System, table: CountTable | None = None) -> tuple[str, ...]:
        """Return notices about a system's output for the user."""
        return (
            *system.notices,
            *self.procedure.sides.remarks(self.gold, system, self.options, table),
            *self._describe_undefined(table),
        )

    def _describe_undefined(self, table: CountTable | None) -> Iterator[str]:
        """Say how undefined scores of units enter means over units."""
        if table is not None and UNITS in table.names:
            columns = by_name(table.values, table.names)
            advice = ""
            if self.options.get("undefined") == "zero":
                advice = advise("; {undefined=skip} leaves it out")
            yield from describe_undefined(
                columns, self.procedure.metrics, self.procedure.unit, advice
            )

    def count(self, system: System, breakdowns: Sequence[str] | None = None) -> Counts:
        """Count a system's output, and the procedure's breakdowns inside units."""
        table = self.tabulate(system.rows, breakdowns or ())
        table = replace(table, digests=[self.digests[unit] for unit in table.units])
        signature = self.procedure.signature(self.options, table.gold_digest)
        how = self.procedure.keep_options(self.options, reading=True)
        about = self.procedure.name, self.procedure.version, how, signature
        provenance = Provenance(*about, *self.gold.origin, len(system.missing))
        return Counts(table, self.procedure, provenance, self.remarks(system, table))

    def tabulate(self, rows: Sequence[Any], breakdowns: Sequence[str] = ()) -> CountTable:
        """Return the counts of aligned rows, without provenance."""
        options = self.procedure.keep_options(self.options, reading=False)
        how = {**options, "breakdowns": tuple(breakdowns)} if breakdowns else options
        return self.procedure.count(gold=self.gold.records, system=rows, **how)

    def expected_signature(self) -> str:
        """Return the signature of a system that has predictions for all units."""
        return self.procedure.signature(self.options, combine_digests(self.digests.values()))

    @cached_property
    def digests(self) -> Mapping[str, bytes]:
        """The sha256 of each unit's gold, by the unit's name; it is the same for all systems."""
        return self.procedure.sides.digests(self.gold, self.options)

    def breakdowns_for(self, fields: Sequence[str]) -> list[str]:
        """Return those of the fields to slice by that must be counted inside units."""
        return [name for name in fields if name in self.procedure.breakdowns]

    def available_breakdowns(self, system: System) -> list[str]:
        """Return the breakdowns for which neither side lacks anything."""
        find, names = self.procedure.find_lacking, list(self.procedure.breakdowns)
        if find is None:
            return names
        return [
            name for name in names if not find(self.gold.records, system.rows, self.options, name)
        ]

    def explain(self, system: System, units: Sequence[str]) -> dict[str, list[Any]]:
        """Explain the counts of some units, by the unit's name."""
        if self.procedure.explanation is None:
            raise RequestError(f"{self.procedure.name} can't explain its scores")
        explain = self.procedure.explanation().explain
        names = self.procedure.sides.names(self.gold)
        records = dict(zip(names, zip(self.gold.records, system.rows, strict=True), strict=True))
        return {unit: explain(*records[unit], self.options) for unit in units}


def find_procedure(name: str) -> tuple[Procedure, str | None]:
    """Find a procedure by a name, and the corpus that it scores; the corpus is None if gold is a key of the user's."""
    found, corpus = find_task(name)
    procedure = load_procedure(found)
    if corpus is None and not procedure.sides.key_first:
        corpus = find_corpus(found).name
    return procedure, corpus


def resolve_options(
    procedure: Procedure, corpus: str | None, options: Mapping[str, object]
) -> dict[str, str]:
    """Return every option with its value: given, of the preset, or the corpus's or procedure's default."""
    expanded = procedure.expand_preset(options)
    if corpus is None:
        return procedure.resolve_options(expanded)
    declared = load_corpus(corpus)
    with offering(declared.reading_names, options):
        return procedure.resolve_options({**declared.procedure_defaults, **expanded})


def open_scorer(
    name: str,
    place: GoldSpec,
    options: Mapping[str, object] | None = None,
    metrics: str | Sequence[str] | None = None,
) -> Scorer:
    """Read gold, and return a scorer for it.

    The name is that of a corpus or a procedure, and the corpus of the place is ignored.  Options differ from the
    defaults, and may name a `preset`; without families of metrics, it has those of the preset, or the default.
    """
    procedure, corpus = find_procedure(name)
    procedure = procedure.select_metrics(metrics, options or {})
    resolved = resolve_options(procedure, corpus, options or {})
    gold = procedure.sides.read_gold(place._replace(corpus=corpus), resolved)
    if isinstance(place.gold, Path):
        return Scorer(procedure, resolved, gold, str(place.gold), [place.gold])
    files: list[Path] = []
    _, config, split, _ = gold.origin
    if corpus is not None and config is not None and split is not None:  # else, objects in memory
        from closeread.corpus.sources import files_at_hand

        declared = load_corpus(corpus)
        parts = declared.configs[config].parts(split).values()
        files = [
            path for source in parts for path in files_at_hand(declared, source, place.data_dir)
        ]
    return Scorer(procedure, resolved, gold, "{0} {2} ({1})".format(*gold.origin), files)


def choose_resampling(
    whole: Resampling | None,
    resamples: int | None,
    confidence: float,
    seed: int,
    interval: IntervalKind,
) -> Resampling:
    """Return the parameters of the bootstrap that are given in one, or each by itself."""
    given = Resampling(confidence=confidence, seed=seed, interval=interval)
    given = given if resamples is None else replace(given, n_resamples=resamples)
    if whole is None:
        return given
    if given != Resampling() or resamples is not None:
        raise RequestError(
            "resampling has the number of resamples, confidence, seed and kind of interval; give one or the other"
        )
    return whole


def make_place(
    name: str,
    gold: FileOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    options: Mapping[str, OptionValue] | None = None,
) -> tuple[GoldSpec, dict[str, OptionValue]]:
    """Return where gold is, from arguments of `score`, and the options that are not about its files."""
    procedure, corpus = find_procedure(name)
    own = None if gold is None else take_source("gold", gold, procedure.by_name)
    if own is not None and not isinstance(own, Path) and not len(own):
        raise FormatError("gold", [Problem("has no rows (expected at least one)")])
    folder, rest = None if data_dir is None else Path(data_dir), dict(options or {})
    if corpus is None:
        where = {"config": config, "split": split, "data_dir": folder}
        if given := [key for key, value in where.items() if value is not None]:
            refused = " or ".join(map(name_option, given))
            raise RequestError(f"{name} has no corpus of its own, so it takes no {refused}")
        return GoldSpec(gold=own), rest
    declared = load_corpus(corpus)
    folders = {one.name: rest.pop(one.name) for one in declared.user_folders if one.name in rest}
    reading = {
        one.name: str(rest.pop(one.name)) for one in declared.reading_options if one.name in rest
    }
    paths = {one: Path(str(value)) for one, value in folders.items()}
    files = UserFiles(folder, paths, reading) if folders or reading else folder
    return GoldSpec(corpus, config, split, own, files), rest


def take_place(corpus: Corpus, options: Mapping[str, Any], **where: Any) -> GoldSpec:
    """Return where the gold of a corpus is; options are folders of the corpus and options of reading it."""
    place, rest = make_place(corpus.name, options=options, **where)
    if rest:
        raise UnknownOptionError(corpus.name, next(iter(rest)), corpus.reading_names)
    return place
