"""The slow twin of TimeLine's counts: relations are reduced one by one, each by a search of the graph.

A side is a list of rows (position, anchor, mentions).
"""

import re
from itertools import pairwise

BEFORE, SIMULTANEOUS = "BEFORE", "SIMULTANEOUS"


def line(entry):
    position, anchor, mentions = entry
    return "\t".join([str(position), anchor, *mentions]).rstrip(" \t\n\r\v\f")


def key(entry):
    return [
        int(part) if re.fullmatch("[0-9]+", part) else part
        for part in re.split("([0-9]+)", line(entry))
    ]


def sorted_entries(entries):
    return sorted(entries, key=key)


def numbered(entries):
    """List mentions in order: (string, number of earlier copies), anchor, position."""
    found = []
    for position, anchor, mentions in sorted_entries(entries):
        for mention in mentions:
            found.append(((mention, sum(mention == m for (m, _), *_ in found)), anchor, position))
    return found


def relations(entries, track):
    """List all relations of a timeline in order: (relation, node, node)."""
    placed = numbered([entry for entry in entries if entry[0] != 0])
    to_anchors = [(SIMULTANEOUS, ("mention", copy), ("time", anchor)) for copy, anchor, _ in placed]
    neighbours = [
        (BEFORE if p < q else SIMULTANEOUS, ("mention", a), ("mention", b))
        for (a, _, p), (b, _, q) in pairwise(placed)
    ]
    return (to_anchors if track == "full" else []) + neighbours


def ways(graph, start):
    """Find what is reachable from a node: {(node, True if the path contains a BEFORE)}."""
    found, left = {(start, False)}, [(start, False)]
    while left:
        node, strictly = left.pop()
        steps = [(b, strictly or r == BEFORE) for r, a, b in graph if a == node]
        steps += [(a, strictly) for r, a, b in graph if b == node and r == SIMULTANEOUS]
        left += [step for step in steps if step not in found]
        found |= set(steps)
    return found


def entailed(relation, graph):
    kind, a, b = relation
    return (b, kind == BEFORE) in ways(graph, a)


def contradicted(relation, graph):
    kind, a, b = relation
    if kind == BEFORE:
        return a in {node for node, _ in ways(graph, b)}
    return (b, True) in ways(graph, a) or (a, True) in ways(graph, b)


def reduced(relations):
    """Return the reduced relations, and those of them that are in the graph."""
    kept, graph = [], []
    for relation in relations:
        if entailed(relation, graph):
            continue
        kept.append(relation)
        if not contradicted(relation, graph):
            graph.append(relation)
    return kept, graph
