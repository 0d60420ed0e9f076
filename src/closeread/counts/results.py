"""What a result can do with itself: print its tables, show them in a notebook, export and save them."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, overload

from closeread.argument_types import check_types
from closeread.counts.frames import make_frame
from closeread.counts.rendering import Grid, Style, csv_text, draw
from closeread.errors import FormatError, Problem
from closeread.files import write_text

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, unused-ignore]
    import polars  # type: ignore[import-not-found, unused-ignore]
    import pyarrow

    from closeread.counts.frames import Library

__all__ = ["Loadable", "Result", "Shown", "read_json", "write_json"]


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


def write_json(path: Path, value: object) -> None:
    """Write a JSON value as the command line prints it, completely or not at all.

    Raises:
        OSError: the file can't be written.
    """
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> object:
    """Read a file of JSON, without NaN and duplicate keys.

    Raises:
        FormatError: the file can't be read, or is not JSON.
    """
    try:
        return json.loads(
            path.read_text("utf-8"),
            object_pairs_hook=_make_object,
            parse_constant=_reject_constant,
            parse_float=_parse_finite,
        )
    except OSError as error:
        raise FormatError(path, [Problem(f"can't be read: {(error.strerror or str(error)).lower()}")]) from None
    except UnicodeDecodeError as error:
        raise FormatError(path, [Problem(f"is not UTF-8 (byte {error.start})")]) from None
    except RecursionError:
        raise FormatError(path, [Problem("is nested too deeply")]) from None
    except json.JSONDecodeError as error:
        raise FormatError(path, [Problem(f"is not JSON: {error.msg}", error.lineno)]) from None
    except ValueError as error:  # refused by a hook, or an integer with more digits than Python converts
        raise FormatError(path, [Problem(f"is not JSON: {error}")]) from None


def _make_object(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"key {twice!r} occurs twice in an object")
    return made


def _parse_finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _reject_constant(text)


def _reject_constant(text: str) -> float:
    raise ValueError(f"{text} is not a finite number")
