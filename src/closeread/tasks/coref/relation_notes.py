"""Notes about annotation of Universal Anaphora files that is not scored, and the digest of what is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence

from closeread.counts.procedure import Options
from closeread.tasks.coref.columns import MentionTable, Parts
from closeread.tasks.coref.relations import find_single_antecedents, list_zeros, places_by_entity, relations_of

NON_REFERRING = "non-referring mention", "non-referring mentions"
SPLIT = "entity with split antecedents", "entities with split antecedents"
BRIDGING = "bridging anaphor", "bridging anaphors"
DEIXIS = "mention of discourse deixis", "mentions of discourse deixis"
BY_MINIMUM = "partial", "minimum"
MINIMA = "minimum span of the key is", "minimum spans of the key are"


def describe_relations(table: MentionTable, side: str, options: Options, counts: Collection[str]) -> Iterator[str]:
    """Describe what a side has and is not scored, or not scored in full.

    Args:
        table: the side.
        side: its name, "key" or "response".
        options: all options.
        counts: the names of the counts.
    """
    relations = [relations_of(table, document) for document in range(len(table.names))]
    found = []
    if "non_referring/key" not in counts:
        found.append((sum(len(places) for one in relations for places in one.non_referring.values()), *NON_REFERRING))
    if options["split_antecedents"] == "ignore":
        found.append((sum(len(one.antecedents) for one in relations), *SPLIT))
    if not any(name.startswith("bridging_") for name in counts):
        found.append((sum(len(one.bridging) + one.unknown_markables for one in relations), *BRIDGING))
    elif unknown := sum(one.unknown_markables for one in relations):
        yield f"not scored in the {side}: {_count(unknown, *BRIDGING)} whose MarkableID or MentionAnchor is unknown"
    if table.relations is not None and table.relations.discourse_deixis is not None:
        found.append((len(table.relations.discourse_deixis.start), *DEIXIS))
    if named := ", ".join(_count(*one) for one in found if one[0]):
        yield f"not scored in the {side}: {named}"
    if options["matching"] in BY_MINIMUM and side == "key" and (outside := _count_outside(table)):
        yield f"{_count(outside, *MINIMA)} outside their mentions, which match by the same tokens only"


def digest_relations(table: MentionTable, digests: Sequence[bytes], options: Options) -> list[bytes]:
    """Add to the digests of documents what the options make part of the gold: minimum spans and split antecedents."""
    found: list[list[object]] = [[] for _ in digests]
    if options["matching"] in BY_MINIMUM and table.head is None:
        for row, tokens in table.minimum.items():
            found[int(table.document[row])].append([*_parts_of(table, row), tokens])
    if options["split_antecedents"] != "ignore":
        for document, rows in enumerate(found):
            rows += _list_sets(table, document)
    return [
        hashlib.sha256(digest + json.dumps(sorted(rows, key=json.dumps)).encode()).digest() if rows else digest
        for digest, rows in zip(digests, found, strict=True)
    ]


def _count(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"


def _count_outside(table: MentionTable) -> int:
    """Count the mentions that do not contain their minimum spans."""
    return sum(
        not all(any(start <= token <= end for start, end in _parts_of(table, row)) for token in tokens)
        for row, tokens in table.minimum.items()
    )


def _parts_of(table: MentionTable, row: int) -> Parts:
    return table.parts.get(row, ((int(table.start[row]), int(table.end[row])),))


def _list_sets(table: MentionTable, document: int) -> Iterator[object]:
    """List the entities of a document with split antecedents, and these, by their mentions."""
    relations = relations_of(table, document)
    if not relations.antecedents:
        return
    mentions = places_by_entity(table, document, list_zeros(document, table))
    places = {table.label(found[0][0]): sorted(place for _, place in found) for found in mentions.values()}
    places |= {name: sorted(found) for name, found in relations.non_referring.items()}
    for whole, antecedents in find_single_antecedents(relations.antecedents).items():
        yield [places[whole], sorted(places[name] for name in antecedents)]
