"""Writing of documents in the format of Universal Anaphora, with identity as their only annotation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise

import numpy as np

from closeread.exceptions import quote
from closeread.tasks.coref.columns import MentionTable, Parts
from closeread.tasks.coref.document_lengths import list_lengths
from closeread.tasks.coref.entity_ids import choose_ids

COLUMNS = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC IDENTITY BRIDGING DISCOURSE_DEIXIS REFERENCE NOM_SEM"
"""The columns of a file that is written, which are those of the released files."""

WORD = re.compile(r"[^\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
PLAIN_ID = re.compile(r"[^()|=,@\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+(?<!-Pseudo)")


def dump_conllua(table: MentionTable, read: Callable[[str], MentionTable | None]) -> str:
    """Convert documents to text.

    Words are ``_`` if the table has none; ids of entities are kept if the format can express them.  Minimum spans are
    written, or heads where there are none.  Closing brackets have ids only if mentions cross somewhere in the file; the
    Universal Anaphora scorer has an option for such files.

    Args:
        table: the documents.
        read: reads text; None if it is invalid.

    Raises:
        ValueError: the number of tokens is unknown, or the format can't express something, such as a word with a blank
            or a mention that contains a zero and words.
    """
    lengths = list_lengths(table, "a Universal Anaphora file")
    borders = np.searchsorted(table.document, np.arange(len(table.names) + 1)).tolist()
    zeros: list[set[int]] = [set() for _ in table.names]
    if table.empty is not None:
        for document, token in zip(table.empty.document.tolist(), table.empty.token.tolist(), strict=True):
            zeros[document].add(token)
    layouts = [
        _Layout(table, range(first, last), n_tokens, of_document)
        for (first, last), n_tokens, of_document in zip(pairwise(borders), lengths, zeros, strict=True)
    ]
    named = any(layout.has_crossing() for layout in layouts)
    documents = [_format_document(table, i, layout, named=named) for i, layout in enumerate(layouts)]
    for i, text in enumerate(documents):
        again = read(text)
        if again is None or list(again.names) != [table.names[i]] or _spans(again, 0) != _spans(table, i):
            found = "a mention of zeros and words, or a name that would be read back differently"
            raise ValueError(f"document {quote(table.names[i])}: a Universal Anaphora file can't express {found}")
    return "".join(documents)


def _spans(table: MentionTable, document: int) -> list[list[Parts]]:
    """List the mentions of each entity of a document, all in order of position."""
    first, last = np.searchsorted(table.document, [document, document + 1]).tolist()
    entities: dict[int, list[Parts]] = {}
    for i in range(first, last):
        entities.setdefault(int(table.entity[i]), []).append(_parts_of(table, i))
    return sorted(sorted(mentions) for mentions in entities.values())


def _parts_of(table: MentionTable, i: int) -> Parts:
    return tuple(table.parts.get(i, ((int(table.start[i]), int(table.end[i])),)))


class _Layout:
    """The brackets of a document.

    Args:
        table: the documents.
        mentions: the rows of the mentions of this one.
        n_tokens: the number of its tokens.
        zeros: those that are zeros.

    Attributes:
        brackets: (first token, minus the last token, the number of the mention from 0), in order of position, longest
            first.
        word_of: the number of each word by its token.
    """

    def __init__(self, table: MentionTable, mentions: Sequence[int], n_tokens: int, zeros: set[int]) -> None:
        self.mentions, self.n_tokens, self.zeros = mentions, n_tokens, zeros
        self.word_of = {token: i for i, token in enumerate(token for token in range(n_tokens) if token not in zeros)}
        self.brackets = sorted(
            (start, -end, number)
            for number, i in enumerate(mentions)
            for start, end in _merge_over_zeros(_parts_of(table, i), self.word_of)
        )

    def has_crossing(self) -> bool:
        """Return whether two brackets cross."""
        open_ends: list[int] = []
        for start, minus_end, _ in self.brackets:
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            if open_ends and open_ends[-1] < -minus_end:
                return True
            open_ends.append(-minus_end)
        return False


def _format_document(table: MentionTable, document: int, layout: _Layout, *, named: bool) -> str:
    name = table.names[document]
    words = list((table.words(document) if table.words else ()) or ["_"] * layout.n_tokens)
    invalid = [text for text in words if not WORD.fullmatch(text)]
    if invalid or not NAME.fullmatch(name):
        what = quote((invalid or [name])[0])
        raise ValueError(f"document {quote(name)}: a Universal Anaphora file can't express {what}")
    lines = [f"# global.columns = {COLUMNS}", f"# newdoc id = {name}"]
    ids = _list_ids(layout.n_tokens, layout.zeros)
    for number, word, cell in zip(ids, words, _format_cells(table, layout, named=named), strict=True):
        lines.append("\t".join([number, word, *"________", cell or "_", *"____"]))
    return "".join(f"{line}\n" for line in [*lines, ""])


def _list_ids(n_tokens: int, zeros: set[int]) -> Iterator[str]:
    word = zero = 0
    for token in range(n_tokens):
        zero = zero + 1 if token in zeros else 0
        word += zero == 0
        yield f"{word}.{zero}" if zero else str(word)


def _format_cells(table: MentionTable, layout: _Layout, *, named: bool) -> Iterator[str]:
    """List the brackets of each token: closing ones first, then opening ones, longest mention first."""
    opening: list[list[str]] = [[] for _ in range(layout.n_tokens)]
    closing: list[list[str]] = [[] for _ in range(layout.n_tokens)]
    labels = choose_ids(table, sorted({int(table.entity[i]) for i in layout.mentions}), PLAIN_ID)
    for start, minus_end, number in layout.brackets:
        i = layout.mentions[number]
        minimum = _format_minimum(table, i, layout.word_of)
        fields = f"(EntityID={labels[int(table.entity[i])]}|MarkableID=m{number + 1}{minimum}"
        opening[start].append(fields + (")" if start == -minus_end else ""))
        if start < -minus_end:
            closing[-minus_end].append(f"m{number + 1})" if named else ")")
    return ("".join(chain(closes, opens)) for closes, opens in zip(closing, opening, strict=True))


def _merge_over_zeros(parts: Parts, word_of: dict[int, int]) -> Iterator[tuple[int, int]]:
    """List the parts of a mention, joined where only zeros are between them."""
    runs: list[tuple[int, int]] = []
    for start, end in parts:
        words = [word_of.get(token, -2) for token in (runs[-1][1], start)] if runs else [0, 0]
        if words[0] + 1 == words[1] and words[0] >= 0:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return iter(runs)


def _format_minimum(table: MentionTable, i: int, word_of: dict[int, int]) -> str:
    head = None if table.head is None else int(table.head[i])
    tokens = table.minimum.get(i, () if head is None else (head,))
    words = sorted(word_of[token] + 1 for token in tokens if token in word_of)
    if not words or len(words) != len(tokens) or words[-1] - words[0] != len(words) - 1:
        return ""
    return f"|Min={words[0]}" if len(words) == 1 else f"|Min={words[0]},{words[-1]}"
