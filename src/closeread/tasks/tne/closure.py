"""Links spread over coreference clusters, and gold documents made of them.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2022), section 2: a relation holds between an anchor and the complement's
cluster, so that an anchor linked to a noun phrase is linked to all others of its cluster by the same preposition.

Conventions: the converse does not hold, so anchors are not spread.  Fallbacks are not spread either: they are
prepositions of pairs without a link.
"""

from __future__ import annotations

from collections.abc import Sequence

from closeread.exceptions import FormatError, Problem, RequestError, quote
from closeread.records import Record
from closeread.tasks.tne.annotators import align
from closeread.tasks.tne.rules import find_inconsistencies

MAX_LINKS = 1_000_000  # the most links of a document after they are spread over clusters


def check_spread(name: str, n_links: int) -> None:
    """Check that a document doesn't have too many links when these are spread over clusters."""
    if n_links > MAX_LINKS:
        found = f"{n_links:,} links when they are spread over clusters (expected at most {MAX_LINKS:,})"
        raise RequestError(f"document {quote(name)}: {found}")


def replace_clusters(
    gold: Sequence[Record], clustered: Sequence[Record], gold_name: str, clustered_name: str
) -> list[Record]:
    """Return unlabelled documents with the clusters of others of the same ids, such as those that a system predicts."""
    ours, theirs = align([gold, clustered], [gold_name, clustered_name])
    merged = [
        {**one, "coref": other.get("coref"), "np_relations": None} for one, other in zip(ours, theirs, strict=True)
    ]
    problems = [
        f"id {quote(record['id'])}: coref is missing (expected clusters)"
        for record in merged
        if record["coref"] is None
    ]
    problems += [what for _, what in find_inconsistencies(merged)]
    if problems:
        raise FormatError(clustered_name, list(map(Problem, problems)))
    return merged


def close_rows(rows: Sequence[Record], documents: Sequence[Record]) -> list[Record]:
    """Return predictions whose links are spread over the clusters of documents, which are in the same order."""
    for row, document in zip(rows, documents, strict=True):
        size = {name: len(cluster["members"]) for cluster in document["coref"] for name in cluster["members"]}
        check_spread(row["id"], sum(size.get(link["complement"], 1) for link in row["relations"]))
    return [
        {**row, "relations": close_links(row["relations"], document["coref"])}
        for row, document in zip(rows, documents, strict=True)
    ]


def close_links(links: Sequence[Record], clusters: Sequence[Record]) -> list[Record]:
    """Return links with those to all other members of their complements' clusters, each once.

    The given links come first, in their order, so that the first preposition of a pair stays the same.

    >>> link = {"anchor": "np0", "complement": "np1", "preposition": "of"}
    >>> [link["complement"] for link in close_links([link], [{"members": ["np1", "np3"]}, {"members": ["np0"]}])]
    ['np1', 'np3']
    """
    members = {name: cluster["members"] for cluster in clusters for name in cluster["members"]}
    triples = [(link["anchor"], link["complement"], link["preposition"]) for link in links]
    spread = [
        (anchor, other, preposition)
        for anchor, complement, preposition in triples
        for other in members.get(complement, ())
        if other != anchor
    ]
    return [
        {"anchor": anchor, "complement": complement, "preposition": preposition}
        for anchor, complement, preposition in dict.fromkeys([*triples, *spread])
    ]


def make_gold(rows: Sequence[Record], documents: Sequence[Record], name: str) -> list[Record]:
    """Return gold documents: documents with the links of rows, which are in the same order."""
    gold = []
    for row, document in zip(rows, documents, strict=True):
        cluster = {name: one["id"] for one in document["coref"] for name in one["members"]}
        links = [{**link, "complement_coref_cluster_id": cluster[link["complement"]]} for link in row["relations"]]
        gold.append({**document, "np_relations": links})
    wrong = [what for _, what in find_inconsistencies(gold)]
    if wrong:
        raise FormatError(name, list(map(Problem, wrong)))
    return gold
