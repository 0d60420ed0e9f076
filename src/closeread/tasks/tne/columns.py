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
)
"""The labels of the corpus, numbered as in the official evaluator."""

LABELS: Mapping[str, int] = {preposition: label for label, preposition in enumerate(PREPOSITIONS)}
N_LABELS = len(PREPOSITIONS)
NO_LINK = 0
"""The label of pairs that are not linked."""

TITLE_END = "\n\n"

SENTENCE_ENDS = frozenset(".!?")
"""The tokens after which a sentence ends; it also ends after a token with a line end."""

MAX_LEAD = 100
"""How far inside a token, in characters, a noun phrase may begin."""


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


# Links.

PHRASE_BITS = 17
LABEL_BITS = 5
MAX_DOCUMENTS = 2 ** (63 - 2 * PHRASE_BITS - LABEL_BITS)

COUNTS = (
    "links/right",
    "links/system",
    "links/gold",
    "linked/system",
    "linked/gold",
    "triplets/right",
    "triplets/system",
    "triplets/gold",
    "fallback/right",
    "fallback/gold",
)

UPREP = ("any", "last")
"""Which of several gold labels a fallback must match."""

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
    """The labelled pairs of one side.

    Attributes:
        pair: (n,) the pairs, sorted, each once.
        first: (n,) the first label of each, in the order given.
        last: (n,) the last label of each.
        triplet: (m,) pairs with labels, sorted, each once.
    """

    pair: Ints
    first: Ints
    last: Ints
    triplet: Ints


def group_labels(pair: Ints, label: Ints) -> PairsOfSide:
    """Group labels by pair; pairs and labels are (n,) each, in the order given."""
    # A stable order keeps the labels of a pair in the order given.  It is also the fastest, since documents are in
    # order.
    order = np.argsort(pair, kind="stable")
    pair = pair[order]
    label = label[order]
    triplet = sort_distinct(triplets(pair, label))
    is_first = mark_run_starts(pair)
    # A pair ends where the next one starts.
    is_last = np.append(is_first[1:], True)[: len(pair)]
    return PairsOfSide(pair[is_first], label[is_first], label[is_last], triplet)


def sort_distinct(keys: Ints) -> Ints:
    """Sort keys, and keep each once."""
    # ten times as fast as np.unique, since keys are nearly sorted
    keys = np.sort(keys, kind="stable")
    return keys[mark_run_starts(keys)]


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
    pair = sort_distinct(np.concatenate([system.pair, gold.pair]))
    gold_label = np.zeros(len(pair), np.int64)
    gold_label[np.searchsorted(pair, gold.pair)] = gold.last
    system_label = np.zeros(len(pair), np.int64)
    system_label[np.searchsorted(pair, system.pair)] = system.first
    is_right = are_among(triplets(pair, system_label), gold.triplet)
    return pair, np.where(is_right, system_label, gold_label), system_label


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
    in_gold = gold_label != NO_LINK
    in_system = system_label != NO_LINK
    in_both = in_gold & in_system
    is_right = in_both & (gold_label == system_label)
    right_triplet = system.triplet[are_among(system.triplet, gold.triplet)]
    # Without any fallbacks, UPrep is undefined: no pair is counted.
    is_missed = in_gold & ~in_system if fallback is not None else np.zeros_like(in_gold)
    missed = (pair[is_missed], gold_label[is_missed])
    return {
        "links/right": (pair[is_right], system_label[is_right]),
        "links/system": (pair[in_system], system_label[in_system]),
        "links/gold": (pair[in_gold], gold_label[in_gold]),
        "linked/system": (pair[in_both], system_label[in_both]),
        "linked/gold": (pair[in_both], gold_label[in_both]),
        "triplets/right": split_triplets(right_triplet),
        "triplets/system": split_triplets(system.triplet),
        "triplets/gold": split_triplets(gold.triplet),
        **_tally_fallbacks(fallback, gold, missed, uprep),
    }


def _tally_fallbacks(
    fallback: PairsOfSide | None, gold: PairsOfSide, missed: tuple[Ints, Ints], uprep: str
) -> Tallies:
    """Find the gold pairs that the system does not link, and those whose fallbacks are right."""
    pair, gold_label = missed
    label = np.full(len(pair), NO_LINK)
    if fallback is not None:
        place = find_places(pair, fallback.pair)
        has_fallback = place >= 0
        label[has_fallback] = fallback.first[place[has_fallback]]
    if uprep == "last":
        is_right = label == gold_label
    else:
        is_right = are_among(triplets(pair, label), gold.triplet)
    return {
        "fallback/right": (pair[is_right], label[is_right]),
        "fallback/gold": (pair, np.where(is_right, label, gold_label)),
    }


