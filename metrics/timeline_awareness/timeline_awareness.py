"""TimeLine's scores as an evaluate module."""

from collections.abc import Mapping
from typing import Any

from closeread.hf import metric
from closeread.tasks.timeline import procedure as timeline


class TimelineAwareness(metric.EvaluateModule):
    """Temporal awareness of cross-document timelines, with scores of mentions and anchors.

    Predictions are timelines, `{"id", "entity", "entries"}`, each entry with `position`, `anchor` and `mentions`;
    references are records of the corpus, or rows with the same fields.  Both are lists of timelines in the same order.
    Spans of mentions are allowed but ignored.

    >>> import evaluate, closeread
    >>> timeline_awareness = evaluate.load("timeline_awareness")
    >>> def timeline(*entries):
    ...     rows = [{"position": p, "anchor": anchor, "mentions": [mention]} for p, anchor, mention in entries]
    ...     return {"id": "mill", "entity": "Mill", "entries": rows}
    >>> gold = timeline((1, "1901", "4-1-built"), (2, "1907-03", "4-2-sold"), (3, "1911", "7-0-burnt"))
    >>> system = timeline((1, "1901", "4-1-built"), (2, "1911", "7-0-burnt"))
    >>> scores = timeline_awareness.compute(predictions=[system], references=[gold])

    All relations of the system are correct; that it was built before it burnt follows from two gold relations.  The
    system verifies two of the five gold relations (three to anchors and two between neighbours).

    >>> scores["awareness/precision"], scores["awareness/recall"]
    (1.0, 0.4)
    >>> scores["anchor_accuracy"]
    1.0
    """

    PROCEDURE = timeline.PROCEDURE
    SCHEMA = CORPUS = "semeval2015_timeline"

    def _check_batch(
        self, predictions: Any, references: Any, others: Mapping[str, Any]
    ) -> tuple[list[Any], list[dict[str, Any]]]:
        """Return checked inputs for evaluate, with predictions of one shape, without spans."""
        system, gold = super()._check_batch(predictions, references, others)
        return [
            {**row, "entries": [{**entry, "spans": []} for entry in row["entries"]]}
            for row in system
        ], gold
