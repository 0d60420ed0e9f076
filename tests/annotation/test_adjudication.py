"""Adjudication: cases by hand, against and against a twin that tries everything."""

import json
import random
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from agreed import caspr
from shared.annotators import (
    adjudicated,
    annotators_of,
    chains_of,
    document_of,
    random_annotators,
)
from shared.peers import find_peer
from twins import adjudication as twin

from closeread.exceptions import FormatError
from closeread.tasks.annotation import branching, solver
from closeread.tasks.annotation.adjudication import Settings, adjudicate
from closeread.tasks.annotation.components import Component, join_greedily, number_chains
from closeread.tasks.annotation.solver import Deadline, solve


@pytest.fixture
def only_by_program(monkeypatch):
    """No component is solved by branch and bound."""
    monkeypatch.setattr(branching, "MAX_NODES", 0)


OBJECTIVES = ("v", "va", "u", "ua")
TESTS = Path(__file__).parent.parent
CASES = json.loads(TESTS.joinpath("cases/adjudication.json").read_text("utf-8"))
CASPR = json.loads(TESTS.joinpath("agreed/caspr.json").read_text("utf-8"))


def spans_of(text, case):
    """The chains that letters stand for."""
    given = case.get("mentions", {})
    place = {letter: tuple(given.get(letter, (2 * i, 2 * i))) for i, letter in enumerate("ABCDE")}
    return [[place[letter] for letter in chain] for chain in text.split()]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_by_hand(case):
    annotators = [spans_of(text, case) for text, n in case["annotators"].items() for _ in range(n)]
    for objective, (chains, cost) in case["expected"].items():
        found = adjudicated(annotators, objective=objective, **case.get("options", {}))
        assert chains_of(found) == {frozenset(chain) for chain in spans_of(chains, case)}, objective
        assert found.cost == cost, objective
        assert found.is_optimal


def random_settings(rng):
    return {
        "objective": rng.choice(OBJECTIVES),
        "incompatible": rng.choice(("overlap", "containment")),
        "empty_annotators": rng.choice(("count", "ignore")),
    }


@pytest.mark.parametrize("max_nodes", [0, 100])
@pytest.mark.parametrize("seed", range(3))
def test_as_the_twin(seed, max_nodes, monkeypatch):
    """By integer programming alone, and by branch and bound."""
    monkeypatch.setattr(branching, "MAX_NODES", max_nodes)
    rng, n_ties = random.Random(seed), 0
    for _ in range(22):
        n_annotators = rng.choice((1, 2, 3, 4, 6, 9))
        annotators = random_annotators(rng, rng.randint(2, 6), n_annotators, rng.choice((1, 2, 3)))
        settings = random_settings(rng)
        chains, cost = twin.adjudicate(annotators, **settings)
        found = adjudicated(annotators, **settings)
        assert chains_of(found) == {frozenset(chain) for chain in chains}
        assert found.cost == cost
        n_ties += any(3 * len(link.annotators) == found.n_annotators for link in found.links)
    assert n_ties > 2


@pytest.mark.parametrize("seed", range(2))
def test_decisions_as_the_twin(seed):
    rng, outcomes = random.Random(seed), set()
    for _ in range(30):
        annotators = random_annotators(
            rng, rng.randint(2, 5), rng.choice((1, 2, 3, 6)), rng.choice((1, 2, 3))
        )
        settings = random_settings(rng)
        mentions = sorted(
            {mention for annotator in annotators for chain in annotator for mention in chain}
        )
        mentions += [(40, 40), (41, 42), (43, 43)]
        chain_of = {
            mention: rng.choice("12") for mention in rng.sample(mentions, rng.randint(0, 3))
        }
        pairs = combinations(chain_of, 2)
        if any(
            chain_of[a] == chain_of[b] and not twin.fit(a, b, settings["incompatible"])
            for a, b in pairs
        ):
            continue
        bound = {token for mention in chain_of for token in mention} | {rng.randrange(12)}
        chains, cost = twin.adjudicate(annotators, decided=(bound, chain_of), **settings)
        outcomes.add(chains is None)
        if chains is None:
            with pytest.raises(
                FormatError, match="document 'd': no solution has all forced mentions"
            ):
                adjudicated(annotators, (bound, chain_of), **settings)
            continue
        found = adjudicated(annotators, (bound, chain_of), **settings)
        assert chains_of(found) == {frozenset(chain) for chain in chains}
        assert found.cost == cost
        for number, chain in zip(found.ids, found.chains, strict=True):
            names = {chain_of.get(found.document.mentions[i][:2]) for i in chain}
            assert names <= {None, number}
    assert outcomes == {True, False}


