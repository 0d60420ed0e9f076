"""The counts of the possession subtasks, the slow way: sets of years, all matchings, all pairs.

A side is a list of possessions as in a record, with names in plain ASCII.  Anchors are those of `ANCHORS`, with their
years.
"""

from fractions import Fraction
from itertools import product
from math import floor

ANCHORS = {
    None: None,
    "Unknown": None,
    "1888": (1888, 1888),
    "1889": (1889, 1889),
    "1880-1899": (1880, 1899),
    "1885-1890": (1885, 1890),
    "1890-Now": (1890, "now"),
    "Unknown-1890": ("unknown", 1890),
    "Unknown-Now": ("unknown", "now"),
    "1888-Unknown": (1888, 1888),
    "50-44 BC": (-50, -44),
    "the Great War": ("great", "war"),
    "Great War": ("great", "war"),
    "War": ("war",),
    "19th Century": ("19th", "century"),
    "19th Century-Now": ("19th", "century-now"),
    "19th Century-Unknown": ("19th", "century-unknown"),
}
FUNCTION_WORDS = {"the", "of", "in"}


def tokens(name):
    words = [word.strip(".,") for word in name.lower().split()]
    if all(word in FUNCTION_WORDS for word in words):
        return tuple(words)
    return tuple(word for word in words if word not in FUNCTION_WORDS)


def content(name):
    return set(tokens(name))


def order(row):
    return tuple(int(part) for part in row["order"].split("."))


def by_order(rows):
    return sorted(range(len(rows)), key=lambda i: (order(rows[i]), i))


def jaccard(one, other):
    return Fraction(len(content(one) & content(other)), len(content(one) | content(other)))


def match(system, gold, options):
    of_system, of_gold = ([tokens(row["possessor"]) for row in rows] for rows in (system, gold))
    pairs = {}
    for name in set(of_system):
        ours = [i for i in by_order(system) if of_system[i] == name]
        theirs = [j for j in by_order(gold) if of_gold[j] == name]
        pairs |= dict(zip(ours, theirs, strict=False))
    if options["setting"] == "partial":
        rest = [i for i in range(len(system)) if i not in pairs]
        left = [j for j in range(len(gold)) if j not in pairs.values()]
        best = None
        for columns in product([*left, None], repeat=len(rest)):
            candidate = {i: j for i, j in zip(rest, columns, strict=True) if j is not None}
            overlaps = [
                jaccard(system[i]["possessor"], gold[j]["possessor"]) for i, j in candidate.items()
            ]
            if len(set(candidate.values())) < len(candidate) or not all(overlaps):
                continue
            key = (
                -len(candidate),
                -sum(overlaps),
                [len(gold) if j is None else j for j in columns],
            )
            if best is None or key < best[0]:
                best = (key, candidate)
        pairs |= best[1]
    return pairs


def time(row):
    """Return a set of years, a tuple of words, or None."""
    found = ANCHORS[row["anchor"]]
    if found is None or (isinstance(found[0], str) and found[0] != "unknown"):
        return found
    first, last = found
    last = 2017 if last == "now" else last
    first = last if first == "unknown" else first
    return set(range(min(first, last), max(first, last) + 1))


def overlap(ours, theirs, options):
    if not (isinstance(ours, set) and isinstance(theirs, set)):
        return (Fraction(1), Fraction(1)) if ours == theirs else (Fraction(0), Fraction(0))
    tolerance, expanded = Fraction(options["tolerance"]), set(theirs)
    if tolerance:
        years = (max(theirs) - min(theirs)) * tolerance
        for year in range(1, max(1, floor(years)) + 1):
            expanded |= {min(theirs) - year, max(theirs) + year}
    common = len(ours & expanded)
    return Fraction(common, len(ours)), Fraction(common, len(expanded))


def ordered_pairs(rows):
    """Return the ordered pairs of normalized names, each with the names as written."""
    pairs = {}
    for i, j in product(range(len(rows)), repeat=2):
        a, b = (tokens(rows[k]["possessor"]) for k in (i, j))
        if i != j and a != b and order(rows[i]) <= order(rows[j]):
            pairs[a, b] = (rows[i]["possessor"], rows[j]["possessor"])
    return pairs


def ordering(system, gold, options):
    ours, theirs = ordered_pairs(system), ordered_pairs(gold)
    if options["setting"] == "exact":
        common = len(ours.keys() & theirs.keys())
        return common, len(ours), common, len(theirs)

    def match_names(one, other):
        return bool(content(one) & content(other))

    def both(one, other):
        return match_names(one[0], other[0]) and match_names(one[1], other[1])

    found = sum(any(both(one, other) for other in theirs.values()) for one in ours.values())
    found_gold = sum(any(both(one, other) for one in ours.values()) for other in theirs.values())
    return found, len(ours), found_gold, len(theirs)


def sum_credits(pairs, credit, ours, theirs):
    """Sum the credits over the scored predictions (ours) and gold possessions (theirs)."""
    shares = [(j, credit(i, j)) for i, j in pairs.items() if i in ours and j in theirs]
    found = sum((p for _, (p, _) in shares), Fraction(0))
    found_gold = sum(
        (max([r for k, (_, r) in shares if k == j], default=Fraction(0)) for j in theirs),
        Fraction(0),
    )
    return found, len(ours), found_gold, len(theirs)


def counts(system, gold, **options):
    """Return for each subtask: found of system, system, found of gold, gold."""
    if options["scenario"] == "oracle":
        names = [tokens(row["possessor"]) for row in system]
        kept = [
            i
            for n, i in enumerate(by_order(system))
            if names[i] not in [names[k] for k in by_order(system)[:n]]
        ]
        system = [system[i] for i in sorted(kept)]
    pairs = match(system, gold, options)
    if options["scenario"] == "all_correct":
        system = [system[i] for i in sorted(pairs)]
        pairs = match(system, gold, options)
    times = [time(row) for row in system], [time(row) for row in gold]
    everyone = set(range(len(system))), set(range(len(gold)))
    anchored = [{i for i, found in enumerate(side) if found is not None} for side in times]

    def same(field):
        return lambda i, j: (Fraction(system[i][field] == gold[j][field] is not None),) * 2

    return {
        "possessor": sum_credits(pairs, lambda i, j: (Fraction(1), Fraction(1)), *everyone),
        "possessor_certainty": sum_credits(pairs, same("certainty"), *everyone),
        "anchor": sum_credits(
            pairs, lambda i, j: overlap(times[0][i], times[1][j], options), *anchored
        ),
        "relation": sum_credits(pairs, same("relation"), *anchored),
        "relation_certainty": sum_credits(pairs, same("relation_certainty"), *anchored),
        "ordering": ordering(system, gold, options),
    }
