"""Agreement of annotators of WikiPossessions, two at a time.

Source: Chinnappa, Palmer and Blanco (2020), section 4.2.5: precision and recall of one annotator's possessors and
ordered pairs against the other's, and Cohen's kappa of the labels of the shared possessors.  Ordered pairs are those of
the shared possessors, too: the paper prints a recall of 0.90 for them, which can't be if the second annotator has only
0.69 of the first's possessors, and so about 0.69 ** 2 of all pairs.

Conventions: anchors are compared by meaning, not by spelling.  They are equal if they have the same years and the same
open ends; events are equal if their normalized names are.  If an article has a possessor several times, its
possessions are paired so that as many anchors as possible are equal, then so that as many years as possible overlap,
then so that as many other labels as possible are equal; the order decides what is left.  A label that is not given,
such as the relation to an unknown anchor, is a label like any other.  The second annotator is scored against the first,
and of more than two annotators, each against all before.  0/0 is None, and means over pairs leave the pair out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from operator import eq
from typing import Any, NamedTuple

import numpy as np

from closeread.arrays import Floats, ratio
from closeread.corpus.gold import read_own_gold
from closeread.corpus.names import load_corpus
from closeread.counts.annotators import (
    Annotator,
    Scores,
    average_pairs,
    describe_left_out,
    find_repeated_paths,
    list_agreements,
    list_pairs,
    make_pair_grid,
    require_two,
)
from closeread.counts.annotators import Pair as Annotators
from closeread.counts.metrics import harmonic_mean
from closeread.counts.procedure import Option, name_documents, resolve_options
from closeread.counts.results import Result
from closeread.exceptions import FormatError, Problem, join_names, pluralize, read_all
from closeread.records import Record
from closeread.tables import Grid, Style, format_cell
from closeread.tasks.wikipossessions.dates import Anchor, parse_anchor
from closeread.tasks.wikipossessions.matching import (
    Name,
    Pair,
    Possession,
    match_possessions,
    normalize_name,
)
from closeread.tasks.wikipossessions.subtasks import (
    COUNTS,
    choose_match,
    count_ordered_pairs,
    read_possessions,
)


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Cohen's kappa of two annotators' labels of the same items; None is a label like any other.

    Cohen (1960): (observed - expected) / (1 - expected), where expected is the agreement of two annotators who label at
    random, each with their own label frequencies; None if there are no items, or if both annotators use one and the
    same label throughout.

    >>> cohen_kappa("aabb", "aabb"), cohen_kappa("aabb", "abab")
    (1.0, 0.0)
    """
    # Both agreements times the square of the number of items, so that they are whole numbers.
    certain = len(first) ** 2
    observed = sum(map(eq, first, second)) * len(first)
    frequencies = Counter(second)
    expected = sum(n * frequencies[label] for label, n in Counter(first).items())
    return None if expected == certain else (observed - expected) / (certain - expected)


LABELS = ("certainty", "anchor", "relation", "relation_certainty")
COMPARED = ("possessor", "ordering")
COLUMNS = ("precision", "recall", "F1", "same label", "kappa")

OPTIONS = (
    Option(
        "setting",
        ("exact", "partial"),
        "exact",
        "How to match names: in full, or by a shared word that is not an article or a preposition.",
    ),
    Option(
        "pairs",
        ("shared", "all"),
        "shared",
        "Which ordered pairs to compare: those of the possessors that both annotators have, or those of all "
        "possessors.",
    ),
    Option(
        "repeated",
        ("labels", "order"),
        "labels",
        "How to pair the entries of a possessor that an article lists several times: by anchors and other labels, or "
        "the first with the first and so on.",
    ),
)
"""Choices that change what is computed."""

TITLES = {f"{name}/f1": f"{name} F1" for name in COMPARED} | {
    f"{label}/kappa": f"{label.replace('_', ' ')} kappa" for label in LABELS
}
"""The symmetric scores of pairs of annotators, and their titles in tables."""

