"""Documents as CoNLL-U text with CorefUD's annotation."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from closeread.exceptions import quote
from closeread.formats.text import UNSAFE
from closeread.tasks.coref.columns import MentionTable, Parts, number_of_token
from closeread.tasks.coref.conllu_empty_nodes import ROOT
from closeread.tasks.coref.conllu_headers import NEWDOC
from closeread.tasks.coref.conllu_misc import DEFAULT_FIELDS
from closeread.tasks.coref.document_lengths import list_lengths
from closeread.tasks.coref.entity_ids import choose_ids

PLAIN_ID = re.compile(r"[^-()\[\]|=\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


class _Bracket(NamedTuple):
    """A bracket of a mention, or of one of its parts."""

    mention: int
    entity: str
    part: int
    of: int
    text: str
    opens: bool
    closes: bool


def dump_conllu(table: MentionTable) -> str:
    """Convert documents to CoNLL-U text, each to one sentence with coreference as its only annotation.

    Words are ``_`` if the table has none; ids are kept if the format can express them; empty nodes keep their enhanced
    dependencies.

    Raises:
        ValueError: the number of tokens is unknown, or the format can't express something: a word or name with a
            control character, two crossing mentions of one entity.
    """
    lengths = list_lengths(table, "a CoNLL-U file")
    borders = np.searchsorted(table.document, np.arange(len(table.names) + 1)).tolist()
    empty = _empty_nodes(table)
    return "".join(
        _format_document(table, i, range(first, last), lengths[i], empty[i])
        for i, (first, last) in enumerate(pairwise(borders))
    )


def _empty_nodes(table: MentionTable) -> Mapping[int, Mapping[int, Sequence[tuple[int, str]]]]:
    """Return the dependencies of each document's empty nodes, by token."""
    found: dict[int, dict[int, Sequence[tuple[int, str]]]] = defaultdict(dict)
    if table.empty is not None:
        nodes = zip(table.empty.document.tolist(), table.empty.token.tolist(), table.empty.dependencies, strict=True)
        for document, token, dependencies in nodes:
            found[document][token] = dependencies
    return found


def _format_document(
    table: MentionTable,
    document: int,
    mentions: Sequence[int],
    n_tokens: int,
    empty: Mapping[int, Sequence[tuple[int, str]]],
) -> str:
    name = table.names[document]
    about = f"document {quote(name)}: a CoNLL-U file can't express"
    header = f"# newdoc id = {name}"
    match = NEWDOC.fullmatch(header)
    if UNSAFE.search(name) or not name or not match or match[1] != name:
        raise ValueError(f"{about} {quote(name)}")
    words = (table.words(document) if table.words else ()) or ["_"] * n_tokens
    if invalid := [word for word in words if not word or UNSAFE.search(word)]:
        raise ValueError(f"{about} {quote(invalid[0])}")
    ids = choose_ids(table, sorted({int(table.entity[i]) for i in mentions}), PLAIN_ID, "e")
    spans = [table.parts.get(i, ((int(table.start[i]), int(table.end[i])),)) for i in mentions]
    heads = [span[0][0] for span in spans] if table.head is None else table.head[list(mentions)].tolist()
    numbers = list(map(number_of_token, spans, heads))
    cells = _make_cells([ids[int(table.entity[i])] for i in mentions], spans, numbers, n_tokens)
    if not _reads_back(chain.from_iterable(cells)):
        raise ValueError(f"{about} two crossing mentions of one entity")
    lines = [header, f"# global.Entity = {DEFAULT_FIELDS}"]
    for i, (row, dependencies) in enumerate(_number_rows(n_tokens, empty)):
        cell = "".join(bracket.text for bracket in cells[i])
        governor = "0" if i not in empty else "_"
        columns = [row, words[i], "_", "_", "_", "_", governor, "_", dependencies, f"Entity={cell}" if cell else "_"]
        lines.append("\t".join(columns))
    return "".join(f"{line}\n" for line in [*lines, ""])


def _number_rows(n_tokens: int, empty: Mapping[int, Sequence[tuple[int, str]]]) -> Iterator[tuple[str, str]]:
    """Yield each token's id, and its enhanced dependencies if it is an empty node."""
    ids = {ROOT: "0"}
    word = second = 0
    for token in range(n_tokens):
        word, second = (word, second + 1) if token in empty else (word + 1, 0)
        ids[token] = f"{word}.{second}" if second else str(word)
    for token in range(n_tokens):
        yield ids[token], "|".join(f"{ids[parent]}:{name}" for parent, name in empty.get(token, ())) or "_"


def _make_cells(
    entities: Sequence[str], spans: Sequence[Parts], heads: Sequence[int], n_tokens: int
) -> Sequence[Sequence[_Bracket]]:
    """List the brackets of each token: closing ones first, in the order opposite to opening; longest mention first."""
    opening: list[list[_Bracket]] = [[] for _ in range(n_tokens)]
    closing: list[list[_Bracket]] = [[] for _ in range(n_tokens)]
    brackets = [
        (start, -end, i, part, len(parts))
        for i, parts in enumerate(spans)
        for part, (start, end) in enumerate(parts, start=1)
    ]
    for start, minus_end, i, part, of in sorted(brackets):
        name = f"{entities[i]}[{part}/{of}]" if of > 1 else entities[i]
        opens = f"({name}--{heads[i]}-"
        if start == -minus_end:
            opening[start].append(_Bracket(i, entities[i], part, of, f"{opens})", True, True))
        else:
            opening[start].append(_Bracket(i, entities[i], part, of, opens, True, False))
            closing[-minus_end].append(_Bracket(i, entities[i], part, of, f"{name})", False, True))
    return [[*reversed(closes), *opens] for closes, opens in zip(closing, opening, strict=True)]


def _reads_back(brackets: Iterator[_Bracket]) -> bool:
    """Whether readers join the brackets to the same mentions.

    Udapi, and thus corefud-scorer, closes the mention of an entity that opened last, and continues the interrupted one
    that opened first, unless it is open again.
    """
    opened: dict[str, list[int]] = defaultdict(list)
    incomplete: dict[str, list[int]] = defaultdict(list)
    for mention, entity, part, of, _, opens, closes in brackets:
        if opens and of > 1:
            if part == 1:
                incomplete[entity].append(mention)
            elif next(i for i in incomplete[entity] if i not in opened[entity]) != mention:
                return False
        if opens and not closes:
            opened[entity].append(mention)
        if closes and not opens and opened[entity].pop() != mention:
            return False
        if closes and of > 1 and part == of and incomplete[entity].pop() != mention:
            return False
    return True
