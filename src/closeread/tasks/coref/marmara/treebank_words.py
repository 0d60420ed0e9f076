"""The sentences and words of a treebank file, extracted or as distributed.

Conventions: errors are what makes a sentence or a word of it impossible to refer to.  Whatever else is odd is a notice,
since it is better to have a word without its head than no treebank: a gap in IX, a head that is no word, an IG or a REL
of another form, a word without text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from closeread.exceptions import Problem, quote
from closeread.formats.xml_tree import Element
from closeread.tasks.coref.marmara.documents import Sentence, Token
from closeread.tasks.coref.marmara.word_attributes import Analysis, Relation, parse_groups, parse_relation

IX = re.compile("[1-9][0-9]{0,8}")
NO_FORM = "_"
"""The form of a word without text: every word of a sentence is a token."""


class SourceWord(NamedTuple):
    """A word as it stands in a file.

    Attributes:
        ix: its IX.
        form: its text, without the blanks around it.
        attributes: all its attributes, IX too.
        line: its line.
    """

    ix: int
    form: str
    attributes: Mapping[str, str]
    line: int


class SourceSentence(NamedTuple):
    """A sentence as it stands in a file.

    Attributes:
        file: its file.
        number: its number; in a fragment, that of the extracted treebank.
        words: its words, at least one, with IX in ascending order.
        line: its line.
    """

    file: str
    number: str
    words: Sequence[SourceWord]
    line: int


class SourceDocument(NamedTuple):
    """A document as it stands in files.

    Attributes:
        file: its file, or the first of its files.
        sentences: its sentences.
    """

    file: str
    sentences: Sequence[SourceSentence]


def find_words(sentence: Element, number: str, problems: list[Problem], notices: list[Problem]) -> list[SourceWord]:
    """Return the words of a sentence; add its errors and what is odd about its form, a lack of words included.

    Args:
        sentence: its element.
        number: its number, for messages.
        problems, notices: where to add.
    """
    words: list[SourceWord] = []
    for child in sentence.content:
        if isinstance(child, str):
            if child.strip():
                found = f"the text {quote(child.strip())} outside a word is ignored"
                notices.append(Problem(_place(number, found), sentence.line))
            continue
        if child.name != "W":
            found = f"the element {quote(child.name)} is ignored (expected W)"
            notices.append(Problem(_place(number, found), child.line))
            continue
        given = child.attributes.get("IX")
        last = words[-1].ix if words else 0
        if given is None:
            problems.append(Problem(_place(number, "a word has no IX"), child.line))
        elif IX.fullmatch(given.strip()) is None:
            problems.append(Problem(_place(number, f"IX {quote(given)} is not a positive integer"), child.line))
        elif (ix := int(given)) <= last:
            problems.append(Problem(_place(number, f"IX {ix} is not above the one before, {last}"), child.line))
        else:
            words.append(SourceWord(ix, " ".join(child.text().split()), child.attributes, child.line))
    if not any(sentence.elements("W")):
        notices.append(Problem(_place(number, "is left out: it has no words"), sentence.line))
    return words


def make_sentence(source: SourceSentence) -> tuple[Sentence, list[Problem]]:
    """Return a sentence with what its words' attributes say, and notices about those that can't be read."""
    positions = {word.ix: position for position, word in enumerate(source.words, start=1)}
    tokens: list[Token] = []
    notices: list[Problem] = []
    last = 0
    for word in source.words:
        analysis, relation, odd = _read_attributes(word)
        if word.ix != last + 1:
            odd.insert(0, f"IX {word.ix} follows {last}" if last else f"the first IX is {word.ix}")
        last = word.ix
        if relation is not None and relation.head not in positions:
            odd.append(f"the head {relation.head} is not a word of the sentence")
            relation = None
        place = f"word {word.ix}"
        notices += [Problem(_place(source.number, f"{place}: {what}"), word.line, source.file) for what in odd]
        form = word.form or NO_FORM
        tokens.append(
            {
                "form": form,
                "lemma": form if analysis is None else analysis.lemma,
                "groups": [] if analysis is None else list(map(list, analysis.groups)),
                "head": None if relation is None else positions[relation.head],
                "head_group": None if relation is None else relation.group,
                "relation": None if relation is None else relation.name,
            }
        )
    return {"number": source.number, "tokens": tokens}, notices


def has_gaps(source: SourceSentence) -> bool:
    """Return whether a sentence's words are not numbered from 1 without gaps."""
    return source.words[-1].ix != len(source.words)


def iterate_sentences(root: Element, problems: list[Problem], notices: list[Problem]) -> Iterator[tuple[str, Element]]:
    """Yield the sentences of a file with their numbers there; add errors, and what is odd about the rest."""
    if root.name != "Set":
        problems.append(Problem(f"the root element is {quote(root.name)} (expected Set)", root.line))
        return
    sentences = 0
    for child in root.content:
        if isinstance(child, str):
            if child.strip():
                found = f"the text {quote(child.strip())} outside a sentence is ignored"
                notices.append(Problem(found, root.line))
        elif child.name != "S":
            notices.append(Problem(f"the element {quote(child.name)} is ignored (expected S)", child.line))
        else:
            sentences += 1
            number = child.attributes.get("No", "").strip()
            if number:
                yield number, child
            else:
                problems.append(Problem("a sentence has no number (expected an attribute No)", child.line))
    if not sentences:
        problems.append(Problem("contains no sentences", root.line))


def _read_attributes(word: SourceWord) -> tuple[Analysis | None, Relation | None, list[str]]:
    """Return what IG and REL say, and what is odd about them."""
    odd: list[str] = []
    groups, relation = word.attributes.get("IG"), None
    analysis = None if groups is None else parse_groups(groups)
    if groups is None:
        odd.append("has no IG")
    elif analysis is None:
        odd.append(f"IG {quote(groups)} can't be read")
    head = word.attributes.get("REL")
    try:
        relation = None if head is None else parse_relation(head)
    except ValueError:
        odd.append(f"REL {quote(head or '')} can't be read")
    if head is None:
        odd.append("has no REL")
    if not word.form:
        odd.append(f"has no text (read as {NO_FORM})")
    return analysis, relation, odd


def _place(number: str, what: str) -> str:
    return f"sentence {quote(number)}: {what}"
