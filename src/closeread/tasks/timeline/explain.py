"""What became of the relations of timelines, in a table and as JSON (`closeread score timeline --explain`).

Conventions: the verdict "verified" is "literal" in `closeread.tasks.timeline.relations`; what is counted as verified
is that and what is "entailed".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from closeread.counts.procedure import Explanation
from closeread.records import Record
from closeread.tasks.timeline.relations import VERDICTS, explanations
from closeread.tasks.timeline.ways import Chain, Relation

HEADER = ("side", "first", "relation", "second", "verdict", "because")
VERIFIED = "verified"
WORDS = {name: VERIFIED if name == "literal" else name for name in VERDICTS}
NOTES = tuple(f"{WORDS[name]}: {meaning}" for name, meaning in VERDICTS.items())
OTHER = {"gold": "system", "system": "gold"}
WHOSE = {"gold": "gold", "system": "the system"}
Verdict = Mapping[str, Any]


def explain(gold: Record, system: Record | None, options: Mapping[str, str]) -> list[Verdict]:
    """What became of the reduced relations of a timeline, gold's before the system's, as JSON can hold it.

    Args:
        gold, system: the two timelines; None where the system sent none.
        options: every option of the procedure with its value.

    Returns:
        The fields of `closeread.tasks.timeline.relations.Explanation` of each, by their names.
    """
    return [
        {
            "side": one.side,
            "relation": _as_json(one.relation),
            "verdict": WORDS[one.verdict],
            "evidence": _chain_as_json(one.evidence),
            "absent": [node._asdict() for node in one.absent],
            "excluded_by": _chain_as_json(one.excluded_by),
        }
        for one in explanations(gold["entries"], () if system is None else system["entries"], options["track"])
    ]


def _as_json(relation: Relation) -> Mapping[str, Any]:
    return {"relation": relation.relation, "one": relation.one._asdict(), "other": relation.other._asdict()}


def _chain_as_json(chain: Chain) -> Mapping[str, Any]:
    first, last = (list(map(_as_json, relations)) for relations in (chain.first, chain.last))
    return {"first": first, "left_out": chain.left_out, "last": last}


def title(unit: str, verdicts: Sequence[Verdict]) -> str:
    """What stands above the relations of a timeline: how many of each side's are verified."""
    totals = Counter(one["side"] for one in verdicts)
    right = Counter(one["side"] for one in verdicts if one["verdict"] in (VERIFIED, "entailed"))
    told = [f"{right[side]:,} of {totals[side]:,} relations of {whose}" for side, whose in WHOSE.items()]
    return f"{unit}: {' and '.join(told)} are verified or entailed"


def row(verdict: Verdict) -> list[str]:
    """A relation as a row of a table, below `HEADER`."""
    return [verdict["side"], *_words(verdict["relation"]), verdict["verdict"], "; ".join(_reasons(verdict))]


def _reasons(verdict: Verdict) -> Iterator[str]:
    other = WHOSE[OTHER[verdict["side"]]]
    if verdict["absent"]:
        yield f"the order of {other} lacks {', '.join(map(_node, verdict['absent']))}"
    elif verdict["verdict"] == "missing":
        yield f"{other} says nothing of the two"
    elif verdict["verdict"] != VERIFIED:
        yield f"{other}: {_relations(verdict['evidence'])}"
    if verdict["excluded_by"]["first"]:
        yield f"it contradicts its own side: {_relations(verdict['excluded_by'])}"


def _relations(chain: Mapping[str, Any]) -> str:
    first, last = ([" ".join(_words(one)) for one in chain[name]] for name in ("first", "last"))
    return ", ".join([*first, f"{chain['left_out']:,} more", *last] if last else first)


def _words(relation: Mapping[str, Any]) -> tuple[str, str, str]:
    return _node(relation["one"]), relation["relation"], _node(relation["other"])


def _node(node: Mapping[str, Any]) -> str:
    """A node; of several mentions of one text the second and later ones have their number."""
    return f"{node['text']} (number {node['copy'] + 1})" if node["copy"] else node["text"] or "no anchor"


EXPLANATION = Explanation(explain, title, HEADER, row, NOTES)
