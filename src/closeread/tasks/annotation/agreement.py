"""Agreement of annotators of coreference: Krippendorff's alpha over mentions, whose values are chains.

Sources: Krippendorff (1980); Passonneau (2004); Passonneau, Habash and Rambow (2006); and their use in Schüller et al.
(2018), section 2.1.2.  Alpha is 1 - observed / expected disagreement, here in the form for missing values:

    observed = Σ over mentions m, Σ over pairs of values b < c:  n_mb n_mc distance(b, c) / (n_m - 1)
    expected = Σ over pairs of values b < c:  n_b n_c distance(b, c) / (n - 1)

n_mb annotators give mention m the value b, n_m give it any; n_b and n are their sums over mentions.  Schüller et al. print
alpha with (rm - 1)/m instead of (rm - 1)/(m - 1), and with a sum over ordered pairs in the denominator, which is not
Krippendorff's alpha.

Conventions: the objects are the mentions of a document that any annotator has, those in chains of one included, or a
given list of mentions.  A chain of one mention says nothing: its mention is unannotated.
Sets without a common mention have distance 1 in every measure, so that only pairs of sets that share a mention need
to be looked at: a mention is in few different sets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from closeread.arrays import Floats, ratio
from closeread.corpus.citing import papers
from closeread.counts.agreement import Pair
from closeread.counts.procedure import Option, resolve_options
from closeread.counts.report import drop_part
from closeread.counts.resampling import draw_weights, percentile_interval
from closeread.counts.results import Result
from closeread.exceptions import (
    Problem,
    SubmissionError,
    choose_words,
    join_names,
    pluralize,
    shorten,
)
from closeread.tables import Grid, Style, format_percent
from closeread.tasks.annotation.annotators import (
    ADVICE,
    AnnotatedDocument,
    Chains,
    make_document,
)
from closeread.tasks.coref.documents import Mention

NAME = "coref_alpha"
MODULES = (NAME,)
"""The evaluate modules that measure the same."""

AVERAGES = ("macro", "pooled")

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
        AVERAGES,
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
RESAMPLES = 1000
CONFIDENCE = 0.95
SEED = 0

MAX_SHOWN_CHARACTERS = 30
"""How much of a mention's text tables show."""

CITATION = papers("passonneau-2004-computing")[0]


class Values(NamedTuple):
    """What annotators give the mentions of a document: the sets of mentions with which they put each together.

    Attributes:
        by_mention: how many annotators give each mention each value, by the value's number.
        sizes: the number of mentions of each value.
    """

    by_mention: Sequence[Counter[int]]
    sizes: Sequence[int]

    def measure_distances(self) -> dict[Pair, Floats]:
        """Return the distances between values that annotators give the same mention, in the order of `MEASURES`."""
        n_common: Counter[Pair] = Counter()
        for counts in self.by_mention:
            n_common.update(combinations(sorted(counts), 2))
        distances = {}
        for (first, second), n in sorted(n_common.items()):
            distances[first, second] = measure_distances(n, self.sizes[first], self.sizes[second])
        return distances


def list_values(document: AnnotatedDocument, unannotated: str) -> Values:
    """Return the values of the mentions of a document; `unannotated` is the value of the option."""
    numbers: dict[frozenset[int], int] = {}
    by_mention: list[Counter[int]] = [Counter() for _ in document.mentions]
    for chains in document.chains.values():
        for chain in chains:
            if len(chain) > 1:
                number = numbers.setdefault(frozenset(chain), len(numbers))
                for mention in chain:
                    by_mention[mention][number] += 1
    if unannotated == "singleton":
        for mention, counts in enumerate(by_mention):
            n_alone = len(document.chains) - counts.total()
            if n_alone:
                number = numbers.setdefault(frozenset([mention]), len(numbers))
                counts[number] = n_alone
    return Values(by_mention, list(map(len, numbers)))


