"""Agreement of annotators of coreference: Krippendorff's alpha over mentions, whose values are chains.

Sources: Krippendorff (1980); Passonneau (2004); Passonneau, Habash and Rambow (2006); and their use in Schüller et al.
(2018), section 2.1.2.  That paper prints alpha with (rm - 1)/m instead of (rm - 1)/(m - 1), and with a sum over ordered
pairs in the denominator, which is not Krippendorff's alpha.

Conventions: the objects are the mentions of a document that any annotator has, those in chains of one included, or a
given list of mentions.  A chain of one mention says nothing: its mention is unannotated.
Sets without a common mention have distance 1 in every measure, so that only pairs of sets that share a mention need
to be looked at: a mention is in few different sets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from closeread.arrays import Floats, ratio
from closeread.corpus.citing import papers
from closeread.counts.annotators import Annotator, find_repeated_paths
from closeread.counts.procedure import Option, resolve_options
from closeread.counts.report import drop_part
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
from closeread.tasks.coref.documents import Document, Documents, list_entities

NAME = "coref_alpha"
MODULES = (NAME,)
"""The evaluate modules that measure the same."""

OPTIONS = (
    Option(
        "unannotated",
        ("singleton", "missing"),
        "singleton",
        "How to treat a mention that an annotator puts in no chain of two or more: as a chain of its own, or as a "
        "missing value.",
    ),
    Option(
        "average",
        ("macro", "pooled"),
        "macro",
        "Average alpha over documents (macro), or sum observed and expected disagreement over documents and divide "
        "once (pooled).",
    ),
)

SCORES = {
    "nominal": "Krippendorff's alpha with distance 0 for equal chains, and 1 for all others.",
    "iaa1": "Krippendorff's alpha with distance 1 - M: M is 1 for equal chains, 2/3 if one is inside the other, 1/3 if "
    "they have more than one mention in common, else 0 (Passonneau, 2004).",
    "iaa2": "Krippendorff's alpha with a distance that also takes into account how large a part of both chains is "
    "common (Passonneau et al., 2006).",
}
MEASURES = tuple(SCORES)
CITATION = papers("passonneau-2004-computing")[0]


def measure_distances(shared: int, one: int, other: int) -> Floats:
    """Return the distances, in the order of `MEASURES`, between sets of these sizes that share some mentions."""
    score = 0.0
    if shared == min(one, other):
        score = 1.0 if one == other else 2 / 3
    elif shared > 1:
        score = 1 / 3
    jaccard = shared / (one + other - shared)
    return np.array([float(score < 1), 1 - score, 1 - jaccard * score])


def count_disagreement(
    document: DocumentAnnotations, options: Mapping[str, str]
) -> tuple[Floats, Floats, bool]:
    """Sum the distances between the values of mentions, observed and expected, (n_measures,) both.

    Observed are those between the values of each mention, over pairs of annotators and divided by the number of its
    values - 1; expected are those between all values of the document, over pairs and divided by their number - 1.
    Mentions with fewer than two values are left out; the last item says whether any mention is left, so that there is
    a pair of values to compare.
    """
    sets: dict[frozenset[int], int] = {}  # with their numbers
    values: list[Counter[int]] = [Counter() for _ in document.mentions]
    for _, chains in document.annotations:
        for chain in chains:
            if len(chain) > 1:
                value = sets.setdefault(frozenset(chain), len(sets))
                for mention in chain:
                    values[mention][value] += 1
    if options["unannotated"] == "singleton":
        for mention, of in enumerate(values):
            if alone := len(document.annotations) - of.total():
                of[sets.setdefault(frozenset([mention]), len(sets))] = alone
    compared = [
        (of, of.total() - 1, list(combinations(sorted(of), 2))) for of in values if of.total() > 1
    ]
    shared = Counter(pair for _, _, pairs in compared for pair in pairs)
    size = list(map(len, sets))
    distances = {
        (a, b): measure_distances(shared[a, b], size[a], size[b]) for a, b in sorted(shared)
    }
    observed = np.zeros(len(MEASURES))
    often: Counter[int] = Counter()
    for of, others, pairs in compared:
        often.update(of)
        for a, b in pairs:
            observed += of[a] / others * of[b] * distances[a, b]
    # Every pair of values at distance 1, and then less for the sets that share mentions.
    total = often.total()
    apart = (total**2 - sum(n**2 for n in often.values())) / 2
    nearer = np.zeros(len(MEASURES))
    for (a, b), distance in distances.items():
        nearer += often[a] * often[b] * (1 - distance)
    expected = (apart - nearer) / (total - 1) if apart else np.zeros(len(MEASURES))
    return observed, expected, bool(compared)


class DocumentAgreement(NamedTuple):
    """The agreement of the annotators of a document."""

    document: str
    annotators: int  # how many have annotated it
    mentions: int  # how many objects it has
    # by measure, at most 1; None if there is no pair of values to compare
    alpha: Mapping[str, float | None]
    # whether alpha is 0/0, which is 1 by convention: there are no two different values
    is_undefined: bool = False


@dataclass(frozen=True)
class Agreement(Result):
    """The agreement of annotators, by document and in all."""

    documents: Sequence[DocumentAgreement]
    # by measure, averaged as the options say; None if no pair of values is compared
    alpha: Mapping[str, float | None]
    options: Mapping[str, str]
    empty: int  # how many of the compared annotations have no chain of two or more mentions
    notices: Sequence[str] = ()  # about the annotators' files, one sentence each
    limit: int | None = None  # how many documents tables list; None for all

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the table of documents, with all of them together in the last row."""
        del style
        shown = self.documents[: self.limit]
        rows = [
            [
                name,
                f"{one.annotators:,}",
                f"{one.mentions:,}",
                *map(format_percent, one.alpha.values()),
            ]
            for one, name in zip(
                shown, drop_part([one.document for one in self.documents]), strict=False
            )
        ]
        rows.append(
            [
                f"{self.options['average']} average",
                "",
                "",
                *map(format_percent, self.alpha.values()),
            ]
        )
        left = len(self.documents) - len(shown)
        where = choose_words("--limit, --json and --format csv", "to_frame()")
        notes = [f"{pluralize(left, 'more document')}: see {where}."] if left else []
        notes += [
            "Krippendorff's alpha times 100.",
            f"Options: {', '.join(f'{name} {value}' for name, value in self.options.items())}.",
        ]
        return [
            Grid("", ["document", "annotators", "mentions", "nominal", "IAA1", "IAA2"], rows, notes)
        ]

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows: every document, and all of them together in the last row."""
        rows: list[list[object]] = [
            [one.document, one.annotators, one.mentions, *one.alpha.values()]
            for one in self.documents
        ]
        return ["document", "annotators", "mentions", *self.alpha], [
            *rows,
            [None, None, None, *self.alpha.values()],
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return documents, scores and options as JSON can hold them."""
        documents = {
            one.document: {"annotators": one.annotators, "mentions": one.mentions, **one.alpha}
            for one in self.documents
        }
        return {"documents": documents, **self.alpha, **self.options}

    def describe_undefined(self) -> Iterator[str]:
        """Yield a sentence on each kind of documents whose alpha averages leave out, or have by convention."""
        if alone := [one.document for one in self.documents if one.annotators < 2]:
            verb = "has" if len(alone) == 1 else "have"
            found = f"{pluralize(len(alone), 'document')} {verb} fewer than two annotators"
            yield f"{found}, and no alpha: {join_names(alone)}."
        compared = [document for document in self.documents if document.annotators > 1]
        incomparable = [one.document for one in compared if None in one.alpha.values()]
        if incomparable:
            documents = pluralize(len(incomparable), "document")
            found = f"alpha is undefined, and left out of averages, in {documents}"
            yield f"{found} without a pair of values to compare: {join_names(incomparable)}."
        equal = [
            one.document
            for one in compared
            if one.is_undefined and one.document not in incomparable
        ]
        if equal:
            found = f"alpha is 0/0, and 1 by convention, in {pluralize(len(equal), 'document')}"
            yield f"{found} without two different values: {join_names(equal)}."

    def describe(self) -> Iterator[str]:
        """Yield notes for readers of the figures."""
        yield from self.describe_undefined()
        if self.empty:
            verb = "has" if self.empty == 1 else "have"
            yield f"{pluralize(self.empty, 'annotation')} {verb} no chain of two or more mentions."


