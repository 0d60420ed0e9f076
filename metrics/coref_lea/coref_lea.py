"""LEA for coreference, as an evaluate module."""

from closeread.hf import metric
from closeread.tasks.coref import procedure as coref


class CorefLea(metric.EvaluateModule):
    """LEA: the share of each entity's links that are found, weighted by the size of the entity.

    Source: Moosavi and Strube (2016); details follow the reference scorer.

    Predictions and references are lists with one item per document: a list of entities, each a list of mentions
    `[start, end]`, where `end` is the last token, or `[start, end, head]`.  Counts are summed over documents.

    >>> import evaluate, closeread
    >>> coref_lea = evaluate.load("coref_lea")
    >>> key = [[[0, 0], [1, 1], [2, 2]], [[3, 3], [4, 4], [5, 5], [6, 6]]]
    >>> response = [[[0, 0], [1, 1]], [[2, 2], [3, 3]], [[5, 5], [6, 6], [7, 7], [8, 8]]]
    >>> scores = coref_lea.compute(predictions=[response], references=[key])
    >>> {name: round(score, 4) for name, score in scores.items()}
    {'lea/precision': 0.3333, 'lea/recall': 0.2381, 'lea/f1': 0.2778}

    The example is from Moosavi and Strube (2016, section 3).
    """

    PROCEDURE = coref.PROCEDURE.with_metrics("lea")
    SCHEMA = "coref"
    PREDICTIONS = REFERENCES = "clusters"
