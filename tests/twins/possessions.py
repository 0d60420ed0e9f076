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
CENTURIES = {
    "19th Century": (1801, 1900),
    "19th Century-Now": (1801, "now"),
    "19th Century-Unknown": (1801, 1900),
}
FUNCTION_WORDS = {"the", "of", "in"}


def tokens(name, strip_scope):
    words = [word.strip(".,") for word in name.lower().split()]
    if all(word in FUNCTION_WORDS for word in words):
        return tuple(words)
    if strip_scope == "all":
        return tuple(word for word in words if word not in FUNCTION_WORDS)
    while words[0] in FUNCTION_WORDS:
        del words[0]
    while words[-1] in FUNCTION_WORDS:
        del words[-1]
    return tuple(words)


def content(name):
    return set(tokens(name, "all"))


def order(row):
    return tuple(int(part) for part in row["order"].split("."))


def by_order(rows):
    return sorted(range(len(rows)), key=lambda i: (order(rows[i]), i))


def jaccard(one, other):
    return Fraction(len(content(one) & content(other)), len(content(one) | content(other)))


def match(system, gold, options):
    scope = options["strip_scope"]
    of_system, of_gold = (
        [tokens(row["possessor"], scope) for row in rows] for rows in (system, gold)
    )
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
    if options["matching"] == "many_to_one":
        for i in set(range(len(system))) - pairs.keys():
            same = [j for j in range(len(gold)) if of_gold[j] == of_system[i]]
            overlap = {
                j: jaccard(system[i]["possessor"], gold[j]["possessor"]) for j in range(len(gold))
            }
            if same:
                pairs[i] = same[0]
            elif options["setting"] == "partial" and any(overlap.values()):
                pairs[i] = max(overlap, key=lambda j: (overlap[j], -j))
    return pairs


def time(row, options):
    """Return a set of years, a tuple of words, or None."""
    text = row["anchor"]
    found = (CENTURIES if options["century"] == "range" and text in CENTURIES else ANCHORS)[text]
    if found is None:
        return () if options["unknown_with_relation"] == "anchored" and row["relation"] else None
    if isinstance(found[0], str) and found[0] != "unknown":
        return found
    first, last = found
    if first == "unknown" and options["open_range"] == "ignore":
        return None
    last = int(options["now_year"]) if last == "now" else last
    first = last if first == "unknown" else first
    return set(range(min(first, last), max(first, last) + 1))


def overlap(ours, theirs, options):
    if not (isinstance(ours, set) and isinstance(theirs, set)):
        return (Fraction(1), Fraction(1)) if ours == theirs else (Fraction(0), Fraction(0))
    tolerance, expanded = Fraction(options["tolerance"]), set(theirs)
    if tolerance:
        years = (max(theirs) - min(theirs)) * tolerance
        whole, part = floor(years), years - floor(years)
        whole += {"floor": False, "round": part >= Fraction(1, 2), "ceil": part > 0}[
            options["tolerance_rounding"]
        ]
        for year in range(1, max(1, whole) + 1):
            expanded |= {min(theirs) - year, max(theirs) + year}
    recalled = expanded if options["tolerance_recall"] == "expanded" else theirs
    return Fraction(len(ours & expanded), len(ours)), Fraction(len(ours & recalled), len(recalled))


def no_later(one, other, suborder):
    if suborder == "integer_part":
        return one[0] <= other[0]
    return one <= other or (suborder == "nested_tie" and one[: len(other)] == other)


def ordered_pairs(rows, options):
    """Return the ordered pairs of normalized names, each with the names as written."""
    pairs = {}
    for i, j in product(range(len(rows)), repeat=2):
        a, b = (tokens(rows[k]["possessor"], options["strip_scope"]) for k in (i, j))
        if i != j and a != b and no_later(order(rows[i]), order(rows[j]), options["suborder"]):
            pairs[a, b] = (rows[i]["possessor"], rows[j]["possessor"])
    return pairs


def ordering(system, gold, pairs, options):
    ours, theirs = ordered_pairs(system, options), ordered_pairs(gold, options)
    if options["setting"] == "exact":
        common = len(ours.keys() & theirs.keys())
        return common, len(ours), common, len(theirs)
    scope = options["strip_scope"]
    partners = {
        (tokens(system[i]["possessor"], scope), tokens(gold[j]["possessor"], scope))
        for i, j in pairs.items()
    }

    def match_names(one, other):
        if options["ordering_match"] == "via_matching":
            return (tokens(one, scope), tokens(other, scope)) in partners
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
        names = [tokens(row["possessor"], options["strip_scope"]) for row in system]
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
    times = [time(row, options) for row in system], [time(row, options) for row in gold]
    everyone = set(range(len(system))), set(range(len(gold)))
    anchored = [{i for i, found in enumerate(side) if found is not None} for side in times]
    certain = anchored
    if options["relation_certainty_gold"] == "certain_only":
        unsure = {j for j in anchored[1] if gold[j]["relation_certainty"] != "certain"}
        certain = [{i for i in anchored[0] if pairs.get(i) not in unsure}, anchored[1] - unsure]

    def same(field):
        return lambda i, j: (Fraction(system[i][field] == gold[j][field] is not None),) * 2

    def related(field):
        if options["relation_requires"] == "none":
            return same(field)
        return lambda i, j: (
            same(field)(i, j)
            if sum(overlap(times[0][i], times[1][j], options))
            else (Fraction(0),) * 2
        )

    return {
        "possessor": sum_credits(pairs, lambda i, j: (Fraction(1), Fraction(1)), *everyone),
        "possessor_certainty": sum_credits(pairs, same("certainty"), *everyone),
        "anchor": sum_credits(
            pairs, lambda i, j: overlap(times[0][i], times[1][j], options), *anchored
        ),
        "relation": sum_credits(pairs, related("relation"), *anchored),
        "relation_certainty": sum_credits(pairs, related("relation_certainty"), *certain),
        "ordering": ordering(system, gold, pairs, options),
    }
