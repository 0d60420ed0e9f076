"""The features of pairs of mentions: types (A), what their heads and words share (B), and all products (A*B).

A pair is a *code* from 0 to `N_CODES` - 1: its types, and the features of B that the others follow from.  Codes are
few, so that pairs are counted, and scores looked up, by code.

Conventions: mentions are those of one document, in document order, and count from 0.  Mention 1 stands before mention
2; all features are 0 or 1, named as in `FEATURES`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from closeread.arrays import Floats, Ints, LimitError, Mask, expand_ranges
from closeread.records import Record
from closeread.tasks.coref.marmara.documents import Span, Token, document_order
from closeread.tasks.coref.marmara.mentions import (
    PRONOUN,
    PROPER,
    TYPES,
    classify_head,
    find_head,
    find_proper_stems,
    is_capitalised,
    lower,
    strip_suffix,
)
from closeread.tasks.coref.marmara.vectors import MentionVectors, Vectors, look_up

Codes = NDArray[np.int16]

A = tuple(f"{side}:{name}" for side in ("m1", "m2", "both") for name in TYPES)
EACH_WAY = ("acronym", "head_in", "lemma_in")
B = ("head", "lemma", "last_part", *(f"{name}{way}" for name in EACH_WAY for way in ("", "_reverse", "_any")))
INDEPENDENT = tuple(name for name in B if not name.endswith("_any"))
"""The features of B that are bits of a code; the others are disjunctions of these."""

FEATURES = (*A, *B, *(f"{a}*{b}" for a in A for b in B))
"""The names of all 129 features."""

N_CODES = len(TYPES) ** 2 << len(INDEPENDENT)

MAX_MENTIONS = 10_000
"""The most mentions of a document, of which all pairs have features."""


@dataclass(frozen=True)
class Mentions:
    """The mentions of a document as columns, (n_mentions,), in document order.

    Texts are numbers: equal texts of a column, and of `acronym` and `initials` together, have the same.
    """

    spans: Sequence[Span]
    head: Ints  # the token that is their head
    type: Ints  # their types, numbers in `TYPES`
    form: Ints  # the lower-case form of the head, from 0
    lemma: Ints  # the stripped lower-case lemma of the head, from 0
    last_part: Ints  # the last part, by `_`, of the stripped lower-case form of the head
    acronym: Ints  # the mention as an acronym; -1 where it is none
    initials: Ints  # the initials of its capitalised parts; -2 where it has fewer than two such parts
    form_in: Mask  # whether a form is a sub-string of another, (n_forms, n_forms)
    lemma_in: Mask  # whether a lemma is a sub-string of another, (n_lemmas, n_lemmas)
    vectors: MentionVectors | None = None  # where word vectors are features, too

    def __len__(self) -> int:
        return len(self.spans)


def describe_mentions(
    tokens: Sequence[Token], spans: Sequence[Span], pronouns: Collection[str], vectors: Vectors | None = None
) -> Mentions:
    """Put what features need of mentions into columns; `pronouns` are lemmas of pronouns, in lower case."""
    if len(spans) > MAX_MENTIONS:
        raise LimitError(0, len(spans), "mentions", MAX_MENTIONS)
    stems = find_proper_stems(tokens)
    places = [find_head(tokens, span) for span in spans]
    heads = [tokens[place] for place in places]
    forms, form = _factorize(lower(head.form) for head in heads)
    lemmas, lemma = _factorize(lower(strip_suffix(head.lemma)) for head in heads)
    _, last_part = _factorize(lower(strip_suffix(head.form).rpartition("_")[2]) for head in heads)
    words = [[token.form for token in tokens[start : end + 1]] for start, end in spans]
    short, long = list(map(_read_acronym, words)), list(map(_read_initials, words))
    _, abbreviations = _factorize([*short, *long])
    acronym, initials = abbreviations.reshape(2, len(spans))
    return Mentions(
        spans=spans,
        head=np.array(places, np.int64),
        type=np.array([classify_head(head, stems, pronouns) for head in heads], np.int64),
        form=form,
        lemma=lemma,
        last_part=last_part,
        acronym=np.where(list(map(bool, short)), acronym, -1),
        initials=np.where(list(map(bool, long)), initials, -2),
        form_in=find_substrings(forms),
        lemma_in=find_substrings(lemmas),
        vectors=look_up(tokens, spans, places, vectors) if vectors else None,
    )


def _factorize(texts: Iterable[str]) -> tuple[list[str], Ints]:
    """Return the different texts in order of their first use, and the place of every text among these."""
    places: dict[str, int] = {}
    found = [places.setdefault(text, len(places)) for text in texts]
    return list(places), np.array(found, np.int64)


def _read_acronym(forms: Sequence[str]) -> str:
    """Return a single word of two or more capitals, without its suffix and its dots; empty if it is none."""
    text = strip_suffix(forms[0]).replace(".", "")
    return text if len(forms) == 1 and len(text) > 1 and all(map(is_capitalised, text)) else ""


def _read_initials(forms: Sequence[str]) -> str:
    """Return the initials of the capitalised parts of words; empty if there are fewer than two."""
    parts = [part for form in forms for part in strip_suffix(form).split("_") if is_capitalised(part)]
    return "".join(part[0] for part in parts) if len(parts) > 1 else ""


def find_substrings(texts: Sequence[str]) -> Mask:
    """Return whether texts are sub-strings of each other, (n, n): the row's text inside the column's.

    >>> find_substrings(["el", "elma", "mal"]).astype(int).tolist()
    [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    """
    places = {text: place for place, text in enumerate(texts)}
    found = np.zeros((len(texts), len(texts)), np.bool_)
    for column, text in enumerate(texts):
        if len(text) ** 2 > len(texts):
            found[:, column] = [other in text for other in texts]
            continue
        # A word has fewer sub-strings than a document has words.
        parts = {text[i:j] for i in range(len(text) + 1) for j in range(i, len(text) + 1)}
        found[[places[part] for part in parts if part in places], column] = True
    return found


def encode_pairs(mentions: Mentions, first: Ints, second: Ints) -> Codes:
    """Return the codes of pairs of a document's mentions, given in any two shapes that broadcast."""
    forms, lemmas = (mentions.form[first], mentions.form[second]), (mentions.lemma[first], mentions.lemma[second])
    types = mentions.type[first], mentions.type[second]
    bits = (
        forms[0] == forms[1],
        lemmas[0] == lemmas[1],
        (types[0] == PROPER) & (types[1] == PROPER) & (mentions.last_part[first] == mentions.last_part[second]),
        mentions.acronym[first] == mentions.initials[second],
        mentions.initials[first] == mentions.acronym[second],
        mentions.form_in[forms],
        mentions.form_in[forms[::-1]],
        mentions.lemma_in[lemmas],
        mentions.lemma_in[lemmas[::-1]],
    )
    codes: Codes = (len(TYPES) * types[0] + types[1]).astype(np.int16) << len(INDEPENDENT)
    for place, bit in enumerate(bits):
        codes |= bit.astype(np.int16) << place
    return codes


def mark_candidates(mentions: Mentions, first: Ints, second: Ints) -> Mask:
    """Tell which pairs may be linked: all but a pronoun before what is no pronoun; shapes as `encode_pairs`."""
    allowed: Mask = (mentions.type[first] != PRONOUN) | (mentions.type[second] == PRONOUN)
    return allowed


def expand_codes(codes: Ints | Codes) -> Floats:
    """Return the features of codes, (n_codes, 129), in the order of `FEATURES`."""
    types = codes >> len(INDEPENDENT)
    first, second = np.divmod(types, len(TYPES))
    kinds = np.arange(len(TYPES))
    is_first, is_second = first[:, None] == kinds, second[:, None] == kinds
    a = np.hstack([is_first, is_second, is_first & is_second])
    bit = {name: (codes >> place & 1).astype(np.bool_) for place, name in enumerate(INDEPENDENT)}
    for name in EACH_WAY:
        bit[f"{name}_any"] = bit[name] | bit[f"{name}_reverse"]
    b = np.stack([bit[name] for name in B], axis=1)
    products = (a[:, :, None] & b[:, None, :]).reshape(len(codes), len(A) * len(B))
    return np.hstack([a, b, products]).astype(np.float64)


def name_features(code: int) -> list[str]:
    """Return the names of the features of A and B that are 1 for a code."""
    values = expand_codes(np.array([code]))[0, : len(A) + len(B)]
    return [name for name, value in zip(FEATURES, values, strict=False) if value]


MAX_DISTANCE = 99
"""How many mentions apart two mentions may be to be an example of a pair that does not corefer."""


class Pairs(NamedTuple):
    """Examples, (n_pairs,) each: their two mentions, and whether they corefer."""

    first: Ints
    second: Ints
    is_positive: Mask


def list_gold(record: Record) -> dict[Span, int]:
    """Return the mentions of a document that are in chains, in document order, with the number of their chain."""
    chains = {(start, end): chain for chain, spans in enumerate(record["clusters"]) for start, end in spans}
    return dict(sorted(chains.items(), key=lambda item: document_order(item[0])))


def draw_wrong(document: str, gold: Collection[Span], detected: Sequence[Span], seed: int) -> list[Span]:
    """Draw as many detected mentions that are not in gold as there are in gold, or all if there are fewer.

    The same are drawn for a document of that name with that seed, whatever the other documents.
    """
    wrong = [span for span in detected if span not in gold]
    rng = np.random.default_rng([seed, crc32(document.encode("utf-8"))])
    drawn = rng.choice(len(wrong), min(len(wrong), len(gold)), replace=False)
    return [wrong[place] for place in sorted(drawn.tolist())]


def list_examples(spans: Sequence[Span], chains: Mapping[Span, int]) -> Pairs:
    """List the examples of a document, given its mentions in document order, and the chain of those that are in one.

    Positive are mentions with the nearest one before them in their chain; negative all pairs that are not in one
    chain and at most `MAX_DISTANCE` mentions apart.
    """
    n = len(spans)
    # Mentions in no chain get a chain of their own.
    chain = np.array([chains.get(span, -1 - place) for place, span in enumerate(spans)], np.int64)
    order = np.argsort(chain, kind="stable")
    follows = chain[order][1:] == chain[order][:-1]
    before, after = order[:-1][follows], order[1:][follows]
    place = np.arange(n)
    nearest = np.maximum(place - MAX_DISTANCE, 0)
    second, first = expand_ranges(nearest, place - nearest)
    apart = chain[first] != chain[second]
    return Pairs(
        np.concatenate([before, first[apart]]),
        np.concatenate([after, second[apart]]),
        np.repeat([True, False], [len(before), int(apart.sum())]),
    )


def count_examples(mentions: Mentions, pairs: Pairs) -> Ints:
    """Count the negative and the positive examples of a document by code, (2, `N_CODES`)."""
    codes = encode_pairs(mentions, pairs.first, pairs.second)
    return np.stack([np.bincount(codes[pairs.is_positive == label], minlength=N_CODES) for label in (False, True)])
