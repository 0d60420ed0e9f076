"""Documents with noun phrases and the links between them, as columns.

Records keep the form of the corpus's schema; their columns are computed once and cached.

Conventions: noun phrases are numbered from 0 within their document, as in their ids (`np7` is 7); a label is the
position of a preposition in `PREPOSITIONS`, 0 for no link.  A *pair* is an ordered pair of noun phrases of one
document, anchor first.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
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

LABELS: Mapping[str, int] = {preposition: label for label, preposition in enumerate(PREPOSITIONS)}

TITLE_END = "\n\n"

SENTENCE_ENDS = frozenset(".!?")  # the tokens after which a sentence ends; it also ends after a token with a line end

MAX_LEAD = 100  # how far inside a token, in characters, a noun phrase may begin

MAX_DIGITS = len(str(limits.MAX_NOUN_PHRASES - 1))  # the most digits of the number in an id


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
    lead = next((i for i in range(len(opening)) if words.startswith(opening[i:]) or opening[i:].startswith(words)), 0)
    return max(first, bisect_left(ends, (ends[first - 1] if first else 0) + lead + len(words)))


def _drop_blanks(text: str) -> str:
    return "".join(text.split())


def find_titled(record: Record, phrases: Sequence[Record]) -> list[int]:
    """Return the numbers of the noun phrases that end before the first blank line of the text."""
    end = record["text"].find(TITLE_END)
    return [number for number, phrase in enumerate(phrases) if phrase["last_char"] <= end]


def number_sentences(tokens: Sequence[str]) -> list[int]:
    """Return the sentence in which each token stands, and then that in which a further one would."""
    return list(accumulate((token in SENTENCE_ENDS or "\n" in token for token in tokens), initial=0))


@dataclass(frozen=True, eq=False)
class Links:
    """Links between noun phrases, in the order given; (n,) each."""

    document: Ints  # in ascending order
    anchor: Ints  # -1 for an invalid id
    complement: Ints
    label: Labels  # -1 if the preposition is not one of the corpus

    def __len__(self) -> int:
        return len(self.document)

    @cached_property
    def labelled(self) -> Labelled:
        """The links as the kernels compare them."""
        return group_labels(pairs(self.document, self.anchor, self.complement), self.label)


@dataclass(frozen=True, eq=False)
class NounPhrases:
    """The noun phrases of documents, sorted by document and number; (n,) each."""

    starts: Ints  # (n_documents + 1,) where the noun phrases of each document begin
    first_token: Ints
    last_token: Ints
    last_char: Ints
    text: Sequence[str]

    @property
    def document(self) -> Ints:
        """The document of each."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


class Documents(RecordsWithColumns):
    """Gold records of TNE with their columns."""

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
    def noun_phrases(self) -> NounPhrases:
        """The noun phrases; the ids in every document must be dense."""
        rows = list(chain.from_iterable(map(list_phrases, self.records)))
        columns = {
            name: np.array([row[name] for row in rows], np.int64) for name in ("first_token", "last_token", "last_char")
        }
        return NounPhrases(np.append(0, np.cumsum(self.sizes)), **columns, text=[row["text"] for row in rows])

    @cached_property
    def sentence(self) -> Ints:
        """(n,) the sentence in which a noun phrase begins; sentences end at `.`, `!`, `?` and line ends."""
        numbered = list(map(number_sentences, self.column("tokens")))
        starts = np.append(0, np.cumsum([len(of_document) for of_document in numbered], dtype=np.int64))
        phrases = self.noun_phrases
        places = starts[phrases.document] + phrases.first_token
        sentence: Ints = np.array(list(chain.from_iterable(numbered)), np.int64)[places]
        return sentence

    @cached_property
    def cluster_of(self) -> Ints:
        """(n,) the cluster of every noun phrase, numbered over all documents; clusters must partition these."""
        found: list[int] = []
        n_clusters = 0
        for clusters, size in zip(self.column("coref"), self.sizes.tolist(), strict=True):
            of_member = {name: n for n, cluster in enumerate(clusters, n_clusters) for name in cluster["members"]}
            found += [of_member[f"np{number}"] for number in range(size)]
            n_clusters += len(clusters)
        return np.array(found, np.int64)

    @cached_property
    def links(self) -> Links:
        """The gold links, in the order of the file."""
        return links_of(self.column("np_relations"))


class SystemRows(Sequence[Record | None]):
    """Rows of a submission with their columns, each with `relations` and optionally `fallback`; None for no row."""

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


def links_of(relations: Iterable[Sequence[Mapping[str, Any]] | None]) -> Links:
    """Return the links of every document as columns; None for no links."""
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


_FIRST_LABEL = 10**MAX_DIGITS  # all numbers of noun phrases are less


class _Numbers(dict[str, int]):
    """Numbers of noun phrase ids, -1 for any other string; looked-up ids are cached."""

    def __missing__(self, name: str) -> int:
        number = self[name] = int(name[2:]) if is_phrase_id(name) else -1
        return number


def is_phrase_id(name: str) -> bool:
    """Return whether a name is a noun phrase id.

    >>> [name for name in ("np0", "np12", "np012", "np123456", "x") if is_phrase_id(name)]
    ['np0', 'np12']
    """
    digits = name.removeprefix("np")
    return digits.isascii() and digits.isdigit() and len(digits) <= MAX_DIGITS and name == f"np{int(digits)}"
