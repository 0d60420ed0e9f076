"""What results can do with themselves: print tables, become data frames, and be saved as JSON and read again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, cast, get_args, overload

from closeread.argument_types import check_types
from closeread.exceptions import FieldPath, FormatError, MissingExtraError, Problem, RequestError, quote
from closeread.formats.json_lines import read_json, write_json
from closeread.json_schema import check_json
from closeread.records import check_format
from closeread.tables import Grid, Style, csv_text, draw

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, unused-ignore]
    import polars  # type: ignore[import-not-found, unused-ignore]
    import pyarrow


Library = Literal["pandas", "polars", "arrow"]
"""What makes a data frame; "arrow" stands for pyarrow's tables."""


def check_report(found: object, source: object = "report") -> Mapping[str, Any]:
    """Check a report by its schema, and return it.

    Raises:
        FormatError: it breaks the schema; all problems at once.
    """
    return _check_schema("report", found, source)


def check_comparison(found: object, source: object = "comparison") -> Mapping[str, Any]:
    """Check a comparison, or a list of one, by its schema, and return it.

    Raises:
        FormatError: it breaks the schema, or its two reports have other signatures, or not the scores that it compares;
            all problems at once.
    """
    if isinstance(found, list) and found and all(isinstance(one, dict) for one in found):
        if len(found) != 1:
            raise FormatError(source, [Problem(f"has {len(found)} comparisons (expected one, of two systems)")])
        found = found[0]
    checked = _check_schema("comparison", found, source)
    first, second = checked["first"], checked["second"]
    problems = [
        Problem(f"differences: {quote(name)} is not a score of both systems")
        for name in checked["differences"]
        if name not in first["scores"] or name not in second["scores"]
    ]
    problems += _find_wrong_signatures(first["signature"], {("second",): second})
    if problems:
        raise FormatError(source, problems)
    return checked


def check_systems_table(found: object, source: object = "table") -> Mapping[str, Any]:
    """Check a table of systems by its schema, and return it.

    Raises:
        FormatError: it breaks the schema, names a system twice, or has scores or tests of systems that it lacks, or
            systems with other signatures; all problems at once.
    """
    checked = _check_schema("table", found, source)
    reports: dict[FieldPath, Any] = {
        ("systems", i, "report"): system["report"] for i, system in enumerate(checked["systems"])
    }
    if problems := [*_find_wrong_names(checked), *_find_wrong_signatures(checked["signature"], reports)]:
        raise FormatError(source, problems)
    return checked


def _find_wrong_signatures(expected: str, reports: Mapping[FieldPath, Mapping[str, Any]]) -> Iterator[Problem]:
    for path, report in reports.items():
        if report["signature"] != expected:
            what = f"is {quote(report['signature'], 2000)} (expected {quote(expected, 2000)}, as the others)"
            yield Problem(what, path=(*path, "signature"))