@pytest.mark.parametrize("seed", range(16))
def test_no_known_solution_is_cheaper(seed):
    rng = random.Random(seed)
    size, n_chains = rng.randint(10, 28), rng.randint(2, 7)
    gold = [int(n_chains * rng.random() ** 1.5) for _ in range(size)]
    annotators = annotators_of(gold, rng.choice((3, 6, 9, 10, 12)), rng.uniform(0.15, 0.6), seed)
    objective = OBJECTIVES[seed % 4] if size < 20 else OBJECTIVES[seed % 2]
    result = adjudicated(annotators, objective=objective)
    cost = twin.cost(chains_of(result), annotators, objective)
    assert result.cost == cost == sum(link.cost for link in result.links)
    gold_chains = [
        [(3 * i, 3 * i) for i in range(size) if gold[i] == chain] for chain in range(n_chains)
    ]
    for chains in ([], gold_chains, *annotators):
        found = twin.cost([chain for chain in chains if len(chain) > 1], annotators, objective)
        assert found is None or found >= cost


def random_component(rng):
    """Nodes with random gains, some of which may not be together, and some not alone."""
    size = rng.randint(2, 9)
    gain = np.array([[rng.randint(-3, 3) for _ in range(size)] for _ in range(size)])
    n_pairs = np.array([[rng.randint(1, 3) for _ in range(size)] for _ in range(size)])
    allowed = np.array([[rng.random() < 0.8 for _ in range(size)] for _ in range(size)])
    symmetric = [np.triu(matrix, 1) + np.triu(matrix, 1).T for matrix in (gain, n_pairs, allowed)]
    needs_partner = np.array([rng.random() < 0.15 for _ in range(size)])
    return Component(*symmetric, needs_partner)


def number(chain):
    """The first node that each node is with; None if there is no solution."""
    return None if chain is None else number_chains(chain[:, None] == chain).tolist()


def test_branch_and_bound_and_programming_find_the_same(monkeypatch):
    rng = random.Random(4)
    n_unsolvable = 0
    for _ in range(150):
        component = random_component(rng)
        by_branching = number(branching.find_by_branching(component))
        with monkeypatch.context() as patch:
            patch.setattr(branching, "MAX_NODES", 0)
            by_program = number(solve(component, Deadline(None)).chain)
        n_unsolvable += by_program is None
        assert by_branching == by_program
    assert n_unsolvable


def with_twins(component, rng):
    """The component with some nodes several times, each time beside the others, with a gain or for nothing."""
    numbers = sorted(rng.choices(range(len(component)), k=len(component) + 4))
    square = np.ix_(numbers, numbers)
    is_twin = np.equal.outer(numbers, numbers) & ~np.eye(len(numbers), dtype=bool)
    gain = np.where(is_twin, rng.choice((0, 1, 4)), component.gain[square])
    n_pairs = 1 - np.eye(len(numbers), dtype=np.int64)
    allowed = component.allowed[square] | is_twin
    return Component(gain, n_pairs, allowed, component.needs_partner[numbers])


def test_twins_change_nothing(monkeypatch):
    """The best solution of all nodes has twins together."""
    rng = random.Random(5)
    n_merged = 0
    for _ in range(150):
        component = with_twins(random_component(rng), rng)
        if len(component) > 9:
            continue
        n_merged += len(component) - len(set(component.find_twins()))
        merged = number(solve(component, Deadline(None)).chain)
        with monkeypatch.context() as patch:
            patch.setattr(Component, "find_twins", lambda component: list(range(len(component))))
            single = number(solve(component, Deadline(None)).chain)
        assert merged == single
    assert n_merged > 50


def test_large_ties_are_settled():
    """A ring of mentions, neighbours by one annotator each: every second link can be used, beginning with the first."""
    size = 12
    ring = [
        [[(3 * i, 3 * i), (3 * (i + 1) % (3 * size), 3 * (i + 1) % (3 * size))]]
        for i in range(size)
    ]
    expected = {frozenset([(3 * i, 3 * i), (3 * i + 3, 3 * i + 3)]) for i in range(0, size, 2)}
    found = adjudicated(ring, objective="u")
    assert chains_of(found) == expected
    assert found.cost == 2 * size // 2


@pytest.mark.usefixtures("only_by_program")
def test_without_time_for_ties_nothing_is_proved(monkeypatch):
    """The best cost and the most links take two steps; there is no time for a third."""
    ring = [[[(0, 0), (3, 3)]], [[(3, 3), (6, 6)]], [[(6, 6), (9, 9)]], [[(9, 9), (0, 0)]]]
    n_steps = 0

    def options(deadline):
        nonlocal n_steps
        n_steps += 1
        if n_steps > 2:
            raise TimeoutError
        return {}

    monkeypatch.setattr(Deadline, "options", property(options))
    found = adjudicated(ring, objective="u")
    assert n_steps == 3
    assert (found.cost, found.is_optimal) == (4, False)


