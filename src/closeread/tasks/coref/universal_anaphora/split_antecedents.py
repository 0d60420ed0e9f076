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

from collections.abc import Hashable, Mapping, Sequence
from itertools import accumulate, chain, product
from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, LimitError, ratio
from closeread.counts.procedure import Options
from closeread.exceptions import RequestError
from closeread.tasks.coref.documents import Document, Documents
from closeread.tasks.coref.metrics.duplicates import RepeatedMentions
from closeread.tasks.coref.metrics.entity import are_singletons
from closeread.tasks.coref.metrics.matching import MatchedMentions
from closeread.tasks.coref.metrics.overlap import KEY, RESPONSE, SIDES, Overlap, Side, Sides
from closeread.tasks.coref.metrics.scores import EACH_SIDE, name_columns
from closeread.tasks.coref.universal_anaphora.relation_counts import (
    list_split_entities,
    pair_documents,
    require_relations,
)
from closeread.tasks.coref.universal_anaphora.relations import Place, list_places, list_zeros

METRICS = ("muc", "b3", "ceafm", "ceafe", "lea")

MAX_COMPARED = 5_000_000
"""The most mentions that are compared in a document: those of both sets, for each set of the key and of the response.
"""


class AntecedentSet(NamedTuple):
    """The split antecedents of an entity.

    Attributes:
        entity: the entity that has them.
        antecedents: the mentions of each antecedent: their codes as in `Side`, or their places if no side scores them.
    """

    entity: int
    antecedents: Sequence[Sequence[Hashable]]


NO_SET = AntecedentSet(-1, ())

Sets = Sequence[Sequence[AntecedentSet]]
"""The sets of one side, for each document."""


Agreements = dict[tuple[int, int], tuple[float, float, float]]
"""Recall, precision and F1 of sets that are mapped to each other, by their entities in the key and in the response; F1
is above 0."""


def count_with_sets(sides: Sides, key: Sets, response: Sets, metric: str) -> Floats:
    """Count the entities of both sides with their sets, whose entities have other mentions, too; columns `EACH_SIDE`.

    A set is one more mention of its entity, in common to the degree that it is found.
    """
    agreements, _ = map_sets(key, response, metric)
    repeated = RepeatedMentions(sides, len(key))
    repeated.sides = (add_sets(sides[KEY], key), add_sets(sides[RESPONSE], response))
    for pair, (recall, precision, f1) in agreements.items():
        repeated.key_rows[pair] += recall
        repeated.response_rows[pair] += precision
        repeated.common_rows[pair] += f1
        repeated.common_key_rows[pair] += f1
        if metric == "muc":
            # Entities that have no more than a part of their sets in common have no link in common.
            for counts in (repeated.key_rows, repeated.response_rows):
                counts[pair] = max(counts[pair], 1)
    if metric != "lea":
        return repeated.count_by_last(metric)
    of_key = count_lea(repeated.overlap(repeated.key_rows), KEY)
    of_response = count_lea(repeated.overlap(repeated.response_rows), RESPONSE)
    return np.column_stack([*of_key, *of_response])


def add_sets(side: Side, sets: Sets) -> Side:
    """Add one more mention to the entity of each set, whose code does not matter."""
    rows = []
    for document, sets_of_document in enumerate(sets):
        rows += [(document, 0, antecedents.entity) for antecedents in sets_of_document]
    return Side(*map(np.append, side, Side.of_rows(rows)))


def count_lea(overlap: Overlap, side: int) -> tuple[Floats, Floats]:
    """Count LEA: beside the links of mentions, those of the set to the common mentions are found to its degree."""
    n_common = np.floor(overlap.common)
    degree = overlap.common - n_common
    links = n_common * (n_common - 1) + 2 * degree * n_common
    links = np.where(are_singletons(overlap), n_common, links)
    resolved = links / np.maximum(overlap.size_of(side) - 1, 1)
    return overlap.sum_overlaps(resolved), overlap.n_mentions(side)


def map_sets(key: Sets, response: Sets, metric: str) -> tuple[Agreements, Floats]:
    """Map sets of the key to sets of the response; also count the sets alone, (n_documents, 4), columns `EACH_SIDE`."""
    from scipy.optimize import linear_sum_assignment

    agreements: Agreements = {}
    totals = np.zeros((len(key), len(EACH_SIDE)))
    for document, (key_sets, response_sets) in enumerate(zip(key, response, strict=True)):
        for sets, rivals in ((key_sets, response_sets), (response_sets, key_sets)):
            n_mentions = sum(sum(map(len, split.antecedents)) for split in sets)
            n_compared = n_mentions * len(rivals)
            if n_compared > MAX_COMPARED:
                noun = "mentions of split antecedents to compare"
                raise LimitError(document, n_compared, noun, MAX_COMPARED)
        if not key_sets and not response_sets:
            continue
        counts = compare_sets(key_sets or [NO_SET], response_sets or [NO_SET], metric)
        recall = np.nan_to_num(ratio(counts[..., 0], counts[..., 1]))
        precision = np.nan_to_num(ratio(counts[..., 2], counts[..., 3]))
        f1 = np.nan_to_num(ratio(2 * precision * recall, precision + recall))
        rows, columns = linear_sum_assignment(f1, maximize=True)
        totals[document] = counts[rows, columns].sum(axis=0)
        totals[document, 1] = counts[:, 0, 1].sum()
        totals[document, 3] = counts[0, :, 3].sum()
        for i, j in zip(rows, columns, strict=True):
            if f1[i, j] > 0:
                pair = (key_sets[i].entity, response_sets[j].entity)
                agreements[pair] = (recall[i, j], precision[i, j], f1[i, j])
    return agreements, totals


