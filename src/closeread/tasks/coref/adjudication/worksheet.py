"""A file for a person to decide in: the annotators' chains side by side, and the result, which can be edited.

Conventions: CoNLL with the columns document, part, number and word, then one for each annotator, in the order of the
files, and the result last.  Annotators' chains are numbered from 1 by their first mentions.  Cells that were forced
begin with ``=`` again, so that `closeread.tasks.coref.adjudication.forced` reads the file as it read the decisions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from closeread import limits
from closeread.exceptions import RequestError, quote
from closeread.formats.text import UNSAFE
from closeread.tasks.coref.adjudication.annotators import NO_CHAIN, AnnotatedDocument, Mention
from closeread.tasks.coref.adjudication.forced import NOTHING_FORCED, ForcedDocument
from closeread.tasks.coref.adjudication.results import AdjudicatedDocument
from closeread.tasks.coref.columns import mention_table
from closeread.tasks.coref.formats.conll import PARTED, WORD, format_cells, format_name

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
            crossing mentions of a chain, a name with a line end.
    """
    return "".join(_format(result, files, forced.get(result.document.name, NOTHING_FORCED)) for result in results)


def _format(result: AdjudicatedDocument, files: Sequence[str], forced: ForcedDocument) -> str:
    document, n_tokens = result.document, result.document.n_tokens
    where = f"a worksheet can't express document {quote(document.name)}"
    if n_tokens is None:
        raise RequestError(f"{where}: the number of tokens is unknown")
    if any(mention.parts for mention in document.mentions):
        raise RequestError(f"{where}: a mention is discontinuous")
    if document.source.words is None and n_tokens > limits.MAX_TOKENS:
        raise RequestError(f"{where}: it has {n_tokens:,} tokens, but no words (limit: {limits.MAX_TOKENS:,})")
    words = list(document.source.words(0)) if document.source.words is not None else ["_"] * n_tokens
    if not document.name or UNSAFE.search(document.name) or not all(map(WORD.fullmatch, words)):
        raise RequestError(f"{where}: the name or a word has a blank or a control character")
    chains = {
        name: [document.mentions[i] for i in chain] for name, chain in zip(result.ids, result.chains, strict=True)
    }
    sides = {"the result": chains, **{file: _list_chains(document, file) for file in document.files}}
    for side, its_chains in sides.items():
        if any(a.start < b.start <= a.end < b.end for of in its_chains.values() for a in of for b in of):
            raise RequestError(f"{where}: two mentions of a chain cross in {side}")
    nothing = ["-"] * n_tokens
    columns = [_format_cells(document, sides[file]) if file in sides else nothing for file in files]
    cells = _format_cells(document, chains)
    columns.append([f"={cell}" if token in forced.bound else cell for token, cell in enumerate(cells)])
    parts = PARTED.fullmatch(document.name)
    first, part = (parts[1], parts[2]) if parts else (document.name, "0")
    first = re.sub(r"\s|^#", "_", first)
    rows = zip(words, *columns, strict=True)
    lines = ["\t".join([first, part, str(number), *row]) for number, row in enumerate(rows)]
    return "\n".join([f"#begin document {format_name(document.name)}", *lines, "", "#end document", ""])


def _list_chains(document: AnnotatedDocument, file: str) -> Chains:
    """Return an annotator's chains."""
    chain = document.chain[document.files.index(file)]
    found: dict[int, list[Mention]] = {}
    for place in np.flatnonzero(chain != NO_CHAIN).tolist():
        found.setdefault(int(chain[place]), []).append(document.mentions[place])
    return {str(number): mentions for number, mentions in enumerate(found.values(), start=1)}


def _format_cells(document: AnnotatedDocument, chains: Chains) -> list[str]:
    """Return the cell of each token."""
    clusters = [[[mention.start, mention.end] for mention in mentions] for mentions in chains.values()]
    table = replace(mention_table([document.name], [clusters]), labels=list(chains))
    return ["|".join(cell) or "-" for cell in format_cells(table, slice(len(table.start)), document.n_tokens or 0)]
