"""Three cases of `tests/cases/tlinks.json`, worked out by hand: 5 of 6 verified, and 2 of 7."""


def inputs():
    gold = [
        ["a BEFORE b", "b BEFORE c"],
        ["a BEFORE b", "b BEFORE c", "c BEFORE a"],
        ["a IBEFORE b", "b BEGINS c"],
    ]
    system = [
        ["a BEFORE c", "a BEFORE b"],
        ["a AFTER c", "a BEFORE c"],
        ["a IBEFORE c", "b IS_INCLUDED c"],
    ]
    names = ("source", "relation", "target")
    sides = [
        [
            {
                "document": str(i),
                "tlinks": [dict(zip(names, link.split(), strict=True)) for link in links],
            }
            for i, links in enumerate(side)
        ]
        for side in (gold, system)
    ]
    return {"three documents": {"gold": sides[0], "system": sides[1]}}
