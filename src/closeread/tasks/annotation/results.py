"""The results of adjudication: documents, a report of what every link costs, and worksheets.

A worksheet is a file for a person to decide in: the annotators' chains side by side, and the result, which can be
edited.  It is CoNLL with the columns document, part, number and word, then one for each annotator, in the order of the
files, and the result last.  Annotators' chains are numbered from 1 by their first mentions.  Cells that were forced
begin with ``=`` again, so that `closeread.tasks.annotation.forced` reads the file as it read the decisions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from closeread.exceptions import RequestError, pluralize, quote
from closeread.formats.text import UNSAFE
from closeread.tasks.annotation.adjudication import AdjudicatedDocument, JudgedLink, Settings
from closeread.tasks.annotation.annotators import AnnotatedDocument
from closeread.tasks.annotation.forced import NOTHING_FORCED, ForcedDocument
from closeread.tasks.coref.documents import Document, Documents, Entity, list_lengths
from closeread.tasks.coref.formats.conll import PARTED, WORD, format_cells, format_name


def join_results(
    results: Sequence[AdjudicatedDocument], sources: Mapping[str, Document]
) -> Documents:
    """Return the documents with their chains, given their tokens by name."""
    documents = []
    for result in results:
        source = sources[result.document.name]
        documents.append(_add_chains(source, result.document, result.ids, result.chains))
    return Documents(documents)


def _add_chains(
    source: Document,
    document: AnnotatedDocument,
    ids: Sequence[str],
    chains: Sequence[Sequence[int]],
) -> Document:
    """Return a document with some chains, given their ids."""
    entities = []
    for chain_id, chain in zip(ids, chains, strict=True):
        entities.append(Entity(chain_id, [document.mentions[number] for number in chain]))
    return replace(source, entities=entities)


def make_report(
    results: Sequence[AdjudicatedDocument], settings: Settings, files: Sequence[str]
) -> dict[str, Any]:
    """Return all results as a JSON value, given the names of the annotators' files."""
    return {
        **settings._asdict(),
        "cost": sum(result.cost for result in results),
        "optimal": all(result.is_optimal for result in results),
        "documents": [_report_document(result, files) for result in results],
    }


def _report_document(result: AdjudicatedDocument, files: Sequence[str]) -> dict[str, Any]:
    return {
        "document": result.document.name,
        "annotators": result.n_annotators,
        "mentions": sum(map(len, result.chains)),
        "chains": len(result.chains),
        "cost": result.cost,
        "optimal": result.is_optimal,
        "links": [_report_link(link, result.document, files) for link in result.links],
    }


def _report_link(
    link: JudgedLink, document: AnnotatedDocument, files: Sequence[str]
) -> dict[str, Any]:
    return {
        "first": document.mentions[link.first][:2],
        "second": document.mentions[link.second][:2],
        "annotators": len(link.annotators),
        "linked_by": [files[annotator] for annotator in link.annotators],
        "together": link.is_together,
        "cost": link.cost,
    }


def summarize(results: Sequence[AdjudicatedDocument]) -> str:
    """Describe all results in a line."""
    n_chains = 0
    n_mentions = 0
    for result in results:
        n_chains += len(result.chains)
        n_mentions += sum(map(len, result.chains))
    documents = pluralize(len(results), "document")
    chains = f"{pluralize(n_chains, 'chain')}, {pluralize(n_mentions, 'mention')}"
    is_optimal = all(result.is_optimal for result in results)
    state = "optimal" if is_optimal else "not proved to be optimal"
    return f"{documents}, {chains}; cost {sum(result.cost for result in results):,}, {state}"


def dump_worksheet(
    results: Sequence[AdjudicatedDocument],
    sources: Mapping[str, Document],
    files: Sequence[str],
    forced: Mapping[str, ForcedDocument],
) -> str:
    """Convert results to the text of a worksheet.

    Args:
        results: the results.
        sources: the documents with their tokens, by name.
        files: the names of the annotators' files.
        forced: a person's decisions, by the name of the document.
    """
    text = ""
    for result in results:
        name = result.document.name
        bound = forced.get(name, NOTHING_FORCED).bound
        try:
            text += _format_document(result, sources[name], files, bound)
        except ValueError as error:
            message = f"a worksheet can't express document {quote(name)}: {error}"
            raise RequestError(message) from None
    return text


def _format_document(
    result: AdjudicatedDocument, source: Document, files: Sequence[str], bound: set[int]
) -> str:
    """Return the rows of a document; raises a ValueError if they can't express it."""
    document = result.document
    words = _list_words(document, source)
    if not document.name or UNSAFE.search(document.name) or not all(map(WORD.fullmatch, words)):
        raise ValueError("the name or a word has a blank or a control character")
    cells = _format_cells(document, source, result.ids, result.chains, "the result")
    columns = []
    for annotator, file in enumerate(files):
        chains = sorted(sorted(chain) for chain in document.chains.get(annotator, ()))
        numbers = [str(number) for number in range(1, len(chains) + 1)]
        columns.append(_format_cells(document, source, numbers, chains, file))
    columns.append([f"={cell}" if token in bound else cell for token, cell in enumerate(cells)])
    name = document.name
    part = "0"
    parted = PARTED.fullmatch(name)
    if parted:
        name, part = parted.groups()
    name = re.sub(r"\s|^#", "_", name)
    lines = [f"#begin document {format_name(document.name)}"]
    for number, row in enumerate(zip(words, *columns, strict=True)):
        lines.append("\t".join([name, part, str(number), *row]))
    return "\n".join([*lines, "", "#end document", ""])


def _list_words(document: AnnotatedDocument, source: Document) -> Sequence[str]:
    """Return the words of a document, or ``_`` for each; raises a ValueError if a worksheet can't have them."""
    (n_tokens,) = list_lengths([source], "it")
    if any(mention.subspans for mention in document.mentions):
        raise ValueError("a mention is discontinuous")
    return source.words.read() or ["_"] * n_tokens


def _format_cells(
    document: AnnotatedDocument,
    source: Document,
    ids: Sequence[str],
    chains: Sequence[Sequence[int]],
    side: str,
) -> list[str]:
    """Return the cell of each token; `side` is what messages call those who have the chains."""
    try:
        cells = format_cells(_add_chains(source, document, ids, chains), source.n_tokens or 0)
    except ValueError:
        raise ValueError(f"two mentions of a chain cross in {side}") from None
    return ["|".join(brackets) or "-" for brackets in cells]
