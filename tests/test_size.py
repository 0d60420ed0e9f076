"""No room of the house, nor all of it, nor its tests, grow beyond their budgets in `tools/size.toml`."""

import size


def test_nothing_is_larger_than_its_budget():
    excess = size.find_excess(size.measure())
    assert not excess, "\n".join(f"{room}: {', '.join(over)}" for room, over in excess.items())


def test_more_than_a_budget_is_found():
    assert size.find_excess({"total": [10**9, 0, 0]})["total"][0].startswith("lines 1,000,000,000 (at most ")
