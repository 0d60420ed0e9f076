"""Random timelines with everything that is hard to score: ties, copies, anchors that come back, and position 0."""

import random


def random_side(rng, longest):
    """Draw up to `longest` rows (position, anchor, mentions)."""
    anchors = [f"20{rng.randint(0, 40):02}" for _ in range(rng.randint(1, longest))]
    mentions = [f"{rng.randint(1, 3)}-{i}-go" for i in range(rng.choice((2, longest, 4 * longest)))]
    last = rng.randint(0, 2 * longest)
    return [
        (
            rng.randint(0, last),
            rng.choice(anchors),
            [rng.choice(mentions) for _ in range(rng.choice((1, 1, 1, 2, 3)))],
        )
        for _ in range(rng.randint(0, longest))
    ]


def random_pair(seed, longest):
    """Draw gold, and a system that is independent (odd seeds) or a changed copy of gold (even seeds)."""
    rng = random.Random(seed)
    gold = random_side(rng, longest)
    if seed % 2:
        return gold, random_side(rng, longest)
    changed = [
        (p, rng.choice(gold)[1] if rng.random() < 0.2 else a, m)
        for p, a, m in gold
        if rng.random() < 0.9
    ]
    return gold, [(max(0, p + rng.choice((-1, 0, 0, 0, 1))), a, m) for p, a, m in changed]
