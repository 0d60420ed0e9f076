"""Figures of TimeLine."""

from __future__ import annotations

from closeread.corpus.figures import Drawing, FigureKind, read_prediction
from closeread.corpus.gold import read_corpus_gold
from closeread.counts.annotators import Annotator
from closeread.counts.procedure import Place
from closeread.exceptions import RequestError, pluralize
from closeread.tasks.timeline import plots
from closeread.tasks.timeline.graph import build_graph
from closeread.tasks.timeline.plot_events import count_mentions, find_timeline
from closeread.tasks.timeline.plot_relations import check_size, describe_graph, select_positions

CORPUS = "semeval2015_timeline"
TRACKS = ("full", "ordering")


def draw_timeline(place: Place, entity: str, *, predictions: Annotator | None = None) -> Drawing:
    """Draw the events of an entity by date.

    Args:
        place: where gold is.
        entity: the name of the entity, or the id of its timeline.
        predictions: a system's predictions for the entity, to be drawn below gold.

    Raises:
        RequestError: there is no such entity, or no prediction for it; an InputError if something is invalid.
    """
    gold = read_corpus_gold(place)
    record = find_timeline(gold.records, entity)
    system = None if predictions is None else read_prediction(gold, predictions, record["id"])["entries"]
    figure = plots.draw_timeline(record["entity"], record["entries"], system)
    drawn = pluralize(count_mentions(record["entries"]), "mention")
    drawn += "" if system is None else f", {count_mentions(system):,} predicted"
    return Drawing(figure, drawn, gold.notices_about(record["id"]))


def draw_relations(place: Place, entity: str, *, track: str = "full", positions: str | None = None) -> Drawing:
    """Draw the explicit and entailed relations of a timeline (Minard et al., 2015, Figure 2).

    Args:
        place: where gold is, or a system's timelines.
        entity: the name of the entity, or the id of its timeline.
        track: draw mentions and anchors ("full"), or only mentions ("ordering").
        positions: draw only the events at these positions, such as "2-5".

    Raises:
        RequestError: there is no such entity, or an option does not accept its value; an InputError if gold is invalid.
    """
    if track not in TRACKS:
        raise RequestError(f"track is {track!r} (expected {' or '.join(TRACKS)})")
    gold = read_corpus_gold(place)
    record = find_timeline(gold.records, entity)
    entries = select_positions(record["entries"], positions)
    check_size(entries)
    notices = gold.notices_about(record["id"])
    unordered = count_mentions([entry for entry in entries if not entry["position"]])
    if unordered:
        notices.append(f"not drawn: {pluralize(unordered, 'mention')} at position 0, without relations")
    graph = build_graph(entries, track)
    return Drawing(plots.draw_relations(record["entity"], graph), describe_graph(graph), notices)


FIGURES = {
    "timeline": FigureKind(draw_timeline, CORPUS, "name"),
    "timeline-relations": FigureKind(draw_relations, CORPUS, "name"),
}
