"""Write coreference as WebAnno TSV 3.3, which INCEpTION and WebAnno import: a file for each document.

Entities are chains of the layer that these tools have for coreference.  A document of an annotation tool keeps its text,
its sentences and its offsets, so that what is written fits the original; the words of others are joined by blanks.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from closeread.exceptions import RequestError, quote
from closeread.tasks.coref.documents import Document, Documents, Entity, Mention
from closeread.tasks.coref.formats.lines import check_continuous, list_words
from closeread.tasks.coref.formats.standoff.making import StandoffWords
from closeread.tasks.coref.formats.standoff.records import SentenceLayout, count_utf16

SUFFIX = ".tsv"

HEADER = (
    "#FORMAT=WebAnno TSV 3.3\n"
    "#T_CH=de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink"
    "|referenceRelation|referenceType\n\n"
)

UNDECIDED = "undecided"
"""The type of a mention about which as many annotators are of one opinion as of the other."""

VALID_WORD = re.compile(r"[^\t\n\r]+")


def dump_webanno(
    documents: Documents,
    path: Path,
    undecided: Mapping[str, Collection[Mention]] | None = None,
) -> dict[Path, str]:
    """Return the texts of files: of the file with a name that ends in ``.tsv``, or else of those of a folder.

    Args:
        documents: the documents.
        path: the file, for one document; or the folder.
        undecided: the mentions to be marked, by the name of the document.

    Raises:
        RequestError: there are several documents for a file, or the format can't express them.
    """
    texts = {}
    is_file = path.suffix == SUFFIX
    if is_file and len(documents) != 1:
        number = f"WebAnno TSV has a document in a file, and there are {len(documents):,}"
        raise RequestError(f"cannot write {path}: {number} (expected a folder, without a suffix)")
    for document in documents.documents:
        marked = (undecided or {}).get(document.name, ())
        file = path if is_file else path / f"{document.name.replace('/', '_')}{SUFFIX}"
        if file in texts:
            raise RequestError(f"cannot write {file}: two documents would have this name")
        try:
            texts[file] = _dump_document(document, marked)
        except ValueError as error:
            raise RequestError(f"cannot write {file}: {error}") from None
    return texts


def _dump_document(document: Document, undecided: Collection[Mention]) -> str:
    """Return the text of a document.

    Raises:
        ValueError: the number of its tokens is unknown, or a mention is discontinuous.
    """
    if document.n_tokens is None:
        name = quote(document.name)
        raise ValueError(f"document {name}: the number of tokens is unknown")
    check_continuous([document], "WebAnno TSV")
    words = list_words(document, document.n_tokens, VALID_WORD, "WebAnno TSV")
    cells = _list_cells(document, undecided)
    text = HEADER
    token = 0
    for number, sentence in enumerate(_lay_out(document, words), 1):
        text += "\n" + "".join(
            f"#Text={_escape_line(line)}\n" for line in sentence.text.split("\n")
        )
        for place, (begin, end) in enumerate(sentence.offsets, 1):
            row = [f"{number}-{place}", f"{begin}-{end}", words[token], *cells[token]]
            text += "\t".join(row) + "\t\n"
            token += 1
    return text


def _escape_line(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\r", "\\r")


def _find_first_mention(entity: Entity) -> Mention:
    return min(entity.mentions)


def _list_cells(document: Document, undecided: Collection[Mention]) -> list[tuple[str, str]]:
    """Return the relation and the type of each token: one value for each mention that it is in."""
    placed = []
    entities = sorted(document.entities, key=_find_first_mention)
    for chain, entity in enumerate(entities, 1):
        for place, mention in enumerate(sorted(entity.mentions), 1):
            placed.append((mention.start, -mention.end, chain, place, mention in undecided))
    relations: list[list[str]] = [[] for _ in range(document.n_tokens or 0)]
    types: list[list[str]] = [[] for _ in range(document.n_tokens or 0)]
    for start, minus_end, chain, place, is_undecided in sorted(placed):
        for token in range(start, -minus_end + 1):
            relations[token].append(f"*->{chain}-{place}")
            types[token].append(f"{UNDECIDED if is_undecided else '*'}[{chain}]")
    return [
        ("|".join(relation) or "_", "|".join(kind) or "_")
        for relation, kind in zip(relations, types, strict=True)
    ]


def _lay_out(document: Document, words: Sequence[str]) -> list[SentenceLayout]:
    """Return the sentences of a document: those of its tool, or those of its rows, or one."""
    if isinstance(document.words, StandoffWords):
        sentences = document.words.list_sentences()
        if sentences:
            return sentences
    lengths = [len(sentence) for sentence in document.words.read_rows()]
    if sum(lengths) != len(words):
        lengths = [len(words)]
    layout = []
    first = 0
    begin = 0
    for length in lengths:
        offsets = []
        members = words[first : first + length]
        for word in members:
            end = begin + count_utf16(word)[-1]
            offsets.append((begin, end))
            begin = end + 1
        layout.append(SentenceLayout(" ".join(members), offsets))
        first += length
    return layout