def measure_distances(common: int, size: int, other_size: int) -> Floats:
    """Return the distances, in the order of `MEASURES`, between sets of these sizes with some common mentions."""
    if common == size == other_size:
        agreement = 1.0
    elif common == min(size, other_size):
        agreement = 2 / 3
    elif common > 1:
        agreement = 1 / 3
    else:
        agreement = 0.0
    jaccard = common / (size + other_size - common)
    return np.array([float(agreement < 1), 1 - agreement, 1 - jaccard * agreement])


class Disagreement(NamedTuple):
    """The disagreement about a document, or several.

    Attributes:
        observed, expected: (n_measures,) as above; both 0 if there are no two different values.
    """

    observed: Floats
    expected: Floats

    @property
    def alpha(self) -> Floats:
        """Krippendorff's alpha, (n_measures,); 1 for 0/0: all values that are compared are equal."""
        return 1 - np.nan_to_num(ratio(self.observed, self.expected), nan=0.0)


def count_disagreement(
    document: AnnotatedDocument, options: Mapping[str, str]
) -> Disagreement | None:
    """Sum the distances between values, observed for the same mention, and expected from how often values occur.

    Returns None if there is no pair of values to compare: no mention has two.
    """
    values = list_values(document, options["unannotated"])
    # Mentions with fewer than two values are left out.
    compared = [counts for counts in values.by_mention if counts.total() > 1]
    if not compared:
        return None
    distances = values.measure_distances()

    observed = np.zeros(len(MEASURES))
    totals: Counter[int] = Counter()
    for counts in compared:
        totals.update(counts)
        n_others = counts.total() - 1
        for first, second in combinations(sorted(counts), 2):
            observed += counts[first] / n_others * counts[second] * distances[first, second]

    # Every pair of different values has distance 1, but for the sets that have mentions in common.
    n_values = totals.total()
    n_different = (n_values**2 - sum(n**2 for n in totals.values())) / 2
    nearness = np.zeros(len(MEASURES))
    for (first, second), distance in distances.items():
        nearness += totals[first] * totals[second] * (1 - distance)
    expected = (n_different - nearness) / (n_values - 1)
    return Disagreement(observed, expected)


class DocumentAgreement(NamedTuple):
    """The agreement of the annotators of a document.

    Attributes:
        document: its name.
        annotators: how many have annotated it.
        mentions: how many objects it has.
        alpha: by measure, at most 1; None if there is no pair of values to compare.
        is_undefined: whether alpha is 0/0, which is 1 by convention: there are no two different values.
    """

    document: str
    annotators: int
    mentions: int
    alpha: Mapping[str, float | None]
    is_undefined: bool = False


class PairDivision(NamedTuple):
    """How two annotators agree.

    Attributes:
        documents: how many documents both have.
        precision, recall, f1: of the second annotator's mentions, against those of the first; None for 0/0.
        alpha: by measure, on the documents that both have.
    """

    documents: int
    precision: float | None
    recall: float | None
    f1: float | None
    alpha: Mapping[str, float | None]

    @property
    def scores(self) -> dict[str, float | None]:
        """All scores by name."""
        mentions = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return mentions | dict(self.alpha)


class DividedMention(NamedTuple):
    """A mention about which annotators disagree.

    Attributes:
        document: the name of its document.
        start, end: its first and its last token.
        text: its words; empty if they are unknown.
        marked_by: how many annotators have it as a mention.
        annotators: how many have the document.
        distance: the mean distance of IAA2 between the chains of two annotators, from 0 to 1.
    """

    document: str
    start: int
    end: int
    text: str
    marked_by: int
    annotators: int
    distance: float


