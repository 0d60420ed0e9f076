"""TimeLine's scores as an evaluate module."""

from collections.abc import Mapping
from typing import Any

from closeread.hf import metric
from closeread.tasks.timeline import procedure as timeline


class TimelineAwareness(metric.EvaluateModule):
    """Temporal awareness of timelines over many documents, the mentions on them, and their anchors.

    Predictions are timelines, `{"id", "entity", "entries"}`, each entry with `position`, `anchor` and `mentions`;
    references are records of the corpus, or rows with the same fields.  Both are lists of timelines in the same order.
    Spans of mentions may be there and are not read.

    >>> import evaluate, closeread
    >>> timeline_awareness = evaluate.load("timeline_awareness")
    >>> def timeline(*entries):
    ...     rows = [{"position": p, "anchor": anchor, "mentions": [mention]} for p, anchor, mention in entries]
    ...     return {"id": "mill", "entity": "Mill", "entries": rows}
    >>> gold = timeline((1, "1901", "4-1-built"), (2, "1907-03", "4-2-sold"), (3, "1911", "7-0-burnt"))
    >>> system = timeline((1, "1901", "4-1-built"), (2, "1911", "7-0-burnt"))
    >>> scores = timeline_awareness.compute(predictions=[system], references=[gold])

    All that the system says is so, and one relation of it follows from two of gold: it was built before it burnt.  Of
    gold's five relations, three to anchors and two of neighbours, it has two.

    >>> scores["awareness/precision"], scores["awareness/recall"]
    (1.0, 0.4)
    >>> scores["anchor_accuracy"]
    1.0
    """

    PROCEDURE = timeline.PROCEDURE
    SCHEMA = CORPUS = "semeval2015_timeline"

    def _added(
        self, predictions: Any, references: Any, others: Mapping[str, Any]
    ) -> tuple[list[Any], list[dict[str, Any]]]:
        """Checked inputs as evaluate keeps them: predictions of one shape, without their spans."""
        system, gold = super()._added(predictions, references, others)
        return [{**row, "entries": [{**entry, "spans": []} for entry in row["entries"]]} for row in system], gold
