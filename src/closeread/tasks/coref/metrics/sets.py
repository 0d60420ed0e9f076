"""Entities with split antecedents ("they" for John and Mary): MUC, B-cubed, CEAF and LEA.

Sources: Paun et al. (2022), Scoring Coreference Chains with Split-Antecedent Anaphors (arXiv 2205.12323); Yu et al.
(2023), The Universal Anaphora Scorer 2.0, whose counts these are.

An entity with split antecedents has one more mention: the *set* of its antecedents, which are entities.  In each
document, the sets of the key are mapped one to one to those of the response, so that the sum of their F1 is maximal;
precision, recall and F1 of a pair of sets are those of the metric itself, as if their antecedents were all entities
that there are, where MUC gives a singleton one link.  A set is then found to that degree in the entity of its partner.
So each metric has a mapping of its own.  Of several best ones, SciPy's solver finds the scorer's, since F1 is computed
and arranged alike.

Conventions: as in `overlap`; sets are numbered by document and entity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from closeread.arrays import Floats, Ints, check_sums, expand_ranges, mark_run_starts, ratio
from closeread.counts.procedure import Options
from closeread.exceptions import RequestError
from closeread.tasks.coref.documents import MentionTable
from closeread.tasks.coref.matching import Matched
from closeread.tasks.coref.metrics import entity
from closeread.tasks.coref.metrics.entity import ceaf_counts
from closeread.tasks.coref.metrics.overlap import Clusters, Overlap, Side, match_rows, overlap, sum_by_index
from closeread.tasks.coref.metrics.relations import require_relations
from closeread.tasks.coref.relations import Place, find_single_antecedents, list_zeros, places_by_entity, relations_of

EACH_SIDE = ("found_of_key", "key", "found_of_response", "response")
"""The columns of counts: numerator and denominator of recall, numerator and denominator of precision."""


MAX_COMPARED = 5_000_000
"""The most mentions that are compared in a document: those of both sets, for each set of the key and of the response.
"""


class Sets(NamedTuple):
    """The sets of antecedents of one side.

    Attributes:
        document: (n_sets,) the document of each set, in ascending order.
        entity: (n_sets,) the entity that each set is a mention of.
        owner: (n_rows,) the set of each mention of an antecedent, in ascending order.
        cluster: (n_rows,) the antecedent that the mention belongs to, numbered from 0 in its set.
        mention: (n_rows,) the mention's code, as in `Side`.
    """

    document: Ints
    entity: Ints
    owner: Ints
    cluster: Ints
    mention: Ints


class SetMapping(NamedTuple):
    """The pairs of sets that are mapped to each other, with an F1 above 0.

    Attributes:
        key, response: (n_pairs,) the sets.
        recall, precision, f1: (n_pairs,) the scores of each pair.
    """

    key: Ints
    response: Ints
    recall: Floats
    precision: Floats
    f1: Floats


@dataclass(frozen=True, eq=False)
class SetOverlap(Overlap):
    """An overlap of sides whose clusters may have a set of antecedents; `key.size` and `response.size` count it.

    Attributes:
        found: (n_cells,) the degree to which the key cluster's set is found in the response cluster: its recall.
        found_back: (n_cells,) the degree to which the response cluster's set is found in the key cluster (precision).
        similarity: (n_cells,) the F1 of the two sets.
    """

    found: Floats
    found_back: Floats
    similarity: Floats

    @property
    def transposed(self) -> Self:
        """The same with key and response swapped."""
        order = np.argsort(self.cell_response, kind="stable")
        return replace(
            super().transposed,
            found=self.found_back[order],
            found_back=self.found[order],
            similarity=self.similarity[order],
        )


def muc_counts(table: SetOverlap) -> Floats:
    """MUC recall; pass `table.transposed` for precision, as for the others but CEAF."""
    found = np.maximum(table.shared - 1, 0) + table.found * (table.shared > 0)
    return np.column_stack([table.per_document(found), table.per_key_document(np.maximum(table.key.size - 1, 0))])


def b_cubed_counts(table: SetOverlap) -> Floats:
    """B-cubed recall."""
    found = (table.shared + table.found) ** 2 / table.key.size[table.cell_key]
    return np.column_stack([table.per_document(found), table.per_key_document(table.key.size)])


def lea_counts(table: SetOverlap) -> Floats:
    """LEA recall; a link to a set counts as much as the set is found."""
    usual = entity.resolve_cells(table, table.shared)
    linked = 2 * table.found * table.shared / np.maximum(table.key.size[table.cell_key] - 1, 1)
    return np.column_stack([table.per_document(usual + linked), table.per_key_document(table.key.size)])


def ceafm_counts(table: SetOverlap) -> Floats:
    """CEAF with the shared mentions plus the F1 of the sets as similarity: common, key, response."""
    return ceaf_counts(table, table.shared + table.similarity, table.key.size, table.response.size)


def ceafe_counts(table: SetOverlap) -> Floats:
    """CEAF with twice that over the sum of both sizes."""
    sizes = table.key.size[table.cell_key] + table.response.size[table.cell_response]
    similarity = 2.0 * (table.shared + table.similarity) / sizes
    return ceaf_counts(table, similarity, table.key.size > 0, table.response.size > 0)


def _count_singletons(table: Overlap) -> Floats:
    """Count the mentions that are singletons on both sides, and the singletons of the key."""
    is_one = (table.key.size[table.cell_key] == 1) & (table.response.size[table.cell_response] == 1)
    return np.column_stack([table.per_document(is_one), table.per_key_document(table.key.size == 1)])


def _count_each_side(count: Callable[[Any], Floats], table: Overlap) -> Floats:
    return np.column_stack([count(table), count(table.transposed)])


def _split_common(counts: Floats) -> Floats:
    """From common, key and response to `EACH_SIDE`."""
    return counts[:, [0, 1, 0, 2]]


def _count_muc_in_sets(table: Overlap) -> Floats:
    return _split_common(entity.muc_counts(table)) + _count_each_side(_count_singletons, table)


IN_SETS: dict[str, Callable[[Overlap], Floats]] = {
    "muc": _count_muc_in_sets,
    "b3": partial(_count_each_side, entity.b_cubed_counts),
    "ceafm": lambda table: _split_common(entity.ceafm_counts(table)),
    "ceafe": lambda table: _split_common(entity.ceafe_counts(table)),
    "lea": partial(_count_each_side, entity.lea_counts),
}
"""The counts `EACH_SIDE` of pairs of sets, by the metric's name."""