def _find_wrong_names(found: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a problem for every name in a table of systems that does not fit the others."""
    number: dict[str, int] = {}
    for i, one in enumerate(found["systems"]):
        if number.setdefault(one["name"], i) < i:
            yield Problem(f"systems[{i}].name: another system is called {quote(one['name'])}, too")
        for score in found["scores"]:
            if score not in one["report"]["scores"]:
                yield Problem(f"systems[{i}].report.scores: has no {quote(score)} (expected every score of the table)")
    for score, tests in found["pairs"].items():
        if score not in found["scores"]:
            yield Problem(f"pairs: {quote(score)} is not a score of the table")
        for i, test in enumerate(tests):
            pair = test["first"], test["second"]
            unknown = [name for name in pair if name not in number]
            for name in unknown:
                yield Problem(f"pairs.{score}[{i}]: {quote(name)} is not a system of the table")
            if not unknown and number[pair[0]] >= number[pair[1]]:
                yield Problem(
                    f"pairs.{score}[{i}]: {quote(pair[0])} does not come before {quote(pair[1])} in the table"
                )


def check_reproduction(found: object, source: object = "reproduction") -> Sequence[Mapping[str, Any]]:
    """Check the recomputed tables of a paper by their schema, and return them.

    Raises:
        FormatError: they break the schema, or are of several papers; all problems at once.
    """
    checked = cast("Sequence[Mapping[str, Any]]", _check_schema("reproduction", found, source))
    corpora = list(dict.fromkeys(table["corpus"] for table in checked))
    if len(corpora) > 1:
        raise FormatError(source, [Problem(f"has tables of {', '.join(corpora)} (expected those of one corpus)")])
    return checked


def _check_schema(definition: str, found: object, source: object) -> Mapping[str, Any]:
    check_format(found, FORMAT, source)
    check_json(found, f"closeread.counts/report.schema.json#{definition}", source)
    return cast("Mapping[str, Any]", found)


class Shown(ABC):
    """Something that prints itself as the tables of the command line."""

    @abstractmethod
    def to_grids(self, style: Style = "table") -> Iterable[Grid]:
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
        return "\n".join(draw(grid, style) for grid in self.to_grids(style))

    def to_html(self) -> str:
        """Return the tables in HTML, scores times 100, to be put into a page."""
        from closeread.tables import draw_html

        return "".join(draw_html(grid) for grid in self.to_grids("markdown"))

    def _repr_html_(self) -> str:
        """The tables as Jupyter shows them."""
        return self.to_html()


class Result(Shown):
    """Something that also has rows of data, numbers in full precision, and JSON."""

    @abstractmethod
    def to_rows(self) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
        """Return header and rows of its data, tidy: one observation a row."""

    @abstractmethod
    def to_json(self) -> object:
        """Return it as a JSON value."""

    def to_csv(self) -> str:
        """Return its data as comma-separated values."""
        return csv_text(*self.to_rows())

    @overload
    def to_frame(self, library: None = None) -> pandas.DataFrame | polars.DataFrame: ...

    @overload
    def to_frame(self, library: Literal["pandas"]) -> pandas.DataFrame: ...

    @overload
    def to_frame(self, library: Literal["polars"]) -> polars.DataFrame: ...

    @overload
    def to_frame(self, library: Literal["arrow"]) -> pyarrow.Table: ...

    def to_frame(self, library: Library | None = None) -> pandas.DataFrame | polars.DataFrame | pyarrow.Table:
        """Return its data as a data frame with Arrow's types: the rows and columns of the CSV.

        Args:
            library: "pandas", "polars" or "arrow" (a `pyarrow.Table`); None for pandas if it is installed, otherwise
                polars.

        Raises:
            MissingExtraError: the library is not installed.
            RequestError: there is no such library.
        """
        import pyarrow as pa

        if library is not None and library not in get_args(Library):
            raise RequestError(f"no data frames of {library!r} (choose from: {', '.join(get_args(Library))})")
        header, rows = self.to_rows()
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

    @check_types
    def save(self, path: str | Path) -> None:
        """Write it as JSON, completely or not at all.

        Raises:
            OSError: the file can't be written.
        """
        write_json(Path(path), self.to_stored())

    def to_stored(self) -> object:
        """Return what is saved: the JSON, and what it takes to print the same table again."""
        return self.to_json()


class Loadable(Result):
    """A result whose JSON can be read again, as it was printed or saved."""

    @classmethod
    @check_types
    def load(cls, path: str | Path) -> Self:
        """Read its JSON from a file, such as `save` writes.

        Raises:
            FormatError: the file is missing or holds something else; all problems at once.
        """
        return cls.from_json(read_json(Path(path)), path)

    @classmethod
    @abstractmethod
    def from_json(cls, found: object, source: object) -> Self:
        """Read its JSON.

        Args:
            found: the JSON value; keys that are unknown are ignored.
            source: what it is from, for messages.

        Raises:
            FormatError: it is something else; all problems at once.
        """


def _make_column(values: Sequence[object]) -> pyarrow.Array:
    """Return a column of one type: text if the types differ; numbers if there is nothing but None."""
    import pyarrow as pa

    found = {type(value) for value in values if value is not None}
    if found <= {int, float}:
        return pa.array(values, pa.int64() if found == {int} else pa.float64())
    if found == {bool}:
        return pa.array(values, pa.bool_())
    return pa.array([None if value is None else str(value) for value in values], pa.string())


FORMAT = 1
"""The number of the format of reports, comparisons and tables."""
