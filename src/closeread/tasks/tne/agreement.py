"""Agreement between two annotators of TNE, measured by the metrics of the corpus.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 5.4: links by the metric of the corpus,
coreference by MUC and CoNLL F1 without singletons.

Conventions: the second annotator is scored against the first.  0/0 is None: without annotations there is nothing to
agree on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from closeread.counts.metrics import Metric
from closeread.counts.table import CountTable
from closeread.errors import FormatError, Problem, join_names, quote
from closeread.records import Record
from closeread.tasks.coref import procedure as coref
from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.tne import procedure as tne
from closeread.tasks.tne.annotators import align
from closeread.tasks.tne.columns import Documents

COREF = ("muc", "conll")
IN_WORDS = {"np_relations": "links", "coref": "clusters"}
Scores = Mapping[str, float | None]


@dataclass(frozen=True)
class Agreement:
    """The agreement between two annotators.

    Attributes:
        documents: the number of documents.
        links: the scores of the links, by the names of `closeread.tasks.tne.procedure`; None if a file lacks links.
        clusters: the scores of the clusters, by the names of `closeread.tasks.coref.procedure`; None if a file lacks
            clusters.
        lacking: what is not compared and why, a sentence each.
    """

    documents: int
    links: Scores | None
    clusters: Scores | None
    lacking: Sequence[str]


def agreement(
    first: Sequence[Record], second: Sequence[Record], names: tuple[str, str] = ("the first", "the second")
) -> Agreement:
    """Measure the agreement between two annotators.

    Args:
        first, second: the same documents in any order, each with the annotations it has: `np_relations`, or
            `relations` and `fallback` as in submissions, and `coref`.  If the second annotator has several prepositions
            for a pair, the first counts, and it is correct if it is one of the first annotator's.
        names: the names of the annotators in messages.

    Raises:
        FormatError: the files don't have the same documents with the same noun phrases, or have links between noun
            phrases that don't exist; all problems at once.
    """
    one, two = align([first, second], names)
    _refuse_invalid(one, two, names)
    sides = [Documents([_unify_links(record) for record in side]) for side in (one, two)]
    lacking = [
        _describe_lack(documents, field, name)
        for field in IN_WORDS
        for documents, name in zip(sides, names, strict=True)
        if None in documents.column(field)
    ]
    compared = {field: not any(None in side.column(field) for side in sides) for field in IN_WORDS}
    return Agreement(
        len(one),
        _score_links(sides[0], sides[1]) if compared["np_relations"] else None,
        _score_clusters(sides[0], sides[1]) if compared["coref"] else None,
        lacking,
    )


def _unify_links(record: Record) -> Record:
    """Return the record with its links in `np_relations`, wherever they are."""
    return record if record.get("relations") is None else {**record, "np_relations": record["relations"]}


def _describe_lack(documents: Documents, field: str, name: str) -> str:
    without = [one for one, value in zip(documents.column("id"), documents.column(field), strict=True) if value is None]
    what = IN_WORDS[field]
    if len(without) == len(documents):
        return f"{name} has no {what}: {what} are not compared."
    of_documents = f"{len(without):,} of {len(documents):,} documents ({join_names(without)})"
    return f"{name} has no {what} for {of_documents}: {what} are not compared."


def _refuse_invalid(one: Documents, two: Documents, names: tuple[str, str]) -> None:
    """Refuse links in both fields, and links between noun phrases that don't exist."""
    problems = []
    nps = [a if a is not None else b for a, b in zip(one.column("nps"), two.column("nps"), strict=True)]
    known = Documents([{"id": name, "nps": phrases} for name, phrases in zip(one.column("id"), nps, strict=True)])
    for side, name in zip((one, two), names, strict=True):
        for record in side:
            if record.get("relations") is not None and record.get("np_relations") is not None:
                what = "has both np_relations and relations (expected one of them)"
                problems.append(Problem(f"{name}: document {quote(record['id'])} {what}"))
        rows = [None if _is_checked(record) else _to_submission(record) for record in side]
        found = tne.validate(gold=known, system=rows)
        problems += [
            Problem(f"{name}: document {quote(one[each.row]['id'])}: {each.problem.message}") for each in found
        ]
    if problems:
        raise FormatError("annotations", problems)


def _is_checked(record: Record) -> bool:
    """Return whether reading the file checked the links against the noun phrases, as it does for gold."""
    return record.get("nps") is not None and not record.get("relations") and not record.get("fallback")


def _to_submission(record: Record) -> Record:
    """Return the links of a record as a row of a submission."""
    links = _unify_links(record).get("np_relations") or []
    return {"id": record["id"], "relations": links, "fallback": record.get("fallback")}


def _score_links(one: Documents, two: Documents) -> Scores:
    rows = [_to_submission(record) for record in two]
    return _compute_scores(tne.count(gold=one, system=rows), tne.PROCEDURE.metrics)


def _score_clusters(one: Documents, two: Documents) -> Scores:
    procedure = coref.PROCEDURE.with_metrics(COREF)
    return _compute_scores(
        procedure.count(gold=to_mentions(one), system=to_mentions(two), keep_singletons="false"), procedure.metrics
    )


def to_mentions(documents: Documents) -> MentionTable:
    """Return the clusters as a table for the coreference metrics; the number of a noun phrase is its position."""
    clusters = documents.clusters
    return MentionTable(
        names=documents.column("id"),
        n_tokens=None,
        document=clusters.document[clusters.member_of],
        start=clusters.member,
        end=clusters.member,
        entity=clusters.member_of,
        n_entities=len(clusters.ids),
    )


def _compute_scores(table: CountTable, metrics: Sequence[Metric]) -> Scores:
    totals = dict(zip(table.names, table.values.sum(axis=0), strict=True))
    values = {metric.name: float(metric.formula(totals)) for metric in metrics}
    return {name: None if np.isnan(value) else value for name, value in values.items()}


def rows(found: Agreement) -> Iterator[list[str | float | None]]:
    """Return a row for every metric that was compared: name, precision, recall, F1 or accuracy.

    Precision and recall are empty for a metric that has none, and None for 0/0.
    """
    for scores, metrics in ((found.links, tne.PROCEDURE.metrics), (found.clusters, coref.PROCEDURE.metrics)):
        for metric in metrics:
            family, _, part = metric.name.rpartition("/")
            if scores is not None and metric.name in scores and part not in ("precision", "recall"):
                parts = (scores.get(f"{family}/{name}", "") for name in ("precision", "recall"))
                yield [metric.title.removesuffix(" F1"), *parts, scores[metric.name]]