IN_ENTITIES: dict[str, Callable[[SetOverlap], Floats]] = {
    "muc": partial(_count_each_side, muc_counts),
    "b3": partial(_count_each_side, b_cubed_counts),
    "ceafm": lambda table: _split_common(ceafm_counts(table)),
    "ceafe": lambda table: _split_common(ceafe_counts(table)),
    "lea": partial(_count_each_side, lea_counts),
}
"""The counts `EACH_SIDE` of documents, by the metric's name."""


def count_sets(key: Sets, response: Sets, n_documents: int, metric: str) -> Floats:
    """Count the sets alone, under their best mapping, (n_documents, 4), columns `EACH_SIDE`."""
    _, counts = _map_sets(key, response, n_documents, metric)
    return counts


def count_with_sets(sides: tuple[Side, Side], key: Sets, response: Sets, n_documents: int, metric: str) -> Floats:
    """Count the entities of both sides, whose mentions are matched, with their sets of antecedents.

    Args:
        sides: key and response.
        key, response: their sets; their entities have other mentions, too.
        n_documents: the number of documents.
        metric: one of `IN_ENTITIES`.

    Returns:
        (n_documents, 4) float64, columns `EACH_SIDE`.
    """
    mapping, _ = _map_sets(key, response, n_documents, metric)
    table = overlap(*sides, n_documents)
    width = max(sides[1].n_entities, 1)
    of_pairs = key.entity[mapping.key] * width + response.entity[mapping.response]
    of_cells = table.cell_key * width + table.cell_response
    cells = np.union1d(of_cells, of_pairs)
    pair = np.searchsorted(cells, of_pairs)

    def spread(values: Floats) -> Floats:
        return sum_by_index(pair, values, len(cells))

    shared = np.zeros(len(cells), np.int64)
    shared[np.searchsorted(cells, of_cells)] = table.shared
    cell_key, cell_response = np.divmod(cells, width)
    return IN_ENTITIES[metric](
        SetOverlap(
            n_documents,
            _add_sets(table.key, key),
            _add_sets(table.response, response),
            table.mentions,
            cell_key,
            cell_response,
            shared,
            found=spread(mapping.recall),
            found_back=spread(mapping.precision),
            similarity=spread(mapping.f1),
        )
    )


