"""Documents with noun phrases, and the links between them, as columns; comparison of the links of two sides.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), sections 2 and 8.2; the pair-level scores as in their
evaluator.

Conventions: records keep the form of the corpus's schema; their columns are computed once and cached.  Documents and,
in each, noun phrases are numbered from 0, as in their ids (`np7` is 7); a label is the position of a preposition in
`PREPOSITIONS`, 0 for no link.  A *pair* is an ordered pair of noun phrases of one document, stored as one integer
(`pairs`) that sorts by document, anchor and complement.  A pair may have several labels: the first of a system's labels
counts, and the gold label that equals it, or else the last gold label; only for triplets do all labels count.  A
fallback is the label that a system would give to a pair that it does not link; only the counts of fallbacks use it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from operator import itemgetter
from typing import Any

import numpy as np

from closeread.arrays import Floats, Ints, Mask, mark_run_starts
from closeread.exceptions import RequestError, quote
from closeread.records import Record, as_columns

NONE = "_"
PREPOSITIONS = (
    NONE,
    *(
        "of",
        "against",
        "in",
        "by",
        "on",
        "about",
        "with",
        "after",
        "member(s) of",
        "to",
        "from",
        "for",
        "among",
    ),
    *(
        "under",
        "at",
        "between",
        "during",
        "near",
        "over",
        "before",
        "inside",
        "outside",
        "into",
        "around",
    ),
)
"""The labels of the corpus, numbered as in the official evaluator."""

LABELS: Mapping[str, int] = {preposition: label for label, preposition in enumerate(PREPOSITIONS)}
N_LABELS = len(PREPOSITIONS)

TITLE_END = "\n\n"

# the tokens after which a sentence ends; it also ends after a token with a line end
SENTENCE_ENDS = frozenset(".!?")

MAX_LEAD = 100  # how far inside a token, in characters, a noun phrase may begin


def list_phrases(record: Record) -> list[Record]:
    """Return the noun phrases of a document by number, all with a last token; their ids must be dense."""
    found: list[Record] = sorted(record.get("nps") or (), key=lambda phrase: int(phrase["id"][2:]))
    if any(phrase["last_token"] is None for phrase in found):
        tokens = record.get("tokens") or ()
        ends = list(accumulate(len(_drop_blanks(token)) for token in tokens))
        for number, phrase in enumerate(found):
            if phrase["last_token"] is None:
                found[number] = {**phrase, "last_token": _find_last_token(phrase, tokens, ends)}
    return found


def _find_last_token(phrase: Record, tokens: Sequence[str], ends: Sequence[int]) -> int:
    """Return the token in which the words of a noun phrase end; the number of tokens if the words go on beyond them.

    `ends` are the numbers of characters other than white space up to the end of each token.
    """
    first: int = phrase["first_token"]
    words = _drop_blanks(phrase["text"])
    if first >= len(tokens):
        return len(tokens)
    opening = _drop_blanks(tokens[first])[:MAX_LEAD]
    lead = next(
        (
            i
            for i in range(len(opening))
            if words.startswith(opening[i:]) or opening[i:].startswith(words)
        ),
        0,
    )
    return max(first, bisect_left(ends, (ends[first - 1] if first else 0) + lead + len(words)))


def _drop_blanks(text: str) -> str:
    return "".join(text.split())


def find_titled(record: Record, phrases: Sequence[Record]) -> list[int]:
    """Return the numbers of the noun phrases that end before the first blank line of the text."""
    end = record["text"].find(TITLE_END)
    return [number for number, phrase in enumerate(phrases) if phrase["last_char"] <= end]


def number_sentences(tokens: Sequence[str]) -> list[int]:
    """Return the number of each token's sentence, and then that of the sentence of a further token."""
    return list(
        accumulate((token in SENTENCE_ENDS or "\n" in token for token in tokens), initial=0)
    )


def is_phrase_id(name: str) -> bool:
    """Return whether a name is a noun phrase id.

    >>> [name for name in ("np0", "np12", "np012", "np123456", "x") if is_phrase_id(name)]
    ['np0', 'np12']
    """
    return re.fullmatch("np(0|[1-9][0-9]{0,4})", name) is not None


