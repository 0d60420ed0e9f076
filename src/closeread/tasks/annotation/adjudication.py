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
from typing import NamedTuple

import numpy as np

from closeread.exceptions import FormatError, Problem, quote
from closeread.tasks.annotation.annotators import (
    AnnotatedDocument,
    Link,
    check_size,
    find_links,
    make_document,
)
from closeread.tasks.annotation.components import Component, number_groups
from closeread.tasks.annotation.forced import NOTHING_FORCED, ForcedDocument, are_compatible
from closeread.tasks.annotation.solver import Deadline, solve
from closeread.tasks.coref.documents import Mention

MAX_PAIRS = 1_000_000
"""The most pairs of mentions of a document that annotators have in one chain, each counted as often as they have it."""

MAX_TOGETHER = 1_000
"""The most mentions that links connect directly or over others, and that have to be put into chains together."""


class Settings(NamedTuple):
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


class Costs(NamedTuple):
    """What pairs of mentions cost, given K, the number of annotators who have a pair in one chain.

    Attributes:
        objective: "v", "va", "u" or "ua".
        n_annotators: k, the number of annotators of the document.
    """

    objective: str
    n_annotators: int

    @property
    def allows_new_links(self) -> bool:
        """Whether mentions may be together that nobody has in one chain."""
        return self.objective in ("va", "ua")

    def apart(self, n_linking: int) -> int:
        """Return the cost of a pair in different chains."""
        return 2 * n_linking

    def together(self, n_linking: int) -> int:
        """Return the cost of a pair within a chain."""
        if self.allows_new_links and n_linking == 0:
            return 1
        n_against = self.n_annotators - n_linking
        match self.objective:
            case "v":
                return n_against
            case "va":
                return min(n_against, 2 * n_linking + 1)
        return 0

    def gain(self, n_linking: int) -> int:
        """Return how much less a pair costs together than apart; negative if it costs more."""
        return self.apart(n_linking) - self.together(n_linking)


class JudgedLink(NamedTuple):
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

    def list_undecided(self) -> set[Mention]:
        """Return the mentions of links that as many annotators have as lack."""
        mentions = set()
        for link in self.links:
            if 2 * len(link.annotators) == self.n_annotators:
                mentions.add(self.document.mentions[link.first])
                mentions.add(self.document.mentions[link.second])
        return mentions

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
    n_pairs = sum(document.count_links().values())
    check_size(document, n_pairs, "pairs of mentions in one chain", MAX_PAIRS)
    links = find_links(document)
    costs = Costs(settings.objective, count_annotators(document, settings.empty_annotators))
    plan = _Plan(document, links, costs, settings.incompatible, forced)
    chains: list[list[int]] = []
    is_optimal = True
    for mentions_of_component in plan.list_components():
        component, node_of = plan.make_component(mentions_of_component)
        solution = solve(component, deadline)
        is_optimal &= solution.is_proved
        if solution.chain is None:
            why = "no solution has all forced mentions"
            if not solution.is_proved:
                why = "no solution was found in time"
            problem = Problem(f"document {quote(document.name)}: {why}", forced.line)
            raise FormatError(forced.file, [problem])
        members: defaultdict[int, list[int]] = defaultdict(list)
        for mention, node in zip(mentions_of_component, node_of, strict=True):
            members[int(solution.chain[node])].append(mention)
        chains += [chain for chain in members.values() if len(chain) > 1]
    chains.sort()
    judged = list(_judge_links(links, chains, costs))
    ids = forced.choose_ids(document, chains)
    return AdjudicatedDocument(document, costs.n_annotators, chains, ids, judged, is_optimal)


def count_annotators(document: AnnotatedDocument, empty_annotators: str) -> int:
    """Return k, the number of annotators; "count" those without links in this document, too, or "ignore" them."""
    if empty_annotators == "count":
        return len(document.chains)
    return sum(n_links > 0 for n_links in document.count_links().values())