def _add_sets(clusters: Clusters, sets: Sets) -> Clusters:
    return replace(clusters, size=clusters.size + np.bincount(sets.entity, minlength=len(clusters.size)))


def _map_sets(key: Sets, response: Sets, n_documents: int, metric: str) -> tuple[SetMapping, Floats]:
    """Map sets of the key to sets of the response.

    Returns:
        The mapping, and the counts `EACH_SIDE` of the sets of each document, (n_documents, 4).
    """
    for sets, others in ((key, response), (response, key)):
        times = np.bincount(others.document, minlength=n_documents)[sets.document]
        compared = times * np.bincount(sets.owner, minlength=len(sets.document))
        check_sums(sets.document, compared, "mentions of split antecedents to compare", MAX_COMPARED)
    k, r = match_rows(key.document, response.document)
    counts = IN_SETS[metric](overlap(_repeat(key, k), _repeat(response, r), len(k)))
    recall, precision = (np.nan_to_num(ratio(counts[:, i], counts[:, i + 1])) for i in (0, 2))
    f1 = np.nan_to_num(ratio(2 * precision * recall, precision + recall))
    chosen = _choose(key.document[k], r, f1)
    totals = np.zeros((n_documents, len(EACH_SIDE)))
    for column, sets in ((0, key), (2, response)):
        each = np.arange(len(sets.document))
        alone = IN_SETS[metric](overlap(_repeat(sets, each), _repeat(sets, each[:0]), len(each)))
        totals[:, column] = sum_by_index(key.document[k[chosen]], counts[chosen, column], n_documents)
        totals[:, column + 1] = sum_by_index(sets.document, alone[:, 1], n_documents)
    chosen = chosen[f1[chosen] > 0]
    return SetMapping(k[chosen], r[chosen], recall[chosen], precision[chosen], f1[chosen]), totals


def _repeat(sets: Sets, which: Ints) -> Side:
    """Return the antecedents of some sets as clusters of as many documents."""
    n_sets = len(sets.document)
    n_rows = np.bincount(sets.owner, minlength=n_sets)
    n_clusters = np.zeros(n_sets, np.int64)
    np.maximum.at(n_clusters, sets.owner, sets.cluster + 1)
    number, row = expand_ranges((np.cumsum(n_rows) - n_rows)[which], n_rows[which])
    first_cluster = np.cumsum(n_clusters[which]) - n_clusters[which]
    return Side(number, sets.mention[row], first_cluster[number] + sets.cluster[row])


def _choose(document: Ints, column: Ints, f1: Floats) -> Ints:
    """Choose pairs one to one, with the largest sum of F1 in each document; all pairs of a document are given."""
    from scipy.optimize import linear_sum_assignment

    borders = np.flatnonzero(mark_run_starts(document)).tolist()
    chosen = []
    for begin, end in pairwise([*borders, len(document)]):
        n_columns = len(np.unique(column[begin:end]))
        pair = linear_sum_assignment(f1[begin:end].reshape(-1, n_columns), maximize=True)
        chosen.append(begin + pair[0] * n_columns + pair[1])
    return np.concatenate(chosen) if chosen else np.zeros(0, np.int64)


NEEDED = {"keep_singletons": ("true",), "duplicates": ("error",), "zeros": ("linear", "exclude")}
"""The values of options that are scored together with split antecedents."""


def check_options(metrics: Sequence[str], options: Options, breakdowns: Sequence[str]) -> None:
    """Check that split antecedents can be scored with these metrics, options and breakdowns."""
    if "blanc" in metrics:
        advice = "choose other metrics, such as muc,b3,ceafm,ceafe,lea,conll"
        raise RequestError(f"BLANC is not defined for entities with split antecedents; {advice}")
    for name, values in NEEDED.items():
        if options[name] not in values:
            raise RequestError(f"scoring split antecedents needs {name} {' or '.join(map(repr, values))}")
    if breakdowns:
        raise RequestError(f"{breakdowns[0]} divides mentions, which sets of antecedents are not; don't score these")