def find_clusters(record: Record) -> dict[str, int]:
    """Return the number of the cluster of each noun phrase, by its id."""
    return {
        name: number
        for number, cluster in enumerate(record["coref"])
        for name in cluster["members"]
    }


# Links.

PHRASE_BITS = 17
LABEL_BITS = 5
MAX_DOCUMENTS = 2 ** (63 - 2 * PHRASE_BITS - LABEL_BITS)

COUNTS = (
    *("links/right", "links/system", "links/gold", "linked/system", "linked/gold"),
    *("triplets/right", "triplets/system", "triplets/gold", "fallback/right", "fallback/gold"),
)

UPREP = ("any", "last")  # which of several gold labels a fallback must match

Tallies = Mapping[str, tuple[Ints, Ints]]
"""The pairs behind every count, with the label that each counts for, so that they can be summed by any grouping."""


def pairs(document: Ints, anchor: Ints, complement: Ints) -> Ints:
    """Pack pairs into one integer each, for at most `MAX_DOCUMENTS` documents with 2**17 noun phrases each."""
    return (((document << PHRASE_BITS) | anchor) << PHRASE_BITS) | complement


def document_of(pair: Ints) -> Ints:
    """Return the documents of pairs."""
    return pair >> (2 * PHRASE_BITS)


def phrases_of(pair: Ints) -> tuple[Ints, Ints]:
    """Return the anchors and the complements of pairs."""
    last = (1 << PHRASE_BITS) - 1
    return (pair >> PHRASE_BITS) & last, pair & last


def triplets(pair: Ints, label: Ints) -> Ints:
    """Pack labelled pairs into one integer each."""
    return (pair << LABEL_BITS) | label


def split_triplets(triplet: Ints) -> tuple[Ints, Ints]:
    """Return the pairs and the labels of triplets."""
    return triplet >> LABEL_BITS, triplet & (2**LABEL_BITS - 1)


@dataclass(frozen=True, eq=False)
class PairsOfSide:
    """The labelled pairs of one side."""

    pair: Ints  # (n,) sorted, each once
    first: Ints  # (n,) the first label of each, in the order given
    last: Ints
    triplet: Ints  # (m,) pairs with labels, sorted, each once


def group_labels(pair: Ints, label: Ints) -> PairsOfSide:
    """Group labels by pair; pairs and labels are (n,) each, in the order given."""
    order = np.argsort(pair, kind="stable")  # also the fastest, since documents are in order
    pair, label = pair[order], label[order]
    starts = np.flatnonzero(mark_run_starts(pair))
    ends = np.append(starts[1:], len(pair)) - 1 if len(starts) else starts
    triplet = np.sort(triplets(pair, label), kind="stable")
    return PairsOfSide(pair[starts], label[starts], label[ends], triplet[mark_run_starts(triplet)])


def are_among(keys: Ints, among: Ints) -> Mask:
    """Return which keys are among other sorted keys."""
    return find_places(keys, among) >= 0


def find_places(keys: Ints, among: Ints) -> Ints:
    """Return the positions of keys among other sorted keys, -1 for those not found."""
    if not len(among):
        return np.full(len(keys), -1)
    place = np.minimum(np.searchsorted(among, keys), len(among) - 1)
    return np.where(among[place] == keys, place, -1)


def align_labels(system: PairsOfSide, gold: PairsOfSide) -> tuple[Ints, Ints, Ints]:
    """Return the pairs that either side links, sorted, with the labels that they count for in gold and system.

    A label is 0 on the side that does not link the pair; the two are the same where the system's label is right.
    """
    # ten times as fast as np.union1d
    every = np.sort(np.concatenate([system.pair, gold.pair]), kind="stable")
    every = every[mark_run_starts(every)]
    gold_label, system_label = np.zeros(len(every), np.int64), np.zeros(len(every), np.int64)
    gold_label[np.searchsorted(every, gold.pair)] = gold.last
    system_label[np.searchsorted(every, system.pair)] = system.first
    is_right = are_among(triplets(every, system_label), gold.triplet)
    return every, np.where(is_right, system_label, gold_label), system_label


