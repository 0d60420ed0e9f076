"""Coreference in files: key and response, read and aligned.

Conventions: a file is CoNLL, CorefUD or JSON Lines, by its first line, and where that says nothing by its suffix
(`.conllu`, `.jsonl`, `.ndjson`).  Documents are matched by name, of which a part is a part.  Where both files have
text, it has to be the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from closeread.corpora.sides import read_corpus_gold
from closeread.counts.sides import Inconsistency, Options, Place, System
from closeread.counts.table import CountTable
from closeread.errors import FormatError, InputError, Problem, RequestError, SubmissionError, join_names, quote
from closeread.files import write_text
from closeread.formats.text import BYTE_ORDER_MARK
from closeread.records import Origin
from closeread.tasks import find_format
from closeread.tasks.coref.columns import MentionTable, Words, document_digests
from closeread.tasks.coref.matching import repeats, require_heads, table_of, validate

NO_CORPUS = Origin("coref", None, None, None)
FORMATS = ("conll", "conllu", "coref_json")
"""By name; a file that tells nothing, by its first line or its suffix, is of the first."""


@dataclass(frozen=True)
class Key:
    """Gold of coreference.

    Attributes:
        records: its documents.
        origin: where they came from.
        notices: what a user should know about them.
    """

    records: MentionTable
    origin: Origin = NO_CORPUS
    notices: Sequence[str] = ()


@dataclass(frozen=True)
class CoreferenceSides:
    """A key and a response: two files, or a corpus and a file, matched by the documents' names."""

    @property
    def key_first(self) -> bool:
        """Whether gold is a file of the user's, the key."""
        return True

    def read_gold(self, place: Place, options: Options) -> Key:
        """Read the documents of a corpus or of a key."""
        if place.corpus is not None:
            gold = read_corpus_gold(place)
            return Key(table_of(gold.records), gold.origin, gold.notices)
        if place.gold is None:
            raise RequestError("coref has no corpus of its own: name a key as the gold")
        return Key(read_key(place.gold, options["duplicates"]))

    def wrap_gold(self, records: Sequence[Any], corpus: str | None) -> Key:
        """Take documents from memory, checked before."""
        return Key(table_of(records))

    def read_system(self, gold: Key, path: Path, options: Options) -> System:
        """Read a response, and put it in the order of the key's documents."""
        response = align(gold.records, path, missing=options["missing"], duplicates=options["duplicates"])
        require_heads(gold.records, response, options["matching"])
        return System(response, [gold.records.names[i] for i in sorted(response.absent)])

    def validate(self, gold: Sequence[Any], system: Sequence[Any], options: Options) -> Iterable[Inconsistency]:
        """What no schema can say of the two sides."""
        return validate(gold, system, options["duplicates"])

    def names(self, gold: Key) -> Sequence[str]:
        """The documents' names."""
        return gold.records.names

    def digests(self, gold: Key, options: Options) -> Mapping[str, bytes]:
        """The sha256 of each document's entities, by the document's name, which is no part of it.

        Heads decide nothing where spans are compared: CoNLL and CorefUD files of the same spans are then the same gold.
        """
        key = gold.records
        table = replace(key, head=None) if options["matching"] == "exact" else key
        return dict(zip(key.names, document_digests(table), strict=True))

    def remarks(self, gold: Key, system: System, options: Options, table: CountTable | None = None) -> Iterable[str]:
        """What a user should know once both sides are read."""
        return ()


def read_documents(path: Path) -> MentionTable:
    """The documents of a file.

    Raises:
        FormatError: the file can't be read or breaks its format, with everything that is wrong with it.
    """
    first, suffix = _first_line(path), path.suffix.lower()
    formats = [find_format("coref", name) for name in FORMATS]
    by_line = next((one for one in formats if one.recognises(first)), None)
    by_suffix = next((one for one in formats if suffix in one.suffixes), formats[0])
    return table_of((by_line or by_suffix).read(path, "").records)


def write_documents(documents: MentionTable, path: Path) -> None:
    """Write documents in the format that the file's suffix names: CoNLL, CorefUD or JSON Lines.

    Raises:
        RequestError: there is no such format, or it can't express the documents.
        OSError: the file can't be written to.
    """
    writers = {suffix: one.write for one in map(partial(find_format, "coref"), FORMATS) for suffix in one.suffixes}
    write = writers.get(path.suffix.lower())
    if write is None:
        raise RequestError(f"{path}: its suffix is '{path.suffix}'; needed: {', '.join(writers)}")
    try:
        text = write(documents)
    except ValueError as error:
        raise RequestError(f"{path} can't be written: {error}") from None
    write_text(path, text)


def _first_line(path: Path) -> str:
    """The first line of a file that is not blank, as far as its first bytes show it; nothing if it can't be read."""
    if not path.is_file():  # looking into a pipe would wait for its writer
        return ""
    try:
        with path.open("rb") as file:
            line = file.read(2**16).removeprefix(BYTE_ORDER_MARK).lstrip().split(b"\n", 1)[0]
            return line.decode("utf-8", "replace")
    except OSError:
        return ""


def read_key(path: Path, duplicates: str = "error") -> MentionTable:
    """The documents of a key.

    Raises:
        FormatError: it can't be read, or holds mentions twice and `duplicates` is "error".
    """
    table = read_documents(path)
    problems = list(_repeated(table)) if duplicates == "error" else []
    if problems:
        raise FormatError(path, problems)
    return table


