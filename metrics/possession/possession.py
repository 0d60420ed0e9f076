"""The WikiPossessions scores as an evaluate module."""

from closeread.hf import metric
from closeread.tasks.wikipossessions import procedure as possession


class Possession(metric.EvaluateModule):
    """The six subtasks of WikiPossessions: who possessed an artifact, how certainly, when, and in which order.

    A prediction is an article, `{"article", "possessions"}`; each possession has `possessor`, `certainty`, `order`,
    `anchor`, `relation` and `relation_certainty`.  References are records of the corpus, or rows with the same fields.
    Both are lists of articles in the same order.

    >>> import evaluate, closeread
    >>> possession = evaluate.load("possession")
    >>> def held(possessor, order, anchor):
    ...     labels = {"certainty": "certain", "relation": "during", "relation_certainty": "certain"}
    ...     return {"possessor": possessor, "order": order, "anchor": anchor, **labels}
    >>> gold = {"article": "The Jug", "possessions": [held("the Potter", "1", "1700-1709"), held("Ada", "2", "1720")]}
    >>> system = {"article": "The Jug", "possessions": [held("Potter", "1", "1705-1709")]}
    >>> scores = possession.compute(predictions=[system], references=[gold])
    >>> scores["possessor/precision"], scores["possessor/recall"]
    (1.0, 0.5)

    The only prediction is correct.  It covers five of the ten years of its gold anchor, and misses the second anchor.

    >>> scores["anchor/precision"], scores["anchor/recall"]
    (1.0, 0.25)
    """

    PROCEDURE = possession.PROCEDURE
    SCHEMA = CORPUS = "wikipossessions"
    REFERENCES = "reference"