def tallies(
    system: PairsOfSide,
    gold: PairsOfSide,
    fallback: PairsOfSide | None = None,
    uprep: str = "any",
) -> Tallies:
    """Find the pairs that are counted for a system's links.

    `fallback` has the labels of pairs that the system does not link, of which the first counts; None if there are no
    fallbacks at all.  With `uprep` "any", a fallback may be any of the gold labels, otherwise it must be the last.
    """
    pair, gold_label, system_label = align_labels(system, gold)
    in_gold, in_system = gold_label != 0, system_label != 0
    both = in_gold & in_system
    chosen = {
        "links/right": (both & (gold_label == system_label), system_label),
        "links/system": (in_system, system_label),
        "links/gold": (in_gold, gold_label),
        "linked/system": (both, system_label),
        "linked/gold": (both, gold_label),
    }
    found = {name: (pair[mask], label[mask]) for name, (mask, label) in chosen.items()}
    known = {
        "triplets/right": system.triplet[are_among(system.triplet, gold.triplet)],
        "triplets/system": system.triplet,
        "triplets/gold": gold.triplet,
    }
    found |= {name: split_triplets(triplet) for name, triplet in known.items()}
    is_missed = in_gold & ~in_system if fallback is not None else np.zeros(len(pair), np.bool_)
    missed, label = pair[is_missed], gold_label[is_missed]
    said = np.zeros(len(missed), np.int64)
    if fallback is not None:
        place = find_places(missed, fallback.pair)
        said[place >= 0] = fallback.first[place[place >= 0]]
    is_right = said == label if uprep == "last" else are_among(triplets(missed, said), gold.triplet)
    found["fallback/right"] = missed[is_right], said[is_right]
    found["fallback/gold"] = missed, np.where(is_right, said, label)
    return found


def count_by_group(
    tally: Tallies,
    n_documents: int,
    n_groups: int = 1,
    group: Callable[[Ints, Ints], Ints] | None = None,
) -> Floats:
    """Return (n_groups, n_documents, len(COUNTS)) counts; `group` numbers the groups of pairs and labels, (n,) each."""
    counts = np.empty((n_groups, n_documents, len(COUNTS)))
    for number, (pair, label) in enumerate(tally[name] for name in COUNTS):
        cell = (
            document_of(pair)
            if group is None
            else group(pair, label) * n_documents + document_of(pair)
        )
        counts[..., number] = np.bincount(cell, minlength=n_groups * n_documents).reshape(
            n_groups, n_documents
        )
    return counts


def confusion(system: PairsOfSide, gold: PairsOfSide, n_pairs: int) -> Ints:
    """Count `n_pairs` ordered pairs by gold label (row) and predicted label (column), (25, 25); 0 is no link."""
    every, gold_label, system_label = align_labels(system, gold)
    counts = np.bincount(gold_label * N_LABELS + system_label, minlength=N_LABELS**2)
    counts[0] = n_pairs - len(every)
    return counts.reshape(N_LABELS, N_LABELS)


@dataclass(frozen=True, eq=False)
class Links:
    """Links between noun phrases, in the order given; (n,) each."""

    document: Ints  # in ascending order
    anchor: Ints  # negative for an invalid id
    complement: Ints
    label: Ints  # -1 if the preposition is not one of the corpus

    @cached_property
    def pair(self) -> Ints:
        """The pair of each; only of valid links."""
        return pairs(self.document, self.anchor, self.complement)

    @cached_property
    def labeled(self) -> PairsOfSide:
        """The links as they are compared."""
        return group_labels(self.pair, self.label)


def links_of(relations: Iterable[Sequence[Mapping[str, Any]] | None]) -> Links:
    """Return the links of every document as columns; None for no links."""
    of_document = [links or () for links in relations]
    rows = list(chain.from_iterable(of_document))
    codes = _Codes({preposition: -2 - label for preposition, label in LABELS.items()})
    # All fields of a link at once: as long as it is in the processor's cache.
    words = chain.from_iterable(map(itemgetter("anchor", "complement", "preposition"), rows))
    anchor, complement, label = (
        np.fromiter(map(codes.__getitem__, words), np.int64, 3 * len(rows)).reshape(-1, 3).T
    )
    document = np.repeat(
        np.arange(len(of_document)), np.array(list(map(len, of_document)), np.int64)
    )
    return Links(document, anchor, complement, np.where(label < -1, -2 - label, -1))