class Average(NamedTuple):
    """Alpha of several documents together.

    Attributes:
        alpha: by measure; None if no pair of values is compared.
        intervals: the lower and the upper end of the 95 % interval, by measure; none for one document.
    """

    alpha: Mapping[str, float | None]
    intervals: Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Agreement(Result):
    """The agreement of annotators, by document and in all.

    Attributes:
        documents: the agreement of each document.
        alpha: by measure, averaged as the options say; None if no pair of values is compared.
        options: the value of every option.
        empty: how many of the compared annotations have no chain of two or more mentions.
        notices: about the annotators' files, one sentence each.
        limit: how many documents and mentions tables list; None for all.
        intervals: the lower and the upper end of the 95 % interval of alpha, by measure; none for one document.
        annotators: the names of the annotators.
        pairs: how every two of them agree.
        divided: the mentions about which annotators disagree, the most divided first.
        averages: both averages by name, whichever the options choose; none for one document.
    """

    documents: Sequence[DocumentAgreement]
    alpha: Mapping[str, float | None]
    options: Mapping[str, str]
    empty: int
    notices: Sequence[str] = ()
    limit: int | None = None
    intervals: Mapping[str, Sequence[float]] = field(default_factory=dict)
    annotators: Sequence[str] = ()
    pairs: Mapping[Pair, PairDivision] = field(default_factory=dict)
    divided: Sequence[DividedMention] = ()
    averages: Mapping[str, Average] = field(default_factory=dict)

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the tables of documents, of pairs of annotators and of mentions that divide them."""
        del style
        grids = [self._make_document_grid()]
        if self.pairs:
            grids.append(self._make_pair_grid())
        if self.divided:
            grids.append(self._make_mention_grid())
        return grids

    def _make_document_grid(self) -> Grid:
        """Return the table of documents, the lowest alpha first, with all of them together at the end."""
        header = ["document", "annotators", "mentions", "nominal", "IAA1", "IAA2"]
        in_order = rank_documents(self.documents)
        names = drop_part([document.document for document in in_order])
        rows = []
        for name, document in zip(names, in_order[: self.limit], strict=False):
            sizes = [f"{document.annotators:,}", f"{document.mentions:,}"]
            rows.append([name, *sizes, *map(format_percent, document.alpha.values())])
        notes = []
        n_more = len(self.documents) - len(rows)
        if n_more:
            where = choose_words("--limit, --json and --format csv", "to_frame()")
            notes.append(f"{pluralize(n_more, 'more document')}: see {where}.")
        chosen = self.options["average"]
        averages = {chosen: Average(self.alpha, self.intervals), **self.averages}
        for name, average in averages.items():
            rows.append([f"{name} average", "", "", *map(format_percent, average.alpha.values())])
            if average.intervals:
                low, high = zip(*average.intervals.values(), strict=True)
                rows.append(["95 % interval, from", "", "", *map(format_percent, low)])
                rows.append(["to", "", "", *map(format_percent, high)])
        if self.intervals:
            notes.append("Intervals: 1,000 resamples of documents.")
        options = ", ".join(f"{name} {value}" for name, value in self.options.items())
        notes += ["Krippendorff's alpha times 100.", f"Options: {options}."]
        return Grid("", header, rows, notes)

    def _make_pair_grid(self) -> Grid:
        """Return the table of pairs: whether they have the same mentions, and the same chains."""
        rows = []
        for (first, second), division in self.pairs.items():
            scores = map(format_percent, division.scores.values())
            rows.append([f"{first + 1} and {second + 1}", *scores])
        numbered = ", ".join(
            f"{number} is {name}" for number, name in enumerate(self.annotators, 1)
        )
        notes = [
            f"Annotators: {numbered}.",
            "P, R, F1: the second annotator's mentions against the first's, chains aside.",
        ]
        header = ["annotators", "P", "R", "F1", "nominal", "IAA1", "IAA2"]
        return Grid("", header, rows, notes)

    def _make_mention_grid(self) -> Grid:
        """Return the table of the mentions that divide annotators most."""
        header = ["document", "tokens", "mention", "marked by", "distance"]
        names = drop_part([mention.document for mention in self.divided])
        rows = []
        for name, mention in zip(names, self.divided[: self.limit], strict=False):
            tokens = f"{mention.start} to {mention.end}"
            if mention.start == mention.end:
                tokens = str(mention.start)
            marked = f"{mention.marked_by} of {mention.annotators}"
            text = shorten(mention.text, MAX_SHOWN_CHARACTERS)
            rows.append([name, tokens, text, marked, format_percent(mention.distance)])
        n_more = len(self.divided) - len(rows)
        notes = ["Distance: the mean of IAA2 between the chains of two annotators, times 100."]
        if n_more:
            where = choose_words("--limit and --json", "divided")
            notes.append(f"{pluralize(n_more, 'more mention')}: see {where}.")
        title = "Mentions that divide annotators"
        return Grid(title, header, rows, notes, texts=frozenset({"tokens"}))

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows: every document, and all of them together in the last row."""
        rows: list[list[object]] = []
        for document in self.documents:
            sizes = [document.annotators, document.mentions]
            rows.append([document.document, *sizes, *document.alpha.values()])
        rows.append([None, None, None, *self.alpha.values()])
        return ["document", "annotators", "mentions", *self.alpha], rows

    def to_dict(self) -> dict[str, Any]:
        """Return documents, scores and options as JSON can hold them."""
        documents = {}
        for document in self.documents:
            sizes = {"annotators": document.annotators, "mentions": document.mentions}
            documents[document.document] = {**sizes, **document.alpha}
        result: dict[str, Any] = {"documents": documents, **self.alpha, **self.options}
        if self.intervals:
            result["intervals"] = {name: list(ends) for name, ends in self.intervals.items()}
        if self.averages:
            result["averages"] = {
                name: {**average.alpha, "intervals": dict(average.intervals)}
                for name, average in self.averages.items()
            }
        if self.pairs:
            result["pairs"] = [
                {"first": self.annotators[first], "second": self.annotators[second]}
                | {"documents": division.documents, **division.scores}
                for (first, second), division in self.pairs.items()
            ]
        if self.divided:
            result["divided"] = [mention._asdict() for mention in self.divided]
        return result

    def describe_undefined(self) -> Iterator[str]:
        """Yield a sentence on each kind of documents whose alpha averages leave out, or have by convention."""
        single = []
        incomparable = []
        equal = []
        for document in self.documents:
            if document.annotators < 2:
                single.append(document.document)
            elif None in document.alpha.values():
                incomparable.append(document.document)
            elif document.is_undefined:
                equal.append(document.document)
        if single:
            verb = "has" if len(single) == 1 else "have"
            documents = f"{pluralize(len(single), 'document')} {verb} fewer than two annotators"
            yield f"{documents}, and no alpha: {join_names(single)}."
        if incomparable:
            documents = pluralize(len(incomparable), "document")
            lack = f"{documents} without a pair of values to compare: {join_names(incomparable)}"
            yield f"alpha is undefined, and left out of averages, in {lack}."
        if equal:
            documents = pluralize(len(equal), "document")
            lack = f"{documents} without two different values: {join_names(equal)}"
            yield f"alpha is 0/0, and 1 by convention, in {lack}."

    def describe(self) -> Iterator[str]:
        """Yield notes for readers of the figures."""
        yield from self.describe_undefined()
        if self.empty:
            verb = "has" if self.empty == 1 else "have"
            yield f"{pluralize(self.empty, 'annotation')} {verb} no chain of two or more mentions."


