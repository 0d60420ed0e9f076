"""Figures of Minard et al. (2015), recomputed from TimeLine.

A statement about every corpus is refuted by those that are at hand, but confirmed by all of them only.
"""

from collections import Counter

from papers.figures import Claim

import closeread

CORPUS = "semeval2015_timeline"
EVALUATION = {"corpus_1", "corpus_2", "corpus_3"}
SPLITS = {"trial", *EVALUATION}

# Documents and sentences of Figure 1 whose text is known.
SENTENCES_OF_FIGURE_1 = {("18315", 2), ("18315", 7), ("18355", 4), ("18355", 18)}
EVENTS_OF_FIGURE_1 = (["18315-7-leave"], ["18315-7-fighting", "18355-4-fighting"])

GRANULARITIES = ("YEAR", "MONTH", "DAY")


def recompute():
    """Return the recomputed cells by table."""
    timelines = closeread.load_dataset(CORPUS)
    return {
        "Figure 1": recompute_figure_1(timelines["trial"]),
        "Text": describe_text(timelines),
    }


def recompute_figure_1(timelines):
    """Find two events in the timeline of Steve Jobs, cut to the figure's sentences."""
    entries = next(timeline["entries"] for timeline in timelines if timeline["id"] == "steve_jobs")
    shown = {entry["position"] for entry in entries if is_in_figure_1(entry)}
    positions = [0, *sorted(shown - {0})]
    cells = {}
    for mentions in EVENTS_OF_FIGURE_1:
        row = ", ".join(mentions)
        cells[row, "position"] = Claim("not in the timeline", holds=False)
        cells[row, "anchor"] = Claim("not in the timeline", holds=False)
        for entry in entries:
            if set(mentions) <= set(entry["mentions"]):
                cells[row, "position"] = positions.index(entry["position"])
                cells[row, "anchor"] = entry["anchor"]
    return cells


def is_in_figure_1(entry):
    """Tell whether an event is mentioned in a sentence of Figure 1 whose text is known."""
    sentences = {(span["document"], span["sentence"]) for span in entry["spans"]}
    return not sentences.isdisjoint(SENTENCES_OF_FIGURE_1)


def describe_text(timelines):
    """Recompute figures of the running text."""
    of_timelines = closeread.stats(CORPUS).splits
    of_documents = closeread.stats(CORPUS, config="documents").splits
    corpora = [split for split in timelines if split != "evaluation"]
    all_timelines = [timeline for split in corpora for timeline in timelines[split]]
    n_events = min(len(timeline["entries"]) for timeline in all_timelines)
    n_documents = min(map(count_documents, all_timelines))
    granularities = Counter(
        name_granularity(entry["anchor"])
        for timeline in all_timelines
        for entry in timeline["entries"]
    )
    names = [name for name in (*reversed(GRANULARITIES), "other") if granularities[name]]
    tokens = [
        int(of_documents[split]["tokens"]) for split in sorted(EVALUATION & of_documents.keys())
    ]
    shares = [share_ordered(timelines[split]) for split in ("corpus_1", "corpus_2")]
    statements = {
        ("least number of events of a target entity", "2"): Claim(n_events, n_events > 2),
        ("least number of documents of a target entity", "2"): Claim(n_documents, n_documents >= 2),
        ("granularities of anchors", "3"): Claim(
            ", ".join(f"{name} {granularities[name]:,}" for name in names),
            granularities["other"] == 0,
        ),
        ("tokens of each evaluation corpus", "4"): Claim(
            "; ".join(f"{number:,}" for number in tokens),
            all(25_000 <= number <= 35_000 for number in tokens),
        ),
    }
    are_complete = set(corpora) == SPLITS
    cells = {place: claim for place, claim in statements.items() if are_complete or not claim.holds}
    n_articles = of_documents["trial"]["documents"]
    n_entities = of_timelines["trial"]["target entities"]
    cells["trial: articles / target entities", "2"] = f"{n_articles} / {n_entities}"
    for row, split in (("Airbus", "corpus_1"), ("GM", "corpus_2")):
        mean = of_timelines[split]["documents per timeline"]
        cells[f"documents of a timeline, {row}", "4"] = mean
    cells["events that are ordered, Airbus and GM, percent", "7"] = Claim(
        " and ".join(f"{share:.1f}" for share in shares), max(shares) < 70
    )
    return cells


def count_documents(timeline):
    """Count the documents in which a timeline's events are mentioned."""
    return len({span["document"] for entry in timeline["entries"] for span in entry["spans"]})


def name_granularity(anchor):
    """Name the granularity of an anchor such as 2011-01-XX: a day."""
    years, *smaller = anchor.split("-")
    is_date = len(years) == 4 and all(len(part) == 2 for part in smaller)
    return GRANULARITIES[len(smaller)] if is_date else "other"


def share_ordered(timelines):
    """Return the percentage of events that are not at position 0."""
    positions = [entry["position"] for timeline in timelines for entry in timeline["entries"]]
    return 100 * sum(position > 0 for position in positions) / len(positions)
