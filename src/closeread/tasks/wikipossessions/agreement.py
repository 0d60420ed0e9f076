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
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

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
    Possession,
    match_possessions,
    normalize_name,
)
from closeread.tasks.wikipossessions.subtasks import (
    COUNTS,
    count_ordered_pairs,
    fully_match,
    partly_match,
    possessions,
)


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Cohen's kappa of two annotators' labels of the same items; None is a label like any other.

    Cohen (1960): (observed - expected) / (1 - expected), where expected is the agreement of two annotators who label at
    random, each with their own label frequencies; None if there are no items, or if both annotators use one and the
    same label throughout.

    >>> cohen_kappa("aabb", "aabb"), cohen_kappa("aabb", "abab")
    (1.0, 0.0)
    """
    labels = dict.fromkeys([*first, *second])
    if not labels:
        return None
    # Observed and expected agreement times the square of the number of items, as integers.
    observed = sum(a == b for a, b in zip(first, second, strict=True)) * len(first)
    one, other = Counter(first), Counter(second)
    expected = sum(one[label] * other[label] for label in labels)
    possible = len(first) ** 2 - expected
    return (observed - expected) / possible if possible else None


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


@dataclass(frozen=True)
class Agreement:
    """The agreement of two annotators; scores are None for 0/0."""

    shared: int  # how many possessors both annotated
    # of the second's possessors and ordered pairs against the first's, by `COMPARED`
    precision: Scores
    recall: Scores
    f1: Scores
    kappa: Scores  # Cohen's kappa of each of `LABELS` over the shared possessors
    same: Mapping[str, int]  # how many shared possessors have the same label, for each of `LABELS`
    options: Mapping[str, str]

    def summarize(self) -> Scores:
        """Return the F1 scores and kappas, which are those in `TITLES`."""
        f1 = {f"{name}/f1": value for name, value in self.f1.items()}
        return f1 | {f"{label}/kappa": value for label, value in self.kappa.items()}

    def rows(self) -> list[list[str | float | None]]:
        """Return a row for each score, with the columns `COLUMNS`; cells that do not apply are empty, 0/0 is None."""
        scores = zip(
            self.precision,
            self.precision.values(),
            self.recall.values(),
            self.f1.values(),
            strict=True,
        )
        return [
            *([*row, "", ""] for row in scores),
            *([label, "", "", "", self.same[label], kappa] for label, kappa in self.kappa.items()),
        ]


@dataclass(frozen=True)
class PairedAgreement(Result):
    """The agreement of every pair of annotators, and notices about their files."""

    names: Sequence[str]
    pairs: Mapping[Annotators, Agreement]
    options: Mapping[str, str]
    notices: Sequence[str] = ()

    @property
    def mean(self) -> Scores:
        """The means over the pairs of F1 scores and kappas, by the names in `TITLES`."""
        return average_pairs([found.summarize() for found in self.pairs.values()])

    def describe_left_out(self) -> Iterator[str]:
        """Yield a sentence for every mean that leaves out pairs."""
        return describe_left_out([found.summarize() for found in self.pairs.values()], TITLES)

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the table: all scores of two annotators; of more, F1 scores and kappas of every pair, and means."""
        del style
        several = len(self.pairs) > 1
        shared = "possessors" if several else pluralize(self.pairs[0, 1].shared, "possessor")
        notes = [
            f"Labels are compared on the {shared} that both annotators have.",
            f"Ordered pairs are those of {'these' if self.options['pairs'] == 'shared' else 'all'} possessors.",
            f"Options: {', '.join(f'{name} {value}' for name, value in self.options.items())}.",
        ]
        if not several:
            rows = [list(map(format_cell, row)) for row in self.pairs[0, 1].rows()]
            return [
                Grid(
                    "", ["", *COLUMNS], rows, [f"{self.names[1]} against {self.names[0]}.", *notes]
                )
            ]
        scores = {pair: list(one.summarize().values()) for pair, one in self.pairs.items()}
        titles, means = [TITLES[name] for name in self.mean], list(self.mean.values())
        return [
            make_pair_grid(
                self.names, titles, scores, means, [*notes, *self.describe_left_out()], format_cell
            )
        ]

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return header and rows of all scores; of several pairs, every pair and then the means."""

        def list_rows(one: Agreement) -> list[list[object]]:
            # Empty cells are None, so that columns of numbers stay that.
            return [
                [*(None if cell == "" else cell for cell in row), one.shared] for row in one.rows()
            ]

        if len(self.pairs) == 1:
            return ["", *COLUMNS, "shared"], list_rows(self.pairs[0, 1])
        rows = [
            [self.names[i], self.names[j], *row]
            for (i, j), one in self.pairs.items()
            for row in list_rows(one)
        ]
        for name, value in self.mean.items():
            what, _, score = name.rpartition("/")
            values = [value, None, None] if score == "f1" else [None, None, value]
            rows.append(["mean", None, what, None, None, *values, None])
        return ["first annotator", "second annotator", "compared", *COLUMNS, "shared"], rows

    def to_dict(self) -> dict[str, Any]:
        """Return the agreement of two annotators; of more, the means and every pair."""
        pairs = {pair: asdict(found) for pair, found in self.pairs.items()}
        if len(pairs) == 1:
            return pairs[0, 1]
        return {
            "annotators": list(self.names),
            "options": self.options,
            "mean": self.mean,
            "pairs": list_agreements(self.names, pairs),
        }


def compare_annotators(annotators: Sequence[Annotator], **options: str) -> PairedAgreement:
    """Measure the agreement of two or more annotators, whose files or rows follow the corpus's format."""
    require_two(annotators)
    resolve_options(OPTIONS, options, "agreement")  # before the files are read
    corpus = load_corpus("wikipossessions")
    read = read_all(annotators, lambda one: read_own_gold(corpus, one.source, name=one.name))
    notices = [
        f"{one.name}: {notice}"
        for one, gold in zip(annotators, read, strict=True)
        for notice in gold.notices
    ]
    found = measure_agreement(
        [gold.records for gold in read], [one.name for one in annotators], **options
    )
    return replace(found, notices=(*find_repeated_paths(annotators), *dict.fromkeys(notices)))


