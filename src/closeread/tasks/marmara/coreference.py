"""The coreference of documents in XML, as the corpus is released: mentions by sentence and words, and chains.

Source: Schüller et al. (2018) and the files of the corpus, which have no text of their own.

Conventions: words of a mention are counted as the treebank does (IX), the last one included; the text of an element is
for readers.  A mention may be in no chain.  An annotation's document is that of the sentences it names.  Where several
annotations point into one document and do not interleave, the document is cut before the first sentence that each but
the first of them names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize
from xml.sax.saxutils import escape, quoteattr

from closeread.exceptions import Problem, join_names, pluralize, quote
from closeread.formats.xml_tree import Element, check_characters, read_xml
from closeread.records import Record
from closeread.tasks.marmara.documents import (
    Annotation,
    Mention,
    Notes,
    PlacedMention,
    Span,
    find_overlaps,
    list_forms,
    make_document,
    number_words,
)
from closeread.tasks.marmara.treebank import (
    Treebank,
    find_document_id,
    list_children,
    number_names,
)

SUFFIXES = (".xml", ".xml.gz")
WORD = re.compile("-?[0-9]{1,100}")
APOSTROPHES = re.compile("[’‘`´ʼ]")
SPACES = re.compile(r"[\s_]+")


class AnnotatedDocument(NamedTuple):
    """A document of a treebank with its annotation.

    Attributes:
        record: the document, without its genre.
        file: the file of its annotation, or of its sentences if it has none.
    """

    record: Record
    file: str


def read_annotations(files: Mapping[str, Path], notes: Notes) -> list[Annotation]:
    """Read coreference files, by their names in messages, and find errors that are visible without a treebank.

    Returns:
        The contents of each file that could be read, without its errors.
    """
    annotations: list[Annotation] = []
    for name, path in files.items():
        of_file = notes.on(name)
        if not name.endswith(SUFFIXES):
            of_file.note(f"is ignored (expected a name ending in {SUFFIXES[0]})")
            continue
        with of_file.catching():
            annotations.append(_read_annotation(read_xml(path), of_file))
    if not annotations and not notes.problems:
        notes.report(f"contains no coreference files (expected files ending in {SUFFIXES[0]})")
    return annotations


def _read_annotation(root: Element, notes: Notes) -> Annotation:
    """Return the valid annotation of a coreference file."""
    if root.name != "coref":
        notes.report(f"the root element is {quote(root.name)} (expected coref)", 1)
        return Annotation(notes.file, [], [])
    parts = list_children([root], "mentions", "chains", outside="a mention", notes=notes)
    mentions = _read_mentions((part for part in parts if part.name == "mentions"), notes)
    chains = _read_chains((part for part in parts if part.name == "chains"), mentions, notes)
    return Annotation(notes.file, list(mentions.values()), chains)


def _read_mentions(parts: Iterable[Element], notes: Notes) -> dict[str, Mention]:
    """Return the mentions by id; one with a wrong span is kept, so that references to it are not wrong."""
    mentions: dict[str, Mention] = {}
    by_span: dict[tuple[str, int, int], Mention] = {}
    for node in list_children(parts, "mention", outside="a mention", notes=notes):
        mention, errors = _read_mention(node)
        if mention.id in mentions:
            errors.append(f"its id is already used on line {mentions[mention.id].line}")
        if not errors:
            span = (mention.sentence, mention.first, mention.last)
            first = by_span.setdefault(span, mention)
            if first is not mention:
                errors.append(
                    f"has the same words as mention {quote(first.id)} on line {first.line}"
                )
        for error in errors:
            notes.report(f"{mention.name}: {error}", mention.line)
        if mention.id:
            mentions.setdefault(mention.id, mention)
    return mentions


def _read_mention(node: Element) -> tuple[Mention, list[str]]:
    """Return a mention, in which a wrong word is 0, and its own errors."""
    errors: list[str] = []
    mention_id = _read_name(node, "id", errors)
    sentence = _read_name(node, "sentenceNo", errors)
    first = _read_word(node, "fromWordIX", errors)
    last = _read_word(node, "toWordIX", errors)
    if first > last > 0:
        errors.append(f"fromWordIX is {first}, after toWordIX {last}")
    text = node.text().strip()
    return Mention(mention_id, sentence, first, last, text, node.line), errors


def _read_name(node: Element, attribute: str, errors: list[str]) -> str:
    name = node.attributes.get(attribute, "").strip()
    if not name:
        errors.append(f"has no {attribute}")
    return name


def _read_word(node: Element, attribute: str, errors: list[str]) -> int:
    """Return the number of a word, from 1; 0, with an error, if it is none."""
    text = node.attributes.get(attribute)
    if text is None:
        errors.append(f"has no {attribute}")
    elif not WORD.fullmatch(text.strip()):
        errors.append(f"{attribute} {quote(text)} is not a number")
    elif int(text) < 1:
        errors.append(f"{attribute} is {int(text)} (expected 1 or more)")
    else:
        return int(text)
    return 0


def _read_chains(
    parts: Iterable[Element], mentions: Mapping[str, Mention], notes: Notes
) -> list[list[str]]:
    """Return the ids of the mentions of each chain."""
    chains: list[list[str]] = []
    # The line of the first reference to each mention.
    lines: dict[str, int] = {}
    for node in list_children(parts, "chain", outside="a mention", notes=notes):
        references = list_children([node], "mention", outside="a mention", notes=notes)
        chain: list[Mention] = []
        for reference in references:
            mention = _find_mention(reference, mentions, lines, notes)
            if mention is not None:
                chain.append(mention)
        if len(references) < 2:
            message = f"the chain has {pluralize(len(references), 'mention')}"
            for reference in references:
                message += f", {quote(reference.attributes.get('mentionId', ''))}"
            notes.report(f"{message} (expected two or more)", node.line)
        for first, second in _find_overlapping(chain):
            other = f"mention {quote(first.id)} of the same chain (line {lines[first.id]})"
            notes.report(f"{second.name}: overlaps {other}", lines[second.id])
        chains.append([mention.id for mention in chain])
    return chains


def _find_mention(
    reference: Element, mentions: Mapping[str, Mention], lines: dict[str, int], notes: Notes
) -> Mention | None:
    """Return the mention to which a chain refers for the first time; None if there is none."""
    mention_id = reference.attributes.get("mentionId", "").strip()
    mention = mentions.get(mention_id)
    if not mention_id:
        error = "mention of a chain: has no mentionId"
    elif mention is None:
        error = f"mention {quote(mention_id)} of a chain: no mention has this id"
    elif mention_id in lines:
        error = f"{mention.name}: is already in a chain on line {lines[mention_id]}"
    else:
        lines[mention_id] = reference.line
        text = reference.text().strip()
        if text and normalize_text(text) != normalize_text(mention.text):
            texts = (
                f"the text in the chain is {quote(text)}, that of the mention {quote(mention.text)}"
            )
            notes.note(f"{mention.name}: {texts}", reference.line)
        return mention
    notes.report(error, reference.line)
    return None


def _find_overlapping(chain: Sequence[Mention]) -> Iterator[tuple[Mention, Mention]]:
    """Find the mentions of a chain that overlap one that stands earlier in it; return both, the earlier one first."""
    # First and last word, and place in the chain.
    spans_by_sentence: dict[str, list[tuple[int, int, int]]] = {}
    for place, mention in enumerate(chain):
        # Any other is an error already.
        if 0 < mention.first <= mention.last:
            span = (mention.first, mention.last, place)
            spans_by_sentence.setdefault(mention.sentence, []).append(span)
    overlapping: dict[int, int] = {}
    for _, spans in sorted(spans_by_sentence.items()):
        for span, other in find_overlaps(spans):
            earlier, later = sorted((span[2], other[2]))
            overlapping.setdefault(later, earlier)
    for later, earlier in overlapping.items():
        yield chain[earlier], chain[later]


def normalize_text(text: str) -> str:
    """Normalize a mention's text for comparison: blanks and `_` are alike, and so are apostrophes.

    >>> normalize_text(" Ayşe’nin_evi  ") == normalize_text("Ayşe'nin evi")
    True
    """
    return SPACES.sub(" ", APOSTROPHES.sub("'", normalize("NFC", text))).strip()


def dump_annotation(document: Record) -> str:
    """Return a record as the text of a coreference file; a ValueError if XML can't represent a character."""
    forms = list_forms(document)
    lines = ["<coref>", "<mentions>"]
    references = {}
    for mention in document["mentions"]:
        span = (mention["start"], mention["end"])
        text = escape(" ".join(forms[span[0] : span[1] + 1]))
        mention_id = quoteattr(mention["id"])
        place = f"id={mention_id} sentenceNo={quoteattr(mention['sentence'])}"
        words = f'<mention fromWordIX="{mention["from"]}" {place} toWordIX="{mention["to"]}">'
        lines.append(f"{words}{text}</mention>")
        references[span] = f"<mention mentionId={mention_id}>{text}</mention>"
    lines += ["</mentions>", "<chains>"]
    for cluster in document["clusters"]:
        lines += ["<chain>", *(references[start, end] for start, end in cluster), "</chain>"]
    text = "\n".join([*lines, "</chains>", "</coref>", ""])
    check_characters(text)
    return text


