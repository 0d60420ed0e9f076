"""Adjudication: the chains that best explain several annotators' decisions, and what they cost (Schüller, 2018).

Sources: Schüller (2018), "Adjudication of Coreference Annotations via Answer Set Optimization", section 3; Schüller et
al. (2018), "Marmara Turkish Coreference Corpus and Coreference Resolution Baseline", section 3.3.  The paper minimizes

    Σ over pairs of mentions m, m', Σ over annotators i:  2 a(m, m', A_i) na(m, m', G) + na(m, m', A_i) a(m, m', G)

where a says that both mentions are in one chain of annotator A_i, or of the solution G, and na that they are not.  So a
pair that K of the k annotators of its document have in one chain costs what objective v says:

    objective   apart   together, K >= 1     together, K = 0
    v           2K      k - K                forbidden
    va          2K      min(k - K, 2K + 1)   1
    u           2K      0                    forbidden
    ua          2K      0                    1

Pairs that a person has put together are not forbidden: under v and u they cost what the formula for K >= 1 says.  Ties
are settled as in `closeread.tasks.annotation.components`.

Mentions that are joined by links that cost no more together than apart make a component.  Components are independent: a
chain over two of them gets cheaper by cutting it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from closeread.exceptions import FormatError, Problem, RequestError, quote
from closeread.tasks.annotation.annotators import (
    AnnotatedDocument,
    Link,
    find_links,
    make_document,
)
from closeread.tasks.annotation.components import Component
from closeread.tasks.annotation.forced import NOTHING_FORCED, ForcedDocument, are_compatible
from closeread.tasks.annotation.solver import Deadline, solve

MAX_PAIRS = 1_000_000
"""The most pairs of mentions of a document that annotators have in one chain, each counted as often as they have it."""

MAX_TOGETHER = 1_000
"""The most mentions that links connect directly or over others, and that have to be put into chains together."""


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

    @property
    def allows_new_links(self) -> bool:
        """Whether mentions may be together that nobody has in one chain."""
        return self.objective in ("va", "ua")

    def cost_apart(self, n_linking: int) -> int:
        """Return the cost of a pair in different chains, given K."""
        return 2 * n_linking

    def cost_together(self, n_linking: int, n_annotators: int) -> int:
        """Return the cost of a pair within a chain, given K and k."""
        if self.allows_new_links and n_linking == 0:
            return 1
        n_against = n_annotators - n_linking
        match self.objective:
            case "v":
                return n_against
            case "va":
                return min(n_against, 2 * n_linking + 1)
        return 0

    def gain(self, n_linking: int, n_annotators: int) -> int:
        """Return how much less a pair costs together than apart; negative if it costs more."""
        return self.cost_apart(n_linking) - self.cost_together(n_linking, n_annotators)


@dataclass(frozen=True)
class JudgedLink:
    """A pair of mentions that somebody has in one chain, annotators or the result.

    Attributes:
        first, second: the numbers of the mentions.
        annotators: the numbers of the annotators who have them in one chain.
        is_together: whether the result has them in one chain.
        cost: what this costs.
    """

    first: int
    second: int
    annotators: Sequence[int]
    is_together: bool
    cost: int


@dataclass(frozen=True, eq=False)
class AdjudicatedDocument:
    """The result for a document.

    Attributes:
        document: the document, with its annotators' chains.
        n_annotators: k, the number of annotators that count.
        chains: the numbers of the mentions of each chain; in order of the first mention.
        ids: the id of each chain.
        links: what each pair costs, in order.
        is_optimal: whether this is proved to be the best solution.
    """

    document: AnnotatedDocument
    n_annotators: int
    chains: Sequence[Sequence[int]]
    ids: Sequence[str]
    links: Sequence[JudgedLink]
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
    if forced.chain_of:
        mentions = {*document.mentions, *forced.chain_of}
        document = make_document(document.name, document.list_mentions(), mentions)
    _check_number_of_pairs(document)
    links = find_links(document)
    n_annotators = count_annotators(document, settings.empty_annotators)
    plan = _Plan(document, links, settings, n_annotators, forced)
    chains: list[list[int]] = []
    is_optimal = True
    for nodes in plan.list_components():
        component = plan.make_component(nodes)
        solution = solve(component, deadline)
        is_optimal &= solution.is_proved
        if solution.chain is None:
            why = "no solution has all forced mentions"
            if not solution.is_proved:
                why = "no solution was found in time"
            problem = Problem(f"document {quote(document.name)}: {why}", forced.line)
            raise FormatError(forced.file, [problem])
        if not component.accepts(solution.chain):
            raise RuntimeError(
                f"document {quote(document.name)}: the solver has put mentions together wrongly"
            )
        members: defaultdict[int, list[int]] = defaultdict(list)
        for number, node in zip(solution.chain.tolist(), nodes, strict=True):
            members[number] += node
        chains += [sorted(chain) for chain in members.values() if len(chain) > 1]
    chains.sort()
    judged = list(_judge_links(links, chains, settings, n_annotators))
    ids = forced.choose_ids(document, chains)
    return AdjudicatedDocument(document, n_annotators, chains, ids, judged, is_optimal)


def _check_number_of_pairs(document: AnnotatedDocument) -> None:
    n_pairs = 0
    for chains in document.chains.values():
        n_pairs += sum(comb(len(chain), 2) for chain in chains)
    if n_pairs > MAX_PAIRS:
        pairs = f"{n_pairs:,} pairs of mentions in one chain (expected at most {MAX_PAIRS:,})"
        raise RequestError(f"document {quote(document.name)}: {pairs}")


def count_annotators(document: AnnotatedDocument, empty_annotators: str) -> int:
    """Return k, the number of annotators; "count" those without links in this document, too, or "ignore" them."""
    if empty_annotators == "count":
        return len(document.chains)
    return sum(any(len(chain) > 1 for chain in chains) for chains in document.chains.values())


def _judge_links(
    links: Mapping[Link, Sequence[int]],
    chains: Sequence[Sequence[int]],
    settings: Settings,
    n_annotators: int,
) -> Iterator[JudgedLink]:
    """Yield what each pair costs that somebody has in one chain, or the result, in order."""
    together: set[Link] = set()
    for chain in chains:
        together.update(combinations(chain, 2))
    for link in sorted(links.keys() | together):
        annotators = links.get(link, ())
        is_together = link in together
        cost = settings.cost_apart(len(annotators))
        if is_together:
            cost = settings.cost_together(len(annotators), n_annotators)
        yield JudgedLink(*link, annotators, is_together, cost)


class _Plan:
    """How a document is divided into components, and each of these into nodes.

    A node lists the mentions that a person has decided to be in one chain, or one other mention.
    """

    def __init__(
        self,
        document: AnnotatedDocument,
        links: Mapping[Link, Sequence[int]],
        settings: Settings,
        n_annotators: int,
        forced: ForcedDocument,
    ) -> None:
        self._document = document
        self._links = links
        self._settings = settings
        # By the number of annotators who have a pair in one chain.
        n_files = len(document.chains)
        self._gains = [settings.gain(n, n_annotators) for n in range(n_files + 1)]
        self._is_excluded = [forced.excludes(mention) for mention in document.mentions]
        self._forced_ids = [forced.chain_of.get(mention) for mention in document.mentions]
        self._nodes: list[list[int]] = []
        forced_nodes: dict[str, list[int]] = {}
        for number, chain_id in enumerate(self._forced_ids):
            node = [] if chain_id is None else forced_nodes.setdefault(chain_id, [])
            node.append(number)
            self._nodes.append(node)
        # What a person has decided to be in a chain must not be alone in it.
        self._needs_partner = {node[0] for node in forced_nodes.values() if len(node) == 1}

    def list_components(self) -> Iterator[list[list[int]]]:
        """Yield the nodes of each component that may have chains, in the order of their first mentions."""
        neighbours: defaultdict[int, set[int]] = defaultdict(set)
        for first, second in self._list_edges():
            neighbours[first].add(second)
            neighbours[second].add(first)
        seen: set[int] = set()
        for start in range(len(self._document.mentions)):
            if start in seen:
                continue
            seen.add(start)
            component = [start]
            # The list grows while it is read.
            for mention in component:
                new = neighbours[mention] - seen
                component += new
                seen |= new
            if len(component) > MAX_TOGETHER:
                mentions = f"{len(component):,} mentions that links connect"
                expected = f"expected at most {MAX_TOGETHER:,}"
                name = quote(self._document.name)
                raise RequestError(f"document {name}: {mentions} ({expected})")
            if len(component) > 1 or start in self._needs_partner:
                component.sort()
                firsts = [mention for mention in component if self._nodes[mention][0] == mention]
                yield [self._nodes[mention] for mention in firsts]

    def _list_edges(self) -> Iterator[Link]:
        """Yield pairs of mentions that are in the same component."""
        for link, annotators in self._links.items():
            is_needed = not self._needs_partner.isdisjoint(link)
            if (is_needed or self._gains[len(annotators)] >= 0) and self._may_join(*link):
                yield link
        for mention, node in enumerate(self._nodes):
            yield node[0], mention
        if self._settings.allows_new_links:
            for mention in self._needs_partner:
                for other in range(len(self._nodes)):
                    if other != mention and self._may_join(mention, other):
                        yield mention, other

    def _may_join(self, first: int, second: int) -> bool:
        """Return whether two mentions may be together as far as their tokens and forced cells go."""
        if self._is_excluded[first] or self._is_excluded[second]:
            return False
        ids = {self._forced_ids[first], self._forced_ids[second]} - {None}
        if len(ids) > 1:
            return False
        mentions = self._document.mentions
        return are_compatible(mentions[first], mentions[second], self._settings.incompatible)

    def make_component(self, nodes: Sequence[Sequence[int]]) -> Component:
        """Make the component of some nodes."""
        place = {}
        for number, node in enumerate(nodes):
            place.update(dict.fromkeys(node, number))
        shape = (len(nodes), len(nodes))
        gain = np.zeros(shape, np.int64)
        n_pairs = np.zeros(shape, np.int64)
        allowed = ~np.eye(len(nodes), dtype=bool)
        for link in combinations(sorted(place), 2):
            ends = place[link[0]], place[link[1]]
            if ends[0] == ends[1]:
                continue
            annotators = self._links.get(link, ())
            gain[ends] += self._gains[len(annotators)]
            n_pairs[ends] += 1
            is_known = annotators or self._settings.allows_new_links
            if not (is_known and self._may_join(*link)):
                allowed[ends] = False
        needs_partner = [self._needs_partner.issuperset(node) for node in nodes]
        return Component(
            gain + gain.T, n_pairs + n_pairs.T, allowed & allowed.T, np.array(needs_partner)
        )
