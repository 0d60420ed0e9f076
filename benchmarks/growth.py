"""Timelines that are larger than any corpus, beside a sort.

    python benchmarks/growth.py

Writes `results/growth.json` and prints it; the table in README.md is made from it by `python tools/documentation.py`.
Gold has an event a day.  In the system's timeline, one event of a hundred is on another day, at random, so that the
order of the anchors returns to earlier days: relations then contradict each other, and the order is partial.  Times are
CPU seconds, within a process, of counting one timeline from entries.
"""

import json
import random
import time

from measure import kept

from closeread.tasks.timeline.relations import TRACKS, sort_entries, timeline_counts

SIZES = (10_000, 100_000, 1_000_000)
SHARE = 0.01
"""How many of the system's events are on another day."""

LIMIT = 600


def timeline(n, share, seed=0):
    """The entries of n events, each at a position of its own; a share of them is on a day of another."""
    rng = random.Random(seed)  # noqa: S311
    days = (rng.randrange(n) if rng.random() < share else i for i in range(n))
    return [
        {"position": i, "anchor": f"D{d}", "mentions": [f"{i % 97}-{i}-go"]}
        for i, d in enumerate(days, start=1)
    ]


def seconds(function, *arguments):
    """CPU seconds of a call."""
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def measure(n):
    """CPU seconds of everything for a number of events."""
    gold, system = timeline(n, 0), timeline(n, SHARE)
    found = {"sorting": seconds(lambda: [sort_entries(side) for side in (gold, system)])}
    found |= {
        f"closeread, {track}": seconds(timeline_counts, gold, system, track)
        for track in reversed(TRACKS)
    }
    return found


def main():
    """Measure and keep the result."""
    growth = {"timelines": ("sorting", "events", LIMIT, {n: measure(n) for n in SIZES})}
    print(json.dumps(kept("growth", {}, growth), indent=1))


if __name__ == "__main__":
    main()