class _Located(NamedTuple):
    """A coreference file in a document of the treebank.

    Attributes:
        first, last: the first and the last sentence that it names, from 0 in the document.
        annotation: its contents.
        mentions: its mentions, placed.
    """

    first: int
    last: int
    annotation: Annotation
    mentions: list[PlacedMention]


class _Part(NamedTuple):
    """The sentences of a document, or of a part of one, and its coreference file; None if it has none."""

    sentences: Sequence[Record]
    located: _Located | None
    file: str


def annotate_documents(
    treebank: Treebank,
    annotations: Sequence[Annotation],
    notes: Notes,
    *,
    annotated_only: bool = False,
) -> list[AnnotatedDocument]:
    """Find the document of every annotation, check the mentions against its words, and cut documents.

    There are no documents if anything is wrong; `annotated_only` leaves out those without an annotation.
    """
    located = _locate(treebank, annotations, notes)
    parts = _cut_documents(treebank, located, notes)
    names = number_names(find_document_id(part.sentences[0]["number"]) for part in parts)
    bare = [name for name, part in zip(names, parts, strict=True) if part.located is None]
    if bare and not annotated_only:
        notes.note_change(
            f"{pluralize(len(bare), 'document')} without coreference: {join_names(bare)}"
        )
    documents: list[AnnotatedDocument] = []
    if notes.problems:
        return documents
    for name, (sentences, coreference, file) in zip(names, parts, strict=True):
        if coreference is not None:
            content = (coreference.mentions, coreference.annotation.chains)
            record = make_document(name, sentences, *content, treebank.word_numbers)
            documents.append(AnnotatedDocument(record, file))
        elif not annotated_only:
            documents.append(AnnotatedDocument(make_document(name, sentences), file))
    return documents


