"""Agreement of two annotators of TNE: the metrics, on their files.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2022), section 4, for what is compared: links by the corpus's own metric,
coreference by MUC and CoNLL F1 without singletons.

Conventions: the second annotator is scored against the first.  0/0 is None: where both say nothing there is nothing to
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
from closeread.tasks.tne.annotators import side_by_side
from closeread.tasks.tne.columns import Documents

COREF = ("muc", "conll")
IN_WORDS = {"np_relations": "links", "coref": "clusters"}
Scores = Mapping[str, float | None]


@dataclass(frozen=True)
class Agreement:
    """How far two annotators agree.

    Attributes:
        documents: how many there are.
        links: the scores of the links, by the names of `closeread.tasks.tne.procedure`; None where a file has no links.
        clusters: those of the clusters, by the names of `closeread.tasks.coref.procedure`; None where a file has none.
        lacking: what is not compared and why, a sentence each.
    """

    documents: int
    links: Scores | None
    clusters: Scores | None
    lacking: Sequence[str]


def agreement(
    first: Sequence[Record], second: Sequence[Record], names: tuple[str, str] = ("the first", "the second")
) -> Agreement:
    """The agreement of two annotators.

    Args:
        first, second: the same documents in any order, each with `np_relations`, or `relations` and `fallback` as
            systems send them, and with `coref`, as far as they were annotated.  Of several prepositions that the second
            has for a pair the first counts, and it is right if it is among those of the first annotator.
        names: what to call the annotators in messages.

    Raises:
        FormatError: the files don't have the same documents with the same noun phrases, or have links of noun phrases
            that don't exist; all problems at once.
    """
    one, two = side_by_side([first, second], names)
    _refuse_unsound(one, two, names)
    sides = [Documents([_with_links(record) for record in side]) for side in (one, two)]
    lacking = [
        _lack(documents, field, name)
        for field in IN_WORDS
        for documents, name in zip(sides, names, strict=True)
        if None in documents.column(field)
    ]
    compared = {field: not any(None in side.column(field) for side in sides) for field in IN_WORDS}
    return Agreement(
        len(one),
        _of_links(sides[0], sides[1]) if compared["np_relations"] else None,
        _of_clusters(sides[0], sides[1]) if compared["coref"] else None,
        lacking,
    )


def _with_links(record: Record) -> Record:
    """The record with its links as a document has them, whatever way they were given."""
    return record if record.get("relations") is None else {**record, "np_relations": record["relations"]}


def _lack(documents: Documents, field: str, name: str) -> str:
    without = [one for one, value in zip(documents.column("id"), documents.column(field), strict=True) if value is None]
    what = IN_WORDS[field]
    if len(without) == len(documents):
        return f"{name} has no {what}; they are not compared."
    of_documents = f"{len(without):,} of {len(documents):,} documents ({join_names(without)})"
    return f"{name} has no {what} for {of_documents}; none are compared."


def _refuse_unsound(one: Documents, two: Documents, names: tuple[str, str]) -> None:
    """Refuse links given in two ways, and links of noun phrases that the other annotator's file does not have."""
    problems = []
    nps = [a if a is not None else b for a, b in zip(one.column("nps"), two.column("nps"), strict=True)]
    known = Documents([{"id": name, "nps": phrases} for name, phrases in zip(one.column("id"), nps, strict=True)])
    for side, name in zip((one, two), names, strict=True):
        for record in side:
            if record.get("relations") is not None and record.get("np_relations") is not None:
                what = "has both np_relations and relations; needed: one of them"
                problems.append(Problem(f"{name}: document {quote(record['id'])} {what}"))
        rows = [None if _is_judged(record) else _as_sent(record) for record in side]
        found = tne.find_inconsistencies(gold=known, system=rows)
        problems += [
            Problem(f"{name}: document {quote(one[each.row]['id'])}: {each.problem.message}") for each in found
        ]
    if problems:
        raise FormatError("annotations", problems)


def _is_judged(record: Record) -> bool:
    """Whether the links were compared with the noun phrases when the file was read, as those of gold are."""
    return record.get("nps") is not None and not record.get("relations") and not record.get("fallback")


def _as_sent(record: Record) -> Record:
    """The links of a record as a system sends them."""
    links = _with_links(record).get("np_relations") or []
    return {"id": record["id"], "relations": links, "fallback": record.get("fallback")}


def _of_links(one: Documents, two: Documents) -> Scores:
    sent = [_as_sent(record) for record in two]
    return _scores(tne.count(gold=one, system=sent), tne.PROCEDURE.metrics)


def _of_clusters(one: Documents, two: Documents) -> Scores:
    procedure = coref.PROCEDURE.with_metrics(COREF)
    return _scores(
        procedure.count(gold=mentions(one), system=mentions(two), keep_singletons="false"), procedure.metrics
    )


def mentions(documents: Documents) -> MentionTable:
    """The clusters as a table for the coreference metrics, in which a noun phrase stands at its number."""
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


def _scores(table: CountTable, metrics: Sequence[Metric]) -> Scores:
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
