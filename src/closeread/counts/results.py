"""What a result can do with itself: print its tables, show them in a notebook, export and save them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, overload

from closeread.argument_types import check_types
from closeread.counts.frames import make_frame
from closeread.counts.rendering import Grid, Style, csv_text, draw
from closeread.formats.json_files import read_json, write_json

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, unused-ignore]
    import polars  # type: ignore[import-not-found, unused-ignore]
    import pyarrow

    from closeread.counts.frames import Library


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
        from closeread.counts.html_tables import draw_html

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
        return make_frame(*self.to_rows(), library)

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
