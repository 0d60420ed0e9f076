"""Noun phrases as the spans of a trained model, and its predictions as a submission.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 8.

Conventions: a span is a noun phrase with all its words.  Where gold gives several prepositions to a pair, a model
learns the last one, as the authors' does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from closeread.counts.table import CountTable
from closeread.exceptions import RequestError, quote
from closeread.records import Record
from closeread.tasks.tne.columns import PREPOSITIONS, Documents
from closeread.tasks.tne.kernels.links import COUNTS, document_of, group_labels, pairs, phrases_of, tallies
from closeread.tasks.tne.procedure import PROCEDURE, check_linked

if TYPE_CHECKING:
    from closeread.neural.link_learning import LabelledPairs, PredictedPairs
    from closeread.neural.spans import Spans


def find_spans(documents: Documents) -> Spans:
    """Return the noun phrases of documents as spans of their tokens.

    Raises:
        RequestError: a document has no tokens or no noun phrases.
    """
    from closeread.neural.spans import Spans

    for name in ("tokens", "nps"):
        lacking = [
            identifier
            for identifier, value in zip(documents.column("id"), documents.column(name), strict=True)
            if value is None
        ]
        if lacking:
            found = f"{len(lacking):,} of {len(documents):,} documents have no {name} (first: {quote(lacking[0])})"
            raise RequestError(f"{found}; a model needs them")
    phrases = documents.noun_phrases
    words = documents.column("tokens")
    n_words = np.array([len(tokens) for tokens in words], np.int64)[phrases.document]
    last = np.minimum(phrases.last_token, n_words - 1)
    return Spans(words, phrases.starts, np.minimum(phrases.first_token, last), last)


def find_links(documents: Documents) -> LabelledPairs:
    """Return the gold links of documents, each pair once.

    Raises:
        RequestError: a document has no gold links.
    """
    from closeread.neural.link_learning import LabelledPairs

    check_linked(documents)
    labelled = documents.links.labelled
    return LabelledPairs(document_of(labelled.pair), *phrases_of(labelled.pair), labelled.last.astype(np.int64))


def score_links(documents: Documents, predicted: Iterator[PredictedPairs]) -> Mapping[str, float | None]:
    """Return the scores of predictions by their names, from 0 to 1; None for those that are undefined."""
    every = [(pairs(part.document, part.anchor, part.complement), part.label, part.is_linked) for part in predicted]
    pair, label, is_linked = (np.concatenate(column) for column in zip(*every, strict=True))
    system, fallback = (group_labels(pair[chosen], label[chosen]) for chosen in (is_linked, ~is_linked))
    counts = tallies(system, documents.links.labelled, fallback).by_document(len(documents))
    table = CountTable(documents.column("id"), np.arange(len(documents)), COUNTS, counts)
    return table.scores(PROCEDURE.metrics)


def to_rows(
    documents: Documents, predicted: Iterator[PredictedPairs], *, link_all: bool = False, fallbacks: bool = True
) -> list[Record]:
    """Return predictions as rows of a submission, one per document.

    Args:
        documents: the documents.
        predicted: the predictions for all their pairs.
        link_all: link every pair.
        fallbacks: give the pairs that are not linked a fallback.
    """
    rows: list[Record] = [{"id": name, "relations": [], "fallback": []} for name in documents.column("id")]
    names = [f"np{number}" for number in range(int(documents.sizes.max(initial=0)))]
    for part in predicted:
        columns = (part.document, part.anchor, part.complement, part.label, part.is_linked | link_all)
        lists = (column.tolist() for column in columns)
        for document, anchor, complement, label, is_linked in zip(*lists, strict=True):
            link = {"anchor": names[anchor], "complement": names[complement], "preposition": PREPOSITIONS[label]}
            rows[document]["relations" if is_linked else "fallback"].append(link)
    return rows if fallbacks else [{name: row[name] for name in ("id", "relations")} for row in rows]
