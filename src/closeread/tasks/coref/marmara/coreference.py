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
from closeread.tasks.coref.marmara.documents import Annotation, Mention
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


class _Place(NamedTuple):
    """Where a sentence is: its document, its place there from 0, and itself."""

    document: str
    place: int
    sentence: Record


def read_annotations(files: Mapping[str, Path]) -> Annotations:
    """Read coreference files, by the names that messages show; find what is wrong that takes no treebank to see."""
    found = Annotations([], ProblemList(), [])
    for name, path in files.items():
        if not name.endswith(SUFFIXES):
            found.notices.append(Problem(f"is ignored (expected a name ending in {SUFFIXES[0]})", None, name))
            continue
        try:
            annotation, wrong, odd = read_annotation(name, path)
        except FormatError as error:
            found.problems.extend(problem._replace(file=name) for problem in error.problems)
        else:
            found.annotations.append(annotation)
            found.problems.extend(problem._replace(file=name) for problem in wrong)
            found.notices.extend(notice._replace(file=name) for notice in odd)
    if not found.annotations and not found.problems:
        found.problems.append(Problem(f"contains no coreference files (expected files ending in {SUFFIXES[0]})"))
    return found


def read_annotation(name: str, path: Path) -> tuple[Annotation, list[Problem], list[Problem]]:
    """Read a coreference file; return what is right with it, errors, and what is odd."""
    root = read_xml(path)
    if root.name != "coref":
        return Annotation(name, [], []), [Problem(f"the root element is {quote(root.name)} (expected coref)", 1)], []
    notices = []
    all_mentions, all_chains = list(root.elements("mentions")), list(root.elements("chains"))
    chains = [element for parent in all_chains for element in parent.elements("chain")]
    expected = [(root, "mentions and chains"), *((parent, "mention") for parent in all_mentions)]
    expected += [*((parent, "chain") for parent in all_chains), *((parent, "mention") for parent in chains)]
    for parent, names in expected:
        for child in parent.content:
            if isinstance(child, str):
                if child.strip():
                    what = f"the text {quote(child.strip())} outside a mention is ignored"
                    notices.append(Problem(what, parent.line))
            elif child.name not in names.split(" and "):
                what = f"the element {quote(child.name)} is ignored (expected {names})"
                notices.append(Problem(what, child.line))
    mentions, problems = _read_mentions([one for parent in all_mentions for one in parent.elements("mention")])
    found, wrong, odd = _read_chains(chains, mentions)
    return Annotation(name, list(mentions.values()), found), problems + wrong, notices + odd


def _read_mentions(elements: Sequence[Element]) -> tuple[dict[str, Mention], list[Problem]]:
    """Return the mentions by id, and errors; one with a wrong span is kept, so that references to it are not wrong."""
    mentions: dict[str, Mention] = {}
    spans: dict[tuple[str, int, int], Mention] = {}
    problems: list[Problem] = ProblemList()
    for element in elements:
        m_id, sentence = (element.attributes.get(name, "").strip() for name in ("id", "sentenceNo"))
        wrong = [f"has no {name}" for name, value in (("id", m_id), ("sentenceNo", sentence)) if not value]
        words = []
        for attribute in ("fromWordIX", "toWordIX"):
            text = element.attributes.get(attribute)
            words.append(int(text) if text is not None and WORD.fullmatch(text.strip()) else 0)
            if text is None:
                wrong.append(f"has no {attribute}")
            elif not WORD.fullmatch(text.strip()):
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
        problems += [Problem(f"{describe_mention(m_id, sentence)}: {what}", element.line) for what in wrong]
        if m_id:
            mentions.setdefault(m_id, mention)
    return mentions, problems


def describe_mention(m_id: str, sentence: str) -> str:
    """Name a mention in a message."""
    place = f", sentence {quote(sentence)}" if sentence else ""
    return f"mention {quote(m_id)}{place}" if m_id else f"mention{place}"


def _read_chains(
    elements: Sequence[Element], mentions: Mapping[str, Mention]
) -> tuple[list[list[str]], list[Problem], list[Problem]]:
    """Return the chains, without wrong references, errors, and references whose text is not that of the mention."""
    chains: list[list[str]] = []
    problems: list[Problem] = ProblemList()
    notices: list[Problem] = []
    lines: dict[str, int] = {}  # of the first reference to each mention
    for element in elements:
        references = list(element.elements("mention"))
        found: list[str] = []
        for reference in references:
            m_id = reference.attributes.get("mentionId", "").strip()
            mention = mentions.get(m_id)
            if not m_id:
                what = "mention of a chain: has no mentionId"
            elif mention is None:
                what = f"mention {quote(m_id)} of a chain: no mention has this id"
            elif m_id in lines:
                what = f"{describe_mention(m_id, mention.sentence)}: is already in a chain on line {lines[m_id]}"
            else:
                lines[m_id] = reference.line
                found.append(m_id)
                text = reference.text().strip()
                if text and text != mention.text and normalize_text(text) != normalize_text(mention.text):
                    differs = f"the text in the chain is {quote(text)}, that of the mention {quote(mention.text)}"
                    about = describe_mention(m_id, mention.sentence)
                    notices.append(Problem(f"{about}: {differs}", reference.line))
                continue
            problems.append(Problem(what, reference.line))
        if len(references) < 2:
            named = "".join(f", {quote(one.attributes.get('mentionId', ''))}" for one in references)
            what = f"the chain has {pluralize(len(references), 'mention')}{named} (expected two or more)"
            problems.append(Problem(what, element.line))
        problems += _find_overlaps([mentions[m_id] for m_id in found], lines)
        chains.append(found)
    return chains, problems, notices


