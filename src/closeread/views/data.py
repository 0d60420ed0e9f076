"""What a page shows: key and responses of every document, the alignment of their entities, scores and errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from closeread.counts.counts import Counts, make_report
from closeread.counts.estimates import Resampling, number_or_none
from closeread.counts.procedure import System
from closeread.scoring import Scorer
from closeread.tasks.coref.documents import Document, Documents, Mention, documents_of
from closeread.tasks.coref.empty_nodes import number_alike
from closeread.tasks.coref.errors import KINDS, find_document, find_errors, prepare_sides
from closeread.tasks.coref.metrics.matching import without_duplicates
from closeread.tasks.coref.operations import choose_main_metric
from closeread.tasks.coref.verdicts import (
    NONE,
    WRONG,
    Fault,
    Verdicts,
    compare_faults,
    judge_mentions,
)
from closeread.views.texts import Text, make_text, name_entities

EXPLANATIONS = {
    WRONG: "a mention in another entity than its own",
    "missing mention": "a mention that only the key has",
    "spurious mention": "a mention that only the system has",
    "split entity": "an entity of the key whose mentions are in several entities of the system",
    "merged entities": "an entity of the system with mentions of several entities of the key",
    "missing entity": "an entity of the key of which the system has no mention",
    "spurious entity": "an entity of the system without a mention of the key",
}
"""The kinds of errors, in the order in which the page shows them."""


@dataclass(frozen=True, eq=False)
class Viewed:
    """A system that is shown, beside the key.

    Attributes:
        name: its name.
        counts: what its scores are computed from.
        response: its documents as they were read, which nothing of the key has changed.
        verdicts: what it makes of each mention.
        faults: the mentions that it doesn't get right, by the number of the document.
        errors: the number of errors of each kind, by the number of the document.
        scores: the main score of each document by its name; None if it is 0/0.
    """

    name: str
    counts: Counts
    response: Documents
    verdicts: Verdicts
    faults: Mapping[int, list[Fault]]
    errors: Mapping[int, Counter[str]]
    scores: Mapping[str, float | None]


def judge_system(name: str, scorer: Scorer, system: System) -> Viewed:
    """Score a system, and find its errors."""
    response = documents_of(system.rows)
    key = documents_of(scorer.gold.records).without(response.broken)
    counts = scorer.count(system)
    if scorer.options["missing"] == "skip":
        key = key.without(response.list_absent())
    original = without_duplicates(response)
    key, response = prepare_sides(key, response, scorer.options)
    verdicts = judge_mentions(key, response, scorer.options)
    faults: dict[int, list[Fault]] = {}
    errors: dict[int, Counter[str]] = {}
    for number in range(len(key)):
        faults[number] = []
        errors[number] = Counter()
    for kind, findings in find_errors(key, response, scorer.options).items():
        if kind in KINDS:
            for finding in findings:
                errors[finding.document][kind] += 1
    for fault in verdicts.list_faults():
        faults[fault.document].append(fault)
        errors[fault.document][WRONG] += fault.kind == WRONG
    metric = choose_main_metric(scorer.procedure)
    scores = metric.score(counts.table.values, counts.table.names).tolist()
    values = map(number_or_none, scores)
    return Viewed(
        name,
        counts,
        original,
        verdicts,
        faults,
        errors,
        dict(zip(counts.table.units, values, strict=True)),
    )


def make_data(
    title: str,
    scorer: Scorer,
    systems: Sequence[Viewed],
    resampling: Resampling,
    *,
    documents: Collection[str] = (),
    limit: int | None = None,
    has_key: bool = True,
) -> dict[str, Any]:
    """Return what the page shows.

    Args:
        title: the title of the page.
        scorer: what the systems were scored by.
        systems: the systems.
        resampling: how intervals are computed.
        documents: the names of the documents to show; none for all.
        limit: how many documents to show, those with the most errors.
        has_key: whether to show the key; otherwise only totals tell of it, and of each system the documents are shown
            that it has.
    """
    key = systems[0].verdicts.key
    numbers = sorted({find_document(name, key.names) for name in documents})
    numbers = numbers or list(range(len(key)))
    if limit is not None and len(numbers) > limit:

        def count_faults(number: int) -> int:
            return sum(len(system.faults[number]) for system in systems)

        numbers = sorted(sorted(numbers, key=count_faults, reverse=True)[:limit])
    if has_key:
        side = key
        pages = [_show_document(number, scorer, systems) for number in numbers]
    else:
        side = systems[0].response
        are_present = side.are_present()
        pages = [_show_response(number, systems) for number in numbers if are_present[number]]
    entities = chain.from_iterable(document.entities for document in side.documents)
    measure = choose_main_metric(scorer.procedure).title
    summaries = [_summarize(system, resampling, measure) for system in systems]
    return {
        "title": title,
        "signature": systems[0].counts.provenance.signature,
        "measure": measure,
        "has_singletons": any(len(entity.mentions) == 1 for entity in entities),
        "kinds": [
            {"id": kind, "name": kind, "explanation": text} for kind, text in EXPLANATIONS.items()
        ],
        "systems": summaries,
        "comparison": _compare(systems, range(len(key))),
        "documents": pages,
    }


def _summarize(system: Viewed, resampling: Resampling, measure: str) -> dict[str, Any]:
    """Return the scores of a system with their intervals, the measure first, and how many errors it has."""
    report = make_report(system.counts, resampling=resampling)
    scores = []
    for name, estimate in report.scores.items():
        if name.endswith("/f1"):
            scores.append(
                {
                    "name": report.name_score(name),
                    "value": estimate.value,
                    "low": estimate.low,
                    "high": estimate.high,
                }
            )
    total: Counter[str] = Counter()
    for errors in system.errors.values():
        total.update(errors)
    scores.sort(key=lambda score: score["name"] != measure)
    return {"name": system.name, "scores": scores, "counts": _list_counts(total)}


def _list_counts(errors: Counter[str]) -> dict[str, int]:
    return {kind: errors[kind] for kind in EXPLANATIONS}


def _compare(systems: Sequence[Viewed], numbers: Collection[int]) -> dict[str, int] | None:
    """Count what the second of two systems repairs, adds and shares in some documents."""
    if len(systems) != 2:
        return None
    sides = []
    for system in systems:
        faults: list[Fault] = []
        for number in numbers:
            faults += system.faults[number]
        sides.append(faults)
    return compare_faults(*sides).count_faults()


def _show_document(number: int, scorer: Scorer, systems: Sequence[Viewed]) -> dict[str, Any]:
    """Return a document with its mentions on all sides."""
    sides = [systems[0].verdicts.key, *(system.verdicts.response for system in systems)]
    originals = [side.documents[number] for side in sides]
    key, *responses = number_alike(originals)
    text = make_text(originals, [key, *responses])
    page: dict[str, Any] = {"name": key.name, **text._asdict()}
    page["key"] = _show_side(key, text)
    page["systems"] = []
    for system, response in zip(systems, responses, strict=True):
        side = {"name": system.name, **_show_side(response, text)}
        side["aligned"] = system.verdicts.list_aligned(number)
        matched = system.verdicts.list_matched(number)
        if matched is not None:
            side["matched"] = matched
        side["score"] = system.scores.get(scorer.name_unit(key.name))
        side["counts"] = _list_counts(system.errors[number])
        page["systems"].append(side)
    page["comparison"] = _compare(systems, [number])
    return page


def _show_response(number: int, systems: Sequence[Viewed]) -> dict[str, Any]:
    """Return a document with the mentions of the systems, of which nothing is told."""
    originals = [system.response.documents[number] for system in systems]
    responses = number_alike(originals)
    text = make_text(originals, responses)
    page: dict[str, Any] = {"name": originals[0].name, **text._asdict(), "key": None}
    page["systems"] = []
    for system, response in zip(systems, responses, strict=True):
        side = {"name": system.name, **_show_side(response, text), "score": None}
        side["aligned"] = [NONE] * len(response.entities)
        page["systems"].append(side)
    page["comparison"] = None
    return page


def _show_side(document: Document, text: Text) -> dict[str, Any]:
    """Return the entities and mentions of a side."""
    names = name_entities(document, text.words, set(text.sentences))
    entities = []
    mentions: list[list[Any]] = []
    for entity_number, (name, entity) in enumerate(zip(names, document.entities, strict=True)):
        entities.append({"name": name, "size": len(entity.mentions)})
        mentions += [_show_mention(mention, entity_number) for mention in entity.mentions]
    return {"entities": entities, "mentions": mentions}


def _show_mention(mention: Mention, entity: int) -> list[Any]:
    place = [mention.start, mention.end, entity]
    return [*place, mention.runs] if len(mention.runs) > 1 else place
