"""Entities with split antecedents ("they" for John and Mary): MUC, B-cubed, CEAF and LEA.

Sources: Paun et al. (2022), Scoring Coreference Chains with Split-Antecedent Anaphors (arXiv 2205.12323); Yu et al.
(2023), The Universal Anaphora Scorer 2.0, whose counts these are.

An entity with split antecedents has one more mention: the *set* of its antecedents, which are entities.  In each
document, the sets of the key are mapped one to one to those of the response, so that the sum of their F1 is maximal;
precision, recall and F1 of a pair of sets are those of the metric itself, as if their antecedents were all entities
that there are, where MUC gives a singleton one link.  A set is then found to that degree in the entity of its partner.
So each metric has a mapping of its own.  Of several best ones, SciPy's solver finds the scorer's, since F1 is computed
and arranged alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, LimitError, ratio
from closeread.counts.procedure import Options
from closeread.exceptions import RequestError
from closeread.tasks.coref.mention_table import MentionTable
from closeread.tasks.coref.metrics.matching import MentionMatching
from closeread.tasks.coref.metrics.overlap import (
    KEY,
    RESPONSE,
    Side,
    count_links,
    sum_by_index,
)
from closeread.tasks.coref.metrics.relations import require_relations
from closeread.tasks.coref.metrics.repeats import overlap_of_last
from closeread.tasks.coref.metrics.scores import EACH_SIDE, count_each_side, name_columns
from closeread.tasks.coref.relations import (
    Place,
    find_single_antecedents,
    list_zeros,
    places_by_entity,
    relations_of,
)

METRICS = ("muc", "b3", "ceafm", "ceafe", "lea")

MAX_COMPARED = 5_000_000
"""The most mentions that are compared in a document: those of both sets, for each set of the key and of the response.
"""


class AntecedentSet(NamedTuple):
    """The split antecedents of an entity: the codes of the mentions of each, as in `Side`."""

    entity: int
    antecedents: Sequence[Sequence[int]]


NO_SET = AntecedentSet(-1, ())

Sets = Sequence[Sequence[AntecedentSet]]
"""The sets of one side, for each document."""


def count_sets(key: Sets, response: Sets, metric: str) -> Floats:
    """Count the sets alone, under their best mapping, (n_documents, 4), columns `EACH_SIDE`."""
    return _map_sets(key, response, metric)[1]


def count_with_sets(sides: tuple[Side, Side], key: Sets, response: Sets, metric: str) -> Floats:
    """Count the entities of both sides with their sets, whose entities have other mentions, too; as `count_sets`.

    A set is one more mention of its entity, shared to the degree that it is found.
    """
    table, mapped = overlap_of_last(*sides, len(key)), _map_sets(key, response, metric)[0]
    width = max(len(table.sizes[RESPONSE]), 1)
    of_key, of_response = mapped[:, :2].astype(np.int64).T
    of_pairs, of_cells = (
        of_key * width + of_response,
        table.cells[KEY] * width + table.cells[RESPONSE],
    )
    cells = np.union1d(of_cells, of_pairs)
    place = np.searchsorted(cells, of_cells)

    def spread(values: Ints) -> Ints:
        spread_values = np.zeros(len(cells), np.int64)
        spread_values[place] = values
        return spread_values

    linked_of_key, linked_of_response = map(spread, table.linked)
    shared_of_ceafm, shared_of_ceafe = map(spread, table.similarities)
    pair = np.searchsorted(cells, of_pairs)
    recall, precision, f1 = (sum_by_index(pair, values, len(cells)) for values in mapped[:, 2:].T)
    linked = (linked_of_key + recall, linked_of_response + precision)
    sizes = tuple(
        usual
        + np.bincount(
            [one.entity for found in of_side for one in found], minlength=len(usual)
        ).astype(np.int64)
        for usual, of_side in zip(table.sizes, (key, response), strict=True)
    )
    cell_sizes = sizes[KEY][cells // width], sizes[RESPONSE][cells % width]
    links_of_key = count_links(linked_of_key, *cell_sizes)
    links_of_response = count_links(linked_of_response, *cell_sizes)
    table = replace(
        table,
        sizes=sizes,
        cells=np.divmod(cells, width),
        shared=spread(table.shared),
        linked=linked,
        together=linked,
        links=(
            links_of_key + 2 * recall * linked_of_key,
            links_of_response + 2 * precision * linked_of_response,
        ),
        similarities=(shared_of_ceafm + f1, shared_of_ceafe + f1),
    )
    return count_each_side(metric, table, table)


def _map_sets(key: Sets, response: Sets, metric: str) -> tuple[Floats, Floats]:
    """Map sets of the key to sets of the response.

    Returns:
        The pairs of sets with an F1 above 0, (n_pairs, 5): the entity of each, recall, precision and F1; and the counts
        of the sets alone, as `count_sets`.
    """
    from scipy.optimize import linear_sum_assignment

    mapped: list[tuple[float, ...]] = []
    totals = np.zeros((len(key), len(EACH_SIDE)))
    for number, sides in enumerate(zip(key, response, strict=True)):
        for sets, others in (sides, sides[::-1]):
            n_compared = len(others) * sum(
                len(mentions) for one in sets for mentions in one.antecedents
            )
            if n_compared > MAX_COMPARED:
                raise LimitError(
                    number, n_compared, "mentions of split antecedents to compare", MAX_COMPARED
                )
        if not any(sides):
            continue
        of_key, of_response = (sets or [NO_SET] for sets in sides)
        n = len(of_response)
        counts = _compare(
            [one for one in of_key for _ in of_response], list(of_response) * len(of_key), metric
        )
        recall, precision = (np.nan_to_num(ratio(counts[:, i], counts[:, i + 1])) for i in (0, 2))
        f1 = np.nan_to_num(ratio(2 * precision * recall, precision + recall))
        pairs = list(zip(*linear_sum_assignment(f1.reshape(-1, n), maximize=True), strict=True))
        totals[number, [0, 2]] = counts[[i * n + j for i, j in pairs]][:, [0, 2]].sum(axis=0)
        totals[number, [1, 3]] = counts[::n, 1].sum(), counts[:n, 3].sum()
        mapped += [
            (
                of_key[i].entity,
                of_response[j].entity,
                recall[i * n + j],
                precision[i * n + j],
                f1[i * n + j],
            )
            for i, j in pairs
            if f1[i * n + j] > 0
        ]
    return np.array(mapped, np.float64).reshape(-1, 5), totals


def _compare(
    key: Sequence[AntecedentSet], response: Sequence[AntecedentSet], metric: str
) -> Floats:
    """Count pairs of sets, each as a document of its own, (n_pairs, 4), columns `EACH_SIDE`."""
    sides = []
    for sets in (key, response):
        clusters = [
            (document, mentions)
            for document, one in enumerate(sets)
            for mentions in one.antecedents
        ]
        rows = [
            (document, code, i)
            for i, (document, mentions) in enumerate(clusters)
            for code in mentions
        ]
        sides.append(Side(*np.array(rows, np.int64).reshape(-1, 3).T))
    table = overlap_of_last(sides[KEY], sides[RESPONSE], len(key))
    counts = count_each_side(metric, table, table)
    if metric == "muc":  # a singleton has one link
        is_one = [sizes == 1 for sizes in table.sizes]
        found = table.sum_cells(
            is_one[KEY][table.cells[KEY]] & is_one[RESPONSE][table.cells[RESPONSE]]
        )
        ones = [table.sum_clusters(side, is_one[side]) for side in (KEY, RESPONSE)]
        counts += np.column_stack([found, ones[KEY], found, ones[RESPONSE]])
    return counts


NEEDED = {
    "keep_singletons": ("true",),
    "duplicates": ("error", "last"),
    "zeros": ("linear", "exclude"),
}
"""The values of options that are scored together with split antecedents."""


def check_options(metrics: Sequence[str], options: Options, breakdowns: Sequence[str]) -> None:
    """Check that split antecedents can be scored with these metrics, options and breakdowns."""
    if "blanc" in metrics:
        advice = "choose other metrics, such as muc,b3,ceafm,ceafe,lea,conll"
        raise RequestError(f"BLANC is not defined for entities with split antecedents; {advice}")
    for name, values in NEEDED.items():
        if options[name] not in values:
            raise RequestError(
                f"scoring split antecedents needs {name} {' or '.join(map(repr, values))}"
            )
    if breakdowns:
        raise RequestError(
            f"{breakdowns[0]} divides mentions, which sets of antecedents are not; don't score these"
        )


def split_columns(
    files: tuple[MentionTable, MentionTable],
    matched: MentionMatching,
    metrics: Sequence[str],
    choice: str,
) -> dict[str, Floats]:
    """Count every document by those metrics that know sets of antecedents; by the names of the counts.

    Args:
        files: key and response as they were read.
        matched: the mentions that are scored.
        metrics: the names of metrics.
        choice: "score", or "only" for the sets alone.
    """
    require_relations(*files, "scoring split antecedents")
    sides, (key, response) = _collect_sets(files, matched)
    columns: dict[str, Floats] = {}
    for metric in (name for name in metrics if name in METRICS):
        only = choice == "only"
        counts = (
            count_sets(key, response, metric)
            if only
            else count_with_sets(sides, key, response, metric)
        )
        columns |= name_columns(metric, EACH_SIDE, counts)
    return columns


def _collect_sets(
    files: tuple[MentionTable, MentionTable], matched: MentionMatching
) -> tuple[tuple[Side, Side], tuple[Sets, Sets]]:
    """Collect the sets of both sides; entities with the same antecedents become one."""
    merged = [np.arange(side.n_entities) for side in matched.sides]
    sets: tuple[list[list[AntecedentSet]], ...] = ([], [])
    begin = 1 + max(int(side.mention.max(initial=0)) for side in matched.sides)
    tables = (matched.key, matched.response)
    for document in range(len(matched.key.names)):
        for of_side in sets:
            of_side.append([])
        if not any(relations_of(table, document).antecedents for table in files):
            continue
        zeros = list_zeros(document, *tables)
        scored = [places_by_entity(table, document, zeros) for table in tables]
        codes = [
            {
                place: int(side.mention[row])
                for mentions in found.values()
                for row, place in mentions
            }
            for side, found in zip(matched.sides, scored, strict=True)
        ]
        fresh: dict[Place, int] = {}
        for i, table in enumerate(files):
            # A mention that is not scored has the code of one of the other side at the same place if no mention of its
            # own side matches that.
            own = set(codes[i].values())
            known = {
                place: code for place, code in codes[1 - i].items() if code not in own
            } | codes[i]
            relations = relations_of(table, document)
            mentions = places_by_entity(table, document, list_zeros(document, table))
            number = {table.label(found[0][0]): entity for entity, found in mentions.items()}
            single = find_single_antecedents(relations.antecedents)
            first: dict[frozenset[str], int] = {}
            for name, entity in number.items():
                antecedents = single.get(name, ())
                if not antecedents or entity not in scored[i]:
                    continue
                merged[i][entity] = first.setdefault(frozenset(antecedents), entity)
                if merged[i][entity] != entity:
                    continue
                clusters = []
                for antecedent in antecedents:
                    places = relations.non_referring.get(antecedent)
                    places = places or [place for _, place in mentions[number[antecedent]]]
                    # those that no scored mention has are numbered from `begin`
                    for place in places:
                        if place not in known:
                            fresh.setdefault(place, begin + len(fresh))
                    codes_of_places = [
                        known[place] if place in known else fresh[place] for place in places
                    ]
                    clusters.append((sorted(places), codes_of_places))
                # The order of the text, as of entities, matters for mentions of two antecedents.
                clusters.sort()
                sets[i][document].append(
                    AntecedentSet(entity, [cluster for _, cluster in clusters])
                )
    key, response = (
        side._replace(entity=new[side.entity])
        for side, new in zip(matched.sides, merged, strict=True)
    )
    return (key, response), (sets[0], sets[1])
