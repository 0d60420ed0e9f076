"""How many annotators draw each link: by hand, and by a slow twin on random annotators."""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import ceil

from hypothesis import given, settings
from hypothesis import strategies as st
from shared.coreference_tables import make_documents

from closeread.tasks.annotation.plots import BINS, count_support


def of_chains(documents):
    """Documents, each a name and its chains of single tokens."""
    return make_documents(
        [[[[t, t] for t in chain] for chain in chains] for chains in documents.values()],
        names=list(documents),
    )


def slow_bins(gold, files):
    """Counts of links in gold and not in gold, by tenths of their document's annotators."""
    counts = {True: Counter(), False: Counter()}
    for name, chains in gold.items():
        holding = [file[name] for file in files if name in file]
        in_gold = {pair for chain in chains for pair in combinations(sorted(chain), 2)}
        drawn = Counter(
            pair for file in holding for chain in file for pair in combinations(sorted(chain), 2)
        )
        for pair, times in drawn.items():
            counts[pair in in_gold][ceil(Fraction(10 * times, len(holding))) - 1] += 1
    return [[counts[kind][place] for place in range(BINS)] for kind in (True, False)]


def test_by_hand():
    gold = {"a": [[0, 1, 2], [5, 6]], "b": [[0, 1]]}
    files = [{"a": [[0, 1, 2]], "b": [[0, 1]]}, {"a": [[0, 1], [2, 5]]}, {"a": [[0, 1, 2], [5, 6]]}]
    found = count_support(of_chains(gold), [of_chains(file) for file in files]).tolist()
    # a: 0-1 by 3 of 3 (90 to 100), 0-2 and 1-2 by 2 of 3 (60 to 70), 5-6 by 1 of 3 (30 to 40), all in gold; 2-5 by
    # 1 of 3, not in gold.  b: 0-1 by 1 of 1.
    assert found == [[0, 0, 0, 1, 0, 0, 2, 0, 0, 2], [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]]


def test_borders_belong_to_the_lower_bin():
    gold = {"a": [[0, 1]]}
    files = [{"a": [[0, 1]] if n < 3 else [[2, 3]]} for n in range(10)]
    found = count_support(of_chains(gold), [of_chains(file) for file in files]).tolist()
    assert found == [[0, 0, 1, *[0] * 7], [*[0] * 6, 1, 0, 0, 0]]  # 30 % and 70 %


CHAINS = st.lists(st.integers(0, 3), min_size=6, max_size=6).map(
    lambda groups: [
        chain for n in range(4) if (chain := [t for t, group in enumerate(groups) if group == n])
    ]
)


@settings(max_examples=40)
@given(
    st.fixed_dictionaries({"a": CHAINS, "b": CHAINS}),
    st.lists(
        st.fixed_dictionaries({}, optional={"a": CHAINS, "b": CHAINS}).filter(bool),
        min_size=1,
        max_size=5,
    ),
)
def test_the_slow_twin(gold, files):
    found = count_support(of_chains(gold), [of_chains(file) for file in files]).tolist()
    assert found == slow_bins(gold, files)