Labels = Mapping[str, Hashable]
"""The values of a possession's `LABELS`, normalized so that equal meanings are equal."""


class Annotation(NamedTuple):
    """An annotator's possessions of an article, and their labels."""

    possessions: Sequence[Possession]
    labels: Sequence[Labels]


@dataclass(frozen=True)
class Agreement:
    """The agreement of two annotators; scores are None for 0/0.

    Attributes:
        shared: how many possessors both annotated.
        precision, recall, f1: those of the second's possessors and ordered pairs against the first's, by `COMPARED`.
        kappa: Cohen's kappa of each of `LABELS` over the shared possessors.
        same: how many shared possessors have the same label, for each of `LABELS`.
        options: the options, with their values.
    """

    shared: int
    precision: Scores
    recall: Scores
    f1: Scores
    kappa: Scores
    same: Mapping[str, int]
    options: Mapping[str, str]

    def summarize(self) -> Scores:
        """Return the F1 scores and kappas, which are those in `TITLES`."""
        f1 = {f"{name}/f1": value for name, value in self.f1.items()}
        return f1 | {f"{label}/kappa": value for label, value in self.kappa.items()}

    def rows(self) -> list[list[str | float | None]]:
        """Return a row for each score, with the columns `COLUMNS`; cells that do not apply are empty, 0/0 is None."""
        scores = [
            [name, self.precision[name], self.recall[name], self.f1[name], "", ""]
            for name in COMPARED
        ]
        labels = [[label, "", "", "", self.same[label], self.kappa[label]] for label in LABELS]
        return [*scores, *labels]


@dataclass(frozen=True)
class PairedAgreement(Result):
    """The agreement of every pair of annotators, and notices about their files."""

    names: Sequence[str]
    pairs: Mapping[Annotators, Agreement]
    options: Mapping[str, str]
    notices: Sequence[str] = ()

    @property
    def summaries(self) -> list[Scores]:
        """The F1 scores and kappas of every pair."""
        return [agreement.summarize() for agreement in self.pairs.values()]

    @property
    def mean(self) -> Scores:
        """The means over the pairs of F1 scores and kappas, by the names in `TITLES`."""
        return average_pairs(self.summaries)

    def describe_left_out(self) -> Iterator[str]:
        """Yield a sentence for every mean that leaves out pairs."""
        return describe_left_out(self.summaries, TITLES)

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the table: all scores of two annotators; of more, F1 scores and kappas of every pair, and means."""
        del style
        is_single = len(self.pairs) == 1
        shared = pluralize(self.pairs[0, 1].shared, "possessor") if is_single else "possessors"
        ordered = "these" if self.options["pairs"] == "shared" else "all"
        options = ", ".join(f"{name} {value}" for name, value in self.options.items())
        notes = [
            f"Labels are compared on the {shared} that both annotators have.",
            f"Ordered pairs are those of {ordered} possessors.",
            f"Options: {options}.",
        ]
        if is_single:
            rows = [list(map(format_cell, row)) for row in self.pairs[0, 1].rows()]
            notes.insert(0, f"{self.names[1]} against {self.names[0]}.")
            return [Grid("", ["", *COLUMNS], rows, notes)]
        notes += self.describe_left_out()
        mean = self.mean
        titles = [TITLES[name] for name in mean]
        scores = {
            pair: list(agreement.summarize().values()) for pair, agreement in self.pairs.items()
        }
        means = list(mean.values())
        return [make_pair_grid(self.names, titles, scores, means, notes, format_cell)]

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows of all scores; of several pairs, every pair and then the means."""
        header = [*COLUMNS, "shared"]
        if len(self.pairs) == 1:
            return ["", *header], _list_cells(self.pairs[0, 1])
        rows: list[list[object]] = []
        for (first, second), agreement in self.pairs.items():
            names = [self.names[first], self.names[second]]
            rows += [[*names, *cells] for cells in _list_cells(agreement)]
        for title, value in self.mean.items():
            name, _, score = title.rpartition("/")
            cells = dict.fromkeys(header)
            cells["F1" if score == "f1" else "kappa"] = value
            rows.append(["mean", None, name, *cells.values()])
        return ["first annotator", "second annotator", "compared", *header], rows

    def to_dict(self) -> dict[str, Any]:
        """Return the agreement of two annotators; of more, the means and every pair."""
        pairs = {pair: asdict(agreement) for pair, agreement in self.pairs.items()}
        if len(pairs) == 1:
            return pairs[0, 1]
        return {
            "annotators": list(self.names),
            "options": self.options,
            "mean": self.mean,
            "pairs": list_agreements(self.names, pairs),
        }


