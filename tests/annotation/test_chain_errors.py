"""Mistakes in chains: by hand, and by a twin that tries every matching."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.coreference_tables import make_documents
from twins import chain_errors as slow

from closeread.tasks.annotation.chain_errors import find_chain_errors, judge_chains, match_chains

CASES = json.loads(
    (Path(__file__).parent.parent / "cases" / "chain_errors.json").read_text("utf-8")
)
MENTIONS = "abcdefghij"


def spread(chains):
    """Turn chains of letters into mentions of one token."""
    return [[[ord(m) - ord("a")] * 2 for m in chain] for chain in chains]


def compare(gold, system):
    """List the kinds of the chains of a document, chains of letters, with their numbers of mentions."""
    sides = [
        sorted(sorted(map(ord, chain)) for chain in side if len(chain) > 1)
        for side in (system, gold)
    ]
    words = {"missing": "missing {0}", "mixed": "mixed {1}"}
    return [words.get(kind, kind).format(*numbers) for kind, _, *numbers in judge_chains(*sides)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_hand_cases(case):
    gold, system = case["gold"].split(), case["system"].split()
    assert compare(gold, system) == case["expected"]
    assert compare(gold[::-1], [chain[::-1] for chain in system[::-1]]) == case["expected"]


def as_chains(numbers):
    """Return the chains of two letters or more with equal numbers, by first letter."""
    chains = [
        "".join(m for m, n in zip(MENTIONS, numbers, strict=True) if n == k) for k in range(5)
    ]
    return sorted(chain for chain in chains if len(chain) > 1)


CHAINS = st.lists(st.integers(0, 6), min_size=len(MENTIONS), max_size=len(MENTIONS)).map(as_chains)


@given(CHAINS, CHAINS)
@settings(max_examples=150)
def test_fast_is_slow(gold, system):
    assert compare(gold, system) == slow.judge(list(map(set, system)), list(map(set, gold)))


@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=4))
@settings(max_examples=100)
def test_the_matching_is_the_first_of_the_best(table):
    # Chains that share as many mentions as the table says.
    cells = [
        [{(r, c, i) for i in range(n)} for c, n in enumerate(row)] for r, row in enumerate(table)
    ]
    chains = [set().union(*row) for row in cells]
    gold = [set().union(*column) for column in zip(*cells, strict=True)]
    wanted = [-1 if g is None else g for g in slow.match(chains, gold)]
    assert match_chains([{j: n for j, n in enumerate(row) if n} for row in table]) == wanted


def test_files_and_documents_add_up():
    gold = make_documents(
        [spread(["abc", "de"]), spread(["ab"]), spread(["ab"])], names=["x", "y", "z"]
    )
    one = make_documents([spread(["ab"]), spread(["abc", "d"])], names=["y", "x"])
    two = make_documents([spread(["ab", "cde", "xy"])], names=["x"])
    found = find_chain_errors(gold, [one, two])
    assert found.to_dict() == {
        "chains": 5,
        "mentions": 12,
        "kinds": {"exact": 2, "missing": 1, "mixed": 1, "extra": 0, "spurious": 1},
        "missing_mentions": {"1": 1},
        "foreign_mentions": {"1": 1},
    }


def test_nothing_to_compare():
    found = find_chain_errors(make_documents([[]]), [make_documents([[]])])
    assert (found.n_chains, found.n_mentions, found.missing) == (0, 0, {})


def test_one_link_is_more_than_two_pairs_without():
    assert match_chains([{0: 2, 1: 1}, {0: 1}]) == [0, -1]


def test_large_numbers_stay_exact():
    # 20,000 common mentions are 199,990,000 links; one mention more or less still decides.
    sizes = [{0: 20_000, 1: 20_000}, {0: 19_999, 1: 20_000}]
    assert match_chains(sizes) == [0, 1]
    assert match_chains(sizes[::-1]) == [1, 0]
