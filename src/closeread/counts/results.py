"""Base classes of results, which print as tables, become data frames, and are saved as JSON."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, overload

from closeread.exceptions import (
    MissingExtraError,
    RequestError,
    describe_unknown,
)
from closeread.formats.json_lines import dump_json, write_json
from closeread.tables import Grid, Style, csv_text, draw, draw_html

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, unused-ignore]
    import polars  # type: ignore[import-not-found, unused-ignore]
    import pyarrow


FORMAT = 1  # the number of the format of reports, comparisons and tables

# the library of a data frame; "arrow" stands for pyarrow's tables
Library = Literal["pandas", "polars", "arrow"]

FRAME_COLUMNS = {"low": "ci_low", "high": "ci_high"}
"""The names in data frames of columns of the CSV."""

T = TypeVar("T")


def find_score(scores: Mapping[str, T], name: str, titles: Mapping[str, str]) -> T:
    """Return the value for a score by its name, its title, or its metric if that has no other score.

    Raises:
        RequestError: there is no such score; similar names are suggested.
    """
    if name in scores:
        return scores[name]
    matching = [score for score in scores if name in (titles.get(score), score.partition("/")[0])]
    if len(matching) != 1:
        raise RequestError(describe_unknown("score", name, list(scores)))
    return scores[matching[0]]


class JsonResult(ABC):
    """A result that can be converted to JSON."""

    @abstractmethod
    def to_dict(self) -> Any:
        """Return it as a dict that JSON can hold; several results, as a list of such dicts."""

    def to_json(self) -> str:
        """Return it as a string of JSON."""
        return dump_json(self.to_dict(), indent=2).removesuffix("\n")


class Shown(ABC):
    """A result that prints itself as the tables of the command line."""

    @abstractmethod
    def _to_grids(self, style: Style = "table") -> Iterable[Grid]:
        """Return its tables, laid out for a style."""

    def __str__(self) -> str:
        """The tables as the command line prints them."""
        return self._draw("table").removesuffix("\n")

    def to_markdown(self) -> str:
        """Return the tables in Markdown, scores times 100."""
        return self._draw("markdown")

    def to_latex(self) -> str:
        r"""Return the tables in LaTeX, scores times 100; they need `\usepackage{booktabs}`."""
        return self._draw("latex")

    def _draw(self, style: Style) -> str:
        return "\n".join(draw(grid, style) for grid in self._to_grids(style))

    def to_html(self) -> str:
        """Return the tables in HTML, scores times 100, to be put into a page."""
        return "".join(draw_html(grid) for grid in self._to_grids("markdown"))

    def _repr_html_(self) -> str:
        """The tables as Jupyter shows them."""
        return self.to_html()


class Result(Shown, JsonResult):
    """A result that also has rows of data with numbers in full precision, and JSON."""

    @abstractmethod
    def _to_rows(self) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
        """Return header and rows of its data, tidy: one observation per row."""

    def to_csv(self) -> str:
        """Return its data as comma-separated values."""
        return csv_text(*self._to_rows())

    @overload
    def to_frame(self, library: None = None) -> pandas.DataFrame | polars.DataFrame: ...

    @overload
    def to_frame(self, library: Literal["pandas"]) -> pandas.DataFrame: ...

    @overload
    def to_frame(self, library: Literal["polars"]) -> polars.DataFrame: ...

    @overload
    def to_frame(self, library: Literal["arrow"]) -> pyarrow.Table: ...

    def to_frame(
        self, library: Library | None = None
    ) -> pandas.DataFrame | polars.DataFrame | pyarrow.Table:
        """Return its data as a data frame with Arrow's types: the rows of the CSV.

        Ends of intervals are `ci_low` and `ci_high`; a signature that all rows share is no column, but in the `attrs`
        of a frame of pandas and in the metadata of a table of Arrow.

        Args:
            library: "pandas", "polars" or "arrow" (a `pyarrow.Table`); None for pandas if it is installed, otherwise
                polars.
        """
        if library is not None and library not in get_args(Library):
            raise RequestError(
                describe_unknown("library of data frames", library, get_args(Library))
            )
        table = self._make_arrow_table()
        if library == "arrow":
            return table
        if library != "polars":
            try:
                import pandas as pd
            except ImportError:
                if library == "pandas":
                    raise MissingExtraError("a data frame of pandas", "pandas") from None
            else:
                frame = table.to_pandas(types_mapper=pd.ArrowDtype)
                for name, text in (table.schema.metadata or {}).items():
                    frame.attrs[name.decode()] = text.decode()
                return frame
        try:
            import polars as pl
        except ImportError:
            if library == "polars":
                raise MissingExtraError("a data frame of polars", "polars") from None
            frames = "a data frame of pandas or polars (library='arrow' needs neither)"
            raise MissingExtraError(frames, "pandas") from None
        return pl.from_arrow(table)

    def _make_arrow_table(self) -> pyarrow.Table:
        """Return the rows as a table of Arrow; a signature that all of them share is in its metadata."""
        import pyarrow as pa

        header, rows = self._to_rows()
        columns = {name: [row[index] for row in rows] for index, name in enumerate(header)}
        metadata = {}
        signatures = set(columns.get("signature", ()))
        if len(signatures) == 1:
            metadata["signature"] = signatures.pop()
            del columns["signature"]
        arrays = {
            FRAME_COLUMNS.get(name, name): _make_column(values) for name, values in columns.items()
        }
        return pa.table(arrays, metadata=metadata)

    def save(self, path: str | Path) -> None:
        """Write it as JSON, completely or not at all."""
        write_json(Path(path), self.to_dict())


def _make_column(values: Sequence[object]) -> pyarrow.Array:
    """Return a column of one type: text if the types differ; numbers if there is nothing but None."""
    import pyarrow as pa

    types = {type(value) for value in values if value is not None}
    if types == {int}:
        return pa.array(values, pa.int64())
    if types <= {int, float}:
        return pa.array(values, pa.float64())
    if types == {bool}:
        return pa.array(values, pa.bool_())
    return pa.array([None if value is None else str(value) for value in values], pa.string())
