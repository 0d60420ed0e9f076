"""Counting in pieces: the counts of shards, batches or machines, which merged give the scores of the whole.

`count` counts a system on a part of the gold, `merge` adds parts up, and `count_batch` counts batches of a table, in
`datasets.map`, Ray Data, Dask or Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast, overload

from closeread import parameters as arg
from closeread.corpus.names import load_corpus
from closeread.corpus.notices import warn_all
from closeread.corpus.schema import load_schema
from closeread.counts.counts import Counts, merge_counts, sign
from closeread.counts.procedure import GROUPS
from closeread.exceptions import RequestError, escape, join_names, name_option, pluralize, read_all
from closeread.parameters import Operations, Param, Written
from closeread.public_names import AnyCorpus
from closeread.records import FileOrRows, OptionValue
from closeread.scoring import find_gold, find_procedure, open_scorer

Batch = TypeVar("Batch")

COUNTS = "counts"
"""The column of a counted batch, which holds the bytes of its counts."""


def count(
    name: AnyCorpus,
    predictions: arg.Predictions,
    *,
    gold: arg.Gold = None,
    config: arg.Config = None,
    split: arg.Split = None,
    data_dir: arg.Folder = None,
    metrics: arg.Metrics = None,
    preset: arg.Preset = None,
    by: arg.Fields = (),
    **options: arg.ProcedureOptions,
) -> Counts:
    """Count a system's output, or its output for a part of the gold.

    A unit of the gold without a prediction is an error, unless the option `missing` says otherwise: a lost part is then
    no low score.

    Args:
        name: the name of a corpus or a procedure.
        predictions: a file, a folder or objects, as for `closeread.score`.
        gold, config, split, data_dir, **options: as for `closeread.score`.
        metrics: families of metrics to compute from the counts, such as ("muc", "conll").
        preset: the name of an official score, whose options and metrics are used.
        by: fields inside units to count by, such as "mention_type" of coreference; fields of units need not be named.

    Returns:
        The counts, which `closeread.merge` merges, and `report` turns into scores.

    >>> gold = {"a": [[[0, 0], [2, 2]]], "b": [[[0, 1], [3, 3]]]}
    >>> parts = [closeread.count("coref", {name: gold[name]}, gold={name: gold[name]}) for name in gold]
    >>> closeread.merge(parts).report(ci=False)["conll/f1"].value
    1.0
    """
    source, procedure_options = find_gold(
        name, gold=gold, config=config, split=split, data_dir=data_dir, preset=preset, **options
    )
    fields = (by,) if isinstance(by, str) else tuple(by)
    scorer = open_scorer(source, procedure_options, metrics)
    system = scorer.read(predictions)
    if system.missing and "missing" not in procedure_options:
        records = pluralize(len(system.missing), "gold record")
        names = join_names(system.missing)
        advice = (
            f"{name_option('missing', 'empty', 'skip')} counts them as empty, or leaves them out"
        )
        raise RequestError(f"{records} without a prediction: {names} ({advice})")
    counted = scorer.count(system, fields)
    warn_all([*scorer.gold.notices, *counted.notices])
    return counted


Parts = Annotated[Iterable[object], "a list of counts, files of counts, or their bytes"]


def merge(parts: Parts, *, expect: FileOrRows | None = None) -> Counts:
    """Merge the counts of parts of the gold: the scores, intervals and signature are those of the whole.

    Args:
        parts: counts, files of counts, or their bytes (`Counts.to_bytes`, or the column `counts` of `count_batch`).
        expect: the whole gold, a file or objects, whose every unit must have been counted once; None not to check this.

    Returns:
        The counts of the whole.

    >>> gold = {"a": [[[0, 0], [2, 2]]], "b": [[[0, 1], [3, 3]]]}
    >>> closeread.merge(closeread.count("coref", {name: gold[name]}, gold={name: gold[name]}) for name in gold)
    <Counts of coref: 2 documents>
    """
    listed = [part.as_py() if hasattr(part, "as_py") else part for part in parts]
    if not listed:
        raise RequestError("there are no counts to merge")

    def load(part: object, name: str) -> Counts:
        if isinstance(part, Counts):
            return part
        if isinstance(part, bytes | bytearray):
            return Counts.from_bytes(bytes(part), name)
        if isinstance(part, str | Path):
            return Counts.load(part)
        raise RequestError(
            f"{name} is of type {type(part).__name__} (expected counts, a file of counts or its bytes)"
        )

    names = []
    for number, part in enumerate(listed, start=1):
        names.append(str(part) if isinstance(part, str | Path) else f"part {number}")
    loaded = read_all(zip(listed, names, strict=True), lambda part: load(*part))
    merged = merge_counts(loaded, list(map(escape, names)))
    if expect is not None:
        _check_units(merged, expect)
    warn_all(merged.notices)
    return merged


def merge_files(
    counts: Sequence[Path],
    *,
    expect: Annotated[Path | None, Param(kind="read", metavar="GOLD")] = None,
    output: arg.Output,
) -> Written:
    """Merge the counts of shards, written by `closeread score --counts`.

    Shards are parts of the gold that were scored separately. The result has the same scores, intervals and signature as
    if the whole had been scored at once.

    \b
    Example:
      closeread merge a.parquet b.parquet -o all.parquet --expect gold.jsonl
      closeread score --from-counts all.parquet

    Args:
        expect: Check that every unit of this gold was counted.
    """
    merged = merge(counts, expect=expect)
    merged.save(output)
    return Written(
        output,
        f"{pluralize(len(merged), merged.procedure.unit)} from {pluralize(len(counts), 'file')}",
    )


def _check_units(merged: Counts, gold: FileOrRows) -> None:
    """Check that every unit of the gold has been counted, and no other."""
    provenance = merged.provenance
    source, _ = find_gold(provenance.corpus, gold=gold)
    scorer = open_scorer(source, provenance.options)
    expected = {scorer.name_unit(unit): digest for unit, digest in scorer.digests.items()}
    counted = dict(zip(merged.table.units, merged.table.digests, strict=True))
    uncounted = [unit for unit in expected if unit not in counted]
    unexpected = [unit for unit in counted if unit not in expected]
    changed = [unit for unit in counted if expected.get(unit, counted[unit]) != counted[unit]]
    problems = []
    for fault, units in (
        ("of the expected gold not counted", uncounted),
        ("counted but not in the expected gold", unexpected),
        ("counted with other gold", changed),
    ):
        if units:
            number = pluralize(len(units), merged.procedure.unit)
            problems.append(f"{number} {fault} ({join_names(units)})")
    if problems:
        raise RequestError(f"the parts are not those of the expected gold: {'; '.join(problems)}")


@dataclass(frozen=True)
class CountBatch:
    """A function from batches of a table to their counts, as `count_batch` returns it; it can be pickled."""

    name: str  # as for `count_batch`
    predictions: str
    gold: str | None = None
    groups: str | None = None
    options: Mapping[str, OptionValue] = field(default_factory=dict)

    @overload
    def __call__(self, batch: Mapping[str, Sequence[object]]) -> dict[str, list[bytes]]: ...
    @overload
    def __call__(self, batch: Batch) -> Batch: ...
    def __call__(self, batch: object) -> object:
        """Count a batch: an Arrow table or record batch, a data frame of pandas or polars, or columns by name.

        The result is of the same type, with the column `counts` and one row, of bytes as `Counts.to_bytes` returns
        them; an empty batch has none.
        """
        columns = _read_columns(batch)
        if not any(columns.values()):
            return _make_batch(batch, [])
        procedure, corpus = find_procedure(self.name)
        fields: Sequence[str]
        submitted: Sequence[str] = ()
        if corpus is not None:
            declared = load_corpus(corpus)
            definitions = load_schema(declared.schema)["$defs"]
            key = declared.key
            fields = list(definitions["document"]["properties"])
            value = definitions["submission"]["required"][-1]
            submitted = list(definitions["submission"]["properties"])
        elif procedure.by_name is not None:
            key, value = fields = procedure.by_name
        else:
            raise RequestError(f"{self.name} is scored from files, not from columns")
        if self.groups is not None and corpus is not None:
            named = "group_by names a field of the gold"
            raise RequestError(f"{self.name} has no groups in a column of its own ({named})")
        gold = {name: columns[name] for name in fields if name in columns}
        if self.gold is not None:
            if value not in fields:
                raise RequestError(
                    f"gold of {self.name} has no single column (expected columns {join_names(fields)})"
                )
            gold[value] = _find_column(columns, self.gold)
        elif value in fields and value not in gold:
            raise RequestError(f"no column has the gold {value}: name it by `gold`")
        keys = _find_column(columns, key)
        predictions = _find_column(columns, self.predictions)
        copied = {name: gold[name] for name in submitted if name in gold}
        predicted = _list_rows({**copied, key: keys, value: predictions}, absent=value)
        options = cast(dict[str, Any], dict(self.options))
        counts = count(self.name, predicted, gold=_list_rows(gold), **options)
        if self.groups is not None:
            groups = map(str, _find_column(columns, self.groups))
            counts = _average_over_groups(counts, dict(zip(keys, groups, strict=True)))
        return _make_batch(batch, [counts.to_bytes()])


def count_batch(
    name: AnyCorpus,
    *,
    predictions: str,
    gold: str | None = None,
    groups: str | None = None,
    **options: OptionValue,
) -> CountBatch:
    """Return a function that counts a batch of a table with gold and predictions side by side.

    It serves `datasets.Dataset.map(..., batched=True)`, Ray Data's `map_batches`, Dask's `map_partitions` and Spark's
    `mapInArrow`; the column `counts` of its result is merged by `closeread.merge`.

    Args:
        name: the name of a corpus or a procedure.
        predictions: the column of the system's output, such as labels or clusters; null in a row without a prediction.
        gold: the column of the same of the gold; None if it has the name that the corpus gives it.  Ids and other
            fields of the gold are in columns that are named as in the corpus; further columns are left out.
        groups: the column of the group of each document, such as its treebank, if scores are to be means over groups;
            of a corpus with a field for it, the option `group_by` names this field.
        **options: options of `closeread.count`, such as `metrics`.

    Returns:
        The function, which can be pickled.

    >>> counter = closeread.count_batch("coref", gold="clusters", predictions="found")
    >>> clusters = [[[[0, 0], [2, 2]]], [[[0, 1], [3, 3]]]]
    >>> counted = counter({"document": ["a", "b"], "clusters": clusters, "found": clusters})
    >>> closeread.merge(counted["counts"])
    <Counts of coref: 2 documents>
    """
    return CountBatch(name, predictions, gold, groups, options)


def _average_over_groups(counts: Counts, groups: Mapping[str, str]) -> Counts:
    """Return counts whose scores are means over the groups of their units, which are given by name."""
    group_of_unit = [groups[unit] for unit in counts.table.units]
    pairs = zip(group_of_unit, counts.table.units, strict=True)
    names = [f"{group}/{unit}" for group, unit in pairs]
    table = replace(counts.table, units=names, groups=group_of_unit)
    options = {**counts.provenance.options, "average": GROUPS}
    signature = sign(counts.procedure, options, table)
    provenance = replace(counts.provenance, options=options, signature=signature, preset=None)
    return replace(counts, table=table, provenance=provenance)


def _find_column(columns: Mapping[str, list[Any]], name: str) -> list[Any]:
    if name not in columns:
        raise RequestError(f"there is no column {name!r} (columns are {join_names(list(columns))})")
    return columns[name]


def _read_columns(batch: Any) -> dict[str, list[Any]]:
    """Return the columns of a batch as lists."""
    import pyarrow as pa

    columns: dict[str, list[Any]] = {}
    if isinstance(batch, Mapping):
        for name, column in batch.items():
            columns[name] = column.tolist() if hasattr(column, "tolist") else list(column)
    else:
        columns.update(pa.table(batch).to_pydict())
    return columns


def _list_rows(columns: Mapping[str, list[Any]], absent: str | None = None) -> list[dict[str, Any]]:
    """Return the rows of columns; those where the column `absent` is null are left out."""
    rows = []
    for values in zip(*columns.values(), strict=True):
        row = dict(zip(columns, values, strict=True))
        if absent is None or row[absent] is not None:
            rows.append(row)
    return rows


def _make_batch(batch: Any, counts: list[bytes]) -> Any:
    """Return counts as a batch of the same type as another."""
    import pyarrow as pa

    if isinstance(batch, pa.Table | pa.RecordBatch):
        table = pa.table({COUNTS: pa.array(counts, pa.binary())})
        return table if isinstance(batch, pa.Table) else table.to_batches()[0]
    return {COUNTS: counts} if isinstance(batch, Mapping) else type(batch)({COUNTS: counts})


OPERATIONS: Operations = {"": {"merge": merge_files}}
