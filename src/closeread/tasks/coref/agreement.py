"""Agreement of annotators of coreference: Krippendorff's alpha over mentions, whose values are chains.

Sources: Krippendorff (1980); Passonneau (2004); Passonneau, Habash and Rambow (2006); and their use in Schüller et al.
(2018), section 2.1.2.  That paper prints alpha with (rm - 1)/m instead of (rm - 1)/(m - 1), and with a sum over ordered
pairs in the denominator; this is the form "printed", which is not Krippendorff's alpha.

Conventions: the objects are the mentions of a document that any annotator has, those in chains of one included, or a
given list of mentions.  A chain of one mention says nothing: its mention is unannotated.
An annotation is one annotator's
work on one document.  Sets without a common mention have distance 1 in every measure, so that only pairs of sets that
share a mention need to be looked at: a mention is in few different sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, Mask, expand_ranges, mark_run_starts, ratio
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
    Annotations,
    find_ungiven,
    gather_annotations,
    list_notices,
    read_annotators,
    select_given,
)
from closeread.tasks.coref.documents import mention_table
from closeread.tasks.coref.rules import describe_reversed


class Values(NamedTuple):
    """The values that annotators gave to mentions.

    Attributes:
        mention: (n_values,) the mention of each value, in ascending order.
        value: (n_values,) the number of its value, from 0; values of different documents differ.
    """

    mention: Ints
    value: Ints


def number_values(
    *, annotation: Ints, mention: Ints, chain: Ints, annotated: Ints, n_mentions: Ints, count_unlinked: bool
) -> Values:
    """Number the values of mentions.

    Args:
        annotation: (n_rows,) the annotation of each mention of a chain, from 0.
        mention: (n_rows,) the mention; no mention occurs twice in an annotation.
        chain: (n_rows,) its chain, from 0 over all annotations.
        annotated: (n_annotations,) the document of each annotation, from 0.
        n_mentions: (n_documents,) the number of mentions of each document.
        count_unlinked: whether a mention that is in no chain of two or more has a value: the set of itself.
    """
    linked = np.bincount(chain)[chain] > 1
    annotation, mention, chain = annotation[linked], mention[linked], chain[linked]
    value = _number_sets(mention, chain)
    if count_unlinked:
        # A table of annotations and their documents' mentions is filled with singletons first.
        first = np.cumsum(n_mentions) - n_mentions
        sizes = n_mentions[annotated]
        _, every = expand_ranges(first[annotated], sizes)
        values = every + value.max(initial=-1) + 1
        values[(np.cumsum(sizes) - sizes - first[annotated])[annotation] + mention] = value
        mention, value = every, values
    order = np.lexsort((value, mention))
    return Values(mention[order], value[order])


def _number_sets(member: Ints, group: Ints) -> Ints:
    """Number the sets that groups are, so that equal sets have the same number, for each row."""
    order = np.lexsort((member, group))
    bounds = [*np.flatnonzero(mark_run_starts(group[order])).tolist(), len(member)]
    # A set is looked up by the bytes of its sorted members.
    content, width = member[order].tobytes(), member.itemsize
    known: dict[bytes, int] = {}
    numbers = [known.setdefault(content[i * width : j * width], len(known)) for i, j in pairwise(bounds)]
    sets = np.empty(len(member), np.int64)
    sets[order] = np.repeat(np.array(numbers, np.int64), np.diff(bounds))
    return sets


MEASURES = ("nominal", "iaa1", "iaa2")
"""The distances: 0 or 1, that of Passonneau (2004), and one that also takes the sizes of the sets into account."""

EQUAL, INSIDE, CROSSING = 1, 2 / 3, 1 / 3
"""Scores of two sets: if they are equal, if one is inside the other, and if they have enough mentions in common."""

IAA2: Mapping[str, Callable[[Floats, Floats], Floats]] = {
    "masi": lambda jaccard, score: 1 - jaccard * score,
    "distance_product": lambda jaccard, score: (1 - jaccard) * (1 - score),
}
"""Distances made of the Jaccard coefficient and the score of two sets, by name."""


class Disagreement(NamedTuple):
    """What alpha is made of, by document.

    Attributes:
        observed: (n_documents, n_measures) the sum of the distances between the values of each mention, over pairs of
            annotators and divided by the number of its values - 1.
        expected: (n_documents, n_measures) the sum of the distances between all values of the document, over pairs and
            divided by their number - 1.
        n_values: (n_documents,) the number of values.
    """

    observed: Floats
    expected: Floats
    n_values: Ints


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


def count_disagreement(values: Values, document: Ints, n_documents: int, *, enough: int, iaa2: str) -> Disagreement:
    """Sum the distances between values, observed and expected.  Mentions with fewer than two values are left out.

    Args:
        values: the values of mentions.
        document: (n_mentions,) the document of each mention, from 0.
        n_documents: the number of documents.
        enough, iaa2: as for `measure_distances`.
    """
    rows = np.flatnonzero(mark_run_starts(values.mention) | mark_run_starts(values.value))
    mention, value = values.mention[rows], values.value[rows]
    times = np.diff(np.append(rows, len(values.mention)))
    size = np.bincount(value)
    per_mention = np.bincount(values.mention, minlength=len(document))
    first, second = _pair_rows(mention)
    place = document[mention]
    # Sets of a pair are numbered upwards, since the rows of a mention are sorted by value.
    pairs, at, shared = np.unique(value[first] * len(size) + value[second], return_inverse=True, return_counts=True)
    one, other = np.divmod(pairs, max(len(size), 1))
    distance = measure_distances(shared, size[one], size[other], enough=enough, iaa2=iaa2)

    kept = per_mention[mention] > 1
    total = np.bincount(place[kept], times[kept], n_documents)
    weight = np.zeros(len(rows))
    np.divide(times, per_mention[mention] - 1, out=weight, where=kept)
    observed = _sum_rows(place[first], (weight[first] * times[second])[:, None] * distance[at], n_documents)

    often = np.bincount(value[kept], times[kept], len(size))
    of_value = np.zeros(len(size), np.int64)
    of_value[value] = place
    # Every pair of values at distance 1, and then less for the sets that share mentions.
    apart = (total**2 - np.bincount(of_value, often**2, n_documents)) / 2
    nearer = (often[one] * often[other])[:, None] * (1 - distance)
    between = apart[:, None] - _sum_rows(of_value[one], nearer, n_documents)
    expected = np.zeros_like(between)
    np.divide(between, (total - 1)[:, None], out=expected, where=(apart > 0)[:, None])
    return Disagreement(observed, expected, total.astype(np.int64))


def _pair_rows(key: Ints) -> tuple[Ints, Ints]:
    """List all pairs of different rows with the same key, which is in ascending order; the first row comes first."""
    rows = np.arange(len(key))
    return expand_ranges(rows + 1, np.searchsorted(key, key, "right") - rows - 1)


def _sum_rows(index: Ints, values: Floats, n: int) -> Floats:
    """Sum rows of a matrix by index, (n, n_columns)."""
    return np.column_stack([np.bincount(index, column, n) for column in values.T])


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
        """Return the table."""
        del style
        return [make_grid(self)]

    def to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows: every document, and all of them together in the last row."""
        return make_rows(self)

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
        found = select_given(found, len(annotators))
    measured = measure_agreement(found, chosen)
    if not measured.compared:
        raise RequestError("no document has two annotators (expected two files or more with the same document)")
    about_files = (*list_notices(read), *find_repeated_paths(annotators))
    return replace(measured, notices=(*about_files, *measured.describe()))


