"""Minimum spans (MINA) of mentions, from the constituents in the sixth column of a CoNLL key.

Conventions: as in CoNLL-2011 and 2012, the fifth column contains the part of speech of each word, and the sixth its
part of the constituency tree of the sentence: ``(TOP(S(NP*`` opens three constituents before the word, ``*)`` closes
one after it.  A blank line ends a sentence.  The trees of the key are those of the response, too.  A mention that is
discontinuous or in several sentences has no minimum span: it matches mentions of the same tokens.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TypeVar

import numpy as np

from closeread import limits
from closeread.arrays import Ints, Mask, expand_ranges
from closeread.exceptions import RequestError, pluralize, quote
from closeread.formats.problems import Problems
from closeread.tasks.coref.columns import MentionTable, Trees
from closeread.tasks.coref.formats.conll import ConllWords
from closeread.tasks.coref.joined import find_words
from closeread.tasks.coref.kernels.constituents import NOUN, OTHER, PART, VERB, Constituents
from closeread.tasks.coref.kernels.mention_matching import match_mentions
from closeread.tasks.coref.kernels.minimum_spans import number_minimum_spans
from closeread.tasks.coref.kernels.sides import Side
from closeread.tasks.coref.kernels.spans import Spans

T = TypeVar("T")

TAG_CELL, TREE_CELL = 4, 5
CELL = re.compile(r"((?:\([^()*\s]*)*+)\*(\)*+)")
KINDS = {"NP": NOUN, "NM": NOUN, "QP": PART, "NX": PART, "VP": VERB}
"""The kinds of constituents by the first two letters of their labels."""

FUNCTION_TAGS = frozenset({"CC", "DT", "IN"})
BRACKETS = frozenset({"-LRB-", "-RRB-"})
EXPECTED = "expected cells such as '(TOP(S(NP*', '*' and '*))' in the sixth column"
NEEDED = "constituents in a CoNLL key, or a key with minimum spans (ARRAU, Universal Anaphora)"


class _Numbers(dict[str, int]):
    """Numbers of strings, from 0 in the order in which they first appear."""

    def __missing__(self, text: str) -> int:
        return self.setdefault(text, len(self))

    def of(self, texts: Sequence[str]) -> Ints:
        """Return the number of each string."""
        return np.fromiter(map(self.__getitem__, texts), np.int64, len(texts))


class _Columns:
    """The columns of a key, as numbers of their cells."""

    def __init__(self, table: MentionTable) -> None:
        self._table = table
        self.forms, self.tags, self.cells = _Numbers(), _Numbers(), _Numbers()
        empty = np.zeros(0, np.int64)
        self._rows = [(empty, empty, empty, empty)]  # form, tag, cell and sentence of the tokens of each document
        self._n_sentences = 0
        self.digests: list[bytes] = []

    @property
    def first_token(self) -> Ints:
        """The first token of each document, and the number of tokens."""
        return np.cumsum([len(form) for form, *_ in self._rows])

    def join(self) -> list[Ints]:
        """Return form, tag, cell and sentence of the tokens of all documents."""
        return [np.concatenate(column) for column in zip(*self._rows, strict=True)]

    def take(self, document: int) -> bool:
        """Read a document; return whether it has constituents."""
        words, place = find_words(self._table, document)
        found = words.read_columns(place, (TAG_CELL, TREE_CELL)) if isinstance(words, ConllWords) else None
        if words is None or found is None:
            return False
        (tags, cells), sentence = found
        forms = words(place)
        digest = hashlib.blake2b(sentence.astype("<i8").tobytes(), digest_size=16)
        for column in (forms, tags, cells):
            digest.update("\n".join((*column, "")).encode("utf-8"))
        self.digests.append(digest.digest())
        numbers = (self.forms.of(forms), self.tags.of(tags), self.cells.of(cells))
        self._rows.append((*numbers, self._n_sentences + sentence))
        self._n_sentences += int(sentence.max(initial=-1)) + 1
        return not len(cells) or not {"-", "_"}.issuperset(cells)


def read_trees(table: MentionTable, source: Path) -> Trees:
    """Read the constituents of a key.

    Args:
        table: the documents of the key.
        source: the key, for messages.

    Raises:
        RequestError: the key has no CoNLL file.
        FormatError: a document has no constituents, or invalid ones; all problems at once.
    """
    words = table.words
    if words is None or not any(isinstance(find_words(table, i)[0], ConllWords) for i in range(len(table))):
        raise RequestError(f"{source}: matching 'minimum' needs {NEEDED}")
    columns, problems = _Columns(table), Problems()
    for document, name in enumerate(table.names):
        if not columns.take(document):
            line = words.line_of(document, 0) or None
            problems.add(f"document {quote(name)} has no constituents ({EXPECTED})", line, file=table.file_of(document))
    problems.raise_any(source)
    first_token = columns.first_token

    def report(token: int, what: str) -> None:
        document = int(np.searchsorted(first_token, token, "right")) - 1
        line = words.line_of(document, token - int(first_token[document]))
        problems.add(f"column {TREE_CELL + 1}: {what}", line, file=table.file_of(document))

    form, tag, cell, sentence = columns.join()
    texts = list(columns.cells)
    parsed = [_parse_cell(text) for text in texts]
    invalid = np.flatnonzero(_mark(parsed, lambda found: found is None)[cell])
    for token in invalid[: limits.MAX_PROBLEMS].tolist():
        report(token, f"{quote(texts[cell[token]])} is not part of a tree (expected '*' with brackets)")
    problems.total += len(invalid[limits.MAX_PROBLEMS :])
    problems.raise_any(source)
    valid = [found for found in parsed if found]
    opens, closes = (np.array(counts, np.int64)[cell] for counts in ([len(f[0]) for f in valid], [f[1] for f in valid]))
    kinds = np.array(list(chain.from_iterable(found[0] for found in valid)), np.int64)
    first_kind = np.cumsum([0, *(len(found[0]) for found in valid)])[:-1]
    trees = Constituents(
        first_token=first_token,
        sentence=sentence,
        word=form,
        is_content=_mark(columns.forms, _has_content)[form] & ~_mark(columns.tags, FUNCTION_TAGS.__contains__)[tag],
        is_plain=_mark(columns.forms, lambda text: text.isalpha() or text.isdigit())[form],
        first_open=np.concatenate([[0], np.cumsum(opens)]),
        closes=closes,
        kind=kinds[expand_ranges(first_kind[cell], opens)[1]],
    )
    _check_brackets(trees, report)
    problems.raise_any(source)
    return Trees(trees, columns.digests)


def _parse_cell(text: str) -> tuple[list[int], int] | None:
    """Return the kinds of the constituents that open, and the number of those that close; None if invalid."""
    found = CELL.fullmatch(text)
    if not found:
        return None
    labels = ("".join(filter(str.isalpha, label)) for label in found[1].split("(")[1:])
    return [KINDS.get(label[:2], OTHER) for label in labels], len(found[2])


def _mark(values: Iterable[T], has_property: Callable[[T], bool]) -> Mask:
    return np.array([has_property(value) for value in values], np.bool_)


def _has_content(form: str) -> bool:
    return form not in BRACKETS and (form == "%" or any(map(str.isalpha, form)) or any(map(str.isdigit, form)))


def _check_brackets(trees: Constituents, report: Callable[[int, str], None]) -> None:
    """Report the sentences whose brackets don't match."""
    if not len(trees.sentence):
        return
    start = trees.sentence_start
    end = np.append(start[1:], len(trees.sentence)) - 1
    after = np.cumsum(trees.opens - trees.closes)
    height = after - (after - trees.opens + trees.closes)[start][trees.sentence]
    for i in np.flatnonzero(np.minimum.reduceat(height, start) < 0).tolist():
        token = int(start[i] + np.argmax(height[start[i] : end[i] + 1] < 0))
        report(token, "more constituents close than are open in the sentence")
    for i in np.flatnonzero(height[end] > 0).tolist():
        n = int(height[end[i]])
        is_open = "is still open" if n == 1 else "are still open"
        report(int(end[i]), f"{pluralize(n, 'constituent')} {is_open} at the end of the sentence")


