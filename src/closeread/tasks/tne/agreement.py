"""Agreement of annotators of TNE, two at a time, measured by the metrics of the corpus.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 5.4: links by the metric of the corpus,
coreference by MUC and CoNLL F1 without singletons, by domain in Table 1.

Conventions: the second annotator is scored against the first, and of more than two annotators, each against all before.
0/0 is None: without annotations there is nothing to agree on, and means over pairs leave the pair out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from closeread.corpus.gold import read_file
from closeread.corpus.names import load_corpus
from closeread.counts.annotators import (
    Annotator,
    Pair,
    Scores,
    average_pairs,
    count_left_out,
    describe_left_out,
    find_repeated_paths,
    list_agreements,
    list_pairs,
    make_pair_grid,
    require_two,
)
from closeread.counts.metrics import Metric
from closeread.counts.results import Result
from closeread.counts.table import CountTable
from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    describe_unknown,
    join_names,
    pluralize,
    quote,
    read_all,
)
from closeread.records import Record
from closeread.tables import Grid, Style, format_percent
from closeread.tasks.coref import procedure as coref
from closeread.tasks.coref.mention_table import MentionTable
from closeread.tasks.tne import procedure as tne
from closeread.tasks.tne.annotation import align
from closeread.tasks.tne.columns import Documents

FIELDS = ("domain", "forum")
"""The fields of documents by whose values agreement can be broken down."""

CLUSTERS = coref.PROCEDURE.with_metrics(("muc", "conll"))

TITLES: Mapping[str, str] = {
    metric.name: metric.title.removesuffix(" F1")
    for metric in (*tne.PROCEDURE.metrics, *CLUSTERS.metrics)
    if metric.name.rpartition("/")[2] not in ("precision", "recall")
}
"""The titles of F1 scores and accuracies, which are the same whichever annotator is scored against the other."""

SHORT_TITLES = {
    name: title.removesuffix(" links").removesuffix(" accuracy") for name, title in TITLES.items()
}
"""The same, for tables with a column for each."""


@dataclass(frozen=True)
class Slice:
    """The agreement between two annotators about some documents.

    Attributes:
        documents: how many documents there are.
        links: TNE's scores by name; None if a file lacks links.
        clusters: scores of coreference by name; None if a file lacks clusters.
    """

    documents: int
    links: Scores | None
    clusters: Scores | None

    @property
    def scores(self) -> Scores:
        """All scores that were compared, by name."""
        return {**(self.links or {}), **(self.clusters or {})}


@dataclass(frozen=True)
class LinkAgreement(Slice):
    """The agreement between two annotators about all documents.

    Attributes:
        lacking: sentences on layers that are not compared, and why.
        slices: the agreement about the documents of each value of a field, by field and value.
    """

    lacking: Sequence[str]
    slices: Mapping[str, Mapping[str, Slice]]


class SliceMean(NamedTuple):
    """The means of F1 scores and accuracies over all pairs of annotators of some documents.

    Attributes:
        documents: how many documents there are.
        scores: the means by name.
        partial: the names of the means that leave out pairs, which have no value.
    """

    documents: int
    scores: Scores
    partial: Collection[str]


@dataclass(frozen=True)
class LinkAgreements(Result):
    """The agreement of two or more annotators: of every pair.

    Attributes:
        names: the names of the annotators.
        pairs: the agreement of every two of them.
        notices: what else a user should know about their files, one sentence each.
    """

    names: Sequence[str]
    pairs: Mapping[Pair, LinkAgreement]
    notices: Sequence[str] = ()

    @property
    def mean(self) -> Scores:
        """The means over the pairs of F1 scores and accuracies."""
        return average_agreements(self.agreements).scores

    @property
    def agreements(self) -> list[LinkAgreement]:
        """The agreement of every two annotators, without their names."""
        return list(self.pairs.values())

    def average_slices(self, field: str) -> Mapping[str, SliceMean]:
        """Return the means over the pairs for every value of a field."""
        slices = [agreement.slices[field] for agreement in self.agreements]
        means = {}
        for value in slices[0]:
            means[value] = average_agreements([slices_of_pair[value] for slices_of_pair in slices])
        return means

    def describe(self) -> Iterator[str]:
        """Yield sentences on layers that are not compared, and on pairs that means leave out."""
        lacking = [agreement.lacking for agreement in self.agreements]
        yield from dict.fromkeys(chain.from_iterable(lacking))
        yield from describe_left_out(list(map(select_scores, self.agreements)), TITLES)

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the table of all documents, and one for every field."""
        del style
        notes = list(self.describe())
        if any(agreement.clusters is not None for agreement in self.agreements):
            notes.append("Clusters are compared without singletons.")
        if len(self.pairs) == 1:
            grid = self._make_grid_of_two(notes)
        else:
            grid = self._make_grid_of_pairs(notes)
        return [grid, *map(self._make_slice_grid, self.pairs[0, 1].slices)]

    def _make_grid_of_two(self, notes: Sequence[str]) -> Grid:
        """Return the table of two annotators, with all scores."""
        agreement = self.pairs[0, 1]
        scores = agreement.scores
        rows = []
        for name in self.mean:
            family = name.rpartition("/")[0]
            # Accuracies and the CoNLL score have no precision and recall.
            precision = scores.get(f"{family}/precision", "")
            recall = scores.get(f"{family}/recall", "")
            cells = map(format_percent, (precision, recall, scores[name]))
            rows.append([TITLES[name], *cells])
        size = pluralize(agreement.documents, "document")
        sides = f"{self.names[1]} against {self.names[0]}, {size}."
        return Grid("", ["", "precision", "recall", "F1 or accuracy"], rows, [sides, *notes])

    def _make_grid_of_pairs(self, notes: Sequence[str]) -> Grid:
        """Return the table of several annotators, with F1 scores and accuracies of every pair."""
        mean = self.mean
        select = {}
        for pair, agreement in self.pairs.items():
            select[pair] = list(map(agreement.scores.get, mean))
        size = pluralize(self.pairs[0, 1].documents, "document")
        sides = f"F1 scores and accuracies of the second annotator against the first, {size}."
        titles = [SHORT_TITLES[name] for name in mean]
        return make_pair_grid(self.names, titles, select, list(mean.values()), [sides, *notes])

    def _make_slice_grid(self, field: str) -> Grid:
        """Return the table of a field, with the scores of each of its values, or their means over the pairs."""
        means = {**self.average_slices(field), "all": average_agreements(self.agreements)}

        # Scores that no group of documents has would only make the table wider.
        def has_score(name: str) -> bool:
            return any(mean.scores[name] is not None for mean in means.values())

        names = list(filter(has_score, self.mean))
        rows = []
        for value, mean in means.items():
            row = [value, f"{mean.documents:,}"]
            for name in names:
                star = "*" if name in mean.partial else ""
                row.append(format_percent(mean.scores[name]) + star)
            rows.append(row)
        is_mean = len(self.pairs) > 1
        scores = "Means over the pairs of annotators" if is_mean else "F1 scores and accuracies"
        notes = [f"{scores}; n is the number of documents."]
        if any(mean.partial for mean in means.values()):
            notes.append("* The mean leaves out pairs without a value.")
        return Grid("", [field, "n", *(SHORT_TITLES[name] for name in names)], rows, notes)

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows of all scores: of every pair, of means if there are several, and of their slices."""
        fields = list(self.pairs[0, 1].slices)
        rows: list[Record] = []
        for (first, second), agreement in self.pairs.items():
            names = (self.names[first], self.names[second])
            rows += list_scores(names, agreement.scores, agreement.slices)
        header = ["metric", "value"]
        if fields:
            header = ["field", "group", *header]
        if len(self.pairs) > 1:
            slices = {field: self.average_slices(field) for field in fields}
            rows += list_scores(("mean", None), self.mean, slices)
            header = ["first annotator", "second annotator", *header]
        select = itemgetter(*header)
        return header, [list(select(row)) for row in rows]

    def to_dict(self) -> dict[str, Any]:
        """Return the agreement of two annotators; of more, the means and every pair."""
        pairs = {pair: asdict(agreement) for pair, agreement in self.pairs.items()}
        if len(pairs) == 1:
            return pairs[0, 1]
        slices: dict[str, Record] = {}
        for field in self.pairs[0, 1].slices:
            slices[field] = {}
            for value, mean in self.average_slices(field).items():
                slices[field][value] = {"documents": mean.documents, "mean": mean.scores}
        return {
            "annotators": list(self.names),
            "documents": self.pairs[0, 1].documents,
            "mean": self.mean,
            "slices": slices,
            "pairs": list_agreements(self.names, pairs),
        }


def list_scores(
    names: Sequence[str | None],
    scores: Scores,
    slices: Mapping[str, Mapping[str, Slice | SliceMean]],
) -> Iterator[Record]:
    """Yield the scores of two annotators, and those of their slices, as rows by the names of the columns."""
    first, second = names
    row: Record = {"first annotator": first, "second annotator": second}
    for metric, score in scores.items():
        yield {**row, "field": None, "group": None, "metric": metric, "value": score}
    for field, slice_by_value in slices.items():
        for value, part in slice_by_value.items():
            for metric, score in part.scores.items():
                yield {**row, "field": field, "group": value, "metric": metric, "value": score}


def select_scores(part: Slice) -> Scores:
    """Return the F1 scores and accuracies, which are those in `TITLES`."""
    return {name: score for name, score in part.scores.items() if name in TITLES}


def average_agreements(parts: Sequence[Slice]) -> SliceMean:
    """Return the means over pairs of annotators of the same documents."""
    scores = list(map(select_scores, parts))
    mean = average_pairs(scores)
    partial = frozenset(name for name in mean if count_left_out(scores, name))
    return SliceMean(parts[0].documents, mean, partial)


def compare_annotators(
    annotators: Sequence[Annotator], *, by: Sequence[str] = ()
) -> LinkAgreements:
    """Measure the agreement of annotators' files or rows, in the corpus's format or predictions, also by fields."""
    require_two(annotators)
    fields = (by,) if isinstance(by, str) else tuple(dict.fromkeys(by))
    for field in fields:
        if field not in FIELDS:
            raise RequestError(describe_unknown("field", field, FIELDS))
    corpus = load_corpus("tne")

    def read_annotator(annotator: Annotator) -> Sequence[Record]:
        return read_file(corpus, annotator.source, None, "annotation", annotator.name)

    documents = read_all(annotators, read_annotator)
    agreements = measure_agreement(documents, [annotator.name for annotator in annotators], fields)
    if not agreements.mean:
        raise RequestError(
            "no two files have links, or clusters, for all documents (expected either of them)"
        )
    return replace(agreements, notices=tuple(find_repeated_paths(annotators)))


def measure_agreement(
    annotators: Sequence[Sequence[Record]], names: Sequence[str], by: Sequence[str] = ()
) -> LinkAgreements:
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
    sides = [Documents(map(_unify_links, side)) for side in aligned]
    agreements = {}
    for first, second in list_pairs(len(annotators)):
        names_of_pair = (names[first], names[second])
        agreement = _compare(sides[first], sides[second], names_of_pair, fields)
        agreements[first, second] = agreement
    return LinkAgreements(names, agreements)


def _gather_fields(
    aligned: Sequence[Documents], names: Sequence[str], by: Sequence[str]
) -> tuple[dict[str, list[str]], list[Problem]]:
    """Return the values of fields, each (n_documents,), and a problem for each difference between annotators."""
    documents = Documents()
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


def _compare(
    first: Documents,
    second: Documents,
    names: tuple[str, str],
    fields: Mapping[str, Sequence[str]],
) -> LinkAgreement:
    """Compare two annotators' documents, overall and by field."""
    sides = list(zip(names, (first, second), strict=True))
    without_links = _describe_lacking(sides, "np_relations", "links")
    without_clusters = _describe_lacking(sides, "coref", "clusters")
    links = None
    if not without_links:
        links = tne.count(gold=first, system=list(map(_to_submission, second)))
    clusters = None
    if not without_clusters:
        clusters = CLUSTERS.count(
            gold=_to_mentions(first), system=_to_mentions(second), keep_singletons="false"
        )
    slices = {}
    for field, values in fields.items():
        link_scores = _score_by_value(links, tne.PROCEDURE.metrics, field, values)
        cluster_scores = _score_by_value(clusters, CLUSTERS.metrics, field, values)
        slices[field] = {
            value: Slice(n_documents, link_scores.get(value), cluster_scores.get(value))
            for value, n_documents in sorted(Counter(values).items())
        }
    return LinkAgreement(
        len(first),
        _compute_scores(links, tne.PROCEDURE.metrics),
        _compute_scores(clusters, CLUSTERS.metrics),
        [*without_links, *without_clusters],
        slices,
    )


