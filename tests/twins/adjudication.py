"""A slow twin of adjudication: tries all ways to put mentions into chains, and says what each costs by the definition.

Mentions are (start, end), an annotator is a list of chains, a chain a list of mentions.
"""

from itertools import combinations

IMPLIED = ("va", "ua")


def in_document_order(mentions):
    """By start, the longer first."""
    return sorted(mentions, key=lambda mention: (mention[0], -mention[1]))


def links(annotator):
    """The pairs of mentions in one chain."""
    return {frozenset(pair) for chain in annotator for pair in combinations(chain, 2)}


def count(annotators, empty_annotators="count"):
    """The number of annotators that count."""
    return sum(bool(links(annotator)) or empty_annotators == "count" for annotator in annotators)


def fit(one, other, incompatible):
    """Whether two mentions may be in one chain."""
    own, others = (set(range(start, end + 1)) for start, end in (one, other))
    return not own & others if incompatible == "overlap" else not (own <= others or others <= own)


def cost_of_pair(drawn, n_annotators, is_together, objective, is_forced=False):
    """What a pair costs that so many annotators have drawn; None if it is not allowed."""
    if not is_together:
        return 2 * drawn
    if objective in IMPLIED and drawn == 0:
        return 1
    if drawn == 0 and not is_forced:
        return None
    if objective in ("u", "ua"):
        return 0
    against = n_annotators - drawn
    return against if objective == "v" else min(against, 2 * drawn + 1)


def cost(
    chains, annotators, objective, incompatible="overlap", empty_annotators="count", forced=()
):
    """What a solution costs; None if it is not allowed.  `forced` has chains whose mentions have to be together."""
    n_annotators = count(annotators, empty_annotators)
    drawn = [links(annotator) for annotator in annotators]
    together, required = links(chains), links(forced)
    total = 0
    for pair in set().union(*drawn, together):
        if pair in together and not fit(*pair, incompatible):
            return None
        number = sum(pair in own for own in drawn)
        found = cost_of_pair(number, n_annotators, pair in together, objective, pair in required)
        if found is None:
            return None
        total += found
    return total


def partitions(mentions):
    """All ways to put mentions into chains of one or more."""
    if not mentions:
        yield []
        return
    *rest, last = mentions
    for chains in partitions(rest):
        yield [*chains, [last]]
        for i, chain in enumerate(chains):
            yield [*chains[:i], [*chain, last], *chains[i + 1 :]]


def adjudicate(
    annotators, objective, incompatible="overlap", empty_annotators="count", decided=None
):
    """The best chains and their cost; (None, None) if nothing is allowed.

    `decided` is what a person has decided: the tokens, and the chain of every mention that begins and ends there.
    """
    bound, chain_of = decided or ((), {})
    forced = {}
    for mention, name in chain_of.items():
        forced.setdefault(name, []).append(mention)
    mentions = {
        mention for annotator in annotators for chain in annotator for mention in chain
    } | set(chain_of)
    mentions = in_document_order(m for m in mentions if m in chain_of or not {*m} & {*bound})
    pairs = [frozenset(pair) for pair in combinations(mentions, 2)]
    best = None
    for solution in partitions(mentions):
        chains = [chain for chain in solution if len(chain) > 1]
        if not agrees(solution, forced.values()):
            continue
        price = cost(chains, annotators, objective, incompatible, empty_annotators, forced.values())
        if price is None:
            continue
        together = links(chains)
        rank = (-price, len(together), [pair in together for pair in pairs])
        if best is None or rank > best[0]:
            best = rank, price, chains
    return (None, None) if best is None else (best[2], best[1])


def agrees(solution, forced):
    """Whether a solution has every forced chain in a chain of its own, none of which has one mention."""
    homes = []
    for chain in forced:
        home = next(i for i, own in enumerate(solution) if chain[0] in own)
        if not set(chain) <= set(solution[home]) or len(solution[home]) == 1 or home in homes:
            return False
        homes.append(home)
    return True
