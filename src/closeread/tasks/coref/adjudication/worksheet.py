"""A file for a person to decide in: the annotators' chains side by side, and the result, which can be edited.

Conventions: CoNLL with the columns document, part, number and word, then one for each annotator, in the order of the
files, and the result last.  Annotators' chains are numbered from 1 by their first mentions.  Cells that were forced
begin with ``=`` again, so that `closeread.tasks.coref.adjudication.forced` reads the file as it read the decisions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from closeread.errors import RequestError, quote
from closeread.formats.text import UNSAFE
from closeread.tasks.coref.adjudication.annotators import NO_CHAIN, AnnotatedDocument, Mention
from closeread.tasks.coref.adjudication.forced import NOTHING_FORCED, ForcedDocument
from closeread.tasks.coref.adjudication.results import AdjudicatedDocument
from closeread.tasks.coref.conll_writer import PARTED, WORD

Chains = Mapping[str, Sequence[Mention]]
"""Mentions by the id of their chain."""


def dump_worksheet(
    results: Sequence[AdjudicatedDocument], files: Sequence[str], forced: Mapping[str, ForcedDocument]
) -> str:
    """Convert results to the text of a worksheet.

    Args:
        results: the results.
        files: the annotators' files.
        forced: what was decided, by document.

    Raises:
        RequestError: the format can't express something: a document of unknown length, a discontinuous mention, two
            crossing mentions of a chain of the result, a name with a line end.
    """
    return "".join(_format(result, files, forced.get(result.document.name, NOTHING_FORCED)) for result in results)


def _format(result: AdjudicatedDocument, files: Sequence[str], forced: ForcedDocument) -> str:
    document = result.document
    where = f"a worksheet can't express document {quote(document.name)}"
    if document.n_tokens is None:
        raise RequestError(f"{where}: the number of tokens is unknown")
    if any(mention.parts for mention in document.mentions):
        raise RequestError(f"{where}: a mention is discontinuous")
    words = list(document.source.words(0)) if document.source.words is not None else ["_"] * document.n_tokens
    if not document.name or UNSAFE.search(document.name) or not all(map(WORD.fullmatch, words)):
        raise RequestError(f"{where}: the name or a word has a blank or a control character")
    chains = {
        name: [document.mentions[i] for i in chain] for name, chain in zip(result.ids, result.chains, strict=True)
    }
    if any(a.start < b.start <= a.end < b.end for of in chains.values() for a in of for b in of):
        raise RequestError(f"{where}: two mentions of a chain cross")
    columns = [_format_cells(_take_chains(document, file), document.n_tokens) for file in files]
    cells = _format_cells(chains, document.n_tokens)
    columns.append([f"={cell}" if token in forced.bound else cell for token, cell in enumerate(cells)])
    parts = PARTED.fullmatch(document.name)
    head, part = (f"({parts[1]}); part {parts[2]}", parts[2]) if parts else (f"({document.name})", "0")
    first = re.sub(r"\s|^#", "_", parts[1] if parts else document.name)
    rows = zip(words, *columns, strict=True)
    lines = ["\t".join([first, part, str(number), *row]) for number, row in enumerate(rows)]
    return "\n".join([f"#begin document {head}", *lines, "", "#end document", ""])


def _take_chains(document: AnnotatedDocument, file: str) -> Chains:
    """Return an annotator's chains; none if the file does not hold the document."""
    if file not in document.files:
        return {}
    chain = document.chain[document.files.index(file)]
    found: dict[int, list[Mention]] = {}
    for place in np.flatnonzero(chain != NO_CHAIN).tolist():
        found.setdefault(int(chain[place]), []).append(document.mentions[place])
    return {str(number): mentions for number, mentions in enumerate(found.values(), start=1)}


def _format_cells(chains: Chains, n_tokens: int) -> list[str]:
    """Return the cell of each token: what closes first, the innermost first, then single tokens, then what opens."""
    closing: list[list[tuple[int, int, str]]] = [[] for _ in range(n_tokens)]
    single: list[list[str]] = [[] for _ in range(n_tokens)]
    opening: list[list[tuple[int, int, str]]] = [[] for _ in range(n_tokens)]
    for name, mentions in chains.items():
        for start, end, _ in mentions:
            if start == end:
                single[start].append(f"({name})")
            else:
                closing[end].append((-start, int(name), f"{name})"))
                opening[start].append((-end, int(name), f"({name}"))
    cells = []
    for closes, alone, opens in zip(closing, single, opening, strict=True):
        pieces = [piece for *_, piece in sorted(closes)], alone, [piece for *_, piece in sorted(opens)]
        cells.append("|".join(piece for group in pieces for piece in group) or "-")
    return cells