def _rank_document(document: DocumentAgreement) -> float:
    """Return what sorts documents by the last measure; those without a value are last."""
    *_, alpha = document.alpha.values()
    return 2.0 if alpha is None else alpha


def rank_documents(documents: Iterable[DocumentAgreement]) -> list[DocumentAgreement]:
    """Return documents with the lowest values of the last measure first."""
    return sorted(documents, key=_rank_document)


def resolve(values: Mapping[str, object]) -> dict[str, str]:
    """Return the value of every option, given or default."""
    return resolve_options(OPTIONS, values, NAME)


def average_alpha(disagreements: Sequence[Disagreement], average: str) -> Average:
    """Return alpha of documents together, with its 95 % intervals over documents.

    Args:
        disagreements: those of the documents that are compared.
        average: whether alpha is averaged over documents ("macro"), or disagreements are summed ("pooled").
    """
    if not disagreements:
        return Average(dict.fromkeys(MEASURES), {})
    n = len(disagreements)
    rng = np.random.default_rng(SEED)
    # The first row is the documents themselves, the others are resamples.
    draws = np.concatenate([np.ones((1, n)), *draw_weights(n, RESAMPLES, rng)])
    if average == "pooled":
        observed, expected = zip(*disagreements, strict=True)
        alpha = Disagreement(draws @ np.stack(observed), draws @ np.stack(expected)).alpha
    else:
        alpha = draws @ np.stack([disagreement.alpha for disagreement in disagreements]) / n
    intervals = {}
    if n > 1:
        ends = percentile_interval(alpha[1:].T, CONFIDENCE)
        intervals = dict(zip(MEASURES, ends.tolist(), strict=True))
    return Average(name_measures(alpha[0]), intervals)


