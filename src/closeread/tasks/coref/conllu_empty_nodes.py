"""The empty nodes of CoNLL-U files, and their enhanced dependencies (the column DEPS).

For speed, the cells of a block are parsed all at once; only if one is invalid, its block's are read one by one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, Mask
from closeread.exceptions import quote
from closeread.formats.problems import Problems
from closeread.tasks.coref.columns import EmptyNodes
from closeread.tasks.coref.conll_cells import gather
from closeread.tasks.coref.conllu_cells import NameNumbers, SmallInts, number_texts
from closeread.tasks.coref.conllu_misc import Place
from closeread.tasks.coref.conllu_rows import DEPS, DOT, EMPTY, NEWLINE, Rows, find_byte, parse_numbers
from closeread.tasks.coref.conllu_sentences import Sentences
from closeread.tasks.coref.packed_dependencies import PackedDependencies

DEPENDENCY = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?:(.+)")
ROOT = -1
BAR, COLON, UNDERSCORE = b"|:_"


class _Nodes(NamedTuple):
    """Empty nodes, all (n_nodes,).

    Attributes:
        document, token: the document of each, and its token there.
        sentence: its sentence in the file, from 0.
        first_token: the first token of the sentence.
        number, second: the numbers in its id, before and after ``.``.
        line: its line, from 1.
        n_parents: the number of its parents.
    """

    document: SmallInts
    token: SmallInts
    sentence: SmallInts
    first_token: SmallInts
    number: SmallInts
    second: SmallInts
    line: SmallInts
    n_parents: SmallInts


class _Parents(NamedTuple):
    """The parents of empty nodes, in the order of the file, all (n_parents,).

    Attributes:
        number, second: the numbers in the id of each, before and after ``.``; 0 if it has no second one.
        relation: the relation, by number.
    """

    number: SmallInts
    second: SmallInts
    relation: SmallInts


class EmptyNodeReader:
    """Reader of the empty nodes of a file.

    Args:
        problems: collects the problems.
    """

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._nodes: list[_Nodes] = []
        self._parents: list[_Parents] = []
        self._relations = NameNumbers()
        # The number of words of every sentence, of the last one as far as it has been read.
        self._n_words: list[SmallInts] = []
        self._n_sentences = 0
        self._first_token = 0  # of the last sentence
        self._first_sentence = [0]  # of each document; the first one has no header perhaps

    def take(self, rows: Rows, place: Place, sentences: Sentences, is_first: Mask, newdocs: Ints) -> None:
        """Read a block.

        Args:
            rows: the block.
            place: where its rows are.
            sentences: its sentences.
            is_first: (n_rows,) whether a row is the first of its sentence.
            newdocs: the lines, in the block, at which a document begins.
        """
        first = np.flatnonzero(is_first)
        self._first_sentence += (np.searchsorted(rows.lines[first], newdocs) + self._n_sentences).tolist()
        chosen = np.flatnonzero(rows.kind == EMPTY)
        first_token = np.concatenate([[self._first_token], place.token[first]])
        if len(chosen):
            columns = (
                place.document[chosen],
                place.token[chosen],
                sentences.number[chosen] + self._n_sentences - 1,
                first_token[sentences.number[chosen]],
                rows.number[chosen],
                rows.second[chosen],
                rows.lines[chosen] + rows.line,
                self._take_parents(rows, chosen),
            )
            self._nodes.append(_Nodes(*(column.astype(np.int32) for column in columns)))
        self._count_words(sentences.n_words)
        self._n_sentences += len(first)
        self._first_token = int(first_token[-1])

    def _count_words(self, n_words: Ints) -> None:
        """Note the number of words of a block's sentences, the first of which began in the block before."""
        if self._n_words:
            last = self._n_words[-1]
            last[-1] = max(last[-1], n_words[0])
        if len(n_words) > 1:
            self._n_words.append(n_words[1:].astype(np.int32))

    def _take_parents(self, rows: Rows, chosen: Ints) -> Ints:
        """Read the parents of some empty nodes; return how many each has."""
        begin, end = rows.cells(DEPS, chosen)
        is_none = (end - begin == 1) & (rows.raw[begin] == UNDERSCORE)
        text, after = gather(rows.raw, begin[~is_none], end[~is_none] + 1)
        text[after - 1] = NEWLINE
        ends = np.flatnonzero((text == BAR) | (text == NEWLINE))
        begins = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
        colon = find_byte(text, begins, ends, (DOT, COLON))
        number, is_valid = parse_numbers(text, begins, colon)
        second = np.zeros_like(number)
        pairs = np.flatnonzero((text[colon] == DOT) & (colon < ends))
        if len(pairs):
            after_dot = colon[pairs] + 1
            colon[pairs] = find_byte(text, after_dot, ends[pairs], (COLON,))
            second[pairs], is_second = parse_numbers(text, after_dot, colon[pairs])
            is_valid[pairs] &= is_second
        if not (is_valid & (colon + 1 < ends)).all():
            self._describe_invalid(rows, chosen, begin, end)
            return np.zeros_like(chosen)
        relation = number_texts(text, colon + 1, ends, self._relations)
        self._parents.append(_Parents(number.astype(np.int32), second.astype(np.int32), relation))
        n_parents = np.zeros_like(chosen)
        n_parents[~is_none] = np.diff(np.searchsorted(ends, after, "left"), prepend=0)
        return n_parents

    def _describe_invalid(self, rows: Rows, chosen: Ints, begin: Ints, end: Ints) -> None:
        columns = (rows.lines[chosen] + rows.line, begin, end)
        for line, first, last in zip(*(column.tolist() for column in columns), strict=True):
            cell = rows.text(first, last).decode()
            if cell != "_" and not all(map(DEPENDENCY.fullmatch, cell.split("|"))):
                found = f"column 9: {quote(cell)} is not valid"
                self._problems.add(f"{found} (expected '_' or PARENT:RELATION, several separated by '|')", line)

    def finish(self, n_documents: int) -> EmptyNodes | None:
        """Return all empty nodes, if any; report parents that don't exist."""
        if not self._nodes:
            return None
        nodes = _Nodes(*map(_join, zip(*self._nodes, strict=True)))
        parents = _Parents(*map(_join, zip(*self._parents, strict=True))) if self._parents else _Parents(*[_NONE] * 3)
        first_sentence = np.array(self._first_sentence[-n_documents:], np.int64)
        return EmptyNodes(
            document=nodes.document.astype(np.int64),
            token=nodes.token.astype(np.int64),
            sentence=nodes.sentence - first_sentence[nodes.document],
            dependencies=PackedDependencies(
                np.cumsum(np.concatenate([[0], nodes.n_parents])),
                self._find_parents(nodes, parents),
                parents.relation,
                [relation.decode() for relation in self._relations],
            ),
        )

    def _find_parents(self, nodes: _Nodes, parents: _Parents) -> SmallInts:
        """Return the token of each parent; report those that don't exist."""
        n_words = np.concatenate(self._n_words)
        width = int(max(nodes.second.max(), parents.second.max(initial=0))) + 1
        first_place = np.cumsum(n_words + 1, dtype=np.int64) - n_words - 1  # of word 0 of each sentence
        node_key = (first_place[nodes.sentence] + nodes.number) * width + nodes.second
        child = np.repeat(np.arange(len(nodes.token)), nodes.n_parents)
        sentence = nodes.sentence[child]
        is_word = (parents.second == 0) & (parents.number <= n_words[sentence])
        number = np.minimum(parents.number, n_words[sentence])
        # The empty nodes of the sentence that are before each parent.
        place = np.searchsorted(node_key, (first_place[sentence] + number) * width + parents.second)
        n_before = place - np.searchsorted(node_key, first_place[sentence] * width)
        same = np.minimum(place, len(node_key) - 1)
        is_node = (parents.second > 0) & (nodes.sentence[same] == sentence)
        is_node &= (nodes.number[same] == parents.number) & (nodes.second[same] == parents.second)
        for i in np.flatnonzero(~(is_word | is_node)).tolist():
            text = f"{parents.number[i]}.{parents.second[i]}" if parents.second[i] else str(parents.number[i])
            self._problems.add(f"column 9: the parent {text} is not in the sentence", int(nodes.line[child[i]]))
        # Words are numbered from 1; the empty nodes before a word are tokens, too.
        word = np.where(parents.number > 0, nodes.first_token[child] + parents.number - 1 + n_before, ROOT)
        return np.where(is_node, nodes.token[same], word).astype(np.int32)


_NONE: SmallInts = np.zeros(0, np.int32)


def _join(columns: Sequence[SmallInts]) -> SmallInts:
    return np.concatenate(columns)