def align(key: MentionTable, path: Path, *, missing: str = "empty", duplicates: str = "error") -> MentionTable:
    """A response, read and put in the order of the key's documents.

    Raises:
        SubmissionError: it is at fault, by itself or beside the key; all problems at once.
    """
    from closeread.tasks.coref.token_differences import token_differences

    try:
        response = read_documents(path)
    except InputError as error:
        raise SubmissionError(error.source, error.problems) from None
    given = set(response.names)
    problems = list(_unknown(key, response))
    absent = [name for name in key.names if name not in given]
    if absent and missing == "error":
        found = f"lacks {len(absent):,} of the {len(key.names):,} documents of the key: {join_names(absent)}"
        problems.append(Problem(f"{found}; needed: all of them, unless missing is empty or skip"))
    problems += token_differences(key, response)
    problems += _beyond(key, response)
    if duplicates == "error":
        problems += _repeated(response)
    if problems:
        raise SubmissionError(path, sorted(problems, key=lambda p: p.line or 0))
    return _in_order_of(key, response)


def _unknown(key: MentionTable, response: MentionTable) -> Iterator[Problem]:
    """The documents that the key lacks."""
    known = set(key.names)
    by_stem = {name.partition("; part")[0]: name for name in key.names}
    for name in response.names:
        if name not in known:
            like = by_stem.get(name.partition("; part")[0])
            needed = f"there is {quote(like)}, and a part belongs to the name" if like else "needed: none but the key's"
            yield Problem(f"document {quote(name)} is not in the key; {needed}")


def _repeated(table: MentionTable) -> Iterator[Problem]:
    """The mentions that stand twice."""
    for first, again in repeats(table).tolist():
        document, start, end = int(table.document[again]), int(table.start[again]), int(table.end[again])
        names = [quote(table.label(row)) for row in (first, again)]
        where = f"in entities {names[0]} and {names[1]}" if names[0] != names[1] else f"twice in entity {names[0]}"
        found = f"document {quote(table.names[document])}: the mention of tokens {start} to {end} stands {where}"
        line = table.words.line_of(document, start) if table.words is not None else None
        yield Problem(f"{found}; needed: once, unless duplicates is first or reference", line)


def _beyond(key: MentionTable, response: MentionTable) -> Iterator[Problem]:
    """Mentions beyond the end of a document whose length only the other side tells."""
    if key.n_tokens is not None and response.n_tokens is None:
        for row, length in _too_far(response, key):
            name, start, end = response.names[response.document[row]], response.start[row], response.end[row]
            found = f"document {quote(name)}: the mention [{start}, {end}] is not in the document"
            yield Problem(f"{found}, which has {length:,} tokens in the key, from 0")
    if response.n_tokens is not None and key.n_tokens is None:
        for row, length in _too_far(key, response):
            name, start, end = key.names[key.document[row]], key.start[row], key.end[row]
            yield Problem(f"document {quote(name)} has {length:,} tokens; the key has a mention [{start}, {end}] in it")


def _too_far(table: MentionTable, other: MentionTable) -> Iterator[tuple[int, int]]:
    """The mentions of a table that end beyond the length that the other gives the document, and that length."""
    tokens = [] if other.n_tokens is None else other.n_tokens.tolist()
    length = dict(zip(other.names, tokens, strict=True))
    lengths = np.array([length.get(name, np.iinfo(np.int64).max) for name in table.names], np.int64)
    for row in np.flatnonzero(table.end >= lengths[table.document]).tolist():
        yield row, length[table.names[table.document[row]]]


def _in_order_of(key: MentionTable, response: MentionTable) -> MentionTable:
    """The response with the documents of the key, in the key's order."""
    if list(response.names) == list(key.names):
        return response
    index = {name: i for i, name in enumerate(key.names)}
    place = np.array([index[name] for name in response.names], np.int64)
    document = place[response.document]
    order = np.argsort(document, kind="stable")
    back = {int(row): new for new, row in enumerate(order)} if response.parts else {}
    entity = response.entity[order]
    new_entity = np.concatenate([[False], entity[1:] != entity[:-1]]) if len(entity) else np.zeros(0, bool)
    source = {int(p): i for i, p in enumerate(place)}
    labels = response.labels
    return replace(
        response,
        names=key.names,
        n_tokens=None,
        document=document[order],
        start=response.start[order],
        end=response.end[order],
        entity=np.cumsum(new_entity),
        parts={back[row]: spans for row, spans in response.parts.items()},
        head=None if response.head is None else response.head[order],
        labels=None if labels is None else [labels[e] for e in entity[new_entity | (np.arange(len(entity)) == 0)]],
        words=key.words or (response.words and _Reordered(response.words, source)),
        absent=frozenset(range(len(key.names))) - source.keys(),
    )


class _Reordered:
    """The words of documents in another order.

    Args:
        words: the words by their old order.
        source: the old index of every document that has one.
    """

    def __init__(self, words: Words, source: dict[int, int]) -> None:
        self._words, self._source = words, source

    def __call__(self, document: int) -> Sequence[str]:
        return self._words(self._source[document]) if document in self._source else []

    def packed(self, document: int) -> bytes:
        return self._words.packed(self._source[document]) if document in self._source else b""

    def line_of(self, document: int, token: int) -> int:
        return self._words.line_of(self._source[document], token)
