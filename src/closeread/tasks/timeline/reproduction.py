"""Published figures of TimeLine, recomputed from the corpus.

Conventions: an event is a line of a timeline, however many mentions it has.  A statement about every timeline or every
corpus is refuted by the splits that are available, but confirmed by all of them only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from closeread.arrays import ratio
from closeread.corpus.gold import read_gold, splits_at_hand
from closeread.corpus.names import load_corpus
from closeread.corpus.reproduction import Inputs, Recompute, Recomputed
from closeread.counts.printed_tables import Claim, Value
from closeread.records import Record
from closeread.tasks.timeline.building import recompute_positions
from closeread.tasks.timeline.records import count_documents, facts, mean_documents, text_facts
from closeread.tasks.timeline.timeline_mentions import (
    Timelines,
    date_of,
    is_anchor,
    parse_mention,
    timelines_of,
)

TRIAL, AIRBUS, GM, STOCK = SPLITS = ("trial", "corpus_1", "corpus_2", "corpus_3")
EVALUATION = (AIRBUS, GM, STOCK)

SIZES = {
    "articles / target entities in all": SPLITS,
    "trial: articles / target entities": (TRIAL,),
    "evaluation: articles / target entities": EVALUATION,
}
CORPORA = {"Stock Market": STOCK, "Airbus": AIRBUS, "GM": GM}
LEAST_EVENTS, LEAST_DOCUMENTS = 3, 2
"""The paper's requirements of a target entity: more than two events, in at least two documents."""

ABOUT_30_000 = range(25_000, 35_001)
MOST_ORDERED = 70
GRANULARITIES = ("year", "month", "day")

FIGURE_1 = (("18315", 2), ("18315", 7), ("18355", 4), ("18355", 18))
"""Documents and sentences of the figure whose text is known; it has one more sentence."""

FIGURE_1_EVENTS = ("18315-7-leave", "18315-7-fighting, 18355-4-fighting")
LACKING = "not in the timeline"


def text(inputs: Inputs) -> Recomputed:
    """Recompute the figures of the running text that follow from the files."""
    gold = _read_splits(inputs, SPLITS)  # those that are available
    timelines = [record for of_split in gold.values() for record in of_split]
    cells: dict[tuple[str, str], Value] = {}

    def judge(
        row: str, section: str, splits: Sequence[str], value: float | str, holds: bool
    ) -> None:
        """Add a claim about all of the splits, unless none is available, or it holds and some are not available."""
        here = [split for split in splits if split in gold]
        if here and (not holds or len(here) == len(splits)):
            cells[row, section] = Claim(value, holds)

    for row, splits in SIZES.items():
        if gold.keys() >= set(splits):
            sizes = (
                sum(len(gold[split].documents) for split in splits),
                sum(len(gold[split]) for split in splits),
            )
            cells[row, "2"] = "{} / {}".format(*sizes)
    events = min((len(one["entries"]) for one in timelines), default=0)
    judge("least number of events of a target entity", "2", SPLITS, events, events >= LEAST_EVENTS)
    least = min(map(count_documents, timelines), default=0)
    judge(
        "least number of documents of a target entity", "2", SPLITS, least, least >= LEAST_DOCUMENTS
    )

    forms = Counter(
        _name_granularity(entry["anchor"]) for one in timelines for entry in one["entries"]
    )
    numbers = ", ".join(
        f"{name} {forms[name]:,}" for name in (*reversed(GRANULARITIES), "other") if forms[name]
    )
    judge("granularities of anchors", "3", SPLITS, numbers, not forms["other"])
    entries = [entry for one in timelines for entry in recompute_positions(one)["entries"]]
    if unknown := [entry["position"] for entry in entries if not date_of(entry["anchor"])]:
        cells["position of events whose anchor is unknown", "3"] = max(unknown)

    documents = sorted({len(of_split.documents) for of_split in gold.values()})
    judge("documents a corpus", "4", SPLITS, ", ".join(map(str, documents)), documents == [30])
    tokens = [
        int(text_facts(gold[split].documents)["tokens"]) for split in EVALUATION if split in gold
    ]
    shown = "; ".join(f"{number:,}" for number in tokens)
    judge(
        "tokens of each evaluation corpus",
        "4",
        EVALUATION,
        shown,
        all(n in ABOUT_30_000 for n in tokens),
    )
    if gold.keys() >= set(EVALUATION):
        counted = [facts(gold[split]) for split in EVALUATION]
        names = ("target entities", "timelines evaluated")
        totals = [sum(int(of_split[name]) for of_split in counted) for name in names]
        cells["target entities / timelines used in the evaluation", "4"] = "{} / {}".format(*totals)
    has_events = {
        split for split, of_split in gold.items() if any(one["entries"] for one in of_split)
    }
    for name, split in CORPORA.items():
        if split in has_events:
            cells[f"documents of a timeline, {name}", "4"] = mean_documents(gold[split])

    if STOCK in gold:
        unordered = sum(entry["position"] == 0 for one in gold[STOCK] for entry in one["entries"])
        cells["events at position 0, Stock Market", "7"] = unordered
    two = [gold[split] for split in (AIRBUS, GM) if split in has_events]
    shares = [list(map(measure, two)) for measure in (_measure_ordered, _measure_ordered_mentions)]
    of_events, of_mentions = (" and ".join(f"{share:.1f}" for share in of) for of in shares)
    holds = all(share < MOST_ORDERED for of in shares for share in of)
    row = "events that are ordered, Airbus and GM, percent"
    judge(row, "7", (AIRBUS, GM), f"{of_events} of events, {of_mentions} of mentions", holds)
    return cells


