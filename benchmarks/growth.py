"""Timelines and entangled entities that are larger than any corpus, beside a sort and two solvers.

    python benchmarks/growth.py

Writes `results/growth.json` and prints it; the table in README.md is made from it by `python tools/documentation.py`.
Gold has an event a day.  In the system's timeline, one event of a hundred is on another day, at random, so that the
order of the anchors returns to earlier days: relations then contradict each other, and the order is partial.  Times are
CPU seconds, within a process, of counting one timeline from entries.

Entities are entangled if every mention is in one of them at random, on both sides: nearly all are then connected, and
CEAF has to search for their best mapping.  SciPy's solver and lapx's are given the same cells of CEAFe.  lapx (`pip
install lapx`) is measured only; without it, its column is left out.
"""

import json
import random
import time
from importlib.util import find_spec

import numpy as np
from measure import kept
from scipy.sparse import csr_array, csr_matrix
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from closeread.tasks.coref.kernels.ceaf import best_total
from closeread.tasks.timeline.kernels.timelines import TRACKS, sort_entries, timeline_counts

SIZES = (10_000, 100_000, 1_000_000)
SHARE = 0.01
"""How many of the system's events are on another day."""

LIMIT = 600
ENTITIES = (5_000, 20_000, 80_000)
MENTIONS = 3.75
"""How many mentions each entity has on average."""


def timeline(n, share, seed=0):
    """The entries of n events, each at a position of its own; a share of them is on a day of another."""
    rng = random.Random(seed)  # noqa: S311
    days = (rng.randrange(n) if rng.random() < share else i for i in range(n))
    return [{"position": i, "anchor": f"D{d}", "mentions": [f"{i % 97}-{i}-go"]} for i, d in enumerate(days, start=1)]


def seconds(function, *arguments):
    """CPU seconds of a call."""
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def measure(n):
    """CPU seconds of everything for a number of events."""
    gold, system = timeline(n, 0), timeline(n, SHARE)
    found = {"sorting": seconds(lambda: [sort_entries(side) for side in (gold, system)])}
    found |= {f"closeread, {track}": seconds(timeline_counts, gold, system, track) for track in reversed(TRACKS)}
    return found


def entangled(n, seed=0):
    """Rows, columns and CEAFe's weights of the pairs of entities that share mentions, of n entities on each side."""
    rng = np.random.default_rng(seed)
    key, response = rng.integers(n, size=(2, int(MENTIONS * n)))
    codes, shared = np.unique(key * n + response, return_counts=True)
    row, column = codes // n, codes % n
    sizes = [np.bincount(side, minlength=n) for side in (key, response)]
    return row, column, 2 * shared / (sizes[0][row] + sizes[1][column])


def solve_by_scipy(row, column, weight):
    """The weight of SciPy's mapping; a column of its own lets each row stay without a partner."""
    n_rows, n_columns = row.max() + 1, column.max() + 1
    rows, columns = np.append(row, np.arange(n_rows)), np.append(column, n_columns + np.arange(n_rows))
    costs = np.append(2 - weight, np.full(n_rows, 2.0))
    graph = csr_array((costs, (rows.astype(np.int32), columns.astype(np.int32))), shape=(n_rows, n_columns + n_rows))
    return 2 * n_rows - graph[min_weight_full_bipartite_matching(graph)].sum()


def solve_by_lapx(row, column, weight):
    """The weight of lapx's mapping; it wants a square, so each row and each column gets a partner of its own."""
    from lap import lapmod

    n_rows, n_columns = row.max() + 1, column.max() + 1
    n, own_rows, own_columns = n_rows + n_columns, np.arange(n_rows), np.arange(n_columns)
    rows = np.concatenate([row, own_rows, n_rows + column, n_rows + own_columns])
    columns = np.concatenate([column, n_columns + own_rows, n_columns + row, own_columns])
    costs = np.concatenate([2 - weight, np.ones(n_rows), np.zeros(len(row)), np.ones(n_columns)])
    graph = csr_matrix((costs, (rows, columns)), shape=(n, n))
    graph.sort_indices()
    return n - lapmod(n, graph.data, graph.indptr, graph.indices)[0]


def measure_entangled(n):
    """CPU seconds of each solver; they find the same."""
    cells = entangled(n)
    document, totals = np.zeros(len(cells[0]), np.int64), []
    solvers = {"SciPy's solver": lambda: solve_by_scipy(*cells)}
    if find_spec("lap"):
        solvers["lapx's lapmod"] = lambda: solve_by_lapx(*cells)
    solvers["closeread"] = lambda: best_total(*cells, document, 1)[0]
    taken = {name: seconds(lambda solver=solver: totals.append(solver())) for name, solver in solvers.items()}
    assert max(totals) - min(totals) < 1e-6 * n
    return taken


def main():
    """Measure and keep the result."""
    growth = {
        "timelines": ("sorting", "events", LIMIT, {n: measure(n) for n in SIZES}),
        "entangled": ("SciPy's solver", "entities", LIMIT, {n: measure_entangled(n) for n in ENTITIES}),
    }
    print(json.dumps(kept("growth", {}, growth), indent=1))


if __name__ == "__main__":
    main()
