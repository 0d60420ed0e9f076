"""The agreement of annotators of TNE as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from closeread.counts.annotators import Scores, make_pair_grid
from closeread.exceptions import pluralize
from closeread.tables import Grid, format_percent
from closeread.tasks.tne.agreement import SHORT_TITLES, PairedAgreement, Slice, list_rows


def make_rows(found: PairedAgreement) -> tuple[list[str], list[list[object]]]:
    """Return header and rows of all scores: of every pair, of the means if there are several, and of their slices."""
    rows = [
        [found.names[i], found.names[j], *row]
        for (i, j), one in found.pairs.items()
        for row in _list_scores(one.scores, {field: _get_scores(part) for field, part in one.slices.items()})
    ]
    several, fields = len(found.pairs) > 1, list(found.pairs[0, 1].slices)
    if several:
        means = {field: {value: one.scores for value, one in found.average_slices(field).items()} for field in fields}
        rows += [["mean", None, *row] for row in _list_scores(found.mean, means)]
    header = ["first annotator", "second annotator", "field", "group", "metric", "value"]
    shown = [*range(0 if several else 2, 2), *range(2 if fields else 4, 6)]
    return [header[column] for column in shown], [[row[column] for column in shown] for row in rows]


def _get_scores(part: Mapping[str, Slice]) -> dict[str, Scores]:
    return {value: one.scores for value, one in part.items()}


def _list_scores(scores: Scores, slices: Mapping[str, Mapping[str, Scores]]) -> Iterator[Sequence[object]]:
    """Yield field, value of the field, metric and score: of all documents, and then of every slice."""
    yield from ([None, None, *score] for score in scores.items())
    for field, part in slices.items():
        yield from ([field, value, *score] for value, one in part.items() for score in one.items())


def make_grid(found: PairedAgreement) -> Grid:
    """Return the table of all documents: all scores of two annotators, or F1 scores and accuracies of all pairs."""
    first = found.pairs[0, 1]
    notes = list(found.describe())
    if any(one.clusters is not None for one in found.pairs.values()):
        notes.append("Clusters are compared without singletons.")
    size = pluralize(first.documents, "document")
    if len(found.pairs) == 1:
        rows = [list(map(format_percent, row)) for row in list_rows(first)]
        against = f"{found.names[1]} against {found.names[0]}, {size}."
        return Grid("", ["", "precision", "recall", "F1 or accuracy"], rows, [against, *notes])
    mean = found.mean
    pairs = {pair: [one.scores.get(name) for name in mean] for pair, one in found.pairs.items()}
    against = f"F1 scores and accuracies of the second annotator against the first, {size}."
    titles = [SHORT_TITLES[name] for name in mean]
    return make_pair_grid(found.names, titles, pairs, list(mean.values()), [against, *notes])


def make_slice_grids(found: PairedAgreement) -> Iterator[Grid]:
    """Yield a table for every field, with the scores of each of its values, or their means over the pairs."""
    several = len(found.pairs) > 1
    what = "Means over the pairs of annotators" if several else "F1 scores and accuracies"
    for field in found.pairs[0, 1].slices:
        rows = [*found.average_slices(field).items(), ("all", found.average_all())]
        # What no document has a value for would only make the table wider.
        names = [name for name in found.mean if any(one.scores[name] is not None for _, one in rows)]
        cells = [
            [
                value,
                f"{one.documents:,}",
                *(format_percent(one.scores[name]) + "*" * (name in one.partial) for name in names),
            ]
            for value, one in rows
        ]
        notes = [f"{what}; n is the number of documents."]
        if any(one.partial for _, one in rows):
            notes.append("* The mean leaves out pairs without a value.")
        yield Grid("", [field, "n", *(SHORT_TITLES[name] for name in names)], cells, notes)
