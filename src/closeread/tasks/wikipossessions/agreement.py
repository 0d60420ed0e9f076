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

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import eq
from typing import NamedTuple

import numpy as np

from closeread.arrays import ratio
from closeread.corpus.gold import read_own_gold
from closeread.corpus.names import load_corpus
from closeread.counts.agreement import PairwiseAgreement, Scores, compare_pairs, find_lacking
from closeread.counts.annotators import Annotator, find_repeated_paths, require_two
from closeread.counts.estimates import number_or_none
from closeread.counts.metrics import harmonic_mean
from closeread.counts.procedure import Option, name_documents, resolve_options
from closeread.exceptions import FormatError, read_all
from closeread.records import Record
from closeread.tasks.wikipossessions.dates import Anchor, parse_anchor
from closeread.tasks.wikipossessions.matching import (
    NormalizedName,
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

Labels = Mapping[str, Hashable]
"""The values of a possession's `LABELS`, normalized so that equal meanings are equal."""


class AnnotatedArticle(NamedTuple):
    """An annotator's possessions of an article, and their labels."""

    possessions: Sequence[Possession]
    labels: Sequence[Labels]


def compare_annotators(annotators: Sequence[Annotator], **options: str) -> PairwiseAgreement:
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
) -> PairwiseAgreement:
    """Measure the agreement of every pair of annotators, given their records of the same articles, in any order."""
    articles = [dict.fromkeys(record["article"] for record in records) for records in annotators]
    problems = list(find_lacking(articles, names, "article"))
    if problems:
        raise FormatError("annotations", problems)
    options = resolve_options(OPTIONS, options, "agreement")
    annotations = [_read_annotations(records) for records in annotators]
    pairs = compare_pairs(annotations, partial(compare, options=options))
    ordered = "these" if options["pairs"] == "shared" else "all"
    values = ", ".join(f"{name} {value}" for name, value in options.items())
    notes = [
        "Labels are compared on the possessors that both annotators have.",
        f"Ordered pairs are those of {ordered} possessors.",
        f"Options: {values}.",
    ]
    return PairwiseAgreement(names, pairs, len(articles[0]), "article", {}, ["f1", "kappa"], notes)


def _read_annotations(records: Sequence[Record]) -> dict[str, AnnotatedArticle]:
    """Return the annotation of each article."""
    annotations = {}
    for record in records:
        with name_documents([record["article"]], "article"):
            possessions = read_possessions(record["possessions"])
        annotations[record["article"]] = AnnotatedArticle(
            possessions, list(map(_get_labels, record["possessions"]))
        )
    return annotations


def compare(
    first: Mapping[str, AnnotatedArticle],
    second: Mapping[str, AnnotatedArticle],
    options: Mapping[str, str],
) -> Scores:
    """Compare two annotators' possessions of the same articles.

    The scores are precision, recall and F1 of the second's possessors and ordered pairs against the first's, and of
    each label, on how many of the shared possessors both have the same, and Cohen's kappa.
    """
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
    scores: dict[str, float | None] = {}
    for name, (hits, n_predicted, gold_hits, n_gold) in zip(COMPARED, counts, strict=True):
        precision = ratio(hits, n_predicted)
        recall = ratio(gold_hits, n_gold)
        f1 = harmonic_mean(precision, recall)
        for measure, value in (("precision", precision), ("recall", recall), ("f1", f1)):
            scores[f"{name}/{measure}"] = number_or_none(float(value))
    for name in LABELS:
        values = [label[name] for label in labels]
        second_values = [label[name] for label in second_labels]
        scores[f"{name}/shared"] = len(labels)
        scores[f"{name}/same"] = sum(map(eq, values, second_values))
        scores[f"{name}/kappa"] = cohen_kappa(values, second_values)
    return scores


def _pair_possessions(
    first: AnnotatedArticle, second: AnnotatedArticle, options: Mapping[str, str]
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
    first: AnnotatedArticle,
    second: AnnotatedArticle,
    pairs: Sequence[Pair],
    options: Mapping[str, str],
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
) -> Callable[[NormalizedName, NormalizedName], bool]:
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
