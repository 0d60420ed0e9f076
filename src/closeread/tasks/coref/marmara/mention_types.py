"""Heads of mentions, and their types: pronoun, proper noun, or other noun.

Conventions: tokens count from 0 in the document.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from closeread.exceptions import FormatError, Problem, ProblemList, quote
from closeread.formats.text import read_lines
from closeread.tasks.coref.marmara.spans import Span
from closeread.tasks.coref.marmara.tokens import Tokens
from closeread.tasks.coref.marmara.turkish import is_capitalised, lower, strip_suffix

PRONOUN, PROPER, NOUN = range(3)
TYPES = ("pronoun", "proper", "noun")
"""The names of the types, by their number."""

PRONOUNS = frozenset(
    ["ben", "sen", "o", "biz", "siz", "onlar", "kendi", "kendisi", "bu", "şu", "bunlar", "şunlar", "birbiri"]
)
"""Lemmas of pronouns, in lower case; the list that the paper used is not public."""


def find_head(tokens: Tokens, span: Span) -> int:
    """Return the head of a mention: the last of its tokens that depends on none of the others.

    Punctuation is a head only if there is no other.  If all tokens depend on others, in a circle, the head is the last
    that is no punctuation.
    """
    start, end = span
    inside = range(start, end + 1)
    tops = [token for token in inside if not start <= tokens.heads[token] <= end] or list(inside)
    words = [token for token in tops if tokens.first_tags[token] != "Punc"]
    return (words or tops)[-1]


def find_proper_stems(tokens: Tokens) -> frozenset[str]:
    """Return the stripped lower-case forms of the capitalised tokens that are not the first of their sentence."""
    return frozenset(
        lower(strip_suffix(form))
        for form, begins in zip(tokens.forms, tokens.begins_sentence, strict=True)
        if not begins and is_capitalised(form)
    )


def classify_head(tokens: Tokens, head: int, stems: Collection[str], pronouns: Collection[str]) -> int:
    """Return the type of a mention, a number in `TYPES`.

    Args:
        tokens: the tokens of its document.
        head: its head.
        stems: the document's `find_proper_stems`.
        pronouns: lemmas of pronouns, in lower case.
    """
    if lower(tokens.lemmas[head]) in pronouns:
        return PRONOUN
    form = tokens.forms[head]
    return PROPER if is_capitalised(form) and lower(strip_suffix(form)) in stems else NOUN


def read_pronouns(path: Path) -> frozenset[str]:
    """Read lemmas of pronouns: a lemma a line; blank lines, and what follows `#`, are skipped.

    Raises:
        FormatError: the file can't be read, a line has several words, or there are no lemmas.
    """
    found: set[str] = set()
    problems = ProblemList()
    for number, line in enumerate(read_lines(path), start=1):
        words = line.partition("#")[0].split()
        if len(words) > 1:
            problems.append(Problem(f"{quote(' '.join(words))} has blanks (expected one lemma a line)", number))
        found.update(map(lower, words[:1]))
    if not found and not problems:
        problems.append(Problem("has no lemmas (expected one lemma a line)"))
    if problems:
        raise FormatError(path, problems)
    return frozenset(found)
