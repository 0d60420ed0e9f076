"""WikiPossessions' scores as an evaluate module."""

from closeread.hf import metric
from closeread.tasks.wikipossessions import procedure as possession


class Possession(metric.EvaluateModule):
    """Who held a work of art, with what certainty, when, and in which order: the six subtasks of WikiPossessions.

    Predictions are what a system says of an article, `{"article", "possessions"}`, each possession with `possessor`,
    `certainty`, `order`, `anchor`, `relation` and `relation_certainty`; references are records of the corpus, or rows
    with the same fields.  Both are lists of articles in the same order.

    >>> import evaluate, closeread
    >>> possession = evaluate.load("possession")
    >>> def held(possessor, order, anchor):
    ...     says = {"certainty": "certain", "relation": "during", "relation_certainty": "certain"}
    ...     return {"possessor": possessor, "order": order, "anchor": anchor, **says}
    >>> gold = {"article": "The Jug", "possessions": [held("the Potter", "1", "1700-1709"), held("Ada", "2", "1720")]}
    >>> system = {"article": "The Jug", "possessions": [held("Potter", "1", "1705-1709")]}
    >>> scores = possession.compute(predictions=[system], references=[gold])
    >>> scores["possessor/precision"], scores["possessor/recall"]
    (1.0, 0.5)

    The one prediction is right; of its gold anchor's ten years it has five, and gold has another anchor.

    >>> scores["anchor/precision"], scores["anchor/recall"]
    (1.0, 0.25)
    """

    PROCEDURE = possession.PROCEDURE
    SCHEMA = CORPUS = "wikipossessions"
    REFERENCES = "reference"
