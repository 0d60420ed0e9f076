"""Mentions in the rows of the CoNLL files that documents come from: all other columns, and the sentences, are kept."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.coref.conll_words import ConllWords
from closeread.tasks.coref.conll_writer import dump_conll, format_cells, format_name
from closeread.tasks.coref.joined import find_words


def dump_in_frames(table: MentionTable) -> str:
    """Convert documents to CoNLL text, with the columns and sentences of their own files if all of these are CoNLL.

    Otherwise columns and sentences are those of `dump_conll`.

    Raises:
        ValueError: as `dump_conll`.
    """
    plain = dump_conll(table)
    frames = [_read_frame(table, document) for document in range(len(table))]
    if table.n_tokens is None or not all(frames):
        return plain
    borders = np.searchsorted(table.document, np.arange(len(table) + 1)).tolist()
    text = ""
    for document, (first, last) in enumerate(pairwise(borders)):
        cells = iter(format_cells(table, slice(first, last), int(table.n_tokens[document])))
        text += f"#begin document {format_name(table.names[document])}\n"
        for rows in frames[document]:
            text += "".join(f"{row}\t{'|'.join(next(cells)) or '-'}\n" for row in rows) + "\n"
        text += "#end document\n"
    return text


def _read_frame(table: MentionTable, document: int) -> list[list[str]]:
    """Return the rows of a document's sentences without mentions; nothing if its file is not CoNLL or has no more."""
    words, place = find_words(table, document)
    if not isinstance(words, ConllWords):
        return []
    rows = words.read_rows(place)
    return rows if all(row for of_sentence in rows for row in of_sentence) else []
