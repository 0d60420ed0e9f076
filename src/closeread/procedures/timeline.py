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

from closeread.counts import (
    MISSING_HELP,
    Columns,
    CountTable,
    FloatArray,
    Metric,
    Option,
    Procedure,
    harmonic_mean,
    ratio,
)
from closeread.kernels.timelines import COUNTS, TRACKS, timeline_counts
from closeread.records import Record


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
    absent = sum(row is None for _, row in scored)
    if missing == "error" and absent:
        raise ValueError(f"{absent:,} of {len(scored):,} timelines have no prediction")
    if missing == "skip":
        scored = [(record, row) for record, row in scored if row is not None]
    counted = [
        timeline_counts(record["entries"], () if row is None else row["entries"], track) for record, row in scored
    ]
    return CountTable(
        [record["id"] for record, _ in scored],
        np.arange(len(scored)),
        COUNTS,
        np.array(counted, np.float64).reshape(len(scored), len(COUNTS)),
    )


def _awareness_precision(counts: Columns) -> FloatArray:
    return ratio(counts["awareness/verified_of_system"], counts["awareness/system"])


def _awareness_recall(counts: Columns) -> FloatArray:
    return ratio(counts["awareness/verified_of_gold"], counts["awareness/gold"])


def _awareness_f1(counts: Columns) -> FloatArray:
    return harmonic_mean(_awareness_precision(counts), _awareness_recall(counts))


def _events_precision(counts: Columns) -> FloatArray:
    return ratio(counts["events/shared"], counts["events/system"])


def _events_recall(counts: Columns) -> FloatArray:
    return ratio(counts["events/shared"], counts["events/gold"])


def _events_f1(counts: Columns) -> FloatArray:
    return harmonic_mean(_events_precision(counts), _events_recall(counts))


def _anchor_accuracy(counts: Columns) -> FloatArray:
    return ratio(counts["anchors/right"], counts["events/shared"])


def _metrics() -> Iterator[Metric]:
    mean = "Harmonic mean of precision and recall."
    for name, title, description, formula in (
        ("awareness/precision", "Awareness precision", "Reduced relations that gold verifies.", _awareness_precision),
        ("awareness/recall", "Awareness recall", "Reduced gold relations that are verified.", _awareness_recall),
        ("awareness/f1", "Awareness F1", mean, _awareness_f1),
        ("events/precision", "Events precision", "Predicted mentions that gold has.", _events_precision),
        ("events/recall", "Events recall", "Gold mentions that are found.", _events_recall),
        ("events/f1", "Events F1", mean, _events_f1),
    ):
        yield Metric(name, title, description, formula, empty=0.0)
    description = "Found mentions whose anchor is right; without a value where no mention is found."
    yield Metric("anchor_accuracy", "Anchor accuracy", description, _anchor_accuracy)


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
        Option("missing", ("empty", "skip", "error"), "empty", MISSING_HELP),
    ),
    metrics=tuple(_metrics()),
    modules=("timeline_awareness",),
    count=count,
    citation=None,
)
