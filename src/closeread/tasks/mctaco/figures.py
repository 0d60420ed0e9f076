"""Figures of McTaco."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from closeread.corpora.figures import Drawing, FigureKind, read_systems
from closeread.corpora.sides import read_corpus_gold
from closeread.counts.annotators import Annotator
from closeread.counts.sides import Place
from closeread.errors import pluralize, read_all
from closeread.tasks.mctaco.categories import expect_coin_by_category, score_by_category
from closeread.tasks.mctaco.plots import draw_categories

__all__ = ["FIGURES", "draw_systems"]


def draw_systems(place: Place, systems: Sequence[Annotator]) -> Drawing:
    """Draw exact match by category, of systems beside a coin (Zhou et al., 2019, Figure 2).

    Raises:
        InputError: gold or predictions are missing or invalid.
    """
    gold = read_corpus_gold(place)
    different = _name_systems(systems)

    def score(one: Annotator) -> dict[str, dict[str, float]]:
        return score_by_category(gold.records, read_systems(gold, one.source).rows)

    read = read_all(different.values(), score)
    scores = {
        name: {category: values["exact_match"] for category, values in of_system.items()}
        for name, of_system in zip(different, read, strict=True)
    }
    coin = {name: of["exact_match"].mean for name, of in expect_coin_by_category(gold.records).items()}
    of = "1 category" if len(coin) == 1 else f"{len(coin)} categories"
    summary = f"{of} of questions, {pluralize(len(scores), 'system')} and a coin"
    return Drawing(draw_categories(coin, scores), summary, gold.notices)


def _name_systems(systems: Sequence[Annotator]) -> dict[str, Annotator]:
    """Return different systems by the names of their files without suffix, or by their paths if two are the same."""
    different = {one.name: one for one in systems}
    names = [one.source.stem if isinstance(one.source, Path) else one.name for one in different.values()]
    return dict(zip(names if len(set(names)) == len(names) else different, different.values(), strict=True))


FIGURES = {"categories": FigureKind(draw_systems, "mctaco", "systems")}
