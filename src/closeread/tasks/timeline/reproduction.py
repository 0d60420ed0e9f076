"""Published figures of TimeLine, recomputed from the corpus.

Conventions: an event is a line of a timeline, however many mentions it has.  A statement about every timeline or every
corpus is refuted by the splits that are available, but confirmed by all of them only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from closeread.arrays import ratio
from closeread.corpus.gold import read_gold, splits_at_hand
from closeread.corpus.names import load_corpus
from closeread.corpus.reproduction import Inputs, Recompute, Recomputed
from closeread.counts.printed_tables import Claim, Value
from closeread.records import Record
from closeread.tasks.timeline.building import date_of, recompute_positions
from closeread.tasks.timeline.gold import Timelines, timelines_of
from closeread.tasks.timeline.records import count_documents, facts, mean_documents, text_facts
from closeread.tasks.timeline.timeline_mentions import MENTION, is_anchor

TRIAL, AIRBUS, GM, STOCK = SPLITS = ("trial", "corpus_1", "corpus_2", "corpus_3")
EVALUATION = (AIRBUS, GM, STOCK)

SIZES = {
    "articles / target entities in all": SPLITS,
    "trial: articles / target entities": (TRIAL,),
    "evaluation: articles / target entities": EVALUATION,
}
CORPORA = {"Stock Market": STOCK, "Airbus": AIRBUS, "GM": GM}
LEAST_EVENTS, LEAST_DOCUMENTS = 3, 2
"""What the paper asks of a target entity: more than two events, in at least two documents."""

ABOUT_30_000 = range(25_000, 35_001)
MOST_ORDERED = 70
GRANULARITIES = ("year", "month", "day")

FIGURE_1 = (("18315", 2), ("18315", 7), ("18355", 4), ("18355", 18))
"""Documents and sentences of the figure whose text is known; it has one more sentence."""

FIGURE_1_EVENTS = ("18315-7-leave", "18315-7-fighting, 18355-4-fighting")
LACKING = "not in the timeline"

Gold = Mapping[str, Timelines]  # the timelines and documents of the available splits

Figures = Mapping[str, Value | None]
"""From rows of the table "Text" to recomputed values; None for those that can't be recomputed."""


def text(inputs: Inputs) -> Recomputed:
    """Recompute the figures of the running text that follow from the files."""
    gold = _read_splits(inputs, SPLITS)
    by_section = {
        "2": _recompute_section_2(gold),
        "3": _recompute_section_3(gold),
        "4": _recompute_section_4(gold),
        "7": _recompute_section_7(gold),
    }
    return {
        (row, section): value
        for section, values in by_section.items()
        for row, value in values.items()
        if value is not None
    }


def figure_1(inputs: Inputs) -> Recomputed:
    """Recompute the events of Figure 1 from the released timeline of Steve Jobs, cut to the figure's sentences."""
    trial = _read_splits(inputs, (TRIAL,)).get(TRIAL, ())
    entries = [entry for record in trial if record["id"] == "steve_jobs" for entry in record["entries"]]
    shown = [0, *sorted({entry["position"] for entry in entries if _is_in_figure_1(entry)} - {0})]
    cells: dict[tuple[str, str], Value] = {}
    for row in FIGURE_1_EVENTS if trial else ():
        found = next((entry for entry in entries if set(row.split(", ")) <= set(entry["mentions"])), None)
        cells[row, "position"] = shown.index(found["position"]) if found else Claim(LACKING, False)
        if row == FIGURE_1_EVENTS[0]:
            cells[row, "anchor"] = found["anchor"] if found else Claim(LACKING, False)
    return cells


def _is_in_figure_1(entry: Record) -> bool:
    named = [MENTION.fullmatch(mention) for mention in entry["mentions"]]
    return any((parts[1], int(parts[2])) in FIGURE_1 for parts in named if parts)


def _read_splits(inputs: Inputs, wanted: Sequence[str]) -> Gold:
    """Read the available ones of the wanted splits."""
    corpus = load_corpus("semeval2015_timeline")
    # If none is available, trying to read all of them reports what is missing.
    here = splits_at_hand(corpus, "default", inputs.data_dir) or wanted
    return {
        split: timelines_of(read_gold(corpus, "default", split, inputs.data_dir).records)
        for split in wanted
        if split in here
    }


def _recompute_section_2(gold: Gold) -> Figures:
    timelines = list(_iterate_timelines(gold))
    events = min((len(one["entries"]) for one in timelines), default=0)
    documents = min(map(count_documents, timelines), default=0)
    return {
        **{row: _describe_sizes(gold, splits) for row, splits in SIZES.items()},
        "least number of events of a target entity": _judge_all(gold, SPLITS, events, events >= LEAST_EVENTS),
        "least number of documents of a target entity": _judge_all(
            gold, SPLITS, documents, documents >= LEAST_DOCUMENTS
        ),
    }