def measure_agreement(
    annotators: Sequence[Sequence[Record]], names: Sequence[str], **options: str
) -> PairedAgreement:
    """Measure the agreement of every pair of annotators, given their records of the same articles, in any order."""
    articles = [dict.fromkeys(record["article"] for record in records) for records in annotators]
    problems = []
    for first, other in (
        (i, j) for number in range(1, len(names)) for i, j in ((0, number), (number, 0))
    ):
        if lacking := [article for article in articles[other] if article not in articles[first]]:
            found = f"{names[first]} lacks {len(lacking):,} of the {len(articles[other]):,} articles of {names[other]}"
            problems.append(Problem(f"{found}: {join_names(lacking)} (expected the same articles)"))
    if problems:
        raise FormatError("annotations", problems)
    options = resolve_options(OPTIONS, options, "agreement")
    sides = []
    for records in annotators:
        side = {}
        for record in records:
            with name_documents([record["article"]], "article"):
                rows = record["possessions"]
                side[record["article"]] = possessions(rows), [_get_labels(row) for row in rows]
        sides.append(side)
    compared = {
        (i, j): _compare(sides[i], sides[j], options) for i, j in list_pairs(len(annotators))
    }
    return PairedAgreement(names, compared, options)


Side = Mapping[str, tuple[Sequence[Possession], Sequence[Labels]]]
"""An annotator's possessions and their labels by article."""


def _compare(first: Side, second: Side, options: Mapping[str, str]) -> Agreement:
    """Compare two annotators' possessions of the same articles."""
    totals = np.zeros((len(COMPARED), len(COUNTS)))
    labels: list[tuple[Labels, Labels]] = []  # of the shared possessors
    for article, (one, said) in first.items():
        two, also_said = second[article]

        def likeness(
            i: int, j: int, ours: Sequence[Labels] = also_said, theirs: Sequence[Labels] = said
        ) -> int:
            return _compare_labels(ours[i], theirs[j], min(len(ours), len(theirs)))

        paired = match_possessions(
            two,
            one,
            options["setting"],
            likeness=likeness if options["repeated"] == "labels" else None,
        )
        totals[0] += (len(paired), len(two), len(paired), len(one))
        labels += [(said[j], also_said[i]) for i, j in paired]
        match: Callable[[Name, Name], bool] = (
            partly_match if options["setting"] == "partial" else fully_match
        )
        if options["pairs"] == "shared":
            two, one = [two[i] for i, _ in paired], [one[j] for _, j in paired]
            if options["setting"] == "partial":
                match = _match_paired(two, one)
        totals[1] += count_ordered_pairs(two, one, match)
    precision, recall = ratio(totals[:, 0], totals[:, 1]), ratio(totals[:, 2], totals[:, 3])

    def name(values: Floats) -> Scores:
        return {
            name: None if np.isnan(value) else value
            for name, value in zip(COMPARED, values.tolist(), strict=True)
        }

    return Agreement(
        len(labels),
        name(precision),
        name(recall),
        name(harmonic_mean(precision, recall)),
        {
            label: cohen_kappa([one[label] for one, _ in labels], [two[label] for _, two in labels])
            for label in LABELS
        },
        {label: sum(one[label] == two[label] for one, two in labels) for label in LABELS},
        options,
    )


def _match_paired(
    system: Sequence[Possession], gold: Sequence[Possession]
) -> Callable[[Name, Name], bool]:
    """Return a test whether two names are those of possessions at the same position of both sides.

    Names that are paired match each other only, whatever words they share with others.
    """
    paired = {(ours.name, theirs.name) for ours, theirs in zip(system, gold, strict=True)}
    return lambda name, gold_name: (name, gold_name) in paired


def _get_labels(row: Mapping[str, str | None]) -> Labels:
    anchor = parse_anchor(row.get("anchor"))
    is_event = anchor.kind == "event"
    meaning = (
        normalize_name(row.get("anchor") or "").tokens
        if is_event
        else anchor._replace(reversed=False)
    )
    return {label: row.get(label) for label in LABELS} | {"anchor": meaning}


def _compare_labels(one: Labels, other: Labels, most: int) -> int:
    """Return the similarity of two possessions: equal anchors count first, then overlapping years, then other labels.

    No sum of what comes later, over as many pairs as there may be, outweighs one of what comes earlier.
    """
    step = (len(LABELS) - 1) * most + 1
    ours, theirs = one["anchor"], other["anchor"]
    overlap = False
    if (
        isinstance(ours, Anchor)
        and isinstance(theirs, Anchor)
        and ours.kind == theirs.kind == "years"
    ):
        # An open end is endless.
        ends = ((ours.lower, theirs.upper), (theirs.lower, ours.upper))
        overlap = all(first is None or last is None or first <= last for first, last in ends)
    others = sum(one[label] == other[label] for label in LABELS if label != "anchor")
    return ((ours == theirs) * step + overlap) * step + others
