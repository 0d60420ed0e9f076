"""Zeros, mention overlap and the lookups of CorefUD's scorer, slow and obvious, in exact fractions.

A mention is a set of tokens.  Every count of a document is (common, key, response).
"""

from fractions import Fraction
from itertools import permutations


def zero_similarity(key, response):
    """10 times the F1 of the dependencies, and that of the parents; each zero is a set of (parent, relation)."""
    parents = [{parent for parent, _ in one} for one in (key, response)]
    return 10 * f1(key, response) + f1(*parents)


def f1(one, other):
    shared = len(one & other)
    return Fraction(2 * shared, len(one) + len(other)) if shared else Fraction(0)


def best_sum(table):
    """The largest sum of cells of a table, no two in a row or a column, by trying all; cells are not negative."""
    if not table or not table[0]:
        return 0
    if len(table) > len(table[0]):
        table = list(zip(*table, strict=True))
    columns = range(len(table[0]))
    return max(
        sum(row[c] for row, c in zip(table, order, strict=True))
        for order in permutations(columns, len(table))
    )


def mention_overlap(key, response):
    """Tokens of mentions under the best mapping; each side is a list of sets of tokens."""
    common = best_sum([[len(one & other) for other in response] for one in key])
    return common, sum(map(len, key)), sum(map(len, response))


def zero_anaphors(key, response, match):
    """Zero anaphors with a right antecedent.

    Args:
        key, response: lists of entities, each a list of (mention, whether it is a zero) in the order of the text.
        match: the mention of the response that each mention of the key matches; those without a match are not in it.
    """
    entity_of = {mention: number for number, entity in enumerate(response) for mention, _ in entity}
    first = {entity[0][0] for entity in response if entity}
    right = found = wanted = 0
    covered = set()
    for entity in key:
        for i, (mention, is_zero) in enumerate(entity):
            if i == 0 or not is_zero:
                continue
            wanted += 1
            other = match.get(mention)
            covered.add(other)
            if other is None or other in first:
                continue
            found += 1
            antecedents = {match[earlier] for earlier, _ in entity[:i] if earlier in match}
            right += entity_of[other] in {entity_of[antecedent] for antecedent in antecedents}
    spurious = [
        mention
        for entity in response
        for mention, is_zero in entity[1:]
        if is_zero and mention not in covered and mention not in first
    ]
    return right, wanted, found + len(spurious)


def look_up(key, response, pairs):
    """Where CorefUD's scorer looks for the mentions of both sides, which are known by their places.

    Args:
        key, response: the places of the mentions.
        pairs: the places of the mentions that match.
    """
    known = {one: other for one, other in pairs if one != other}
    known |= {other: one for one, other in pairs if one != other}
    zeros = [place if place in response else known.get(place, place) for place in key]
    return (
        [known.get(place, place) for place in key],
        [known.get(place, place) for place in response],
        zeros,
    )


def label_tokens(sentences):
    """Tell the tokens of a document apart, regardless of the empty nodes of another side.

    Args:
        sentences: for each sentence, the number of empty nodes before its first word and after each of its words.

    Returns:
        (sentence, word, number of the empty node after this word) of each token, which is 0 for words.
    """
    labels = []
    for sentence, numbers in enumerate(sentences):
        for word, n_empty in enumerate(numbers):
            labels += [(sentence, word, i) for i in range(1 if word == 0 else 0, n_empty + 1)]
    return labels
