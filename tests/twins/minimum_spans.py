"""Minimum spans of mentions and what is counted with them, slow and obvious: one tree and one mention at a time.

A sentence is a list of rows (word, tag, part of the tree).  Counts are as in `twins.coref`: numerator and denominator
of recall, then of precision.
"""

import re
from collections import Counter
from fractions import Fraction

from twins.coref import blanc, ceaf, mentions, where


class Leaf:
    def __init__(self, rows, place):
        self.words, self.place, self.children = [word for word, _, _ in rows], place, []
        self.counts = any(map(is_content, rows))


class Constituent:
    def __init__(self, label):
        self.label, self.children = "".join(filter(str.isalpha, label))[:2], []


def is_content(row):
    word, tag, _ = row
    has_text = word == "%" or any(c.isalpha() or c.isdigit() for c in word)
    return has_text and word not in ("-LRB-", "-RRB-") and tag not in ("CC", "DT", "IN")


def minimum_span(sentence, start, end):
    """What identifies a mention, as a set of pairs of text and place in the sentence."""
    root = read_fragment(sentence, start, end)
    leaves = find_leaves(root)
    if leaves:
        return frozenset((" ".join(leaf.words), leaf.place) for leaf in leaves)
    return frozenset((word, i) for i, (word, _, _) in enumerate(sentence[start : end + 1]))


def read_fragment(sentence, start, end):
    """The tree of some rows, with a noun phrase around it if there are several."""
    roots, stack, run = [], [], []

    def attach(node):
        (stack[-1].children if stack else roots).append(node)

    def end_run(place, *, is_parent):
        if not run:
            return
        leaf = Leaf(run, place)
        run.clear()
        if is_parent and not any(word.isalpha() or word.isdigit() for word in leaf.words):
            return
        attach(leaf)
        if is_parent and not stack:
            stack.append(leaf)

    for i in range(start, end + 1):
        before, after = sentence[i][2].split("*")
        for label in re.findall(r"\(([^(]*)", before):
            end_run(i, is_parent=True)
            attach(node := Constituent(label))
            stack.append(node)
        run.append(sentence[i])
        for _ in after:
            end_run(i, is_parent=False)
            if stack:
                stack.pop()
    end_run(end, is_parent=False)
    if len(roots) == 1:
        return roots[0]
    root = Constituent("NP")
    root.children = roots
    return root


NOUN, VERB = ("NP", "NM", "QP", "NX"), ("VP",)


def find_leaves(root):
    if isinstance(root, Leaf) and root.counts:
        return [root]
    direct = [child for child in root.children if isinstance(child, Leaf) and child.counts]
    if direct:
        return direct
    below = [child for child in root.children if isinstance(child, Constituent)]
    kinds = kinds_for(root, [child.label for child in below])
    phrases = [child for child in below if child.label in kinds]
    if phrases:
        return [leaf for phrase in phrases for leaf in nearest(list_leaves(phrase, kinds, 0))]
    if isinstance(root, Leaf):
        return []
    levels = [[root]]
    while below:
        levels.append(below)
        below = [child for node in below for child in node.children if isinstance(child, Constituent)]
    order = [node for level in levels for node in level]
    first = next((i for i, node in enumerate(order) if node.label in ("NP", "NM", "VP")), None)
    if first is None:
        return []
    kinds = VERB if order[first].label == "VP" else NOUN
    return nearest(list_leaves_after(root, kinds, order[:first], 0))


def kinds_for(root, labels):
    label = "" if isinstance(root, Leaf) else root.label
    if label in ("NP", "NM", "VP"):
        return VERB if label == "VP" else NOUN
    return VERB if "VP" in labels and not {"NP", "NM"} & set(labels) else NOUN


def list_leaves(node, kinds, depth):
    """The leaves below a constituent with their depths, on paths of constituents of some kinds."""
    for child in node.children:
        if isinstance(child, Leaf):
            yield depth, child
        elif child.label in kinds:
            yield from list_leaves(child, kinds, depth + 1)


def list_leaves_after(node, kinds, earlier, depth):
    """The leaves in constituents of some kinds, on paths through earlier constituents and those of these kinds."""
    is_earlier = any(node is one for one in earlier)
    for child in node.children:
        if isinstance(child, Leaf):
            if not is_earlier and node.label in kinds:
                yield depth, child
        elif child.label in kinds or any(child is one for one in earlier):
            yield from list_leaves_after(child, kinds, earlier, depth + 1)


def nearest(found):
    found = [(depth, leaf) for depth, leaf in found if leaf.counts]
    return [leaf for depth, leaf in found if depth == min(d for d, _ in found)]


def muc(key, response):
    return *muc_recall(key, response), *muc_recall(response, key)


def muc_recall(key, response):
    there = where(response)
    found = 0
    for cluster in key:
        places = [there[mention] for mention in cluster if mention in there]
        found += len(places) - len(set(places))
    return found, sum(len(cluster) - 1 for cluster in key)


def b3(key, response):
    return *b3_recall(key, response), *b3_recall(response, key)


def b3_recall(key, response):
    there = where(response)
    shared = [Counter(there[mention] for mention in cluster if mention in there) for cluster in key]
    found = [Fraction(sum(n * n for n in places.values()), len(c)) for places, c in zip(shared, key, strict=True)]
    return sum(found, Fraction(0)), sum(map(len, key))


def ceafm(key, response):
    common = ceaf(key, response, lambda k, r: Fraction((Counter(k) & Counter(r)).total()))
    return common, sum(map(len, key)), common, sum(map(len, response))


def ceafe(key, response):
    common = ceaf(key, response, lambda k, r: Fraction(2 * sum(m in r for m in k), len(k) + len(r)))
    return common, len(key), common, len(response)


def lea(key, response):
    return *lea_recall(key, response), *lea_recall(response, key)


def lea_recall(key, response):
    there = where(response)
    found = Fraction(0)
    for cluster in key:
        places = [there[mention] for mention in cluster if mention in there]
        if len(cluster) == 1:
            found += any(len(response[place]) == 1 for place in places)
        else:
            links = sum(places[i] == place for j, place in enumerate(places) for i in range(j))
            found += Fraction(2 * links, len(cluster) - 1)
    return found, sum(map(len, key))


METRICS = {"mentions": mentions, "muc": muc, "b3": b3, "ceafm": ceafm, "ceafe": ceafe, "lea": lea, "blanc": blanc}
