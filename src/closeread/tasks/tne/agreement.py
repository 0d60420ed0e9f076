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

FIELDS = ("domain", "forum")  # the fields of documents whose values agreement can be broken down by

_OF_CLUSTERS = coref.PROCEDURE.with_metrics(("muc", "conll"))

TITLES: Mapping[str, str] = {
    metric.name: metric.title.removesuffix(" F1")
    for metric in (*tne.PROCEDURE.metrics, *_OF_CLUSTERS.metrics)
    if metric.name.rpartition("/")[2] not in ("precision", "recall")
}
"""The titles of F1 scores and accuracies, which are the same whichever annotator is scored against the other."""

SHORT_TITLES = {
    name: title.removesuffix(" links").removesuffix(" accuracy") for name, title in TITLES.items()
}
"""The same, for tables with a column for each."""


@dataclass(frozen=True)
class Slice:
    """The agreement between two annotators about some documents."""

    documents: int
    links: Scores | None  # by the names of TNE's scores; None if a file lacks links
    clusters: Scores | None  # by the names of coreference scores; None if a file lacks clusters

    @property
    def scores(self) -> Scores:
        """All scores that were compared, by name."""
        return {**(self.links or {}), **(self.clusters or {})}


@dataclass(frozen=True)
class LinkAgreement(Slice):
    """The agreement between two annotators about all documents."""

    lacking: Sequence[str]  # sentences on layers that are not compared, and why
    # about the documents of each value of a field, by field and value
    slices: Mapping[str, Mapping[str, Slice]]