def minimum_codes(key: MentionTable, response: MentionTable) -> tuple[Ints, Ints]:
    """Assign codes to mentions, equal for mentions with the same minimum span.

    Args:
        key: the mentions of the key, with the trees of its documents.
        response: the mentions of the response.

    Raises:
        RequestError: the key has no trees.
    """
    if key.trees is None:
        raise RequestError(f"matching 'minimum' needs {NEEDED}")
    trees = key.trees.constituents
    sides = (key, response)
    offset = np.concatenate([trees.first_token[side.document] for side in sides])
    start, end = (np.concatenate([getattr(side, name) for side in sides]) + offset for name in ("start", "end"))
    is_whole = trees.sentence[start] == trees.sentence[end]
    is_whole[[*key.parts, *(len(key.start) + i for i in response.parts)]] = False
    own, other = (Spans(side.document, side.start, side.end, None, side.parts) for side in sides)
    codes = np.concatenate(match_mentions(own, other))
    _, first, same = np.unique(codes[is_whole], return_index=True, return_inverse=True)
    numbers = number_minimum_spans(trees, start[is_whole][first], end[is_whole][first])
    codes += int(numbers.max(initial=-1)) + 1
    codes[is_whole] = numbers[same]
    return codes[: len(key.start)], codes[len(key.start) :]


def order_entities(side: Side, table: MentionTable) -> Side:
    """Number the entities of a side in the order in which their first mentions end, as coval meets them.

    Of the mentions that end at a token, those of one token come first; of the others, the last one that opened.
    """
    is_long = table.start < table.end
    opened = np.where(is_long, -table.entity, table.entity)
    order = np.lexsort((opened, -table.start, is_long, table.end, table.document))
    seen, first = np.unique(table.entity[order], return_index=True)
    rank = np.zeros(table.n_entities, np.int64)
    rank[seen[np.argsort(first)]] = np.arange(len(seen))
    return replace(side, entity=rank[side.entity])