@pytest.mark.usefixtures("only_by_program")
def test_ties_of_more_pairs_than_one_step_settles(monkeypatch):
    """The steps' size changes nothing: 28 pairs are settled one by one, by two, and all at once."""
    n_nodes = 8
    links = np.ones((n_nodes, n_nodes), np.int64)
    np.fill_diagonal(links, 0)
    gain = np.where(np.add.outer(np.arange(n_nodes), np.arange(n_nodes)) % 2, 1, -2) * links
    component = Component(gain, links, links > 0, np.zeros(n_nodes, bool))
    chains = []
    for n_pairs in (1, 2, 15, 40):
        monkeypatch.setattr(solver, "PAIRS_PER_STEP", n_pairs)
        chains.append(number(solve(component, Deadline(None)).chain))
    assert chains == [[0, 0, 2, 2, 4, 4, 6, 6]] * 4


def test_without_time_a_node_that_may_not_be_alone_joins_a_chain():
    gain, links = -np.ones((3, 3), np.int64), np.ones((3, 3), np.int64)
    for matrix in (gain, links):
        np.fill_diagonal(matrix, 0)
    component = Component(gain, links, links > 0, np.array([False, False, True]))
    assert join_greedily(component).tolist() == [0, 1, 0]
    assert join_greedily(
        Component(-gain, links, component.allowed, component.needs_partner)
    ).tolist() == [0, 0, 0]


def test_a_node_that_may_not_be_alone_is_with_one_other():
    """All nodes apart would be better, by one."""
    gain, links = -np.ones((3, 3), np.int64), np.ones((3, 3), np.int64)
    for matrix in (gain, links):
        np.fill_diagonal(matrix, 0)
    component = Component(gain, links, links > 0, np.array([False, False, True]))
    assert number(solve(component, Deadline(None)).chain) == [0, 1, 0]


def test_as_caspr():
    for row in CASPR["random"]:
        annotators = caspr.invent(row["seed"])
        for objective, cost in row["costs"].items():
            assert adjudicated(annotators, objective=objective, **caspr.AS_CASPR).cost == cost, (
                row["seed"],
                objective,
            )


def test_examples_of_caspr():
    files = sorted(find_peer("caspr-coreference-tool").glob("examples/auto/inputs/*.conll"))
    annotators = [caspr.read(file) for file in files]
    for objective, cost in CASPR["examples"].items():
        for settings in ({}, caspr.AS_CASPR):
            assert adjudicated(annotators, objective=objective, **settings).cost == cost


def test_long_chains_with_mistakes_need_no_program(monkeypatch):
    """Three annotators, each of whom leaves out some of 300 mentions: few differ in who has them."""
    monkeypatch.setattr(solver, "_Search", lambda *component: pytest.fail("not needed"))
    rng = random.Random(0)
    gold = [(3 * i, 3 * i) for i in range(300)]
    annotators = [[[mention for mention in gold if rng.random() < 0.95]] for _ in range(3)]
    found = adjudicated(annotators)
    chain = {mention for mention in gold if sum(mention in own[0] for own in annotators) > 1}
    assert chains_of(found) == {frozenset(chain)}
    assert found.is_optimal


def test_discontinuous_mentions_share_tokens_or_not():
    """A mention with a gap fits one inside the gap, and not one over its second part."""
    document = document_of([[[(0, 9), (4, 5), (20, 20)], [(9, 12), (30, 30)]]] * 2)
    with_gap = [
        mention._replace(subspans=((0, 2), (8, 9))) if mention[:2] == (0, 9) else mention
        for mention in document.mentions
    ]
    for mentions, expected in (
        (document.mentions, {(0, 9), (20, 20)}),
        (with_gap, {(0, 9), (4, 5), (20, 20)}),
    ):
        changed = document._replace(mentions=mentions)
        found = adjudicate(changed, Settings(), Deadline(None))
        assert expected in chains_of(found)


def test_a_document_of_many_mentions_is_fast_if_annotators_agree(monkeypatch):
    """One long chain needs no program."""
    monkeypatch.setattr(solver, "_Search", lambda *component: pytest.fail("not needed"))
    gold = [0] * 200
    found = adjudicate(document_of(annotators_of(gold, 5, 0.0, 0)), Settings(), Deadline(None))
    assert [len(chain) for chain in found.chains] == [200]
    assert found.cost == 0
    assert all(link.is_together for link in found.links)
