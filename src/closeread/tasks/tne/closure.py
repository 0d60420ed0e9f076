"""Links spread over clusters.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2022), section 2: a relation holds between an anchor and the complement's
cluster, so that an anchor linked to a noun phrase is linked to all others of its cluster by the same preposition.

Conventions: anchors are not spread, since the converse does not hold, nor are fallbacks, which are prepositions of
pairs without a link.
"""

from __future__ import annotations

from collections.abc import Sequence

from closeread.exceptions import RequestError, quote
from closeread.records import Record
from closeread.tasks.tne.alignment import align, raise_problems
from closeread.tasks.tne.links import list_links
from closeread.tasks.tne.phrases import find_clusters, list_lacking
from closeread.tasks.tne.rules import CLUSTER, find_inconsistencies

MAX_LINKS = 1_000_000
"""The most links of a document after they are spread over clusters."""


def check_spread(name: str, n_links: int) -> None:
    """Check that a document doesn't have too many links when these are spread over clusters."""
    if n_links > MAX_LINKS:
        expected = f"expected at most {MAX_LINKS:,}"
        raise RequestError(
            f"document {quote(name)}: {n_links:,} links when they are spread over clusters ({expected})"
        )


def replace_clusters(
    gold: Sequence[Record], clustered: Sequence[Record], name: str
) -> list[Record]:
    """Return unlabelled documents with the clusters of others of the same ids, such as those that a system predicts."""
    documents, clusterings = align([gold, clustered], ["gold", name])
    merged: list[Record] = [
        {**document, "coref": clustering.get("coref"), "np_relations": None}
        for document, clustering in zip(documents, clusterings, strict=True)
    ]
    problems = [
        f"id {quote(document)}: coref is missing (expected clusters)"
        for document in list_lacking(merged, "coref")
    ]
    problems += [problem for _, problem in find_inconsistencies(merged)]
    raise_problems(name, problems)
    return merged


def find_members(clusters: Sequence[Record]) -> dict[str, list[str]]:
    """Return all members of the cluster of each noun phrase, by its id."""
    members: dict[str, list[str]] = {}
    for cluster in clusters:
        members.update(dict.fromkeys(cluster["members"], cluster["members"]))
    return members


def close_rows(rows: Sequence[Record], documents: Sequence[Record]) -> list[Record]:
    """Return predictions whose links are spread over the clusters of documents, which are in the same order."""
    # All sizes are checked before anything is spread.
    for row, document in zip(rows, documents, strict=True):
        members = find_members(document["coref"])
        n_links = 0
        for link in row["relations"]:
            n_links += len(members.get(link["complement"], ["itself"]))
        check_spread(row["id"], n_links)
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
    members = find_members(clusters)
    triplets = dict.fromkeys(list_links(links))
    for (anchor, complement), preposition in list(triplets):
        for member in members.get(complement, ()):
            if member != anchor:
                triplets[(anchor, member), preposition] = None
    return [
        {"anchor": anchor, "complement": complement, "preposition": preposition}
        for (anchor, complement), preposition in triplets
    ]


def make_gold(rows: Sequence[Record], documents: Sequence[Record], name: str) -> list[Record]:
    """Return gold documents: documents with the links of rows, which are in the same order."""
    gold = []
    for row, document in zip(rows, documents, strict=True):
        clusters = document["coref"]
        number_by_phrase = find_clusters(document)
        links = []
        for link in row["relations"]:
            cluster = clusters[number_by_phrase[link["complement"]]]
            links.append({**link, CLUSTER: cluster["id"]})
        gold.append({**document, "np_relations": links})
    raise_problems(name, [problem for _, problem in find_inconsistencies(gold)])
    return gold
