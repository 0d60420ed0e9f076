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


def verified(relation, others, graph):
    kind, a, b = relation
    literally = relation in others or (kind == SIMULTANEOUS and (kind, b, a) in others)
    return literally or entailed(relation, graph)


def counts(gold, system, track):
    """Return the counts of the kernel, in its order."""
    theirs, ours = relations(gold, track), relations(system, track)
    (of_gold, gold_graph), (of_system, system_graph) = reduced(theirs), reduced(ours)
    anchor_of = [{copy: anchor for copy, anchor, _ in numbered(side)} for side in (gold, system)]
    shared = [copy for copy in anchor_of[0] if copy in anchor_of[1]]
    return [
        sum(verified(relation, theirs, gold_graph) for relation in of_system),
        len(of_system),
        sum(verified(relation, ours, system_graph) for relation in of_gold),
        len(of_gold),
        len(shared),
        len(anchor_of[1]),
        len(anchor_of[0]),
        sum(anchor_of[0][copy] == anchor_of[1][copy] for copy in shared),
    ]
