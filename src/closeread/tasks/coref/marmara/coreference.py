"""The coreference of documents in XML, as the corpus is released: mentions by sentence and words, and chains.

Source: Schüller et al. (2018) and the files of the corpus, which have no text of their own.

Conventions: words of a mention are counted as the treebank does (IX), the last one included; the text of an element is
for readers.  A mention may be in no chain.  An annotation's document is that of the sentences it names.  Where several
annotations point into one document and do not interleave, the document is cut before the first sentence that each but
the first of them names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize
from xml.sax.saxutils import escape, quoteattr

from closeread.exceptions import FormatError, Problem, ProblemList, join_names, pluralize, quote
from closeread.formats.xml_tree import Element, check_characters, read_xml
from closeread.records import Record
from closeread.tasks.coref.marmara.documents import Annotation, Mention, find_overlaps, list_forms, number_words
from closeread.tasks.coref.marmara.treebank import Treebank, find_document_id, number_names

SUFFIXES = (".xml", ".xml.gz")
WORD = re.compile("-?[0-9]{1,100}")
APOSTROPHES = re.compile("[’‘`´ʼ]")
SPACES = re.compile(r"[\s_]+")


class Annotations(NamedTuple):
    """The contents of coreference files.

    Attributes:
        annotations: one for each file that could be read, without what is wrong with it.
        problems, notices: errors, and what is odd, with their file.
    """

    annotations: list[Annotation]
    problems: list[Problem]
    notices: list[Problem]


class Part(NamedTuple):
    """A document, or a part of one that was cut.

    Attributes:
        file: the file of its annotation; that of its sentences if it has none.
        sentences: its sentences, at least one.
        annotation: its annotation; None if it has none.
    """

    file: str
    sentences: Sequence[Record]
    annotation: Annotation | None


class Parts(NamedTuple):
    """The documents of a treebank with their annotations.

    Attributes:
        parts: the documents by name, in order.
        problems, notices: errors, and what is odd, with their file.
        text_notices: mentions with another text than their words, with their file.
    """

    parts: Mapping[str, Part]
    problems: list[Problem]
    notices: list[Problem]
    text_notices: list[Problem]


def read_annotations(files: Mapping[str, Path]) -> Annotations:
    """Read coreference files, by the names that messages show; find what is wrong that takes no treebank to see."""
    found = Annotations([], ProblemList(), [])
    for name, path in files.items():
        if not name.endswith(SUFFIXES):
            found.notices.append(Problem(f"is ignored (expected a name ending in {SUFFIXES[0]})", None, name))
            continue
        try:
            root = read_xml(path)
        except FormatError as error:
            found.problems.extend(problem._replace(file=name) for problem in error.problems)
        else:
            found.annotations.append(_read_annotation(name, root, found))
    if not found.annotations and not found.problems:
        found.problems.append(Problem(f"contains no coreference files (expected files ending in {SUFFIXES[0]})"))
    return found


def _read_annotation(name: str, root: Element, found: Annotations) -> Annotation:
    """Return what is right with a coreference file; add errors, and what is odd."""
    if root.name != "coref":
        found.problems.append(Problem(f"the root element is {quote(root.name)} (expected coref)", 1, name))
        return Annotation(name, [], [])

    def list_children(parents: Sequence[Element], *names: str) -> list[Element]:
        for parent in parents:
            for child in parent.content:
                if isinstance(child, str):
                    if child.strip():
                        what = f"the text {quote(child.strip())} outside a mention is ignored"
                        found.notices.append(Problem(what, parent.line, name))
                elif child.name not in names:
                    what = f"the element {quote(child.name)} is ignored (expected {' and '.join(names)})"
                    found.notices.append(Problem(what, child.line, name))
        return [child for parent in parents for child in parent.elements() if child.name in names]

    parts = list_children([root], "mentions", "chains")
    mentions = _read_mentions(name, list_children([one for one in parts if one.name == "mentions"], "mention"), found)
    lines: dict[str, int] = {}  # of the first reference to each mention
    chains = [
        _read_chain(name, element, list_children([element], "mention"), mentions, lines, found)
        for element in list_children([one for one in parts if one.name == "chains"], "chain")
    ]
    return Annotation(name, list(mentions.values()), chains)


def _read_mentions(file: str, elements: Sequence[Element], found: Annotations) -> dict[str, Mention]:
    """Return the mentions by id; one with a wrong span is kept, so that references to it are not wrong."""
    mentions: dict[str, Mention] = {}
    spans: dict[tuple[str, int, int], Mention] = {}
    for element in elements:
        m_id, sentence = (element.attributes.get(name, "").strip() for name in ("id", "sentenceNo"))
        wrong = [f"has no {name}" for name, value in (("id", m_id), ("sentenceNo", sentence)) if not value]
        words = []
        for attribute in ("fromWordIX", "toWordIX"):
            text = element.attributes.get(attribute)
            is_number = text is not None and WORD.fullmatch(text.strip())
            words.append(int(text) if text is not None and is_number else 0)
            if text is None:
                wrong.append(f"has no {attribute}")
            elif not is_number:
                wrong.append(f"{attribute} {quote(text)} is not a number")
            elif words[-1] < 1:
                wrong.append(f"{attribute} is {words[-1]} (expected 1 or more)")
        first, last = (max(word, 0) for word in words)
        if first > last > 0:
            wrong.append(f"fromWordIX is {first}, after toWordIX {last}")
        if m_id in mentions:
            wrong.append(f"its id is already used on line {mentions[m_id].line}")
        mention = Mention(m_id, sentence, first, last, element.text().strip(), element.line)
        if not wrong and (same := spans.setdefault((sentence, first, last), mention)) is not mention:
            wrong.append(f"has the same words as mention {quote(same.id)} on line {same.line}")
        found.problems.extend(Problem(f"{mention.name}: {what}", element.line, file) for what in wrong)
        if m_id:
            mentions.setdefault(m_id, mention)
    return mentions


def _read_chain(
    file: str,
    element: Element,
    references: Sequence[Element],
    mentions: Mapping[str, Mention],
    lines: dict[str, int],
    found: Annotations,
) -> list[str]:
    """Return the ids of a chain without wrong references; `lines` are those of the references to mentions so far."""
    chain: list[Mention] = []
    for reference in references:
        m_id = reference.attributes.get("mentionId", "").strip()
        mention = mentions.get(m_id)
        if not m_id:
            found.problems.append(Problem("mention of a chain: has no mentionId", reference.line, file))
        elif mention is None:
            what = f"mention {quote(m_id)} of a chain: no mention has this id"
            found.problems.append(Problem(what, reference.line, file))
        elif m_id in lines:
            what = f"{mention.name}: is already in a chain on line {lines[m_id]}"
            found.problems.append(Problem(what, reference.line, file))
        else:
            lines[m_id] = reference.line
            chain.append(mention)
            text = reference.text().strip()
            if text and text != mention.text and normalize_text(text) != normalize_text(mention.text):
                differs = f"the text in the chain is {quote(text)}, that of the mention {quote(mention.text)}"
                found.notices.append(Problem(f"{mention.name}: {differs}", reference.line, file))
    if len(references) < 2:
        named = "".join(f", {quote(one.attributes.get('mentionId', ''))}" for one in references)
        what = f"the chain has {pluralize(len(references), 'mention')}{named} (expected two or more)"
        found.problems.append(Problem(what, element.line, file))
    spans: dict[str, list[tuple[int, int, int]]] = {}  # first and last word, and place in the chain, by sentence
    for place, mention in enumerate(chain):
        if 0 < mention.first <= mention.last:  # else an error already
            spans.setdefault(mention.sentence, []).append((mention.first, mention.last, place))
    overlapping: dict[int, int] = {}
    for sentence in sorted(spans):
        for one, other in find_overlaps(spans[sentence]):
            earlier, later = sorted((one[2], other[2]))
            overlapping.setdefault(later, earlier)
    for later, earlier in overlapping.items():
        first, second = chain[earlier], chain[later]
        what = f"{second.name}: overlaps mention {quote(first.id)} of the same chain (line {lines[first.id]})"
        found.problems.append(Problem(what, lines[second.id], file))
    return [mention.id for mention in chain]


def normalize_text(text: str) -> str:
    """Return what is compared of a mention's text: blanks and `_` are alike, and so are apostrophes.

    >>> normalize_text(" Ayşe’nin_evi  ") == normalize_text("Ayşe'nin evi")
    True
    """
    return SPACES.sub(" ", APOSTROPHES.sub("'", normalize("NFC", text))).strip()


def dump_annotation(document: Record) -> str:
    """Return a record as the text of a coreference file; a ValueError if XML can't represent a character."""
    forms = list_forms(document)
    lines = ["<coref>", "<mentions>"]
    references = {}
    for one in document["mentions"]:
        text, m_id = escape(" ".join(forms[one["start"] : one["end"] + 1])), quoteattr(one["id"])
        place = f"id={m_id} sentenceNo={quoteattr(one['sentence'])}"
        lines.append(f'<mention fromWordIX="{one["from"]}" {place} toWordIX="{one["to"]}">{text}</mention>')
        references[one["start"], one["end"]] = f"<mention mentionId={m_id}>{text}</mention>"
    lines += ["</mentions>", "<chains>"]
    for cluster in document["clusters"]:
        lines += ["<chain>", *(references[start, end] for start, end in cluster), "</chain>"]
    text = "\n".join([*lines, "</chains>", "</coref>", ""])
    check_characters(text)
    return text