def _locate(
    treebank: Treebank, annotations: Sequence[Annotation], notes: Notes
) -> dict[str, list[_Located]]:
    """Find the coreference files of each document that has any, by the document of their first mention."""
    places: dict[str, tuple[str, int]] = {}
    for name, sentences in treebank.documents.items():
        for place, sentence in enumerate(sentences):
            places[sentence["number"]] = (name, place)
    located: dict[str, list[_Located]] = {}
    for annotation in annotations:
        of_file = notes.on(annotation.file)
        named: dict[str, list[int]] = {}
        mentions: list[PlacedMention] = []
        for mention in annotation.mentions:
            if mention.sentence not in places:
                if mention.sentence:
                    of_file.report(
                        f"{mention.name}: the treebank has no such sentence", mention.line
                    )
                continue
            name, place = places[mention.sentence]
            if name not in named and named:
                of_file.report(
                    f"{mention.name}: is in document {quote(name)}, but the first mention of the file in "
                    f"{quote(next(iter(named)))} (expected one document)",
                    mention.line,
                )
            named.setdefault(name, []).append(place)
            span = _find_span(mention, treebank, treebank.documents[name][place], of_file)
            mentions.append((mention.id, mention.sentence, span))
        if named:
            name, sentence_places = next(iter(named.items()))
            borders = (min(sentence_places), max(sentence_places))
            located.setdefault(name, []).append(_Located(*borders, annotation, mentions))
        elif not annotation.mentions:
            of_file.note_change("has no mentions, so it belongs to no document")
    return located


