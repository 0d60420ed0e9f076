"""Verdicts on the relations of timelines, as a table and as JSON (`closeread score timeline --explain`).

Conventions: "verified" is the verdict "literal" of `closeread.tasks.timeline.relations`; relations counted as verified
are those with the verdict "verified" or "entailed".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from closeread.counts.procedure import Explanation
from closeread.records import Record
from closeread.tasks.timeline.relations import VERDICTS, explain_relations
from closeread.tasks.timeline.ways import Chain, Relation

HEADER = ("side", "first", "relation", "second", "verdict", "because")
VERIFIED = "verified"
WORDS = {name: VERIFIED if name == "literal" else name for name in VERDICTS}
NOTES = tuple(f"{WORDS[name]}: {meaning}" for name, meaning in VERDICTS.items())
OTHER = {"gold": "system", "system": "gold"}
Verdict = Mapping[str, Any]


def explain(gold: Record, system: Record | None, options: Mapping[str, str]) -> list[Verdict]:
    """Explain the reduced relations of gold, then those of the system, as JSON values.

    Args:
        gold, system: the two timelines; None if the system has none.
        options: every option of the procedure with its value.

    Returns:
        For each, the fields of `closeread.tasks.timeline.relations.Explanation` by name.
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
        for one in explain_relations(gold["entries"], () if system is None else system["entries"], options["track"])
    ]


def _as_json(relation: Relation) -> Mapping[str, Any]:
    return {"relation": relation.relation, "one": relation.one._asdict(), "other": relation.other._asdict()}


def _chain_as_json(chain: Chain) -> Mapping[str, Any]:
    first, last = (list(map(_as_json, relations)) for relations in (chain.first, chain.last))
    return {"first": first, "left_out": chain.left_out, "last": last}


def title(unit: str, verdicts: Sequence[Verdict]) -> str:
    """Return the title of a timeline's table: how many relations of each side are verified."""
    totals = Counter(one["side"] for one in verdicts)
    right = Counter(one["side"] for one in verdicts if one["verdict"] in (VERIFIED, "entailed"))
    counts = [f"{right[side]:,} of {totals[side]:,} {side} relations" for side in OTHER]
    return f"{unit}: {' and '.join(counts)} are verified or entailed"


def row(verdict: Verdict) -> list[str]:
    """Return a verdict as a table row, with the columns of `HEADER`."""
    return [
        verdict["side"],
        *_format_relation(verdict["relation"]),
        verdict["verdict"],
        "; ".join(_find_reasons(verdict)),
    ]


def _find_reasons(verdict: Verdict) -> Iterator[str]:
    side, other = verdict["side"], OTHER[verdict["side"]]
    if verdict["absent"]:
        yield f"not in the {other} order: {', '.join(map(_format_node, verdict['absent']))}"
    elif verdict["verdict"] == "missing":
        yield f"{other}: not ordered"
    elif verdict["verdict"] != VERIFIED:
        yield f"{other}: {_format_chain(verdict['evidence'])}"
    if verdict["excluded_by"]["first"]:
        yield f"contradicts earlier {side} relations: {_format_chain(verdict['excluded_by'])}"


def _format_chain(chain: Mapping[str, Any]) -> str:
    first, last = ([" ".join(_format_relation(one)) for one in chain[name]] for name in ("first", "last"))
    return ", ".join([*first, f"{chain['left_out']:,} more", *last] if last else first)


def _format_relation(relation: Mapping[str, Any]) -> tuple[str, str, str]:
    return _format_node(relation["one"]), relation["relation"], _format_node(relation["other"])


def _format_node(node: Mapping[str, Any]) -> str:
    """Return the text of a node, with a number for the second and later mentions of the same text."""
    return f"{node['text']} (copy {node['copy'] + 1})" if node["copy"] else node["text"] or "no anchor"


EXPLANATION = Explanation(explain, title, HEADER, row, NOTES, prose=HEADER[-1:])
