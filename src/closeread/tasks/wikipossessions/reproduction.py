"""WikiPossessions' tables, recomputed from the corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

from closeread.arrays import ratio
from closeread.corpora.gold import load_corpus, read_gold
from closeread.corpora.reproduction import Inputs, Recompute, Recomputed
from closeread.records import Record
from closeread.tasks.wikipossessions.facts import facts

EXAMPLE = "The Night Café"


def tables_1_and_2(inputs: Inputs) -> Recomputed:
    """What the corpus holds."""
    return {(name, "count"): value for name, value in facts(_records(inputs)).items()}


def table_3(inputs: Inputs) -> Recomputed:
    """The ordered pairs of the article that the paper shows, where the file has it."""
    example = [record for record in _records(inputs) if record["article"] == EXAMPLE]
    return {(EXAMPLE, "pairs"): _pairs(example[0])} if example else {}


def _pairs(record: Record) -> int:
    ordered = {
        (a["possessor"], b["possessor"])
        for a, b in permutations(record["possessions"], 2)
        if _order(a) <= _order(b) and a["possessor"] != b["possessor"]
    }
    return len(ordered)


def table_4(inputs: Inputs) -> Recomputed:
    """The rows of ORACLE that need no article: every name of an article, found once and called certain."""
    records = _records(inputs)
    gold = sum(len(record["possessions"]) for record in records)
    found = [possession for record in records for possession in _first_of_each_name(record)]
    right = sum(possession["certainty"] == "certain" for possession in found)
    return {
        ("ORACLE Poss.ID", "recall"): float(ratio(len(found), gold)),
        ("ORACLE Poss.Cert", "precision"): float(ratio(right, len(found))),
        ("ORACLE Poss.Cert", "recall"): float(ratio(right, gold)),
    }


def _first_of_each_name(record: Record) -> Sequence[Record]:
    """The possession of every name that one instance of it is matched with: the first by order, then by position."""
    first: dict[str, Record] = {}
    for possession in sorted(record["possessions"], key=_order):
        first.setdefault(possession["possessor"], possession)
    return list(first.values())


def _order(possession: Record) -> tuple[int, ...]:
    return tuple(map(int, possession["order"].split(".")))


def _records(inputs: Inputs) -> Sequence[Record]:
    return read_gold(load_corpus("wikipossessions"), data_dir=inputs.data_dir).records


RECOMPUTE: Mapping[str, Recompute] = {"Tables 1 and 2": tables_1_and_2, "Table 3": table_3, "Table 4": table_4}
