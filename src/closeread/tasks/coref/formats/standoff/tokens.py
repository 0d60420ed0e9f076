"""Tokens of documents whose annotation counts characters.

They are those of the file, or those that the same document has in another file, such as the key.  Without any, words are
what stands between blanks, if the annotators marked such words, and otherwise words and marks as Unicode knows them.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from closeread.exceptions import quote
from closeread.tasks.coref.formats.standoff.records import Positions, StandoffDocument
from closeread.tasks.coref.spans import Span, merge_adjacent

WORD_BETWEEN_BLANKS = re.compile(r"\S+")

WITHOUT_BLANKS_BETWEEN_WORDS = (
    r"\u0e00-\u0eff"  # Thai and Lao
    r"\u1000-\u109f\u1780-\u17ff"  # Myanmar and Khmer
    r"\u3040-\u30ff\u31f0-\u31ff"  # kana
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
"""The letters of scripts that don't write blanks between words; each is a token."""

UNICODE_WORD = re.compile(
    rf"[{WITHOUT_BLANKS_BETWEEN_WORDS}]|(?:(?![{WITHOUT_BLANKS_BETWEEN_WORDS}])\w)+|\S"
)

FINAL_MARK = re.compile(r"[.,;:!?](?=\s|\Z)")
"""A punctuation mark at the end of a word, or on its own."""

MIN_SHARE_OF_SEPARATE_MARKS = 0.8
"""Where words are tokens, nearly all marks stand on their own; in plain text, almost none does."""


def split_at_blanks(text: str) -> list[Positions]:
    """Return where the words between blanks are.

    >>> split_at_blanks("Ida ran .")
    [(0, 3), (4, 7), (8, 9)]
    """
    return [match.span() for match in WORD_BETWEEN_BLANKS.finditer(text)]


def split_unicode_words(text: str) -> list[Positions]:
    """Return where the words and the punctuation marks are; combining marks belong to the word before.

    >>> split_unicode_words("Ida's hat.")
    [(0, 3), (3, 4), (4, 5), (6, 9), (9, 10)]
    """
    words: list[Positions] = []
    # Whether letters that follow at once belong to the same word.
    is_open = False
    for match in UNICODE_WORD.finditer(text):
        begin, end = match.span()
        is_adjacent = bool(words) and words[-1][1] == begin
        is_mark = unicodedata.category(text[begin]).startswith("M")
        if is_adjacent and (is_mark or (is_open and text[begin].isalnum())):
            words[-1] = (words[-1][0], end)
        else:
            words.append((begin, end))
        is_open = is_mark
    return words


def are_words_separated(documents: Iterable[StandoffDocument]) -> bool:
    """Return whether blanks separate the tokens of documents: no span begins or ends inside a word, and marks are words."""
    n_marks = 0
    n_separate = 0
    for document in documents:
        text = document.text
        for span in document.spans.values():
            for begin, end in span.parts:
                if not _is_at_blank(text, begin) or not _is_at_blank(text, end):
                    return False
        for match in FINAL_MARK.finditer(text):
            n_marks += 1
            n_separate += _is_at_blank(text, match.start())
    return n_separate >= MIN_SHARE_OF_SEPARATE_MARKS * n_marks


def _is_at_blank(text: str, position: int) -> bool:
    """Return whether a position is at a border of the text, or beside a blank."""
    if position in (0, len(text)):
        return True
    return any(character.isspace() for character in text[position - 1 : position + 1])


def locate_words(text: str, words: Sequence[str]) -> list[Positions] | str:
    """Return where words are in a text that may have other blanks; or say where the text first differs.

    >>> locate_words("Ida  ran.", ["Ida", "ran", "."])
    [(0, 3), (5, 8), (8, 9)]
    """
    positions = []
    position = 0
    for number, word in enumerate(words):
        begin = -1
        for character in word:
            if character.isspace():
                continue
            while position < len(text) and text[position].isspace():
                position += 1
            if begin < 0:
                begin = position
            if not text.startswith(character, position):
                found = quote(text[begin : begin + 20]) if begin < len(text) else "at its end"
                expected = f"expected token {number:,}, {quote(word)}"
                return f"{found} at character {begin:,} ({expected})"
            position += 1
        # A token without visible characters has no place of its own.
        positions.append((begin if begin >= 0 else position, position))
    if text[position:].strip():
        return f"{quote(text[position:].strip()[:20])} after the last token"
    return positions


class TokenFinder:
    """Where the tokens of a document are, to find those that characters belong to."""

    def __init__(self, tokens: Sequence[Positions]) -> None:
        """Take the begins and ends of tokens in ascending order."""
        self._begins = [begin for begin, _ in tokens]
        self._ends = [end for _, end in tokens]

    def find(self, parts: Sequence[Positions]) -> tuple[list[Span], bool]:
        """Return the first and the last token of each part, and whether any covers more than the characters.

        Parts that only blanks separate are one; without any token, nothing is returned.
        """
        spans = []
        is_widened = False
        for begin, end in parts:
            first = bisect_right(self._ends, begin)
            last = bisect_left(self._begins, end) - 1
            if begin >= end or last < first:
                continue
            spans.append((first, last))
            is_widened = is_widened or self._begins[first] < begin or self._ends[last] > end
        return merge_adjacent(sorted(spans)), is_widened