def _find_overlaps(mentions: Sequence[Mention], lines: Mapping[str, int]) -> list[Problem]:
    """Find mentions of a chain, in the order of its references, that overlap, at the line of the later reference."""
    places = {mention.id: place for place, mention in enumerate(mentions)}
    found: dict[str, Mention] = {}
    widest: Mention | None = None
    # In document order a mention overlaps an earlier one if it overlaps the one that reaches furthest.
    for mention in sorted(mentions, key=lambda mention: (mention.sentence, mention.first, -mention.last)):
        if not 0 < mention.first <= mention.last:  # an error already
            continue
        if widest is None or widest.sentence != mention.sentence or widest.last < mention.first:
            widest = mention
            continue
        earlier, later = sorted((widest, mention), key=lambda mention: places[mention.id])
        found.setdefault(later.id, earlier)
        widest = max(widest, mention, key=lambda mention: mention.last)
    problems = []
    for m_id, other in found.items():
        overlaps = f"overlaps mention {quote(other.id)} of the same chain (line {lines[other.id]})"
        problems.append(Problem(f"{describe_mention(m_id, other.sentence)}: {overlaps}", lines[m_id]))
    return problems


def normalize_text(text: str) -> str:
    """Return what is compared of a mention's text: blanks and `_` are alike, and so are apostrophes.

    >>> normalize_text(" Ayşe’nin_evi  ") == normalize_text("Ayşe'nin evi")
    True
    """
    return SPACES.sub(" ", APOSTROPHES.sub("'", normalize("NFC", text))).strip()


def make_annotation(document: Record) -> Annotation:
    """Return the annotation of a record, with mentions in document order."""
    forms = [token["form"] for sentence in document["sentences"] for token in sentence["tokens"]]
    mentions = []
    ids: dict[tuple[int, int], str] = {}
    for one in document["mentions"]:
        text = " ".join(forms[one["start"] : one["end"] + 1])
        mentions.append(Mention(one["id"], one["sentence"], one["from"], one["to"], text, 0))
        ids[one["start"], one["end"]] = one["id"]
    return Annotation("", mentions, [[ids[start, end] for start, end in cluster] for cluster in document["clusters"]])


def dump_annotation(annotation: Annotation) -> str:
    """Return an annotation as the text of a coreference file; a ValueError if XML can't represent a character."""
    texts = {mention.id: escape(mention.text) for mention in annotation.mentions}
    lines = ["<coref>", "<mentions>"]
    for mention in annotation.mentions:
        place = f"id={quoteattr(mention.id)} sentenceNo={quoteattr(mention.sentence)}"
        words = f'fromWordIX="{mention.first}" {place} toWordIX="{mention.last}"'
        lines.append(f"<mention {words}>{texts[mention.id]}</mention>")
    lines += ["</mentions>", "<chains>"]
    for ids in annotation.chains:
        references = [f"<mention mentionId={quoteattr(m_id)}>{texts[m_id]}</mention>" for m_id in ids]
        lines += ["<chain>", *references, "</chain>"]
    text = "\n".join([*lines, "</chains>", "</coref>", ""])
    check_characters(text)
    return text


def assign_annotations(treebank: Treebank, annotations: Sequence[Annotation]) -> Parts:
    """Find the document of every annotation, check the mentions against its words, and cut documents."""
    places = {
        sentence["number"]: _Place(name, place, sentence)
        for name, sentences in treebank.documents.items()
        for place, sentence in enumerate(sentences)
    }
    parts = Parts({}, [], [], [])
    located: dict[str, list[tuple[int, int, Annotation]]] = {}  # by document, the first and last sentence named
    for annotation in annotations:
        for mention in annotation.mentions:
            _check_mention(mention, annotation.file, places, treebank, parts)
        known = [mention for mention in annotation.mentions if mention.sentence in places]
        if known:
            document = places[known[0].sentence].document
            strangers: dict[str, Mention] = {}
            for mention in known:
                strangers.setdefault(places[mention.sentence].document, mention)
            del strangers[document]
            for other, mention in strangers.items():
                what = f"is in document {quote(other)}, but the first mention of the file in {quote(document)}"
                about = describe_mention(mention.id, mention.sentence)
                what = f"{about}: {what} (expected one document)"
                parts.problems.append(Problem(what, mention.line, annotation.file))
            numbers = [places[one.sentence].place for one in known if places[one.sentence].document == document]
            located.setdefault(document, []).append((min(numbers), max(numbers), annotation))
        elif not annotation.mentions:
            what = "has no mentions, so it belongs to no document"
            parts.notices.append(Problem(what, None, annotation.file))
    found: list[Part] = []
    for name, sentences in treebank.documents.items():
        if name in located:
            found += _cut(name, sentences, sorted(located[name], key=lambda one: one[:2]), parts)
        else:
            found.append(Part(treebank.files[name], sentences, None))
    names = number_names(find_document_id(part.sentences[0]["number"]) for part in found)
    bare = [name for name, part in zip(names, found, strict=True) if part.annotation is None]
    if bare:
        parts.notices.append(Problem(f"{pluralize(len(bare), 'document')} without coreference: {join_names(bare)}"))
    return parts._replace(parts=dict(zip(names, found, strict=True)))


def _check_mention(mention: Mention, file: str, places: Mapping[str, _Place], treebank: Treebank, parts: Parts) -> None:
    """Add what is wrong or odd about a mention, given the words of its sentence."""
    if not mention.sentence:
        return
    about = describe_mention(mention.id, mention.sentence)
    if mention.sentence not in places:
        parts.problems.append(Problem(f"{about}: the treebank has no such sentence", mention.line, file))
        return
    tokens = places[mention.sentence].sentence["tokens"]
    numbers = treebank.word_numbers.get(mention.sentence, range(1, len(tokens) + 1))
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
