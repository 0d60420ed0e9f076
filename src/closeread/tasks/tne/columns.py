"""Documents with noun phrases and the links between them, as columns.

Records keep the form of the corpus's schema; their columns are computed once and cached.

Conventions: noun phrases are numbered from 0 within their document, as in their ids (`np7` is 7); a label is the
position of a preposition in `PREPOSITIONS`, 0 for no link.  A *pair* is an ordered pair of noun phrases of one
document, anchor first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import Any, overload

import numpy as np

from closeread import limits
from closeread.arrays import Ints, Mask
from closeread.records import Record, RecordsWithColumns, as_columns
from closeread.tasks.tne.kernels.links import Labelled, Labels, group_labels, pairs

NONE = "_"
PREPOSITIONS = (
    NONE,
    *("of", "against", "in", "by", "on", "about", "with", "after", "member(s) of", "to", "from", "for", "among"),
    *("under", "at", "between", "during", "near", "over", "before", "inside", "outside", "into", "around"),
)
"""The labels of the corpus, numbered as in the official evaluator."""

TITLE_END = "\n\n"

SENTENCE_ENDS = frozenset(".!?")
"""The tokens after which a sentence ends; it also ends after a token with a line end."""

MAX_LEAD = 100
"""How far inside a token, in characters, a noun phrase may begin."""

MAX_DIGITS = len(str(limits.MAX_NOUN_PHRASES - 1))
"""The most digits of the number in an id."""

LABELS: Mapping[str, int] = {preposition: label for label, preposition in enumerate(PREPOSITIONS)}


@dataclass(frozen=True, eq=False)
class Links:
    """Links between noun phrases, in the order given.

    Attributes:
        document: (n,) the document of each, from 0, in ascending order.
        anchor, complement: (n,) the numbers of the two noun phrases; -1 for an invalid id.
        label: (n,) the preposition; -1 if it is not one of the corpus.
    """

    document: Ints
    anchor: Ints
    complement: Ints
    label: Labels

    def __len__(self) -> int:
        return len(self.document)

    @cached_property
    def labelled(self) -> Labelled:
        """The links as the kernels compare them."""
        return group_labels(pairs(self.document, self.anchor, self.complement), self.label)


@dataclass(frozen=True, eq=False)
class NounPhrases:
    """The noun phrases of documents, sorted by document and number.

    Attributes:
        starts: (n_documents + 1,) the positions where the noun phrases of each document begin in the other columns.
        first_char, last_char: (n,) the span in the document's text, end exclusive.
        first_token, last_token: (n,) the span in its tokens, end inclusive; if a noun phrase has no last token, it is
            the one in which its words end.
        text: (n,) the words.
    """

    starts: Ints
    first_char: Ints
    last_char: Ints
    first_token: Ints
    last_token: Ints
    text: Sequence[str]

    @property
    def document(self) -> Ints:
        """(n,) the document of each."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


@dataclass(frozen=True, eq=False)
class Clusters:
    """The coreference clusters of documents, numbered from 0 over all of them.

    Attributes:
        document: (n,) the document of each.
        ids: (n,) the ids, unique within a document.
        kind: (n,) the type of the noun phrases in each; None if unknown.
        member_of: (m,) the cluster of each member, in ascending order.
        member: (m,) the number of each member's noun phrase, -1 for an invalid id.
    """

    document: Ints
    ids: Sequence[str]
    kind: Sequence[str | None]
    member_of: Ints
    member: Ints


