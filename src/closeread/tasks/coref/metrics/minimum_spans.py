"""Minimum spans of mentions (MINA): the words of a mention that are nearest to the root of its constituency tree.

Source: Moosavi et al. (2019), Using Automatically Extracted Minimum Spans to Disentangle Coreference Evaluation from
Boundary Detection; what the paper leaves open is decided as their scorer does (github.com/ns-moosavi/coval), so that
mentions have the same minimum spans here and there.

Trees are those of a CoNLL key, and of the response, too.  As in CoNLL-2011 and 2012, the fifth column contains the part
of speech of each word, and the sixth its part of the tree of the sentence: ``(TOP(S(NP*`` opens three constituents
before the word, ``*)`` closes one after it.  A blank line ends a sentence.  A mention that is discontinuous or in
several sentences has no minimum span: it matches mentions of the same tokens.

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

import hashlib
import re
from bisect import bisect_left
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import accumulate, chain, groupby
from operator import attrgetter
from pathlib import Path

import numpy as np

from closeread.exceptions import ProblemList, RequestError, pluralize, quote
from closeread.tasks.coref.columns import Columns
from closeread.tasks.coref.documents import Constituents, Document, Documents, Mention, TreeRow
from closeread.tasks.coref.metrics.inexact_matching import join_codes
from closeread.tasks.coref.metrics.overlap import Pair, Side

TAG_CELL = 4
TREE_CELL = 5
COLUMN = f"column {TREE_CELL + 1}"
CELL = re.compile(r"((?:\([^()*\s]*)*+)\*(\)*+)")
NEEDED = "constituents in a CoNLL key, or a key with minimum spans (ARRAU, Universal Anaphora)"
EXPECTED = "expected cells such as '(TOP(S(NP*', '*' and '*))' in the sixth column"

NOUN = ("NP", "NM", "QP", "NX")
VERB = ("VP",)
"""The first two letters of the labels of constituents that count together; QP and NX count inside noun phrases."""

HEADS = ("NP", "NM", "VP")


def read_trees(documents: Documents, source: Path) -> Documents:
    """Return the documents of a key with their constituents; messages name its file."""
    if all(document.words.n_columns == 0 for document in documents.documents):
        raise RequestError(f"{source}: matching 'minimum' needs {NEEDED}")
    lacking = ProblemList()
    invalid = ProblemList()
    unbalanced = ProblemList()
    with_trees = []
    for document in documents.documents:
        rows = read_rows(document)
        if rows is None:
            message = f"document {quote(document.name)} has no constituents ({EXPECTED})"
            line = document.line_of(0) if document.n_tokens else None
            lacking.add(message, line, file=document.file)
            continue
        constituents = Constituents(rows, digest_rows(rows))
        with_trees.append(replace(document, constituents=constituents))
        for token, row in enumerate(rows):
            if not CELL.fullmatch(row.cell):
                text = f"{quote(row.cell)} is not part of a tree (expected '*' with brackets)"
                invalid.add(f"{COLUMN}: {text}", document.line_of(token), file=document.file)
        for token, text in find_unbalanced(rows):
            unbalanced.add(f"{COLUMN}: {text}", document.line_of(token), file=document.file)
    for problems in (lacking, invalid, unbalanced):
        problems.raise_any(source)
    return documents.replaced(with_trees)


def read_rows(document: Document) -> list[TreeRow] | None:
    """Read the constituents of a document; None if it has none."""
    if document.n_tokens == 0:
        return []
    columns = document.words.read_columns((TAG_CELL, TREE_CELL))
    if columns is None:
        return None
    tags, cells = columns.cells
    if {"-", "_"}.issuperset(cells):
        return None
    return list(map(TreeRow, document.words.read(), tags, cells, columns.sentences))


def digest_rows(rows: Sequence[TreeRow]) -> bytes:
    """Compute a digest of all that decides on minimum spans."""
    sentences = np.array([row.sentence for row in rows], "<i8")
    digest = hashlib.blake2b(sentences.tobytes(), digest_size=16)
    for column in list(zip(*rows, strict=True))[:3]:
        digest.update("\n".join((*column, "")).encode("utf-8"))
    return digest.digest()


def digest_trees(document: Document, digest: bytes) -> bytes:
    """Add the constituents of a document to its digest."""
    trees = document.constituents.digest if document.constituents else b""
    return hashlib.sha256(digest + trees).digest()


def find_unbalanced(rows: Sequence[TreeRow]) -> Iterator[tuple[int, str]]:
    """Find the sentences whose brackets don't match; yield a token of each."""
    first = 0
    for _, sentence in groupby(rows, attrgetter("sentence")):
        heights = list(accumulate(row.cell.count("(") - row.cell.count(")") for row in sentence))
        if min(heights) < 0:
            token = next(i for i, height in enumerate(heights) if height < 0)
            yield first + token, "more constituents close than are open in the sentence"
        n_open = heights[-1]
        if n_open > 0:
            verb = "is still open" if n_open == 1 else "are still open"
            constituents = pluralize(n_open, "constituent")
            yield first + len(heights) - 1, f"{constituents} {verb} at the end of the sentence"
        first += len(heights)


def minimum_codes(key: Documents, response: Documents) -> Pair:
    """Assign codes to mentions, equal for mentions of a sentence with the same minimum span by the trees of the key."""
    return join_codes(key, response, _number_minimum_spans)


def _number_minimum_spans(key: Document, response: Document) -> tuple[list[int], list[int]]:
    rows = key.constituents.rows if key.constituents else ()
    identify = lru_cache(maxsize=2**12)(partial(identify_span, rows))
    numbers: dict[Hashable, int] = {}

    def number(mention: Mention) -> int:
        span = mention.runs if mention.subspans else identify(mention.start, mention.end)
        return numbers.setdefault(span, len(numbers))

    return list(map(number, key.mentions)), list(map(number, response.mentions))


