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
from closeread.tasks.coref.documents import MentionTable
from closeread.tasks.coref.metrics.matching import Matched
from closeread.tasks.coref.metrics.overlap import KEY, RESPONSE, Overlap, Side, count_links, overlap, sum_by_index
from closeread.tasks.coref.metrics.relations import require_relations
from closeread.tasks.coref.metrics.scores import EACH_SIDE, count_each_side, name_columns
from closeread.tasks.coref.relations import Place, find_single_antecedents, list_zeros, places_by_entity, relations_of

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


class SetMapping(NamedTuple):
    """The pairs of sets of all documents that are mapped to each other, with an F1 above 0.

    Attributes:
        entities: (n_pairs,) each, the entities of key and response.
        found: (n_pairs,) each, recall and precision.
        f1: (n_pairs,).
    """

    entities: tuple[Ints, Ints]
    found: tuple[Floats, Floats]
    f1: Floats


def count_sets(key: Sets, response: Sets, metric: str) -> Floats:
    """Count the sets alone, under their best mapping, (n_documents, 4), columns `EACH_SIDE`."""
    return _map_sets(key, response, metric)[1]


def count_with_sets(sides: tuple[Side, Side], key: Sets, response: Sets, metric: str) -> Floats:
    """Count the entities of both sides with their sets, whose entities have other mentions, too; as `count_sets`."""
    mapping, _ = _map_sets(key, response, metric)
    table = _add_sets(overlap(*sides, len(key)), mapping, (key, response))
    return count_each_side(metric, table, table)


def _add_sets(table: Overlap, mapping: SetMapping, sets: tuple[Sets, Sets]) -> Overlap:
    """Return the table with a set as one more mention of its entity, shared to the degree that it is found."""
    width = max(len(table.sizes[RESPONSE]), 1)
    of_pairs, of_cells = (one * width + other for one, other in (mapping.entities, table.cells))
    cells = np.union1d(of_cells, of_pairs)
    pair = np.searchsorted(cells, of_pairs)
    shared = np.zeros(len(cells), np.int64)
    shared[np.searchsorted(cells, of_cells)] = table.shared
    recall, precision, f1 = (sum_by_index(pair, values, len(cells)) for values in (*mapping.found, mapping.f1))
    linked = (shared + recall, shared + precision)
    sizes = tuple(
        usual + np.bincount([one.entity for found in of_side for one in found], minlength=len(usual)).astype(np.int64)
        for usual, of_side in zip(table.sizes, sets, strict=True)
    )
    links = count_links(shared, sizes[KEY][cells // width], sizes[RESPONSE][cells % width])
    return replace(
        table,
        sizes=sizes,
        cells=np.divmod(cells, width),
        shared=shared,
        linked=linked,
        together=linked,
        links=(links + 2 * recall * shared, links + 2 * precision * shared),
        similarities=(shared + f1, shared + f1),
    )


def _map_sets(key: Sets, response: Sets, metric: str) -> tuple[SetMapping, Floats]:
    """Map sets of the key to sets of the response; return the counts of the sets alone, too, as `count_sets`."""
    from scipy.optimize import linear_sum_assignment

    pairs: list[tuple[int, int]] = []
    scores: list[Floats] = []
    totals = np.zeros((len(key), len(EACH_SIDE)))
    for number, (ours, theirs) in enumerate(zip(key, response, strict=True)):
        for sets, n_others in ((ours, len(theirs)), (theirs, len(ours))):
            n_compared = n_others * sum(len(mentions) for one in sets for mentions in one.antecedents)
            if n_compared > MAX_COMPARED:
                raise LimitError(number, n_compared, "mentions of split antecedents to compare", MAX_COMPARED)
        if not ours and not theirs:
            continue
        own, other = ours or [NO_SET], theirs or [NO_SET]
        counts = _compare([k for k in own for _ in other], list(other) * len(own), metric)
        recall, precision = (np.nan_to_num(ratio(counts[:, i], counts[:, i + 1])) for i in (0, 2))
        f1 = np.nan_to_num(ratio(2 * precision * recall, precision + recall))
        rows, columns = linear_sum_assignment(f1.reshape(len(own), -1), maximize=True)
        chosen = rows * len(other) + columns
        totals[number, [0, 2]] = counts[chosen][:, [0, 2]].sum(axis=0)
        totals[number, 1] = counts[:: len(other), 1].sum()
        totals[number, 3] = counts[: len(other), 3].sum()
        pairs += [(own[i].entity, other[j].entity) for i, j in zip(rows, columns, strict=True)]
        scores.append(np.column_stack([recall, precision, f1])[chosen])
    found = np.concatenate([np.zeros((0, 3)), *scores])
    kept = found[:, 2] > 0
    one, other = np.array(pairs, np.int64).reshape(-1, 2)[kept].T
    recall, precision, f1 = found[kept].T
    return SetMapping((one, other), (recall, precision), f1), totals


def _compare(key: Sequence[AntecedentSet], response: Sequence[AntecedentSet], metric: str) -> Floats:
    """Count pairs of sets, each as a document of its own, (n_pairs, 4), columns `EACH_SIDE`."""
    table = overlap(_make_side(key), _make_side(response), len(key))
    counts = count_each_side(metric, table, table)
    if metric == "muc":  # a singleton has one link
        is_one = [sizes == 1 for sizes in table.sizes]
        found = table.sum_cells(is_one[KEY][table.cells[KEY]] & is_one[RESPONSE][table.cells[RESPONSE]])
        ones = (table.sum_clusters(side, is_one[side]) for side in (KEY, RESPONSE))
        counts += np.column_stack([found, next(ones), found, next(ones)])
    return counts


def _make_side(sets: Sequence[AntecedentSet]) -> Side:
    """Return the antecedents of some sets as clusters of as many documents."""
    rows, cluster = [], 0
    for document, one in enumerate(sets):
        for mentions in one.antecedents:
            rows += [(document, mention, cluster) for mention in mentions]
            cluster += 1
    return Side(*np.array(rows, np.int64).reshape(-1, 3).T)


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
        counts = count_sets(key, response, metric) if only else count_with_sets(sides, key, response, metric)
        columns |= name_columns(metric, EACH_SIDE, counts)
    return columns


def _collect_sets(
    files: tuple[MentionTable, MentionTable], matched: Matched
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
            {place: int(side.mention[row]) for mentions in found.values() for row, place in mentions}
            for side, found in zip(matched.sides, scored, strict=True)
        ]
        fresh: dict[Place, int] = {}
        for i, table in enumerate(files):
            # A mention that is not scored has the code of one of the other side at the same place if no mention of its
            # own side matches that.
            own = set(codes[i].values())
            known = {place: code for place, code in codes[1 - i].items() if code not in own} | codes[i]
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
                    clusters.append([_find_code(place, known, fresh, begin) for place in places])
                sets[i][document].append(AntecedentSet(entity, clusters))
    key, response = (side._replace(entity=new[side.entity]) for side, new in zip(matched.sides, merged, strict=True))
    return (key, response), (sets[0], sets[1])


def _find_code(place: Place, known: dict[Place, int], fresh: dict[Place, int], begin: int) -> int:
    """Return the code of a mention; those that no scored mention has are numbered from `begin`."""
    code = known.get(place)
    return fresh.setdefault(place, begin + len(fresh)) if code is None else code
