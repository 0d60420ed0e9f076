"""Adjudication: the chains that best explain several annotators' decisions, their costs, and files of results.

Sources: Schüller (2018), "Adjudication of Coreference Annotations via Answer Set Optimization", section 3; Schüller et
al. (2018), "Marmara Turkish Coreference Corpus and Coreference Resolution Baseline", section 3.3.  A pair of mentions
that K of the k annotators of its document have in one chain costs

    objective   separate   together, K >= 1     together, K = 0
    v           2K         k - K                forbidden
    va          2K         min(k - K, 2K + 1)   1
    u           2K         0                    forbidden
    ua          2K         0                    1

Pairs that a person has put together are not forbidden: under v and u they cost what the formula for K >= 1 says.  Ties
are settled as in `closeread.tasks.coref.adjudication.partition`.

Mentions that are joined by links that cost no more together than apart make a part.  Parts are independent: a chain
over two of them gets cheaper by cutting it.

A worksheet is a file for a person to decide in: the annotators' chains side by side, and the result, which can be
edited.  It is CoNLL with the columns document, part, number and word, then one for each annotator, in the order of the
files, and the result last.  Annotators' chains are numbered from 1 by their first mentions.  Cells that were forced
begin with ``=`` again, so that `closeread.tasks.coref.adjudication.forced` reads the file as it read the decisions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from closeread import limits
from closeread.arrays import Ints, Mask
from closeread.exceptions import FormatError, Problem, RequestError, pluralize, quote
from closeread.formats.text import UNSAFE
from closeread.tasks.coref import documents as coref_documents
from closeread.tasks.coref.adjudication.annotators import (
    NO_CHAIN,
    AnnotatedDocument,
    Mention,
    are_compatible,
)
from closeread.tasks.coref.adjudication.forced import NOTHING_FORCED, ForcedDocument
from closeread.tasks.coref.adjudication.partition import (
    Part,
    group_by_number,
)
from closeread.tasks.coref.adjudication.solver import Deadline, solve
from closeread.tasks.coref.documents import Document, Documents, Entity
from closeread.tasks.coref.formats.conll import PARTED, WORD, format_cells, format_name


def implies_links(objective: str) -> bool:
    """Return whether mentions may be together that nobody has in one chain."""
    return objective.endswith("a")


def cost_together(annotators: Ints, n_annotators: int, objective: str) -> Ints:
    """Return the costs of pairs within a chain, given K and k; pairs in different chains cost 2K."""
    against = n_annotators - annotators if objective.startswith("v") else np.zeros_like(annotators)
    if not implies_links(objective):
        return against
    used = np.minimum(against, 2 * annotators + 1) if objective == "va" else against
    return np.where(annotators == 0, 1, used)


def gain_of_joining(annotators: Ints, n_annotators: int, objective: str) -> Ints:
    """Return how much less pairs cost together than apart; negative if they cost more."""
    return 2 * annotators - cost_together(annotators, n_annotators, objective)


@dataclass(frozen=True)
class Settings:
    """How to adjudicate.

    Attributes:
        objective: "v", "va", "u" or "ua".
        incompatible: which mentions are never together: those that "overlap", or of which one contains the other,
            "containment".
        empty_annotators: "count" annotators without links in a document, or "ignore" them.
    """

    objective: str = "v"
    incompatible: str = "overlap"
    empty_annotators: str = "count"


@dataclass(frozen=True)
class Link:
    """A pair of mentions, by place, that K > 0 annotators or the result have in one chain, and its cost."""

    first: int
    second: int
    annotators: int
    together: bool
    cost: int


@dataclass(frozen=True, eq=False)
class AdjudicatedDocument:
    """The result for a document.

    Attributes:
        document: the document, with its annotators' chains.
        n_annotators: k, the number of annotators that count.
        chains: the mentions of each chain, by their place in the document; in order of the first mention.
        ids: the id of each chain.
        links: what each pair costs, in order.
        is_optimal: whether this is proved to be the best solution.
    """

    document: AnnotatedDocument
    n_annotators: int
    chains: Sequence[Sequence[int]]
    ids: Sequence[str]
    links: Sequence[Link]
    is_optimal: bool

    @property
    def cost(self) -> int:
        """What the solution costs."""
        return sum(link.cost for link in self.links)


def adjudicate(
    document: AnnotatedDocument,
    settings: Settings,
    deadline: Deadline,
    forced: ForcedDocument = NOTHING_FORCED,
) -> AdjudicatedDocument:
    """Find the chains that cost least and agree with a person's decisions."""
    document = document.add(list(forced.chain_of))
    k = document.count_annotators(settings.empty_annotators)
    plan = _Plan(document, settings, k, forced)
    number, is_optimal = plan.node.copy(), True
    for nodes, part in plan.list_parts():
        found = solve(part, deadline)
        is_optimal &= found.is_proved
        if found.chain is None and part.lone.any():
            why = (
                "no solution has all forced mentions"
                if found.is_proved
                else "no solution was found in time"
            )
            raise FormatError(
                forced.file, [Problem(f"document {quote(document.name)}: {why}", forced.line)]
            )
        if found.chain is not None:
            if not part.accepts(found.chain):
                raise RuntimeError(
                    f"document {quote(document.name)}: the solver has put mentions together wrongly"
                )
            moved = np.arange(len(document.mentions))
            moved[nodes] = nodes[np.argmax(found.chain[:, None] == found.chain, axis=1)]
            number = moved[number]
    chains = sorted(
        (places.tolist() for places in group_by_number(number)), key=lambda places: places[0]
    )
    links = list(_list_links(document, number, settings.objective, k))
    ids = forced.choose_ids([[document.mentions[i] for i in chain] for chain in chains])
    return AdjudicatedDocument(document, k, chains, ids, links, is_optimal)


