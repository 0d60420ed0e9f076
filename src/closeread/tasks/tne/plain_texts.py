"""Plain texts of one's own, and how the corpus writes such texts.

Conventions: a file holds a title, any number of subtitles, and at least one paragraph.  These parts are lines, or
blocks of lines between blank lines; further blank lines and white space around a part don't matter.  The corpus puts a
blank line after the title, a space and a blank line after each subtitle, and a space and a line end between paragraphs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from closeread.exceptions import FormatError, Problem, ProblemList, pluralize
from closeread.formats.folders import list_files
from closeread.formats.text import UNSAFE as UNSAFE_NAME
from closeread.formats.text import read_lines
from closeread.tasks.tne.columns import TITLE_END
from closeread.tasks.tne.tne_jsonl import UNSAFE

LINE, BLANK_LINE = "line", "blank-line"
PARTS = {LINE: "non-blank line", BLANK_LINE: "block"}
"""What a part is, by what separates parts: line ends, or blank lines."""

SUFFIXES = (".txt", ".txt.gz")
SUFFIX = re.compile(r"(?<=.)(\.txt)?(\.gz)?$", re.IGNORECASE)

PARAGRAPH_END = " \n"


@dataclass(frozen=True)
class PlainText:
    """A text in its parts, none of which is empty or has white space around it.

    Attributes:
        id: the id of its document: the name of the file without `.txt`.
        source: the name of the file.
        title: the title.
        subtitles: the subtitles, possibly none.
        paragraphs: the paragraphs, at least one.
    """

    id: str
    source: str
    title: str
    subtitles: tuple[str, ...]
    paragraphs: tuple[str, ...]

    def lay_out(self, n_paragraphs: int | None = None) -> str:
        """Return the text as the corpus writes it.

        Args:
            n_paragraphs: how many paragraphs to keep, at least 1; None for all.

        >>> PlainText("x", "x.txt", "Ferry sinks", ("May 4",), ("One.", "Two.", "Three.")).lay_out(2)
        'Ferry sinks\\n\\nMay 4 \\n\\nOne. \\nTwo.'
        """
        # A text without subtitles has an empty one, so that the paragraphs follow the second blank line in any text.
        above = "".join(f"{part} {TITLE_END}" for part in self.subtitles or ("",))
        return self.title + TITLE_END + above + PARAGRAPH_END.join(self.paragraphs[:n_paragraphs])


def list_texts(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield files, and for each folder the texts in it, which are named `.txt` or `.txt.gz`.

    A folder with anything else in it, or without texts, comes last itself: `TextReader.read` reports its problems.
    """
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        files, problems = _list_folder(path)
        yield from files
        if problems:
            yield path


def _list_folder(folder: Path) -> tuple[list[Path], Sequence[Problem]]:
    """Return the texts in a folder, and the problems with the folder."""
    try:
        files, problems = list_files(folder, "plain text", *SUFFIXES)
    except FormatError as error:
        return [], error.problems
    return list(files.values()), problems


@dataclass
class TextReader:
    """Reads texts, whose ids must be distinct.

    Attributes:
        separator: one of `PARTS`.
        n_subtitles: how many subtitles follow the title of each text, from 0.
        seen: the files read so far, by id.
    """

    separator: str = LINE
    n_subtitles: int = 1
    seen: dict[str, Path] = field(default_factory=dict)

    def read(self, path: Path) -> PlainText:
        """Read a text.

        Raises:
            FormatError: the file can't be read, contains control characters, lacks a part, or has the id of another; or
                a folder contains no text, or something else.
        """
        if path.is_dir():
            raise FormatError(path, _list_folder(path)[1])
        name = path.name
        own = SUFFIX.sub("", name)
        problems = ProblemList()
        if own in self.seen:
            found = (
                f"gives its document the same id as {self.seen[own]}" if self.seen[own] != path else "is given twice"
            )
            problems.append(Problem(f"{found} (expected files with distinct names)"))
        self.seen.setdefault(own, path)
        if UNSAFE_NAME.search(name):
            problems.append(Problem("has control characters or invalid bytes in its name (expected printable ones)"))
        lines = self._read_lines(path, problems)
        parts = split_parts(lines, self.separator)
        n_above = 1 + self.n_subtitles
        if len(parts) <= n_above:
            problems.append(Problem(self._describe_lack(len(parts))))
        if problems:
            raise FormatError(path, problems)
        return PlainText(own, name, parts[0], tuple(parts[1:n_above]), tuple(parts[n_above:]))

    @staticmethod
    def _read_lines(path: Path, problems: list[Problem]) -> Sequence[str]:
        """Return the lines of a file, and add the problems with them to others found before.

        Raises:
            FormatError: the file can't be read.
        """
        try:
            lines = read_lines(path)
        except FormatError as error:
            raise FormatError(path, [*problems, *error.problems]) from None
        for number, line in enumerate(lines, start=1):
            if found := UNSAFE.search(line):
                character = f"character {found.start() + 1} is the control character U+{ord(found[0]):04X}"
                problems.append(Problem(f"{character} (expected plain text)", number))
        return lines

    def _describe_lack(self, n_parts: int) -> str:
        above = f"a title, {pluralize(self.n_subtitles, 'subtitle')} and" if self.n_subtitles else "a title and"
        return f"has {pluralize(n_parts, PARTS[self.separator])} (expected {above} at least one paragraph)"


def split_parts(lines: Sequence[str], separator: str) -> list[str]:
    r"""Return the parts of a text, without white space around them; the lines of a block are joined by a space.

    >>> split_parts(["Ferry sinks", "", "May", " 4 "], "line")
    ['Ferry sinks', 'May', '4']
    >>> split_parts(["Ferry sinks", " ", "May", " 4 "], "blank-line")
    ['Ferry sinks', 'May 4']
    """
    stripped = [line.strip() for line in lines]
    if separator == LINE:
        return [line for line in stripped if line]
    return [" ".join(block) for is_text, block in groupby(stripped, bool) if is_text]