def resolve(values: Mapping[str, object]) -> dict[str, str]:
    """Return the value of every option, given or default."""
    return resolve_options(OPTIONS, values, NAME)


def compare_annotators(
    annotators: Sequence[Annotator], *, given: Annotator | None = None, **options: str
) -> Agreement:
    """Measure the agreement of annotators of coreference.

    Args:
        annotators: files, folders or documents in memory; each may have some of the documents.
        given: the mentions that annotators were given, to measure agreement about these instead of about all mentions
            of any annotator.
        **options: values of `OPTIONS` that differ from the defaults.
    """
    chosen = resolve(options)
    read = read_annotators(annotators if given is None else (*annotators, given))
    found = gather_annotations([file.documents for file in read])
    if given is not None:
        ungiven = ((file.name, find_ungiven(file.documents, read[-1])) for file in read[:-1])
        raise_all(FormatError(name, problems) for name, problems in ungiven if problems)
        found = [select_given(document, len(annotators)) for document in found]
    measured = measure_agreement(found, chosen)
    if all(one.annotators < 2 for one in measured.documents):
        raise RequestError(
            "no document has two annotators (expected two files or more with the same document)"
        )
    about_files = (*list_notices(read), *find_repeated_paths(annotators))
    return replace(measured, notices=(*about_files, *measured.describe()))


