"""Anaphor-decomposable score of zeros: the share of zero anaphors that have a right antecedent.

Source: Žabokrtský et al. (2022), Findings of the CRAC shared task on multilingual coreference resolution; the counts
are those of CorefUD's scorer (github.com/ufal/corefud-scorer, version 1.2).

Conventions: the first mention of an entity, in the order of the text, is no anaphor, and all others are.  An anaphor of
the key is right if its match is an anaphor, and if the entity of the match contains the match of an earlier mention of
the same key entity.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, Mask, mark_run_starts
from closeread.tasks.coref.kernels.sides import sum_by_index


class Anaphors(NamedTuple):
    """The mentions of one side, all (n_mentions,).

    Attributes:
        document: the document of each mention.
        entity: its entity, from 0 over all documents.
        rank: its rank in the text.
        is_counted: whether it is counted if it is an anaphor.
    """

    document: Ints
    entity: Ints
    rank: Ints
    is_counted: Mask


def anaphor_counts(key: Anaphors, response: Anaphors, match: Ints, n_documents: int) -> Floats:
    """Count the anaphors that are right, those of the key, and those of the response.

    Args:
        key, response: the mentions.
        match: (n_key_mentions,) the response mention that each key mention matches; -1 for none.
        n_documents: the number of documents.

    Returns:
        (n_documents, 3) float64, columns `entity_metrics.BOTH_SIDES`.  The response's are its own anaphors that match
        no anaphor of the key, and the anaphors that match one, even if these are not to be counted themselves.
    """
    of_key = key.is_counted & ~_mark_first(key.entity, key.rank)
    is_first = _mark_first(response.entity, response.rank)
    matched = np.flatnonzero(match >= 0)
    cell = key.entity[matched] * (int(response.entity.max(initial=-1)) + 1) + response.entity[match[matched]]
    has_antecedent = np.zeros(len(match), np.bool_)
    has_antecedent[matched] = ~_mark_first(cell, key.rank[matched])
    is_matched = np.zeros(len(match), np.bool_)
    is_matched[matched] = ~is_first[match[matched]]
    compared = of_key & is_matched
    spurious = response.is_counted & ~is_first
    spurious[match[of_key & (match >= 0)]] = False
    right, found, wanted = (
        sum_by_index(key.document, rows, n_documents) for rows in (compared & has_antecedent, compared, of_key)
    )
    return np.column_stack([right, wanted, found + sum_by_index(response.document, spurious, n_documents)])


def _mark_first(group: Ints, rank: Ints) -> Mask:
    """Mark the row of the lowest rank in each group."""
    order = np.lexsort((rank, group))
    first = np.zeros(len(group), np.bool_)
    first[order[mark_run_starts(group[order])]] = True
    return first
