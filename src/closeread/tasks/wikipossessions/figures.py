"""Figures of WikiPossessions."""

from __future__ import annotations

from closeread.corpus.figures import Drawing, FigureKind, read_prediction
from closeread.corpus.gold import read_corpus_gold
from closeread.counts.annotators import Annotator
from closeread.counts.procedure import Place
from closeread.exceptions import pluralize
from closeread.tasks.wikipossessions.plots import draw_timeline, find_article


def draw_article(place: Place, article: str, *, predictions: Annotator | None = None) -> Drawing:
    """Draw the possession timeline of an article.

    Args:
        place: where gold is.
        article: its title.
        predictions: a system's predictions for the article, to be drawn below gold.

    Raises:
        RequestError: there is no such article, or no prediction for it; an InputError if something is invalid.
    """
    gold = read_corpus_gold(place)
    possessions = find_article(gold.records, article)["possessions"]
    predicted = None if predictions is None else read_prediction(gold, predictions, article)["possessions"]
    drawn = pluralize(len(possessions), "possession") + ("" if predicted is None else f", {len(predicted):,} predicted")
    return Drawing(draw_timeline(article, possessions, predicted), drawn, gold.notices_about(article))


FIGURES = {"possession": FigureKind(draw_article, "wikipossessions", "name")}