def _list_cells(agreement: Agreement) -> list[list[object]]:
    """Return the rows of an agreement, with the number of shared possessors.

    Empty cells are None, so that columns of numbers stay that.
    """
    rows: list[list[object]] = []
    for row in agreement.rows():
        cells = [None if cell == "" else cell for cell in row]
        rows.append([*cells, agreement.shared])
    return rows


def compare_annotators(annotators: Sequence[Annotator], **options: str) -> PairedAgreement:
    """Measure the agreement of two or more annotators, whose files or rows follow the corpus's format."""
    require_two(annotators)
    resolve_options(OPTIONS, options, "agreement")  # before the files are read
    corpus = load_corpus("wikipossessions")
    annotations = read_all(
        annotators,
        lambda annotator: read_own_gold(corpus, annotator.source, name=annotator.name),
    )
    names = [annotator.name for annotator in annotators]
    notices: list[str] = []
    for name, gold in zip(names, annotations, strict=True):
        notices += [f"{name}: {notice}" for notice in gold.notices]
    agreement = measure_agreement([gold.records for gold in annotations], names, **options)
    repeated = find_repeated_paths(annotators)
    return replace(agreement, notices=(*repeated, *dict.fromkeys(notices)))


def measure_agreement(
    annotators: Sequence[Sequence[Record]], names: Sequence[str], **options: str
) -> PairedAgreement:
    """Measure the agreement of every pair of annotators, given their records of the same articles, in any order."""
    articles = [dict.fromkeys(record["article"] for record in records) for records in annotators]
    problems: list[Problem] = []
    for number in range(1, len(names)):
        for index, other in ((0, number), (number, 0)):
            lacking = [article for article in articles[other] if article not in articles[index]]
            if lacking:
                share = f"{len(lacking):,} of the {len(articles[other]):,} articles"
                message = f"{names[index]} lacks {share} of {names[other]}: {join_names(lacking)}"
                problems.append(Problem(f"{message} (expected the same articles)"))
    if problems:
        raise FormatError("annotations", problems)
    options = resolve_options(OPTIONS, options, "agreement")
    annotations = [_read_annotations(records) for records in annotators]
    pairs = {
        (first, second): _compare(annotations[first], annotations[second], options)
        for first, second in list_pairs(len(annotators))
    }
    return PairedAgreement(names, pairs, options)


def _read_annotations(records: Sequence[Record]) -> dict[str, Annotation]:
    """Return the annotation of each article."""
    annotations = {}
    for record in records:
        with name_documents([record["article"]], "article"):
            possessions = read_possessions(record["possessions"])
        annotations[record["article"]] = Annotation(
            possessions, list(map(_get_labels, record["possessions"]))
        )
    return annotations


def _compare(
    first: Mapping[str, Annotation], second: Mapping[str, Annotation], options: Mapping[str, str]
) -> Agreement:
    """Compare two annotators' possessions of the same articles."""
    counts = np.zeros((len(COMPARED), len(COUNTS)))
    labels: list[Labels] = []
    second_labels: list[Labels] = []
    for article, annotation in first.items():
        other = second[article]
        pairs = _pair_possessions(annotation, other, options)
        n_pairs = len(pairs)
        counts[0] += (n_pairs, len(other.possessions), n_pairs, len(annotation.possessions))
        counts[1] += _count_ordered_pairs(annotation, other, pairs, options)
        second_labels += [other.labels[i] for i, _ in pairs]
        labels += [annotation.labels[j] for _, j in pairs]
    precision = ratio(counts[:, 0], counts[:, 1])
    recall = ratio(counts[:, 2], counts[:, 3])
    kappa = {}
    same = {}
    for name in LABELS:
        values = [label[name] for label in labels]
        second_values = [label[name] for label in second_labels]
        kappa[name] = cohen_kappa(values, second_values)
        same[name] = sum(map(eq, values, second_values))
    return Agreement(
        shared=len(labels),
        precision=_name_scores(precision),
        recall=_name_scores(recall),
        f1=_name_scores(harmonic_mean(precision, recall)),
        kappa=kappa,
        same=same,
        options=options,
    )


