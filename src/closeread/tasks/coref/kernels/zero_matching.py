"""Matching of zeros by their dependencies.

Source: CorefUD's scorer (github.com/ufal/corefud-scorer, version 1.2), which finds the same pairs; the rule is that of
the CRAC shared tasks on multilingual coreference since 2024.

Conventions: a zero is a mention whose head is an empty node.  Its dependencies are pairs of a parent and a relation; a
zero may have several, and no pair occurs twice.  Tokens have the same numbers on both sides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints
from closeread.tasks.coref.kernels.assignment import Pairs, check_pairs
from closeread.tasks.coref.kernels.mention_matching import number_rows
from closeread.tasks.coref.kernels.overlap import match_rows

WEIGHT = 10
"""How much more dependencies count than parents alone."""


class Dependencies(NamedTuple):
    """The dependencies of the zeros of one side, one a row, all (n_dependencies,).

    Attributes:
        mention: the index of the zero, a mention.
        document, sentence: the document, and the number of the sentence there.
        parent: the token of the parent; -1 for the root.
        relation: the number of the relation, the same on both sides.
    """

    mention: Ints
    document: Ints
    sentence: Ints
    parent: Ints
    relation: Ints


def pair_zeros(key: Dependencies, response: Dependencies) -> Pairs:
    """Pair the zeros of a sentence that have a parent in common.

    Their similarity is 10 times the F1 of their dependencies plus the F1 of their parents.

    Raises:
        LimitError: too many zeros have a parent in common.
    """
    split = len(key.mention)
    places = [np.concatenate(columns) for columns in zip(key[1:4], response[1:4], strict=True)]
    parent = number_rows(places)
    dependency = number_rows([parent, np.concatenate([key.relation, response.relation])])
    n_response = int(response.mention.max(initial=-1)) + 1
    check_pairs(key.document, np.bincount(parent[split:], minlength=int(parent.max(initial=-1)) + 1)[parent[:split]])

    def score(code: Ints) -> tuple[Ints, Floats]:
        return _score_shared((key.mention, code[:split]), (response.mention, code[split:]), n_response)

    pairs, similarity = score(parent)
    exact, by_dependency = score(dependency)
    similarity[np.searchsorted(pairs, exact)] += WEIGHT * by_dependency
    return Pairs(*np.divmod(pairs, max(n_response, 1)), similarity)


def _score_shared(key: tuple[Ints, Ints], response: tuple[Ints, Ints], n_response: int) -> tuple[Ints, Floats]:
    """Compute the F1 of the sets of codes of two zeros, for all pairs of zeros that share a code.

    Args:
        key, response: zeros and their codes, (n_dependencies,) each; a code may be repeated.
        n_response: more than the highest index of a zero of the response.

    Returns:
        The pairs as `key * n_response + response`, sorted, and the F1 of each.
    """
    (k, of_key), (r, of_response) = (np.unique(np.column_stack(side), axis=0).T for side in (key, response))
    key_row, response_row = match_rows(of_key, of_response)
    pairs, shared = np.unique(k[key_row] * n_response + r[response_row], return_counts=True)
    one, other = np.divmod(pairs, max(n_response, 1))
    precision, recall = shared / np.bincount(k)[one], shared / np.bincount(r)[other]
    return pairs, 2 * precision * recall / (precision + recall)
