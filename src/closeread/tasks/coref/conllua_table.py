"""From the markables of a Universal Anaphora file to columns."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from closeread.exceptions import quote
from closeread.formats.problems import Problems
from closeread.tasks.coref.columns import EmptyNodes, ListedWords, MentionTable, Parts
from closeread.tasks.coref.conllua_bridging import BridgingReader, find_bridging
from closeread.tasks.coref.conllua_markables import Markable, MarkableReader
from closeread.tasks.coref.relations import DocumentRelations, Place, Relations, find_circles, merge_runs


@dataclass
class DocumentTokens:
    """The tokens of a document.

    Attributes:
        name: the document's name.
        words, lines: the word and the line of each token.
        token_of_word: the token of each word, that is, of each token that is no zero.
        zeros: the token of each zero.
    """

    name: str
    words: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    token_of_word: list[int] = field(default_factory=list)
    zeros: list[int] = field(default_factory=list)

    def add(self, line: int, word: str, *, is_zero: bool) -> tuple[int, int]:
        """Add a token; return the number of the word, or of the word after a zero, and that of the token."""
        token = len(self.words)
        # The word of a zero is a guess of its annotator or system; only real words are compared with the key's.
        self.words.append("_" if is_zero else word)
        self.lines.append(line)
        if is_zero:
            self.zeros.append(token)
            return len(self.token_of_word), token
        self.token_of_word.append(token)
        return len(self.token_of_word) - 1, token

    def runs(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """List the runs of tokens that the words from the first to the last make up."""
        start, end = self.token_of_word[first], self.token_of_word[last]
        for zero in self.zeros[bisect_left(self.zeros, start) : bisect_left(self.zeros, end)]:
            if start < zero:
                yield start, zero - 1
            start = zero + 1
        yield start, end


def make_table(
    documents: Sequence[DocumentTokens],
    identity: MarkableReader,
    deixis: MarkableReader,
    bridging: BridgingReader,
    problems: Problems,
) -> MentionTable:
    """Convert documents to columns; report what is wrong with their split antecedents."""
    table = _make_layer(documents, identity.documents, bridging.documents, problems)
    layer = None
    if any(deixis.documents):
        layer = _make_layer(documents, deixis.documents, [{}] * len(documents), problems)
    return replace(table, relations=table.relations and replace(table.relations, discourse_deixis=layer))


def _make_layer(
    documents: Sequence[DocumentTokens],
    markables: Sequence[Sequence[Markable]],
    anchors: Sequence[dict[str, str | None]],
    problems: Problems,
) -> MentionTable:
    number: dict[tuple[int, str], int] = {}  # the number of each entity of each document
    rows: list[tuple[int, int, Parts, tuple[int, ...]]] = []  # entity, document, parts and minimum span of each mention
    relations = {}
    for i, (document, found) in enumerate(zip(documents, markables, strict=True)):
        relations[document.name] = _relate(
            found, [_place_of(markable, document) for markable in found], anchors[i], problems
        )
        for markable in found:
            if markable.is_referring:
                entity = number.setdefault((i, markable.entity), len(number))
                rows.append((entity, i, _parts_of(markable, document), _minimum_of(markable, document, problems)))
    rows.sort(key=lambda row: row[0])
    return MentionTable(
        names=[document.name for document in documents],
        n_tokens=np.array([len(document.words) for document in documents], np.int64),
        document=np.array([document for _, document, _, _ in rows], np.int64),
        start=np.array([parts[0][0] for _, _, parts, _ in rows], np.int64),
        end=np.array([parts[-1][1] for _, _, parts, _ in rows], np.int64),
        entity=np.array([entity for entity, _, _, _ in rows], np.int64),
        n_entities=len(number),
        parts={i: parts for i, (_, _, parts, _) in enumerate(rows) if len(parts) > 1},
        labels=[label for _, label in number],
        words=ListedWords([document.words for document in documents], [document.lines for document in documents]),
        empty=_list_zeros(documents),
        minimum={i: minimum for i, (_, _, _, minimum) in enumerate(rows) if minimum},
        relations=Relations(relations),
    )


def _words_of(markable: Markable) -> Iterator[tuple[int, int]]:
    """List the first and last word of each part of a markable; parts that touch are one."""
    return merge_runs(sorted((first, last or 0) for first, last in markable.parts))


def _parts_of(markable: Markable, document: DocumentTokens) -> Parts:
    if markable.zero is not None:
        return ((markable.zero, markable.zero),)
    return tuple(run for first, last in _words_of(markable) for run in document.runs(first, last))


def _place_of(markable: Markable, document: DocumentTokens) -> Place:
    if markable.zero is None:
        return tuple(_words_of(markable))
    words = markable.parts[0][0]
    before = document.token_of_word[words - 1] if words else -1
    return ((-1 - words, markable.zero - before - 1),)


def _minimum_of(markable: Markable, document: DocumentTokens, problems: Problems) -> tuple[int, ...]:
    if markable.minimum is None:
        return ()
    first, last = markable.minimum
    if last >= len(document.token_of_word):
        found = f"Min is {first + 1}" + (f",{last + 1}" if first < last else "")
        expected = f"expected at most {len(document.token_of_word):,}, the number of words of the document"
        problems.add(f"{found} ({expected})", markable.line)
    return tuple(document.token_of_word[first : last + 1])


def _list_zeros(documents: Sequence[DocumentTokens]) -> EmptyNodes | None:
    """List the zeros; only words tell their places apart, as in the scorer: a document counts as one sentence."""
    rows = [(i, token) for i, document in enumerate(documents) for token in document.zeros]
    if not rows:
        return None
    document, token = np.array(rows, np.int64).T
    return EmptyNodes(document, token, np.zeros(len(rows), np.int64), [()] * len(rows))


def _relate(
    markables: Sequence[Markable], places: Sequence[Place], anchors: Mapping[str, str | None], problems: Problems
) -> DocumentRelations:
    non_referring: dict[str, list[Place]] = {}
    for markable, place in zip(markables, places, strict=True):
        if not markable.is_referring:
            non_referring.setdefault(markable.entity, []).append(place)
    of_name = {markable.name: place for markable, place in zip(markables, places, strict=True) if markable.name}
    bridging, unknown = find_bridging(anchors, of_name.get)
    return DocumentRelations(_list_antecedents(markables, problems), non_referring, bridging, unknown)


def _list_antecedents(markables: Sequence[Markable], problems: Problems) -> dict[str, list[str]]:
    """List the antecedents of each entity with split antecedents."""
    direct: dict[str, dict[str, int]] = {}  # the antecedents of an entity, each with the line that says so
    known = {markable.entity for markable in markables}
    for markable in markables:
        for whole in sorted(markable.element_of):
            if whole in known:
                direct.setdefault(whole, {}).setdefault(markable.entity, markable.line)
            else:
                found = f"ElementOf: there is no entity {quote(whole)} in the document"
                problems.add(f"{found} (expected the EntityID of a markable)", markable.line)
    antecedents = {whole: list(elements) for whole, elements in direct.items()}
    for whole in find_circles(antecedents):
        problems.add(f"ElementOf: entity {quote(whole)} is an element of itself", min(direct[whole].values()))
    return antecedents