def compare_sets(
    key: Sequence[AntecedentSet], response: Sequence[AntecedentSet], metric: str
) -> Floats:
    """Count each pair of sets as a document of its own, (n_key, n_response, 4), columns `EACH_SIDE`."""
    pairs = list(product(key, response))
    codes: dict[Hashable, int] = {}
    key_sets, response_sets = zip(*pairs, strict=True)
    sides = (make_side(key_sets, codes), make_side(response_sets, codes))
    repeated = RepeatedMentions(sides, len(pairs))
    counts = repeated.count_by_last(metric)
    if metric == "muc":
        # A singleton has one link.
        overlap = repeated.overlap(repeated.common_rows)
        found = overlap.sum_overlaps(are_singletons(overlap))
        links = [overlap.sum_entities(side, overlap.sizes[side] == 1) for side in SIDES]
        counts += np.column_stack([found, links[KEY], found, links[RESPONSE]])
    return counts.reshape(len(key), len(response), -1)


def make_side(sets: Sequence[AntecedentSet], codes: dict[Hashable, int]) -> Side:
    """Return sets as documents whose entities are the antecedents; mentions are numbered as in `codes`."""
    rows = []
    entity = 0
    for document, antecedent_set in enumerate(sets):
        for mentions in antecedent_set.antecedents:
            numbers = [codes.setdefault(mention, len(codes)) for mention in mentions]
            rows += [(document, number, entity) for number in numbers]
            entity += 1
    return Side.of_rows(rows)


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
    files: tuple[Documents, Documents],
    matched: MatchedMentions,
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
    sides, (key, response) = collect_sets(files, matched)
    columns: dict[str, Floats] = {}
    for metric in metrics:
        if metric not in METRICS:
            continue
        if choice == "only":
            _, counts = map_sets(key, response, metric)
        else:
            counts = count_with_sets(sides, key, response, metric)
        columns |= name_columns(metric, EACH_SIDE, counts)
    return columns


def collect_sets(
    files: tuple[Documents, Documents], matched: MatchedMentions
) -> tuple[Sides, tuple[Sets, Sets]]:
    """Collect the sets of both sides; entities with the same antecedents become one."""
    n_documents = len(matched.key)
    key_sets: list[list[AntecedentSet]] = [[] for _ in range(n_documents)]
    response_sets: list[list[AntecedentSet]] = [[] for _ in range(n_documents)]
    sets = (key_sets, response_sets)
    merged = [np.arange(1 + side.entity.max(initial=-1)) for side in matched.sides]
    scored = [set(side.entity.tolist()) for side in matched.sides]
    first_entities = [count_before(side.documents) for side in files]
    for document, documents in enumerate(pair_documents(matched)):
        for side, codes in enumerate(code_places(documents, matched.sides, document)):
            entity_of: dict[frozenset[str], int] = {}
            for number, _, antecedents in list_split_entities(files[side].documents[document]):
                entity_number = first_entities[side][document] + number
                if entity_number not in scored[side]:
                    continue
                entity = entity_of.setdefault(frozenset(antecedents), entity_number)
                merged[side][entity_number] = entity
                if entity == entity_number:
                    # The order of the text, as of entities, matters for mentions of two antecedents.
                    in_order = sorted(antecedents.values(), key=sorted)
                    coded = [code_mentions(mentions, codes) for mentions in in_order]
                    sets[side][document].append(AntecedentSet(entity, coded))
    key, response = (
        side._replace(entity=entity[side.entity])
        for side, entity in zip(matched.sides, merged, strict=True)
    )
    return (key, response), sets


def count_before(documents: Sequence[Document]) -> list[int]:
    """Return the number of entities before each document, with which the entities of its columns begin."""
    return list(accumulate((len(document.entities) for document in documents), initial=0))


def code_mentions(mentions: Sequence[Place], codes: Mapping[Place, int]) -> list[Hashable]:
    """Return the codes of mentions, or the places of those that have none."""
    return [codes.get(place, place) for place in mentions]


def code_places(
    documents: tuple[Document, Document], sides: Sides, number: int
) -> list[dict[Place, int]]:
    """Return the codes by which the mentions of each side of a document are known, by their places.

    A mention that is not scored has the code of one of the other side at the same place if no mention of its own side
    matches that.

    Args:
        documents: both sides of the document.
        sides: the mentions of all documents.
        number: the number of the document.
    """
    zeros = list_zeros(*documents)
    scored = []
    for document, side in zip(documents, sides, strict=True):
        first, last = side.document.searchsorted([number, number + 1]).tolist()
        codes = side.mention[first:last].tolist()
        places = chain.from_iterable(list_places(document, zeros))
        scored.append(dict(zip(places, codes, strict=True)))
    known = []
    for side_codes, other_codes in (scored, scored[::-1]):
        own_codes = set(side_codes.values())
        adopted = {place: code for place, code in other_codes.items() if code not in own_codes}
        known.append({**adopted, **side_codes})
    return known
