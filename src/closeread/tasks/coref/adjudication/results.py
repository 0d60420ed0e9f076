"""Adjudication: the chains that explain several annotators' best, and what they cost.

Sources: Schüller (2018), "Adjudication of Coreference Annotations via Answer Set Optimization"; Schüller et al. (2018),
"Marmara Turkish Coreference Corpus and Coreference Resolution Baseline", section 3.3.  Costs are those of
`closeread.tasks.coref.adjudication.objectives`, ties are settled as in `closeread.tasks.coref.adjudication.partition`.

Mentions that are joined by links that cost no more together than apart make a part.  Parts are independent: a chain
over two of them gets cheaper by cutting it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from closeread.arrays import Ints, Mask
from closeread.exceptions import FormatError, Problem, RequestError, quote
from closeread.tasks.coref.adjudication.annotators import AnnotatedDocument
from closeread.tasks.coref.adjudication.compatibility import are_compatible
from closeread.tasks.coref.adjudication.forced import NOTHING_FORCED, ForcedDocument
from closeread.tasks.coref.adjudication.objectives import cost_apart, cost_together, gain_of_joining, implies_links
from closeread.tasks.coref.adjudication.partition import Part, group_by_number
from closeread.tasks.coref.adjudication.solving import Deadline, OpenSession, solve


@dataclass(frozen=True)
class Settings:
    """How to adjudicate.

    Attributes:
        objective: one of `closeread.tasks.coref.adjudication.objectives.OBJECTIVES`.
        incompatible: which mentions are never together: those that "overlap", or of which one contains the other,
            "containment".
        empty_annotators: "count" annotators without links in a document, or "ignore" them.
    """

    objective: str = "v"
    incompatible: str = "overlap"
    empty_annotators: str = "count"


@dataclass(frozen=True)
class Link:
    """A pair of mentions that somebody has in one chain, or the result.

    Attributes:
        first, second: the mentions, by their place in the document.
        annotators: how many annotators have them in one chain.
        together: whether the result has.
        cost: what the pair costs.
    """

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
    open_session: OpenSession,
    deadline: Deadline,
    forced: ForcedDocument = NOTHING_FORCED,
) -> AdjudicatedDocument:
    """Find the chains that cost least.

    Args:
        document: the document.
        settings: what solutions cost, and which are allowed.
        open_session: the solver.
        deadline: when to stop.
        forced: what a person has decided.

    Raises:
        FormatError: no solution agrees with what a person has decided, or none was found in time.
    """
    document = document.add(list(forced.chain_of))
    k = document.count_annotators(settings.empty_annotators)
    plan = _Plan(document, settings, k, forced)
    number, is_optimal = plan.node.copy(), True
    for nodes, part in plan.list_parts():
        found = solve(part, open_session, deadline)
        is_optimal &= found.is_proved
        if found.chain is None and part.lone.any():
            why = "no solution has all forced mentions" if found.is_proved else "no solution was found in time"
            raise FormatError(forced.file, [Problem(f"document {quote(document.name)}: {why}", forced.line)])
        if found.chain is not None:
            if not part.accepts(found.chain):
                raise RuntimeError(f"document {quote(document.name)}: the solver has put mentions together wrongly")
            moved = np.arange(len(document.mentions))
            moved[nodes] = nodes[np.argmax(found.chain[:, None] == found.chain, axis=1)]
            number = moved[number]
    chains = sorted((places.tolist() for places in group_by_number(number)), key=lambda places: places[0])
    links = list(_list_links(document, number, settings.objective, k))
    ids = forced.choose_ids([[document.mentions[i] for i in chain] for chain in chains])
    return AdjudicatedDocument(document, k, chains, ids, links, is_optimal)


MAX_TOGETHER = 1_000
"""The most mentions that links connect directly or over others, and that have to be put into chains together."""


class _Plan:
    """The parts of a document.

    Args:
        document: the document.
        settings: what solutions cost, and which are allowed.
        n_annotators: k.
        forced: what a person has decided.

    Attributes:
        node: (n_mentions,) the first of the mentions with which each mention is forced to be.
    """

    def __init__(self, document: AnnotatedDocument, settings: Settings, n_annotators: int, forced: ForcedDocument):
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
        """Yield the nodes of each part, as their first mentions, and the part itself.

        Raises:
            RequestError: a part has more than `MAX_TOGETHER` mentions.
        """
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


def _list_links(document: AnnotatedDocument, number: Ints, objective: str, n_annotators: int) -> Iterator[Link]:
    """Yield the pairs that somebody has in one chain, or the result, in order.

    Args:
        document: the document.
        number: (n_mentions,) the chain of each mention in the result.
        objective: what pairs cost.
        n_annotators: k.
    """
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
    cost = np.where(together, cost_together(annotators, n_annotators, objective), cost_apart(annotators))
    columns = (first, second, annotators, together, cost)
    yield from map(Link, *(column.tolist() for column in columns))
