"""A procedure's version is raised whenever a number can change.

`cases/versions.json` keeps, for every version that a procedure has had, the scores of fixed inputs; those of McTaco
are the official evaluator's on the sample (see `agreed/mctaco_official.json`), those of the others fractions.  When a
change is meant, add the next version with its numbers and raise `Procedure.version`; never edit an entry.
"""

import inspect
import json
from pathlib import Path

import pytest

from closeread.corpora.gold import load_corpus, read_gold
from closeread.tasks import load_procedure, procedure_names

KEPT = json.loads((Path(__file__).parent / "cases" / "versions.json").read_text("utf-8"))


def mctaco():
    """Always yes, and gold with every third label turned, on the sample."""
    gold = read_gold(load_corpus("mctaco"), "sample").records
    turned = {"yes": "no", "no": "yes"}
    every_third = [r["label"] if i % 3 else turned[r["label"]] for i, r in enumerate(gold)]
    systems = {"always yes": ["yes"] * len(gold), "every third turned": every_third}
    return {name: {"gold": gold, "system": [{"label": s} for s in said]} for name, said in systems.items()}


def coref():
    """The example of Moosavi and Strube (2016, section 3), worked out by hand."""
    key = [[[0, 0], [1, 1], [2, 2]], [[3, 3], [4, 4], [5, 5], [6, 6]]]
    response = [[[0, 0], [1, 1]], [[2, 2], [3, 3]], [[5, 5], [6, 6], [7, 7], [8, 8]]]
    return {"example of Moosavi and Strube": {"gold": [key], "system": [response]}}


def wikipossessions():
    """A case of `cases/possession.json`, worked out by hand."""
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


def timeline():
    """Two cases of `cases/timeline.json`, worked out by hand: an anchor that comes back, and position 0."""
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
            {"id": str(i), "entries": [{"position": p, "anchor": a, "mentions": [m]} for p, a, m in rows]}
            for i, rows in enumerate(side)
        ]
        for side in (gold, system)
    ]
    return {"two timelines": {"gold": sides[0], "system": sides[1]}}


def tlinks():
    """Three cases of `cases/tlinks.json`, worked out by hand: 5 of 6 verified, and 2 of 7."""
    gold = [
        ["a BEFORE b", "b BEFORE c"],
        ["a BEFORE b", "b BEFORE c", "c BEFORE a"],
        ["a IBEFORE b", "b BEGINS c"],
    ]
    system = [["a BEFORE c", "a BEFORE b"], ["a AFTER c", "a BEFORE c"], ["a IBEFORE c", "b IS_INCLUDED c"]]
    names = ("source", "relation", "target")
    sides = [
        [
            {"document": str(i), "tlinks": [dict(zip(names, link.split(), strict=True)) for link in links]}
            for i, links in enumerate(side)
        ]
        for side in (gold, system)
    ]
    return {"three documents": {"gold": sides[0], "system": sides[1]}}


def tne():
    """Two documents, worked out by hand: 1 of 3 and 1 of 4 pairs, 2 of each without prepositions, 1 of 5 triplets."""
    gold = [["np0 of np1", "np0 in np1", "np2 at np1"], ["np1 of np0", "np1 of np2"]]
    system = [["np0 in np1", "np1 by np2"], ["np1 in np0"]]
    fallback = [["np2 at np1"], ["np1 by np2"]]
    names = ("anchor", "preposition", "complement")
    links = [
        [[dict(zip(names, link.split(), strict=True)) for link in document] for document in side]
        for side in (gold, system, fallback)
    ]
    rows = [
        {"id": str(i), "np_relations": of_gold, "relations": said, "fallback": back}
        for i, (of_gold, said, back) in enumerate(zip(*links, strict=True))
    ]
    return {"two documents": {"gold": rows, "system": rows}}


INPUTS = {procedure.__name__: procedure for procedure in (mctaco, coref, wikipossessions, timeline, tlinks, tne)}


@pytest.mark.parametrize("name", procedure_names())
def test_numbers_change_with_the_version_only(name):
    procedure = load_procedure(name)
    versions = KEPT[name]
    assert list(versions) == [str(i + 1) for i in range(procedure.version)], "one entry for every version so far"
    for system, arguments in INPUTS[name]().items():
        table = procedure.count(**arguments)
        totals = table.values.sum(axis=0)
        scores = {metric.name: float(metric.score(totals, table.names)) for metric in procedure.metrics}
        assert scores == pytest.approx(versions[str(procedure.version)][system], abs=1e-12)


@pytest.mark.parametrize("name", procedure_names())
def test_what_counts_has_the_defaults_of_the_options(name):
    procedure = load_procedure(name)
    given = inspect.signature(procedure.count).parameters
    assert {o.name: str(given[o.name].default) for o in procedure.options} == {
        o.name: o.default for o in procedure.options
    }
