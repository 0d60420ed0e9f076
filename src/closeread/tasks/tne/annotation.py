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
    first, *rest = map(documents_of, annotators)
    # Each layer of a document is compared with that of the first annotator who has it.
    known: dict[str, dict[str, tuple[str, Any]]] = {
        record["id"]: {
            content: (names[0], record[content])
            for content in CONTENTS
            if record.get(content) is not None
        }
        for record in first
    }
    aligned, problems = [first], list[str]()
    for documents, name in zip(rest, names[1:], strict=True):
        theirs = {record["id"]: record for record in documents}
        if lacking := [document for document in known if document not in theirs]:
            found = f"{name} lacks {len(lacking):,} of the {len(known):,} documents of {names[0]}"
            problems.append(f"{found}: {join_names(lacking)}")
        if extra := [document for document in theirs if document not in known]:
            problems.append(
                f"{name} has {pluralize(len(extra), 'document')} that {names[0]} lacks: {join_names(extra)}"
            )
        for document, contents in known.items():
            for content in CONTENTS:
                if (value := theirs.get(document, {}).get(content)) is not None:
                    own, ours = contents.setdefault(content, (name, value))
                    different = (
                        _compare_contents(content, ours, value, own, name) if ours != value else ()
                    )
                    problems += [f"document {quote(document)}: {what}" for what in different]
        aligned.append(Documents(theirs.get(document, {"id": document}) for document in known))
    raise_problems("annotations", problems)
    return aligned


def _compare_contents(
    content: str, ours: Sequence[Any], theirs: Sequence[Any], own: str, other: str
) -> Iterator[str]:
    """Yield differences in a layer of a document that both annotators have."""
    if content != "nps":
        place = next((i for i, (a, b) in enumerate(zip_longest(ours, theirs)) if a != b), len(ours))
        yield f"{own} and {other} differ in {content} from {CONTENTS[content]} {place} on (counted from 0)"
        return
    a, b = ({phrase["id"]: phrase for phrase in side} for side in (ours, theirs))
    for name, phrase in a.items():
        if name not in b:
            yield f"{other} lacks {name}, which is {_describe(phrase)} in {own}"
        elif [phrase[part] for part in EXTENT] != [b[name][part] for part in EXTENT]:
            yield f"{name} is {_describe(b[name])} in {other} but {_describe(phrase)} in {own}"
    for name, phrase in b.items():
        if name not in a:
            yield f"{other} has {name}, {_describe(phrase)}, which {own} lacks"


def _describe(phrase: Record) -> str:
    characters = f"characters {phrase['first_char']} to {phrase['last_char']}"
    last = "null" if phrase["last_token"] is None else phrase["last_token"]
    return f"{quote(phrase['text'])} ({characters}, tokens {phrase['first_token']} to {last})"


# Links spread over clusters.

MAX_LINKS = 1_000_000  # the most links of a document after they are spread over clusters


def check_spread(name: str, n_links: int) -> None:
    """Check that a document doesn't have too many links when these are spread over clusters."""
    if n_links > MAX_LINKS:
        found = (
            f"{n_links:,} links when they are spread over clusters (expected at most {MAX_LINKS:,})"
        )
        raise RequestError(f"document {quote(name)}: {found}")


def replace_clusters(
    gold: Sequence[Record], clustered: Sequence[Record], name: str
) -> list[Record]:
    """Return unlabelled documents with the clusters of others of the same ids, such as those that a system predicts."""
    sides = zip(*align([gold, clustered], ["gold", name]), strict=True)
    merged = [{**one, "coref": other.get("coref"), "np_relations": None} for one, other in sides]
    lacking = Documents(merged).list_lacking("coref")
    problems = [
        f"id {quote(document)}: coref is missing (expected clusters)" for document in lacking
    ]
    raise_problems(name, [*problems, *(what for _, what in find_inconsistencies(merged))])
    return merged


def close_rows(rows: Sequence[Record], documents: Sequence[Record]) -> list[Record]:
    """Return predictions whose links are spread over the clusters of documents, which are in the same order."""
    for row, document in zip(rows, documents, strict=True):
        size = {
            name: len(cluster["members"])
            for cluster in document["coref"]
            for name in cluster["members"]
        }
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
    ends = ("anchor", "complement", "preposition")
    triples = [tuple(link[end] for end in ends) for link in links]
    spread = [
        (anchor, other, preposition)
        for anchor, complement, preposition in triples
        for other in members.get(complement, ())
        if other != anchor
    ]
    return [dict(zip(ends, triple, strict=True)) for triple in dict.fromkeys([*triples, *spread])]


def make_gold(rows: Sequence[Record], documents: Sequence[Record], name: str) -> list[Record]:
    """Return gold documents: documents with the links of rows, which are in the same order."""
    gold = []
    for row, document in zip(rows, documents, strict=True):
        cluster = {member: one["id"] for one in document["coref"] for member in one["members"]}
        links = [{**link, CLUSTER: cluster[link["complement"]]} for link in row["relations"]]
        gold.append({**document, "np_relations": links})
    raise_problems(name, [what for _, what in find_inconsistencies(gold)])
    return gold


# Consolidation.

ANNOTATORS = "ABCDEFGH"  # the names of annotators in files of conflicts, in order

AROUND = 60  # how many characters of context are shown on each side of a noun phrase

Target = tuple[int, str, int]
"""The numbers of a document, the id of the anchor, and the number of the cluster in the document."""