MAX_TOGETHER = 1_000
"""The most mentions that links connect directly or over others, and that have to be put into chains together."""


class _Plan:
    """The parts of a document; `node` has the first of the mentions with which each mention is forced to be."""

    def __init__(
        self,
        document: AnnotatedDocument,
        settings: Settings,
        n_annotators: int,
        forced: ForcedDocument,
    ):
        self._name, self._mentions, self._pairs = document.name, document.mentions, document.pairs
        self._settings, self._k = settings, n_annotators
        self._is_excluded = forced.find_excluded(document.mentions)
        self._forced = forced.number_chains(document.mentions)
        self.node = np.arange(len(document.mentions))
        is_lone = self._forced >= 0
        for places in group_by_number(np.where(self._forced >= 0, self._forced, -1 - self.node)):
            self.node[places] = places[0]
            is_lone[places] = False
        self._is_lone = is_lone

    def list_parts(self) -> Iterator[tuple[Ints, Part]]:
        """Yield the nodes of each part, as their first mentions, and the part itself."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        first, second = (np.concatenate(column) for column in zip(*self._list_edges(), strict=True))
        size = len(self._mentions)
        edges = coo_array((np.ones(len(first), bool), (first, second)), shape=(size, size))
        number = connected_components(edges, directed=False)[1] if size else np.zeros(0, np.int64)
        order = np.argsort(number, kind="stable")
        for places in np.split(order, np.flatnonzero(np.diff(number[order])) + 1):
            if len(places) > MAX_TOGETHER:
                found = f"{len(places):,} mentions that links connect (expected at most {MAX_TOGETHER:,})"
                raise RequestError(f"document {quote(self._name)}: {found}")
            if len(places) > 1 or self._is_lone[places].any():
                part, node = self._make_part(places).merge(self.node[places])
                if len(part) > 1 or part.lone.any():
                    _, nodes = np.unique(node, return_index=True)
                    yield places[nodes], part

    def _list_edges(self) -> Iterator[tuple[Ints, Ints]]:
        """Yield pairs of mentions that are in the same part."""
        first, second, annotators = self._pairs
        gain = gain_of_joining(annotators, self._k, self._settings.objective)
        joins = (gain >= 0) | self._is_lone[first] | self._is_lone[second]
        joins &= self._may_join(first, second)
        yield first[joins], second[joins]
        yield self.node, np.arange(len(self.node))
        if implies_links(self._settings.objective):
            for mention in np.flatnonzero(self._is_lone).tolist():
                others = np.arange(len(self._mentions))
                mentions = np.full(len(others), mention)
                fits = self._may_join(mentions, others) & (others != mention)
                yield mentions[fits], others[fits]

    def _may_join(self, first: Ints, second: Ints) -> Mask:
        """Return whether pairs of mentions may be together as far as their tokens and forced cells go."""
        fits = are_compatible(self._mentions, first, second, self._settings.incompatible)
        one, other = self._forced[first], self._forced[second]
        fits &= ~(self._is_excluded[first] | self._is_excluded[second])
        fits &= (one < 0) | (other < 0) | (one == other)
        return fits

    def _make_part(self, mentions: Ints) -> Part:
        """Return a part whose nodes are single mentions."""
        size = len(mentions)
        first, second, annotators = self._pairs
        place = np.full(len(self._mentions), -1)
        place[mentions] = np.arange(size)
        inside = (place[first] >= 0) & (place[second] >= 0)
        count = np.zeros((size, size), np.int64)
        count[place[first[inside]], place[second[inside]]] = annotators[inside]
        count += count.T
        rows, columns = np.indices((size, size))
        fits = self._may_join(mentions[rows.ravel()], mentions[columns.ravel()]).reshape(size, size)
        allowed = fits & ((count > 0) | implies_links(self._settings.objective))
        gain = gain_of_joining(count, self._k, self._settings.objective)
        links = np.ones((size, size), np.int64)
        for matrix in (allowed, gain, links):
            np.fill_diagonal(matrix, 0)
        return Part(gain, links, allowed, self._is_lone[mentions])


def _list_links(
    document: AnnotatedDocument, number: Ints, objective: str, n_annotators: int
) -> Iterator[Link]:
    """Yield the pairs that somebody has in one chain, or the result, in order."""
    size, pairs = len(number), document.pairs
    codes = [pairs.first * size + pairs.second]
    for places in group_by_number(number):
        first, second = np.triu_indices(len(places), 1)
        codes.append(places[first] * size + places[second])
    code = np.unique(np.concatenate(codes))
    annotators = np.zeros(len(code), np.int64)
    annotators[np.searchsorted(code, codes[0])] = pairs.annotators
    first, second = np.divmod(code, max(size, 1))
    together = number[first] == number[second]
    cost = np.where(together, cost_together(annotators, n_annotators, objective), 2 * annotators)
    columns = (first, second, annotators, together, cost)
    yield from map(Link, *(column.tolist() for column in columns))


def join_results(results: Sequence[AdjudicatedDocument]) -> Documents:
    """Return the documents with their chains."""
    return Documents(list(map(_make_document, results)))


def _make_document(result: AdjudicatedDocument) -> Document:
    entities = []
    for label, chain in zip(result.ids, result.chains, strict=True):
        mentions = [result.document.mentions[number] for number in chain]
        entities.append(_make_entity(label, mentions))
    return replace(result.document.source, entities=entities)


def _make_entity(label: str, mentions: Sequence[Mention]) -> Entity:
    return Entity(
        label,
        [
            coref_documents.Mention(mention.start, mention.end, subspans=mention.parts)
            for mention in mentions
        ],
    )


def make_report(results: Sequence[AdjudicatedDocument], settings: Settings) -> dict[str, Any]:
    """Return all results as a JSON value."""
    return {
        "objective": settings.objective,
        "incompatible": settings.incompatible,
        "empty_annotators": settings.empty_annotators,
        "cost": sum(result.cost for result in results),
        "optimal": all(result.is_optimal for result in results),
        "documents": [_report_document(result) for result in results],
    }


def _report_document(result: AdjudicatedDocument) -> dict[str, Any]:
    document = result.document
    span = [[mention.start, mention.end] for mention in document.mentions]
    return {
        "document": document.name,
        "annotators": result.n_annotators,
        "mentions": sum(map(len, result.chains)),
        "chains": len(result.chains),
        "cost": result.cost,
        "optimal": result.is_optimal,
        "links": [
            {
                "first": span[link.first],
                "second": span[link.second],
                "annotators": link.annotators,
                "linked_by": document.find_annotators(link.first, link.second),
                "together": link.together,
                "cost": link.cost,
            }
            for link in result.links
        ],
    }


def summarize(results: Sequence[AdjudicatedDocument]) -> str:
    """Describe all results in a line."""
    chains = sum(len(result.chains) for result in results)
    mentions = sum(len(chain) for result in results for chain in result.chains)
    sizes = zip((len(results), chains, mentions), ("document", "chain", "mention"), strict=True)
    size = ", ".join(pluralize(number, noun) for number, noun in sizes)
    state = (
        "optimal" if all(result.is_optimal for result in results) else "not proved to be optimal"
    )
    return f"{size}; cost {sum(result.cost for result in results):,}, {state}"


Chains = Mapping[str, Sequence[Mention]]
"""Mentions by the id of their chain."""


def dump_worksheet(
    results: Sequence[AdjudicatedDocument],
    files: Sequence[str],
    forced: Mapping[str, ForcedDocument],
) -> str:
    """Convert results to the text of a worksheet, given the annotators' files and a person's decisions, by document."""
    return "".join(
        _format(result, files, forced.get(result.document.name, NOTHING_FORCED))
        for result in results
    )


def _format(result: AdjudicatedDocument, files: Sequence[str], forced: ForcedDocument) -> str:
    document, n_tokens = result.document, result.document.n_tokens
    where = f"a worksheet can't express document {quote(document.name)}"
    if n_tokens is None:
        raise RequestError(f"{where}: the number of tokens is unknown")
    if any(mention.parts for mention in document.mentions):
        raise RequestError(f"{where}: a mention is discontinuous")
    words = list(document.source.words.read())
    if not words and n_tokens > limits.MAX_TOKENS:
        raise RequestError(
            f"{where}: it has {n_tokens:,} tokens, but no words (limit: {limits.MAX_TOKENS:,})"
        )
    words = words or ["_"] * n_tokens
    if not document.name or UNSAFE.search(document.name) or not all(map(WORD.fullmatch, words)):
        raise RequestError(f"{where}: the name or a word has a blank or a control character")
    chains = {
        name: [document.mentions[i] for i in chain]
        for name, chain in zip(result.ids, result.chains, strict=True)
    }
    sides = {
        "the result": chains,
        **{file: _list_chains(document, file) for file in document.files},
    }
    for side, its_chains in sides.items():
        if any(
            a.start < b.start <= a.end < b.end for of in its_chains.values() for a in of for b in of
        ):
            raise RequestError(f"{where}: two mentions of a chain cross in {side}")
    nothing = ["-"] * n_tokens
    columns = [_format_cells(document, sides[file]) if file in sides else nothing for file in files]
    cells = _format_cells(document, chains)
    columns.append(
        [f"={cell}" if token in forced.bound else cell for token, cell in enumerate(cells)]
    )
    parts = PARTED.fullmatch(document.name)
    first, part = (parts[1], parts[2]) if parts else (document.name, "0")
    first = re.sub(r"\s|^#", "_", first)
    rows = zip(words, *columns, strict=True)
    lines = ["\t".join([first, part, str(number), *row]) for number, row in enumerate(rows)]
    return "\n".join(
        [f"#begin document {format_name(document.name)}", *lines, "", "#end document", ""]
    )


def _list_chains(document: AnnotatedDocument, file: str) -> Chains:
    """Return an annotator's chains."""
    chain = document.chain[document.files.index(file)]
    found: dict[int, list[Mention]] = {}
    for place in np.flatnonzero(chain != NO_CHAIN).tolist():
        found.setdefault(int(chain[place]), []).append(document.mentions[place])
    return {str(number): mentions for number, mentions in enumerate(found.values(), start=1)}


def _format_cells(document: AnnotatedDocument, chains: Chains) -> list[str]:
    """Return the cell of each token."""
    entities = [_make_entity(label, mentions) for label, mentions in chains.items()]
    cells = format_cells(replace(document.source, entities=entities), document.n_tokens or 0)
    return ["|".join(cell) or "-" for cell in cells]