def _name_scores(values: Floats) -> Scores:
    """Return the scores of `COMPARED` by name; 0/0 is None."""
    scores = zip(COMPARED, values.tolist(), strict=True)
    return {name: None if math.isnan(score) else score for name, score in scores}


def _pair_possessions(
    first: Annotation, second: Annotation, options: Mapping[str, str]
) -> list[Pair]:
    """Pair two annotators' possessions of an article: positions in the second annotation and in the first."""
    n_pairs = min(len(first.labels), len(second.labels))

    def compare(i: int, j: int) -> int:
        return _compare_labels(first.labels[j], second.labels[i], n_pairs)

    return match_possessions(
        second.possessions,
        first.possessions,
        options["setting"],
        likeness=compare if options["repeated"] == "labels" else None,
    )


def _count_ordered_pairs(
    first: Annotation, second: Annotation, pairs: Sequence[Pair], options: Mapping[str, str]
) -> tuple[int, int, int, int]:
    """Count the ordered pairs of two annotators, of all possessions or of the shared ones."""
    match = choose_match(options["setting"])
    if options["pairs"] == "all":
        return count_ordered_pairs(second.possessions, first.possessions, match)
    shared = [second.possessions[i] for i, _ in pairs]
    shared_of_first = [first.possessions[j] for _, j in pairs]
    if options["setting"] == "partial":
        match = _match_paired(shared, shared_of_first)
    return count_ordered_pairs(shared, shared_of_first, match)


def _match_paired(
    system: Sequence[Possession], gold: Sequence[Possession]
) -> Callable[[Name, Name], bool]:
    """Return a test whether two names are those of possessions at the same position of both sides.

    Names that are paired match each other only, whatever words they share with others.
    """
    pairs = {
        (predicted.name, expected.name) for predicted, expected in zip(system, gold, strict=True)
    }
    return lambda name, gold_name: (name, gold_name) in pairs


def _get_labels(row: Mapping[str, str | None]) -> Labels:
    labels: dict[str, Hashable] = {label: row.get(label) for label in LABELS}
    text = row.get("anchor")
    anchor = parse_anchor(text)
    labels["anchor"] = anchor._replace(reversed=False)
    if anchor.kind == "event":
        labels["anchor"] = normalize_name(text or "").tokens
    return labels


def _compare_labels(first: Labels, second: Labels, n_pairs: int) -> int:
    """Return the similarity of two possessions: equal anchors count first, then overlapping years, then other labels.

    No sum of what comes later, over as many pairs as there may be, outweighs one of what comes earlier.
    """
    n_equal = sum(first[label] == second[label] for label in LABELS if label != "anchor")
    weight = (len(LABELS) - 1) * n_pairs + 1
    is_equal = first["anchor"] == second["anchor"]
    return (is_equal * weight + _overlap(first["anchor"], second["anchor"])) * weight + n_equal


def _overlap(first: Hashable, second: Hashable) -> bool:
    """Tell whether two anchors have years in common; an open end is endless."""
    if not (isinstance(first, Anchor) and isinstance(second, Anchor)):
        return False
    if not first.kind == second.kind == "years":
        return False
    return _is_in_order(first.lower, second.upper) and _is_in_order(second.lower, first.upper)


def _is_in_order(year: int | None, later: int | None) -> bool:
    return year is None or later is None or year <= later