def identify_span(rows: Sequence[TreeRow], start: int, end: int) -> Hashable:
    """Return a sentence and the minimum span there; if a mention is in several sentences, its bounds."""
    sentence = rows[start].sentence
    if sentence != rows[end].sentence:
        return ((start, end),)
    first = bisect_left(rows, sentence, key=attrgetter("sentence"))
    return sentence, find_minimum_span(rows[start : end + 1], start - first)


@dataclass(eq=False)
class _Node:
    """A constituent; or a leaf, which may have children, too.

    Attributes:
        label: the first two letters of the constituent's label.
        leaf: words without a bracket between them, and their place in the sentence.
        counts: whether the leaf counts.
        children: what is directly below.
    """

    label: str = ""
    leaf: tuple[str, int] | None = None
    counts: bool = False
    children: list[_Node] = field(default_factory=list)


def find_minimum_span(rows: Sequence[TreeRow], start: int) -> frozenset[tuple[str, int]]:
    """Find the minimum span of some tokens, the first at a place in the sentence: texts and their places there."""
    nodes = _find_leaves(_parse_fragment(rows, start))
    leaves = frozenset(node.leaf for node in nodes if node.leaf)
    return leaves or frozenset((row.word, i) for i, row in enumerate(rows))


def _parse_fragment(rows: Sequence[TreeRow], start: int) -> _Node:
    top = _Node("NP")
    stack = [top]
    run: list[TreeRow] = []

    def end_leaf(place: int, *, is_parent: bool) -> None:
        words = [row.word for row in run]
        if words and (not is_parent or any(word.isalpha() or word.isdigit() for word in words)):
            node = _Node(leaf=(" ".join(words), place), counts=any(map(_is_content, run)))
            stack[-1].children.append(node)
            if is_parent and len(stack) == 1:
                stack.append(node)
        run.clear()

    for place, row in enumerate(rows, start):
        labels, closing = _parse_cell(row.cell)
        for label in labels:
            end_leaf(place, is_parent=True)
            constituent = _Node(label)
            stack[-1].children.append(constituent)
            stack.append(constituent)
        run.append(row)
        for _ in range(closing):
            end_leaf(place, is_parent=False)
            del stack[max(len(stack) - 1, 1) :]
    end_leaf(start + len(rows) - 1, is_parent=False)
    return top.children[0] if len(top.children) == 1 else top


@lru_cache(maxsize=2**12)
def _parse_cell(cell: str) -> tuple[Sequence[str], int]:
    """Return the labels of the constituents that open, and the number of those that close."""
    before, _, after = cell.partition("*")
    labels = ["".join(filter(str.isalpha, label))[:2] for label in before.split("(")[1:]]
    return labels, len(after)


def _is_content(row: TreeRow) -> bool:
    """Whether a word may be in a minimum span: no punctuation, conjunction, determiner or preposition."""
    has_text = row.word == "%" or any(letter.isalpha() or letter.isdigit() for letter in row.word)
    return has_text and row.word not in ("-LRB-", "-RRB-") and row.tag not in ("CC", "DT", "IN")


def _find_leaves(root: _Node) -> list[_Node]:
    """Find the leaves of the minimum span: the root; those directly below it; or the nearest ones in phrases below."""
    if root.counts:
        return [root]
    direct = [child for child in root.children if child.counts]
    if direct:
        return direct
    below = _list_constituents([root])
    labels = {child.label for child in below}
    kinds = VERB if root.label == "VP" else NOUN
    if root.label not in HEADS and "VP" in labels and labels.isdisjoint(("NP", "NM")):
        kinds = VERB
    phrases = [child for child in below if child.label in kinds]
    if phrases:
        return list(chain.from_iterable(_find_nearest(phrase, kinds) for phrase in phrases))
    if root.leaf is not None or root.label in HEADS:
        return []
    # The first noun or verb phrase, by depth and then from left to right, decides which kind counts.
    earlier = [root]
    while below:
        for node in below:
            if node.label in HEADS:
                return _find_nearest(root, VERB if node.label == "VP" else NOUN, earlier)
            earlier.append(node)
        below = _list_constituents(below)
    return []


def _list_constituents(nodes: Iterable[_Node]) -> list[_Node]:
    """List the constituents directly below some nodes."""
    children = chain.from_iterable(node.children for node in nodes)
    return [child for child in children if child.leaf is None]


def _find_nearest(
    root: _Node, kinds: Collection[str], earlier: Sequence[_Node] = ()
) -> list[_Node]:
    """Find the nearest leaves that count, on paths of constituents of some kinds.

    Paths may begin with some earlier constituents, whose own leaves don't count.
    """
    passed = set(map(id, earlier))
    level = [root]
    while level:
        children = chain.from_iterable(node.children for node in level if id(node) not in passed)
        leaves = [child for child in children if child.counts]
        if leaves:
            return leaves
        inner = _list_constituents(level)
        level = [child for child in inner if child.label in kinds or id(child) in passed]
    return []


def order_entities(side: Side, columns: Columns) -> Side:
    """Number the entities of a side in the order in which their first mentions end, as coval meets them.

    Of the mentions that end at a token, those of one token come first; of the others, the last one that opened.
    """
    is_long = columns.start < columns.end
    opened = np.where(is_long, -columns.entity, columns.entity)
    order = np.lexsort((opened, -columns.start, is_long, columns.end, columns.document))
    entities = dict.fromkeys(columns.entity[order].tolist())
    rank = {entity: number for number, entity in enumerate(entities)}
    return side._replace(
        entity=np.array([rank[entity] for entity in side.entity.tolist()], np.int64)
    )