def measure_agreement(
    documents: Sequence[AnnotatedDocument], options: Mapping[str, str]
) -> Agreement:
    """Measure the agreement of the annotators of every document, given the value of every option (see `resolve`)."""
    agreements = []
    compared = []
    n_empty = 0
    for document in documents:
        scores: dict[str, float | None] = dict.fromkeys(MEASURES)
        is_undefined = False
        disagreement = count_disagreement(document, options)
        # Where nothing is compared, alpha is undefined rather than perfect.
        if disagreement is not None:
            compared.append(disagreement)
            scores = name_measures(disagreement.alpha)
            is_undefined = not disagreement.expected.any()
        sizes = (len(document.chains), len(document.mentions))
        agreements.append(DocumentAgreement(document.name, *sizes, scores, is_undefined))
        if len(document.chains) > 1:
            n_empty += sum(n_links == 0 for n_links in document.count_links().values())
    averages = {name: average_alpha(compared, name) for name in AVERAGES}
    chosen = averages[options["average"]]
    return Agreement(
        agreements,
        chosen.alpha,
        options,
        n_empty,
        intervals=chosen.intervals,
        averages=averages if len(compared) > 1 else {},
    )


def name_measures(alpha: Floats) -> dict[str, float | None]:
    """Return alpha by measure."""
    return dict(zip(MEASURES, alpha.tolist(), strict=True))


def measure_clusters(documents: Sequence[Sequence[Any]], options: Mapping[str, str]) -> Agreement:
    """Measure the agreement of annotators whose clusters are in memory.

    Args:
        documents: the annotations of each document, each a list of clusters of mentions ``[start, end]`` or ``[start,
            end, head]``; heads are ignored.  Documents are named by their numbers, from 0.
        options: the value of every option (see `resolve`).
    """
    problems = list(_find_faults(documents))
    if problems:
        raise SubmissionError("predictions", problems)
    annotated = []
    for number, annotators in enumerate(documents):
        chains = dict(enumerate(map(_make_chains, annotators)))
        annotated.append(make_document(str(number), chains))
    return measure_agreement(annotated, options)


def _make_chains(clusters: Sequence[Sequence[Any]]) -> Chains:
    """Return the chains of an annotator whose clusters are in memory."""
    return [_make_chain(cluster) for cluster in clusters]


def _make_chain(cluster: Sequence[Any]) -> list[Mention]:
    """Return the mentions of a cluster, without their heads."""
    return [Mention(start, end) for start, end, *_ in cluster]


def _find_faults(documents: Sequence[Sequence[Any]]) -> Iterator[Problem]:
    """Find mentions that end before they start, and mentions that are twice in an annotation."""
    for row, annotators in enumerate(documents):
        for annotator, clusters in enumerate(annotators):
            for message in _find_faults_of_annotator(clusters):
                yield Problem(message, record=f"row {row}: annotation {annotator}")


def _find_faults_of_annotator(clusters: Sequence[Sequence[Any]]) -> Iterator[str]:
    first_cluster: dict[tuple[int, int], int] = {}
    for number, cluster in enumerate(clusters):
        for start, end, *_ in cluster:
            before = first_cluster.get((start, end))
            first_cluster.setdefault((start, end), number)
            if start > end:
                yield f"[{start}, {end}] ends before it starts (expected [start, end])"
            elif before is not None:
                place = f"twice in cluster {number}"
                if before != number:
                    place = f"in clusters {before} and {number}"
                yield f"mention [{start}, {end}] is {place} (numbered from 0); {ADVICE}"
