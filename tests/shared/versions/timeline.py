"""Two cases of `tests/cases/timeline.json`, worked out by hand: an anchor that comes back, and position 0."""


def inputs():
    gold = [
        [(1, "A", "1-1-a"), (2, "B", "1-2-b"), (3, "A", "1-3-c"), (4, "C", "1-4-d")],
        [(0, "XXXX-XX-XX", "1-1-a"), (1, "2010", "1-2-b"), (2, "2010", "1-3-c")],
    ]
    system = [
        [(1, "B", "1-2-b"), (2, "C", "1-4-d")],
        [(1, "2009", "1-1-a"), (2, "2010", "1-2-b"), (0, "2010", "1-3-c")],
    ]
    sides = [
        [
            {
                "id": str(i),
                "entries": [{"position": p, "anchor": a, "mentions": [m]} for p, a, m in rows],
            }
            for i, rows in enumerate(side)
        ]
        for side in (gold, system)
    ]
    return {"two timelines": {"gold": sides[0], "system": sides[1]}}
