"""The slow twin of `closeread.tasks.tlinks.temporal_graph` and of the counts of the procedure `tlinks`.

Every two end points have the set of relations that are still possible between them, out of `<`, `=` and `>`.  Sets are
narrowed by composition until nothing changes (Vilain and Kautz 1986); a contradiction leaves a set empty.
"""

from __future__ import annotations

from itertools import product

import numpy as np

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
    # MATRES compares starts only.
    "STARTS_BEFORE": ("<", None, None, None),
    "STARTS_AFTER": (">", None, None, None),
    "STARTS_EQUAL": ("=", None, None, None),
}
TRUE_OF_ANY = (ALLEN["SIMULTANEOUS"], ALLEN["STARTS_EQUAL"])
INVERSE = {
    "BEFORE": "AFTER",
    "IBEFORE": "IAFTER",
    "INCLUDES": "IS_INCLUDED",
    "BEGINS": "BEGUN_BY",
    "ENDS": "ENDED_BY",
    "DURING": "DURING_INV",
    "STARTS_BEFORE": "STARTS_AFTER",
}
INVERSE |= {inverse: name for name, inverse in INVERSE.items()} | {
    "SIMULTANEOUS": "SIMULTANEOUS",
    "IDENTITY": "IDENTITY",
    "STARTS_EQUAL": "STARTS_EQUAL",
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
                through = set().union(
                    *(COMPOSED[a, b] for a in possible[i, k] for b in possible[k, j])
                )
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


class Matrices(Network):
    """The same for hundreds of intervals: matrices of which points are known to be before others, and not after them.

    As only `<` and `=` are ever added, a chain of them is the only way to infer one.
    """

    def __init__(self, intervals):
        points = [(interval, end) for interval in intervals for end in ("start", "end")]
        self.number = {point: i for i, point in enumerate(points)}
        self.before = np.zeros((len(points), len(points)), bool)
        self.not_after = np.eye(len(points), dtype=bool)
        assert self.narrow(
            {((interval, "start"), (interval, "end")): LESS for interval in intervals}
        )

    def narrow(self, said):
        before, not_after = self.before.copy(), self.not_after.copy()
        for (p, q), relation in said.items():
            i, j = (self.number[point] for point in ((q, p) if relation == MORE else (p, q)))
            not_after[i, j] = True
            if relation == EQUAL:
                not_after[j, i] = True
            else:
                before[i, j] = True
        n_known = -1
        while n_known != before.sum() + not_after.sum():
            n_known = before.sum() + not_after.sum()
            steps = not_after.astype(np.float32)
            before = steps @ before @ steps > 0
            not_after = steps @ steps > 0
        if before.diagonal().any():
            return False
        self.before, self.not_after = before, not_after
        return True

    def add(self, source, name, target, during="simultaneous"):
        if self.entails(source, name, target, during):
            return "entailed"
        return "new" if self.narrow(points(source, name, target, during)) else "contradictory"

    def entails(self, source, name, target, during="simultaneous"):
        return all(
            self.knows(*pair, relation)
            for pair, relation in points(source, name, target, during).items()
        )

    def knows(self, p, q, relation):
        if p not in self.number or q not in self.number:
            return False
        i, j = self.number[p], self.number[q]
        if relation == EQUAL:
            return self.not_after[i, j] and self.not_after[j, i]
        return self.before[i, j] if relation == LESS else self.before[j, i]


def points(source, name, target, during):
    ends = product((source,), ("start", "end")), product((target,), ("start", "end"))
    said = zip(product(*map(list, ends)), four(name, during), strict=True)
    return {pair: relation for pair, relation in said if relation is not None}


def link_counts(gold, system, reduction="sequential", during="simultaneous", network=Network):
    """Count verified and reduced links of system and gold, and contradictory ones; a link is (source, type, target)."""
    counted = []
    sides = []
    for links in (gold, system):
        distinct = {}
        for source, name, target in links:
            if source == target and four(name, during) in TRUE_OF_ANY:
                continue  # it says nothing
            key = frozenset(
                {
                    (source, target, four(name, during)),
                    (target, source, four(INVERSE[name], during)),
                }
            )
            distinct.setdefault(key, (source, name, target))
        known = network(
            list(dict.fromkeys(end for source, _, target in links for end in (source, target)))
        )
        verdicts = {key: known.add(*link, during) for key, link in distinct.items()}
        sides.append((distinct, known, verdicts))
    for (distinct, _, verdicts), (others, known, _) in ((sides[1], sides[0]), (sides[0], sides[1])):
        claimed = [key for key in distinct if reduction == "none" or verdicts[key] != "entailed"]
        counted += [
            sum(key in others or known.entails(*distinct[key], during) for key in claimed),
            len(claimed),
        ]
    return counted + [
        list(verdicts.values()).count("contradictory") for _, _, verdicts in (sides[1], sides[0])
    ]
