"""TimeLine: temporal awareness, event mentions and anchors.

Source: Minard et al. (2015), section 5 for temporal awareness and section 7 for events and anchors, as computed by
version 2 of the official scorer.

Conventions: the unit, and the unit of resampling, is the timeline; timelines without entries in gold are left out.
Numerators and denominators are summed over timelines before dividing (`average="micro"`), as the published totals were,
or the scores of timelines are averaged, weighted by their gold events (`"events"`), as the paper's section 5
describes it.  An event is an entry, at position 0 or not.  0/0 is 0, as in the official scorer, except for anchor
accuracy, which is undefined if no mention is shared; averages over events leave such timelines out of it.

Metrics:
    awareness: precision, recall and F1 of reduced relations, as verified by the other side.
    events: precision, recall and F1 of mentions, including those at position 0.
    anchor_accuracy: correct anchors among the mentions that both sides have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from closeread.corpus.citing import papers
from closeread.corpus.submissions import CorpusReader, NothingInCommon
from closeread.counts.metrics import Metric, Ratio, average, precision_recall_f1, unit_scores
from closeread.counts.procedure import (
    EXTRA,
    Explanation,
    Inconsistency,
    Option,
    Options,
    Procedure,
    check_present,
    missing_option,
)
from closeread.counts.table import CountTable
from closeread.exceptions import quote
from closeread.records import Record
from closeread.tasks.timeline.relations import COUNTS, TRACKS, timeline_counts
from closeread.tasks.timeline.timeline_mentions import list_texts


def count(
    *,
    gold: Sequence[Record],
    system: Sequence[Record | None],
    track: str = "full",
    average: str = "micro",
    missing: str = "empty",
) -> CountTable:
    """Count every timeline that has entries in gold."""
    scored = [(record, row) for record, row in zip(gold, system, strict=True) if record["entries"]]
    present = np.array([row is not None for _, row in scored], np.bool_)
    check_present(present, "timelines", missing)
    counts = [
        timeline_counts(record["entries"], row["entries"] if row else (), track)
        for record, row in scored
    ]
    matrix = np.array(counts, np.float64).reshape(len(scored), len(COUNTS))
    columns = dict(zip(COUNTS, matrix.T, strict=True))
    if average == "events":
        events = np.array([len(record["entries"]) for record, _ in scored], np.float64)
        *official, anchor_accuracy = PROCEDURE.metrics
        means = unit_scores(columns, official, events)
        columns = means | unit_scores(columns, [anchor_accuracy], events, undefined="skip")
    table = CountTable.of_columns([record["id"] for record, _ in scored], columns)
    return table.select(present) if missing == "skip" else table


def validate(
    *, gold: Sequence[Record], system: Sequence[Record | None], **options: str
) -> Iterator[Inconsistency]:
    """Find predictions whose id is not that of the gold timeline."""
    del options
    for index, (record, row) in enumerate(zip(gold, system, strict=True)):
        if row is not None and row["id"] != record["id"]:
            message = f"id is {quote(row['id'])} (expected {quote(record['id'])}, as in the gold)"
            yield Inconsistency("system", index, message)


def list_events(timeline: Record, options: Options) -> list[str]:
    """Return the mentions of events of a timeline."""
    return list_texts(timeline["entries"])


NOTHING_IN_COMMON = NothingInCommon(
    "event", list_events, "are documents and sentences named as in the gold?"
)


ANCHORS = "Shared mentions with the correct anchor; undefined if no mention is shared."
METRICS = (
    *precision_recall_f1(
        "awareness",
        "Awareness",
        Ratio(
            "awareness/verified_of_system",
            "awareness/system",
            "Reduced system relations that gold verifies.",
        ),
        Ratio(
            "awareness/verified_of_gold",
            "awareness/gold",
            "Reduced gold relations that the system verifies.",
        ),
    ),
    *precision_recall_f1(
        "events",
        "Events",
        Ratio("events/shared", "events/system", "Predicted mentions that are in gold."),
        Ratio("events/shared", "events/gold", "Gold mentions that are predicted."),
    ),
    Metric(
        "anchor_accuracy",
        "Anchor accuracy",
        ANCHORS,
        Ratio("anchors/right", "events/shared", ANCHORS),
    ),
)


def load_explanation() -> Explanation:
    """Explanations of relations (`closeread.tasks.timeline.explain`), imported when they are asked for."""
    from closeread.tasks.timeline.explain import EXPLANATION

    return EXPLANATION


PROCEDURE = Procedure(
    name="timeline",
    version=1,
    title="TimeLine: temporal awareness, events and anchors",
    unit="timeline",
    resampling_unit="timeline",
    options=(
        Option(
            "track",
            TRACKS,
            "full",
            "Compare relations to anchors and between neighbouring mentions (full), or only between neighbouring "
            "mentions (ordering).",
        ),
        missing_option("empty"),
        EXTRA,
        Option(
            "average",
            ("micro", "events"),
            "micro",
            "Sum counts over timelines and divide once (micro), or average the scores of the timelines, weighted by "
            "their gold events (events).",
            signed="if_changed",
        ),
    ),
    metrics=average(METRICS),
    headline="awareness/f1",
    modules=("timeline_awareness",),
    count=count,
    reader=CorpusReader(check=validate, find_remarks=NOTHING_IN_COMMON),
    references={"awareness": papers("uzzaman-allen-2011-temporal", "uzzaman-etal-2013-semeval")},
    explanation=load_explanation,
)
