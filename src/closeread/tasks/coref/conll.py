"""Coreference in CoNLL files: CoNLL-2011 and 2012, SemEval-2010, plain columns, and the variants that readers commonly
accept.

Conventions: a document is between ``#begin document (NAME)`` or ``#begin document (NAME); part 000`` and
``#end document``; with a part its name is ``NAME; part 000``.  The parentheses may be absent (`conll_layout`), and so
may the name: the document is then named by its number in the file, from 1.  Other lines that begin with ``#`` are
comments, blank lines end sentences, and every other line is a token.  Cells are separated by any number of blanks and
tabs; all tokens of a document have the same number of cells.  The last cell contains the mentions: ``-`` and ``_`` mean
that there is none, ``(12`` opens a mention of entity 12, ``12)`` closes the last open mention of entity 12, ``(12)`` is
a mention of a single token; several are joined, with or without ``|`` (`conll_cells`).  A row that lacks its last cell
and ends in a tab has an empty last cell (as in LitBank).  Any other row with too few cells is split at its tabs: if it
then has as many columns as the others, some are empty (as is a word of OntoGUM).  Which cell has the word is given or
guessed (`conll_layout`).

For speed, no loop looks at single bytes of a valid file: line ends and cells are found with NumPy, a block at a time
(`conll_rows`), and only cells with a bracket are parsed, those of many documents together (`conll_mentions`).  Large
files are never in memory as a whole; if one has a problem, it is read again at once to find all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from closeread import limits
from closeread.exceptions import FormatError
from closeread.formats import Format
from closeread.formats.stored_text import HeldText, iterate_parts, open_large
from closeread.formats.text import BYTE_ORDER_MARK, read_bytes
from closeread.records import Parsed
from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.coref.conll_reader import Reader
from closeread.tasks.coref.conll_rows import split_blocks
from closeread.tasks.coref.conll_text import check_text
from closeread.tasks.coref.conll_writer import dump_conll
from closeread.tasks.coref.coref_json import table_of

BATCH = 2**19
"""From how many bytes of cells on mentions are read, as soon as a document ends; large files have many times that."""


def read_conll(path: Path, word_column: int | None = None) -> MentionTable:
    """Read the documents of a CoNLL file.

    Args:
        path: the file.
        word_column: the column of the word, from 1; None to guess it.

    Returns:
        The mentions of an entity in the order in which they open; the ids of the file as labels.

    Raises:
        FormatError: the file is not text or not valid CoNLL, with all its problems.
    """
    return _read(path, word_column)[0]


def read_records(path: Path, split: str, word_column: int | None = None) -> Parsed:
    """The same, each with the line on which its document begins; names are the file's, whatever the split."""
    del split
    table, lines = _read(path, word_column)
    return Parsed(table, lines, [])


def _read(path: Path, word_column: int | None) -> tuple[MentionTable, list[int]]:
    """Read the documents of a file, and the line on which each begins."""
    if (stored := open_large(path)) is not None:
        with suppress(FormatError):  # what is wrong is found in the order of the file if all of it is read at once
            parts = iterate_parts(stored, 0, stored.size)
            return _read_parts(path, parts, Reader(stored, word_column, BATCH), enough=0)
    data = read_bytes(path)
    return _read_parts(path, [(0, data)], Reader(HeldText(data), word_column), enough=limits.MAX_PROBLEMS)


def _read_parts(
    path: Path, parts: Iterable[tuple[int, bytes]], reader: Reader, *, enough: int
) -> tuple[MentionTable, list[int]]:
    line = 1
    for position, data in parts:
        begin = len(BYTE_ORDER_MARK) if not position and data.startswith(BYTE_ORDER_MARK) else 0
        check_text(path, data, begin)
        for rows in split_blocks(data, begin, len(data), line, position):
            reader.take(rows)
            line += len(rows.end)
            if reader.problems.total > enough:  # counting the problems of a gigabyte of garbage helps nobody
                reader.problems.raise_any(path)
    reader.finish()
    return reader.table(path), list(reader.lines.values())


FORMAT = Format(
    read_records,
    lambda records: dump_conll(table_of(records)),
    suffixes=(".conll",),
    first_line=re.compile(r"#\s*begin\s+document", re.ASCII),
)
