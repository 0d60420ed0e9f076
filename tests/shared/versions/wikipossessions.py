"""A case of `tests/cases/possession.json`, worked out by hand."""


def inputs():
    names = ("possessor", "order", "certainty", "anchor", "relation", "relation_certainty")
    gold = [
        ("Ann Poe", "1", "certain", "1530-1545", "during", "certain"),
        ("the Hall", "2", "certain", "Unknown", None, None),
        ("Roe", "2", "uncertain", "1888", "before", "uncertain"),
    ]
    system = [
        ("Ann Poe", "1", "certain", "1540-1549", "during", "uncertain"),
        ("Hall", "2", "uncertain", "1900", "during", "certain"),
        ("Cid", "3", "certain", None, None, None),
    ]
    sides = [
        [{"article": "a", "possessions": [dict(zip(names, row, strict=True)) for row in rows]}]
        for rows in (gold, system)
    ]
    return {"all six": {"gold": sides[0], "system": sides[1]}}
