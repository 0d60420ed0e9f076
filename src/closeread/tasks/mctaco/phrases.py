"""A pool of event phrases, from which candidate answers are retrieved: the examples of PropBank's frame files.

Source: Zhou et al. (2019), step 3, whose pool of 60,000 phrases was made with PropBank and not released; the paper
does not say how.

Frame files: those of Kingsbury and Palmer (2002), which users have themselves and which come with examples:
https://github.com/propbank/propbank-frames, since version 3.4 with the places of predicate and arguments.  An example
of a verb makes a phrase: its predicate and numbered arguments, with modal verb, particle, direction and goal, and the
auxiliaries and negations directly before the predicate, in the order of the sentence; other modifiers are left out.
Something must stand before the predicate.  Left out are examples of nouns and adjectives, as their names
("abandonment-n: ..."), the words of their roleset or a possessive before the predicate ("his lies") tell, traces
("*PRO*") and references ("which").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from closeread.exceptions import FormatError, MissingFileError, Problem, RequestError, merge_errors
from closeread.formats.folders import list_files
from closeread.formats.xml_tree import Element, read_xml

_ARGUMENT = re.compile(r"(?:C-)?ARG(?:[0-9]|A)(?:-\w+)?|(?:C-)?ARGM-(?:MOD|PRR|LVB|DIR|GOL)")
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
    """The content of frame files.

    Attributes:
        phrases: their event phrases, in order, with repetitions.
        n_files: the number of files that were read.
        n_examples: the number of examples.
        n_unplaced: the number of examples without the places of their predicate and arguments.
        skipped: the errors of files that are not well-formed, of which releases have a few.
    """

    phrases: list[str]
    n_files: int
    n_examples: int
    n_unplaced: int
    skipped: list[FormatError]


def read_frames(paths: Sequence[Path]) -> Frames:
    """Read frame files, and all of those in folders."""
    files: list[Path] = []
    errors: list[FormatError] = []
    skipped: list[FormatError] = []
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
    phrases: list[str | None] = []
    for path in files:
        try:
            root = read_xml(path)
        except MissingFileError as error:
            errors.append(error)
            continue
        except FormatError as error:
            skipped.append(error)
            continue
        if root.name != "frameset":
            expected = "expected <frameset>, as in PropBank's frame files"
            problem = Problem(f"the root element is <{root.name}> ({expected})", root.line)
            errors.append(FormatError(path, [problem]))
        for roleset in root.below("roleset"):
            kinds = {alias.attributes.get("pos", "") for alias in roleset.below("alias")}
            is_of_verbs = not kinds or not kinds.isdisjoint(_VERBS)
            phrases += [_read_example(example, is_of_verbs) for example in roleset.below("example")]
    if errors or len(skipped) == len(files):
        raise merge_errors([*errors, *skipped])
    return Frames(
        [phrase for phrase in phrases if phrase],
        len(files) - len(skipped),
        len(phrases),
        phrases.count(None),
        skipped,
    )


def _read_example(example: Element, is_of_verbs: bool) -> str | None:
    """Return the phrase of an example; "" if it has none, None if it lacks the places of its parts.

    The name of an example, or else the words of its roleset, tell whether the predicate is a verb.
    """
    part_of_speech = _PART_OF_SPEECH.match(example.attributes.get("name", ""))
    if part_of_speech is not None:
        is_of_verbs = part_of_speech[1] in _VERBS
    if not is_of_verbs:
        return ""
    annotation = next(example.elements("propbank"), None)
    words = None if annotation is None else _read_places(example, annotation)
    if words is None:
        return None
    words = [(word, is_verb) for word, is_verb in words if not _TRACE.fullmatch(word)]
    verb = next((place for place, (_, is_verb) in enumerate(words) if is_verb), 0)
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
        elif element.name == "arg" and _ARGUMENT.fullmatch(element.attributes.get("type", "")):
            first = _parse_places(element, "start")
            last = _parse_places(element, "end")
            places = ()
            if first and last and last[0] < len(sentence):
                places = range(first[0], last[0] + 1)
            of_arguments.update(places)
        else:
            continue
        if not places or max(places) >= len(sentence):
            return None
    begin = min(of_verb, default=0)
    # Auxiliaries and negations stand directly before the predicate.
    while begin > 0 and sentence[begin - 1].lower() in _AUXILIARIES:
        begin -= 1
        of_verb.add(begin)
    return [(sentence[place], place in of_verb) for place in sorted(of_arguments | of_verb)]


def _parse_places(element: Element, name: str) -> Sequence[int]:
    text = element.attributes.get(name, "")
    return tuple(map(int, text.split())) if _PLACES.fullmatch(text) else ()


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
