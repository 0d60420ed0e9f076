"""Figures of the Marmara corpus (Schüller et al., 2018, Figures 4 to 6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from closeread.corpus.figures import Drawing, FigureKind
from closeread.corpus.gold import read_corpus_gold
from closeread.counts.procedure import Place
from closeread.exceptions import pluralize
from closeread.records import Record
from closeread.tasks.coref.marmara import plots
from closeread.tasks.coref.marmara.facts import sum_sizes

if TYPE_CHECKING:
    from closeread.drawing.pictures import Figure

CORPUS = "marmara_coref"


def draw_corpus(make: Callable[[Sequence[Record]], Figure], place: Place) -> Drawing:
    """Draw a figure of the corpus's documents.

    Raises:
        RequestError: they have no mentions; an InputError if they are missing or invalid.
    """
    gold = read_corpus_gold(place)
    plots.check_mentions(gold.records)
    size = sum_sizes(gold.records)
    found = f"{pluralize(size.mentions, 'mention')} in {pluralize(size.chains, 'chain')}"
    summary = f"{pluralize(size.documents, 'document')}, {found}"
    return Drawing(make(gold.records), summary, gold.notices)


FIGURES = {
    "chain-lengths": FigureKind(partial(draw_corpus, plots.draw_chain_lengths), CORPUS),
    "mention-lengths": FigureKind(partial(draw_corpus, plots.draw_mention_lengths), CORPUS),
    "mention-types": FigureKind(partial(draw_corpus, plots.draw_mention_types), CORPUS),
}
