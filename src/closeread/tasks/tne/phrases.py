"""The noun phrases of a document, and where they are.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), sections 2 and 8.2.

Conventions: records keep the form of the corpus's schema.  Documents and, in each, noun phrases are numbered from 0, as
in their ids (`np7` is 7).  Sentences end at the tokens `.`, `!` and `?`, and at line ends.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

from closeread.exceptions import RequestError, quote
from closeread.records import Record, as_columns

TITLE_END = "\n\n"

SENTENCE_ENDS = frozenset(".!?")
"""The tokens after which a sentence ends; it also ends after a token with a line end."""

MAX_LEAD = 100
"""How far inside a token, in characters, a noun phrase may begin."""


def list_lacking(documents: Sequence[Record], name: str) -> list[str]:
    """Return the ids of the documents that lack a field."""
    columns = as_columns(documents, ["id", name])
    values = zip(columns["id"], columns[name], strict=True)
    return [document for document, value in values if value is None]


def require_layer(documents: Sequence[Record], name: str, layer: str, reason: str) -> None:
    """Raise a RequestError if documents lack a field."""
    lacking = list_lacking(documents, name)
    if lacking:
        share = f"{len(lacking):,} of {len(documents):,} documents"
        raise RequestError(f"{share} have no {layer} (first: {quote(lacking[0])}); {reason}")


def list_phrases(record: Record) -> list[Record]:
    """Return the noun phrases of a document by number, all with a last token; their ids must be dense."""
    phrases: list[Record] = sorted(record.get("nps") or (), key=lambda np: int(np["id"][2:]))
    if all(phrase["last_token"] is not None for phrase in phrases):
        return phrases
    tokens = record.get("tokens") or ()
    ends = list(accumulate(len(_drop_blanks(token)) for token in tokens))
    for number, phrase in enumerate(phrases):
        if phrase["last_token"] is None:
            phrases[number] = {**phrase, "last_token": _find_last_token(phrase, tokens, ends)}
    return phrases


def _find_last_token(phrase: Record, tokens: Sequence[str], ends: Sequence[int]) -> int:
    """Return the token in which the words of a noun phrase end; the number of tokens if the words go on beyond them.

    `ends` are the numbers of characters other than white space up to the end of each token.
    """
    first: int = phrase["first_token"]
    if first >= len(tokens):
        return len(tokens)
    words = _drop_blanks(phrase["text"])
    begin = ends[first - 1] if first > 0 else 0
    begin += _find_lead(words, _drop_blanks(tokens[first])[:MAX_LEAD])
    return max(first, bisect_left(ends, begin + len(words)))


def _find_lead(words: str, token: str) -> int:
    """Return how many characters of a token stand before the words that begin inside it."""
    for lead in range(len(token)):
        ending = token[lead:]
        if words.startswith(ending) or ending.startswith(words):
            return lead
    return 0


def _drop_blanks(text: str) -> str:
    return "".join(text.split())


def find_titled(record: Record, phrases: Sequence[Record]) -> list[int]:
    """Return the numbers of the noun phrases that end before the first blank line of the text."""
    end = record["text"].find(TITLE_END)
    return [number for number, phrase in enumerate(phrases) if phrase["last_char"] <= end]


def number_sentences(tokens: Sequence[str]) -> list[int]:
    """Return the number of each token's sentence, and then that of the sentence of a further token."""
    is_end = [token in SENTENCE_ENDS or "\n" in token for token in tokens]
    return list(accumulate(is_end, initial=0))


def is_phrase_id(name: str) -> bool:
    """Return whether a name is a noun phrase id.

    >>> [name for name in ("np0", "np12", "np012", "np123456", "x") if is_phrase_id(name)]
    ['np0', 'np12']
    """
    return re.fullmatch("np(0|[1-9][0-9]{0,4})", name) is not None


def find_clusters(record: Record) -> dict[str, int]:
    """Return the number of the cluster of each noun phrase, by its id."""
    clusters: dict[str, int] = {}
    for number, cluster in enumerate(record["coref"]):
        clusters.update(dict.fromkeys(cluster["members"], number))
    return clusters


class PlacedPhrases(dict[str, Record]):
    """The noun phrases of a document by id, and what follows from where they are.

    Attributes:
        record: the document.
    """

    def __init__(self, record: Record) -> None:
        super().__init__((phrase["id"], phrase) for phrase in list_phrases(record))
        self.record = record

    def measure_distance(self, anchor: str, complement: str) -> int:
        """Return how many tokens the complement begins after the anchor; negative if before it."""
        distance: int = self[complement]["first_token"] - self[anchor]["first_token"]
        return distance

    @cached_property
    def sentences(self) -> dict[str, int]:
        """The sentence in which each noun phrase begins."""
        sentences = number_sentences(self.record["tokens"])
        return {name: sentences[phrase["first_token"]] for name, phrase in self.items()}

    @cached_property
    def first_mentions(self) -> set[str]:
        """The first mention of each cluster: it begins first in the text, and is the longest of several that do."""

        def sort_key(name: str) -> tuple[int, int, int]:
            phrase = self[name]
            return phrase["first_token"], -phrase["last_token"], int(name[2:])

        return {min(cluster["members"], key=sort_key) for cluster in self.record["coref"]}

    @cached_property
    def singletons(self) -> set[str]:
        """The noun phrases that are the only mention of their cluster."""
        clusters = [cluster["members"] for cluster in self.record["coref"]]
        return {members[0] for members in clusters if len(members) == 1}