def assign_annotations(treebank: Treebank, annotations: Sequence[Annotation]) -> Parts:
    """Find the document of every annotation, check the mentions against its words, and cut documents."""
    places = {
        sentence["number"]: (name, place)
        for name, sentences in treebank.documents.items()
        for place, sentence in enumerate(sentences)
    }
    parts = Parts({}, [], [], [])
    located: dict[str, list[tuple[int, int, Annotation]]] = {}  # by document, the first and last sentence named
    for annotation in annotations:
        strangers: dict[str, Mention] = {}  # the first mention in each document
        for mention in annotation.mentions:
            if mention.sentence in places:
                name, place = places[mention.sentence]
                strangers.setdefault(name, mention)
                _check_mention(mention, annotation.file, treebank.documents[name][place], treebank, parts)
            elif mention.sentence:
                what = f"{mention.name}: the treebank has no such sentence"
                parts.problems.append(Problem(what, mention.line, annotation.file))
        if strangers:
            document, *others = strangers
            for other in others:
                what = f"is in document {quote(other)}, but the first mention of the file in {quote(document)}"
                what = f"{strangers[other].name}: {what} (expected one document)"
                parts.problems.append(Problem(what, strangers[other].line, annotation.file))
            found = (places[one.sentence] for one in annotation.mentions if one.sentence in places)
            numbers = [place for name, place in found if name == document]
            located.setdefault(document, []).append((min(numbers), max(numbers), annotation))
        elif not annotation.mentions:
            what = "has no mentions, so it belongs to no document"
            parts.notices.append(Problem(what, None, annotation.file))
    every: list[Part] = []
    for name, sentences in treebank.documents.items():
        if name in located:
            every += _cut(name, sentences, sorted(located[name], key=lambda one: one[:2]), parts)
        else:
            every.append(Part(treebank.files[name], sentences, None))
    names = number_names(find_document_id(part.sentences[0]["number"]) for part in every)
    if bare := [name for name, part in zip(names, every, strict=True) if part.annotation is None]:
        parts.notices.append(Problem(f"{pluralize(len(bare), 'document')} without coreference: {join_names(bare)}"))
    return parts._replace(parts=dict(zip(names, every, strict=True)))


