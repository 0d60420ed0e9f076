"""TimeLine: temporal awareness, mentions found, and anchors.

Source: Minard et al. (2015), section 4, as version 2 of the organisers' tool computes it.

Conventions: the unit, and what is resampled, is the timeline; a timeline without an entry in gold is left out.
Numerators and denominators are summed over timelines before anything is divided.  0/0 is 0, but for the accuracy of
anchors, which has no value where no mention is found.

Metrics:
    awareness: reduced relations that the other side verifies.
    events: mentions, those at position 0 with the others.
    anchor_accuracy: right anchors among the mentions that both sides have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from closeread.corpora.sides import CorpusSides
from closeread.counts.metrics import Metric, Ratio, precision_recall_f1
from closeread.counts.options import Option, check_present, missing_option
from closeread.counts.procedure import Explanation, Procedure
from closeread.counts.sides import Inconsistency
from closeread.counts.table import CountTable
from closeread.errors import quote
from closeread.records import Record
from closeread.tasks.timeline.kernels.timelines import COUNTS, TRACKS, timeline_counts


def count(
    *, gold: Sequence[Record], system: Sequence[Record | None], track: str = "full", missing: str = "empty"
) -> CountTable:
    """Counts of every timeline that has an entry in gold.

    Args:
        gold: timelines, each with `id` and `entries`, of which each has `position`, `anchor` and `mentions`.
        system: the same timelines in the same order; None where there is none.
        track, missing: what `PROCEDURE` says of its options.

    Raises:
        ValueError: a timeline has no prediction and `missing` is "error".
    """
    scored = [(record, row) for record, row in zip(gold, system, strict=True) if record["entries"]]
    present = np.array([row is not None for _, row in scored], np.bool_)
    check_present(present, "timelines", missing)
    counted = [
        timeline_counts(record["entries"], () if row is None else row["entries"], track) for record, row in scored
    ]
    table = CountTable(
        [record["id"] for record, _ in scored],
        np.arange(len(scored)),
        COUNTS,
        np.array(counted, np.float64).reshape(len(scored), len(COUNTS)),
    )
    return table.select(present) if missing == "skip" else table


def find_inconsistencies(
    *, gold: Sequence[Record], system: Sequence[Record | None], **options: str
) -> Iterator[Inconsistency]:
    """Rows of other timelines.

    Yields:
        The side ("system"), the timeline's number from 0, and what is wrong.
    """
    del options
    for index, (record, row) in enumerate(zip(gold, system, strict=True)):
        if row is not None and row["id"] != record["id"]:
            yield Inconsistency(
                "system", index, f"id is {quote(row['id'])}; needed: {quote(record['id'])}, as in the gold"
            )


RIGHT_ANCHORS = Ratio(
    "anchors/right",
    "events/shared",
    "Found mentions whose anchor is right; without a value where no mention is found.",
)


def load_explanation() -> Explanation:
    """What became of every relation (`closeread.tasks.timeline.explain`), imported when it is asked for."""
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
            "Which relations temporal awareness is of: of mentions to their anchors and of neighbours, or of "
            "neighbours only.",
        ),
        missing_option("empty"),
    ),
    metrics=(
        *precision_recall_f1(
            "awareness",
            "Awareness",
            Ratio("awareness/verified_of_system", "awareness/system", "Reduced relations that gold verifies."),
            Ratio("awareness/verified_of_gold", "awareness/gold", "Reduced gold relations that are verified."),
        ),
        *precision_recall_f1(
            "events",
            "Events",
            Ratio("events/shared", "events/system", "Predicted mentions that gold has."),
            Ratio("events/shared", "events/gold", "Gold mentions that are found."),
        ),
        Metric("anchor_accuracy", "Anchor accuracy", RIGHT_ANCHORS.description, RIGHT_ANCHORS),
    ),
    modules=("timeline_awareness",),
    count=count,
    sides=CorpusSides(find=find_inconsistencies),
    explanation=load_explanation,
)