class Documents(RecordsWithColumns):
    """Records of TNE with their columns.

    Args:
        records: gold records.
    """

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = records

    def __len__(self) -> int:
        return len(self.records)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Documents: ...
    def __getitem__(self, index: int | slice) -> Record | Documents:
        return Documents(self.records[index]) if isinstance(index, slice) else self.records[index]

    def column(self, name: str) -> Sequence[Any]:
        """Return a field of every document, None where it is missing."""
        return as_columns(self.records, [name])[name]

    def lacks(self, *names: str) -> bool:
        """Return whether a document lacks one of these fields."""
        return any(None in self.column(name) for name in names)

    @cached_property
    def sizes(self) -> Ints:
        """(n_documents,) the number of noun phrases in each."""
        return np.fromiter((len(nps or ()) for nps in self.column("nps")), np.int64, len(self))

    @cached_property
    def phrase_numbers(self) -> Ints:
        """(n,) the number in the id of each noun phrase, in the order given, -1 for an invalid id."""
        return numbers(list(chain.from_iterable(nps or () for nps in self.column("nps"))), "id")

    @cached_property
    def noun_phrases(self) -> NounPhrases:
        """The noun phrases; the ids in every document must be dense."""
        of_document = self.column("nps")
        rows = list(chain.from_iterable(nps or () for nps in of_document))
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        place = np.repeat(starts[:-1], self.sizes) + self.phrase_numbers
        order = np.empty(len(rows), np.int64)
        order[place] = np.arange(len(rows))
        places = {name: list(map(itemgetter(name), rows)) for name in ("first_char", "last_char", "first_token")}
        places["last_token"] = self._find_last_tokens(rows)
        integers = {name: np.array(values, np.int64)[order] for name, values in places.items()}
        return NounPhrases(starts, **integers, text=[rows[i]["text"] for i in order.tolist()])

    def _find_last_tokens(self, rows: Sequence[Record]) -> list[int]:
        """Return the last tokens of all noun phrases, in the order given."""
        last = [row["last_token"] for row in rows]
        if None in last:
            tokens, ends = self.column("tokens"), dict[int, Ints]()
            document: list[int] = np.repeat(np.arange(len(self)), self.sizes).tolist()
            for place in (i for i, token in enumerate(last) if token is None):
                words = tokens[document[place]] or ()
                if document[place] not in ends:
                    ends[document[place]] = np.cumsum([len(_drop_blanks(word)) for word in words])
                last[place] = _find_last_token(rows[place], words, ends[document[place]])
        return last

    @cached_property
    def in_title(self) -> Mask:
        """(n,) whether a noun phrase ends before the first blank line of its document's text."""
        phrases = self.noun_phrases
        title = np.array([text.find(TITLE_END) for text in self.column("text")], np.int64)
        inside: Mask = phrases.last_char <= title[phrases.document]
        return inside

    @cached_property
    def is_cut(self) -> Mask:
        """(n,) whether a noun phrase begins or ends inside a token."""
        phrases, tokens = self.noun_phrases, self.column("tokens")
        spans = zip(phrases.document.tolist(), phrases.first_token.tolist(), phrases.last_token.tolist(), strict=True)
        whole = ["".join(tokens[index][first : last + 1]).replace(" ", "") for index, first, last in spans]
        return np.array(
            [text.replace(" ", "") != words for text, words in zip(phrases.text, whole, strict=True)], np.bool_
        )

    @cached_property
    def is_padded(self) -> Mask:
        """(n,) whether a noun phrase begins or ends with white space."""
        return np.array([text != text.strip() for text in self.noun_phrases.text], np.bool_)

    @cached_property
    def without_last_token(self) -> Sequence[tuple[int, str]]:
        """The noun phrases that have no last token, in the order given, each as its document and its id."""
        of_document = enumerate(self.column("nps"))
        return [(index, one["id"]) for index, nps in of_document for one in nps or () if one["last_token"] is None]

    @cached_property
    def token_starts(self) -> Ints:
        """(n_documents + 1,) the positions where the tokens of each document begin among those of all."""
        return np.concatenate([[0], np.cumsum([len(tokens) for tokens in self.column("tokens")])])

    @cached_property
    def sentence(self) -> Ints:
        """(n,) the sentence in which a noun phrase begins; sentences end at `.`, `!`, `?` and line ends."""
        tokens = chain.from_iterable(self.column("tokens"))
        is_end = np.array([token in SENTENCE_ENDS or "\n" in token for token in tokens], np.bool_)
        ended = np.concatenate([[0], np.cumsum(is_end)])
        phrases = self.noun_phrases
        sentence: Ints = ended[self.token_starts[phrases.document] + phrases.first_token]
        return sentence

    @cached_property
    def clusters(self) -> Clusters:
        """The coreference clusters."""
        of_document = [clusters or () for clusters in self.column("coref")]
        rows = list(chain.from_iterable(of_document))
        members = [row["members"] for row in rows]
        counts = np.fromiter(map(len, of_document), np.int64, len(of_document))
        return Clusters(
            np.repeat(np.arange(len(of_document)), counts),
            [row["id"] for row in rows],
            [row.get("np_type") for row in rows],
            np.repeat(np.arange(len(rows)), np.fromiter(map(len, members), np.int64, len(rows))),
            _number(chain.from_iterable(members), sum(map(len, members))),
        )

    @cached_property
    def cluster_of(self) -> Ints:
        """(n,) the cluster of every noun phrase; clusters must partition the noun phrases."""
        clusters = self.clusters
        cluster = np.empty(len(clusters.member), np.int64)
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        cluster[starts[clusters.document[clusters.member_of]] + clusters.member] = clusters.member_of
        return cluster

    @cached_property
    def links(self) -> Links:
        """The gold links, in the order of the file."""
        return links_of(self.column("np_relations"))


