"""The ids of a CoNLL-U file's rows, which number the words of each sentence.

Conventions: words are 1, 2, … in each sentence, empty nodes 3.1, 3.2, … after word 3 (0.1 before the first), and the
multiword token 3-4 is before word 3, without an overlap with other multiword tokens.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, Mask
from closeread.exceptions import quote
from closeread.formats.problems import Problems
from closeread.tasks.coref.conllu_rows import EMPTY, ID, INVALID, RANGE, WORD, Rows


class State(NamedTuple):
    """How far a sentence has been read.

    Attributes:
        word: the number of the last word.
        empty: the number of the last empty node after it.
        range_end: the last word of the last multiword token.
    """

    word: int = 0
    empty: int = 0
    range_end: int = 0


class Sentences(NamedTuple):
    """The sentences of a block; the first one, without a row perhaps, began in the block before.

    Attributes:
        number: (n_rows,) the sentence of each row, from 0.
        n_words: the number of words of each sentence so far.
        bad: the sentences whose ids are not valid.
        state: how far the last one has been read.
    """

    number: Ints
    n_words: Ints
    bad: Ints
    state: State


def number_sentences(rows: Rows, is_first: Mask, before: State) -> Sentences:
    """Find the sentences of a block.

    Args:
        rows: the block.
        is_first: (n_rows,) whether a row is the first of its sentence.
        before: how far the sentence that began in the block before has been read.
    """
    number = np.cumsum(is_first, dtype=np.int64)
    n_sentences = int(is_first.sum()) + 1
    is_word = rows.kind == WORD
    n_words = np.bincount(number[is_word], minlength=n_sentences)
    n_words[0] += before.word
    first_word = np.cumsum(n_words) - n_words
    count = np.cumsum(is_word) - is_word + before.word - first_word[number]  # words before each row
    is_right = (rows.number == count + 1) & (rows.kind != INVALID)
    last_empty = before.empty
    if (rows.kind == EMPTY).any():
        nth = _count_empty(rows.kind == EMPTY, is_word, is_first, before.empty)
        is_right = np.where(rows.kind == EMPTY, (rows.number == count) & (rows.second == nth), is_right)
        last_empty = int(nth[-1])
    elif is_word.any() or n_sentences > 1:
        last_empty = 0
    ranges = np.flatnonzero(rows.kind == RANGE)
    range_end = np.zeros(n_sentences, np.int64)
    range_end[0] = before.range_end
    if len(ranges):
        end, its_sentence = rows.second[ranges], number[ranges]
        previous = np.concatenate([[0], np.where(its_sentence[1:] == its_sentence[:-1], end[:-1], 0)])
        previous = np.maximum(previous, np.where(its_sentence == 0, before.range_end, 0))
        is_right[ranges] &= (end > rows.number[ranges]) & (rows.number[ranges] > previous)
        np.maximum.at(range_end, its_sentence, end)
    is_bad = np.bincount(number[~is_right], minlength=n_sentences) > 0
    is_bad[:-1] |= range_end[:-1] > n_words[:-1]
    return Sentences(number, n_words, np.flatnonzero(is_bad), State(int(n_words[-1]), last_empty, int(range_end[-1])))


def _count_empty(is_empty: Mask, is_word: Mask, is_first: Mask, before: int) -> Ints:
    """Count the empty nodes after the last word of the sentence, up to and including each row."""
    count = np.cumsum(is_empty) + before
    # Counting starts again at a word and in a sentence.
    start = np.maximum.accumulate(np.where(is_word | is_first, np.arange(len(count)), -1))
    earlier = np.where(start >= 0, (count - is_empty)[start], 0)
    return count - earlier


def check_ids(rows: Rows, chosen: Ints, before: State, problems: Problems) -> State:
    """Find the problems of a sentence's ids; return how far it has been read."""
    word, empty, range_end = before
    begin, end = rows.cells(ID, chosen)
    columns = (column[chosen].tolist() for column in (rows.lines, rows.kind, rows.number, rows.second))
    for first, last, line, kind, number, second in zip(begin.tolist(), end.tolist(), *columns, strict=True):
        if kind == EMPTY:
            is_right = (number, second) == (word, empty + 1)
        elif kind == RANGE:
            is_right = number == word + 1 and second > number and number > range_end
        else:
            is_right = kind == WORD and number == word + 1
        if not is_right:
            text = quote(rows.text(first, last).decode())
            found = f"column 1: {text} follows word {word}" if word else f"column 1: {text}"
            expected = f"expected {word + 1}, {word}.{empty + 1} or a range from {word + 1}"
            problems.add(f"{found} ({expected})", rows.line + line)
        elif kind == EMPTY:
            empty = second
        elif kind == RANGE:
            range_end = second
        else:
            word, empty = number, 0
    return State(word, empty, range_end)
