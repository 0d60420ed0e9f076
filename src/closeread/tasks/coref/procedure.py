"""Coreference: mentions, MUC, B-cubed, CEAF, BLANC, LEA and CoNLL F1, from one table of overlaps.

Sources: Vilain et al. (1995), Bagga and Baldwin (1998), Luo (2005), Recasens and Hovy (2011), Luo et al. (2014),
Moosavi and Strube (2016); details as the reference scorer (Pradhan et al. 2014, version 8.01) decides them.

Conventions: the unit, and what is resampled, is the document.  Numerators and denominators are summed over documents
before anything is divided (`average="micro"`), or every document's scores are averaged (`"macro"`).  0/0 is 0.

Metrics:
    mentions, muc, b3, ceafm, ceafe, blanc, lea: precision, recall and F1 of each.
    conll/f1: the mean of the F1 of MUC, B-cubed and CEAFe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from closeread.counts.table import (
    MISSING_HELP,
    Columns,
    CountTable,
    FloatArray,
    Metric,
    Option,
    Procedure,
    Ratio,
    average,
    average_option,
    check_present,
    precision_recall_f1,
    unit_scores,
)
from closeread.errors import RequestError, describe_unknown
from closeread.tasks.coref.columns import MentionTable, mention_table
from closeread.tasks.coref.kernels import blanc as coref_blanc
from closeread.tasks.coref.kernels import entity_metrics as coref
from closeread.tasks.coref.kernels.overlap import Overlap, overlap
from closeread.tasks.coref.kernels.sides import Side, reference_response, repeated_mentions

Counts = Callable[[Overlap], FloatArray]
Documents = MentionTable | Sequence[Any]
"""Columns; or a list, with an item for every document: its entities, a record that holds them, or None."""

TITLES = {
    "mentions": "Mentions",
    "muc": "MUC",
    "b3": "B³",
    "ceafm": "CEAFm",
    "ceafe": "CEAFe",
    "blanc": "BLANC",
    "lea": "LEA",
    "conll": "CoNLL",
}
PARTS = {
    "mentions": "mentions found",
    "muc": "links found, a cluster of n mentions having n - 1",
    "b3": "mean over mentions of the share of the mention's entity that is found",
    "ceafm": "mentions shared under the best mapping of entities",
    "ceafe": "similarity of the entities under their best mapping",
    "blanc": "mean of coreference and non-coreference links found",
    "lea": "mean over entities, by size, of the links found",
}
IN_CONLL = ("muc", "b3", "ceafe")
SHARED: dict[str, Counts] = {
    "mentions": coref.mention_counts,
    "muc": coref.muc_counts,
    "ceafm": coref.ceafm_counts,
    "ceafe": coref.ceafe_counts,
}
"""Metrics whose recall and precision have one numerator."""

ONE_SIDED: dict[str, Counts] = {"b3": coref.b_cubed_counts, "lea": coref.lea_counts}
"""Metrics that count each side apart."""

BLANC = {"reference": "blanc", "luo2014": "blanc_luo2014"}
"""How the counts of BLANC are named: with the rule for its edges, which decides what is made of their sums."""


def count(
    *,
    gold: Documents,
    system: Documents,
    metrics: Sequence[str] = tuple(TITLES),
    missing: str = "empty",
    duplicates: str = "error",
    keep_singletons: str = "true",
    blanc_edge: str = "reference",
    average: str = "micro",
    matching: str = "exact",
) -> CountTable:
    """Counts of every document.

    Args:
        gold: the documents' entities, each a list of mentions [start, end]; alone, or as `clusters` of a record whose
            `document` is the name.
        system: the same documents in the same order; None where there is none.
        metrics: what to count, among `TITLES`.
        missing: "empty", where a document without a response is one without mentions; "skip", where it is left out;
            or "error".
        duplicates: what a mention that stands twice on a side is: "error"; "first", where its first cluster has it;
            "reference", where the reference scorer's ways are followed.
        keep_singletons: "true", or "false" to drop entities of one mention from either side.
        blanc_edge: `closeread.tasks.coref.kernels.blanc.EDGES`.
        average: "micro" or "macro".
        matching: which mentions are the same: "exact", "head", "partial"
            (`closeread.tasks.coref.kernels.mention_matching`).

    Raises:
        ValueError: a document has no response and `missing` is "error", or a mention stands twice and `duplicates` is
            "error".
        RequestError: `matching` asks for heads that a side does not have.
    """
    key, response = table_of(gold), table_of(system)
    names = key.names
    present = np.isin(np.arange(len(names)), list(response.absent), invert=True)
    check_present(present, "documents", missing, "response")
    found = overlap(*sides(key, response, duplicates, keep_singletons, matching), len(names))
    columns = _summable(found, _needed(metrics), blanc_edge)
    if average == "macro":
        columns = unit_scores(columns, _metrics(metrics))
    table = CountTable.of_columns(list(names), columns)
    return table.select(present) if missing == "skip" else table


def table_of(documents: Documents) -> MentionTable:
    """Documents as columns; a document without a name has its number, from 0."""
    if isinstance(documents, MentionTable):
        return documents
    absent = frozenset(i for i, document in enumerate(documents) if document is None)
    records = [document if isinstance(document, dict) else {"clusters": document or []} for document in documents]
    names = [str(record.get("document", i)) for i, record in enumerate(records)]
    return replace(mention_table(names, [record["clusters"] for record in records]), absent=absent)


def problems(*, gold: Documents, system: Documents, **options: str) -> Iterator[tuple[str, int, str]]:
    """Mentions that end before they start, and, where that is an error, those that stand twice.

    Yields:
        The side ("gold" or "system"), the document's number from 0, and what is wrong.
    """
    for name, documents in (("gold", gold), ("system", system)):
        table = table_of(documents)
        for row in np.flatnonzero(table.start > table.end).tolist():
            start, end = int(table.start[row]), int(table.end[row])
            yield name, int(table.document[row]), f"[{start}, {end}] ends before it starts; needed: [start, end]"
        for first, again in repeats(table).tolist() if options["duplicates"] == "error" else ():
            entities = f"entities {table.label(first)} and {table.label(again)}, counted from 0"
            found = f"[{int(table.start[again])}, {int(table.end[again])}] stands in {entities}"
            needed = "needed: once, unless duplicates is first or reference"
            yield name, int(table.document[again]), f"{found}; {needed}"


def repeats(table: MentionTable) -> NDArray[np.int64]:
    """The mentions of the same tokens in a table, (n, 2): the first row of each, and one that repeats it."""
    return repeated_mentions(_side(table, _spans(table, table, "exact")[0]))


def without_repeats(table: MentionTable) -> MentionTable:
    """The table with every mention in its first entity only."""
    again = repeats(table)[:, 1]
    return table.select(~np.isin(np.arange(len(table.entity)), again)) if len(again) else table


def sides(
    key: MentionTable,
    response: MentionTable,
    duplicates: str = "error",
    keep_singletons: str = "true",
    matching: str = "exact",
) -> tuple[Side, Side]:
    """Key and response as the kernels take them: without repeats, then without singletons, and then matched.

    The options, and what is raised, as for `count`.  Where repeats are counted as by the reference scorer, a singleton
    is an entity of one mention in the file.
    """
    if matching != "exact" and (key.head is None or response.head is None):
        raise RequestError(f"matching {matching} needs heads on both sides, which only CorefUD files tell")
    if duplicates == "error":
        for name, table in (("key", key), ("response", response)):
            if len(repeats(table)):
                raise ValueError(f"the {name} has mentions that stand twice")
    tables = [without_repeats(table) for table in (key, response)] if duplicates == "first" else [key, response]
    if keep_singletons == "false":
        tables = [table.select(np.bincount(table.entity)[table.entity] > 1) for table in tables]
    own, other = (
        _side(table, codes) for table, codes in zip(tables, _spans(tables[0], tables[1], matching), strict=True)
    )
    return own, reference_response(own, other) if duplicates == "reference" else other


def _side(table: MentionTable, codes: NDArray[np.int64]) -> Side:
    return Side(table.document, codes, table.entity)


def _spans(key: MentionTable, response: MentionTable, matching: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Codes that say which mentions of a document are the same."""
    if matching == "exact" and not key.parts and not response.parts:
        width = max(int(key.end.max(initial=0)), int(response.end.max(initial=0))) + 1
        return key.start * width + key.end, response.start * width + response.end
    from closeread.tasks.coref.kernels.mention_matching import Spans, mention_codes

    own, other = (Spans(t.document, t.start, t.end, t.head, t.parts) for t in (key, response))
    return mention_codes(own, other, matching)


