"""Documents as CoNLL text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from closeread.exceptions import quote
from closeread.formats.text import UNSAFE
from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.coref.document_lengths import list_lengths

ID = re.compile(r"[0-9]+")
WORD = re.compile(r"[^\x00-\x20\x7f\ud800-\udfff]+")
PARTED = re.compile(r"(.+); part ([^\s()]+)")


def dump_conll(table: MentionTable) -> str:
    """Convert documents to CoNLL text with five columns: document, part, number, word, mentions.

    Words are ``_`` if the table has none.  Sentences are not kept; ids are kept if all are different numbers.

    Raises:
        ValueError: the number of tokens is unknown, or the format can't express something: a discontinuous mention,
            two crossing mentions of an entity, a word with a blank, a name with a line end.  Two mentions of an
            entity cross even if they share only the token on which one ends and the other begins: there, all scorers
            read what opens before what closes.
    """
    lengths = list_lengths(table, "a CoNLL file")
    if table.parts:
        raise ValueError("a CoNLL file can't express discontinuous mentions")
    borders = np.searchsorted(table.document, np.arange(len(table.names) + 1)).tolist()
    return "".join(
        _format_document(table, i, slice(first, last), lengths[i]) for i, (first, last) in enumerate(pairwise(borders))
    )


def format_name(name: str) -> str:
    """Return a document's name, and its part if it has one, as the first line of the document has it.

    Raises:
        ValueError: the format can't express the name.
    """
    if not name or UNSAFE.search(name):
        raise ValueError(f"document {quote(name)}: a CoNLL file can't express this name")
    parts = PARTED.fullmatch(name)
    return f"({parts[1]}); part {parts[2]}" if parts else f"({name})"


def _format_document(table: MentionTable, document: int, mentions: slice, n_tokens: int) -> str:
    name = table.names[document]
    head, parts = format_name(name), PARTED.fullmatch(name)
    part = parts[2] if parts else "0"
    first_cell = re.sub(r"\s|^#", "_", parts[1] if parts else name)
    words = (table.words(document) if table.words else ()) or ["_"] * n_tokens
    if invalid := [word for word in words if not WORD.fullmatch(word)]:
        raise ValueError(f"document {quote(name)}: a CoNLL file can't express the word {quote(invalid[0])}")
    cells = format_cells(table, mentions, n_tokens)
    rows = [
        f"{first_cell}\t{part}\t{i}\t{word}\t{'|'.join(cell) or '-'}\n"
        for i, (word, cell) in enumerate(zip(words, cells, strict=True))
    ]
    return "".join([f"#begin document {head}\n", *rows, "\n#end document\n"])


def format_cells(table: MentionTable, mentions: slice, n_tokens: int) -> list[list[str]]:
    """List the brackets of each token: closing ones first, then opening ones, longest mention first."""
    entity, start, end = (column[mentions].tolist() for column in (table.entity, table.start, table.end))
    names = _choose_ids(table, sorted(set(entity)))
    opening: list[list[str]] = [[] for _ in range(n_tokens)]
    closing: list[list[str]] = [[] for _ in range(n_tokens)]
    open_ends: dict[int, list[int]] = {}
    for first, minus_last, number in sorted((s, -e, n) for n, s, e in zip(entity, start, end, strict=True)):
        last = -minus_last
        if first == last:
            opening[first].append(f"({names[number]})")
            continue
        ends = open_ends.setdefault(number, [])
        while ends and ends[-1] < first:
            ends.pop()
        if ends and ends[-1] < last:
            found = f"two crossing mentions of one entity, the second on tokens {first} to {last}"
            raise ValueError(
                f"document {quote(table.names[table.document[mentions][0]])}: a CoNLL file can't express {found}"
            )
        ends.append(last)
        opening[first].append(f"({names[number]}")
        closing[last].append(f"{names[number]})")
    return [closes + opens for closes, opens in zip(closing, opening, strict=True)]


def _choose_ids(table: MentionTable, entities: Sequence[int]) -> dict[int, str]:
    """Choose the ids of a document's entities: those of the table if they are numbers, otherwise 0, 1, …

    Some scorers take 07 and 7 for the same entity.
    """
    labels = [table.labels[entity] for entity in entities] if table.labels else []
    if all(ID.fullmatch(label) for label in labels) and len({label.lstrip("0") for label in labels}) == len(entities):
        return dict(zip(entities, labels, strict=True))
    return {entity: str(i) for i, entity in enumerate(entities)}
