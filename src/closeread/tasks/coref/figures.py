"""Figures of annotators' chains beside gold (Schüller et al., 2018, Figures 7 and 8)."""

from __future__ import annotations

from collections.abc import Sequence

from closeread.corpus.figures import Drawing, FigureKind
from closeread.counts.annotators import Annotator
from closeread.exceptions import pluralize
from closeread.tasks.coref import plots
from closeread.tasks.coref.annotators import read_beside_gold
from closeread.tasks.coref.chain_errors import count_chain_errors
from closeread.tasks.coref.link_support import measure_support


def draw_link_support(gold: Annotator, annotators: Sequence[Annotator]) -> Drawing:
    """Draw how many annotators draw each link.

    Raises:
        InputError: gold or annotations are missing or invalid, or differ in their tokens.
    """
    key, read, notices = read_beside_gold(gold, annotators)
    support = measure_support(key.table, [file.table for file in read])
    in_gold = int(support.in_gold.sum())
    summary = f"{pluralize(len(support.support), 'link')}, {in_gold:,} in gold"
    return Drawing(plots.draw_link_support(support), summary, notices)


def draw_mistakes(gold: Annotator, annotators: Sequence[Annotator]) -> Drawing:
    """Draw the kinds of mistaken chains of annotators or systems.

    Raises:
        InputError: gold or annotations are missing or invalid, or differ in their tokens.
    """
    found = count_chain_errors(gold, annotators)
    summary = f"{pluralize(len(found.kind), 'chain')}, {found.n_mistaken:,} of them mistaken"
    return Drawing(plots.draw_mistakes(found), summary, found.notices)


FIGURES = {
    "link-support": FigureKind(draw_link_support, None, "systems"),
    "mistakes": FigureKind(draw_mistakes, None, "systems"),
}
