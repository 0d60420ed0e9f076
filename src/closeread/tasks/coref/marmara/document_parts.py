"""Which document of the treebank an annotation belongs to, and the documents that two annotations cut in two.

Conventions: an annotation's document is that of the sentences it names.  Where several annotations point into one
document and do not interleave, the document is cut before the first sentence that each but the first of them names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from closeread.exceptions import Problem, join_names, pluralize, quote
from closeread.tasks.coref.marmara.coreference_xml import describe_mention, normalize_text
from closeread.tasks.coref.marmara.documents import Annotation, Mention, Sentence
from closeread.tasks.coref.marmara.sentence_numbers import find_document_id
from closeread.tasks.coref.marmara.treebank_xml import Treebank, number_names


class Part(NamedTuple):
    """A document, or a part of one that was cut.

    Attributes:
        file: the file of its annotation; that of its sentences if it has none.
        sentences: its sentences, at least one.
        annotation: its annotation; None if it has none.
    """

    file: str
    sentences: Sequence[Sentence]
    annotation: Annotation | None


class Parts(NamedTuple):
    """The documents of a treebank with their annotations.

    Attributes:
        parts: the documents by name, in order.
        problems: errors, with their file.
        notices: what is odd, with its file.
        text_notices: mentions with another text than their words, with their file.
    """

    parts: Mapping[str, Part]
    problems: list[Problem]
    notices: list[Problem]
    text_notices: list[Problem]


class _Place(NamedTuple):
    """Where a sentence is: its document, its place there from 0, and itself."""

    document: str
    place: int
    sentence: Sentence


class _Located(NamedTuple):
    """An annotation, and the places of the first and the last sentence that it names."""

    annotation: Annotation
    first: int
    last: int


def assign_annotations(treebank: Treebank, annotations: Sequence[Annotation]) -> Parts:
    """Find the document of every annotation, check the mentions against its words, and cut documents.

    Args:
        treebank: the treebank.
        annotations: the annotations of all files.
    """
    places = {
        sentence["number"]: _Place(name, place, sentence)
        for name, sentences in treebank.documents.items()
        for place, sentence in enumerate(sentences)
    }
    parts = Parts({}, [], [], [])
    located: dict[str, list[_Located]] = {}
    for annotation in annotations:
        for mention in annotation.mentions:
            _check_mention(mention, annotation.file, places, treebank.word_numbers, parts)
        known = [mention for mention in annotation.mentions if mention.sentence in places]
        if known:
            document = places[known[0].sentence].document
            parts.problems.extend(_find_strangers(known, document, places, annotation.file))
            numbers = [places[one.sentence].place for one in known if places[one.sentence].document == document]
            located.setdefault(document, []).append(_Located(annotation, min(numbers), max(numbers)))
        elif not annotation.mentions:
            what = "has no mentions, so it belongs to no document"
            parts.notices.append(Problem(what, None, annotation.file))
    found: list[Part] = []
    for name, sentences in treebank.documents.items():
        found += _cut(name, sentences, treebank.files[name], located.get(name, []), parts)
    names = number_names(find_document_id(part.sentences[0]["number"]) for part in found)
    bare = [name for name, part in zip(names, found, strict=True) if part.annotation is None]
    if bare:
        parts.notices.append(Problem(f"{pluralize(len(bare), 'document')} without coreference: {join_names(bare)}"))
    return parts._replace(parts=dict(zip(names, found, strict=True)))


def _check_mention(
    mention: Mention,
    file: str,
    places: Mapping[str, _Place],
    word_numbers: Mapping[str, Sequence[int]],
    parts: Parts,
) -> None:
    """Add what is wrong or odd about a mention, given the words of its sentence."""
    if not mention.sentence:
        return
    about = describe_mention(mention.id, mention.sentence)
    if mention.sentence not in places:
        what = f"{about}: the treebank has no such sentence"
        parts.problems.append(Problem(what, mention.line, file))
        return
    tokens = places[mention.sentence].sentence["tokens"]
    numbers = word_numbers.get(mention.sentence, range(1, len(tokens) + 1))
    wrong = [
        f"{attribute} is {word}, but the sentence has words {numbers[0]} to {numbers[-1]}"
        if word > numbers[-1]
        else f"{attribute} is {word}, but the sentence has no such word"
        for attribute, word in (("fromWordIX", mention.first), ("toWordIX", mention.last))
        if word > 0 and word not in numbers
    ]
    parts.problems.extend(Problem(f"{about}: {what}", mention.line, file) for what in wrong)
    if wrong or not 0 < mention.first <= mention.last:
        return
    words = tokens[numbers.index(mention.first) : numbers.index(mention.last) + 1]
    text = " ".join(token["form"] for token in words)
    if text != mention.text and normalize_text(text) != normalize_text(mention.text):
        what = f"{about}: the text is {quote(mention.text)}, the words are {quote(text)}"
        parts.text_notices.append(Problem(what, mention.line, file))


def _find_strangers(
    mentions: Sequence[Mention], document: str, places: Mapping[str, _Place], file: str
) -> list[Problem]:
    """Find the first mention of an annotation in every other document than its first mention's."""
    strangers: dict[str, Mention] = {}
    for mention in mentions:
        strangers.setdefault(places[mention.sentence].document, mention)
    return [
        Problem(
            f"{describe_mention(mention.id, mention.sentence)}: is in document {quote(other)}, but the first mention "
            f"of the file in {quote(document)} (expected one document)",
            mention.line,
            file,
        )
        for other, mention in strangers.items()
        if other != document
    ]


def _cut(name: str, sentences: Sequence[Sentence], file: str, located: Sequence[_Located], parts: Parts) -> list[Part]:
    """Return the parts of a document, one for each of its annotations; one if it has none, or if they interleave."""
    if not located:
        return [Part(file, sentences, None)]
    ordered = sorted(located, key=lambda one: (one.first, one.last))
    starts = [0, *(one.first for one in ordered[1:]), len(sentences)]
    cut = []
    last = ordered[0]
    for number, one in enumerate(ordered):
        if number and one.first <= last.last:
            what = f"its sentences interleave with those of {last.annotation.file}, in document {quote(name)}"
            parts.problems.append(Problem(f"{what} (expected one file for each document)", None, one.annotation.file))
        elif number:
            before = quote(sentences[one.first]["number"])
            what = f"document {quote(name)} is cut before sentence {before}, where this file begins"
            parts.notices.append(Problem(what, None, one.annotation.file))
        last = max(last, one, key=lambda one: one.last)
        part = sentences[starts[number] : starts[number + 1]]
        if part:  # empty only if files interleave
            cut.append(Part(one.annotation.file, part, one.annotation))
    return cut