def _needed(metrics: Sequence[str]) -> list[str]:
    """The metrics to count, in order: those that are asked for and those that others are made of."""
    wanted = {"mentions", *metrics, *(IN_CONLL if "conll" in metrics else ())}
    return [name for name in TITLES if name in wanted and name != "conll"]


def _summable(found: Overlap, metrics: Sequence[str], blanc_edge: str) -> dict[str, FloatArray]:
    """What is counted of every document, (n_documents,) each."""
    columns: dict[str, FloatArray] = {}
    for name in metrics:
        if name in SHARED:
            columns |= zip((f"{name}/{side}" for side in coref.BOTH_SIDES), SHARED[name](found).T, strict=True)
        elif name in ONE_SIDED:
            recall, precision = ONE_SIDED[name](found).T, ONE_SIDED[name](found.transposed).T
            columns |= {f"{name}/found_of_key": recall[0], f"{name}/key": recall[1]}
            columns |= {f"{name}/found_of_response": precision[0], f"{name}/response": precision[1]}
        else:
            links = (f"{BLANC[blanc_edge]}/{link}" for link in coref_blanc.LINKS)
            columns |= zip(links, coref_blanc.blanc_counts(found).T, strict=True)
    return columns


def _blanc(position: int, counts: Columns) -> FloatArray:
    edge = "luo2014" if f"{BLANC['luo2014']}/{coref_blanc.LINKS[0]}" in counts else "reference"
    links = np.stack([counts[f"{BLANC[edge]}/{link}"] for link in coref_blanc.LINKS], axis=-1)
    mentions = np.stack([counts[f"mentions/{side}"] for side in coref.BOTH_SIDES], axis=-1)
    return coref_blanc.blanc_scores(links, mentions, edge)[..., position]


