"""Agreement of annotators of coreference: Krippendorff's alpha over mentions, whose values are chains.

Sources: Krippendorff (1980); Passonneau (2004); Passonneau, Habash and Rambow (2006); and their use in Schüller et al.
(2018), section 2.1.2.  That paper prints alpha with (rm - 1)/m instead of (rm - 1)/(m - 1), and with a sum over ordered
pairs in the denominator; this is the form "printed", which is not Krippendorff's alpha.

Conventions: the objects are the mentions of a document that any annotator has, those in chains of one included, or a
given list of mentions.  A chain of one mention says nothing: its mention is unannotated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from closeread.arrays import Floats, Mask, ratio
from closeread.corpus.citing import papers
from closeread.counts.annotators import Annotator, find_repeated_paths
from closeread.counts.procedure import Option, resolve_options
from closeread.counts.results import Result
from closeread.exceptions import FormatError, Problem, RequestError, SubmissionError, join_names, pluralize, raise_all
from closeread.tables import Grid, Style
from closeread.tasks.coref.annotators import (
    ADVICE,
    Annotations,
    find_ungiven,
    gather_annotations,
    list_notices,
    read_annotators,
    select_given,
)
from closeread.tasks.coref.columns import mention_table
from closeread.tasks.coref.kernels.alpha import MEASURES, count_disagreement
from closeread.tasks.coref.kernels.chain_values import number_values
from closeread.tasks.coref.rules import describe_reversed

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
        from closeread.tasks.coref.agreement_tables import make_grid

        del style
        return [make_grid(self)]

    def to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows: every document, and all of them together in the last row."""
        from closeread.tasks.coref.agreement_tables import make_rows

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
    """Return the value of every option, given or default.

    Raises:
        RequestError: an option does not exist or does not accept its value, or two of them exclude each other.
    """
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

    Raises:
        RequestError: no document has two annotators, or an option does not exist or does not accept its value; an
            InputError if what they have is missing or invalid, or differs in its tokens.
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

    Raises:
        SubmissionError: a mention ends before it starts, or is twice in an annotation; all problems.
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
