"""The corpus in CoNLL: sentence number, number of the word (IX), form and chains, separated by tabs.

Source: the files that the annotators of the corpus were given (Schüller et al., 2018, section 3.1).

Conventions: spans are the first and the last token in the document, from 0.  Chains are numbered from 1 in the order
in which they are given.
"""

from __future__ import annotations

from collections.abc import Sequence

from closeread.exceptions import quote
from closeread.records import Record
from closeread.tasks.coref.documents import Document, Entity, Mention
from closeread.tasks.coref.formats.conll import WORD, format_cells, format_name
from closeread.tasks.marmara.documents import NO_GAPS, WordNumbers, number_words

Chains = Sequence[Sequence[Sequence[int]]]
"""The spans `[start, end]` of the mentions of each chain."""


def dump_conll(
    documents: Sequence[Record], chains: Sequence[Chains], word_numbers: WordNumbers = NO_GAPS
) -> str:
    """Return documents with the chains of each as CoNLL; a ValueError if it can't express a word or a name."""
    lines = []
    for document, chains_of_document in zip(documents, chains, strict=True):
        entities = []
        for number, chain in enumerate(chains_of_document, start=1):
            entities.append(Entity(str(number), [Mention(start, end) for start, end in chain]))
        content = Document(document["document"], entities)
        cells = iter(format_cells(content, document["n_tokens"]))
        lines.append(f"#begin document {format_name(content.name)}\n")
        for sentence in document["sentences"]:
            rows = _format_rows(sentence, word_numbers)
            lines += [f"{row}\t{'|'.join(next(cells)) or '-'}\n" for row in rows]
            lines.append("\n")
        lines.append("#end document\n")
    return "".join(lines)


def _format_rows(sentence: Record, word_numbers: WordNumbers) -> list[str]:
    number = sentence["number"]
    rows = []
    for ix, token in zip(number_words(sentence, word_numbers), sentence["tokens"], strict=True):
        form = token["form"]
        if not WORD.fullmatch(form):
            message = f"CoNLL can't express the word {quote(form)}"
            raise ValueError(f"sentence {quote(number)}: {message}")
        rows.append(f"{number}\t{ix}\t{form}")
    return rows