def measure_agreement(annotations: Annotations, options: Mapping[str, str]) -> Agreement:
    """Measure the agreement of the annotators of every document.

    Args:
        annotations: what they annotated.
        options: the value of every option (see `resolve`).
    """
    n_documents = len(annotations.names)
    mentions = np.bincount(annotations.place, minlength=n_documents)
    values = number_values(
        annotation=annotations.row_annotation,
        mention=annotations.row_mention,
        chain=annotations.row_chain,
        annotated=annotations.document,
        n_mentions=mentions,
        count_unlinked=options["unannotated"] == "singleton",
    )
    enough = ENOUGH[options["intersection"]]
    found = count_disagreement(values, annotations.place, n_documents, enough=enough, iaa2=options["iaa2"])
    observed, expected = found.observed, found.expected
    annotators = np.bincount(annotations.document, minlength=n_documents)
    if options["form"] == "printed":
        observed = observed * ratio(annotators - 1, np.maximum(annotators, 1))[:, None]
        expected = expected * 2
    alpha = _divide(observed, expected)
    compared = annotators > 1
    if options["average"] == "macro":
        total = alpha[compared].mean(axis=0) if compared.any() else alpha[:0].sum(axis=0)
    else:
        total = _divide(observed[compared].sum(axis=0), expected[compared].sum(axis=0))
    documents = [
        DocumentAgreement(name, n, int(size), _by_measure(row, n > 1), not expect.any())
        for name, n, size, row, expect in zip(
            annotations.names, annotators.tolist(), mentions, alpha, expected, strict=True
        )
    ]
    return Agreement(documents, _by_measure(total, bool(compared.any())), options, _count_empty(annotations, compared))


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


def _count_empty(annotations: Annotations, compared: Mask) -> int:
    """Count the annotations without a chain of two or more, in the documents that are compared."""
    size = np.bincount(annotations.row_chain)
    linked = annotations.row_annotation[size[annotations.row_chain] > 1]
    has_chains = np.bincount(linked, minlength=len(annotations.document)) > 0
    return int((compared[annotations.document] & ~has_chains).sum())


def make_grid(measured: Agreement) -> Grid:
    """Return the table of documents, with all of them together in the last row."""
    chosen = measured.options
    shown = measured.documents[: measured.limit]
    rows = [
        [one.document, f"{one.annotators:,}", f"{one.mentions:,}", *map(format_percent, one.alpha.values())]
        for one in shown
    ]
    rows.append([f"{chosen['average']} average", "", "", *map(format_percent, measured.alpha.values())])
    left = len(measured.documents) - len(shown)
    where = choose_words("--limit, --json and --format csv", "to_frame()")
    notes = [f"{pluralize(left, 'more document')}: see {where}."] if left else []
    notes += [
        "Krippendorff's alpha times 100."
        if chosen["form"] == "standard"
        else "Alpha times 100 as printed in Schüller et al. (2018), which is not Krippendorff's.",
        f"Options: {', '.join(f'{name} {value}' for name, value in chosen.items())}.",
    ]
    return Grid("", ["document", "annotators", "mentions", "nominal", "IAA1", "IAA2"], rows, notes)


def make_rows(measured: Agreement) -> tuple[list[str], list[list[object]]]:
    """Return header and rows: every document, and all of them together in the last row."""
    rows: list[list[object]] = [
        [one.document, one.annotators, one.mentions, *one.alpha.values()] for one in measured.documents
    ]
    rows.append([None, None, None, *measured.alpha.values()])
    return ["document", "annotators", "mentions", *measured.alpha], rows
