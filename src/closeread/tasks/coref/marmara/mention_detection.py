"""Mention detection by four rules (Schüller et al. 2018, section 4): noun phrases, pronouns, names, repeated nouns.

Conventions: a span is the first and the last token of a mention, from 0 in the document.  Spans are in document order:
by start, then the longer first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from closeread.records import Record
from closeread.tasks.coref.marmara.spans import Span, document_order
from closeread.tasks.coref.marmara.tokens import Tokens, read_tokens
from closeread.tasks.coref.marmara.turkish import is_capitalised, lower, strip_suffix

INSIDE = frozenset(
    ["MODIFIER", "DETERMINER", "POSSESSOR", "CLASSIFIER", "INTENSIFIER", "RELATIVIZER", "COLLOCATION", "APPOSITION"]
)
"""The relations by which a token to the left of a noun is inside its noun phrase."""


def detect_mentions(record: Record, *, derived_modifiers: str = "exclude") -> list[Span]:
    """Find the mentions of a document; no annotation of coreference is needed.

    Args:
        record: the document.
        derived_modifiers: "exclude" or "include" verbs that are modifiers by a suffix (participles), and what depends
            on them.
    """
    return detect_in_tokens(read_tokens(record), derived_modifiers)


def detect_in_tokens(tokens: Tokens, derived_modifiers: str) -> list[Span]:
    """Find the mentions among the tokens of a document."""
    spans = {
        *_find_noun_phrases(tokens, derived_modifiers),
        *_find_pronouns(tokens),
        *_find_names(tokens),
        *_find_repeated_nouns(tokens),
    }
    return sorted(spans, key=document_order)


def _find_noun_phrases(tokens: Tokens, derived_modifiers: str) -> Iterator[Span]:
    """Yield the phrase of every noun and pronoun: the adjacent tokens to its left that depend on it as a part."""
    dependents = tokens.list_dependents()
    for head, tag in enumerate(tokens.first_tags):
        if tag not in ("Noun", "Pron"):
            continue
        inside: set[int] = set()
        waiting = [
            token
            for token in dependents[head]
            if token < head
            and tokens.relations[token] in INSIDE
            and (derived_modifiers == "include" or not _is_derived_verb(tokens, token))
        ]
        while waiting:
            token = waiting.pop()
            if token not in inside:  # the heads of a damaged tree may form a circle
                inside.add(token)
                waiting += dependents[token]
        start = head
        while start - 1 in inside:
            start -= 1
        yield start, head


def _is_derived_verb(tokens: Tokens, token: int) -> bool:
    return tokens.first_tags[token] == "Verb" and tokens.n_groups[token] > 1


def _find_pronouns(tokens: Tokens) -> Iterator[Span]:
    for token, tags in enumerate(zip(tokens.first_tags, tokens.last_tags, strict=True)):
        if "Pron" in tags:
            yield token, token


def _find_names(tokens: Tokens) -> Iterator[Span]:
    """Yield nouns whose lemma begins with a capital."""
    for token, (tag, lemma) in enumerate(zip(tokens.first_tags, tokens.lemmas, strict=True)):
        if tag == "Noun" and is_capitalised(lemma):
            yield token, token


def _find_repeated_nouns(tokens: Tokens) -> Iterator[Span]:
    """Yield nouns that stand with a capital twice or more in the document, whatever their suffix."""
    stems = {
        token: lower(strip_suffix(form))
        for token, (form, tag) in enumerate(zip(tokens.forms, tokens.first_tags, strict=True))
        if tag == "Noun" and is_capitalised(form)
    }
    times = Counter(stems.values())
    for token, stem in stems.items():
        if times[stem] > 1:
            yield token, token
