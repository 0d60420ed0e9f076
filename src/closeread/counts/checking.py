"""Check stored counts: that they are what the procedure counts with these options, and that they are unchanged.

Conventions: a digest shows that content was changed by accident or by hand; whoever changes the content can compute the
digest, too.  What no system can have is found by the procedure's identities (`closeread.counts.identities`).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, mark_run_starts
from closeread.counts.counted import Provenance
from closeread.counts.identities import TOLERANCE, Identity, PartsOf, select_identities
from closeread.counts.metrics import Columns
from closeread.counts.procedure import Procedure
from closeread.counts.table import Breakdown, CountTable
from closeread.exceptions import Problem, RequestError, pluralize, quote

LARGEST = 2**53
"""The limit of counts and of their sums: whole numbers below it are exact."""

UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""What no name of a unit, field or part may contain: control characters and lone surrogates."""


def digest_content(table: CountTable, provenance: Provenance) -> str:
    """Return the sha256, in hex, of all that a file of counts says: of the values, not of how they are encoded."""
    inside = {name: [list(parts.parts), list(parts.names)] for name, parts in table.breakdowns.items()}
    fields = {name: list(column) for name, column in table.fields.items()}
    about = asdict(provenance)
    about["options"] = list(provenance.options.items())
    head = [about, list(table.units), list(table.names), fields, inside]
    found = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
    arrays: list[Floats | Ints] = [table.blocks, table.values]
    for _, parts in sorted(table.breakdowns.items()):
        arrays += [parts.unit, parts.part, parts.values]
    for array in arrays:
        found.update(np.ascontiguousarray(array, np.dtype(array.dtype).newbyteorder("<")).tobytes())
    found.update(b"".join([*table.digests, *table.block_names]))
    return found.hexdigest()


def complete_options(procedure: Procedure, options: Mapping[str, str]) -> dict[str, str]:
    """Return the options of stored counts in declared order, with those that were added since at their defaults.

    Raises:
        RequestError: they are not the options of the procedure, or have other values than it gives them.
    """
    complete = procedure.keep_options(procedure.resolve_options(options), reading=True)
    for option in procedure.options:
        if option.name in complete and option.name not in options and option.signed == "always":
            raise RequestError(f"option {option.name} is missing")
    for name, value in options.items():
        if complete.get(name) != value:
            expected = f"expected {quote(complete[name])}" if name in complete else "expected none"
            raise RequestError(f"option {name}: {quote(value)} is not stored so ({expected})")
    return complete


def find_problems(table: CountTable, provenance: Provenance, procedure: Procedure) -> Iterator[Problem]:
    """Find what `write_counts` never writes.

    Args:
        table, provenance: the counts, with complete options.
        procedure: the procedure that counted.
    """
    yield from map(Problem, _check_names(table, procedure))
    if provenance.missing and provenance.options.get("missing") == "error":
        yield Problem(
            f"{pluralize(provenance.missing, 'record')} without a prediction (expected none: missing is error)"
        )
    yield from map(Problem, _check_blocks(table, procedure))
    every = list(_list_rows(table, procedure))
    if wrong := [Problem(what) for rows in every for what in _check_range(rows)]:
        yield from wrong
        return
    identities = list(select_identities(procedure.identities, provenance.options))
    for rows in every:
        if identities:
            yield from map(Problem, _check_names_of_counts(rows, identities))
        yield from map(Problem, _check_identities(rows, identities))
    for rows in every[1:]:
        yield from map(Problem, _check_sums_of_parts(every[0], rows, table.breakdowns[rows.field], identities))


def find_unsafe_names(table: CountTable, procedure: Procedure) -> Iterator[str]:
    """Say which names can't be stored: those with control characters."""
    texts = {procedure.unit: table.units}
    texts |= {f"value of {name}": column for name, column in table.fields.items()}
    texts |= {f"value of {name}": parts.parts for name, parts in table.breakdowns.items()}
    for what, names in texts.items():
        unsafe = [name for name in names if UNSAFE.search(name)]
        if unsafe:
            more = f" ({len(unsafe):,} in all)" if len(unsafe) > 1 else ""
            yield f"{what} {quote(unsafe[0])} contains a control character{more}"


def _check_names(table: CountTable, procedure: Procedure) -> Iterator[str]:
    yield from find_unsafe_names(table, procedure)
    if len(set(table.units)) < len(table.units):
        (twice, _), *_ = Counter(table.units).most_common(1)
        yield f"{procedure.unit} {quote(twice)} occurs twice"
    for name in table.fields:
        if name not in procedure.fields and not procedure.more_fields:
            yield f"{quote(name)} is not a field of {procedure.name} (expected {_list_known(procedure.fields)})"
    for name, parts in table.breakdowns.items():
        if name not in procedure.breakdowns:
            yield f"{quote(name)} is not a field of {procedure.name} (expected {_list_known(procedure.breakdowns)})"
        if len(set(parts.parts)) < len(parts.parts):
            yield f"a value of {name} is named twice"
        if not mark_run_starts(np.sort(parts.unit * max(len(parts.parts), 1) + parts.part)).all():
            yield f"a {procedure.unit} has two rows for one value of {name}"


