"""CoNLL-U: the sentences of a file and their rows, which CorefUD and the treebanks of Universal Dependencies share.

Conventions: a row has ten columns, separated by tabs; blank lines end sentences, and lines that begin with ``#`` are
comments.  Words have the ids 1, 2, … in each sentence, empty nodes 3.1, 3.2, … after word 3 (0.1 before the first), and
the multiword token 3-4 is before word 3, without an overlap with other multiword tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from closeread.exceptions import ProblemList, quote
from closeread.tasks.coref.formats.lines import has_controls, report_control

COLUMNS = 10

# What the id of a row says that it is: an id that is none of these is invalid.
WORD = b""
NODE = b"."
RANGE = b"-"
INVALID = b"?"

ROW_ID = re.compile(rb"([0-9]{1,9})(?:([.-])([0-9]{1,9}))?")


# Where the rows of a sentence begin, after its comments.
FIRST_ROW = re.compile(rb"^(?!#)", re.MULTILINE)

Row = tuple[int, Sequence[bytes]]
"""The line of a row, and its cells."""


class Sentence(NamedTuple):
    """A sentence.

    Attributes:
        comments: the line of each comment, and its text.
        lines: the line of each row that has ten columns.
        columns: the cells of these rows, by column.
        end_line: the line after its last one.
    """

    comments: list[tuple[int, bytes]]
    lines: Sequence[int]
    columns: Sequence[list[bytes]]
    end_line: int

    def list_rows(self) -> list[Row]:
        """Return the rows."""
        return list(zip(self.lines, zip(*self.columns, strict=True), strict=True))


def iterate_sentences(text: bytes, first_line: int, problems: ProblemList) -> Iterator[Sentence]:
    """Yield the sentences of a text, and what is empty between blank lines; report rows that are no rows."""
    may_have_controls = has_controls(text)
    last_line = first_line + text.count(b"\n")
    line = first_line
    for block in text.split(b"\n\n"):
        next_line = line + block.count(b"\n") + 2
        end_line = min(next_line - 1, last_line)
        sentence = None if may_have_controls else _read_at_once(block, line, end_line)
        if sentence:
            yield sentence
        else:
            yield from _read_lines(block, line, end_line, problems, may_have_controls)
        line = next_line


def _read_at_once(block: bytes, line: int, end_line: int) -> Sentence | None:
    """Read a sentence with only rows after its comments, all of ten columns and with a word; None if it is another."""
    first = FIRST_ROW.search(block)
    if first is None:
        return None
    header = block[: first.start()]
    comments = list(enumerate(header.split(b"\n")[:-1], line))
    text = block[first.start() :].removesuffix(b"\n")
    n_rows = text.count(b"\n") + 1
    # A line end is a cell of its own, so that it is seen where it is not after ten cells.
    cells = text.replace(b"\n", b"\t\n\t").split(b"\t")
    width = COLUMNS + 1
    has_columns = len(cells) == n_rows * width - 1
    if not has_columns or cells[COLUMNS::width].count(b"\n") != n_rows - 1:
        return None
    columns = [cells[column::width] for column in range(COLUMNS)]
    if b"" in columns[1] or b"\n#" in text:
        return None
    first_row = line + len(comments)
    return Sentence(comments, range(first_row, first_row + n_rows), columns, end_line)


def _read_lines(
    block: bytes, first_line: int, end_line: int, problems: ProblemList, may_have_controls: bool
) -> Iterator[Sentence]:
    """Read sentences line by line; report what is wrong with each."""
    comments: list[tuple[int, bytes]] = []
    rows: list[Row] = []
    for number, line in enumerate(block.split(b"\n"), first_line):
        if line.startswith(b"#"):
            comments.append((number, line))
            continue
        cells = line.split(b"\t")
        if len(cells) == COLUMNS:
            rows.append((number, cells))
            if not cells[1]:
                problems.add("column 2: the word is empty (expected a word or '_')", number)
            if may_have_controls:
                report_control(line, number, problems)
        elif line.strip(b" \t\r"):
            expected = f"expected {COLUMNS}, separated by tabs"
            problems.add(f"the number of columns is {len(cells)} ({expected})", number)
        else:
            yield _make_sentence(comments, rows, number)
            comments = []
            rows = []
    yield _make_sentence(comments, rows, end_line)


def _make_sentence(comments: list[tuple[int, bytes]], rows: list[Row], end_line: int) -> Sentence:
    lines = [line for line, _ in rows]
    columns = list(map(list, zip(*(cells for _, cells in rows), strict=True)))
    return Sentence(comments, lines, columns or [[]] * COLUMNS, end_line)


class RowIds(NamedTuple):
    """The ids of the rows of a sentence.

    Attributes:
        kinds: what each row is: `WORD`, `NODE`, `RANGE` or `INVALID`.
        tokens: the token of each row; of a row without one, that of the next row that has one.
        words: the token of each word by its number, from 1; word 0 is the root, of which the token is -1.
        nodes: the token of each empty node, by the word before it and its number there.
    """

    kinds: list[bytes]
    tokens: list[int]
    words: list[int]
    nodes: dict[tuple[int, int], int]

    def find_token(self, word: int, node: int) -> int | None:
        """Return the token of a word, or of an empty node after it; None if there is none."""
        if node:
            return self.nodes.get((word, node))
        return self.words[word] if word < len(self.words) else None


def read_ids(sentence: Sentence, first_token: int, problems: ProblemList) -> RowIds:
    """Number the tokens of a sentence, which are words and empty nodes; report ids that don't count up."""
    texts = sentence.columns[0]
    if texts == _list_word_ids(len(texts)):
        tokens = list(range(first_token, first_token + len(texts)))
        return RowIds([WORD] * len(texts), tokens, [-1, *tokens], {})
    ids = RowIds([], [], [-1], {})
    range_end = 0
    node = 0
    token = first_token
    for line, text in zip(sentence.lines, texts, strict=True):
        match = ROW_ID.fullmatch(text)
        kind = (match[2] or WORD) if match else INVALID
        number, second = (int(match[1]), int(match[3] or 0)) if match else (0, 0)
        next_word = len(ids.words)
        if kind == WORD and number == next_word:
            ids.words.append(token)
            node = 0
        elif kind == NODE and (number, second) == (next_word - 1, node + 1):
            node += 1
            ids.nodes[number, second] = token
        elif kind == RANGE and number == next_word and second > number > range_end:
            range_end = second
        else:
            follows = f" follows word {next_word - 1}" if next_word > 1 else ""
            choices = f"{next_word}, {next_word - 1}.{node + 1} or a range from {next_word}"
            message = f"{quote(text.decode())}{follows} (expected {choices})"
            problems.add(f"column 1: {message}", line)
        ids.kinds.append(kind)
        ids.tokens.append(token)
        token += kind in (WORD, NODE)
    if range_end >= len(ids.words):
        last = f"word {range_end}, the last of a multiword token"
        problems.add(f"the sentence ends before {last}", sentence.end_line)
    return ids


@lru_cache(maxsize=2**10)
def _list_word_ids(n_words: int) -> list[bytes]:
    """Return the ids of words in a sentence that has neither empty nodes nor multiword tokens."""
    return [b"%d" % number for number in range(1, n_words + 1)]
