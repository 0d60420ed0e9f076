"""What adjudication found, as documents and as a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from closeread.exceptions import pluralize
from closeread.tasks.coref.adjudication.results import AdjudicatedDocument, Settings
from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.coref.joined import join_tables


def join_results(results: Sequence[AdjudicatedDocument]) -> MentionTable:
    """Return the documents with their chains."""
    return join_tables({result.document.name: _make_table(result) for result in results})


def _make_table(result: AdjudicatedDocument) -> MentionTable:
    rows = [(chain, result.document.mentions[i]) for chain, of in enumerate(result.chains) for i in of]
    mentions = [mention for _, mention in rows]
    return replace(
        result.document.source,
        document=np.zeros(len(rows), np.int64),
        start=np.array([mention.start for mention in mentions], np.int64),
        end=np.array([mention.end for mention in mentions], np.int64),
        entity=np.array([chain for chain, _ in rows], np.int64),
        n_entities=len(result.chains),
        parts={row: mention.parts for row, mention in enumerate(mentions) if mention.parts},
        labels=list(result.ids),
    )


def make_report(results: Sequence[AdjudicatedDocument], settings: Settings, solver: str) -> dict[str, Any]:
    """Return all results as a JSON value."""
    return {
        "objective": settings.objective,
        "incompatible": settings.incompatible,
        "empty_annotators": settings.empty_annotators,
        "solver": solver,
        "cost": sum(result.cost for result in results),
        "optimal": all(result.is_optimal for result in results),
        "documents": [_report_document(result) for result in results],
    }


def _report_document(result: AdjudicatedDocument) -> dict[str, Any]:
    document = result.document
    span = [[mention.start, mention.end] for mention in document.mentions]
    return {
        "document": document.name,
        "annotators": result.n_annotators,
        "mentions": sum(map(len, result.chains)),
        "chains": len(result.chains),
        "cost": result.cost,
        "optimal": result.is_optimal,
        "links": [
            {
                "first": span[link.first],
                "second": span[link.second],
                "annotators": link.annotators,
                "linked_by": document.find_annotators(link.first, link.second),
                "together": link.together,
                "cost": link.cost,
            }
            for link in result.links
        ],
    }


def summarize(results: Sequence[AdjudicatedDocument]) -> str:
    """Describe all results in a line."""
    chains = sum(len(result.chains) for result in results)
    mentions = sum(len(chain) for result in results for chain in result.chains)
    sizes = zip((len(results), chains, mentions), ("document", "chain", "mention"), strict=True)
    size = ", ".join(pluralize(number, noun) for number, noun in sizes)
    state = "optimal" if all(result.is_optimal for result in results) else "not proved to be optimal"
    return f"{size}; cost {sum(result.cost for result in results):,}, {state}"
