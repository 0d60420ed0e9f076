"""CoNLL-U: the sentences of a file and their rows, which CorefUD and the treebanks of Universal Dependencies share.

Conventions: a row has ten columns, separated by tabs; blank lines end sentences, and lines that begin with ``#`` are
comments.  Words have the ids 1, 2, … in each sentence, empty nodes 3.1, 3.2, … after word 3 (0.1 before the first), and
the multiword token 3-4 is before word 3, without an overlap with other multiword tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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


Row = tuple[int, list[bytes]]
"""The line of a row, and its cells."""


class Sentence(NamedTuple):
    """A sentence.

    Attributes:
        comments: the line of each comment, and its text.
        rows: the rows that have ten columns.
        end_line: the line after its last one.
    """

    comments: list[tuple[int, bytes]]
    rows: list[Row]
    end_line: int


def iterate_sentences(text: bytes, first_line: int, problems: ProblemList) -> Iterator[Sentence]:
    """Yield the sentences of a text, and what is empty between blank lines; report rows that are no rows."""
    may_have_controls = has_controls(text)
    comments: list[tuple[int, bytes]] = []
    rows: list[Row] = []
    number = first_line
    for number, line in enumerate(text.split(b"\n"), first_line):
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
            yield Sentence(comments, rows, number)
            comments = []
            rows = []
    yield Sentence(comments, rows, number)


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
    texts = [cells[0] for _, cells in sentence.rows]
    if texts == _list_word_ids(len(texts)):
        tokens = list(range(first_token, first_token + len(texts)))
        return RowIds([WORD] * len(texts), tokens, [-1, *tokens], {})
    ids = RowIds([], [], [-1], {})
    range_end = 0
    node = 0
    token = first_token
    for line, cells in sentence.rows:
        match = ROW_ID.fullmatch(cells[0])
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
            message = f"{quote(cells[0].decode())}{follows} (expected {choices})"
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
