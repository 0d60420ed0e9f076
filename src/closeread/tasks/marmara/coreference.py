"""The coreference of documents in XML, as the corpus is released: mentions by sentence and words, and chains.

Source: Schüller et al. (2018) and the files of the corpus, which have no text of their own.

Conventions: words of a mention are counted as the treebank does (IX), the last one included; the text of an element is
for readers.  A mention may be in no chain.  An annotation's document is that of the sentences it names.  Where several
annotations point into one document and do not interleave, the document is cut before the first sentence that each but
the first of them names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize
from xml.sax.saxutils import escape, quoteattr

from closeread.exceptions import FormatError, Problem, ProblemList, join_names, pluralize, quote
from closeread.formats.xml_tree import Element, check_characters, read_xml
from closeread.records import Record
from closeread.tasks.marmara.documents import (
    Annotation,
    Mention,
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


class Annotations(NamedTuple):
    """The contents of coreference files."""

    annotations: list[Annotation]  # of each file that could be read, without its errors
    problems: list[Problem]  # with their file, as are notices
    notices: list[Problem]


class AnnotatedTreebank(NamedTuple):
    """The documents of a treebank with their annotations; problems and notices have a file."""

    documents: list[Record]  # without genre, in order
    files: list[str]  # of the annotation of each, or of its sentences if it has none
    problems: list[Problem]
    notices: list[Problem]  # on annotation that was cut, left out or dropped
    text_notices: list[Problem]  # mentions with another text than their words
    rest: list[Problem]  # a notice about the documents without coreference, if there are any


def read_annotations(files: Mapping[str, Path]) -> Annotations:
    """Read coreference files, by their names in messages, and find errors that are visible without a treebank."""
    found = Annotations([], ProblemList(), [])
    for name, path in files.items():
        if not name.endswith(SUFFIXES):
            found.notices.append(
                Problem(f"is ignored (expected a name ending in {SUFFIXES[0]})", None, name)
            )
            continue
        try:
            root = read_xml(path)
        except FormatError as error:
            found.problems.extend(problem._replace(file=name) for problem in error.problems)
        else:
            found.annotations.append(_read_annotation(name, root, found))
    if not found.annotations and not found.problems:
        found.problems.append(
            Problem(f"contains no coreference files (expected files ending in {SUFFIXES[0]})")
        )
    return found


def _read_annotation(file: str, root: Element, found: Annotations) -> Annotation:
    """Return the valid annotation of a coreference file; add errors and oddities."""

    def report(what: str, line: int) -> None:
        found.problems.append(Problem(what, line, file))

    list_inside = partial(list_children, file=file, outside="a mention", notices=found.notices)
    if root.name != "coref":
        report(f"the root element is {quote(root.name)} (expected coref)", 1)
        return Annotation(file, [], [])
    parts = list_inside([root], "mentions", "chains")
    # A mention with a wrong span is kept, so that references to it are not wrong.
    mentions: dict[str, Mention] = {}
    spans: dict[tuple[str, int, int], Mention] = {}
    for element in list_inside([one for one in parts if one.name == "mentions"], "mention"):
        mention, wrong = _read_mention(element)
        if mention.id in mentions:
            wrong.append(f"its id is already used on line {mentions[mention.id].line}")
        same = (
            mention
            if wrong
            else spans.setdefault((mention.sentence, mention.first, mention.last), mention)
        )
        if same is not mention:
            wrong.append(f"has the same words as mention {quote(same.id)} on line {same.line}")
        for what in wrong:
            report(f"{mention.name}: {what}", mention.line)
        if mention.id:
            mentions.setdefault(mention.id, mention)
    lines: dict[str, int] = {}  # of the first reference to each mention
    chains: list[list[str]] = []
    for element in list_inside([one for one in parts if one.name == "chains"], "chain"):
        references = list_inside([element], "mention")
        chain: list[Mention] = []
        for reference in references:
            m_id, text = reference.attributes.get("mentionId", "").strip(), reference.text().strip()
            if not m_id:
                report("mention of a chain: has no mentionId", reference.line)
            elif m_id not in mentions:
                report(f"mention {quote(m_id)} of a chain: no mention has this id", reference.line)
            elif m_id in lines:
                report(
                    f"{mentions[m_id].name}: is already in a chain on line {lines[m_id]}",
                    reference.line,
                )
            else:
                mention = mentions[m_id]
                lines[m_id] = reference.line
                chain.append(mention)
                if text and normalize_text(text) != normalize_text(mention.text):
                    differs = f"the text in the chain is {quote(text)}, that of the mention {quote(mention.text)}"
                    found.notices.append(
                        Problem(f"{mention.name}: {differs}", reference.line, file)
                    )
        if len(references) < 2:
            named = "".join(f", {quote(one.attributes.get('mentionId', ''))}" for one in references)
            report(
                f"the chain has {pluralize(len(references), 'mention')}{named} (expected two or more)",
                element.line,
            )
        for first, second in _find_overlapping(chain):
            overlaps = (
                f"overlaps mention {quote(first.id)} of the same chain (line {lines[first.id]})"
            )
            report(f"{second.name}: {overlaps}", lines[second.id])
        chains.append([mention.id for mention in chain])
    return Annotation(file, list(mentions.values()), chains)


def _read_mention(element: Element) -> tuple[Mention, list[str]]:
    """Return a mention, in which a wrong word is 0, and its own errors."""
    m_id, sentence = (element.attributes.get(name, "").strip() for name in ("id", "sentenceNo"))
    wrong = [
        f"has no {name}" for name, value in (("id", m_id), ("sentenceNo", sentence)) if not value
    ]
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
    return Mention(m_id, sentence, first, last, element.text().strip(), element.line), wrong


def _find_overlapping(chain: Sequence[Mention]) -> Iterator[tuple[Mention, Mention]]:
    """Find the mentions of a chain that overlap one that stands earlier in it; return both, the earlier one first."""
    # first and last word, and place in the chain, by sentence
    spans: dict[str, list[tuple[int, int, int]]] = {}
    for place, mention in enumerate(chain):
        if 0 < mention.first <= mention.last:  # else an error already
            spans.setdefault(mention.sentence, []).append((mention.first, mention.last, place))
    overlapping: dict[int, int] = {}
    for _, of_sentence in sorted(spans.items()):
        for one, other in find_overlaps(of_sentence):
            earlier, later = sorted((one[2], other[2]))
            overlapping.setdefault(later, earlier)
    yield from ((chain[earlier], chain[later]) for later, earlier in overlapping.items())


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
    for one in document["mentions"]:
        text, m_id = escape(" ".join(forms[one["start"] : one["end"] + 1])), quoteattr(one["id"])
        place = f"id={m_id} sentenceNo={quoteattr(one['sentence'])}"
        lines.append(
            f'<mention fromWordIX="{one["from"]}" {place} toWordIX="{one["to"]}">{text}</mention>'
        )
        references[one["start"], one["end"]] = f"<mention mentionId={m_id}>{text}</mention>"
    lines += ["</mentions>", "<chains>"]
    for cluster in document["clusters"]:
        lines += ["<chain>", *(references[start, end] for start, end in cluster), "</chain>"]
    text = "\n".join([*lines, "</chains>", "</coref>", ""])
    check_characters(text)
    return text


def annotate_documents(
    treebank: Treebank, found: Annotations, *, annotated_only: bool = False
) -> AnnotatedTreebank:
    """Find the document of every annotation, check the mentions against its words, and cut documents.

    There are no documents if anything is wrong; `annotated_only` leaves out those without an annotation.
    """
    places = {
        sentence["number"]: (name, place)
        for name, sentences in treebank.documents.items()
        for place, sentence in enumerate(sentences)
    }
    made = AnnotatedTreebank([], [], [], [], [], [])
    # by document, the first and last sentence named
    located: dict[str, list[tuple[int, int, Annotation]]] = {}
    # the mentions of each file, by place in the sentence
    spans: dict[str, list[tuple[str, str, tuple[int, int]]]] = {}
    for annotation in found.annotations:
        named: dict[str, list[int]] = {}  # the sentences of each document
        for mention in annotation.mentions:
            if mention.sentence in places:
                name, place = places[mention.sentence]
                if name not in named and named:
                    home = f"is in document {quote(name)}, but the first mention of the file in {quote(next(iter(named)))}"
                    what = f"{mention.name}: {home} (expected one document)"
                    made.problems.append(Problem(what, mention.line, annotation.file))
                named.setdefault(name, []).append(place)
                span = _find_span(
                    mention, annotation.file, treebank, treebank.documents[name][place], made
                )
                spans.setdefault(annotation.file, []).append((mention.id, mention.sentence, span))
            elif mention.sentence:
                what = f"{mention.name}: the treebank has no such sentence"
                made.problems.append(Problem(what, mention.line, annotation.file))
        if named:
            name, of_first = next(iter(named.items()))
            located.setdefault(name, []).append((min(of_first), max(of_first), annotation))
        elif not annotation.mentions:
            what = "has no mentions, so it belongs to no document"
            made.notices.append(Problem(what, None, annotation.file))
    parts: list[tuple[list[Record], Annotation | None, str]] = []
    for name, sentences in treebank.documents.items():
        ordered = sorted(located.get(name, ()), key=lambda one: one[:2])
        if not ordered:
            parts.append((sentences, None, treebank.files[name]))
        made.problems.extend(find_interleaving(name, ordered))
        starts = [0, *(first for first, _, _ in ordered[1:]), len(sentences)]
        for number, (first, _, annotation) in enumerate(ordered):
            if number:
                what = f"document {quote(name)} is cut before sentence {quote(sentences[first]['number'])}"
                made.notices.append(
                    Problem(f"{what}, where this file begins", None, annotation.file)
                )
            # empty only if files interleave
            if part := sentences[starts[number] : starts[number + 1]]:
                parts.append((part, annotation, annotation.file))
    names = number_names(find_document_id(part[0]["number"]) for part, _, _ in parts)
    if bare := [
        name for name, (_, annotation, _) in zip(names, parts, strict=True) if annotation is None
    ]:
        made.rest.append(
            Problem(f"{pluralize(len(bare), 'document')} without coreference: {join_names(bare)}")
        )
    if found.problems or made.problems:
        return made
    for name, (part, its_annotation, file) in zip(names, parts, strict=True):
        if its_annotation or not annotated_only:
            index = {sentence["number"]: place for place, sentence in enumerate(part)}
            mentions = (
                [(m_id, index[one], span) for m_id, one, span in spans[file]]
                if its_annotation
                else []
            )
            chains = its_annotation.chains if its_annotation else []
            made.documents.append(
                make_document(name, part, mentions, chains, treebank.word_numbers)
            )
            made.files.append(file)
    return made


def _find_span(
    mention: Mention, file: str, treebank: Treebank, sentence: Record, made: AnnotatedTreebank
) -> tuple[int, int]:
    """Return the first and last token of a mention in its sentence, from 0; add its errors and oddities."""
    numbers = number_words(sentence, treebank.word_numbers)
    wrong = False
    for attribute, word in (("fromWordIX", mention.first), ("toWordIX", mention.last)):
        if word > 0 and word not in numbers:
            wrong = True
            has = f"words {numbers[0]} to {numbers[-1]}" if word > numbers[-1] else "no such word"
            what = f"{mention.name}: {attribute} is {word}, but the sentence has {has}"
            made.problems.append(Problem(what, mention.line, file))
    if wrong or not 0 < mention.first <= mention.last:
        return 0, 0
    first, last = numbers.index(mention.first), numbers.index(mention.last)
    text = " ".join(token["form"] for token in sentence["tokens"][first : last + 1])
    if text != mention.text and normalize_text(text) != normalize_text(mention.text):
        what = f"{mention.name}: the text is {quote(mention.text)}, the words are {quote(text)}"
        made.text_notices.append(Problem(what, mention.line, file))
    return first, last


def find_interleaving(
    document: str, located: Sequence[tuple[Any, Any, Annotation]]
) -> Iterator[Problem]:
    """Find the files of a document, ordered by their first sentences, that begin before the last of an earlier one.

    Args:
        document: the name of the document.
        located: the first and the last sentence of each file, in any numbers that can be compared.
    """
    last: tuple[Any, Annotation] | None = None
    for first, own_last, annotation in located:
        if last and first <= last[0]:
            what = f"its sentences interleave with those of {last[1].file}, in document {quote(document)}"
            yield Problem(f"{what} (expected one file for each document)", None, annotation.file)
        if not last or own_last > last[0]:
            last = own_last, annotation