def _conll(counts: Columns) -> FloatArray:
    parts = [metric.formula(counts) for name in IN_CONLL for metric in _metrics_of(name) if metric.name.endswith("/f1")]
    return np.where(np.isnan(parts).all(axis=0), np.nan, np.nan_to_num(parts).mean(axis=0))


def _metrics(names: Sequence[str]) -> tuple[Metric, ...]:
    """Precision, recall and F1 of each, by summed counts or as means over documents."""
    return average(metric for name in TITLES if name in names for metric in _metrics_of(name))


def _metrics_of(name: str) -> tuple[Metric, ...]:
    if name == "conll":
        return (Metric("conll/f1", "CoNLL F1", "Mean F1 of MUC, B³ and CEAFe.", _conll, empty=0.0),)
    of_response, of_key = ("found_of_response", "found_of_key") if name in ONE_SIDED else ("common", "common")
    precision = Ratio(f"{name}/{of_response}", f"{name}/response", f"Precision: {PARTS[name]}.")
    recall = Ratio(f"{name}/{of_key}", f"{name}/key", f"Recall: {PARTS[name]}.")
    three = precision_recall_f1(name, TITLES[name], precision, recall)
    if name != "blanc":
        return three
    return tuple(replace(metric, formula=partial(_blanc, part)) for part, metric in enumerate(three))


def with_metrics(metrics: str | Sequence[str]) -> Procedure:
    """The procedure with some of its metrics only, by their names in `TITLES`.

    Raises:
        RequestError: there is no such metric, or none is named.
    """
    metrics = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    for name in metrics:
        if name not in TITLES:
            raise RequestError(describe_unknown("coreference metric", name, list(TITLES)))
    if not metrics:
        raise RequestError(f"no coreference metric is named (there are: {', '.join(TITLES)})")
    return replace(PROCEDURE, metrics=_metrics(metrics), count=partial(count, metrics=metrics))


PROCEDURE = Procedure(
    name="coref",
    version=1,
    title="coreference: mentions, MUC, B³, CEAF, BLANC, LEA and CoNLL F1",
    unit="document",
    resampling_unit="document",
    options=(
        Option("missing", ("error", "empty", "skip"), "empty", MISSING_HELP),
        Option(
            "duplicates",
            ("error", "first", "reference"),
            "error",
            "What a mention in several entities of a side is: an error, in its first entity only, or counted as by the "
            "reference scorer.",
        ),
        Option(
            "keep_singletons",
            ("true", "false"),
            "true",
            "Whether entities of one mention count; if not, they are dropped from both sides.",
        ),
        Option(
            "blanc_edge",
            coref_blanc.EDGES,
            "reference",
            "What BLANC is where one kind of link is absent: as the reference scorer has it, or as Luo et al. (2014).",
        ),
        average_option("document"),
        Option(
            "matching",
            ("exact", "head", "partial"),
            "exact",
            "Which mentions are the same: those of the same tokens, of the same head, or that lie within the key's.",
        ),
    ),
    metrics=_metrics(tuple(TITLES)),
    modules=tuple(f"coref_{name}" for name in TITLES if name != "mentions"),
    count=count,
    citation="""@inproceedings{pradhan-etal-2014-scoring,
  title = {Scoring Coreference Partitions of Predicted Mentions: A Reference Implementation},
  author = {Pradhan, Sameer and Luo, Xiaoqiang and Recasens, Marta and Hovy, Eduard and Ng, Vincent and
            Strube, Michael},
  booktitle = {Proceedings of ACL 2014},
  year = {2014},
  pages = {30--35},
  doi = {10.3115/v1/P14-2006}
}""",
    problems=problems,
)
