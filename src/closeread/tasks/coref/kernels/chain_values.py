"""The chains of annotators as values of mentions, for measures of agreement that take sets as values.

Conventions: an annotation is one annotator's work on one document.  Mentions are numbered over all documents, those of
a document one after the other.  The value of a mention in an annotation is its chain, the set of its mentions; equal
sets of a document are the same value, whoever drew them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, expand_ranges, mark_run_starts


class Values(NamedTuple):
    """The values that annotators gave to mentions.

    Attributes:
        mention: (n_values,) the mention of each value, in ascending order.
        value: (n_values,) the number of its value, from 0; values of different documents differ.
    """

    mention: Ints
    value: Ints


def number_values(
    *, annotation: Ints, mention: Ints, chain: Ints, annotated: Ints, n_mentions: Ints, count_unlinked: bool
) -> Values:
    """Number the values of mentions.

    Args:
        annotation: (n_rows,) the annotation of each mention of a chain, from 0.
        mention: (n_rows,) the mention; no mention occurs twice in an annotation.
        chain: (n_rows,) its chain, from 0 over all annotations.
        annotated: (n_annotations,) the document of each annotation, from 0.
        n_mentions: (n_documents,) the number of mentions of each document.
        count_unlinked: whether a mention that is in no chain of two or more has a value: the set of itself.
    """
    linked = np.bincount(chain)[chain] > 1
    annotation, mention, chain = annotation[linked], mention[linked], chain[linked]
    value = _number_sets(mention, chain)
    if count_unlinked:
        # A table of annotations and their documents' mentions is filled with singletons first.
        first = np.cumsum(n_mentions) - n_mentions
        sizes = n_mentions[annotated]
        _, every = expand_ranges(first[annotated], sizes)
        values = every + value.max(initial=-1) + 1
        values[(np.cumsum(sizes) - sizes - first[annotated])[annotation] + mention] = value
        mention, value = every, values
    order = np.lexsort((value, mention))
    return Values(mention[order], value[order])


def _number_sets(member: Ints, group: Ints) -> Ints:
    """Number the sets that groups are, so that equal sets have the same number, for each row."""
    order = np.lexsort((member, group))
    bounds = [*np.flatnonzero(mark_run_starts(group[order])).tolist(), len(member)]
    # A set is looked up by the bytes of its sorted members.
    content, width = member[order].tobytes(), member.itemsize
    known: dict[bytes, int] = {}
    numbers = [known.setdefault(content[i * width : j * width], len(known)) for i, j in pairwise(bounds)]
    sets = np.empty(len(member), np.int64)
    sets[order] = np.repeat(np.array(numbers, np.int64), np.diff(bounds))
    return sets
