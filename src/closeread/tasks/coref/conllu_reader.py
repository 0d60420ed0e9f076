"""Reader of CoNLL-U files, a block of lines after the other."""

from __future__ import annotations

import hashlib

import numpy as np

from closeread.arrays import Ints
from closeread.formats.problems import Problems
from closeread.formats.stored_text import Text
from closeread.tasks.coref.conll_cells import gather
from closeread.tasks.coref.conllu_empty_nodes import EmptyNodeReader
from closeread.tasks.coref.conllu_headers import HeaderReader
from closeread.tasks.coref.conllu_misc import MiscReader, Place
from closeread.tasks.coref.conllu_rows import COLUMNS, FORM, RANGE, WORD, Rows
from closeread.tasks.coref.conllu_sentences import Sentences, State, check_ids, number_sentences


class Reader:
    """Reader of the blocks of a file.

    Args:
        text: the file.
        begin: the position of its first line.
        batch: as for `MiscReader`.

    Attributes:
        problems: the problems found.
        headers: reader of headers, with the documents.
        misc: reader of the last column.
        empty_nodes: reader of empty nodes.
        n_tokens: the number of tokens of each document.
        digests: a digest of the words of each, and of which tokens are empty nodes.
    """

    def __init__(self, text: Text, begin: int, batch: int | None = None) -> None:
        self.problems = Problems()
        self.misc = MiscReader(text, self.problems, batch)
        self.headers = HeaderReader(begin, text.size, self.misc, self.problems)
        self.empty_nodes = EmptyNodeReader(self.problems)
        self.n_tokens: list[int] = []
        self.digests: list[bytes] = []
        self._words = hashlib.blake2b(digest_size=16)  # of the last document
        self._last_line = 0
        # The last sentence: how far it has been read, and whether it may continue.
        self._state = State()
        self._is_open = False

    def take(self, rows: Rows) -> None:
        """Read a block."""
        self._last_line = rows.line + len(rows.end) - 1
        n_documents = len(self.headers.documents)
        newdocs, declared = self.headers.take(rows)
        document = np.searchsorted(newdocs, rows.lines) + (len(self.headers.documents) - len(newdocs) - 1)
        self._report_rows(rows)
        is_break = rows.is_blank.copy()
        is_break[newdocs] = True
        breaks = np.flatnonzero(is_break)
        n_breaks = np.searchsorted(breaks, rows.lines)
        is_first = np.diff(n_breaks, prepend=0 if self._is_open else -1) > 0
        sentences = number_sentences(rows, is_first, self._state)
        self._check_sentences(rows, sentences, breaks)
        place = Place(document, self._count_tokens(rows, document, n_documents), declared)
        self.empty_nodes.take(rows, place, sentences, is_first, newdocs)
        self._hash_words(rows, document, n_documents)
        self.misc.take(rows, place)

    def finish(self) -> None:
        """Handle the end of the file."""
        self._close_sentence(self._state, self._last_line)
        self.headers.finish()
        self.digests.append(self._words.digest())

    def _report_rows(self, rows: Rows) -> None:
        for line, n in zip((rows.ragged + rows.line).tolist(), rows.n_columns.tolist(), strict=True):
            self.problems.add(f"the number of columns is {n} (expected {COLUMNS}, separated by tabs)", line)
        self._report(rows, rows.find_controls(), "the row contains a control character")
        begin, end = rows.cells(FORM)
        is_nothing = (begin == end) & (rows.kind < RANGE)
        self._report(rows, np.flatnonzero(is_nothing), "column 2: the word is empty (expected a word or '_')")

    def _report(self, rows: Rows, chosen: Ints, what: str) -> None:
        self.problems.add_lines(what, (rows.lines[chosen] + rows.line).tolist())

    def _check_sentences(self, rows: Rows, sentences: Sentences, breaks: Ints) -> None:
        """Report problems of ids, and note how far the last sentence has been read."""
        n = len(sentences.n_words)
        last_row = rows.lines[-1] if len(rows.lines) else -1
        is_closed = bool(len(breaks)) and breaks[-1] > last_row
        state = sentences.state
        bad = set(sentences.bad.tolist())
        if is_closed and state.range_end > state.word:
            bad.add(n - 1)
        for sentence in sorted(bad):
            chosen = np.arange(*np.searchsorted(sentences.number, [sentence, sentence + 1]))
            found = check_ids(rows, chosen, State() if sentence else self._state, self.problems)
            if sentence < n - 1 or is_closed:
                end = np.searchsorted(breaks, rows.lines[chosen[-1]]) if len(chosen) else 0
                self._close_sentence(found, rows.line + int(breaks[end]))
            if sentence == n - 1:
                state = found
        self._state = State() if is_closed else state
        self._is_open = not is_closed and (self._is_open or len(rows.lines) > 0)

    def _close_sentence(self, state: State, line: int) -> None:
        if state.range_end > state.word:
            found = f"the sentence ends before word {state.range_end}, the last of a multiword token"
            self.problems.add(found, line)

    def _count_tokens(self, rows: Rows, document: Ints, n_documents: int) -> Ints:
        """Return the token of each row in its document, or the next one; count the documents' tokens."""
        is_token = rows.kind < RANGE
        first = max(n_documents - 1, 0)
        n_here = np.bincount(document[is_token] - first, minlength=len(self.headers.documents) - first)
        before = np.cumsum(n_here) - n_here
        if self.n_tokens:
            before[0] -= self.n_tokens[-1]
            n_here[0] += self.n_tokens.pop()
        self.n_tokens += n_here.tolist()
        return np.cumsum(is_token) - is_token - before[document - first]

    def _hash_words(self, rows: Rows, document: Ints, n_documents: int) -> None:
        """Add the words, each with the tab after it, to the documents' digests; empty nodes have no word here."""
        chosen = np.flatnonzero(rows.kind < RANGE)
        begin, end = rows.cells(FORM, chosen)
        text, after = gather(rows.raw, np.where(rows.kind[chosen] == WORD, begin, end), end + 1)
        first = max(n_documents - 1, 0)
        last = np.searchsorted(document[chosen], np.arange(first, len(self.headers.documents)), "right")
        position = 0
        for i, end_of_document in enumerate(np.append(0, after)[last].tolist(), first):
            if i > len(self.digests):
                self.digests.append(self._words.digest())
                self._words = hashlib.blake2b(digest_size=16)
            self._words.update(text[position:end_of_document].tobytes())
            position = end_of_document
