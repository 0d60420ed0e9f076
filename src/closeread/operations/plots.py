"""Figures of systems scored by any procedure; those of single tasks are in their packages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from closeread import parameters as arg
from closeread.corpus.figures import Drawing
from closeread.exceptions import RequestError, describe_unknown, name_option, pluralize
from closeread.parameters import GoldPlace, Operations, Param, within
from closeread.public_names import AnyCorpus

if TYPE_CHECKING:
    from closeread.counts.estimates import Resampling


def plot_scores(
    corpus: AnyCorpus,
    systems: Annotated[arg.Sources, Param(metavar="SYSTEMS...")],
    *,
    place: GoldPlace = GoldPlace(),  # noqa: B008
    scores: Annotated[Sequence[str], Param(metavar="SCORES")] = (),
    by: Annotated[str | None, Param(metavar="FIELD")] = None,
    option: Annotated[Mapping[str, str] | None, Param(metavar="NAME=VALUE")] = None,
    alpha: Annotated[float, within(0, 1, above=True, below=True)] = 0.05,
    confidence: arg.Confidence = 0.95,
    seed: arg.Seed = 0,
) -> Drawing:
    """Draw the scores of systems, with intervals.

    Systems are files of predictions, or of counts. For each score, the best is on top. Filled dots do not differ
    significantly from the best, hollow ones do, by the tests of `closeread table`. Where CORPUS is coref or tlinks,
    the key comes before the systems. With --by, one score is drawn as bars for each value of a field.

    \b
    Examples:
      closeread plot scores mctaco mine.jsonl theirs.jsonl -o scores.png
      closeread plot scores coref key.conll mine.conll theirs.conll \\
        --scores conll/f1,lea/f1 -o scores.pdf
      closeread plot scores mctaco mine.jsonl theirs.jsonl --by category \\
        --scores exact_match -o categories.png

    Args:
        scores: Draw these scores, such as conll/f1.  [default: all but precision and recall; with --by, the main score]
        by: Draw a group of bars for each value of this field, such as category.
        alpha: Significance level.
    """
    from closeread.counts.estimates import Resampling
    from closeread.counts.systems import name_sources
    from closeread.drawing.charts import ForestRow, draw_forest
    from closeread.operations.compare import table
    from closeread.scoring import find_procedure

    systems = list(systems)
    where: dict[str, Any] = {**vars(place), **(option or {})}
    if find_procedure(corpus)[1] is None and place.gold is None and systems:
        where["gold"] = systems.pop(0).source
    sources = [system.source for system in systems]
    names = name_sources(sources, [system.name for system in systems])
    named: dict[str, Any] = dict(zip(names, sources, strict=True))
    if by is not None:
        resampling = Resampling(confidence=confidence, seed=seed)
        return _plot_slices(corpus, named, by, scores, resampling, where)
    systems_table = table(
        corpus, named, scores=scores or None, alpha=alpha, confidence=confidence, seed=seed, **where
    )
    rows: dict[str, list[ForestRow]] = {}
    reports = systems_table.reports
    for score in systems_table.scores:
        ranked = []
        standings = systems_table.standings[score]
        for name, report, standing in zip(systems_table.names, reports, standings, strict=True):
            estimate = report.scores[score]
            is_best = standing != "worse"
            ranked.append(ForestRow(name, estimate.value, estimate.low, estimate.high, is_best))
        ranked.sort(key=lambda row: -1.0 if row.value is None else row.value, reverse=True)
        rows[reports[0].name_score(score)] = ranked
    summary = f"{pluralize(len(rows), 'score')} of {pluralize(len(named), 'system')}"
    return Drawing(draw_forest(rows, confidence), summary)


def _plot_slices(
    corpus: str,
    systems: Mapping[str, Any],
    by: str,
    scores: Sequence[str],
    resampling: Resampling,
    options: Mapping[str, Any],
) -> Drawing:
    """Draw a score of systems by a field, with intervals."""
    from closeread.drawing.charts import ScoreBar, draw_score_bars
    from closeread.operations.score import score
    from closeread.scoring import find_procedure

    procedure, _ = find_procedure(corpus)
    if not systems:
        raise RequestError("a plot needs at least one system")
    if len(scores) > 1:
        raise RequestError(
            f"{name_option('by')} draws one score (choose it with {name_option('scores')})"
        )
    name = scores[0] if scores else procedure.headline
    family = name.split("/")[0]
    reports = {}
    for system, source in systems.items():
        reports[system] = score(
            corpus, source, by=by, metrics=family, resampling=resampling, **options
        )
    groups: dict[str, float] = {}
    for report in reports.values():
        if name not in report.scores:
            raise RequestError(describe_unknown("score", name, list(report.scores)))
        for value, part in report.slices[by].items():
            groups.setdefault(value, part.n_units)
    bars: dict[str, list[ScoreBar]] = {}
    for system, report in reports.items():
        parts = report.slices[by]
        bars[system] = []
        for value in groups:
            estimate = parts[value].scores.get(name) if value in parts else None
            bar = ScoreBar(None)
            if estimate is not None:
                bar = ScoreBar(estimate.value, estimate.low, estimate.high)
            bars[system].append(bar)
    title = next(iter(reports.values())).name_score(name)
    field = f"{by.replace('_', ' ')}, number of {procedure.unit}s"
    figure = draw_score_bars(groups, bars, score=f"{title} (%)", field=field)
    return Drawing(figure, f"{title} by {by}, {pluralize(len(systems), 'system')}")


def plot_stats(
    corpus: AnyCorpus,
    *,
    place: GoldPlace = GoldPlace(),  # noqa: B008
    **options: arg.FileOptions,
) -> Drawing:
    """Draw the statistics of a corpus.

    They are the frequencies of prepositions of TNE, and of Marmara the types of mentions and the lengths of mentions
    and chains, as in their papers.

    \b
    Examples:
      closeread plot stats tne --split test -o prepositions.png
      closeread plot stats marmara_coref --config sample -o mentions.png
    """
    from closeread.corpus.gold import read_corpus_gold
    from closeread.corpus.names import find_corpus
    from closeread.corpus.notices import warn_all
    from closeread.drawing.charts import draw_distributions
    from closeread.scoring import find_part
    from closeread.tasks import find

    declared = find_corpus(corpus)
    count = getattr(find(declared.task, "records"), "distributions", None)
    if count is None:
        raise RequestError(
            f"{declared.name} has no statistics to draw (expected tne or marmara_coref)"
        )
    source = find_part(declared, options, **vars(place))
    read = read_corpus_gold(source)
    warn_all(read.notices)
    distributions = count(read.records)
    if not all(distributions.values()):
        raise RequestError(f"{declared.name} has nothing to draw in these files")
    figure = draw_distributions(distributions)
    return Drawing(
        figure,
        ", ".join(f"{sum(counts.values()):,} {title}" for title, counts in distributions.items()),
    )


OPERATIONS: Operations = {"plot": {"scores": plot_scores, "stats": plot_stats}}
