"""Pools of event phrases, from which candidate answers are retrieved: of texts, and of PropBank's frame files.

Source: Zhou et al. (2019), step 3, whose pool of 60,000 phrases was made with PropBank and not released; the paper
does not say how.  An event phrase is a subject, a verb and what belongs to them, without other clauses ("she sold the
boat").

Texts, with a spaCy parser: every verb with a subject makes a phrase.  It consists of the verb, its subject and
everything else below the verb, in the order of the text, but other clauses: coordinated, adverbial and parenthetical
ones are phrases of their own.  A coordinated verb without a subject takes that of the verb before it ("she came and
left": "she came", "she left").  Questions, "let's", and relative clauses whose subject is a relative pronoun, make no
phrase.  The first word of a sentence is written small, unless it is a name, "I" or an abbreviation.  Labels may be
those of Universal Dependencies or of spaCy's English pipelines.

Frame files: those of Kingsbury and Palmer (2002), which users have themselves and which come with examples:
https://github.com/propbank/propbank-frames, since version 3.4 with the places of predicate and arguments; before, with
their texts in order.  An example of a verb makes a phrase: its predicate and numbered arguments, with modal verb,
particle, direction and goal, and the auxiliaries and negations directly before the predicate, in the order of the
sentence; other modifiers are left out.  Something must stand before the predicate.  Left out are examples of nouns and
adjectives, as their names ("abandonment-n: ..."), the words of their roleset or a possessive before the predicate ("his
lies") tell, traces ("*PRO*") and references ("which").  Files without places know no auxiliaries ("she sleeping" for
"she was sleeping").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from closeread.exceptions import FormatError, Problem, ProblemList, RequestError, merge_errors
from closeread.formats.folders import list_files
from closeread.formats.text import UNSAFE, read_lines
from closeread.formats.xml_tree import Element, read_xml

SUBJECTS = frozenset({"nsubj", "nsubjpass", "nsubj:pass"})

OTHER_CLAUSES = frozenset(
    {
        "acl:relcl", "advcl", "cc", "conj", "dep", "discourse", "intj", "mark", "meta", "parataxis", "preconj", "punct",
        "relcl", "vocative",
    }
)  # fmt: skip
"""Dependents of a verb, by relation, that do not belong to its phrase."""

_NO_SUBJECTS = frozenset(
    {"that", "which", "who", "whom", "whose", "what", "whoever", "whatever", "'s", "\u2019s"}
)
"""Relative pronouns, and the end of "let's"."""

_WRITTEN_LARGE = re.compile(r"(?:I|I['\u2019]\w+|(?:[^\WA-Z]*+[A-Z]){2}\w*+)")
_ADVERBS_OF_CLAUSES = frozenset({"how", "when", "whenever", "where", "wherever", "why"})


def read_paragraphs(path: Path, most: int) -> list[str]:
    """Read the paragraphs of a text, of at most so many characters, which blank lines separate."""
    problems = ProblemList()
    paragraphs: list[str] = []
    lines: list[str] = []
    for number, line in enumerate(chain(read_lines(path), [""]), start=1):
        for character in UNSAFE.findall(line.replace("\t", " ")):
            problems.add(f"contains the control character U+{ord(character):04X}", number)
        if line.strip():
            lines.append(line.strip())
        elif lines:
            paragraphs.append(" ".join(lines))
            if (length := len(paragraphs[-1])) > most:
                found = f"the paragraph has {length:,} characters (limit of the pipeline: {most:,})"
                problems.add(found, number - len(lines))
            lines = []
    if not any(map(str.isalpha, "".join(paragraphs))):
        problems.add("contains no words")
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
                words = [verb] if subject.head == verb else [verb, *subject.subtree]
                for child in verb.children:
                    # "'They left,' she said"
                    is_quoted = child.dep_ == "ccomp" and child.i < verb.i
                    is_other = child.dep_ in OTHER_CLAUSES or child.lower_ in _ADVERBS_OF_CLAUSES
                    if not is_other and not is_quoted:
                        words += child.subtree
                yield _write(sorted(words, key=lambda word: word.i))


def _find_subject(verb: Any) -> Any:
    """Return the subject of a verb, or that of the verb with which it is coordinated; None if no subject is usable."""
    while True:
        subject = next((child for child in verb.children if child.dep_ in SUBJECTS), None)
        if subject is not None:
            return None if subject.lower_ in _NO_SUBJECTS else subject
        if verb.dep_ != "conj" or verb.head == verb or verb.head.pos_ not in ("VERB", "AUX"):
            return None
        verb = verb.head


def _write(words: list[Any]) -> str:
    """Join words in the order of the text, with a space where it has one or where words are left out."""
    spoken = [number for number, word in enumerate(words) if not word.is_punct]
    first, *others = words[spoken[0] : spoken[-1] + 1]
    text, end = first.text_with_ws, first.i + 1
    begins = all(word.is_punct or word.is_space for word in first.doc[first.sent.start : first.i])
    if begins and first.pos_ != "PROPN" and not _WRITTEN_LARGE.fullmatch(first.text):
        text = text[0].lower() + text[1:]
    for word in others:
        gap = " " if word.i > end and not text.endswith(" ") else ""
        text, end = text + gap + word.text_with_ws, word.i + 1
    return str(text.strip())


_KEPT = re.compile(r"(?:C-)?ARG(?:[0-9]|A)(?:-\w+)?|(?:C-)?ARGM-(?:MOD|PRR|LVB|DIR|GOL)")
_KEPT_IN_OLD_FILES = re.compile(r"[0-9A]")
_PART_OF_SPEECH = re.compile(r"\S+-([^\W\d_])(?::|\s|\Z)")
_VERBS = frozenset({"v", "l"})
"""Parts of speech, as letters: verbs, and verbs with a light verb ("take a walk")."""
_TRACE = re.compile(r"\S*\*\S*|\[\S*\]|-\w+-|->|``|''")
_BRACKET = re.compile(r"[\[\]{}<>]")
_PLACES = re.compile(r"[0-9]{1,6}(?: [0-9]{1,6})*")
# fmt: off
_AUXILIARIES = frozenset({
    "am", "are", "be", "been", "being", "ca", "can", "could", "did", "do", "does", "had", "has", "have", "is", "may",
    "might", "must", "n't", "n\u2019t", "never", "not", "shall", "should", "was", "were", "will", "wo", "would",
    "'d", "'ll", "'m", "'re", "'s", "'ve", "\u2019d", "\u2019ll", "\u2019m", "\u2019re", "\u2019s", "\u2019ve",
})
# fmt: on
_ATTACHED = re.compile(
    r"(?<!\s)\s++(?=(?:n['\u2019]t|['\u2019](?:s|m|d|re|ve|ll)|['\u2019,.;:!?%])(?:\s|\Z))"
    r"|(?<=\$)\s++(?=[0-9])"
    r"|(?<!\s)\s++(?=-\s\w)|(?<=\w\s-)\s++(?=\w)"  # "counter - clockwise"
)
_POSSESSIVES = frozenset({"my", "your", "his", "her", "its", "our", "their"})


class Frames(NamedTuple):
    """The content of frame files."""

    phrases: list[str]  # their event phrases, in order, with repetitions
    files: int
    examples: int
    # the number of examples without the places of their predicate and arguments
    without_places: int
    skipped: list[FormatError]  # the errors of files that were skipped


def read_frames(paths: Sequence[Path], *, invalid: Literal["error", "skip"] = "error") -> Frames:
    """Read frame files, and all of those in folders.

    With ``skip``, files that can't be read or are not well-formed, of which releases have a few, are left out.
    """
    files: list[Path] = []
    errors: list[FormatError] = []
    broken: list[FormatError] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        try:
            # A release has a README and a DTD beside the frames.
            listed, problems, _ = list_files(path, "frame file", ".xml")
        except FormatError as error:
            errors.append(error)
            continue
        files += listed.values()
        if problems:
            errors.append(FormatError(path, problems))
    made: list[str | None] = []
    for path in files:
        try:
            root = read_xml(path)
        except FormatError as error:
            broken.append(error)
            continue
        if root.name != "frameset":
            found = f"the root element is <{root.name}> (expected <frameset>, as in PropBank's frame files)"
            errors.append(FormatError(path, [Problem(found, root.line)]))
        for roleset in root.below("roleset"):
            kinds = {alias.attributes.get("pos", "") for alias in roleset.below("alias")}
            for example in roleset.below("example"):
                # The name of an example, or else the words of its roleset, tell whether the predicate is a verb.
                told = _PART_OF_SPEECH.match(example.attributes.get("name", ""))
                of_verb = told[1] in _VERBS if told else not kinds or not kinds.isdisjoint(_VERBS)
                made.append(_read_example(example) if of_verb else "")
    if errors or (broken and (invalid == "error" or len(broken) == len(files))):
        raise merge_errors([*errors, *broken])
    phrases = [phrase for phrase in made if phrase]
    return Frames(phrases, len(files) - len(broken), len(made), made.count(None), broken)


def _read_example(example: Element) -> str | None:
    """Return the phrase of an example; "" if it has none, None if it lacks the places of its parts."""
    annotation = next(example.elements("propbank"), None)
    words = _read_in_order(example) if annotation is None else _read_places(example, annotation)
    if words is None:
        return None
    words = [(word, of_verb) for word, of_verb in words if not _TRACE.fullmatch(word)]
    verb = next((place for place, (_, of_verb) in enumerate(words) if of_verb), 0)
    if verb == 0 or words[verb - 1][0].lower() in _POSSESSIVES:
        return ""
    phrase = _ATTACHED.sub("", " ".join(word for word, _ in words))
    return "" if _BRACKET.search(phrase) else phrase


def _read_places(example: Element, annotation: Element) -> list[tuple[str, bool]] | None:
    """Return the words of a phrase, and whether they belong to the verb; None if a place is unknown."""
    sentence = "".join(text.text() for text in example.elements("text")).split()
    of_verb: set[int] = set()
    of_arguments: set[int] = set()
    for element in annotation.elements():
        if element.name == "rel":
            places = _parse_places(element, "relloc")
            of_verb.update(places)
        elif element.name == "arg" and _KEPT.fullmatch(element.attributes.get("type", "")):
            first, last = _parse_places(element, "start"), _parse_places(element, "end")
            places = (
                range(first[0], last[0] + 1) if first and last and last[0] < len(sentence) else ()
            )
            of_arguments.update(places)
        else:
            continue
        if not places or max(places) >= len(sentence):
            return None
    begin = min(of_verb, default=0)
    # directly before the predicate
    while begin > 0 and sentence[begin - 1].lower() in _AUXILIARIES:
        begin -= 1
        of_verb.add(begin)
    return [(sentence[place], place in of_verb) for place in sorted(of_arguments | of_verb)]


def _parse_places(element: Element, name: str) -> Sequence[int]:
    text = element.attributes.get(name, "")
    return tuple(map(int, text.split())) if _PLACES.fullmatch(text) else ()


def _read_in_order(example: Element) -> list[tuple[str, bool]]:
    """Return the words of a phrase from a file without places, and whether they belong to the verb."""
    words: list[tuple[str, bool]] = []
    for element in example.elements():
        is_predicate = element.name == "rel"
        if is_predicate or (
            element.name == "arg" and _KEPT_IN_OLD_FILES.fullmatch(element.attributes.get("n", ""))
        ):
            preposition = element.attributes.get("f", "")
            text = f"{preposition} {element.text()}" if preposition.islower() else element.text()
            words += [(word, is_predicate) for word in text.split()]
    return words


def make_pool(phrases: Iterable[str], *, max_words: int = 10) -> list[str]:
    """Return distinct phrases in order of first occurrence, ignoring case, with single spaces.

    Phrases without a letter or with more words are left out; 98 of 100 answers about the order of events in McTaco have
    at most ten.

    >>> make_pool(["She  sold it", "she sold it", "they left"])
    ['She sold it', 'they left']
    """
    pool: dict[str, str] = {}
    for phrase in phrases:
        words = phrase.split()
        if len(words) <= max_words and any(map(str.isalpha, phrase)):
            text = " ".join(words)
            pool.setdefault(text.casefold(), text)
    if not pool:
        raise RequestError(
            f"no event phrase of at most {max_words} words was found (expected at least one)"
        )
    return list(pool.values())