def _list_known(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def _check_blocks(table: CountTable, procedure: Procedure) -> Iterator[str]:
    """Check that blocks are numbered from 0 without gaps, one for each unit if units are resampled one by one."""
    blocks = np.sort(table.blocks)
    blocks = blocks[mark_run_starts(blocks)]
    if not np.array_equal(blocks, np.arange(len(blocks))):
        yield f"blocks are {_show_first(blocks.tolist())} (expected 0, 1, 2 and so on, each at least once)"
        return
    pairs = set(zip(table.blocks.tolist(), table.block_names, strict=False))
    if pairs and not len(pairs) == len(blocks) == len({name for _, name in pairs}):
        yield "a block has two names, or two blocks have one (expected a name for each block)"
    if procedure.unit == procedure.resampling_unit and len(blocks) < len(table.units):
        expected = f"expected one for each {procedure.unit}"
        yield f"has {pluralize(len(blocks), 'block')} of {pluralize(len(table.units), procedure.unit)} ({expected})"


def _show_first(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:5])) + (", …" if len(numbers) > 5 else "")


class _Rows(NamedTuple):
    """Rows of counts: units, or the parts of units by a field.

    Attributes:
        names: (k,) the names of the counts.
        values: (n, k) the counts.
        field: the name of the breakdown; empty for units.
        describe: names a row in messages.
    """

    names: tuple[str, ...]
    values: Floats
    field: str
    describe: Callable[[int], str]

    @property
    def columns(self) -> Columns:
        """The counts by name, (n,) each."""
        return dict(zip(self.names, self.values.T, strict=True))


def _list_rows(table: CountTable, procedure: Procedure) -> Iterator[_Rows]:
    """Yield the rows of units, and those of each breakdown."""

    def name_unit(row: int) -> str:
        return f"{procedure.unit} {quote(table.units[row])}"

    yield _Rows(table.names, table.values, "", name_unit)
    for name, parts in table.breakdowns.items():
        yield _Rows(parts.names or table.names, parts.values, name, partial(_name_part, table, name, name_unit))


def _name_part(table: CountTable, field: str, name_unit: Callable[[int], str], row: int) -> str:
    parts = table.breakdowns[field]
    return f"{name_unit(int(parts.unit[row]))}, {field} {quote(parts.parts[int(parts.part[row])])}"


def _check_range(rows: _Rows) -> Iterator[str]:
    """Check that counts and their sums are finite, not negative and small enough to be exact."""
    for name, column in rows.columns.items():
        out = np.flatnonzero(~(np.isfinite(column) & (column >= 0) & (column < LARGEST)))
        if len(out):
            found = f"{rows.describe(int(out[0]))}: {name} is {column[out[0]]:.15g}"
            yield f"{found} (expected a number from 0 to 2**53){_count_others(out)}"
        elif column.sum() >= LARGEST:
            yield f"{name} sums to {column.sum():.15g} (expected less than 2**53)"


def _check_names_of_counts(rows: _Rows, identities: Sequence[Identity | PartsOf]) -> Iterator[str]:
    """Check that the procedure counts what is counted, with these options."""
    known = {name for one in identities for name in one.names}
    for name in rows.names:
        if name not in known:
            yield f"{quote(name)} is not counted with these options"


def _check_identities(rows: _Rows, identities: Sequence[Identity | PartsOf]) -> Iterator[str]:
    """Check what is true of every row."""
    columns = rows.columns
    for one in identities:
        if isinstance(one, PartsOf) or (rows.field and not one.of_parts) or not columns.keys() >= set(one.names):
            continue
        broken = np.flatnonzero(one.find_broken(columns))
        if len(broken):
            first = int(broken[0])
            yield f"{rows.describe(first)}: {one.describe(columns, first)}{_count_others(broken)}"


def _count_others(rows: Ints) -> str:
    return f" ({len(rows):,} rows)" if len(rows) > 1 else ""


def _check_sums_of_parts(
    units: _Rows, parts: _Rows, breakdown: Breakdown, identities: Sequence[Identity | PartsOf]
) -> Iterator[str]:
    """Check that the counts of the parts of each unit sum to no more than those of the unit."""
    wholes = {one.name: one.whole for one in identities if isinstance(one, PartsOf)}
    of_units = units.columns
    for name, column in parts.columns.items():
        own = name if name in of_units else wholes.get(name, "")
        if own not in of_units:
            continue
        whole = of_units[own]
        sums = np.bincount(breakdown.unit, column, minlength=len(whole))
        broken = np.flatnonzero(sums - whole > TOLERANCE * np.maximum(whole, 1))
        if len(broken):
            first = int(broken[0])
            found = f"{name} by {parts.field} sums to {sums[first]:.15g}"
            expected = f"expected at most {own}, {whole[first]:.15g}"
            yield f"{units.describe(first)}: {found} ({expected}){_count_others(broken)}"
