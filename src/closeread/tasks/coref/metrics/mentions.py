"""Metrics of mentions, anaphors and relations, which are computed only if they are selected.

Mention overlap ratio (MOR): how many tokens of the mentions are found, whatever their entities.  Mentions are mapped
one to one so that the tokens in both mentions of a pair are as many as possible; how mentions match for other metrics
does not matter.  Anaphor-decomposable score of zeros: the share of zero anaphors that have a right antecedent.  The
first mention of an entity, in the order of the text, is no anaphor, and all others are.  An anaphor of the key is right
if its match is an anaphor, and if the entity of the match contains the match of an earlier mention of the same key
entity.

Source: Žabokrtský et al. (2022), Findings of the CRAC shared task on multilingual coreference resolution; the counts
are those of CorefUD's scorer (github.com/ufal/corefud-scorer, version 1.2).

Conventions: each function returns counts of every document, (n_documents, 3): in both sides, in the key, in the
response.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, Mask, sum_groups
from closeread.assignment import best_total
from closeread.tasks.coref.documents import Documents
from closeread.tasks.coref.empty_nodes import find_zeros
from closeread.tasks.coref.metrics.matching import MatchedMentions
from closeread.tasks.coref.spans import count_common_tokens, count_tokens
from closeread.tasks.coref.universal_anaphora.relation_counts import (
    count_bridging,
    count_non_referring,
)


def count_overlaps(key: Documents, response: Documents) -> Floats:
    """Count the tokens of mentions in both sides under the best mapping, in the key, in the response."""
    key_mentions = key.list_mentions()
    response_mentions = response.list_mentions()
    pairs = []
    for row, column in list_overlapping(key, response):
        n_common = count_common_tokens(key_mentions[row].runs, response_mentions[column].runs)
        if n_common:
            pairs.append((row, column, n_common))
    rows, columns, weights = np.array(pairs, np.int64).reshape(-1, 3).T
    documents = key.columns.document[rows]
    n_documents = len(key)
    counts = [best_total(rows, columns, weights.astype(float), documents, n_documents)]
    for side in (key, response):
        sizes = np.array([count_tokens(mention.runs) for mention in side.list_mentions()], float)
        counts.append(sum_groups(side.columns.document, sizes, n_documents))
    return np.column_stack(counts)


def list_overlapping(key: Documents, response: Documents) -> Iterator[tuple[int, int]]:
    """List the mentions of key and response of which one starts within the other, or with it."""
    bounds = []
    for number, side in enumerate((key, response)):
        document, _, start, end, _ = side.columns
        mentions = zip(document.tolist(), start.tolist(), end.tolist(), strict=True)
        for row, (of_document, first, last) in enumerate(mentions):
            bounds.append((of_document, first, False, number, row))
            bounds.append((of_document, last, True, number, row))
    open_rows: list[set[int]] = [set(), set()]
    for _, _, is_end, side_number, row in sorted(bounds):
        if is_end:
            open_rows[side_number].remove(row)
            continue
        open_rows[side_number].add(row)
        for other_row in open_rows[1 - side_number]:
            yield (other_row, row) if side_number else (row, other_row)


class Anaphors(NamedTuple):
    """The mentions of one side, all (n_mentions,).

    Attributes:
        document: the document of each.
        entity: from 0 over all documents.
        rank: in the text.
        is_counted: whether the mention is an anaphor that counts if it is not the first of its entity.
    """

    document: Ints
    entity: Ints
    rank: Ints
    is_counted: Mask

    def find_first(self) -> set[int]:
        """Find the first mention of every entity."""
        order = np.argsort(self.rank)
        return set(order[np.unique(self.entity[order], return_index=True)[1]].tolist())


def count_anaphors(
    key: Anaphors, response: Anaphors, match: Sequence[int], n_documents: int
) -> Floats:
    """Count the anaphors that are right, those of the key, and those of the response.

    The response's are its own anaphors that match no anaphor of the key, and the anaphors that match one, even if these
    are not to be counted themselves.  `match` is the response mention of each key mention; -1 for none.
    """
    counts = np.zeros((n_documents, 3))
    first_of_key = key.find_first()
    first_of_response = response.find_first()
    linked: set[tuple[int, int]] = set()
    compared: set[int] = set()
    for row in np.argsort(key.rank).tolist():
        matched = match[row]
        is_right = False
        if matched >= 0:
            pair = (int(key.entity[row]), int(response.entity[matched]))
            is_right = pair in linked
            linked.add(pair)
        if key.is_counted[row] and row not in first_of_key:
            is_found = matched >= 0 and matched not in first_of_response
            counts[key.document[row]] += (is_found and is_right, 1, is_found)
            compared.add(matched)
    for row in np.flatnonzero(response.is_counted).tolist():
        if row not in first_of_response and row not in compared:
            counts[response.document[row], 2] += 1
    return counts


def list_zero_anaphors(documents: Documents) -> Anaphors:
    """List the mentions of a side, of which zeros count."""
    columns = documents.columns
    sizes = np.array([count_tokens(mention.runs) for mention in documents.list_mentions()])
    rank = np.argsort(np.lexsort((sizes, columns.end, columns.start)))
    return Anaphors(columns.document, columns.entity, rank, find_zeros(documents))


def count_selected(metric: str, matched: MatchedMentions) -> Floats:
    """Count one of the metrics that are computed only if they are selected, by its name."""
    if metric == "mor":
        return count_overlaps(matched.key, matched.response)
    if metric == "zeros":
        key, response = map(list_zero_anaphors, (matched.key, matched.response))
        return count_anaphors(key, response, matched.find_responses(), len(matched.key))
    if metric == "non_referring":
        return count_non_referring(matched)
    return count_bridging(matched, metric)
