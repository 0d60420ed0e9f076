"""Long documents scored in windows: the mentions of an entity that start in a window are an entity of their own.

Conventions: a mention keeps its tokens, also those behind the end of its window.  No mention is in two windows, so that
the counts of a document are the sums of those of its windows, but for BLANC, whose links without coreference would cross
windows.

BOOKCOREF's script has windows of its own, in which no mention at the start of a window counts, and the last window, as
long as the others, overlaps the one before it; mentions in both count twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from closeread.exceptions import RequestError, fill_options, quote
from closeread.tasks.coref.documents import Document, Documents, Entity, Mention

BOOKCOREF = "bookcoref:"
"""How the windows of BOOKCOREF's script are asked for, before their length."""


def cut_windows(
    key: Documents, response: Documents, windows: str, metrics: Sequence[str]
) -> tuple[Documents, Documents]:
    """Return both sides with their entities cut into windows."""
    if "blanc" in metrics:
        advice = fill_options("; choose others by {metrics}")
        raise RequestError(f"BLANC is not computed in windows{advice}")
    size = int(windows.removeprefix(BOOKCOREF))
    if not windows.startswith(BOOKCOREF):
        return _cut_side(key, size), _cut_side(response, size)
    lengths: list[int] = []
    for document in key.documents:
        if not document.n_tokens:
            problem = f"the number of tokens of {quote(document.name)} is unknown"
            raise RequestError(f"{problem}, which windows {windows} depend on")
        lengths.append(document.n_tokens)
    return _cut_side(key, size, lengths), _cut_side(response, size, lengths)


def _cut_side(side: Documents, size: int, lengths: Sequence[int] = ()) -> Documents:
    """Cut the entities of one side; with the lengths of documents, as BOOKCOREF's script does."""
    documents: list[Document] = []
    for number, document in enumerate(side.documents):
        entities: list[Entity] = []
        for entity in document.entities:
            mentions_by_window: dict[int, list[Mention]] = {}
            for mention in entity.mentions:
                if lengths:
                    placed = _place_by_script(mention, size, lengths[number])
                else:
                    placed = iter([(mention.start // size, mention)])
                for window, mention_there in placed:
                    mentions_by_window.setdefault(window, []).append(mention_there)
            entities += [Entity(entity.label, mentions) for mentions in mentions_by_window.values()]
        documents.append(replace(document, entities=entities, reference_order=None))
    return side.replaced(documents)


def _place_by_script(mention: Mention, size: int, length: int) -> Iterator[tuple[int, Mention]]:
    """Yield the windows of BOOKCOREF's script that a mention is in; in the last one, it has other tokens."""
    n_full = length // size
    if mention.start % size and mention.start < n_full * size:
        yield mention.start // size, mention
    if length - size < mention.start < length:
        yield n_full, _shift(mention, length)


def _shift(mention: Mention, offset: int) -> Mention:
    """Move a mention behind the end of its document, where it meets none of another window."""
    return mention._replace(
        start=mention.start + offset,
        end=mention.end + offset,
        head=None if mention.head is None else mention.head + offset,
        subspans=tuple((start + offset, end + offset) for start, end in mention.subspans),
        minimum=tuple(token + offset for token in mention.minimum),
    )
