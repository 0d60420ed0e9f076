"""Agreement of annotators of TNE, two at a time, measured by the metrics of the corpus.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 5.4: links by the metric of the corpus,
coreference by MUC and CoNLL F1 without singletons, by domain in Table 1.

Conventions: the second annotator is scored against the first, and of more than two annotators, each against all before.
0/0 is None: without annotations there is nothing to agree on, and means over pairs leave the pair out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from closeread.arrays import Mask
from closeread.corpus.gold import read_file
from closeread.corpus.names import load_corpus
from closeread.counts.agreement import PairwiseAgreement, Scores, compare_pairs
from closeread.counts.annotators import Annotator, find_repeated_paths, require_two
from closeread.counts.procedure import Procedure
from closeread.counts.table import CountTable
from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    describe_unknown,
    join_names,
    quote,
    read_all,
)
from closeread.records import Record
from closeread.tasks.coref import procedure as coref
from closeread.tasks.tne import procedure as tne
from closeread.tasks.tne.alignment import align
from closeread.tasks.tne.phrases import list_lacking

FIELDS = ("domain", "forum")
"""The fields of documents by whose values agreement can be broken down."""

CLUSTERS = coref.PROCEDURE.with_metrics(("muc", "conll"))

TITLES = {
    "links": "Links",
    "unlabeled": "Unlabelled",
    "triplets": "Triplets",
    "iprep": "IPrep",
    "uprep": "UPrep",
    "muc": "MUC",
    "conll": "CoNLL",
}

SYMMETRIC = ("f1", "accuracy")
"""The measures that are the same whichever annotator is scored against the other."""

Documents = Sequence[Record]


def compare_annotators(
    annotators: Sequence[Annotator], *, by: Sequence[str] = ()
) -> PairwiseAgreement:
    """Measure the agreement of annotators' files or rows, in the corpus's format or predictions, also by fields."""
    require_two(annotators)
    fields = (by,) if isinstance(by, str) else tuple(dict.fromkeys(by))
    for field in fields:
        if field not in FIELDS:
            raise RequestError(describe_unknown("field", field, FIELDS))
    corpus = load_corpus("tne")

    def read_annotator(annotator: Annotator) -> Documents:
        return read_file(corpus, annotator.source, None, "annotation", annotator.name)

    documents = read_all(annotators, read_annotator)
    agreement = measure_agreement(documents, [annotator.name for annotator in annotators], fields)
    if not any(agreement.pairs.values()):
        raise RequestError(
            "no two files have links, or clusters, for all documents (expected either of them)"
        )
    return replace(agreement, notices=tuple(find_repeated_paths(annotators)))


def measure_agreement(
    annotators: Sequence[Documents], names: Sequence[str], by: Sequence[str] = ()
) -> PairwiseAgreement:
    """Measure the agreement of every pair of annotators.

    Each annotated the same documents in any order, and has `np_relations`, or `relations` and `fallback` as in
    submissions, and `coref`.  If the second of two has several prepositions for a pair, the first counts, and it is
    correct if it is one of the first annotator's.  A document has the fields of the annotators who have them.
    """
    aligned = align(annotators, names)
    fields, problems = _gather_fields(aligned, names, by)
    problems += _find_invalid(aligned, names)
    if problems:
        raise FormatError("annotations", problems)
    sides = [list(map(_unify_links, side)) for side in aligned]
    notes = [*_describe_lacking(sides, names, "np_relations", "links")]
    notes += _describe_lacking(sides, names, "coref", "clusters")
    if sum(not list_lacking(side, "coref") for side in sides) > 1:
        notes.append("Clusters are compared without singletons.")
    counted = compare_pairs(sides, _count)
    agreement = PairwiseAgreement(
        names,
        {pair: _score(tables) for pair, tables in counted.items()},
        len(sides[0]),
        "document",
        TITLES,
        SYMMETRIC,
        notes,
    )
    slices: dict[str, dict[str, PairwiseAgreement]] = {}
    for field, values in fields.items():
        slices[field] = {}
        for value in sorted(set(values)):
            is_included = np.array([other == value for other in values])
            scores = {pair: _score(tables, is_included) for pair, tables in counted.items()}
            size = int(is_included.sum())
            slices[field][value] = replace(agreement, pairs=scores, n_units=size, notes=())
    return replace(agreement, slices=slices)


def _count(first: Documents, second: Documents) -> list[tuple[CountTable, Procedure]]:
    """Count links and clusters of one annotator's documents against another's, as far as both have them."""
    tables = []
    if not list_lacking(first, "np_relations") and not list_lacking(second, "np_relations"):
        links = tne.count(gold=first, system=list(map(_to_submission, second)))
        tables.append((links, tne.PROCEDURE))
    if not list_lacking(first, "coref") and not list_lacking(second, "coref"):
        clusters = CLUSTERS.count(
            gold=_list_clusters(first), system=_list_clusters(second), keep_singletons="false"
        )
        tables.append((clusters, CLUSTERS))
    return tables


def _score(
    tables: Sequence[tuple[CountTable, Procedure]], is_included: Mask | None = None
) -> Scores:
    """Return the scores of all documents, or of some, by name; None for 0/0."""
    scores: dict[str, float | None] = {}
    for table, procedure in tables:
        included = table if is_included is None else table.select(is_included)
        scores |= included.scores(
            replace(metric, zero_division=None) for metric in procedure.metrics
        )
    return scores


def _gather_fields(
    aligned: Sequence[Documents], names: Sequence[str], by: Sequence[str]
) -> tuple[dict[str, list[str]], list[Problem]]:
    """Return the values of fields, each (n_documents,), and a problem for each difference between annotators."""
    documents: list[Record] = []
    problems = []
    for records in zip(*aligned, strict=True):
        document: Record = dict.fromkeys(FIELDS)
        for field in FIELDS:
            values = [
                (name, record.get(field)) for name, record in zip(names, records, strict=True)
            ]
            values = [(name, value) for name, value in values if value is not None]
            if not values:
                continue
            first_name, first_value = values[0]
            document[field] = first_value
            if field not in by:
                continue
            for name, value in values:
                if value != first_value:
                    sides = f"{quote(first_value)} in {first_name} but {quote(value)} in {name}"
                    place = f"document {quote(records[0]['id'])}"
                    problems.append(Problem(f"{place}: {field} is {sides}"))
        documents.append(document)
    fields = tne.list_fields(documents)
    return {field: fields[field] for field in by}, problems


def _find_invalid(aligned: Sequence[Documents], names: Sequence[str]) -> Iterator[Problem]:
    """Find links in both fields, and links between noun phrases that don't exist."""
    # The noun phrases of a document are those of the first annotator who gives them.
    gold = []
    for records in zip(*aligned, strict=True):
        phrases = [record["nps"] for record in records if record.get("nps") is not None]
        gold.append({"id": records[0]["id"], "nps": phrases[0] if phrases else None})
    for side, name in zip(aligned, names, strict=True):
        rows: list[Record | None] = []
        for record in side:
            if record.get("relations") is not None and record.get("np_relations") is not None:
                place = f"{name}: document {quote(record['id'])}"
                expected = "expected one of them"
                yield Problem(f"{place} has both np_relations and relations ({expected})")
            has_predictions = record.get("relations") or record.get("fallback")
            # Reading the file has checked gold links against the noun phrases.
            is_checked = record.get("nps") is not None and not has_predictions
            rows.append(None if is_checked else _to_submission(record))
        for inconsistency in tne.validate(gold=gold, system=rows):
            place = f"{name}: document {quote(side[inconsistency.row]['id'])}"
            yield Problem(f"{place}: {inconsistency.problem.text}")


