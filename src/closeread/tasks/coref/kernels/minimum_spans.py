"""Minimum spans of mentions (MINA): the words of a mention that are nearest to the root of its constituency tree.

Source: Moosavi et al. (2019), Using Automatically Extracted Minimum Spans to Disentangle Coreference Evaluation from
Boundary Detection; what the paper leaves open is decided as their scorer does (github.com/ns-moosavi/coval), so that
mentions have the same minimum spans here and there.

Conventions: the *fragment* of a mention is its tokens with their brackets.  Brackets that close without having opened
in the fragment are ignored, and brackets that don't close are closed at its end.  Consecutive words without a bracket
between them are one *leaf*; a leaf counts if any of its words is content.  A fragment with several trees has a noun
phrase as its root.  The scorer has three peculiarities that change which mentions match, and which are kept:

* A leaf that ends because a bracket opens is placed one token late, so that it differs from the same words in a mention
  that ends there.  It is lost if it has no word of letters only or digits only.
* If such a leaf is outside all constituents of the fragment, what follows becomes its child, up to the next bracket
  that closes without having opened; children of a leaf count only if it is the root and has no content.
* The words of a mention without a minimum span are its minimum span, but numbered from the start of the mention: the
  mentions "that" and "that" of a sentence are the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, Mask, expand_ranges, mark_run_starts
from closeread.tasks.coref.kernels.constituents import NOUN, OTHER, PART, VERB, Constituents

TOKENS_PER_BATCH = 2**20
"""Mentions are processed in batches of about this many tokens, so that long nested mentions need little memory."""


class Leaves(NamedTuple):
    """The leaves of minimum spans, in the order of the mentions.

    Attributes:
        mention: (n_leaves,) the mention of each.
        first, last: (n_leaves,) its first and last token.
        place: (n_leaves,) the token where it is placed.
    """

    mention: Ints
    first: Ints
    last: Ints
    place: Ints


class _Fragments(NamedTuple):
    """The tokens, leaves and constituents of some mentions; a row is a token of a mention.

    Attributes:
        n: the number of mentions.
        mention, token: (n_rows,) the mention and the token of each row.
        leaf_row: (n_leaves,) the row of each leaf's first token.
        leaf_end: (n_leaves,) the row of its last token.
        leaf_depth: (n_leaves,) its distance from the root of the fragment.
        is_late: (n_leaves,) whether it ends because a bracket opens.
        counts: (n_leaves,) whether it may be in a minimum span.
        open_row: (n_opens,) the row of the token at which each constituent opens.
        open_end: (n_opens,) the row of the last token of the constituent in the fragment.
        open_depth: (n_opens,) its distance from the root of the fragment.
        kind: (n_opens,) its kind.
        root: (n,) the kind of the root.
        root_is_leaf: (n,) whether the root is a leaf.
        has_several_roots: (n,) whether the fragment has several trees.
    """

    n: int
    mention: Ints
    token: Ints
    leaf_row: Ints
    leaf_end: Ints
    leaf_depth: Ints
    is_late: Mask
    counts: Mask
    open_row: Ints
    open_end: Ints
    open_depth: Ints
    kind: Ints
    root: Ints
    root_is_leaf: Mask
    has_several_roots: Mask

    @property
    def mention_of_leaf(self) -> Ints:
        """The mention of each leaf."""
        return self.mention[self.leaf_row]

    @property
    def mention_of_open(self) -> Ints:
        """The mention of each constituent."""
        return self.mention[self.open_row]


def find_minimum_spans(trees: Constituents, start: Ints, end: Ints) -> Leaves:
    """Find the minimum spans of mentions.

    Args:
        trees: the trees.
        start, end: (n_mentions,) the first and last token of each mention, both in the same sentence.

    Returns:
        The leaves of the minimum spans; none for a mention without a word that counts.
    """
    batch = np.cumsum(end - start + 1) // TOKENS_PER_BATCH
    borders = np.flatnonzero(np.diff(batch, prepend=-1, append=-1))
    found = [
        _find_in_batch(trees, start[first:last], end[first:last], first)
        for first, last in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True)
    ]
    empty = np.zeros(0, np.int64)
    return Leaves(*(np.concatenate(column) for column in zip(*found, strict=True))) if found else Leaves(*[empty] * 4)


def number_minimum_spans(trees: Constituents, start: Ints, end: Ints) -> Ints:
    """Number the minimum spans of mentions: those with the same number are the same mention.

    Arguments are those of `find_minimum_spans`.

    Returns:
        (n_mentions,) int64, from 0.
    """
    leaves = find_minimum_spans(trees, start, end)
    rest = np.flatnonzero(np.bincount(leaves.mention, minlength=len(start)) == 0)
    which, token = expand_ranges(start[rest], (end - start + 1)[rest])
    sentence_start = trees.sentence_start[trees.sentence]
    # A place in the sentence and a text: a word, or several words, which their place and number identify.
    size = leaves.last - leaves.first + 1
    n_words = int(trees.word.max(initial=0)) + 1
    text = np.where(size == 1, trees.word[leaves.first], n_words + size)
    mention = np.concatenate([leaves.mention, rest[which]])
    place = np.concatenate([leaves.place - sentence_start[leaves.first], token - start[rest][which]])
    element = place * (n_words + int(size.max(initial=0)) + 1) + np.concatenate([text, trees.word[token]])
    values, element = np.unique(element, return_inverse=True)
    members = np.unique(mention * len(values) + element)
    mention, element = np.divmod(members, max(len(values), 1))
    return _number_sets(trees.sentence[start], mention, element)


def _number_sets(group: Ints, owner: Ints, element: Ints) -> Ints:
    """Number the sets of elements of each owner, sorted by owner and element; sets of different groups differ."""
    sizes = np.bincount(owner, minlength=len(group))
    first = np.cumsum(sizes) - sizes
    numbers = np.zeros(len(group), np.int64)
    n_numbers = 0
    for size in np.unique(sizes).tolist():  # sets of n different sizes have at least n**2 / 2 elements
        owners = np.flatnonzero(sizes == size)
        rows = np.column_stack([group[owners], element[first[owners][:, None] + np.arange(size)]])
        if size == 1:
            rows = (rows[:, 0] * (int(rows[:, 1].max(initial=0)) + 1) + rows[:, 1])[:, None]
        distinct, number = np.unique(rows, axis=0, return_inverse=True)
        numbers[owners] = n_numbers + number.reshape(-1)
        n_numbers += len(distinct)
    return numbers


def _find_in_batch(trees: Constituents, start: Ints, end: Ints, first_mention: int) -> Leaves:
    fragments = _parse_fragments(trees, start, end)
    picked = fragments.counts & (fragments.leaf_depth == 0)
    for find in (_find_below_root, _find_in_phrases, _find_in_first_phrase):
        picked |= find(fragments, ~_any_by(fragments.mention_of_leaf[picked], fragments.n))
    leaf = np.flatnonzero(picked)
    first, last = fragments.token[fragments.leaf_row[leaf]], fragments.token[fragments.leaf_end[leaf]]
    return Leaves(first_mention + fragments.mention_of_leaf[leaf], first, last, last + fragments.is_late[leaf])


def _parse_fragments(trees: Constituents, start: Ints, end: Ints) -> _Fragments:
    size = end - start + 1
    mention, token = expand_ranges(start, size)
    rows, n = np.arange(len(token)), len(start)
    last_row = np.cumsum(size) - 1
    depth, opens, closes = trees.depth[token], trees.opens[token], trees.closes[token]
    # A bracket that closes without having opened in the fragment begins a new stretch, on a lower depth.
    floor = _running_minimum(depth, mention)
    height = depth - floor
    is_stretch_start = mark_run_starts(mention) | mark_run_starts(floor)

    is_leaf_start = mark_run_starts(mention) | (opens > 0)
    is_leaf_start[1:] |= closes[:-1] > 0
    leaf_row = np.flatnonzero(is_leaf_start)
    leaf_end = np.append(leaf_row[1:], len(rows))[: len(leaf_row)] - 1
    is_late = (closes[leaf_end] == 0) & (leaf_end != last_row[mention[leaf_end]])
    is_kept = ~is_late | np.logical_or.reduceat(trees.is_plain[token], leaf_row)
    leaf_level = (height + opens)[leaf_row]

    adopts = np.full(len(rows) + 1, -1)  # the last leaf outside all constituents that can be a parent
    parents = leaf_end[is_late & is_kept & (leaf_level == 0)]
    adopts[parents + 1] = parents
    is_adopted = np.maximum.accumulate(adopts)[:-1] >= np.maximum.accumulate(np.where(is_stretch_start, rows, 0))
    leaf_level = leaf_level + is_adopted[leaf_row]

    open_row, number = expand_ranges(trees.first_open[token], opens)
    open_level = height[open_row] + number - trees.first_open[token][open_row] + is_adopted[open_row]
    open_end = np.minimum(open_row + trees.last_token[number] - token[open_row], last_row[mention[open_row]])
    kind = trees.kind[number]

    root_leaves, root_opens = leaf_row[is_kept & (leaf_level == 0)], open_level == 0
    has_several_roots = _count(mention[root_leaves], n) + _count(mention[open_row[root_opens]], n) > 1
    root = np.full(n, OTHER)
    root[mention[open_row[root_opens]]] = kind[root_opens]
    root[has_several_roots] = NOUN
    below = has_several_roots[mention]
    return _Fragments(
        n=n,
        mention=mention,
        token=token,
        leaf_row=leaf_row,
        leaf_end=leaf_end,
        leaf_depth=leaf_level + below[leaf_row],
        is_late=is_late,
        counts=is_kept & np.logical_or.reduceat(trees.is_content[token], leaf_row) & ~(is_adopted & below)[leaf_row],
        open_row=open_row,
        open_end=open_end,
        open_depth=open_level + below[open_row],
        kind=kind,
        root=root,
        root_is_leaf=_any_by(mention[root_leaves], n) & ~has_several_roots,
        has_several_roots=has_several_roots,
    )


def _find_below_root(fragments: _Fragments, remains: Mask) -> Mask:
    """Find the leaves directly below the root that count."""
    found: Mask = fragments.counts & (fragments.leaf_depth == 1) & remains[fragments.mention_of_leaf]
    return found


def _find_children(fragments: _Fragments) -> tuple[Mask, Mask]:
    """Find the constituents of the kinds that the root asks for, and those of them directly below the root.

    The root asks for verb phrases if it is one, or if it is neither that nor a noun phrase and there are verb phrases,
    but no noun phrases directly below it; otherwise for noun phrases and their parts.
    """
    mention, kind, is_child = fragments.mention_of_open, fragments.kind, fragments.open_depth == 1
    has_noun, has_verb = (_any_by(mention[is_child & (kind == one)], fragments.n) for one in (NOUN, VERB))
    is_free = (fragments.root == OTHER) | (fragments.root == PART)
    wants_verb = (fragments.root == VERB) | (is_free & ~has_noun & has_verb)
    fits = _fits(kind, wants_verb[mention])
    return fits, fits & is_child


def _fits(kind: Ints, wants_verb: Mask) -> Mask:
    fits: Mask = np.where(wants_verb, kind == VERB, (kind == NOUN) | (kind == PART))
    return fits


def _find_in_phrases(fragments: _Fragments, remains: Mask) -> Mask:
    """Find the nearest leaves in each phrase below the root of the kind that the root asks for, on paths of it."""
    fits, phrases = _find_children(fragments)
    has_phrase = _any_by(fragments.mention_of_open[phrases], fragments.n)
    is_barred = _count_around(fragments, ~fits & (fragments.open_depth > 0)) > 0
    is_candidate = (
        fragments.counts & (fragments.leaf_depth > 1) & ~is_barred & (remains & has_phrase)[fragments.mention_of_leaf]
    )
    child_row = fragments.open_row[fragments.open_depth == 1]
    return _find_nearest(is_candidate, np.searchsorted(child_row, fragments.leaf_row, "right"), fragments.leaf_depth)


def _find_in_first_phrase(fragments: _Fragments, remains: Mask) -> Mask:
    """Find the nearest leaves where the root and its children are neither noun nor verb phrases.

    The first noun or verb phrase, by depth and then from left to right, decides which kind counts.  Leaves count in
    phrases of that kind that don't come before it, if no constituent around them comes after it and is of another kind.
    """
    mention, kind, depth = fragments.mention_of_open, fragments.kind, fragments.open_depth
    remains = remains & ~_any_by(mention[_find_children(fragments)[1]], fragments.n)
    remains &= ~fragments.root_is_leaf & ~fragments.has_several_roots
    remains &= (fragments.root == OTHER) | (fragments.root == PART)
    heads = np.flatnonzero(remains[mention] & ((kind == NOUN) | (kind == VERB)))
    heads = heads[np.lexsort((heads, depth[heads], mention[heads]))]
    heads = heads[mark_run_starts(mention[heads])]
    decides = np.full(fragments.n, -1)
    decides[mention[heads]] = heads
    head = decides[mention]
    is_after = (depth > depth[head]) | ((depth == depth[head]) & (np.arange(len(head)) >= head))
    fits = _fits(kind, kind[head] == VERB)

    leaves = np.flatnonzero(fragments.counts & (decides >= 0)[fragments.mention_of_leaf])
    is_barred = _count_around(fragments, is_after & ~fits)[leaves] > 0
    # The parent of a leaf is the last constituent before it that is one step nearer to the root.
    width = len(fragments.mention) + 1
    places = depth * width + fragments.open_row
    order = np.argsort(places)
    wanted = (fragments.leaf_depth[leaves] - 1) * width + fragments.leaf_row[leaves]
    parent = order[np.searchsorted(places[order], wanted, "right") - 1] if len(leaves) else leaves
    is_candidate = np.zeros(len(fragments.leaf_row), np.bool_)
    is_candidate[leaves] = ~is_barred & (is_after & fits)[parent]
    return _find_nearest(is_candidate, fragments.mention_of_leaf, fragments.leaf_depth)


def _count_around(fragments: _Fragments, some: Mask) -> Ints:
    """Count those of some constituents that contain each leaf."""
    steps = np.bincount(fragments.open_row[some], minlength=len(fragments.mention) + 1)
    steps -= np.bincount(fragments.open_end[some] + 1, minlength=len(steps))
    return np.cumsum(steps)[fragments.leaf_row]


def _find_nearest(candidates: Mask, group: Ints, depth: Ints) -> Mask:
    """Find the candidates of each group with the smallest depth."""
    best = np.full(int(group.max(initial=0)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(best, group[candidates], depth[candidates])
    nearest: Mask = candidates & (depth == best[group])
    return nearest


def _running_minimum(values: Ints, group: Ints) -> Ints:
    """Return the minimum of the values so far, which are not negative, within each group of consecutive rows."""
    step = int(values.max(initial=0)) + 1
    shifted = values - group * step  # lower in each group than in all before it
    lowest: Ints = np.minimum.accumulate(shifted) + group * step
    return lowest


def _count(numbers: Ints, n: int) -> Ints:
    return np.bincount(numbers, minlength=n)


def _any_by(numbers: Ints, n: int) -> Mask:
    return np.bincount(numbers, minlength=n) > 0