Entry = tuple[Target, str]  # a target and a preposition


@dataclass(frozen=True, eq=False)
class Consolidation:
    """The links of all annotators."""

    documents: Documents  # the documents of the first annotator
    # whether all annotators have an entry: those of the first annotator first, in order
    entries: Mapping[Entry, bool]
    # each annotator's prepositions where they differ, by document
    contested: Mapping[Target, list[list[str]]]


def compare_links(annotators: Sequence[Sequence[Record]], names: Sequence[str]) -> Consolidation:
    """Compare the links of several annotators."""
    if not 2 <= len(annotators) <= len(ANNOTATORS):
        raise RequestError(
            f"the number of annotators' files is {len(annotators)} (expected 2 to {len(ANNOTATORS)})"
        )
    aligned, problems = align(annotators, names), list[str]()
    for documents, name in zip(aligned, names, strict=True):
        if without := documents.list_lacking("np_relations"):
            found = f"{len(without):,} of {len(documents):,} documents: {join_names(without)}"
            problems.append(
                f"{name} has no links for {found} (expected a list for each, possibly empty)"
            )
    for documents, name in zip(aligned[1:], names[1:], strict=True):
        for one, two in zip(aligned[0], documents, strict=True):
            different = _compare_clusters(one["coref"], two["coref"], names[0], name)
            problems += [f"document {quote(one['id'])}: {what}" for what in different]
    raise_problems("annotations", problems)
    clusters = list(map(find_clusters, aligned[0]))
    sides: list[dict[Entry, None]] = [
        {
            (
                (index, link["anchor"], clusters[index][link["complement"]]),
                link["preposition"],
            ): None
            for index, record in enumerate(documents)
            for link in record["np_relations"]
        }
        for documents in aligned
    ]
    entries = {entry: all(entry in side for side in sides) for one in sides for entry in one}
    targets = dict.fromkeys(target for (target, _), is_agreed in entries.items() if not is_agreed)
    contested: dict[Target, list[list[str]]] = {
        target: [[] for _ in sides] for target in sorted(targets, key=itemgetter(0))
    }
    for number, side in enumerate(sides):
        for target, preposition in side:
            if target in contested:
                contested[target][number].append(preposition)
    return Consolidation(aligned[0], entries, contested)


def _compare_clusters(
    ours: Sequence[Record], theirs: Sequence[Record], own: str, other: str
) -> Iterator[str]:
    """Find differences between the clusters of a document; ids and order may differ."""
    one, two = (
        {frozenset(c["members"]): c.get("np_type") for c in side} for side in (ours, theirs)
    )
    for members, kind in one.items() if ours != theirs else ():
        phrases = " and ".join(sorted(members, key=lambda name: (len(name), name)))
        if members not in two:
            yield f"{own} has the cluster {phrases}, which {other} lacks (expected the same clusters in all files)"
        elif kind and (its := two[members]) and its != kind:
            yield f"the cluster {phrases} is {quote(its)} in {other} but {quote(kind)} in {own}"


def list_conflicts(consolidation: Consolidation) -> list[Record]:
    """Return the targets whose links differ between annotators, by document, as rows for a person to read."""
    rows = []
    for (index, anchor, cluster), prepositions in consolidation.contested.items():
        record = consolidation.documents[index]
        phrases = {phrase["id"]: phrase for phrase in record["nps"]}
        members = [phrases[name] for name in record["coref"][cluster]["members"]]
        first = min(members, key=lambda phrase: (phrase["first_char"], int(phrase["id"][2:])))
        row: Record = {"id": record["id"]}
        for end, phrase in (("anchor", phrases[anchor]), ("complement", first)):
            context = _show_context(record["text"], phrase["first_char"], phrase["last_char"])
            row |= {
                end: phrase["id"],
                f"{end}_text": _squeeze(phrase["text"]),
                f"{end}_context": context,
            }
        rows.append({**row, **dict(zip(ANNOTATORS, prepositions, strict=False))})
    return rows


def _show_context(text: str, begin: int, stop: int) -> str:
    """Show a span of a text in brackets, with the text around it.

    >>> _show_context("The roof of the building is green.", 12, 24)
    'The roof of [the building] is green.'
    """
    first, last = max(begin - AROUND, 0), min(stop + AROUND, len(text))
    before, after = "… " if first else "", " …" if last < len(text) else ""
    return f"{before}{_squeeze(f'{text[first:begin]}[{text[begin:stop]}]{text[stop:last]}')}{after}"


def _squeeze(text: str) -> str:
    """Put a text on one line, with single spaces."""
    return " ".join(text.split())


def keep_common_links(consolidation: Consolidation) -> list[Record]:
    """Return the first annotator's documents with the links that all annotators have."""
    common = [entry for entry, is_common in consolidation.entries.items() if is_common]
    gold: list[Record] = [{**record, "np_relations": []} for record in consolidation.documents]
    sizes: Counter[int] = Counter()
    for (index, _, number), _ in common:
        sizes[index] += len(gold[index]["coref"][number]["members"])
    for index, size in sorted(sizes.items()):
        check_spread(gold[index]["id"], size)
    for (index, anchor, number), preposition in common:
        cluster = gold[index]["coref"][number]
        gold[index]["np_relations"] += [
            {
                "anchor": anchor,
                "complement": member,
                "preposition": preposition,
                CLUSTER: cluster["id"],
            }
            for member in cluster["members"]
        ]
    return gold
