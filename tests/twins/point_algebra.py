"""The slow twin of `closeread.tasks.tlinks.kernels.temporal_graph` and of the counts of the procedure `tlinks`.

Every two end points have the set of relations that are still possible between them, out of `<`, `=` and `>`.  Sets are
narrowed by composition until nothing changes (Vilain and Kautz 1986); a contradiction leaves a set empty.
"""

from __future__ import annotations

from itertools import product

LESS, EQUAL, MORE = "<", "=", ">"
ANY = frozenset((LESS, EQUAL, MORE))
COMPOSED = {
    (LESS, LESS): {LESS},
    (LESS, EQUAL): {LESS},
    (EQUAL, LESS): {LESS},
    (EQUAL, EQUAL): {EQUAL},
    (EQUAL, MORE): {MORE},
    (MORE, EQUAL): {MORE},
    (MORE, MORE): {MORE},
    (LESS, MORE): ANY,
    (MORE, LESS): ANY,
}
TURNED = {LESS: MORE, EQUAL: EQUAL, MORE: LESS}

# Allen (1983): the start and the end of the first interval, each compared with the start and the end of the second.
ALLEN = {
    "BEFORE": ("<", "<", "<", "<"),
    "AFTER": (">", ">", ">", ">"),
    "IBEFORE": ("<", "<", "=", "<"),
    "IAFTER": (">", "=", ">", ">"),
    "INCLUDES": ("<", "<", ">", ">"),
    "IS_INCLUDED": (">", "<", ">", "<"),
    "BEGINS": ("=", "<", ">", "<"),
    "BEGUN_BY": ("=", "<", ">", ">"),
    "ENDS": (">", "<", ">", "="),
    "ENDED_BY": ("<", "<", ">", "="),
    "SIMULTANEOUS": ("=", "<", ">", "="),
    "IDENTITY": ("=", "<", ">", "="),
    "OVERLAPS": ("<", "<", ">", "<"),
    "OVERLAPPED_BY": (">", "<", ">", ">"),
}
INVERSE = {
    "BEFORE": "AFTER",
    "IBEFORE": "IAFTER",
    "INCLUDES": "IS_INCLUDED",
    "BEGINS": "BEGUN_BY",
    "ENDS": "ENDED_BY",
    "DURING": "DURING_INV",
}
INVERSE |= {inverse: name for name, inverse in INVERSE.items()} | {
    "SIMULTANEOUS": "SIMULTANEOUS",
    "IDENTITY": "IDENTITY",
}


def four(name, during="simultaneous"):
    """Return the four relations between end points for a TimeML relation type."""
    if during == "overlaps":
        name = {"DURING": "OVERLAPS", "DURING_INV": "OVERLAPPED_BY"}.get(name, name)
    return ALLEN[{"DURING": "SIMULTANEOUS", "DURING_INV": "SIMULTANEOUS"}.get(name, name)]


class Network:
    """The possible relations between end points."""

    def __init__(self, intervals):
        self.points = [(interval, end) for interval in intervals for end in ("start", "end")]
        self.possible = dict.fromkeys(product(self.points, repeat=2), ANY)
        for point in self.points:
            self.possible[point, point] = frozenset(EQUAL)
        for interval in intervals:
            assert self.narrow({((interval, "start"), (interval, "end")): LESS})

    def narrow(self, said):
        """Add relations of points unless they contradict earlier ones; return True if they were added."""
        possible = dict(self.possible)
        for (p, q), relation in said.items():
            possible[p, q] &= {relation}
            possible[q, p] &= {TURNED[relation]}
        changed = True
        while changed:
            changed = False
            for k, i, j in product(self.points, repeat=3):
                through = set().union(*(COMPOSED[a, b] for a in possible[i, k] for b in possible[k, j]))
                if not possible[i, j] <= through:
                    possible[i, j] &= through
                    changed = True
            if not all(possible.values()):
                return False
        self.possible = possible
        return True

    def add(self, source, name, target, during="simultaneous"):
        """Add a link unless it contradicts earlier ones; return the verdict."""
        said = points(source, name, target, during)
        if all(self.possible[pair] == {relation} for pair, relation in said.items()):
            return "entailed"
        return "new" if self.narrow(said) else "contradictory"

    def entails(self, source, name, target, during="simultaneous"):
        said = points(source, name, target, during)
        return all(self.possible.get(pair) == {relation} for pair, relation in said.items())


def points(source, name, target, during):
    ends = product((source,), ("start", "end")), product((target,), ("start", "end"))
    return dict(zip(product(*map(list, ends)), four(name, during), strict=True))


def link_counts(gold, system, reduction="sequential", during="simultaneous"):
    """Count verified and reduced links of system and gold, and contradictory ones; a link is (source, type, target)."""
    counted = []
    sides = []
    for links in (gold, system):
        distinct = {}
        for source, name, target in links:
            if source == target and four(name, during) == ALLEN["SIMULTANEOUS"]:
                continue  # it says nothing
            key = frozenset({(source, target, four(name, during)), (target, source, four(INVERSE[name], during))})
            distinct.setdefault(key, (source, name, target))
        network = Network(list(dict.fromkeys(end for source, _, target in links for end in (source, target))))
        verdicts = {key: network.add(*link, during) for key, link in distinct.items()}
        sides.append((distinct, network, verdicts))
    for (distinct, _, verdicts), (others, network, _) in ((sides[1], sides[0]), (sides[0], sides[1])):
        claimed = [key for key in distinct if reduction == "none" or verdicts[key] != "entailed"]
        counted += [
            sum(key in others or network.entails(*distinct[key], during) for key in claimed),
            len(claimed),
        ]
    return counted + [list(verdicts.values()).count("contradictory") for _, _, verdicts in (sides[1], sides[0])]