def _describe_sizes(gold: Gold, splits: Sequence[str]) -> str | None:
    if not _has(gold, splits):
        return None
    return f"{sum(len(gold[split].documents) for split in splits)} / {sum(len(gold[split]) for split in splits)}"


def _recompute_section_3(gold: Gold) -> Figures:
    timelines = list(_iterate_timelines(gold))
    forms = Counter(_name_granularity(entry["anchor"]) for one in timelines for entry in one["entries"])
    numbers = ", ".join(f"{name} {forms[name]:,}" for name in (*reversed(GRANULARITIES), "other") if forms[name])
    unknown = {
        entry["position"]
        for one in timelines
        for entry in recompute_positions(one)["entries"]
        if not date_of(entry["anchor"])
    }
    return {
        "granularities of anchors": _judge_all(gold, SPLITS, numbers, not forms["other"]),
        "position of events whose anchor is unknown": max(unknown, default=None),
    }


def _name_granularity(anchor: str) -> str:
    return GRANULARITIES[anchor.count("-")] if anchor and is_anchor(anchor) else "other"


def _recompute_section_4(gold: Gold) -> Figures:
    documents = sorted({len(timelines.documents) for timelines in gold.values()})
    tokens = [int(text_facts(gold[split].documents)["tokens"]) for split in EVALUATION if split in gold]
    sizes = [facts(gold[split]) for split in EVALUATION if split in gold]
    entities, evaluated = (
        sum(int(size[name]) for size in sizes) for name in ("target entities", "timelines evaluated")
    )
    return {
        "documents a corpus": _judge_all(gold, SPLITS, ", ".join(map(str, documents)), documents == [30]),
        "tokens of each evaluation corpus": _judge_all(
            gold,
            EVALUATION,
            "; ".join(f"{number:,}" for number in tokens),
            all(number in ABOUT_30_000 for number in tokens),
        ),
        "target entities / timelines used in the evaluation": (
            f"{entities} / {evaluated}" if _has(gold, EVALUATION) else None
        ),
        **{
            f"documents of a timeline, {name}": mean_documents(gold[split])
            for name, split in CORPORA.items()
            if _count_events(gold, split)
        },
    }


def _recompute_section_7(gold: Gold) -> Figures:
    two = [gold[split] for split in (AIRBUS, GM) if _count_events(gold, split)]
    of_events, of_mentions = [_measure_ordered(one) for one in two], [_measure_ordered_mentions(one) for one in two]
    shares = f"{_list_shares(of_events)} of events, {_list_shares(of_mentions)} of mentions"
    return {
        "events at position 0, Stock Market": (
            sum(entry["position"] == 0 for one in gold[STOCK] for entry in one["entries"]) if STOCK in gold else None
        ),
        "events that are ordered, Airbus and GM, percent": _judge_all(
            gold, (AIRBUS, GM), shares, all(share < MOST_ORDERED for share in (*of_events, *of_mentions))
        ),
    }


def _measure_ordered(timelines: Sequence[Record]) -> float:
    """Return the percentage of events that are not at position 0."""
    ordered = [entry["position"] > 0 for one in timelines for entry in one["entries"]]
    return 100 * float(ratio(sum(ordered), len(ordered)))


def _measure_ordered_mentions(timelines: Sequence[Record]) -> float:
    """Return the percentage of the mentions of events that are not at position 0."""
    size = facts(timelines)
    return 100 - 100 * float(ratio(size["mentions at position 0"], size["mentions"]))


def _list_shares(shares: Sequence[float]) -> str:
    return " and ".join(f"{share:.1f}" for share in shares)


def _judge_all(gold: Gold, splits: Sequence[str], value: float | str, holds: bool) -> Claim | None:
    """Return a claim about all of the splits; None if none is available, or if it holds and some are not available."""
    here = [split for split in splits if split in gold]
    return Claim(value, holds) if here and (not holds or len(here) == len(splits)) else None


def _count_events(gold: Gold, split: str) -> int:
    """Count the events of a split; none if it is not available."""
    return sum(len(one["entries"]) for one in gold.get(split, ()))


def _has(gold: Gold, splits: Sequence[str]) -> bool:
    return gold.keys() >= set(splits)


def _iterate_timelines(gold: Gold) -> Iterator[Record]:
    return (record for timelines in gold.values() for record in timelines)


RECOMPUTE: Mapping[str, Recompute] = {"Figure 1": figure_1, "Text": text}
