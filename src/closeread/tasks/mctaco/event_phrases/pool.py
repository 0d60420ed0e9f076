"""A pool of event phrases: each once, none too long."""

from __future__ import annotations

from collections.abc import Iterable

from closeread.exceptions import RequestError

MAX_WORDS = 10
"""98 of 100 answers about the order of events in McTaco have at most as many words."""


def make_pool(phrases: Iterable[str], *, max_words: int = MAX_WORDS) -> list[str]:
    """Return different phrases in order of their first occurrence; case is ignored, and whitespace becomes one blank.

    Args:
        phrases: texts of any length; those without a letter are left out.
        max_words: the length of a phrase at most, in words; longer ones are left out.

    Raises:
        RequestError: no phrase is left.

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
        raise RequestError(f"no event phrase of at most {max_words} words was found (expected at least one)")
    return list(pool.values())
