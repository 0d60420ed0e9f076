"""Documents of coreference from annotation beside the text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from typing import NamedTuple

from closeread.exceptions import ProblemList, RequestError, advise, pluralize, quote
from closeread.tasks.coref.documents import (
    Document,
    Documents,
    Entity,
    ListedWords,
    Mention,
    WordLayout,
)
from closeread.tasks.coref.formats import StandoffOptions
from closeread.tasks.coref.formats.lines import make_mention
from closeread.tasks.coref.formats.standoff.models import (
    Model,
    choose_models,
    find_mention_layers,
    group_spans,
)
from closeread.tasks.coref.formats.standoff.records import SentenceLayout, StandoffDocument
from closeread.tasks.coref.formats.standoff.tokens import (
    TokenFinder,
    are_words_separated,
    locate_words,
    split_at_blanks,
    split_unicode_words,
)
from closeread.tasks.coref.spans import Span

SUFFIXES_OF_DOCUMENTS = (
    ".txt",
    ".tsv",
    ".xmi",
    ".json",
    ".html",
    ".xml",
    ".pdf",
    ".conll",
    ".conllu",
    ".ann",
)
"""The endings of names of documents that a tool has from the file that was imported, or a file from the export."""


class Annotation(NamedTuple):
    """What an annotator made.

    Attributes:
        name: the annotator, or the file, for messages.
        documents: the documents.
        source: the file, the folder or the archive, which may be that of several annotators.
        notices: what there is to say of it as a whole.
    """

    name: str
    documents: Sequence[StandoffDocument]
    source: str = ""
    notices: Sequence[str] = ()


def name_document(name: str) -> str:
    """Return the name of a document without the ending of its file.

    >>> name_document("harbour.txt"), name_document("part 1.2")
    ('harbour', 'part 1.2')
    """
    path = PurePosixPath(name)
    if path.suffix.lower() in SUFFIXES_OF_DOCUMENTS and path.stem:
        return str(path.with_suffix(""))
    return name


def make_documents(
    annotations: Sequence[Annotation],
    options: StandoffOptions,
    words_by_name: Mapping[str, Sequence[str]],
) -> list[Documents]:
    """Return the documents of annotators of the same project, whose entities are marked in the same way.

    Args:
        annotations: what each of them made.
        options: what makes entities, if that is to be chosen.
        words_by_name: the words of documents in other files.

    Raises:
        RequestError: it is not clear what makes entities.
        FormatError: documents have other texts than in another file, or the same name.
    """
    documents: list[StandoffDocument] = []
    for annotation in annotations:
        documents += annotation.documents
    source = annotations[0].name if len(annotations) == 1 else ""
    models, notice = choose_models(documents, options, source)
    has_spans = any(document.spans for document in documents)
    if not models and has_spans:
        raise RequestError(_describe_nothing(annotations, documents))
    mention_layers = find_mention_layers(documents, models, options.layer) if models else set()
    _find_tokens(annotations, words_by_name)
    by_annotator = [
        _make_annotator(annotation, models, mention_layers) for annotation in annotations
    ]
    if notice:
        by_annotator[0] = by_annotator[0].noted(f"{annotations[0].source}: {notice}")
    return by_annotator


def _describe_nothing(
    annotations: Sequence[Annotation], documents: Sequence[StandoffDocument]
) -> str:
    """Say that nothing makes entities, and which spans there are."""
    layers: Counter[str] = Counter()
    for document in documents:
        layers.update(span.layer for span in document.spans.values())
    listed = ", ".join(f"{layer} {number:,}" for layer, number in layers.most_common(5))
    expected = "expected chains, relations, or a feature with the entity's name"
    return f"{annotations[0].name}: no annotation of coreference ({expected}), but spans: {listed}"


# Tokens


def _name_in_order(documents: Sequence[StandoffDocument], names: Sequence[str]) -> None:
    """Give documents without names those of another file, in its order, if both have as many."""
    has_names = any(document.is_named for document in documents)
    if has_names or len(documents) != len(names):
        return
    for document, name in zip(documents, names, strict=True):
        document.name = name
        document.is_named = True


def _find_tokens(
    annotations: Sequence[Annotation], words_by_name: Mapping[str, Sequence[str]]
) -> None:
    """Give every document tokens: its own, or those of another file, or else words of its text."""
    known_words = {name: list(words) for name, words in words_by_name.items() if words}
    for annotation in annotations:
        _name_in_order(annotation.documents, list(words_by_name))
        for document in annotation.documents:
            if document.tokens is not None:
                known_words.setdefault(document.name, list_words(document))
    unknown = []
    for annotation in annotations:
        problems = ProblemList()
        for document in annotation.documents:
            words = known_words.get(document.name)
            if document.tokens is not None:
                continue
            if words is None:
                unknown.append(document)
                continue
            positions = locate_words(document.text, words)
            if isinstance(positions, str):
                message = f"document {quote(document.name)}: the text is {positions}"
                problems.add(message, file=document.file)
            else:
                document.tokens = positions
                document.words = words
        problems.raise_any(annotation.name)
    split = split_at_blanks if are_words_separated(unknown) else split_unicode_words
    for document in unknown:
        document.tokens = split(document.text)


def list_words(document: StandoffDocument) -> list[str]:
    """Return the words of a document's tokens."""
    if document.words is not None:
        return document.words
    return [document.text[begin:end] for begin, end in document.tokens or ()]


# Entities


