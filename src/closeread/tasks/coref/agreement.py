"""Agreement of annotators of coreference: Krippendorff's alpha over mentions, whose values are chains.

Sources: Krippendorff (1980); Passonneau (2004); Passonneau, Habash and Rambow (2006); and their use in Schüller et al.
(2018), section 2.1.2.  That paper prints alpha with (rm - 1)/m instead of (rm - 1)/(m - 1), and with a sum over ordered
pairs in the denominator; this is the form "printed", which is not Krippendorff's alpha.

Conventions: the objects are the mentions of a document that any annotator has, those in chains of one included, or a
given list of mentions.  A chain of one mention says nothing: its mention is unannotated.
Sets without a common mention have distance 1 in every measure, so that only pairs of sets that share a mention need
to be looked at: a mention is in few different sets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, ratio
from closeread.corpus.citing import papers
from closeread.counts.annotators import Annotator, find_repeated_paths
from closeread.counts.procedure import Option, resolve_options
from closeread.counts.results import Result
from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    SubmissionError,
    choose_words,
    join_names,
    pluralize,
    raise_all,
)
from closeread.tables import Grid, Style, format_percent
from closeread.tasks.coref.annotators import (
    ADVICE,
    DocumentAnnotations,
    find_ungiven,
    gather_annotations,
    list_notices,
    read_annotators,
    select_given,
)
from closeread.tasks.coref.documents import mention_table
from closeread.tasks.coref.rules import describe_reversed

MEASURES = ("nominal", "iaa1", "iaa2")
"""The distances: 0 or 1, that of Passonneau (2004), and one that also takes the sizes of the sets into account."""

EQUAL, INSIDE, CROSSING = 1, 2 / 3, 1 / 3
"""Scores of two sets: if they are equal, if one is inside the other, and if they have enough mentions in common."""

IAA2: Mapping[str, Callable[[Floats, Floats], Floats]] = {
    "masi": lambda jaccard, score: 1 - jaccard * score,
    "distance_product": lambda jaccard, score: (1 - jaccard) * (1 - score),
}
"""Distances made of the Jaccard coefficient and the score of two sets, by name."""


def measure_distances(shared: Ints, one: Ints, other: Ints, *, enough: int, iaa2: str) -> Floats:
    """Measure the distances between different sets that share mentions.

    Args:
        shared: (n_pairs,) the number of common mentions, at least 1.
        one, other: (n_pairs,) the sizes of both sets.
        enough: how many common mentions give two sets that cross a score, from 1.
        iaa2: one of `IAA2`.

    Returns:
        (n_pairs, n_measures) float64, 0 for equal sets, at most 1; columns as in `MEASURES`.
    """
    score = np.where(shared >= enough, CROSSING, 0.0)
    score[shared == np.minimum(one, other)] = INSIDE
    equal = (shared == one) & (shared == other)
    score[equal] = EQUAL
    jaccard = shared / (one + other - shared)
    return np.column_stack([np.where(equal, 0.0, 1.0), 1 - score, IAA2[iaa2](jaccard, score)])


def count_disagreement(
    document: DocumentAnnotations, *, count_unlinked: bool, enough: int, iaa2: str
) -> tuple[Floats, Floats]:
    """Sum the distances between the values of mentions, observed and expected, (n_measures,) both.

    Observed are those between the values of each mention, over pairs of annotators and divided by the number of its
    values - 1; expected are those between all values of the document, over pairs and divided by their number - 1.
    Mentions with fewer than two values are left out.

    Args:
        document: the annotations.
        count_unlinked: whether a mention that is in no chain of two or more has a value: the set of itself.
        enough, iaa2: as for `measure_distances`.
    """
    number: dict[frozenset[int], int] = {}
    values: list[Counter[int]] = [Counter() for _ in range(document.n_mentions)]
    for _, chains in document.annotations:
        for chain in chains:
            if len(chain) > 1:
                value = number.setdefault(frozenset(chain), len(number))
                for mention in chain:
                    values[mention][value] += 1
    if count_unlinked:
        for mention, of in enumerate(values):
            if alone := len(document.annotations) - of.total():
                of[number.setdefault(frozenset([mention]), len(number))] = alone
    size = np.array(list(map(len, number)), np.int64)
    compared = [of for of in values if of.total() > 1]
    often: Counter[int] = Counter()
    for of in compared:
        often.update(of)
    shared = Counter(pair for of in compared for pair in combinations(sorted(of), 2))
    pairs = sorted(shared)
    one, other = np.array(pairs, np.int64).reshape(-1, 2).T
    n_shared = np.array([shared[pair] for pair in pairs], np.int64)
    distances = measure_distances(n_shared, size[one], size[other], enough=enough, iaa2=iaa2)
    row = {pair: i for i, pair in enumerate(pairs)}
    found = [(row[a, b], of[a] / (of.total() - 1) * of[b]) for of in compared for a, b in combinations(sorted(of), 2)]
    at, weight = np.array([i for i, _ in found], np.int64), np.array([n for _, n in found], np.float64)
    observed = _sum_rows(weight[:, None] * distances[at])
    # Every pair of values at distance 1, and then less for the sets that share mentions.
    total = often.total()
    apart = (total**2 - sum(n**2 for n in often.values())) / 2
    times = np.array([often[a] * often[b] for a, b in pairs], np.float64)
    between = apart - _sum_rows(times[:, None] * (1 - distances))
    expected: Floats = between / (total - 1) if apart else np.zeros(len(MEASURES))
    return observed, expected


def _sum_rows(values: Floats) -> Floats:
    """Sum the rows of a matrix one after the other, (n_columns,)."""
    return np.array([np.bincount(np.zeros(len(column), np.int64), column, 1)[0] for column in values.T])


NAME = "coref_alpha"
MODULES = (NAME,)
"""The evaluate modules that measure the same."""

OPTIONS = (
    Option(
        "form",
        ("standard", "printed"),
        "standard",
        "How to compute alpha: as Krippendorff defines it, or as printed in Schüller et al. (2018), which is not "
        "Krippendorff's alpha.",
    ),
    Option(
        "iaa2",
        ("masi", "distance_product"),
        "masi",
        "How to make the distance IAA2 of the Jaccard coefficient J and the score M of two chains: 1 - J * M, as MASI, "
        "or (1 - J) * (1 - M).",
    ),
    Option(
        "intersection",
        ("more_than_one", "any"),
        "more_than_one",
        "How many mentions two chains must have in common for a score of 1/3 if neither is inside the other: two, or "
        "one.",
    ),
    Option(
        "unannotated",
        ("singleton", "missing"),
        "singleton",
        "How to treat a mention that an annotator has in no chain of two or more: as a chain of its own, or as without "
        "a value.",
    ),
    Option(
        "average",
        ("macro", "pooled"),
        "macro",
        "Average alpha over documents (macro), or sum observed and expected disagreement over documents and divide "
        "once (pooled).",
    ),
)
"""Choices that change what is computed."""

ENOUGH = {"more_than_one": 2, "any": 1}
"""The number of common mentions that `intersection` asks for."""

SCORES = {
    "nominal": "Krippendorff's alpha with distance 0 for equal chains, and 1 for all others.",
    "iaa1": "Krippendorff's alpha with distance 1 - M: M is 1 for equal chains, 2/3 if one is inside the other, 1/3 if "
    "they have enough mentions in common, else 0 (Passonneau, 2004).",
    "iaa2": "Krippendorff's alpha with a distance that also takes into account how large a part of both chains is "
    "common (Passonneau et al., 2006).",
}
"""What each score is."""

CITATION = papers("passonneau-2004-computing")[0]


class DocumentAgreement(NamedTuple):
    """The agreement of the annotators of a document.

    Attributes:
        document: its name.
        annotators: how many have annotated it.
        mentions: how many objects it has.
        alpha: alpha by measure, at most 1; None if the document has fewer than two annotators.
        is_undefined: whether alpha is 0/0, which is 1 by convention: there are no two different values.
    """

    document: str
    annotators: int
    mentions: int
    alpha: Mapping[str, float | None]
    is_undefined: bool = False


@dataclass(frozen=True)
class Agreement(Result):
    """The agreement of annotators, by document and in all.

    Attributes:
        documents: the documents, in order.
        alpha: alpha by measure, averaged as the options say; None if no document has two annotators.
        options: the value of every option.
        empty: how many of the compared annotations have no chain of two or more mentions.
        notices: what else a user should know about the annotators' files, one sentence each.
        limit: how many documents tables list; None for all.
    """

    documents: Sequence[DocumentAgreement]
    alpha: Mapping[str, float | None]
    options: Mapping[str, str]
    empty: int
    notices: Sequence[str] = ()
    limit: int | None = None

    @property
    def compared(self) -> list[DocumentAgreement]:
        """The documents with two annotators or more."""
        return [one for one in self.documents if one.annotators > 1]

    def to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the table of documents, with all of them together in the last row."""
        del style
        chosen = self.options
        shown = self.documents[: self.limit]
        rows = [
            [one.document, f"{one.annotators:,}", f"{one.mentions:,}", *map(format_percent, one.alpha.values())]
            for one in shown
        ]
        rows.append([f"{chosen['average']} average", "", "", *map(format_percent, self.alpha.values())])
        left = len(self.documents) - len(shown)
        where = choose_words("--limit, --json and --format csv", "to_frame()")
        notes = [f"{pluralize(left, 'more document')}: see {where}."] if left else []
        notes += [
            "Krippendorff's alpha times 100."
            if chosen["form"] == "standard"
            else "Alpha times 100 as printed in Schüller et al. (2018), which is not Krippendorff's.",
            f"Options: {', '.join(f'{name} {value}' for name, value in chosen.items())}.",
        ]
        return [Grid("", ["document", "annotators", "mentions", "nominal", "IAA1", "IAA2"], rows, notes)]

    def to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows: every document, and all of them together in the last row."""
        rows: list[list[object]] = [
            [one.document, one.annotators, one.mentions, *one.alpha.values()] for one in self.documents
        ]
        rows.append([None, None, None, *self.alpha.values()])
        return ["document", "annotators", "mentions", *self.alpha], rows

    def to_json(self) -> dict[str, Any]:
        """Return documents, scores and options as JSON can hold them."""
        options = {"iaa2_distance" if name == "iaa2" else name: value for name, value in self.options.items()}
        documents = {
            one.document: {"annotators": one.annotators, "mentions": one.mentions, **one.alpha}
            for one in self.documents
        }
        return {"documents": documents, **self.alpha, **options}

    def describe_left_out(self) -> Iterator[str]:
        """Yield which documents have no alpha, in a sentence; nothing if all have."""
        if alone := [one.document for one in self.documents if one.annotators < 2]:
            verb = "has" if len(alone) == 1 else "have"
            found = f"{pluralize(len(alone), 'document')} {verb} fewer than two annotators"
            yield f"{found}, and no alpha: {join_names(alone)}."

    def describe(self) -> Iterator[str]:
        """Yield what a reader of the figures should know, in sentences."""
        yield from self.describe_left_out()
        if equal := [one.document for one in self.compared if one.is_undefined]:
            found = f"alpha is 0/0, and 1 by convention, in {pluralize(len(equal), 'document')}"
            yield f"{found} without two different values: {join_names(equal)}."
        if self.empty:
            verb = "has" if self.empty == 1 else "have"
            yield f"{pluralize(self.empty, 'annotation')} {verb} no chain of two or more mentions."


def resolve(values: Mapping[str, object]) -> dict[str, str]:
    """Return the value of every option, given or default."""
    options = resolve_options(OPTIONS, values, NAME)
    if options["form"] == "printed" and options["unannotated"] == "missing":
        raise RequestError("form 'printed' is defined only if every mention has a value; use unannotated 'singleton'")
    return options


def compare_annotators(annotators: Sequence[Annotator], *, given: Annotator | None = None, **options: str) -> Agreement:
    """Measure the agreement of annotators of coreference.

    Args:
        annotators: files, folders or documents in memory; each may have some of the documents.
        given: the mentions that annotators were given, to measure agreement about these instead of about all mentions
            of any annotator.
        **options: values of `OPTIONS` that differ from the defaults.
    """
    chosen = resolve(options)
    read = read_annotators(annotators if given is None else (*annotators, given))
    found = gather_annotations([file.table for file in read])
    if given is not None:
        ungiven = ((file.name, find_ungiven(file.table, read[-1])) for file in read[:-1])
        raise_all(FormatError(name, problems) for name, problems in ungiven if problems)
        found = [select_given(document, len(annotators)) for document in found]
    measured = measure_agreement(found, chosen)
    if not measured.compared:
        raise RequestError("no document has two annotators (expected two files or more with the same document)")
    about_files = (*list_notices(read), *find_repeated_paths(annotators))
    return replace(measured, notices=(*about_files, *measured.describe()))


def measure_agreement(annotations: Sequence[DocumentAnnotations], options: Mapping[str, str]) -> Agreement:
    """Measure the agreement of the annotators of every document.

    Args:
        annotations: what they annotated.
        options: the value of every option (see `resolve`).
    """
    enough, count_unlinked = ENOUGH[options["intersection"]], options["unannotated"] == "singleton"
    sums = []
    for one in annotations:
        observed, expected = count_disagreement(one, count_unlinked=count_unlinked, enough=enough, iaa2=options["iaa2"])
        if options["form"] == "printed":
            m = len(one.annotations)
            observed, expected = observed * ratio(m - 1, max(m, 1)), expected * 2
        sums.append((observed, expected))
    observed, expected = np.array(sums, np.float64).reshape(-1, 2, len(MEASURES)).transpose(1, 0, 2)
    alpha = _divide(observed, expected)
    compared = np.array([len(one.annotations) > 1 for one in annotations], np.bool_)
    if options["average"] == "macro":
        total = alpha[compared].mean(axis=0) if compared.any() else alpha[:0].sum(axis=0)
    else:
        total = _divide(observed[compared].sum(axis=0), expected[compared].sum(axis=0))
    documents = [
        DocumentAgreement(
            one.name, len(one.annotations), one.n_mentions, _by_measure(row, is_compared), not expect.any()
        )
        for one, row, expect, is_compared in zip(annotations, alpha, expected, compared.tolist(), strict=True)
    ]
    empty = sum(
        all(len(chain) < 2 for chain in chains)
        for one in annotations
        if len(one.annotations) > 1
        for _, chains in one.annotations
    )
    return Agreement(documents, _by_measure(total, bool(compared.any())), options, empty)


def measure_clusters(documents: Sequence[Sequence[Any]], options: Mapping[str, str]) -> Agreement:
    """Measure the agreement of annotators whose clusters are in memory.

    Args:
        documents: the annotations of each document, each a list of clusters of mentions ``[start, end]`` or ``[start,
            end, head]``; heads are ignored.  Documents are named by their numbers, from 0.
        options: the value of every option (see `resolve`).
    """
    if problems := list(_find_faults(documents)):
        raise SubmissionError("predictions", problems)
    tables = []
    for annotator in range(max(map(len, documents), default=0)):
        names = [str(number) for number, annotations in enumerate(documents) if annotator < len(annotations)]
        clusters = [
            [[mention[:2] for mention in cluster] for cluster in documents[int(name)][annotator]] for name in names
        ]
        tables.append(mention_table(names, clusters))
    return measure_agreement(gather_annotations(tables, [str(number) for number in range(len(documents))]), options)


def _find_faults(documents: Sequence[Sequence[Any]]) -> Iterator[Problem]:
    """Find mentions that end before they start, and mentions that are twice in an annotation."""
    for row, annotators in enumerate(documents):
        for number, clusters in enumerate(annotators):
            where = f"row {row}: annotation {number}: "
            seen: dict[tuple[int, int], int] = {}
            for cluster, (start, end, *_) in (
                (i, mention) for i, members in enumerate(clusters) for mention in members
            ):
                if start > end:
                    yield Problem(f"{where}{describe_reversed([start, end])}")
                elif (start, end) in seen:
                    before = seen[start, end]
                    place = (
                        f"in clusters {before} and {cluster}" if before != cluster else f"twice in cluster {cluster}"
                    )
                    yield Problem(f"{where}mention [{start}, {end}] is {place} (numbered from 0); {ADVICE}")
                seen.setdefault((start, end), cluster)


def _divide(observed: Floats, expected: Floats) -> Floats:
    """Return 1 - observed / expected, and 1 for 0/0."""
    return 1 - np.nan_to_num(ratio(observed, expected), nan=0.0)


def _by_measure(alpha: Floats, is_defined: bool) -> dict[str, float | None]:
    return {name: float(value) if is_defined else None for name, value in zip(MEASURES, alpha, strict=True)}