def _cut_documents(
    treebank: Treebank, located: Mapping[str, list[_Located]], notes: Notes
) -> list[_Part]:
    """Cut the documents of the treebank before the first sentence of each coreference file but the first."""
    parts: list[_Part] = []
    for name, sentences in treebank.documents.items():
        if name not in located:
            parts.append(_Part(sentences, None, treebank.files[name]))
            continue
        ordered = sorted(located[name], key=lambda coreference: coreference[:2])
        notes.problems.extend(find_interleaving(name, ordered))
        starts = [0, *(coreference.first for coreference in ordered[1:])]
        ends = [*starts[1:], len(sentences)]
        for coreference, start, end in zip(ordered, starts, ends, strict=True):
            file = coreference.annotation.file
            if coreference is not ordered[0]:
                notes.on(file).note_change(
                    f"document {quote(name)} is cut before sentence "
                    f"{quote(sentences[coreference.first]['number'])}, where this file begins"
                )
            # Without sentences only if files interleave.
            if start < end:
                parts.append(_Part(sentences[start:end], coreference, file))
    return parts


def _find_span(mention: Mention, treebank: Treebank, sentence: Record, notes: Notes) -> Span:
    """Return the first and last token of a mention in its sentence, from 0; add its errors and oddities."""
    numbers = number_words(sentence, treebank.word_numbers)
    is_valid = 0 < mention.first <= mention.last
    for attribute, word in (("fromWordIX", mention.first), ("toWordIX", mention.last)):
        if word > 0 and word not in numbers:
            is_valid = False
            has = f"words {numbers[0]} to {numbers[-1]}" if word > numbers[-1] else "no such word"
            notes.report(
                f"{mention.name}: {attribute} is {word}, but the sentence has {has}", mention.line
            )
    if not is_valid:
        return 0, 0
    first = numbers.index(mention.first)
    last = numbers.index(mention.last)
    text = " ".join(token["form"] for token in sentence["tokens"][first : last + 1])
    if text != mention.text and normalize_text(text) != normalize_text(mention.text):
        notes.note(
            f"{mention.name}: the text is {quote(mention.text)}, the words are {quote(text)}",
            mention.line,
        )
    return first, last


def find_interleaving(document: str, located: Iterable[tuple[Any, ...]]) -> Iterator[Problem]:
    """Find the files of a document, ordered by their first sentences, that begin before the last of an earlier one.

    Args:
        document: the name of the document.
        located: the first and the last sentence of each file, in any numbers that can be compared, and its annotation.
    """
    furthest: tuple[Any, Annotation] | None = None
    for first, last, annotation, *_ in located:
        if furthest and first <= furthest[0]:
            yield Problem(
                f"its sentences interleave with those of {furthest[1].file}, in document {quote(document)} "
                "(expected one file for each document)",
                None,
                annotation.file,
            )
        if not furthest or last > furthest[0]:
            furthest = (last, annotation)