def _check_mention(mention: Mention, file: str, sentence: Record, treebank: Treebank, parts: Parts) -> None:
    """Add what is wrong or odd about a mention, given its sentence."""
    numbers = number_words(sentence, treebank.word_numbers)
    wrong = [
        f"{attribute} is {word}, but the sentence has words {numbers[0]} to {numbers[-1]}"
        if word > numbers[-1]
        else f"{attribute} is {word}, but the sentence has no such word"
        for attribute, word in (("fromWordIX", mention.first), ("toWordIX", mention.last))
        if word > 0 and word not in numbers
    ]
    parts.problems.extend(Problem(f"{mention.name}: {what}", mention.line, file) for what in wrong)
    if wrong or not 0 < mention.first <= mention.last:
        return
    words = sentence["tokens"][numbers.index(mention.first) : numbers.index(mention.last) + 1]
    text = " ".join(token["form"] for token in words)
    if text != mention.text and normalize_text(text) != normalize_text(mention.text):
        what = f"{mention.name}: the text is {quote(mention.text)}, the words are {quote(text)}"
        parts.text_notices.append(Problem(what, mention.line, file))


def _cut(
    name: str, sentences: Sequence[Record], located: Sequence[tuple[int, int, Annotation]], parts: Parts
) -> list[Part]:
    """Return the parts of a document, one for each of its annotations, which are in order."""
    starts = [0, *(first for first, _, _ in located[1:]), len(sentences)]
    cut = []
    last, before = located[0][1:]
    for number, (first, own_last, annotation) in enumerate(located):
        if number and first <= last:
            what = f"its sentences interleave with those of {before.file}, in document {quote(name)}"
            parts.problems.append(Problem(f"{what} (expected one file for each document)", None, annotation.file))
        elif number:
            what = f"document {quote(name)} is cut before sentence {quote(sentences[first]['number'])}"
            parts.notices.append(Problem(f"{what}, where this file begins", None, annotation.file))
        if own_last > last:
            last, before = own_last, annotation
        part = sentences[starts[number] : starts[number + 1]]
        if part:  # empty only if files interleave
            cut.append(Part(annotation.file, part, annotation))
    return cut
