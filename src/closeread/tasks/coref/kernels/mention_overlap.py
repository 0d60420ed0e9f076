"""Mention overlap ratio (MOR): how many tokens of the mentions are found, whatever their entities.

Source: Žabokrtský et al. (2022), Findings of the CRAC shared task on multilingual coreference resolution; the counts
are those of CorefUD's scorer (github.com/ufal/corefud-scorer, version 1.2).

Conventions: as in `spans`.  Mentions are mapped one to one so that the tokens in both mentions of a pair are
as many as possible; how mentions match for other metrics does not matter.
"""

from __future__ import annotations

import numpy as np

from closeread.arrays import Floats, Ints, expand_ranges
from closeread.tasks.coref.kernels.assignment import best_total
from closeread.tasks.coref.kernels.sides import sum_by_index
from closeread.tasks.coref.kernels.spans import Spans, count_shared_tokens, count_tokens


def overlap_counts(key: Spans, response: Spans, n_documents: int) -> Floats:
    """Count the tokens of mentions in both sides under the best mapping, in the key, in the response.

    Returns:
        (n_documents, 3) float64, columns `entity_metrics.BOTH_SIDES`.
    """
    row, column = _pair_overlapping(key, response)
    shared = count_shared_tokens(key, row, response, column).astype(np.float64)
    overlaps = shared > 0
    row, column, shared = row[overlaps], column[overlaps], shared[overlaps]
    common = best_total(row, column, shared, key.document[row], n_documents)
    totals = [sum_by_index(side.document, count_tokens(side), n_documents) for side in (key, response)]
    return np.column_stack([common, *totals])


def _pair_overlapping(key: Spans, response: Spans) -> tuple[Ints, Ints]:
    """List the pairs of mentions whose spans overlap."""
    width = int(max(key.end.max(initial=0), response.end.max(initial=0))) + 2
    # One of two overlapping mentions starts within the other; if they start together, the response's does.
    k, r = _list_starts(key, response, width, 0)
    r_first, k_within = _list_starts(response, key, width, 1)
    return np.concatenate([k, k_within]), np.concatenate([r, r_first])


def _list_starts(outer: Spans, inner: Spans, width: int, shift: int) -> tuple[Ints, Ints]:
    """List the pairs where the second mention starts within the first, at least `shift` tokens after its start."""
    starts = inner.document * width + inner.start
    order = np.argsort(starts, kind="stable")
    begin = outer.document * width + outer.start + shift
    low = np.searchsorted(starts[order], begin)
    high = np.searchsorted(starts[order], outer.document * width + outer.end, "right")
    which, place = expand_ranges(low, np.maximum(high - low, 0))
    return which, order[place]
