"""Figures of TNE."""

from __future__ import annotations

from collections.abc import Sequence

from closeread.corpora.figures import Drawing, FigureKind, read_systems
from closeread.corpora.sides import read_corpus_gold
from closeread.counts.annotators import Annotator
from closeread.counts.sides import Place
from closeread.errors import RequestError, pluralize
from closeread.tasks.tne import plots
from closeread.tasks.tne.columns import documents_of

__all__ = ["FIGURES", "UNLINKED", "draw_confusion", "draw_prepositions"]

UNLINKED = ("shown", "hidden")


def draw_confusion(place: Place, systems: Sequence[Annotator], *, labels: int = 10, unlinked: str = "shown") -> Drawing:
    """Draw a confusion matrix of prepositions (Elazar et al., 2021, Figure 5).

    Args:
        place: where gold is.
        systems: the system, alone.
        labels: how many prepositions to show, the most frequent in gold.
        unlinked: show or hide the row and the column of pairs that only one side links: "shown" or "hidden".

    Raises:
        RequestError: gold has no links, or an option does not accept its value; an InputError if gold or predictions
            are missing or invalid.
    """
    if unlinked not in UNLINKED:
        raise RequestError(f"unlinked is {unlinked!r} (expected {' or '.join(UNLINKED)})")
    if len(systems) != 1:
        raise RequestError(f"got {pluralize(len(systems), 'system')} (expected one)")
    gold = read_corpus_gold(place)
    plots.check_links(gold)
    counts = plots.confusion_counts(gold.records, read_systems(gold, systems[0].source).rows)
    shown = plots.commonest(counts, labels)
    figure = plots.draw_confusion(counts, [*shown, plots.NO_LINK] if unlinked == "shown" else shown)
    of_these, linked = int(counts[shown].sum()), int(counts[1:].sum())
    summary = f"{pluralize(len(shown), 'preposition')}, {of_these:,} of {linked:,} gold pairs"
    return Drawing(figure, summary, gold.notices)


def draw_prepositions(place: Place, *, splits: Sequence[str] = (), other: float = 4) -> Drawing:
    """Draw how frequent each preposition is among links (Elazar et al., 2021, Figure 4).

    Args:
        place: where gold is.
        splits: the splits to draw; none for that of the place.
        other: prepositions with less than this percentage of the links in every split are united.

    Raises:
        RequestError: gold has no links; an InputError if it is missing or invalid.
    """
    counts, notices = {}, list[str]()
    wanted = (splits,) if isinstance(splits, str) else tuple(dict.fromkeys(splits))
    for split in wanted or (place.split,):
        gold = read_corpus_gold(place._replace(split=split))
        plots.check_links(gold)
        notices += gold.notices
        name = gold.split or ("gold" if isinstance(place.gold, Sequence) else str(place.gold))
        counts[name] = plots.preposition_counts(documents_of(gold.records))
    summary = ", ".join(f"{links.sum():,} links of {name}" for name, links in counts.items())
    return Drawing(plots.draw_prepositions(counts, other), summary, notices)


FIGURES = {
    "confusion": FigureKind(draw_confusion, "tne", "systems"),
    "prepositions": FigureKind(draw_prepositions, "tne"),
}