class _Codes(dict[str, int]):
    """Numbers of noun phrase ids, below -1 for prepositions, and -1 for any other string."""

    def __missing__(self, name: str) -> int:
        number = self[name] = int(name[2:]) if is_phrase_id(name) else -1
        return number


# Documents and submissions.

# required by scoring, and the reason
SCORED = ("gold links", "their predictions can be validated but not scored")


@dataclass(frozen=True, eq=False)
class NounPhrases:
    """The noun phrases of documents, sorted by document and number; (n,) each."""

    starts: Ints  # (n_documents + 1,) where the noun phrases of each document begin
    document: Ints
    first_token: Ints
    last_token: Ints
    last_char: Ints
    text: Sequence[str]


class Documents(list[Record]):
    """Gold records of TNE with their columns."""

    def column(self, name: str) -> Sequence[Any]:
        """Return a field of every document, None where it is missing."""
        return as_columns(self, [name])[name]

    def list_lacking(self, name: str) -> list[str]:
        """Return the ids of the documents that lack a field."""
        return [record["id"] for record in self if record.get(name) is None]

    def require(self, name: str, what: str, reason: str) -> None:
        """Raise a RequestError if documents lack a field."""
        if lacking := self.list_lacking(name):
            found = f"{len(lacking):,} of {len(self):,} documents have no {what} (first: {quote(lacking[0])})"
            raise RequestError(f"{found}; {reason}")

    @cached_property
    def sizes(self) -> Ints:
        """(n_documents,) the number of noun phrases in each."""
        return np.array([len(nps or ()) for nps in self.column("nps")], np.int64)

    @property
    def n_pairs(self) -> int:
        """The number of ordered pairs of noun phrases."""
        return int((self.sizes * (self.sizes - 1)).sum())

    @cached_property
    def noun_phrases(self) -> NounPhrases:
        """The noun phrases; the ids in every document must be dense."""
        rows = list(chain.from_iterable(map(list_phrases, self)))
        names = ("first_token", "last_token", "last_char")
        columns = {name: np.array([row[name] for row in rows], np.int64) for name in names}
        document, text = np.repeat(np.arange(len(self)), self.sizes), [row["text"] for row in rows]
        return NounPhrases(np.append(0, np.cumsum(self.sizes)), document, text=text, **columns)

    @cached_property
    def sentence(self) -> Ints:
        """(n,) the sentence in which a noun phrase begins; sentences end at `.`, `!`, `?` and line ends."""
        numbered = list(map(number_sentences, self.column("tokens")))
        starts = np.append(
            0, np.cumsum([len(of_document) for of_document in numbered], dtype=np.int64)
        )
        phrases = self.noun_phrases
        places = starts[phrases.document] + phrases.first_token
        sentence: Ints = np.array(list(chain.from_iterable(numbered)), np.int64)[places]
        return sentence

    @cached_property
    def cluster_of(self) -> Ints:
        """(n,) the cluster of every noun phrase, numbered over all documents; clusters must partition these."""
        found: list[int] = []
        n_clusters = 0
        for record, size in zip(self, self.sizes.tolist(), strict=True):
            of_member = find_clusters(record)
            found += [n_clusters + of_member[f"np{number}"] for number in range(size)]
            n_clusters += len(record["coref"])
        return np.array(found, np.int64)

    @cached_property
    def links(self) -> Links:
        """The gold links, in the order of the file."""
        return links_of(self.column("np_relations"))


class SystemRows(list[Record | None]):
    """Rows of a submission with their columns, each with `relations` and optionally `fallback`; None for no row."""

    @cached_property
    def links(self) -> Links:
        """The links, in the order given."""
        return links_of((row or {}).get("relations") for row in self)

    @cached_property
    def fallback(self) -> Links:
        """The fallbacks for pairs that are not linked."""
        return links_of((row or {}).get("fallback") for row in self)


def rows_of(system: Sequence[Record | None]) -> SystemRows:
    """Return the rows with their columns."""
    return system if isinstance(system, SystemRows) else SystemRows(system)


def documents_of(records: Sequence[Record]) -> Documents:
    """Return the records with their columns."""
    return records if isinstance(records, Documents) else Documents(records)
