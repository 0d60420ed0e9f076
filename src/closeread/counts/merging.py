"""Merging of counts: the counts of all shards of a corpus become those of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from closeread.counts.counted import Counted
from closeread.counts.table import CountTable, merge
from closeread.digests import combine_digests
from closeread.exceptions import RequestError, escape


def merge_counts(parts: Sequence[Counted], names: Sequence[str]) -> Counted:
    """Merge the counts of shards, whatever blocks they share: units, blocks, breakdowns, and the digest of the gold.

    Args:
        parts: the counts of each shard, by one procedure.
        names: the names of the shards in messages.

    Raises:
        RequestError: they do not belong together: options or versions differ, or two of them have the same unit; or a
            file is too old to say which units of two shards are resampled together.
    """
    first = parts[0].provenance
    for part, name in zip(parts[1:], names[1:], strict=True):
        other = part.provenance
        for what in ("procedure", "procedure_version", "corpus", "options"):
            if getattr(other, what) != getattr(first, what):
                found = f"{name} has {what.replace('_', ' ')} {_format_value(getattr(other, what))}"
                expected = f"expected {_format_value(getattr(first, what))}, as in {names[0]}"
                raise RequestError(f"cannot merge these counts: {found} ({expected})")
    procedure = parts[0].procedure
    old = [name for part, name in zip(parts, names, strict=True) if not part.table.block_names]
    if old and len(parts) > 1 and procedure.unit != procedure.resampling_unit:
        lacks = (
            f"{old[0]} does not say which {procedure.unit}s share a {procedure.resampling_unit} with those of others"
        )
        raise RequestError(f"cannot merge these counts: {lacks}, since an earlier version wrote it; score again")
    try:
        table = merge([part.table for part in parts])
    except ValueError as error:
        raise RequestError(f"cannot merge these counts: {error}") from None
    digest = combine_digests(table.digests)
    same = {
        what: _find_common({getattr(part.provenance, what) for part in parts})
        for what in ("config", "split", "released")
    }
    provenance = replace(
        first,
        signature=parts[0].procedure.signature(first.options, digest),
        missing=sum(part.provenance.missing for part in parts),
        **same,
    )
    return Counted(table, parts[0].procedure, provenance, _note_dropped(parts, table))


def _note_dropped(parts: Sequence[Counted], merged: CountTable) -> list[str]:
    """Note the fields that only some of the shards can be sliced by."""
    slicing = dict.fromkeys(name for part in parts for name in (*part.table.fields, *part.table.breakdowns))
    dropped = [name for name in slicing if name not in merged.fields and name not in merged.breakdowns]
    return [f"the merged counts can't be sliced by {', '.join(dropped)}: only some files can"] if dropped else []


def _format_value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}:{choice}" for name, choice in value.items())
    return escape(str(value))


def _find_common(values: set[Any]) -> Any:
    """Return the value that all have; None if there are several values."""
    return next(iter(values)) if len(values) == 1 else None