def split_columns(
    files: tuple[MentionTable, MentionTable], matched: Matched, metrics: Sequence[str], choice: str
) -> dict[str, Floats]:
    """Count every document, by the names of the counts, (n_documents,) each.

    Args:
        files: key and response as they were read.
        matched: the mentions that are scored.
        metrics: the names of metrics; those that know no sets of antecedents are left out.
        choice: "score" or "only".
    """
    require_relations(*files, "scoring split antecedents")
    (key, ours), (response, theirs) = _collect(files, matched)
    n_documents = len(matched.key.names)
    own, other = matched.sides
    sides = replace(own, entity=ours[own.entity]), replace(other, entity=theirs[other.entity])
    columns: dict[str, Floats] = {}
    for metric in (name for name in metrics if name in IN_SETS):
        if choice == "only":
            counts = count_sets(key, response, n_documents, metric)
        else:
            counts = count_with_sets(sides, key, response, n_documents, metric)
        columns |= {f"{metric}/{name}": column for name, column in zip(EACH_SIDE, counts.T, strict=True)}
    return columns


class _Collector:
    """Collector of the sets of a side.

    Args:
        table: the side as it was read.
        n_entities: one more than the highest number of an entity.

    Attributes:
        merged: (n_entities,) the entity that each entity becomes: one with the same antecedents is the same.
    """

    def __init__(self, table: MentionTable, n_entities: int) -> None:
        self.merged = np.arange(n_entities)
        self._table = table
        self._sets: list[tuple[int, int]] = []  # the document and the entity of each
        self._rows: list[tuple[int, int, int]] = []  # the set, its antecedent and the code of each mention

    def take(self, document: int, scored: set[int], codes: _Codes) -> None:
        """Take the sets of a document, whose scored entities are given."""
        relations = relations_of(self._table, document)
        mentions = places_by_entity(self._table, document, list_zeros(document, self._table))
        number = {self._table.label(found[0][0]): entity for entity, found in mentions.items()}
        single = find_single_antecedents(relations.antecedents)
        first: dict[frozenset[str], int] = {}
        for name, own in number.items():  # in the order of the entities
            antecedents = single.get(name, ())
            if not antecedents or own not in scored:
                continue
            entity = first.setdefault(frozenset(antecedents), own)
            if entity != own:
                self.merged[own] = entity
                continue
            for cluster, antecedent in enumerate(antecedents):
                places = relations.non_referring.get(antecedent)
                places = places or [place for _, place in mentions[number[antecedent]]]
                self._rows += [(len(self._sets), cluster, codes.find(place)) for place in places]
            self._sets.append((document, entity))

    def sets(self) -> Sets:
        """Return all sets."""
        sets, rows = (np.array(values, np.int64).reshape(-1, n).T for values, n in ((self._sets, 2), (self._rows, 3)))
        return Sets(sets[0], sets[1], rows[0], rows[1], rows[2])


class _Codes:
    """The codes of the mentions of a document on one side, by their places.

    Args:
        own: those of the mentions that are scored.
        other: those of the other side; a mention that is not scored has the code of one of these at the same place if
            no mention of this side matches that.
        fresh: those of all other mentions of both sides, with places not seen before added.
        begin: the first code for these.
    """

    def __init__(self, own: dict[Place, int], other: dict[Place, int], fresh: dict[Place, int], begin: int) -> None:
        matched = set(own.values())
        self._known = {place: code for place, code in other.items() if code not in matched} | own
        self._fresh = fresh
        self._begin = begin

    def find(self, place: Place) -> int:
        """Return the code of a mention, which need not be scored."""
        code = self._known.get(place)
        return self._fresh.setdefault(place, self._begin + len(self._fresh)) if code is None else code


def _collect(files: tuple[MentionTable, MentionTable], matched: Matched) -> tuple[tuple[Sets, Ints], tuple[Sets, Ints]]:
    """Collect the sets of both sides, each with the numbers that entities get where some are merged."""
    key, response = (_Collector(table, side.n_entities) for table, side in zip(files, matched.sides, strict=True))
    begin = 1 + max(int(side.mention.max(initial=0)) for side in matched.sides)
    for document in range(len(matched.key.names)):
        if not any(relations_of(table, document).antecedents for table in files):
            continue
        zeros = list_zeros(document, matched.key, matched.response)
        own, other = (places_by_entity(table, document, zeros) for table in (matched.key, matched.response))
        ours, theirs = (
            {place: int(side.mention[row]) for mentions in found.values() for row, place in mentions}
            for side, found in zip(matched.sides, (own, other), strict=True)
        )
        fresh: dict[Place, int] = {}
        key.take(document, set(own), _Codes(ours, theirs, fresh, begin))
        response.take(document, set(other), _Codes(theirs, ours, fresh, begin))
    return (key.sets(), key.merged), (response.sets(), response.merged)
