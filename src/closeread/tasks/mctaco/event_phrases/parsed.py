"""The event phrases of texts, with a spaCy parser.

Conventions: every verb with a subject makes a phrase.  It consists of the verb, its subject and everything else below
the verb, in the order of the text, but other clauses: coordinated, adverbial and parenthetical ones are phrases of
their own.  A coordinated verb without a subject takes that of the verb before it ("she came and left": "she came", "she
left").  Questions, "let's", and relative clauses whose subject is a relative pronoun, make no phrase.  The first word
of a sentence is written small, unless it is a name, "I" or an abbreviation.  Labels may be those of Universal
Dependencies or of spaCy's English pipelines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from closeread.exceptions import FormatError, Problem, ProblemList
from closeread.formats.text import UNSAFE, read_lines

SUBJECTS = frozenset({"nsubj", "nsubjpass", "nsubj:pass"})

OTHER_CLAUSES = frozenset(
    {
        "acl:relcl", "advcl", "cc", "conj", "dep", "discourse", "intj", "mark", "meta", "parataxis", "preconj", "punct",
        "relcl", "vocative",
    }
)  # fmt: skip
"""Relations to a verb of what does not belong to its phrase."""

_NO_SUBJECTS = frozenset({"that", "which", "who", "whom", "whose", "what", "whoever", "whatever", "'s", "\u2019s"})
"""Relative pronouns, and what "let's" ends with."""

_WRITTEN_LARGE = re.compile(r"(?:I|I['\u2019]\w+|\w*[A-Z]\w*[A-Z]\w*)")
_ADVERBS_OF_CLAUSES = frozenset({"how", "when", "whenever", "where", "wherever", "why"})


def read_paragraphs(path: Path, most: int) -> list[str]:
    """Read the paragraphs of a text, which blank lines separate.

    Args:
        path: a text file.
        most: the most characters that a paragraph may have.

    Raises:
        FormatError: the file can't be read (see `closeread.formats.text`), contains no words or control characters,
            or a paragraph is too long; all problems at once.
    """
    problems: list[Problem] = ProblemList()
    paragraphs: list[str] = []
    begin = 0
    lines: list[str] = []
    for number, line in enumerate(chain(read_lines(path), [""]), start=1):
        problems += [
            Problem(f"contains the control character U+{ord(character):04X}", number)
            for character in UNSAFE.findall(line.replace("\t", " "))
        ]
        if line.strip():
            begin = begin if lines else number
            lines.append(line.strip())
        elif lines:
            paragraphs.append(" ".join(lines))
            if len(paragraphs[-1]) > most:
                found = f"the paragraph has {len(paragraphs[-1]):,} characters (limit of the pipeline: {most:,})"
                problems.append(Problem(found, begin))
            lines = []
    if not any(any(map(str.isalpha, paragraph)) for paragraph in paragraphs):
        problems.append(Problem("contains no words"))
    if problems:
        raise FormatError(path, problems)
    return paragraphs


def find_event_phrases(document: Any) -> Iterator[str]:
    """Yield the event phrases of a parsed spaCy document, in the order of their verbs."""
    for sentence in document.sents:
        if any(word.text == "?" for word in sentence):
            continue
        for verb in sentence:
            if verb.pos_ == "VERB" and (subject := _find_subject(verb)) is not None:
                yield _write([*_collect(verb), *([] if subject.head == verb else subject.subtree)])


def _find_subject(verb: Any) -> Any:
    """Return the subject of a verb, or that of the verb that it is coordinated with; None if it has none of use."""
    while True:
        subject = next((child for child in verb.children if child.dep_ in SUBJECTS), None)
        if subject is not None:
            return None if subject.lower_ in _NO_SUBJECTS else subject
        if verb.dep_ != "conj" or verb.head == verb or verb.head.pos_ not in ("VERB", "AUX"):
            return None
        verb = verb.head


def _collect(verb: Any) -> list[Any]:
    """Return the words of a verb's phrase, in any order."""
    kept = [verb]
    for child in verb.children:
        is_quoted = child.dep_ == "ccomp" and child.i < verb.i  # "'They left,' she said"
        if child.dep_ not in OTHER_CLAUSES and child.lower_ not in _ADVERBS_OF_CLAUSES and not is_quoted:
            kept += child.subtree
    return kept


def _write(words: list[Any]) -> str:
    """Write words in the order of the text, with a blank where it has one or where words are left out."""
    words.sort(key=lambda word: word.i)
    spoken = [number for number, word in enumerate(words) if not word.is_punct]
    words = words[spoken[0] : spoken[-1] + 1]
    pieces = []
    for word, following in zip(words, [*words[1:], None], strict=True):
        is_gap = following is not None and following.i != word.i + 1
        pieces.append(word.text + (" " if word.whitespace_ or is_gap else ""))
    first = words[0]
    begins = all(word.is_punct or word.is_space for word in first.doc[first.sent.start : first.i])
    if begins and first.pos_ != "PROPN" and not _WRITTEN_LARGE.fullmatch(first.text):
        pieces[0] = pieces[0][0].lower() + pieces[0][1:]
    return "".join(pieces).strip()