def count_by_group(
    tally: Tallies,
    n_documents: int,
    n_groups: int = 1,
    group: Callable[[Ints, Ints], Ints] | None = None,
) -> Floats:
    """Return (n_groups, n_documents, len(COUNTS)) counts; `group` numbers the groups of pairs and labels, (n,) each."""
    counts = np.empty((n_groups, n_documents, len(COUNTS)))
    for number, name in enumerate(COUNTS):
        pair, label = tally[name]
        cell = document_of(pair)
        if group is not None:
            cell = group(pair, label) * n_documents + cell
        numbers = np.bincount(cell, minlength=n_groups * n_documents)
        counts[..., number] = numbers.reshape(n_groups, n_documents)
    return counts


def count_labels(gold_label: Ints, system_label: Ints) -> Ints:
    """Count pairs by gold label (row) and predicted label (column), (25, 25)."""
    cell = gold_label * N_LABELS + system_label
    return np.bincount(cell, minlength=N_LABELS**2).reshape(N_LABELS, N_LABELS)


def confusion(system: PairsOfSide, gold: PairsOfSide, n_pairs: int) -> Ints:
    """Count `n_pairs` ordered pairs by gold label (row) and predicted label (column), (25, 25); 0 is no link."""
    linked, gold_label, system_label = align_labels(system, gold)
    counts = count_labels(gold_label, system_label)
    counts[NO_LINK, NO_LINK] = n_pairs - len(linked)
    return counts


@dataclass(frozen=True, eq=False)
class Links:
    """Links between noun phrases, in the order given; (n,) each.

    Attributes:
        document: the documents, in ascending order.
        anchor: the anchors; -1 for an invalid id.
        complement: the complements; -1 for an invalid id.
        label: the labels; -1 if the preposition is not one of the corpus.
    """

    document: Ints
    anchor: Ints
    complement: Ints
    label: Ints

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
    links_by_document = [links or () for links in relations]
    links = list(chain.from_iterable(links_by_document))
    codes = _Codes({preposition: -2 - label for preposition, label in LABELS.items()})
    # All fields of a link at once: as long as it is in the processor's cache.
    words = chain.from_iterable(map(itemgetter("anchor", "complement", "preposition"), links))
    numbers = np.fromiter(map(codes.__getitem__, words), np.int64, 3 * len(links))
    anchor, complement, code = numbers.reshape(-1, 3).T
    n_links = np.array(list(map(len, links_by_document)), np.int64)
    document = np.repeat(np.arange(len(n_links)), n_links)
    return Links(document, anchor, complement, np.where(code < -1, -2 - code, -1))


class _Codes(dict[str, int]):
    """Numbers of noun phrase ids, below -1 for prepositions, and -1 for any other string."""

    def __missing__(self, name: str) -> int:
        number = self[name] = int(name[2:]) if is_phrase_id(name) else -1
        return number


# Documents and submissions.

SCORED = ("gold links", "their predictions can be validated but not scored")
"""What scoring requires, and the reason."""


@dataclass(frozen=True, eq=False)
class NounPhrases:
    """The noun phrases of documents, sorted by document and number; (n,) each.

    Attributes:
        starts: (n_documents + 1,) where the noun phrases of each document begin.
        document: the document of each.
        first_token: its first token.
        last_token: its last token.
        last_char: where it ends in the text.
        text: its words.
    """

    starts: Ints
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

    def require(self, name: str, layer: str, reason: str) -> None:
        """Raise a RequestError if documents lack a field."""
        lacking = self.list_lacking(name)
        if lacking:
            share = f"{len(lacking):,} of {len(self):,} documents"
            raise RequestError(f"{share} have no {layer} (first: {quote(lacking[0])}); {reason}")

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
        phrases = list(chain.from_iterable(map(list_phrases, self)))

        def gather(name: str) -> Ints:
            return np.array([phrase[name] for phrase in phrases], np.int64)

        return NounPhrases(
            starts=np.append(0, np.cumsum(self.sizes)),
            document=np.repeat(np.arange(len(self)), self.sizes),
            first_token=gather("first_token"),
            last_token=gather("last_token"),
            last_char=gather("last_char"),
            text=[phrase["text"] for phrase in phrases],
        )

    @cached_property
    def sentence(self) -> Ints:
        """(n,) the sentence in which a noun phrase begins; sentences end at `.`, `!`, `?` and line ends."""
        sentences = list(map(number_sentences, self.column("tokens")))
        starts = np.append(0, np.cumsum(list(map(len, sentences)), dtype=np.int64))
        phrases = self.noun_phrases
        places = starts[phrases.document] + phrases.first_token
        sentence: Ints = np.array(list(chain.from_iterable(sentences)), np.int64)[places]
        return sentence

    @cached_property
    def cluster_of(self) -> Ints:
        """(n,) the cluster of every noun phrase, numbered over all documents; clusters must partition these."""
        numbers: list[int] = []
        n_clusters = 0
        for record, size in zip(self, self.sizes.tolist(), strict=True):
            clusters = find_clusters(record)
            numbers += [n_clusters + clusters[f"np{number}"] for number in range(size)]
            n_clusters += len(record["coref"])
        return np.array(numbers, np.int64)

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
