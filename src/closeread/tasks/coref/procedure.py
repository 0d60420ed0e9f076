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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from closeread.arrays import Floats
from closeread.counts.metrics import Columns, MeanOf, Metric, Ratio, average, precision_recall_f1, unit_scores
from closeread.counts.options import Option, average_option, check_present, missing_option
from closeread.counts.procedure import Help, Procedure
from closeread.counts.table import CountTable
from closeread.tasks.coref.kernels import blanc, entity_metrics
from closeread.tasks.coref.kernels.overlap import Overlap, overlap
from closeread.tasks.coref.matching import Documents, match_sides, table_of
from closeread.tasks.coref.sides import CoreferenceSides

Counts = Callable[[Overlap], Floats]
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
    "mentions": entity_metrics.mention_counts,
    "muc": entity_metrics.muc_counts,
    "ceafm": entity_metrics.ceafm_counts,
    "ceafe": entity_metrics.ceafe_counts,
}
"""Metrics whose recall and precision have one numerator."""

ONE_SIDED: dict[str, Counts] = {"b3": entity_metrics.b_cubed_counts, "lea": entity_metrics.lea_counts}
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
    found = overlap(*match_sides(key, response, duplicates, keep_singletons, matching), len(names))
    columns = _summable(found, _needed(metrics), blanc_edge)
    if average == "macro":
        columns = unit_scores(columns, _metrics(metrics))
    table = CountTable.of_columns(list(names), columns)
    return table.select(present) if missing == "skip" else table


def _needed(metrics: Sequence[str]) -> list[str]:
    """The metrics to count, in order: those that are asked for and those that others are made of."""
    wanted = {"mentions", *metrics, *(IN_CONLL if "conll" in metrics else ())}
    return [name for name in TITLES if name in wanted and name != "conll"]


def _summable(found: Overlap, metrics: Sequence[str], blanc_edge: str) -> dict[str, Floats]:
    """What is counted of every document, (n_documents,) each."""
    columns: dict[str, Floats] = {}
    for name in metrics:
        if name in SHARED:
            columns |= zip((f"{name}/{side}" for side in entity_metrics.BOTH_SIDES), SHARED[name](found).T, strict=True)
        elif name in ONE_SIDED:
            recall, precision = ONE_SIDED[name](found).T, ONE_SIDED[name](found.transposed).T
            columns |= {f"{name}/found_of_key": recall[0], f"{name}/key": recall[1]}
            columns |= {f"{name}/found_of_response": precision[0], f"{name}/response": precision[1]}
        else:
            links = (f"{BLANC[blanc_edge]}/{link}" for link in blanc.LINKS)
            columns |= zip(links, blanc.blanc_counts(found).T, strict=True)
    return columns


@dataclass(frozen=True)
class Blanc:
    """BLANC of summed links, with the rule for its edges that the counts are named with.

    Attributes:
        part: 0 for precision, 1 for recall, 2 for F1.
    """

    part: int

    def __call__(self, counts: Columns) -> Floats:
        """Compute the score."""
        edge = "luo2014" if f"{BLANC['luo2014']}/{blanc.LINKS[0]}" in counts else "reference"
        links = np.stack([counts[f"{BLANC[edge]}/{link}"] for link in blanc.LINKS], axis=-1)
        mentions = np.stack([counts[f"mentions/{side}"] for side in entity_metrics.BOTH_SIDES], axis=-1)
        return blanc.blanc_scores(links, mentions, edge)[..., self.part]


def _metrics(names: Sequence[str]) -> tuple[Metric, ...]:
    """Precision, recall and F1 of each, by summed counts or as means over documents."""
    return average(metric for name in TITLES if name in names for metric in _metrics_of(name))


def _metrics_of(name: str) -> tuple[Metric, ...]:
    if name == "conll":
        return (Metric("conll/f1", "CoNLL F1", "Mean F1 of MUC, B³ and CEAFe.", _conll(), zero_division=0.0),)
    of_response, of_key = ("found_of_response", "found_of_key") if name in ONE_SIDED else ("common", "common")
    precision = Ratio(f"{name}/{of_response}", f"{name}/response", f"Precision: {PARTS[name]}.")
    recall = Ratio(f"{name}/{of_key}", f"{name}/key", f"Recall: {PARTS[name]}.")
    three = precision_recall_f1(name, TITLES[name], precision, recall)
    if name != "blanc":
        return three
    return tuple(replace(metric, formula=Blanc(part)) for part, metric in enumerate(three))


def _conll() -> MeanOf:
    return MeanOf(tuple(_metrics_of(name)[-1].formula for name in IN_CONLL))


PROCEDURE = Procedure(
    name="coref",
    version=1,
    title="coreference: mentions, MUC, B³, CEAF, BLANC, LEA and CoNLL F1",
    unit="document",
    resampling_unit="document",
    options=(
        missing_option("empty"),
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
            blanc.EDGES,
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
    selective=True,
    help=Help(
        """Files are CoNLL, CorefUD or JSON Lines, which the first line decides. Documents are matched by name; that of
'#begin document (a); part 000' is 'a; part 000'. If both files have words, these must be the same: CoNLL has them in
the fourth of five or more columns, otherwise in the last but one. Empty nodes of CorefUD count as tokens.""",
        key="key.conll",
        response="response.conll",
        flags=("--metrics lea --per-unit", "--matching head --keep-singletons false"),
    ),
    sides=CoreferenceSides(),
)
