"""The empty nodes of CoNLL-U files, and their enhanced dependencies (the column DEPS)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, Mask
from closeread.errors import quote
from closeread.formats.problems import Problems
from closeread.tasks.coref.columns import EmptyNodes
from closeread.tasks.coref.conllu_misc import Place
from closeread.tasks.coref.conllu_rows import DEPS, EMPTY, Rows
from closeread.tasks.coref.conllu_sentences import Sentences

__all__ = ["DEPENDENCY", "ROOT", "EmptyNodeReader"]

DEPENDENCY = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?:(.+)")
ROOT = -1


class _Node(NamedTuple):
    """An empty node.

    Attributes:
        document, token: its document, and its token there.
        sentence: its sentence in the file, from 0.
        first_token: the first token of the sentence.
        number, second: the numbers in its id, before and after ``.``.
        line: its line, from 1.
        parents: numbers and relation of each of its parents.
    """

    document: int
    token: int
    sentence: int
    first_token: int
    number: int
    second: int
    line: int
    parents: list[tuple[int, int, str]]


@dataclass
class _Sentence:
    """The numbers in the ids of a sentence's empty nodes, in ascending order, and their tokens."""

    ids: list[tuple[int, int]] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)


class EmptyNodeReader:
    """Reader of the empty nodes of a file.

    Args:
        problems: collects the problems.
    """

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._nodes: list[_Node] = []
        self._n_words: dict[int, int] = defaultdict(int)  # of sentences with empty nodes, as far as they have been read
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
        sentence = sentences.number + self._n_sentences - 1
        first_token = np.concatenate([[self._first_token], place.token[first]])
        chosen = np.flatnonzero(rows.kind == EMPTY)
        columns = (place.document, place.token, sentence, first_token[sentences.number], rows.number, rows.second)
        begin, end = rows.cells(DEPS, chosen)
        for i, *values, first_byte, last_byte in zip(
            chosen.tolist(), *(column[chosen].tolist() for column in columns), begin.tolist(), end.tolist(), strict=True
        ):
            line = rows.line + int(rows.lines[i])
            parents = self._parse(rows.text(first_byte, last_byte).decode(), line)
            self._nodes.append(_Node._make([*values, line, parents]))
        carried = {0} if self._n_sentences - 1 in self._n_words else set()
        for number in carried.union(sentences.number[chosen].tolist()):
            its_sentence = self._n_sentences - 1 + number
            self._n_words[its_sentence] = max(self._n_words[its_sentence], int(sentences.n_words[number]))
        self._n_sentences += len(first)
        self._first_token = int(first_token[-1])

    def finish(self, n_documents: int) -> EmptyNodes | None:
        """Return all empty nodes, if any; report parents that don't exist."""
        if not self._nodes:
            return None
        sentences: dict[int, _Sentence] = defaultdict(_Sentence)
        for node in self._nodes:
            sentences[node.sentence].ids.append((node.number, node.second))
            sentences[node.sentence].tokens.append(node.token)
        first_sentence = self._first_sentence[-n_documents:]
        places = [(node.document, node.token, node.sentence - first_sentence[node.document]) for node in self._nodes]
        dependencies = [self._find_parents(node, sentences[node.sentence]) for node in self._nodes]
        document, token, sentence = np.array(places, np.int64).T
        return EmptyNodes(document, token, sentence, dependencies)

    def _parse(self, cell: str, line: int) -> list[tuple[int, int, str]]:
        matches = [] if cell == "_" else [DEPENDENCY.fullmatch(text) for text in cell.split("|")]
        if not all(matches):
            found = f"column 9: {quote(cell)} is not valid"
            self._problems.add(f"{found} (expected '_' or PARENT:RELATION, several separated by '|')", line)
        return [(int(match[1]), int(match[2] or 0), match[3]) for match in matches if match]

    def _find_parents(self, node: _Node, sentence: _Sentence) -> list[tuple[int, str]]:
        found = []
        for number, second, relation in node.parents:
            i = bisect_left(sentence.ids, (number, second))
            if second and sentence.ids[i : i + 1] == [(number, second)]:
                found.append((sentence.tokens[i], relation))
            elif not second and number <= self._n_words[node.sentence]:
                # Words are numbered from 1; the empty nodes before a word are tokens, too.
                found.append((node.first_token + number - 1 + i if number else ROOT, relation))
            else:
                text = f"{number}.{second}" if second else str(number)
                self._problems.add(f"column 9: the parent {text} is not in the sentence", node.line)
        return found
