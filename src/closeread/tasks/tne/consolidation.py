"""Consolidation of annotators' links into gold.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 5.2 and Figure 3c: links are annotated on
clusters that have been consolidated before; links that all annotators have are kept, and another person decides on the
rest.

Conventions: the unit of consolidation is a *target*: an anchor and a cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from closeread.exceptions import RequestError, join_names, quote
from closeread.records import Record
from closeread.tasks.tne.alignment import align, raise_problems
from closeread.tasks.tne.closure import check_spread
from closeread.tasks.tne.phrases import find_clusters, list_lacking
from closeread.tasks.tne.rules import CLUSTER

ANNOTATORS = "ABCDEFGH"
"""The names of annotators in files of conflicts, in order."""

MAX_CONTEXT = 60
"""How many characters of context are shown on each side of a noun phrase."""

Target = tuple[int, str, int]
"""The numbers of a document, the id of the anchor, and the number of the cluster in the document."""

Entry = tuple[Target, str]
"""A target and a preposition."""


@dataclass(frozen=True, eq=False)
class Consolidation:
    """The links of all annotators.

    Attributes:
        documents: the documents of the first annotator.
        entries: whether all annotators have an entry; those of the first annotator come first, in order.
        contested: each annotator's prepositions of the targets where these differ, by document.
    """

    documents: Sequence[Record]
    entries: Mapping[Entry, bool]
    contested: Mapping[Target, list[list[str]]]


def compare_links(annotators: Sequence[Sequence[Record]], names: Sequence[str]) -> Consolidation:
    """Compare the links of several annotators."""
    if not 2 <= len(annotators) <= len(ANNOTATORS):
        expected = f"expected 2 to {len(ANNOTATORS)}"
        raise RequestError(f"the number of annotators' files is {len(annotators)} ({expected})")
    aligned = align(annotators, names)
    raise_problems("annotations", list(_find_obstacles(aligned, names)))
    clusters = list(map(find_clusters, aligned[0]))
    sides = [_list_entries(documents, clusters) for documents in aligned]
    entries: dict[Entry, bool] = {}
    for side in sides:
        for entry in side:
            entries[entry] = all(entry in other for other in sides)
    return Consolidation(aligned[0], entries, _find_contested(sides, entries))


def _find_obstacles(aligned: Sequence[Sequence[Record]], names: Sequence[str]) -> Iterator[str]:
    """Yield why links can't be compared: some are missing, or they are links to other clusters."""
    for documents, name in zip(aligned, names, strict=True):
        lacking = list_lacking(documents, "np_relations")
        if lacking:
            share = f"{len(lacking):,} of {len(documents):,} documents: {join_names(lacking)}"
            yield f"{name} has no links for {share} (expected a list for each, possibly empty)"
    for documents, name in zip(aligned[1:], names[1:], strict=True):
        for first, second in zip(aligned[0], documents, strict=True):
            differences = _compare_clusters(first["coref"], second["coref"], names[0], name)
            for difference in differences:
                yield f"document {quote(first['id'])}: {difference}"


def _list_entries(
    documents: Sequence[Record], clusters: Sequence[Mapping[str, int]]
) -> dict[Entry, None]:
    """Return the entries of an annotator, in order, with the numbers of the first annotator's clusters."""
    entries: dict[Entry, None] = {}
    for index, (record, cluster) in enumerate(zip(documents, clusters, strict=True)):
        for link in record["np_relations"]:
            target = (index, link["anchor"], cluster[link["complement"]])
            entries[target, link["preposition"]] = None
    return entries


def _find_contested(
    sides: Sequence[Mapping[Entry, None]], entries: Mapping[Entry, bool]
) -> dict[Target, list[list[str]]]:
    """Return each annotator's prepositions of the targets whose entries not all annotators have."""
    targets = dict.fromkeys(target for (target, _), is_common in entries.items() if not is_common)
    contested: dict[Target, list[list[str]]] = {}
    for target in sorted(targets, key=itemgetter(0)):
        contested[target] = [[] for _ in sides]
    for number, side in enumerate(sides):
        for target, preposition in side:
            if target in contested:
                contested[target][number].append(preposition)
    return contested