def _judge_links(
    links: Mapping[Link, Sequence[int]], chains: Sequence[Sequence[int]], costs: Costs
) -> Iterator[JudgedLink]:
    """Yield what each pair costs that somebody has in one chain, or the result, in order."""
    together: set[Link] = set()
    for chain in chains:
        together.update(combinations(chain, 2))
    for link in sorted(links.keys() | together):
        annotators = links.get(link, ())
        is_together = link in together
        cost = costs.together if is_together else costs.apart
        yield JudgedLink(*link, annotators, is_together, cost(len(annotators)))


class _Plan:
    """How a document is divided into components, which mentions may be together, and what they gain."""

    def __init__(
        self,
        document: AnnotatedDocument,
        links: Mapping[Link, Sequence[int]],
        costs: Costs,
        incompatible: str,
        forced: ForcedDocument,
    ) -> None:
        self._document = document
        self._links = links
        self._incompatible = incompatible
        self._forced = forced
        self._allows_new_links = costs.allows_new_links
        # By the number of annotators who have a pair in one chain.
        self._gains = [costs.gain(n) for n in range(len(document.chains) + 1)]
        # The mentions that a person has decided to be in each chain.
        self._decided: defaultdict[str, list[int]] = defaultdict(list)
        for number, mention in enumerate(document.mentions):
            if mention in forced.chain_of:
                self._decided[forced.chain_of[mention]].append(number)
        # What a person has decided to be in a chain must not be alone in it.
        self._needs_partner = {
            mentions[0] for mentions in self._decided.values() if len(mentions) == 1
        }

    def list_components(self) -> Iterator[list[int]]:
        """Yield the mentions of each component that may have chains, in their order."""
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
            noun = "mentions that links connect"
            check_size(self._document, len(component), noun, MAX_TOGETHER)
            if len(component) > 1 or start in self._needs_partner:
                yield sorted(component)

    def _list_edges(self) -> Iterator[Link]:
        """Yield pairs of mentions that are in the same component."""
        for link, annotators in self._links.items():
            is_needed = not self._needs_partner.isdisjoint(link)
            if (is_needed or self._gains[len(annotators)] >= 0) and self._may_join(*link):
                yield link
        for first, *others in self._decided.values():
            for other in others:
                yield first, other
        if self._allows_new_links:
            for mention in self._needs_partner:
                for other in range(len(self._document.mentions)):
                    if other != mention and self._may_join(mention, other):
                        yield mention, other

    def _may_join(self, first: int, second: int) -> bool:
        """Return whether two mentions may be together as far as their tokens and forced cells go."""
        mentions = (self._document.mentions[first], self._document.mentions[second])
        return self._forced.allows(*mentions) and are_compatible(*mentions, self._incompatible)

    def make_component(self, mentions: Sequence[int]) -> tuple[Component, Sequence[int]]:
        """Make the component of some mentions; return it with the node of each mention.

        What a person has decided to be in one chain is one node.
        """
        shape = (len(mentions), len(mentions))
        gain = np.zeros(shape, np.int64)
        allowed = np.zeros(shape, bool)
        for (row, first), (column, second) in combinations(enumerate(mentions), 2):
            annotators = self._links.get((first, second), ())
            gain[row, column] = self._gains[len(annotators)]
            may_link = annotators or self._allows_new_links
            allowed[row, column] = may_link and self._may_join(first, second)
        n_pairs = 1 - np.eye(len(mentions), dtype=np.int64)
        needs_partner = [mention in self._needs_partner for mention in mentions]
        component = Component(gain + gain.T, n_pairs, allowed | allowed.T, np.array(needs_partner))
        node_of = dict(zip(mentions, mentions, strict=True))
        for decided in self._decided.values():
            node_of.update(dict.fromkeys(decided, decided[0]))
        nodes = number_groups(node_of[mention] for mention in mentions)
        return component.merge(nodes), nodes