class SystemRows(Sequence[Record | None]):
    """Rows of a submission with their columns, None for a document without a row.

    Args:
        rows: each with `relations` and optionally `fallback`.
    """

    def __init__(self, rows: Sequence[Record | None]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Record | None: ...
    @overload
    def __getitem__(self, index: slice) -> SystemRows: ...
    def __getitem__(self, index: int | slice) -> Record | SystemRows | None:
        return SystemRows(self.rows[index]) if isinstance(index, slice) else self.rows[index]

    @cached_property
    def present(self) -> Mask:
        """(n_documents,) whether a document has a row."""
        return np.array([row is not None for row in self.rows], np.bool_)

    @cached_property
    def ids(self) -> Sequence[str | None]:
        """(n_documents,) the id in each row; None for a document without one."""
        return [None if row is None else row["id"] for row in self.rows]

    @cached_property
    def links(self) -> Links:
        """The links, in the order given."""
        return links_of(None if row is None else row["relations"] for row in self.rows)

    @cached_property
    def fallback(self) -> Links:
        """The fallbacks for pairs that are not linked."""
        return links_of(None if row is None else row.get("fallback") for row in self.rows)


def rows_of(system: Sequence[Record | None]) -> SystemRows:
    """Return the rows with their columns."""
    return system if isinstance(system, SystemRows) else SystemRows(system)


def documents_of(records: Sequence[Record]) -> Documents:
    """Return the records with their columns."""
    return records if isinstance(records, Documents) else Documents(records)


def _find_last_token(noun_phrase: Record, tokens: Sequence[str], ends: Ints) -> int:
    """Return the token in which the words of a noun phrase end; the number of tokens if the words go on beyond them."""
    first: int = noun_phrase["first_token"]
    words = _drop_blanks(noun_phrase["text"])
    if first >= len(tokens):
        return len(tokens)
    opening = _drop_blanks(tokens[first])[:MAX_LEAD]
    lead = next((i for i in range(len(opening)) if words.startswith(opening[i:]) or opening[i:].startswith(words)), 0)
    before = int(ends[first - 1]) if first else 0
    return max(first, int(np.searchsorted(ends, before + lead + len(words))))


def _drop_blanks(text: str) -> str:
    """Return a text without its white space."""
    return "".join(text.split())


def links_of(relations: Iterable[Sequence[Mapping[str, Any]] | None]) -> Links:
    """Return links as columns."""
    of_document = [links or () for links in relations]
    rows = list(chain.from_iterable(of_document))
    counts = np.fromiter(map(len, of_document), np.int64, len(of_document))
    # All fields of a link at once: as long as it is in the processor's cache.
    codes = _Numbers({preposition: _FIRST_LABEL + label for preposition, label in LABELS.items()})
    words = chain.from_iterable(map(itemgetter("anchor", "complement", "preposition"), rows))
    anchor, complement, label = np.fromiter(map(codes.__getitem__, words), np.int64, 3 * len(rows)).reshape(-1, 3).T
    return Links(
        np.repeat(np.arange(len(of_document)), counts),
        np.where(anchor < _FIRST_LABEL, anchor, -1),
        np.where(complement < _FIRST_LABEL, complement, -1),
        np.where(label < _FIRST_LABEL, -1, label - _FIRST_LABEL).astype(np.int8),
    )


_FIRST_LABEL = 10**MAX_DIGITS
"""What tells labels from the numbers of noun phrases, all of which are less."""


class _Numbers(dict[str, int]):
    """Numbers of noun phrase ids, -1 for any other string; looked-up ids are cached."""

    def __missing__(self, name: str) -> int:
        digits = name.removeprefix("np")
        is_id = digits.isascii() and digits.isdigit() and len(digits) <= MAX_DIGITS and name == f"np{int(digits)}"
        number = self[name] = int(digits) if is_id else -1
        return number


def numbers(rows: Sequence[Mapping[str, Any]], name: str) -> Ints:
    """Return the numbers of the noun phrase ids in a field, -1 for an invalid id.

    >>> numbers([{"anchor": "np0"}, {"anchor": "np12"}, {"anchor": "np012"}, {"anchor": "x"}], "anchor").tolist()
    [0, 12, -1, -1]
    """
    return _number(map(itemgetter(name), rows), len(rows))


def _number(ids: Iterable[str], n: int) -> Ints:
    return np.fromiter(map(_Numbers().__getitem__, ids), np.int64, n)
