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
    """Recompute the corpus statistics."""
    return {(name, "count"): value for name, value in facts(_read_records(inputs)).items()}


def table_3(inputs: Inputs) -> Recomputed:
    """Count the ordered pairs of the example article of the paper, if the file has it."""
    example = [record for record in _read_records(inputs) if record["article"] == EXAMPLE]
    return {(EXAMPLE, "pairs"): _count_ordered_pairs(example[0])} if example else {}


def _count_ordered_pairs(record: Record) -> int:
    ordered = {
        (a["possessor"], b["possessor"])
        for a, b in permutations(record["possessions"], 2)
        if _parse_order(a) <= _parse_order(b) and a["possessor"] != b["possessor"]
    }
    return len(ordered)


def table_4(inputs: Inputs) -> Recomputed:
    """Recompute the ORACLE rows that need no article texts: each name of an article is predicted once, as certain."""
    records = _read_records(inputs)
    gold = sum(len(record["possessions"]) for record in records)
    predicted = [possession for record in records for possession in _select_first_of_each_name(record)]
    correct = sum(possession["certainty"] == "certain" for possession in predicted)
    return {
        ("ORACLE Poss.ID", "recall"): float(ratio(len(predicted), gold)),
        ("ORACLE Poss.Cert", "precision"): float(ratio(correct, len(predicted))),
        ("ORACLE Poss.Cert", "recall"): float(ratio(correct, gold)),
    }


def _select_first_of_each_name(record: Record) -> Sequence[Record]:
    """Select the possession that a single prediction of each name matches: the first by order, then by position."""
    first: dict[str, Record] = {}
    for possession in sorted(record["possessions"], key=_parse_order):
        first.setdefault(possession["possessor"], possession)
    return list(first.values())


def _parse_order(possession: Record) -> tuple[int, ...]:
    return tuple(map(int, possession["order"].split(".")))


def _read_records(inputs: Inputs) -> Sequence[Record]:
    return read_gold(load_corpus("wikipossessions"), data_dir=inputs.data_dir).records


RECOMPUTE: Mapping[str, Recompute] = {"Tables 1 and 2": tables_1_and_2, "Table 3": table_3, "Table 4": table_4}
