"""Annotators' documents, aligned and checked; links spread over clusters; and consolidation of links into gold.

Sources: Elazar, Basmov, Goldberg and Tsarfaty (2022), section 2: a relation holds between an anchor and the
complement's cluster, so that an anchor linked to a noun phrase is linked to all others of its cluster by the same
preposition.  Their preprint (2021), section 5.2 and Figure 3c: links are annotated on clusters that have been
consolidated before; links that all annotators have are kept, and another person decides on the rest.

Conventions: anchors are not spread, since the converse does not hold, nor are fallbacks, which are prepositions of
pairs without a link.  The unit of consolidation is a *target*: an anchor and a cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from operator import itemgetter
from typing import Any

from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    join_names,
    pluralize,
    quote,
)
from closeread.records import Record
from closeread.tasks.tne.columns import Documents, documents_of, find_clusters
from closeread.tasks.tne.rules import CLUSTER, find_inconsistencies

# Alignment.

CONTENTS = {"text": "character", "tokens": "token", "nps": "noun phrase"}
"""The layers that annotators are given, and the units of each."""

EXTENT = ("first_char", "last_char", "first_token", "last_token", "text")


def raise_problems(source: object, problems: Sequence[str]) -> None:
    """Raise a FormatError if there are problems."""
    if problems:
        raise FormatError(source, list(map(Problem, problems)))


def align(annotators: Sequence[Sequence[Record]], names: Sequence[str]) -> list[Documents]:
    """Return the documents of every annotator in the order of the first."""
    first, *others = map(documents_of, annotators)
    ids = dict.fromkeys(record["id"] for record in first)
    # The first annotator who has a layer of a document, and the layer.
    layers: dict[tuple[str, str], tuple[str, Any]] = {}
    _compare_layers(first, names[0], layers)
    aligned = [first]
    problems: list[str] = []
    for documents, name in zip(others, names[1:], strict=True):
        record_by_id = {record["id"]: record for record in documents}
        lacking = [document for document in ids if document not in record_by_id]
        if lacking:
            share = f"{len(lacking):,} of the {len(ids):,} documents of {names[0]}"
            problems.append(f"{name} lacks {share}: {join_names(lacking)}")
        extra = [document for document in record_by_id if document not in ids]
        if extra:
            n_extra = pluralize(len(extra), "document")
            problems.append(f"{name} has {n_extra} that {names[0]} lacks: {join_names(extra)}")
        in_order = Documents(record_by_id.get(document, {"id": document}) for document in ids)
        problems += _compare_layers(in_order, name, layers)
        aligned.append(in_order)
    raise_problems("annotations", problems)
    return aligned


def _compare_layers(
    documents: Sequence[Record], name: str, layers: dict[tuple[str, str], tuple[str, Any]]
) -> list[str]:
    """Compare the layers of an annotator's documents with those that are known, to which new ones are added."""
    problems = []
    for record in documents:
        for content in CONTENTS:
            layer = record.get(content)
            if layer is None:
                continue
            owner, expected = layers.setdefault((record["id"], content), (name, layer))
            if layer != expected:
                place = f"document {quote(record['id'])}"
                differences = _compare_contents(content, expected, layer, owner, name)
                problems += [f"{place}: {difference}" for difference in differences]
    return problems


def _compare_contents(
    content: str, first: Sequence[Any], second: Sequence[Any], first_name: str, second_name: str
) -> Iterator[str]:
    """Yield differences in a layer of a document that both annotators have."""
    if content == "nps":
        yield from _compare_phrases(first, second, first_name, second_name)
        return
    place = len(first)
    for number, (unit, other_unit) in enumerate(zip_longest(first, second)):
        if unit != other_unit:
            place = number
            break
    where = f"{content} from {CONTENTS[content]} {place} on (counted from 0)"
    yield f"{first_name} and {second_name} differ in {where}"


def _compare_phrases(
    first: Sequence[Record], second: Sequence[Record], first_name: str, second_name: str
) -> Iterator[str]:
    """Yield differences between the noun phrases of two annotators."""
    first_by_id = {phrase["id"]: phrase for phrase in first}
    second_by_id = {phrase["id"]: phrase for phrase in second}
    extent = itemgetter(*EXTENT)
    for name, phrase in first_by_id.items():
        words = _describe(phrase)
        other = second_by_id.get(name)
        if other is None:
            yield f"{second_name} lacks {name}, which is {words} in {first_name}"
        elif extent(phrase) != extent(other):
            yield f"{name} is {_describe(other)} in {second_name} but {words} in {first_name}"
    for name, phrase in second_by_id.items():
        if name not in first_by_id:
            yield f"{second_name} has {name}, {_describe(phrase)}, which {first_name} lacks"


def _describe(phrase: Record) -> str:
    characters = f"characters {phrase['first_char']} to {phrase['last_char']}"
    last = "null" if phrase["last_token"] is None else phrase["last_token"]
    return f"{quote(phrase['text'])} ({characters}, tokens {phrase['first_token']} to {last})"


# Links spread over clusters.

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
    documents, others = align([gold, clustered], ["gold", name])
    merged = Documents(
        {**document, "coref": other.get("coref"), "np_relations": None}
        for document, other in zip(documents, others, strict=True)
    )
    problems = [
        f"id {quote(document)}: coref is missing (expected clusters)"
        for document in merged.list_lacking("coref")
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
    ends = ("anchor", "complement", "preposition")
    triples = dict.fromkeys(map(itemgetter(*ends), links))
    for anchor, complement, preposition in list(triples):
        for member in members.get(complement, ()):
            if member != anchor:
                triples[anchor, member, preposition] = None
    return [dict(zip(ends, triple, strict=True)) for triple in triples]


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


# Consolidation.

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

    documents: Documents
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


def _find_obstacles(aligned: Sequence[Documents], names: Sequence[str]) -> Iterator[str]:
    """Yield why links can't be compared: some are missing, or they are links to other clusters."""
    for documents, name in zip(aligned, names, strict=True):
        lacking = documents.list_lacking("np_relations")
        if lacking:
            share = f"{len(lacking):,} of {len(documents):,} documents: {join_names(lacking)}"
            yield f"{name} has no links for {share} (expected a list for each, possibly empty)"
    for documents, name in zip(aligned[1:], names[1:], strict=True):
        for first, second in zip(aligned[0], documents, strict=True):
            differences = _compare_clusters(first["coref"], second["coref"], names[0], name)
            for difference in differences:
                yield f"document {quote(first['id'])}: {difference}"


def _list_entries(documents: Documents, clusters: Sequence[Mapping[str, int]]) -> dict[Entry, None]:
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