def _compare_clusters(
    first: Sequence[Record], second: Sequence[Record], first_name: str, second_name: str
) -> Iterator[str]:
    """Find differences between the clusters of a document; ids and order may differ."""
    if first == second:
        return
    second_types = _map_types(second)
    for members, np_type in _map_types(first).items():
        phrases = " and ".join(sorted(members, key=lambda name: (len(name), name)))
        if members not in second_types:
            lacking = f"which {second_name} lacks (expected the same clusters in all files)"
            yield f"{first_name} has the cluster {phrases}, {lacking}"
            continue
        other_type = second_types[members]
        # A type that only one of them gives is no contradiction.
        if np_type and other_type and np_type != other_type:
            sides = f"{quote(other_type)} in {second_name} but {quote(np_type)} in {first_name}"
            yield f"the cluster {phrases} is {sides}"


def _map_types(clusters: Sequence[Record]) -> dict[frozenset[str], str | None]:
    """Return the type of each cluster, by its members."""
    return {frozenset(cluster["members"]): cluster.get("np_type") for cluster in clusters}


def list_conflicts(consolidation: Consolidation) -> list[Record]:
    """Return the targets whose links differ between annotators, by document, as rows for a person to read."""
    rows = []
    for (index, anchor, cluster), prepositions in consolidation.contested.items():
        record = consolidation.documents[index]
        phrases = {phrase["id"]: phrase for phrase in record["nps"]}
        members = [phrases[name] for name in record["coref"][cluster]["members"]]
        complement = min(members, key=lambda phrase: (phrase["first_char"], int(phrase["id"][2:])))
        row: Record = {"id": record["id"]}
        for end, phrase in (("anchor", phrases[anchor]), ("complement", complement)):
            row[end] = phrase["id"]
            row[f"{end}_text"] = _squeeze(phrase["text"])
            row[f"{end}_context"] = _show_context(
                record["text"], phrase["first_char"], phrase["last_char"]
            )
        row |= zip(ANNOTATORS, prepositions, strict=False)
        rows.append(row)
    return rows


def _show_context(text: str, begin: int, stop: int) -> str:
    """Show a span of a text in brackets, with the text around it.

    >>> _show_context("The roof of the building is green.", 12, 24)
    'The roof of [the building] is green.'
    """
    first = max(begin - MAX_CONTEXT, 0)
    last = min(stop + MAX_CONTEXT, len(text))
    context = _squeeze(f"{text[first:begin]}[{text[begin:stop]}]{text[stop:last]}")
    if first > 0:
        context = f"… {context}"
    if last < len(text):
        context = f"{context} …"
    return context


def _squeeze(text: str) -> str:
    """Put a text on one line, with single spaces."""
    return " ".join(text.split())


def keep_common_links(consolidation: Consolidation) -> list[Record]:
    """Return the first annotator's documents with the links that all annotators have."""
    common = [entry for entry, is_common in consolidation.entries.items() if is_common]
    gold: list[Record] = [{**record, "np_relations": []} for record in consolidation.documents]
    n_links: Counter[int] = Counter()
    for (index, _, number), _ in common:
        n_links[index] += len(gold[index]["coref"][number]["members"])
    for index, n_links_of_document in sorted(n_links.items()):
        check_spread(gold[index]["id"], n_links_of_document)
    for (index, anchor, number), preposition in common:
        cluster = gold[index]["coref"][number]
        for member in cluster["members"]:
            link = {"anchor": anchor, "complement": member, "preposition": preposition}
            gold[index]["np_relations"].append({**link, CLUSTER: cluster["id"]})
    return gold
