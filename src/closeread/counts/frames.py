"""Data frames of Arrow columns, for whichever library is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, get_args

from closeread.exceptions import MissingExtraError, RequestError

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, unused-ignore]
    import polars  # type: ignore[import-not-found, unused-ignore]
    import pyarrow

Library = Literal["pandas", "polars", "arrow"]
"""What makes a data frame; "arrow" stands for pyarrow's tables."""


def make_frame(
    header: Sequence[str], rows: Sequence[Sequence[object]], library: Library | None = None
) -> pandas.DataFrame | polars.DataFrame | pyarrow.Table:
    """Make a data frame, with Arrow's types in any library.

    Args:
        header: the names of the columns.
        rows: their values: text, numbers, truth values, and None.
        library: which one; None for pandas if it is installed, otherwise polars.

    Raises:
        MissingExtraError: the library is not installed.
        RequestError: there is no such library.
    """
    import pyarrow as pa

    known = get_args(Library)
    if library is not None and library not in known:
        raise RequestError(f"no data frames of {library!r} (choose from: {', '.join(known)})")
    columns = zip(*rows, strict=True) if rows else ([] for _ in header)
    table = pa.table({name: _make_column(values) for name, values in zip(header, columns, strict=True)})
    if library == "arrow":
        return table
    if library != "polars":
        try:
            import pandas as pd
        except ImportError:
            if library == "pandas":
                raise MissingExtraError("a data frame of pandas", "pandas") from None
        else:
            return table.to_pandas(types_mapper=pd.ArrowDtype)
    try:
        import polars as pl
    except ImportError:
        if library == "polars":
            raise MissingExtraError("a data frame of polars", "polars") from None
        what = "a data frame of pandas or polars (library='arrow' needs neither)"
        raise MissingExtraError(what, "pandas") from None
    return pl.from_arrow(table)


def _make_column(values: Sequence[object]) -> pyarrow.Array:
    """Return a column of one type: text if the types differ; numbers if there is nothing but None."""
    import pyarrow as pa

    found = {type(value) for value in values if value is not None}
    if found <= {int, float}:
        return pa.array(values, pa.int64() if found == {int} else pa.float64())
    if found == {bool}:
        return pa.array(values, pa.bool_())
    return pa.array([None if value is None else str(value) for value in values], pa.string())
