"""Mentions of Turkish: their heads and types, and their detection by the four rules of the baseline.

Source: Schüller et al. (2018), section 4: noun phrases, pronouns, names, repeated nouns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from closeread.exceptions import FormatError, Problem, ProblemList, quote
from closeread.formats.text import read_lines
from closeread.tasks.marmara.documents import Span, Token, document_order

_APOSTROPHE = re.compile("(?<!^)['’‘`´]")
_DOTS = str.maketrans({"I": "ı", "İ": "i"})


def lower(text: str) -> str:
    """Return a text in Turkish lower case, in which I becomes ı, and İ becomes i.

    >>> lower("IĞDIR'DAN İZMİR'E")
    "ığdır'dan izmir'e"
    """
    return text.translate(_DOTS).lower()


def strip_suffix(form: str) -> str:
    """Return the part of a form before its first apostrophe, except one at its beginning.

    >>> strip_suffix("Ankara'nın"), strip_suffix("'Ankara'nın'"), strip_suffix("evin")
    ('Ankara', "'Ankara", 'evin')
    """
    return _APOSTROPHE.split(form, maxsplit=1)[0]


def is_capitalised(text: str) -> bool:
    """Return whether a text begins with a capital letter.

    >>> is_capitalised("İzmir"), is_capitalised("izmir"), is_capitalised("'İzmir"), is_capitalised("")
    (True, False, False, False)
    """
    return text[:1].isalpha() and lower(text[0]) != text[0]


PRONOUN, PROPER, NOUN = range(3)
TYPES = ("pronoun", "proper", "noun")
"""The names of the types, by their number."""

PRONOUNS = frozenset(
    [
        "ben",
        "sen",
        "o",
        "biz",
        "siz",
        "onlar",
        "kendi",
        "kendisi",
        "bu",
        "şu",
        "bunlar",
        "şunlar",
        "birbiri",
    ]
)
"""Lemmas of pronouns, in lower case; the list that the paper used is not public."""


def find_head(tokens: Sequence[Token], span: Span) -> int:
    """Return the head of a mention: the last of its tokens that depends on none of the others.

    Punctuation is a head only if there is no other.  If all tokens depend on others, in a circle, the head is the last
    that is no punctuation.
    """
    start, end = span
    inside = range(start, end + 1)
    tops = [token for token in inside if tokens[token].head not in inside] or inside
    words = [token for token in tops if tokens[token].first_tag != "Punc"]
    return (words or tops)[-1]


def find_proper_stems(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the stripped lower-case forms of the capitalised tokens that are not the first of their sentence."""
    forms = (token.form for token in tokens if not token.begins_sentence)
    return frozenset(lower(strip_suffix(form)) for form in forms if is_capitalised(form))


def classify_head(token: Token, stems: Collection[str], pronouns: Collection[str]) -> int:
    """Return the type of a mention by its head, a number in `TYPES`.

    `stems` are the document's `find_proper_stems`, `pronouns` lemmas of pronouns, in lower case.
    """
    if lower(token.lemma) in pronouns:
        return PRONOUN
    return (
        PROPER if is_capitalised(token.form) and lower(strip_suffix(token.form)) in stems else NOUN
    )


def read_pronouns(path: Path) -> frozenset[str]:
    """Read lemmas of pronouns, one per line; blank lines, and anything after `#`, are skipped."""
    found: set[str] = set()
    problems = ProblemList()
    for number, line in enumerate(read_lines(path), start=1):
        words = line.partition("#")[0].split()
        if len(words) > 1:
            problems.append(
                Problem(
                    f"{quote(' '.join(words))} has blanks (expected one lemma per line)", number
                )
            )
        found.update(map(lower, words[:1]))
    if not found and not problems:
        problems.append(Problem("has no lemmas (expected one lemma per line)"))
    if problems:
        raise FormatError(path, problems)
    return frozenset(found)


INSIDE = frozenset(
    [
        "MODIFIER",
        "DETERMINER",
        "POSSESSOR",
        "CLASSIFIER",
        "INTENSIFIER",
        "RELATIVIZER",
        "COLLOCATION",
        "APPOSITION",
    ]
)
"""The relations by which a token to the left of a noun is inside its noun phrase."""


def detect_mentions(tokens: Sequence[Token], derived_modifiers: str = "exclude") -> list[Span]:
    """Find the mentions of a document; no annotation of coreference is needed.

    Verbs that are modifiers by a suffix (participles), and what depends on them, are "exclude"d or "include"d.
    """
    spans = set(_find_noun_phrases(tokens, derived_modifiers))
    capitalised: dict[int, str] = {}
    for number, token in enumerate(tokens):
        is_noun = token.first_tag == "Noun"
        if (is_noun and is_capitalised(token.lemma)) or "Pron" in (token.first_tag, token.last_tag):
            spans.add((number, number))
        if is_noun and is_capitalised(token.form):
            capitalised[number] = lower(strip_suffix(token.form))
    # Nouns that stand with a capital twice or more in the document, whatever their suffix.
    times = Counter(capitalised.values())
    spans |= {(number, number) for number, stem in capitalised.items() if times[stem] > 1}
    return sorted(spans, key=document_order)


def _find_noun_phrases(tokens: Sequence[Token], derived_modifiers: str) -> Iterator[Span]:
    """Yield the phrase of every noun and pronoun: the adjacent tokens to its left that depend on it as a part."""
    dependents: list[list[int]] = [[] for _ in tokens]
    # whether a token, and what depends on it, are inside the phrase of a head to its right
    begins = []
    for number, token in enumerate(tokens):
        if token.head >= 0:
            dependents[token.head].append(number)
        is_derived_verb = token.first_tag == "Verb" and token.n_groups > 1
        begins.append(
            token.relation in INSIDE and (derived_modifiers == "include" or not is_derived_verb)
        )
    for head, token in enumerate(tokens):
        if token.first_tag in ("Noun", "Pron"):
            waiting = [number for number in dependents[head] if number < head and begins[number]]
            inside: set[int] = set()
            while waiting:
                number = waiting.pop()
                if number not in inside:  # the heads of a damaged tree may form a circle
                    inside.add(number)
                    waiting += dependents[number]
            start = head
            while start - 1 in inside:
                start -= 1
            yield start, head