def _unify_links(record: Record) -> Record:
    """Return the record with its links in `np_relations`, wherever they are."""
    if record.get("relations") is None:
        return record
    return {**record, "np_relations": record["relations"]}


def _to_submission(record: Record) -> Record:
    """Return the links of a record as a row of a submission."""
    links = _unify_links(record).get("np_relations") or []
    return {"id": record["id"], "relations": links, "fallback": record.get("fallback")}


def _describe_lacking(
    sides: Sequence[Documents], names: Sequence[str], field: str, layer: str
) -> Iterator[str]:
    """Describe which annotators lack a layer in some documents, a sentence for each."""
    for documents, name in zip(sides, names, strict=True):
        lacking = list_lacking(documents, field)
        if not lacking:
            continue
        extent = ""
        if len(lacking) < len(documents):
            share = f"{len(lacking):,} of {len(documents):,} documents"
            extent = f" for {share} ({join_names(lacking)})"
        yield f"{name} has no {layer}{extent}: its {layer} are not compared."


def _list_clusters(documents: Documents) -> list[Record]:
    """Return the clusters for the coreference metrics; the token of a noun phrase is its number."""
    records = []
    for document in documents:
        clusters = []
        for entity in document["coref"]:
            numbers = [int(member[2:]) for member in entity["members"]]
            clusters.append([[number, number] for number in numbers])
        records.append({"document": document["id"], "clusters": clusters})
    return records