def _name_granularity(anchor: str) -> str:
    return GRANULARITIES[anchor.count("-")] if anchor and is_anchor(anchor) else "other"


def _measure_ordered(timelines: Sequence[Record]) -> float:
    """Return the percentage of events that are not at position 0."""
    ordered = [entry["position"] > 0 for one in timelines for entry in one["entries"]]
    return 100 * float(ratio(sum(ordered), len(ordered)))


def _measure_ordered_mentions(timelines: Sequence[Record]) -> float:
    """Return the percentage of the mentions of events that are not at position 0."""
    size = facts(timelines)
    return 100 - 100 * float(ratio(size["mentions at position 0"], size["mentions"]))


def figure_1(inputs: Inputs) -> Recomputed:
    """Recompute the events of Figure 1 from the released timeline of Steve Jobs, cut to the figure's sentences."""
    trial = _read_splits(inputs, (TRIAL,)).get(TRIAL, ())
    entries = [
        entry for record in trial if record["id"] == "steve_jobs" for entry in record["entries"]
    ]
    shown = [0, *sorted({entry["position"] for entry in entries if _is_in_figure_1(entry)} - {0})]
    cells: dict[tuple[str, str], Value] = {}
    for row in FIGURE_1_EVENTS if trial else ():
        found = next(
            (entry for entry in entries if set(row.split(", ")) <= set(entry["mentions"])), None
        )
        cells[row, "position"] = shown.index(found["position"]) if found else Claim(LACKING, False)
        if row == FIGURE_1_EVENTS[0]:
            cells[row, "anchor"] = found["anchor"] if found else Claim(LACKING, False)
    return cells


def _is_in_figure_1(entry: Record) -> bool:
    parsed = map(parse_mention, entry["mentions"])
    return any(mention[:2] in FIGURE_1 for mention in parsed if mention)


def _read_splits(inputs: Inputs, wanted: Sequence[str]) -> Mapping[str, Timelines]:
    """Read those of the wanted splits that are available."""
    corpus = load_corpus("semeval2015_timeline")
    # If none is available, trying to read all of them reports what is missing.
    here = splits_at_hand(corpus, "default", inputs.data_dir) or wanted
    return {
        split: timelines_of(read_gold(corpus, "default", split, inputs.data_dir).records)
        for split in wanted
        if split in here
    }


RECOMPUTE: Mapping[str, Recompute] = {"Figure 1": figure_1, "Text": text}
