"""Score any procedure, through one `Scorer`, so that the same input always gives the same scores and signature."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, cast

from closeread.corpus.declaration import Corpus
from closeread.corpus.gold import Gold, GoldSource
from closeread.corpus.names import find_corpus, find_task, load_corpus
from closeread.corpus.objects import take_rows
from closeread.corpus.submissions import name_fields
from closeread.counts.counts import Counts, sign
from closeread.counts.estimates import Resampling
from closeread.counts.metrics import UNITS, by_name, describe_undefined, unit_scores
from closeread.counts.procedure import GROUPS, Options, Procedure, ScorableGold, System
from closeread.counts.report import Provenance
from closeread.counts.table import CountTable
from closeread.digests import combine_digests
from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    UnknownOptionError,
    advise,
    fill_options,
    join_names,
    name_option,
    offering,
    pluralize,
)
from closeread.records import FileOrRows, IntervalKind, UserFiles
from closeread.tasks import load_procedure

ChosenOptions = Mapping[str, object]
"""Values of options that are not the defaults, as a user chooses them; `preset` names a preset."""

TREEBANK = "treebank"
"""The field over which scores are averaged if no other is named."""


@dataclass(frozen=True)
class Scorer:
    """A procedure with all its options, and the gold to score against.

    Attributes:
        procedure: the procedure, with the metrics to compute.
        options: all its options with their values.
        gold: the gold.
        source: where the gold is; None if it was made in memory.
        chosen: the options that were chosen, and are not at their defaults; `preset` names a preset.
    """

    procedure: Procedure
    options: Options
    gold: ScorableGold
    source: GoldSource | None = None
    chosen: ChosenOptions = field(default_factory=dict)

    @property
    def gold_name(self) -> str:
        """What the gold is called in messages; empty for objects in memory."""
        own_gold = None if self.source is None else self.source.gold
        if own_gold is not None:
            return str(own_gold) if isinstance(own_gold, Path) else ""
        corpus, config, split, _ = self.gold.origin
        return f"{corpus} {split} ({config})"

    def read(self, predictions: FileOrRows) -> System:
        """Read a system's output (a file, a folder or any objects), validate it and align it with the gold."""
        reader = self.procedure.reader
        if not isinstance(predictions, str | os.PathLike):
            by_name = self.procedure.by_name
            if by_name is None and isinstance(self.gold, Gold):
                by_name = name_fields(self.gold.corpus)
            rows = take_rows("predictions", predictions, by_name)
            return reader.read_system(self.gold, rows, self.options)
        source = Path(predictions)
        system = reader.read_system(self.gold, source, self.options)
        places = set(self.gold.files)
        if len(places) > 1:
            places |= {file.parent for file in places}
        if not any(place.exists() and source.samefile(place) for place in places):
            return system
        # The score then says nothing.
        noun = "folder" if source.is_dir() else "file"
        notice = f"{source} is the same {noun} as the gold, {self.gold_name}"
        return replace(system, notices=(*system.notices, notice))

    def remarks(self, system: System, table: CountTable | None = None) -> tuple[str, ...]:
        """Return notices about a system's output for the user."""
        notices = [
            *system.notices,
            *self.procedure.reader.remarks(self.gold, system, self.options, table),
        ]
        if table is not None and (UNITS in table.names or table.groups):
            notices += self._describe_undefined(table)
        if table is not None and self.groups:
            notices += self._describe_groups(table)
        return tuple(notices)

    def _describe_undefined(self, table: CountTable) -> Iterator[str]:
        """Say how undefined scores of units or groups enter means over these."""
        columns = by_name(table.values, table.names)
        metrics = self.procedure.metrics
        unit = self.procedure.unit
        # Means over events, of timelines, have no such option.
        undefined = self.options.get("undefined", "skip")
        if table.groups:
            columns = unit_scores(table.sums(), metrics, undefined=undefined)
            unit = "group"
        advice = ""
        if undefined == "zero":
            advice = advise("; {undefined=skip} leaves it out")
        yield from describe_undefined(columns, metrics, unit, advice)

    def _describe_groups(self, table: CountTable) -> Iterator[str]:
        """Say which groups of the gold or of a shared task are not scored, or that treebanks are pooled."""
        names = set(self.groups.values())
        by = self.options.get("group_by", "")
        n_treebanks = len(set(self._list_groups(TREEBANK).values()))
        if by and n_treebanks > len(names):
            groups = pluralize(len(names), "group")
            yield f"{n_treebanks:,} treebanks are pooled in {groups} by {by}"
        n_scored = len(table.group_names)
        if n_scored < len(names):
            absent = join_names(sorted(names.difference(table.group_names)))
            yield f"the mean is over {n_scored:,} of {len(names):,} groups: no response for {absent}"
        preset = self.preset
        expected = self.procedure.presets[preset].groups if preset is not None else ()
        lacking = [name for name in expected if name not in names]
        if lacking:
            n_present = len(expected) - len(lacking)
            datasets = f"{n_present:,} of the {len(expected):,} datasets of {preset}"
            yield f"{datasets}; missing: {join_names(lacking)}"
        unlisted = sorted(names.difference(expected))
        if expected and unlisted:
            yield f"no datasets of {preset}, but averaged with them: {join_names(unlisted)}"

    @cached_property
    def preset(self) -> str | None:
        """The official score whose options these are; None if there is none."""
        asked = cast("str | None", self.chosen.get("preset"))
        name = self.procedure.name_preset(self.options, asked)
        # Micro over several treebanks is no score of a task that averages over them.
        if name is not None and self.procedure.presets[name].options.get("average") == GROUPS:
            n_groups = len(set(self._list_groups(TREEBANK).values()))
            return self.procedure.name_preset(self.options, asked, n_groups=n_groups)
        return name

    @cached_property
    def groups(self) -> Mapping[str, str]:
        """The group of each unit of the gold, by the unit's name; empty if scores are no means over groups."""
        if self.options.get("average") != GROUPS:
            return {}
        name = self.options["group_by"]
        groups = self._list_groups(name or TREEBANK)
        if groups:
            return groups
        fields = ", ".join(self._gold_fields) or "none"
        choices = f"fields of {self.procedure.unit}s: {fields}"
        by = name_option("group_by")
        if name:
            raise RequestError(f"no {self.procedure.unit} has a {name} to group by ({choices})")
        raise RequestError(f"{name_option('average', GROUPS)} needs {by} and a field ({choices})")

    def _list_groups(self, name: str) -> Mapping[str, str]:
        """Return the value of a field of each unit of the gold; nothing if there is no such field."""
        return self._gold_fields.get(name, {})

    @cached_property
    def _gold_fields(self) -> Mapping[str, Mapping[str, str]]:
        """The fields of the gold, by the unit's name."""
        units = self.gold.units
        fields = self.procedure.reader.list_fields(self.gold)
        if fields is None:
            # Those of the counts of a system without any prediction.
            options = {**self.options, "missing": "empty"}
            table = replace(self, options=options).tabulate([None] * len(units))
            units = table.units
            fields = table.fields
        return {name: dict(zip(units, values, strict=True)) for name, values in fields.items()}

    def _check_groups(self, system: System) -> None:
        """Refuse a system without a prediction for a whole group, unless a user said how to treat what is missing."""
        if "missing" in self.chosen or not system.missing:
            return
        missing = set(system.missing)
        present = {group for unit, group in self.groups.items() if unit not in missing}
        names = set(self.groups.values())
        absent = sorted(names - present)
        if not absent:
            return
        n_present = f"{len(present):,} of {len(names):,}"
        raise RequestError(
            f"no response for {join_names(absent)}; {name_option('missing', 'empty')} scores it as 0, "
            f"{name_option('missing', 'skip')} leaves it out and says the mean is over {n_present}"
        )

    def count(self, system: System, fields: Sequence[str] = ()) -> Counts:
        """Count a system's output, and those of the fields to slice by that must be counted inside units."""
        breakdowns = [name for name in dict.fromkeys(fields) if name in self.procedure.breakdowns]
        if self.groups:
            self._check_groups(system)
        table = self.tabulate(system.rows, breakdowns)
        table = replace(table, digests=[self.digests[unit] for unit in table.units])
        if self.groups:
            groups = [self.groups[unit] for unit in table.units]
            table = replace(table, groups=groups, units=list(map(self.name_unit, table.units)))
        provenance = Provenance(
            self.procedure.name,
            self.procedure.version,
            self.procedure.keep_options(self.options, reading=True),
            sign(self.procedure, self.options, table),
            *self.gold.origin,
            len(system.missing),
            self.preset,
        )
        return Counts(table, self.procedure, provenance, self.remarks(system, table))

    def name_unit(self, name: str) -> str:
        """Return the name of a unit in counts, where that of a document has its treebank before it."""
        if not self.groups or self.options["group_by"]:
            return name
        treebank = f"{self.groups[name]}/"
        return name if name.startswith(treebank) else treebank + name

    def tabulate(self, rows: Sequence[Any], breakdowns: Sequence[str] = ()) -> CountTable:
        """Return the counts of aligned rows, without provenance."""
        options: dict[str, Any] = self.procedure.keep_options(self.options, reading=False)
        if breakdowns:
            options["breakdowns"] = tuple(breakdowns)
        return self.procedure.count(gold=self.gold.records, system=rows, **options)

    def expected_signature(self) -> str:
        """Return the signature of a system that has predictions for all units."""
        groups = [self.groups[unit] for unit in self.digests] if self.groups else []
        digest = combine_digests(self.digests.values(), groups)
        return self.procedure.signature(self.options, digest, len(set(groups)))

    @cached_property
    def digests(self) -> Mapping[str, bytes]:
        """The sha256 of each unit's gold, by the unit's name; it is the same for all systems."""
        return self.gold.digests(self.options)

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
    own_gold: Path | Sequence[Any] | None = None
    if isinstance(gold, str | os.PathLike):
        own_gold = Path(gold)
    elif gold is not None:
        own_gold = take_rows("gold", gold, procedure.by_name)
        if not len(own_gold):
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
    options = choose_preset(source.corpus, options or {})
    procedure = source.procedure.select_metrics(metrics, options)
    if options.get("group_by") and options.setdefault("average", GROUPS) != GROUPS:
        raise RequestError(fill_options("{group_by} goes with {average=groups}"))
    resolved = resolve_options(procedure, source.corpus, options)
    gold = procedure.reader.read_gold(source, resolved)
    scorer = Scorer(procedure, resolved, gold, source, options)
    # A preset averages over treebanks if there are several.
    if resolved.get("average") == GROUPS and "average" not in options:
        groups = scorer._list_groups(resolved["group_by"] or TREEBANK)
        if len(set(groups.values())) < 2:
            return replace(scorer, options={**resolved, "average": "micro"})
    return scorer


def choose_preset(corpus: Corpus | None, options: ChosenOptions) -> dict[str, object]:
    """Return the options that a user chose, with the usual preset of the corpus unless they name another, or "none"."""
    chosen = {name: value for name, value in options.items() if value is not None}
    if (
        corpus is not None
        and corpus.preset
        and chosen.setdefault("preset", corpus.preset) == "none"
    ):
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