class StandoffWords(ListedWords):
    """The words of a document of an annotation tool, and how its sentences are laid out."""

    has_layout = True

    def __init__(self, words: Sequence[str], document: StandoffDocument) -> None:
        """Take the words and the document that they are of."""
        super().__init__(words)
        self._document = document

    def list_sentences(self) -> list[SentenceLayout]:
        """Return the sentences; none if the file doesn't say where they are."""
        return self._document.list_sentences()

    def read_layout(self) -> WordLayout:
        """Return the sentences and the words that no blank follows, if the file says where sentences are."""
        starts: list[int] = []
        glued: list[int] = []
        token = 0
        for sentence in self.list_sentences():
            starts.append(token)
            for offsets, following in pairwise(sentence.offsets):
                if offsets[1] == following[0]:
                    glued.append(token)
                token += 1
            token += 1
        return WordLayout(starts, glued) if starts else WordLayout()


class _Counts(Counter[str]):
    """How many mentions are not as they are in the file, or not there at all."""

    def describe(self) -> Iterator[str]:
        """Yield a sentence on each kind."""
        if self["widened"]:
            yield f"{pluralize(self['widened'], 'mention')} widened to whole words."
        if self["lost"]:
            mentions = pluralize(self["lost"], "widened mention")
            yield f"{mentions} left out: another mention has the same words."
        if self["empty"]:
            yield f"{pluralize(self['empty'], 'mention')} without any text left out."
        if self["dangling"]:
            links = pluralize(self["dangling"], "link")
            yield f"{links} to annotation that is not in the file left out."


def _make_annotator(
    annotation: Annotation, models: Sequence[Model], mention_layers: set[str] | None
) -> Documents:
    counts = _Counts()
    documents: list[Document] = []
    notices: list[str] = []
    problems = ProblemList()
    files_by_name: dict[str, str | None] = {}
    for document in annotation.documents:
        if document.name in files_by_name:
            before = files_by_name[document.name]
            also = f" (also in {before})" if before else ""
            problems.add(f"duplicate document {quote(document.name)}{also}", file=document.file)
        files_by_name[document.name] = document.file
        counts["dangling"] += document.n_dangling
        notices += document.notices
        documents.append(_make_document(document, models, mention_layers, counts))
    problems.raise_any(annotation.name)
    notices += _describe_unlinked(annotation, mention_layers)
    notices += counts.describe()
    of_source = [f"{annotation.source}: {notice}" for notice in annotation.notices]
    of_annotator = [f"{annotation.name}: {notice}" for notice in dict.fromkeys(notices)]
    return Documents(documents, [*of_source, *of_annotator])


def _describe_unlinked(annotation: Annotation, mention_layers: set[str] | None) -> Iterator[str]:
    """Say which labels are in no link, so that their spans are no mentions; layers of UIMA have names with dots."""
    if not mention_layers:
        return
    unlinked: Counter[str] = Counter()
    for document in annotation.documents:
        labels = (span.layer for span in document.spans.values())
        unlinked.update(label for label in labels if label not in mention_layers)
    listed = [f"{label} {n:,}" for label, n in unlinked.most_common() if "." not in label]
    if listed:
        advice = advise("; name them with {layer} to read them")
        yield f"labels in no link, whose spans are no mentions: {', '.join(listed)}{advice}."


class _PlacedSpan(NamedTuple):
    """A span as a mention, and whether it covers more than the span did."""

    mention: Mention
    is_widened: bool

    @property
    def place(self) -> tuple[Span, ...]:
        """The first and the last token of each part."""
        return self.mention.spans


def _make_document(
    document: StandoffDocument,
    models: Sequence[Model],
    mention_layers: set[str] | None,
    counts: _Counts,
) -> Document:
    grouped, single = group_spans(document, models, mention_layers) if models else ([], [])
    finder = TokenFinder(document.tokens or ())
    places: set[tuple[Span, ...]] = set()
    spans_by_entity: list[list[_PlacedSpan]] = []
    for entity in grouped:
        placed = _place_spans(document, entity.spans, finder, counts)
        spans_by_entity.append(placed)
        places.update(span.place for span in placed if not span.is_widened)
    entities: list[Entity] = []
    for entity, placed in zip(grouped, spans_by_entity, strict=True):
        mentions: dict[tuple[Span, ...], Mention] = {}
        for span in placed:
            # A mention that was widened gives way to one that has just these words.
            if span.is_widened and span.place in places and span.place not in mentions:
                counts["lost"] += 1
                continue
            places.add(span.place)
            mentions.setdefault(span.place, span.mention)
        if mentions:
            entities.append(Entity(entity.label, sorted(mentions.values())))
    for span in _place_spans(document, single, finder, counts):
        # The same words may be marked twice, in a layer of their own.
        if span.place not in places:
            places.add(span.place)
            entities.append(Entity("", [span.mention]))
    entities.sort(key=_first_mention)
    words = list_words(document)
    return Document(
        document.name,
        entities,
        len(words),
        StandoffWords(words, document),
        file=document.file,
        is_named=document.is_named,
    )


def _first_mention(entity: Entity) -> Mention:
    return entity.mentions[0]


def _place_spans(
    document: StandoffDocument,
    keys: Iterable[Hashable],
    finder: TokenFinder,
    counts: _Counts,
) -> list[_PlacedSpan]:
    """Return the tokens of spans, without those that have no text."""
    placed = []
    for key in keys:
        span = document.spans[key]
        runs, is_widened = finder.find(span.parts)
        if not runs:
            counts["empty"] += 1
            continue
        counts["widened"] += is_widened
        head = None
        if span.head is not None:
            heads, _ = finder.find([span.head])
            head = heads[0][0]
        placed.append(_PlacedSpan(make_mention(runs, head=head), is_widened))
    return placed