def measure_agreement(
    annotations: Sequence[DocumentAnnotations], options: Mapping[str, str]
) -> Agreement:
    """Measure the agreement of the annotators of every document, given the value of every option (see `resolve`)."""
    counted = [count_disagreement(one, options) for one in annotations]
    sums = np.array([counts[:2] for counts in counted]).reshape(-1, 2, len(MEASURES))
    n_annotators = np.array([len(one.annotations) for one in annotations], np.int64)
    alpha = _divide(*sums.transpose(1, 0, 2))
    # Where no mention has two values, nothing is compared, and alpha is undefined rather than perfect.
    has_pairs = np.array([has_pair for _, _, has_pair in counted], np.bool_)
    compared = (n_annotators > 1) & has_pairs
    if options["average"] == "macro":
        total = alpha[compared].mean(axis=0) if compared.any() else alpha[:0].sum(axis=0)
    else:
        total = _divide(*sums[compared].sum(axis=0))
    documents = [
        DocumentAgreement(
            one.name, n, len(one.mentions), _name_measures(row, is_compared), not expected.any()
        )
        for one, n, row, is_compared, expected in zip(
            annotations, n_annotators.tolist(), alpha, compared.tolist(), sums[:, 1], strict=True
        )
    ]
    drawn = [
        chains for one in annotations if len(one.annotations) > 1 for _, chains in one.annotations
    ]
    empty = sum(all(len(chain) < 2 for chain in chains) for chains in drawn)
    return Agreement(documents, _name_measures(total, bool(compared.any())), options, empty)


def _divide(observed: Floats, expected: Floats) -> Floats:
    """Return 1 - observed / expected, and 1 for 0/0: all values that are compared are equal."""
    return 1 - np.nan_to_num(ratio(observed, expected), nan=0.0)


def _name_measures(alpha: Floats, is_defined: bool) -> dict[str, float | None]:
    return {
        name: float(value) if is_defined else None
        for name, value in zip(MEASURES, alpha, strict=True)
    }


def measure_clusters(documents: Sequence[Sequence[Any]], options: Mapping[str, str]) -> Agreement:
    """Measure the agreement of annotators whose clusters are in memory.

    Args:
        documents: the annotations of each document, each a list of clusters of mentions ``[start, end]`` or ``[start,
            end, head]``; heads are ignored.  Documents are named by their numbers, from 0.
        options: the value of every option (see `resolve`).
    """
    if problems := list(_find_faults(documents)):
        raise SubmissionError("predictions", problems)
    files = []
    for annotator in range(max(map(len, documents), default=0)):
        annotated = [
            Document(str(number), list_entities(annotations[annotator]))
            for number, annotations in enumerate(documents)
            if annotator < len(annotations)
        ]
        files.append(Documents(annotated))
    names = [str(number) for number in range(len(documents))]
    return measure_agreement(gather_annotations(files, names), options)


def _find_faults(documents: Sequence[Sequence[Any]]) -> Iterator[Problem]:
    """Find mentions that end before they start, and mentions that are twice in an annotation."""
    for row, annotators in enumerate(documents):
        for number, clusters in enumerate(annotators):
            where = f"row {row}: annotation {number}"
            seen: dict[tuple[int, int], int] = {}
            for cluster, (start, end, *_) in (
                (i, mention) for i, of in enumerate(clusters) for mention in of
            ):
                if start > end:
                    what = f"[{start}, {end}] ends before it starts (expected [start, end])"
                    yield Problem(what, record=where)
                elif (start, end) in seen:
                    before = seen[start, end]
                    is_other = before != cluster
                    place = (
                        f"in clusters {before} and {cluster}"
                        if is_other
                        else f"twice in cluster {cluster}"
                    )
                    what = f"mention [{start}, {end}] is {place} (numbered from 0); {ADVICE}"
                    yield Problem(what, record=where)
                seen.setdefault((start, end), cluster)