def _describe_lacking(sides: Sequence[tuple[str, Documents]], field: str, layer: str) -> list[str]:
    """Describe which annotators lack a layer in some documents, a sentence for each."""
    sentences = []
    for name, documents in sides:
        lacking = documents.list_lacking(field)
        if not lacking:
            continue
        extent = ""
        if len(lacking) < len(documents):
            share = f"{len(lacking):,} of {len(documents):,} documents"
            extent = f" for {share} ({join_names(lacking)})"
        sentences.append(f"{name} has no {layer}{extent}: its {layer} are not compared.")
    return sentences


def _to_mentions(documents: Documents) -> MentionTable:
    """Return the clusters as a table for the coreference metrics; the number of a noun phrase is its position."""
    n_entities = 0
    mentions = []
    for number, clusters in enumerate(documents.column("coref")):
        for cluster in clusters:
            mentions += [(number, int(name[2:]), n_entities) for name in cluster["members"]]
            n_entities += 1
    document, place, entity = np.array(mentions, np.int64).reshape(-1, 3).T
    ids = documents.column("id")
    return MentionTable(ids, None, document, place, place, entity, n_entities=n_entities)


def _score_by_value(
    table: CountTable | None, metrics: Sequence[Metric], field: str, values: Sequence[str]
) -> dict[str, Scores | None]:
    """Return the scores of the documents of each value of a field; none if nothing was compared."""
    if table is None:
        return {}
    tables = replace(table, fields={field: values}).slices(field)
    return {value: _compute_scores(part, metrics) for value, part in tables.items()}


def _compute_scores(table: CountTable | None, metrics: Sequence[Metric]) -> Scores | None:
    """Return the scores by name, None for those that are undefined; None if nothing was compared."""
    if table is None:
        return None
    totals = dict(zip(table.names, table.totals, strict=True))
    values = {metric.name: float(metric.formula(totals)) for metric in metrics}
    return {name: None if np.isnan(value) else value for name, value in values.items()}