class SliceMean(NamedTuple):
    """The means of F1 scores and accuracies over all pairs of annotators of some documents."""

    documents: int
    scores: Scores
    partial: Collection[str]  # the names of the means that leave out pairs, which have no value


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
        return _average(list(self.pairs.values())).scores

    def average_slices(self, field: str) -> Mapping[str, SliceMean]:
        """Return the means over the pairs for every value of a field."""
        parts = [found.slices[field] for found in self.pairs.values()]
        return {value: _average([part[value] for part in parts]) for value in parts[0]}

    def describe(self) -> Iterator[str]:
        """Yield sentences on layers that are not compared, and on pairs that means leave out."""
        yield from dict.fromkeys(
            sentence for found in self.pairs.values() for sentence in found.lacking
        )
        yield from describe_left_out([_summarize(found) for found in self.pairs.values()], TITLES)

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the table of all documents, and one for every field.

        Of two annotators, the first has all scores; of more, F1 scores and accuracies of every pair.
        """
        del style
        notes, first, mean = list(self.describe()), self.pairs[0, 1], self.mean
        if any(one.clusters is not None for one in self.pairs.values()):
            notes.append("Clusters are compared without singletons.")
        size = pluralize(first.documents, "document")
        if len(self.pairs) == 1:
            rows = []
            for name in mean:
                parts = (f"{name.rpartition('/')[0]}/{part}" for part in ("precision", "recall"))
                row = [*(first.scores.get(part, "") for part in parts), first.scores[name]]
                rows.append([TITLES[name], *map(format_percent, row)])
            notes.insert(0, f"{self.names[1]} against {self.names[0]}, {size}.")
            whole = Grid("", ["", "precision", "recall", "F1 or accuracy"], rows, notes)
        else:
            notes.insert(
                0, f"F1 scores and accuracies of the second annotator against the first, {size}."
            )
            pairs = {
                pair: [one.scores.get(name) for name in mean] for pair, one in self.pairs.items()
            }
            titles = [SHORT_TITLES[name] for name in mean]
            whole = make_pair_grid(self.names, titles, pairs, list(mean.values()), notes)
        return [whole, *map(self._make_slice_grid, first.slices)]

    def _make_slice_grid(self, field: str) -> Grid:
        """Return the table of a field, with the scores of each of its values, or their means over the pairs."""
        rows = [*self.average_slices(field).items(), ("all", _average(list(self.pairs.values())))]
        # Scores that no group of documents has would only make the table wider.
        names = [name for name in self.mean if any(one.scores[name] is not None for _, one in rows)]
        cells = [
            [
                value,
                f"{n:,}",
                *(format_percent(scores[name]) + "*" * (name in partial) for name in names),
            ]
            for value, (n, scores, partial) in rows
        ]
        what = (
            "Means over the pairs of annotators"
            if len(self.pairs) > 1
            else "F1 scores and accuracies"
        )
        notes = [f"{what}; n is the number of documents."]
        if any(one.partial for _, one in rows):
            notes.append("* The mean leaves out pairs without a value.")
        return Grid("", [field, "n", *(SHORT_TITLES[name] for name in names)], cells, notes)

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows of all scores: of every pair, of means if there are several, and of their slices."""
        several, fields = len(self.pairs) > 1, list(self.pairs[0, 1].slices)
        rows: list[list[object]] = []

        def add(
            names: Sequence[str | None], whole: Scores, slices: Mapping[str, Mapping[str, Any]]
        ) -> None:
            rows.extend([*names, None, None, *score] for score in whole.items())
            for field, of_field in slices.items():
                for value, one in of_field.items():
                    rows.extend([*names, field, value, *score] for score in one.scores.items())

        for (i, j), one in self.pairs.items():
            add((self.names[i], self.names[j]), one.scores, one.slices)
        if several:
            add(("mean", None), self.mean, {field: self.average_slices(field) for field in fields})
        header = ["first annotator", "second annotator", "field", "group", "metric", "value"]
        shown = [*range(0 if several else 2, 2), *range(2 if fields else 4, 6)]
        return [header[column] for column in shown], [
            [row[column] for column in shown] for row in rows
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the agreement of two annotators; of more, the means and every pair."""
        pairs = {pair: asdict(found) for pair, found in self.pairs.items()}
        if len(pairs) == 1:
            return pairs[0, 1]
        first = self.pairs[0, 1]
        slices = {
            field: {
                value: {"documents": one.documents, "mean": one.scores}
                for value, one in self.average_slices(field).items()
            }
            for field in first.slices
        }
        about = {
            "annotators": list(self.names),
            "documents": first.documents,
            "mean": self.mean,
            "slices": slices,
        }
        return {**about, "pairs": list_agreements(self.names, pairs)}


def _summarize(part: Slice) -> Scores:
    """Return the F1 scores and accuracies, which are those in `TITLES`."""
    return {name: value for name, value in part.scores.items() if name in TITLES}


def _average(parts: Sequence[Slice]) -> SliceMean:
    scores = list(map(_summarize, parts))
    mean = average_pairs(scores)
    return SliceMean(
        parts[0].documents, mean, frozenset(name for name in mean if count_left_out(scores, name))
    )


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
    read = read_all(
        annotators, lambda one: read_file(corpus, one.source, None, "annotation", one.name)
    )
    found = measure_agreement(read, [one.name for one in annotators], fields)
    if not found.mean:
        raise RequestError(
            "no two files have links, or clusters, for all documents (expected either of them)"
        )
    return replace(found, notices=tuple(find_repeated_paths(annotators)))


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
    found = {
        (i, j): _compare(sides[i], sides[j], (names[i], names[j]), fields)
        for i, j in list_pairs(len(annotators))
    }
    return LinkAgreements(names, found)


def _gather_fields(
    aligned: Sequence[Documents], names: Sequence[str], by: Sequence[str]
) -> tuple[dict[str, list[str]], list[Problem]]:
    """Return the values of fields, each (n_documents,), and a problem for each difference between annotators."""
    rows, problems = Documents(), []
    for records in zip(*aligned, strict=True):
        row: Record = dict.fromkeys(FIELDS)
        for field in FIELDS:
            given = [
                (name, one[field])
                for name, one in zip(names, records, strict=True)
                if one.get(field) is not None
            ]
            if given:
                first, row[field] = given[0]
            for name, value in given if field in by else ():
                if value != row[field]:
                    what = f"{field} is {quote(row[field])} in {first} but {quote(value)} in {name}"
                    problems.append(Problem(f"document {quote(records[0]['id'])}: {what}"))
        rows.append(row)
    known = tne.list_fields(rows)
    return {field: known[field] for field in by}, problems


def _find_invalid(aligned: Sequence[Documents], names: Sequence[str]) -> Iterator[Problem]:
    """Find links in both fields, and links between noun phrases that don't exist."""
    known = [
        {
            "id": records[0]["id"],
            "nps": next((one["nps"] for one in records if one.get("nps") is not None), None),
        }
        for records in zip(*aligned, strict=True)
    ]
    for side, name in zip(aligned, names, strict=True):
        rows: list[Record | None] = []
        for record in side:
            of_document = f"{name}: document {quote(record['id'])}"
            if record.get("relations") is not None and record.get("np_relations") is not None:
                yield Problem(
                    f"{of_document} has both np_relations and relations (expected one of them)"
                )
            # Reading the file has checked gold links against the noun phrases.
            is_checked = (
                record.get("nps") is not None
                and not record.get("relations")
                and not record.get("fallback")
            )
            rows.append(None if is_checked else _to_submission(record))
        for each in tne.validate(gold=known, system=rows):
            yield Problem(f"{name}: document {quote(side[each.row]['id'])}: {each.problem.text}")


def _unify_links(record: Record) -> Record:
    """Return the record with its links in `np_relations`, wherever they are."""
    return (
        record
        if record.get("relations") is None
        else {**record, "np_relations": record["relations"]}
    )


def _to_submission(record: Record) -> Record:
    """Return the links of a record as a row of a submission."""
    links = _unify_links(record).get("np_relations") or []
    return {"id": record["id"], "relations": links, "fallback": record.get("fallback")}


def _compare(
    one: Documents, two: Documents, names: tuple[str, str], fields: Mapping[str, Sequence[str]]
) -> LinkAgreement:
    """Compare two annotators' documents, overall and by field."""
    lacking: list[str] = []
    tables: list[tuple[CountTable | None, Sequence[Metric]]] = []
    for field, what in (("np_relations", "links"), ("coref", "clusters")):
        n_lacking = len(lacking)
        for side, name in zip((one, two), names, strict=True):
            if without := side.list_lacking(field):
                of = f" for {len(without):,} of {len(side):,} documents ({join_names(without)})"
                of = of if len(without) < len(side) else ""
                lacking.append(f"{name} has no {what}{of}: its {what} are not compared.")
        procedure, table = (tne.PROCEDURE if what == "links" else _OF_CLUSTERS), None
        if len(lacking) == n_lacking and what == "links":
            table = tne.count(gold=one, system=list(map(_to_submission, two)))
        elif len(lacking) == n_lacking:
            table = _OF_CLUSTERS.count(
                gold=_to_mentions(one), system=_to_mentions(two), keep_singletons="false"
            )
        tables.append((table, procedure.metrics))
    slices: dict[str, dict[str, Slice]] = {}
    for field, values in fields.items():
        parts = [
            ({} if table is None else replace(table, fields={field: values}).slices(field), metrics)
            for table, metrics in tables
        ]
        slices[field] = {
            value: Slice(n, *(_compute_scores(of.get(value), metrics) for of, metrics in parts))
            for value, n in sorted(Counter(values).items())
        }
    links, clusters = (_compute_scores(*table) for table in tables)
    return LinkAgreement(len(one), links, clusters, lacking, slices)


def _to_mentions(documents: Documents) -> MentionTable:
    """Return the clusters as a table for the coreference metrics; the number of a noun phrase is its position."""
    entities = [
        (number, one["members"])
        for number, of in enumerate(documents.column("coref"))
        for one in of
    ]
    members = [
        (number, int(name[2:]), entity)
        for entity, (number, names) in enumerate(entities)
        for name in names
    ]
    document, place, entity = np.array(members, np.int64).reshape(-1, 3).T
    return MentionTable(
        documents.column("id"), None, document, place, place, entity, n_entities=len(entities)
    )


def _compute_scores(table: CountTable | None, metrics: Sequence[Metric]) -> Scores | None:
    if table is None:
        return None
    totals = dict(zip(table.names, table.totals, strict=True))
    values = {metric.name: float(metric.formula(totals)) for metric in metrics}
    return {name: None if np.isnan(value) else value for name, value in values.items()}
